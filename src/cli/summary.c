/* The formats of summary.json and curves.csv are a contract: docs/reference/run.md. */
#include "cli/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/commands/log_summary.h"
#include "cli/experiment_text.h"

static const char stamp[] = "simulated, not private";

/* The functions below are about one world of some results. */
typedef struct view {
    const tacit_experiment_facts *facts;
    const tacit_results *results;
    size_t world;
} view;

static view make_view(const tacit_results *results, size_t world)
{
    return (view){tacit_results_describe(results), results, world};
}

static bool plays(const view *v, size_t agent)
{
    return tacit_results_job(v->results, v->world, agent, 0) != NULL;
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static void put_regret(tacit__json_writer *to, const view *v, size_t agent, const tacit_summary *s)
{
    tacit__json_begin_object(to, "regret");
    tacit__json_put_real(to, "mean", s->regret_mean);
    tacit__json_put_real(to, "stderr", s->regret_error);
    tacit__json_put_real(to, "ci95_half", s->regret_half);
    tacit__json_begin_list(to, "per_run");
    for (uint64_t run = 0; run < v->facts->runs; run++)
        tacit__json_put_real(to, NULL, tacit_results_job(v->results, v->world, agent, run)->regret);
    tacit__json_end(to);
    tacit__json_end(to);
}

static void put_agent(tacit__json_writer *to, const view *v, size_t agent)
{
    TACIT__REQUIRE(agent < v->facts->n_agents);
    const tacit_entry *entry = &v->facts->agents[agent];
    tacit_summary s = tacit_results_summary(v->results, v->world, agent);
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "label", entry->label);
    cli_put_kind(to, entry->kind, s.kind);
    cli_put_guarantee(to, entry);
    put_regret(to, v, agent, &s);
    tacit__json_put_real(to, "late_regret", s.late_mean);
    tacit__json_put_real(to, "switches", s.switches);
    tacit__json_put_real(to, "seconds", s.seconds);
    if (entry->baseline || s.runs == 0 || tacit_results_bar(v->results, v->world).what == NULL) {
        tacit__json_put_null(to, "learned");
        tacit__json_put_null(to, "runs_not_learned");
    } else {
        tacit__json_put_flag(to, "learned", !s.did_not_learn);
        tacit__json_put_count(to, "runs_not_learned", s.runs_not_learned);
    }
    cli_put_estimate(to, v->results, v->world, agent);
    tacit__json_put_string(to, "remark", s.remark);
    tacit__json_end(to);
}

static void put_agents(tacit__json_writer *to, const view *v)
{
    tacit__json_begin_list(to, "agents");
    for (size_t i = 0; i < v->facts->n_agents; i++)
        if (plays(v, i))
            put_agent(to, v, i);
    tacit__json_end(to);
}

static void put_world(tacit__json_writer *to, const view *v)
{
    cli_put_world(to, &v->facts->worlds[v->world], tacit_results_world(v->results, v->world),
                  tacit_results_optimal_value(v->results, v->world));
}

/* Several worlds, each with its agents. */
static void put_worlds(tacit__json_writer *to, const tacit_results *results)
{
    tacit__json_begin_list(to, "worlds");
    for (size_t w = 0; w < tacit_results_describe(results)->n_worlds; w++) {
        const view v = make_view(results, w);
        tacit__json_begin_object(to, NULL);
        put_world(to, &v);
        put_agents(to, &v);
        tacit__json_end(to);
    }
    tacit__json_end(to);
}

void cli_put_summary(tacit__json_writer *to, const tacit_results *results)
{
    TACIT__REQUIRE(results != NULL);
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    const bool several = facts->n_worlds > 1;
    const view v = make_view(results, 0);
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "title", facts->title);
    if (!several) {
        tacit__json_begin_object(to, "world");
        put_world(to, &v);
        tacit__json_end(to);
    }
    tacit__json_put_count(to, "episodes", facts->episodes);
    tacit__json_put_count(to, "runs", facts->runs);
    tacit__json_put_count(to, "seed", facts->seed);
    tacit__json_put_string(to, "noise", stamp);
    tacit__json_put_string(to, "version", tacit_results_version(results));
    if (several)
        put_worlds(to, results);
    else
        put_agents(to, &v);
    tacit__json_end(to);
}

bool cli_summary_write(const void *context, FILE *to)
{
    return fprintf(to, "%s\n", (const char *)context) >= 0;
}

/* --- CSV ----------------------------------------------------------------------------------------- */

/* Fields with commas or quotes are quoted, and quotes in them doubled [RFC 4180]; labels have no line
 * breaks. */
static void write_field(FILE *to, const char *text)
{
    if (strpbrk(text, ",\"") == NULL) {
        (void)fputs(text, to);
        return;
    }
    (void)fputc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', to);
        (void)fputc(*text, to);
    }
    (void)fputc('"', to);
}

static void write_number(FILE *to, double x)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) != x)
        (void)snprintf(text, sizeof text, "%.17g", x);
    (void)fputs(text, to);
}

static void write_curve(FILE *to, const view *v, size_t agent, uint64_t run)
{
    const tacit_job *job = tacit_results_job(v->results, v->world, agent, run);
    TACIT__REQUIRE(job != NULL);
    for (size_t point = 0; point < job->n_points; point++) {
        if (v->facts->n_worlds > 1) {
            write_field(to, v->facts->worlds[v->world].label);
            (void)fputc(',', to);
        }
        write_field(to, v->facts->agents[agent].label);
        (void)fprintf(to, ",%llu,%llu,", (unsigned long long)run + 1,
                      (unsigned long long)tacit_results_episode(v->results, point));
        write_number(to, job->curve[point]);
        (void)fputc('\n', to);
    }
}

bool cli_curves_write(const void *context, FILE *to)
{
    const tacit_results *results = context;
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    (void)fprintf(to, "%sagent,run,episode,regret\n", facts->n_worlds > 1 ? "world," : "");
    for (size_t world = 0; world < facts->n_worlds; world++) {
        const view v = make_view(results, world);
        for (size_t agent = 0; agent < facts->n_agents; agent++)
            for (uint64_t run = 0; plays(&v, agent) && run < facts->runs; run++) {
                write_curve(to, &v, agent, run);
                if (ferror(to))
                    return false;
            }
    }
    return true;
}

/* --- The table ----------------------------------------------------------------------------------- */

enum { LABEL, GUARANTEE, REGRET, LATE, SWITCHES, SECONDS, N_COLUMNS, CELL = 176 };

static void number_text(char cell[CELL], double x)
{
    double size = fabs(x);
    if (size >= 1000 && size < 1e9)
        (void)snprintf(cell, CELL, "%.0f", x);
    else
        (void)snprintf(cell, CELL, "%.4g", x);
}

static void mean_text(char cell[CELL], double mean, double half)
{
    char low[CELL];
    number_text(cell, mean);
    if (isnan(half))
        return;
    (void)snprintf(low, CELL, "%.2g", half);
    if (half >= 100 && half < 1e9)
        (void)snprintf(low, CELL, "%.0f", half);
    size_t n = strlen(cell);
    (void)snprintf(cell + n, CELL - n, " +- %.24s", low);
}

/* People with right answers: regret counts the wrong ones. */
static bool is_labeled(const view *v)
{
    return tacit_results_world(v->results, v->world)->people > 0 &&
           tacit_results_optimal_value(v->results, v->world) == 1;
}

static void fill_row(const view *v, size_t agent, char row[N_COLUMNS][CELL])
{
    TACIT__REQUIRE(agent < v->facts->n_agents);
    const tacit_entry *entry = &v->facts->agents[agent];
    tacit_summary s = tacit_results_summary(v->results, v->world, agent);
    (void)snprintf(row[LABEL], CELL, "%s", entry->label);
    (void)cli_guarantee_text(row[GUARANTEE], CELL, entry);
    mean_text(row[REGRET], s.regret_mean, s.regret_half);
    if (is_labeled(v)) {
        size_t n = strlen(row[REGRET]);
        (void)snprintf(row[REGRET] + n, CELL - n, " = %.1f %% right",
                       100 * (1 - s.regret_mean / (double)v->facts->episodes));
    }
    number_text(row[LATE], s.late_mean);
    number_text(row[SWITCHES], s.switches);
    (void)snprintf(row[SECONDS], CELL, s.seconds < 9.95 ? "%.2f s" : "%.0f s", s.seconds);
}

static void print_row(char row[N_COLUMNS][CELL], const size_t *widths)
{
    for (size_t c = 0; c < N_COLUMNS; c++) {
        size_t columns = cli_columns(row[c]);
        if (c < REGRET)
            cli_print_padded(row[c], widths[c]);
        else /* numbers stand to the right */
            (void)printf("%*s%s", (int)(widths[c] - columns), "", row[c]);
        (void)fputs(c + 1 < N_COLUMNS ? "  " : "\n", stdout);
    }
}

static void print_heading(const tacit_experiment_facts *facts)
{
    (void)printf("%s\n", facts->title);
    (void)printf("%llu episodes, %llu run%s, seed %llu; %s\n\n",
                 (unsigned long long)facts->episodes, (unsigned long long)facts->runs,
                 facts->runs == 1 ? "" : "s", (unsigned long long)facts->seed, stamp);
}

static void print_world(const view *v)
{
    const tacit_world_facts *space = tacit_results_world(v->results, v->world);
    const double best = tacit_results_optimal_value(v->results, v->world);
    (void)printf("%s: ", v->facts->worlds[v->world].label);
    if (space->n_states > 0)
        (void)printf("%zu states, ", space->n_states);
    (void)printf("%zu actions, horizon %zu", space->n_actions, space->horizon);
    if (space->people > 0)
        (void)printf(", %llu people", (unsigned long long)space->people);
    const tacit_visitors *come = &v->facts->worlds[v->world].visitors;
    if (come->people > 0)
        (void)printf(", %llu visitors who come up to %llu time%s, %llu users apart, %s",
                     (unsigned long long)come->people, (unsigned long long)come->visits,
                     come->visits == 1 ? "" : "s", (unsigned long long)come->apart,
                     come->order == TACIT_ORDER_RANDOM ? "in random order" : "in rounds");
    if (is_labeled(v))
        (void)printf("; one action is right for each, regret counts wrong ones");
    else if (!isnan(best))
        (void)printf("; the best policy is worth %.6g", best);
    (void)puts("");
    if (space->remark[0] != '\0')
        (void)printf("note: %s\n", space->remark);
}

/* An agent has one remark, the same in every world as a rule: the first is told. */
static const char *remark_of(const tacit_results *results, size_t agent)
{
    const char *remark = "";
    for (size_t w = 0; remark[0] == '\0' && w < tacit_results_describe(results)->n_worlds; w++)
        remark = tacit_results_summary(results, w, agent).remark;
    return remark;
}

enum { NAMED = 4 }; /* of a list of agents; a table of many lines needs no second one */

/* A list in parentheses: " (a, b)"; "all learners" if they are all, and many; or the first of them. */
static void print_agents(const tacit_experiment_facts *facts, const size_t *agents, size_t n)
{
    size_t learners = 0, of_these = 0;
    for (size_t i = 0; i < facts->n_agents; i++)
        learners += tacit_baseline_find(facts->agents[i].kind) == NULL;
    for (size_t i = 0; i < n; i++)
        of_these += tacit_baseline_find(facts->agents[agents[i]].kind) == NULL;
    if (n > NAMED && n == of_these && n == learners) {
        (void)puts(" (all learners)");
        return;
    }
    for (size_t i = 0; i < n && (n <= NAMED || i + 1 < NAMED); i++)
        (void)printf("%s%s", i > 0 ? ", " : " (", facts->agents[agents[i]].label);
    if (n > NAMED)
        (void)printf(" and %zu more", n - NAMED + 1);
    (void)puts(")");
}

/* Every remark once, with the agents that it is about. */
static void print_remarks(const tacit_results *results)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    size_t *about = calloc(facts->n_agents, sizeof *about);
    for (size_t i = 0; about != NULL && i < facts->n_agents; i++) {
        const char *remark = remark_of(results, i);
        bool said = remark[0] == '\0';
        for (size_t j = 0; j < i && !said; j++)
            said = strcmp(remark, remark_of(results, j)) == 0;
        size_t n = 0;
        for (size_t j = i; j < facts->n_agents && !said; j++)
            if (strcmp(remark, remark_of(results, j)) == 0)
                about[n++] = j;
        if (n > 0) {
            (void)printf("note: %s", remark);
            print_agents(facts, about, n);
        }
    }
    free(about);
}

/* A delta that nobody wrote is part of the promise all the same. */
static void print_deltas(const tacit_experiment_facts *facts)
{
    size_t *about = calloc(facts->n_agents + 1, sizeof *about), n = 0;
    for (size_t i = 0; about != NULL && i < facts->n_agents; i++)
        if (facts->agents[i].delta_chosen && facts->agents[i].guarantee.model != TACIT_MODEL_NONE)
            about[n++] = i;
    if (n > 0) {
        (void)printf("note: the file gives no delta, so it is 1/(10 episodes) = %.3g",
                     facts->agents[about[0]].guarantee.delta);
        print_agents(facts, about, n);
    }
    free(about);
}

/* Prints what an alias stands for in this world, with the agents of that name: "auto: posterior-tabular
 * (a, b)". */
static void print_choices(const view *v)
{
    char kind[CLI_KIND_TEXT], other[CLI_KIND_TEXT];
    size_t *about = calloc(v->facts->n_agents, sizeof *about);
    for (size_t i = 0; about != NULL && i < v->facts->n_agents; i++) {
        const char *written = v->facts->agents[i].kind;
        const char *stands_for = tacit_results_summary(v->results, v->world, i).kind;
        bool said = !plays(v, i) || strcmp(written, stands_for) == 0;
        (void)cli_kind_text(kind, sizeof kind, written, stands_for);
        size_t n = 0;
        for (size_t j = 0; j < v->facts->n_agents && !said; j++) {
            (void)cli_kind_text(other, sizeof other, v->facts->agents[j].kind,
                                tacit_results_summary(v->results, v->world, j).kind);
            if (!plays(v, j) || strcmp(kind, other) != 0)
                continue;
            said = j < i;
            about[n++] = j;
        }
        if (!said) {
            (void)fputs(kind, stdout);
            print_agents(v->facts, about, n);
        }
    }
    free(about);
}

/* Which learners did not learn, in how many of their runs, and by which rule. */
static void print_lost(const view *v)
{
    const tacit_bar bar = tacit_results_bar(v->results, v->world);
    tacit__text line = {0};
    bool any = false;
    for (size_t i = 0; i < v->facts->n_agents; i++) {
        const tacit_summary s = tacit_results_summary(v->results, v->world, i);
        if (!plays(v, i) || s.runs_not_learned == 0)
            continue;
        if (!any && tacit_results_logged(v->results, v->world))
            tacit__text_print(&line, "did not learn (estimated below %s): ", bar.what);
        else if (!any)
            tacit__text_print(&line, "did not learn (late %.3g or more, nine tenths of %s): ",
                              0.9 * bar.late, bar.what);
        tacit__text_print(&line, "%s%s", any ? ", " : "", v->facts->agents[i].label);
        if (s.runs > 1)
            tacit__text_print(&line, " (%llu of %llu runs)", (unsigned long long)s.runs_not_learned,
                              (unsigned long long)s.runs);
        any = true;
    }
    if (any && !line.failed)
        cli_print_wrapped("", line.data);
    tacit__text_destroy(&line);
}

/* A world where nothing says whether a learner learned: no baseline plays there. */
static bool lacks_measure(const view *v)
{
    bool learners = false;
    for (size_t i = 0; i < v->facts->n_agents; i++)
        learners |= plays(v, i) && !v->facts->agents[i].baseline;
    return learners && tacit_results_bar(v->results, v->world).what == NULL;
}

static void widen(char row[N_COLUMNS][CELL], size_t *widths)
{
    for (size_t c = 0; c < N_COLUMNS; c++)
        widths[c] = cli_columns(row[c]) > widths[c] ? cli_columns(row[c]) : widths[c];
}

static void print_rows(const view *v, char heads[N_COLUMNS][CELL], const size_t *widths)
{
    char row[N_COLUMNS][CELL];
    print_row(heads, widths);
    for (size_t i = 0; i < v->facts->n_agents; i++)
        if (plays(v, i)) {
            fill_row(v, i, row);
            print_row(row, widths);
        }
}

/* Explains the columns, as far as there are worlds with them. */
static void print_footer(const tacit_results *results)
{
    size_t n_logs = 0, n = tacit_results_describe(results)->n_worlds;
    for (size_t w = 0; w < n; w++)
        n_logs += tacit_results_logged(results, w);
    if (n_logs < n)
        (void)puts(
            "regret: sum of (best - played) over the episodes, exact; mean over runs +- half of\n"
            "its 95 % interval; late: regret per episode over the last tenth; time: processor\n"
            "time of a run");
    if (n_logs > 0)
        cli_print_estimates_footer();
}

/* A bad learner alone looks like any other. */
static void print_missing(const tacit_results *results)
{
    bool missing = false;
    for (size_t w = 0; w < tacit_results_describe(results)->n_worlds; w++) {
        const view v = make_view(results, w);
        missing |= lacks_measure(&v);
    }
    if (missing)
        (void)puts("who learned: not known without baselines; add '- {kind: constant}' and "
                   "'- {kind: uniform}'");
}

void cli_summary_print(const tacit_results *results)
{
    TACIT__REQUIRE(results != NULL);
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    char heads[N_COLUMNS][CELL] = {"agent",        "guarantee", "regret",
                                   "late/episode", "switches",  "time"};
    char row[N_COLUMNS][CELL];
    size_t widths[N_COLUMNS] = {0};
    widen(heads, widths);
    for (size_t w = 0; w < facts->n_worlds; w++) {
        const view v = make_view(results, w);
        for (size_t i = 0; i < facts->n_agents; i++)
            if (plays(&v, i)) {
                fill_row(&v, i, row);
                widen(row, widths);
            }
    }
    print_heading(facts);
    for (size_t w = 0; w < facts->n_worlds; w++) {
        const view v = make_view(results, w);
        print_world(&v);
        if (tacit_results_logged(results, w))
            cli_print_estimates(results, w);
        else
            print_rows(&v, heads, widths);
        print_choices(&v);
        print_lost(&v);
        (void)puts("");
    }
    print_footer(results);
    print_missing(results);
    print_deltas(facts);
    print_remarks(results);
}
