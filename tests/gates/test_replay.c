/* Gate 1: record and replay, for every learner in every model. The cases are the lines of replay.table, whose head has the
 * format; the learners are those of the library's rows.
 *
 * One person is replaced, with the releases frozen (support/neighbors.h). Then everything that others meet is the same, reports
 * byte by byte, and the loss is at most what the plan declares, line by line. The worst pair of trajectories is found by hill
 * climbing, and must come as near to what is declared as the table says: a bound that is looser than it seems fails too.
 *
 *     test_replay           all learners
 *     test_replay NAME...   these; `table` only checks the table
 *     test_replay --list    the names, one a line */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/kinds.h"
#include "support/neighbors.h"
#include "support/spaces.h"

enum {
    MOST_CLAIMS = 400,
    MOST_SETTINGS = 6,
    MOST_HORIZONS = 4,
    MOST_TEXT = 1 << 15,
    MOST_LINE = 200
};
enum { USERS = 8, PRIVATE = TACIT_AGENT_JOINT_PURE /* the first model that is */ };
#define DELTA 1e-6

/* What a line of the table says, for one of its spaces and one of its lists of settings. */
typedef struct claim {
    int line; /* of the file */
    const char *learners;
    unsigned models;
    double epsilon;
    const space *space;
    size_t horizons[MOST_HORIZONS], n_horizons;
    tacit_setting settings[MOST_SETTINGS];
    size_t n_settings;
    uint64_t users, visits, apart, seed;
    const char *sums;
    bool published, printed, differing, first_pays, outside, late, ends, devices, and_devices,
        answers, numbers;
    neighbors_wish wish;
} claim;

static claim claims[MOST_CLAIMS];
static size_t n_claims;

/* --- The table -------------------------------------------------------------------------------------- */

/* What stands before `by`, without the spaces around it, and *rest is what follows; NULL: nothing is left. */
static char *cut(char **rest, const char *by)
{
    char *text = strsep(rest, by);
    if (text == NULL)
        return NULL;
    text += strspn(text, " ");
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' ';)
        text[--n] = '\0';
    return text;
}

static char *next_word(char **rest)
{
    char *word;
    do
        word = cut(rest, " ");
    while (word != NULL && *word == '\0');
    return word;
}

static uint64_t next_number(int line, char **rest)
{
    const char *word = next_word(rest);
    if (word == NULL || !isdigit((unsigned char)*word))
        fail_msg("replay.table:%d: a number is missing", line);
    return strtoull(word, NULL, 10);
}

static void read_models(claim *c, char *text)
{
    static const char letters[] = "jJlL";
    for (const char *at = next_word(&text); at != NULL && *at != '\0'; at++) {
        const char *letter = strchr(letters, *at);
        if (letter == NULL)
            fail_msg("replay.table:%d: there is no model '%c'", c->line, *at);
        c->models |= (unsigned)PRIVATE << (letter - letters);
    }
    c->epsilon = text != NULL ? strtod(text, NULL) : 1;
}

static void read_space(claim *c, char *text)
{
    const char *name = next_word(&text);
    c->space = name != NULL ? space_find(name) : NULL;
    if (c->space == NULL)
        fail_msg("replay.table:%d: there is no space '%s'", c->line, name != NULL ? name : "");
    while (text != NULL && *text != '\0' && c->n_horizons < MOST_HORIZONS)
        c->horizons[c->n_horizons++] = next_number(c->line, &text);
    if (c->n_horizons == 0)
        c->horizons[c->n_horizons++] = c->space->world == NULL ? c->space->horizon : 0;
}

static void read_settings(claim *c, char *text)
{
    for (char *pair = cut(&text, ","); pair != NULL && *pair != '\0'; pair = cut(&text, ",")) {
        char *key = cut(&pair, ":"), *value = cut(&pair, "");
        if (c->n_settings == MOST_SETTINGS || value == NULL)
            fail_msg("replay.table:%d: what is '%s'?", c->line, key);
        c->settings[c->n_settings++] = (tacit_setting){.key = key, .value = value};
    }
}

static void read_words(claim *c, char *text)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {{"published", &c->published},
                 {"printed", &c->printed},
                 {"differing", &c->differing},
                 {"outside", &c->outside},
                 {"late", &c->late},
                 {"ends", &c->ends},
                 {"devices", &c->devices},
                 {"answers", &c->answers},
                 {"numbers", &c->numbers},
                 {"+devices", &c->and_devices},
                 {"first-pays", &c->first_pays}};
    for (char *word = next_word(&text); word != NULL; word = next_word(&text)) {
        size_t i = 0;
        while (i < N_OF(flags) && strcmp(flags[i].word, word) != 0)
            i++;
        if (i < N_OF(flags)) {
            *flags[i].flag = true;
        } else if (strcmp(word, "visits") == 0) {
            c->visits = next_number(c->line, &text);
            c->apart = next_number(c->line, &text);
        } else if (strcmp(word, "users") == 0) {
            c->users = next_number(c->line, &text);
        } else if (strcmp(word, "seed") == 0) {
            c->seed = next_number(c->line, &text);
        } else if (strcmp(word, "sums") == 0) {
            c->sums = next_word(&text);
        } else {
            fail_msg("replay.table:%d: what is '%s'?", c->line, word);
        }
    }
}

/* Shares of each line, the last one for all that follow, and after a slash of the whole, which is else that of the first line. */
static void read_wish(claim *c, char *text, char *effort)
{
    char *shares = cut(&text, "/"), *restarts = cut(&effort, "x");
    double share = 0;
    for (size_t i = 0; i < TAPE_LINES; i++) {
        const char *word = next_word(&shares);
        share = word != NULL ? strtod(word, NULL) : share;
        c->wish.least[i] = share;
    }
    c->wish.least_whole = text != NULL ? strtod(text, NULL) : c->wish.least[0];
    c->wish.restarts = strtoul(restarts, NULL, 10);
    c->wish.moves = effort != NULL ? strtoul(effort, NULL, 10) : 0;
    if (c->wish.restarts == 0 || c->wish.moves == 0)
        fail_msg("replay.table:%d: the last column is no effort", c->line);
}

/* Every list of settings in every space. */
static void add_claims(const claim *line, const char *all_spaces, char *all_settings)
{
    for (char *list = strsep(&all_settings, ";"); list != NULL; list = strsep(&all_settings, ";")) {
        char places[MOST_LINE], *rest = places;
        claim with = *line;
        read_settings(&with, list);
        (void)snprintf(places, sizeof places, "%s", all_spaces);
        for (char *place = strsep(&rest, ";"); place != NULL; place = strsep(&rest, ";")) {
            assert_true(n_claims < MOST_CLAIMS);
            claims[n_claims] = with;
            read_space(&claims[n_claims++], place);
        }
    }
}

static void read_line(int number, char *text)
{
    char *columns[7] = {NULL};
    for (size_t i = 0; i < N_OF(columns); i++)
        columns[i] = cut(&text, "|");
    if (columns[6] == NULL || text != NULL)
        fail_msg("replay.table:%d: there are 7 columns", number);
    claim c = {
        .line = number, .learners = columns[0], .users = USERS, .visits = 1, .apart = 1, .seed = 1};
    read_models(&c, columns[1]);
    read_words(&c, columns[4]);
    read_wish(&c, columns[5], columns[6]);
    add_claims(&c, columns[2], columns[3]);
}

static int read_table(void **state)
{
    static char text[MOST_TEXT];
    FILE *file = fopen(TACIT_TESTS_DIR "/gates/replay.table", "r");
    (void)state;
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    assert_true(size < sizeof text - 1 && fclose(file) == 0);
    char *rest = text;
    int number = 0;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        number++;
        if (*line != '#' && *line != '\0')
            read_line(number, line);
    }
    return 0;
}

/* --- A claim about a learner ------------------------------------------------------------------------ */

/* Whether the learner has the parameters that the claim asks for, and none of those that it excludes. */
static bool is_about(const claim *c, const tacit_agent_kind *kind)
{
    char words[MOST_LINE], *rest = words;
    (void)snprintf(words, sizeof words, "%s", c->learners);
    for (const char *word = next_word(&rest); word != NULL; word = next_word(&rest))
        if (has_parameter(kind, word[0] == '!' ? word + 1 : word) != (word[0] != '!'))
            return false;
    return true;
}

static tacit_agent_request ask(const claim *c, const kind_in_model *k, size_t horizon,
                               tacit_world **world)
{
    tacit_agent_request q = space_request(c->space, c->users, world);
    q.kind = k->kind->name;
    q.guarantee = guarantee_in(k->model, c->epsilon, DELTA);
    q.horizon = horizon > 0 ? horizon : q.horizon;
    q.settings = c->settings;
    q.n_settings = c->n_settings;
    q.visits = c->visits;
    q.apart = c->visits > 1 ? c->apart : 0;
    q.sums = c->sums;
    q.stationary = q.stationary && !c->differing;
    q.outside = c->outside ? TACIT_OUTSIDE_CLIP : TACIT_OUTSIDE_REFUSE;
    q.calibration = c->published ? TACIT_CALIBRATION_PUBLISHED
                    : c->printed ? TACIT_CALIBRATION_NOISE
                                 : TACIT_CALIBRATION_TIGHT;
    return q;
}

/* False: the claim is not about such requests. */
static bool is_taken(const claim *c, tacit_agent_request *q)
{
    SCOPED(tacit_agent) *agent = NULL;
    tacit_status status = agent_try(q, 3, &agent, NULL);
    if (status != TACIT_OK && c->printed) { /* or as later papers recall it */
        q->calibration = TACIT_CALIBRATION_RECALLED;
        status = agent_try(q, 3, &agent, NULL);
    }
    assert_true(status == TACIT_OK || status == TACIT_UNSUPPORTED || status == TACIT_BAD_ARGUMENT);
    if (status == TACIT_OK && (c->answers || c->numbers) &&
        c->answers != (tacit_plan_law(tacit_agent_release_plan(agent)) == TACIT_LAW_RESPONSE))
        fail_msg("replay.table:%d: %s does not release what the line says", c->line, q->kind);
    return status == TACIT_OK;
}

static void search(const claim *c, const tacit_agent_request *q, bool devices)
{
    static crowd people;
    neighbors_wish wish = c->wish;
    people = crowd_in(q);
    people.devices = devices;
    people.ends = c->ends;
    crowd_fill(&people, c->seed);
    if (c->late)
        crowd_delay(&people);
    for (size_t i = 0; i < people.n && c->first_pays; i++) {
        people.people[i].follows = false;
        people.people[i].rewards[0] = people.people[i].actions[0] == 0;
    }
    wish.note = fmt("replay.table:%d, %s%s%s", c->line, c->space->name, c->late ? ", late" : "",
                    c->ends ? ", early ends" : "");
    neighbors_assert(&people, &wish);
}

/* How many cases the claim has for this learner in this model; `dry`: they are only counted. */
static size_t check(const claim *c, const kind_in_model *k, bool dry)
{
    size_t n = 0;
    const bool local = k->model >= TACIT_AGENT_LOCAL_PURE;
    for (size_t i = 0; i < c->n_horizons; i++) {
        SCOPED(tacit_world) *world = NULL;
        tacit_agent_request q = ask(c, k, c->horizons[i], &world);
        if (!is_taken(c, &q))
            continue;
        n++;
        if (!dry)
            search(c, &q, local && c->devices);
        if (!dry && local && c->and_devices && i == 0)
            search(c, &q, true);
    }
    return n;
}

/* --- All claims ------------------------------------------------------------------------------------- */

static char **chosen; /* by their names; none: all */

static bool is_chosen(const char *kind)
{
    for (char **name = chosen; *name != NULL; name++)
        if (strcmp(*name, kind) == 0)
            return true;
    return *chosen == NULL;
}

TEST(a_replaced_person_moves_what_is_declared_and_nothing_else)
{
    kind_in_model k;
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++)
        for (size_t j = 0; j < n_claims && is_chosen(k.kind->name); j++)
            if ((claims[j].models & k.model) != 0 && is_about(&claims[j], k.kind))
                (void)check(&claims[j], &k, false);
}

/* What the table must say about a learner in a model. */
enum { PLAIN, LATE, ENDS, OUTSIDE, BACK, ON_DEVICES, ASPECTS };

static bool says(const claim *c, int aspect)
{
    const double *least = c->wish.least;
    return aspect == PLAIN     ? (least[0] >= 0.4 || least[1] >= 0.4) && c->visits == 1 && !c->late
           : aspect == LATE    ? c->late
           : aspect == ENDS    ? c->ends
           : aspect == OUTSIDE ? c->outside
           : aspect == BACK    ? c->visits > 1
                               : c->devices || c->and_devices;
}

TEST(the_table_speaks_about_every_learner_and_every_line_about_one)
{
    static const char *const names[ASPECTS] = {
        "a person who comes once", "late people",          "early ends",
        "people outside",          "people who come back", "devices"};
    static bool used[MOST_CLAIMS][TACIT_AGENT_LOCAL + 1];
    kind_in_model k;
    for (size_t i = 0; kind_in_model_at(NULL, i, &k) && is_chosen("table"); i++) {
        bool said[ASPECTS] = {false};
        said[BACK] = !tacit_agent_kind_returning(k.kind->name);
        said[ON_DEVICES] = k.model < TACIT_AGENT_LOCAL_PURE;
        for (size_t j = 0; j < n_claims && k.model != TACIT_AGENT_NONE; j++) {
            if ((claims[j].models & k.model) == 0 || !is_about(&claims[j], k.kind) ||
                check(&claims[j], &k, true) == 0)
                continue;
            used[j][k.model] = true;
            for (int aspect = 0; aspect < ASPECTS; aspect++)
                said[aspect] = said[aspect] || says(&claims[j], aspect);
        }
        for (int aspect = 0; aspect < ASPECTS && k.model != TACIT_AGENT_NONE; aspect++)
            if (!said[aspect])
                fail_msg("replay.table says nothing about %s of %s, model %u", names[aspect],
                         k.kind->name, k.model);
    }
    for (size_t j = 0; j < n_claims && is_chosen("table"); j++)
        for (unsigned model = PRIVATE; model <= TACIT_AGENT_LOCAL; model *= 2)
            if ((claims[j].models & model) != 0 && !used[j][model])
                fail_msg("replay.table:%d, space %s: no learner takes this with model %u",
                         claims[j].line, claims[j].space->name, model);
}

/* The harness itself: where users outside the domain are refused, a pair of which one is outside is no pair to be left out but a
 * violation. */
TEST(a_pair_of_which_one_world_refuses_somebody_is_a_violation)
{
    static crowd c;
    kind_in_model k = {0};
    SCOPED(tacit_world) *world = NULL;
    tacit_agent_request q = space_request(space_find("table"), USERS, &world);
    for (size_t i = 0; kind_in_model_at(NULL, i, &k) && k.model != TACIT_AGENT_JOINT;)
        i++;
    q.kind = k.kind->name;
    q.guarantee = guarantee_in(k.model, 20, DELTA);
    c = crowd_in(&q);
    crowd_fill(&c, 1);
    person other = c.people[0];
    assert_null(neighbors_compare(&c, 0, &other).violation);
    other.rewards[1] = 2;
    assert_non_null(neighbors_compare(&c, 0, &other).violation);
    c.request.outside = TACIT_OUTSIDE_CLIP;
    assert_null(neighbors_compare(&c, 0, &other).violation);
}

int main(int argc, char **argv)
{
    (void)argc;
    chosen = argv + 1;
    if (*chosen != NULL && strcmp(*chosen, "--list") == 0) {
        for (size_t i = 0; i < tacit_agent_kind_count(); i++)
            if (tacit_agent_kind_at(i)->models != TACIT_AGENT_NONE)
                (void)puts(tacit_agent_kind_at(i)->name);
        (void)puts("table");
        return 0;
    }
    return test_run(read_table, NULL);
}
