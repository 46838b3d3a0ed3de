/* Worlds from tables: `state,action,next_state,probability,reward`, and `state,probability` to begin with.
 * With a column `step` in front, from 0 to horizon - 1, every step has transitions of its own.
 *
 * Each line is one outcome of an action in a state. The number of states follows from the largest state or
 * next state, the number of actions from the largest action, and every state must say what each action
 * does: an absorbing one leads to itself. Two lines of the same state, action and next state are two outcomes
 * (their rewards may differ; if they do not, their probabilities are added up). Memory follows the number
 * of lines, never the largest number in the file.
 *
 * The next state `terminal` is the end of an episode: one state more, behind the last, which has no lines; it
 * is never left, and every reward there is 0. */
#include "worlds/kinds/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "worlds/csv.h"
#include "worlds/kind.h"
#include "worlds/kinds/table_structure.h"

typedef struct entry {
    uint32_t step, state, action; /* step 0 where all are alike */
    size_t line;
    tacit_outcome outcome;
} entry;

typedef struct table {
    const tacit__table_source *source;
    entry *entries; /* sorted by step, state, action, line */
    size_t n, cursor;
    bool stepped; /* the file has a column for the step */
    size_t n_states, n_actions, longest;
    size_t terminal_line; /* the first that leads to the end; 0: none does */
    tacit_outcome *initial;
    size_t n_initial;
    tacit_error *err;
} table;

#define TERMINAL UINT32_MAX /* the next state of lines, until the number of states is known */

static const char transitions_header[] = "state,action,next_state,probability,reward";
static const char stepped_header[] = "step,state,action,next_state,probability,reward";
static const char initial_header[] = "state,probability";

static int compare(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->state != b->state)
        return a->state < b->state ? -1 : 1;
    if (a->action != b->action)
        return a->action < b->action ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static tacit_status read_probability(const tacit__csv *csv, size_t i, double *out, tacit_error *err)
{
    tacit_status status = tacit__csv_real(csv, i, "probability", out, err);
    if (status == TACIT_OK && !(*out >= 0 && *out <= 1 + TACIT__SUM_TOLERANCE))
        status = tacit__fail_at(err, TACIT_SYNTAX, csv->name, csv->line,
                                "probability is %g, expected a number from 0 to 1", *out);
    return status;
}

static tacit_status read_next(const tacit__csv *csv, size_t column, uint32_t *next,
                              tacit_error *err)
{
    static const char word[] = "terminal";
    const tacit__span field = csv->field[column];
    int64_t number;
    if (field.size == sizeof word - 1 && memcmp(field.text, word, field.size) == 0) {
        *next = TERMINAL;
        return TACIT_OK;
    }
    char shown[TACIT__SHOWN];
    if (!tacit__read_integer(field.text, field.size, &number) || number < 0 ||
        number >= TACIT__MAX_STATES)
        return tacit__fail_at(
            err, TACIT_SYNTAX, csv->name, csv->line,
            "next_state is '%s', expected a whole number from 0 to %d, or terminal",
            tacit__span_format(field, shown), TACIT__MAX_STATES - 1);
    *next = (uint32_t)number;
    return TACIT_OK;
}

static tacit_status read_entry(table *t, const tacit__csv *csv, entry *e)
{
    const tacit__table_source *source = t->source;
    const size_t first = t->stepped; /* column of the state */
    e->line = csv->line;
    e->step = 0;
    if (t->stepped)
        TRY(tacit__csv_index(csv, 0, "step", (uint32_t)source->horizon - 1, &e->step, t->err));
    TRY(tacit__csv_index(csv, first, "state", TACIT__MAX_STATES - 1, &e->state, t->err));
    TRY(tacit__csv_index(csv, first + 1, "action", TACIT__MAX_ACTIONS - 1, &e->action, t->err));
    TRY(read_next(csv, first + 2, &e->outcome.next, t->err));
    TRY(read_probability(csv, first + 3, &e->outcome.prob, t->err));
    TRY(tacit__csv_real(csv, first + 4, "reward", &e->outcome.reward, t->err));
    bool below = e->outcome.reward < source->reward_low;
    if (below || e->outcome.reward > source->reward_high)
        return tacit__fail_at(t->err, TACIT_OUT_OF_BOUND, csv->name, csv->line,
                              "reward is %g, outside the declared [%g, %g]; set %s to %g or %s",
                              e->outcome.reward, source->reward_low, source->reward_high,
                              below ? "reward_low" : "reward_high", e->outcome.reward,
                              below ? "less" : "more");
    return TACIT_OK;
}

static size_t count_lines(tacit__span text)
{
    size_t n = 1;
    for (size_t i = 0; i < text.size; i++)
        n += text.text[i] == '\n';
    return n;
}

/* Returns whether the header begins with a step. */
static bool has_steps(tacit__span text)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (text.size >= 3 && memcmp(text.text, mark, 3) == 0)
        text = (tacit__span){text.text + 3, text.size - 3};
    text = tacit__span_trim(text);
    return text.size > 4 && memcmp(text.text, "step", 4) == 0;
}

static tacit_status read_transitions(table *t)
{
    tacit__csv csv;
    const tacit__table_source *source = t->source;
    t->stepped = has_steps(source->transitions);
    tacit_status status = tacit__csv_open(&csv, source->transitions_name,
                                          t->stepped ? stepped_header : transitions_header,
                                          source->transitions, t->err);
    if (status != TACIT_OK)
        return status;
    t->entries = tacit__alloc(count_lines(source->transitions), sizeof *t->entries);
    if (t->entries == NULL)
        return tacit__fail_plain(t->err, TACIT_NO_MEMORY);
    bool sorted = true, more;
    while ((status = tacit__csv_next(&csv, &more, t->err)) == TACIT_OK && more) {
        entry *e = &t->entries[t->n];
        status = read_entry(t, &csv, e);
        if (status != TACIT_OK)
            return status;
        t->n_states = e->state >= t->n_states ? e->state + (size_t)1 : t->n_states;
        if (e->outcome.next == TERMINAL)
            t->terminal_line = t->terminal_line > 0 ? t->terminal_line : e->line;
        else if (e->outcome.next >= t->n_states)
            t->n_states = e->outcome.next + (size_t)1;
        t->n_actions = e->action >= t->n_actions ? e->action + (size_t)1 : t->n_actions;
        sorted = sorted && (t->n == 0 || compare(e - 1, e) < 0);
        t->n++;
    }
    if (status != TACIT_OK)
        return status;
    if (t->n == 0)
        return tacit__fail_at(t->err, TACIT_SYNTAX, source->transitions_name, 0,
                              "no line follows the header");
    if (!sorted)
        qsort(t->entries, t->n, sizeof *t->entries, compare);
    return TACIT_OK;
}

/* The outcomes of one state and action, from entries[first] on: how many, and do they sum to one? */
static tacit_status check_row(const table *t, size_t first, size_t *end)
{
    TACIT__REQUIRE(first < t->n);
    const entry *e = &t->entries[first];
    double sum = 0;
    size_t i = first;
    for (; i < t->n && t->entries[i].step == e->step && t->entries[i].state == e->state &&
           t->entries[i].action == e->action;
         i++)
        sum += t->entries[i].outcome.prob;
    *end = i;
    if (fabs(sum - 1) > TACIT__SUM_TOLERANCE)
        return tacit__fail_at(t->err, TACIT_SYNTAX, t->source->transitions_name, e->line,
                              "the probabilities of state %u, action %u sum to %.9g, expected 1",
                              e->state, e->action, sum);
    return TACIT_OK;
}

/* Entry `at` begins the row of this step, state and action. */
static tacit_status check_present(const table *t, size_t at, uint32_t h, uint32_t s, uint32_t a)
{
    const entry *e = &t->entries[at];
    if (at < t->n && e->step == h && e->state == s && e->action == a)
        return TACIT_OK;
    char step[32] = "", number[16] = "";
    if (t->stepped) {
        (void)snprintf(step, sizeof step, "step %u, ", h);
        (void)snprintf(number, sizeof number, "%u,", h);
    }
    return tacit__fail_at(t->err, TACIT_SYNTAX, t->source->transitions_name, 0,
                          "%sstate %u, action %u has no line; each of the %zu states needs "
                          "all %zu actions%s (to stay for ever: %s%u,%u,%u,1,0)",
                          step, s, a, t->n_states, t->n_actions, t->stepped ? " in every step" : "",
                          number, s, a, s);
}

/* Every state has every action, in every step if there are steps, and each of them probabilities that sum
 * to one. */
static tacit_status check_rows(table *t)
{
    size_t at = 0, end;
    const uint32_t n_steps = t->stepped ? (uint32_t)t->source->horizon : 1;
    for (uint32_t h = 0; h < n_steps; h++)
        for (uint32_t s = 0; s < t->n_states; s++)
            for (uint32_t a = 0; a < t->n_actions; a++, at = end) {
                TRY(check_present(t, at, h, s, a));
                TRY(check_row(t, at, &end));
                t->longest = end - at > t->longest ? end - at : t->longest;
            }
    return TACIT_OK;
}

/* The end gets its number, behind the states that have lines. */
static tacit_status add_terminal(table *t)
{
    const tacit__table_source *source = t->source;
    if (t->terminal_line == 0)
        return TACIT_OK;
    if (!(source->reward_low <= 0 && source->reward_high >= 0))
        return tacit__fail_at(t->err, TACIT_OUT_OF_BOUND, source->transitions_name,
                              t->terminal_line,
                              "next_state is terminal, where rewards are 0, outside the declared "
                              "[%g, %g]; set %s to 0",
                              source->reward_low, source->reward_high,
                              source->reward_low > 0 ? "reward_low" : "reward_high");
    for (size_t i = 0; i < t->n; i++)
        if (t->entries[i].outcome.next == TERMINAL)
            t->entries[i].outcome.next = (uint32_t)t->n_states;
    t->n_states++;
    return TACIT_OK;
}

static int compare_states(const void *left, const void *right)
{
    const tacit_outcome *a = left, *b = right;
    return (a->next > b->next) - (a->next < b->next);
}

static tacit_status check_initial(table *t)
{
    const char *name = t->source->initial_name;
    double sum = tacit__outcomes_sum(t->initial, t->n_initial);
    if (t->n_initial == 0)
        return tacit__fail_at(t->err, TACIT_SYNTAX, name, 0, "no line follows the header");
    qsort(t->initial, t->n_initial, sizeof *t->initial, compare_states);
    for (size_t i = 1; i < t->n_initial; i++)
        if (t->initial[i].next == t->initial[i - 1].next)
            return tacit__fail_at(t->err, TACIT_SYNTAX, name, 0,
                                  "state %u is listed twice; keep one", t->initial[i].next);
    if (fabs(sum - 1) > TACIT__SUM_TOLERANCE)
        return tacit__fail_at(t->err, TACIT_SYNTAX, name, 0,
                              "the initial probabilities sum to %.9g, expected 1", sum);
    return TACIT_OK;
}

static tacit_status read_initial(table *t)
{
    const tacit__table_source *source = t->source;
    if (source->initial.text == NULL)
        return TACIT_OK;
    tacit__csv csv;
    tacit_status status =
        tacit__csv_open(&csv, source->initial_name, initial_header, source->initial, t->err);
    if (status != TACIT_OK)
        return status;
    t->initial = tacit__alloc(count_lines(source->initial), sizeof *t->initial);
    if (t->initial == NULL)
        return tacit__fail_plain(t->err, TACIT_NO_MEMORY);
    bool more;
    while ((status = tacit__csv_next(&csv, &more, t->err)) == TACIT_OK && more) {
        tacit_outcome *o = &t->initial[t->n_initial];
        status = tacit__csv_index(&csv, 0, "state", (uint32_t)t->n_states - 1, &o->next, t->err);
        if (status == TACIT_OK)
            status = read_probability(&csv, 1, &o->prob, t->err);
        if (status != TACIT_OK)
            return status;
        t->n_initial++;
    }
    return status == TACIT_OK ? check_initial(t) : status;
}

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    table *t = context;
    TACIT__REQUIRE(t->cursor <= t->n);
    size_t n = 0;
    if (t->terminal_line > 0 && s + (size_t)1 == t->n_states) {
        out[0] = (tacit_outcome){.next = s, .prob = 1};
        return 1;
    }
    for (; t->cursor < t->n; t->cursor++, n++) {
        const entry *e = &t->entries[t->cursor];
        if (e->step != layer || e->state != s || e->action != action)
            break;
        out[n] = e->outcome;
    }
    return n;
}

/* Outcomes of the end of an episode, which has no lines. */
static size_t count_endings(const table *t)
{
    return t->terminal_line > 0 ? t->n_actions * (t->stepped ? t->source->horizon : 1) : 0;
}

tacit_status tacit__table_create(const tacit__table_source *source, tacit__mdp **out,
                                 tacit_error *err)
{
    TACIT__REQUIRE(source->reward_low < source->reward_high && source->horizon > 0);
    table t = {.source = source, .err = err};
    tacit_status status = read_transitions(&t);
    if (status == TACIT_OK)
        status = check_rows(&t);
    if (status == TACIT_OK)
        status = add_terminal(&t);
    if (status == TACIT_OK)
        status = read_initial(&t);
    if (status == TACIT_OK) {
        const tacit__mdp_spec spec = {.n_states = t.n_states,
                                      .n_actions = t.n_actions,
                                      .horizon = source->horizon,
                                      .stationary = !t.stepped,
                                      .reward_low = source->reward_low,
                                      .reward_high = source->reward_high,
                                      .row_max = t.longest,
                                      .total_max = t.n + count_endings(&t),
                                      .row = row,
                                      .context = &t,
                                      .initial = t.initial,
                                      .n_initial = t.n_initial};
        status = tacit__mdp_create(&spec, out, err);
    }
    tacit__free(t.entries);
    tacit__free(t.initial);
    return status;
}

/* --- The kind ---------------------------------------------------------------------------------- */

static const tacit_parameter parameters[] = {
    {"transitions", TACIT_PARAMETER_FILE, NULL, 0, 0,
     "CSV file with state,action,next_state,probability,reward, or with step in front"},
    {"initial", TACIT_PARAMETER_FILE, "", 0, 0,
     "CSV file with state,probability; without it everyone starts in state 0"},
    TACIT__HORIZON_PARAMETER(NULL),
    {"reward_low", TACIT_PARAMETER_REAL, "0", -1e100, 1e100,
     "least reward of a step in the table's units; becomes 0"},
    {"reward_high", TACIT_PARAMETER_REAL, "1", -1e100, 1e100,
     "largest reward of a step in the table's units; becomes 1"},
    {"features", TACIT_PARAMETER_FILE, "", 0, 0,
     "CSV file with state,action and a column for each feature, for linear learners"},
    {"kernels", TACIT_PARAMETER_FILE, "", 0, 0,
     "CSV file with kernel,state,action,next_state,probability, for learners of mixtures"},
    {"obtain", TACIT_PARAMETER_TEXT, "", 0, 0,
     "where the files come from, shown when one is missing"},
};

/* Features or kernels, if they are given. A failure leaves the process to the caller. */
static tacit_status read_structure(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    const bool features = tacit__value_of(values, "features")->given,
               kernels = tacit__value_of(values, "kernels")->given;
    tacit__text_file file = {.text = NULL};
    if (features && kernels)
        return tacit__value_fail(values, "kernels", err, TACIT_BAD_ARGUMENT,
                                 "a table has features or kernels, not both");
    if (!features && !kernels)
        return TACIT_OK;
    tacit_status status =
        tacit__text_file_obtain(values, features ? "features" : "kernels", &file, err);
    const tacit__span text = {file.text, file.size};
    if (status == TACIT_OK && features)
        status = tacit__table_features(text, file.path, out, err);
    else if (status == TACIT_OK)
        status = tacit__table_kernels(text, file.path, out, err);
    tacit__text_file_close(&file);
    return status;
}

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    double low = tacit__value_real(values, "reward_low"),
           high = tacit__value_real(values, "reward_high");
    if (low >= high) {
        const bool is_low = tacit__value_of(values, "reward_low")->given;
        return tacit__value_fail(
            values, is_low ? "reward_low" : "reward_high", err, TACIT_BAD_ARGUMENT,
            "reward_low is %g and reward_high is %g, expected the first to be smaller", low, high);
    }
    tacit__text_file transitions = {.text = NULL}, initial = {.text = NULL};
    bool has_initial = tacit__value_of(values, "initial")->given;
    tacit_status status = tacit__text_file_obtain(values, "transitions", &transitions, err);
    if (status == TACIT_OK && has_initial)
        status = tacit__text_file_obtain(values, "initial", &initial, err);
    if (status == TACIT_OK) {
        const tacit__table_source source = {
            .transitions = {transitions.text, transitions.size},
            .initial = {initial.text, initial.size},
            .transitions_name = transitions.path,
            .initial_name = initial.path,
            .horizon = (size_t)tacit__value_of(values, "horizon")->integer,
            .reward_low = low,
            .reward_high = high,
        };
        status = tacit__table_create(&source, &out->mdp, err);
    }
    tacit__text_file_close(&transitions);
    tacit__text_file_close(&initial);
    return status == TACIT_OK ? read_structure(values, out, err) : status;
}

const tacit__kind tacit__kind_table = {
    .face = {"table", "a finite world read from tables of transitions, rewards and initial states",
             "your files", parameters, TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};
