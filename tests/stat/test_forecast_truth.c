/* How often is a forecast's "enough" false? Forecasts are made for learners in worlds of families that no
 * reference world comes from, and then the learners are played there. A forecast is false if it says "enough" and
 * the learner, over three runs, does not beat the best constant action. Seeds are fixed, so that the tables are the
 * same every time; docs/why/forecast.md has them.
 *
 *     build/tests/stat/test_forecast_truth 2>/dev/null           500 and 2,000 users: a minute
 *     build/tests/stat/test_forecast_truth all 2>/dev/null       20,000 users and more bandits: some minutes
 *     build/tests/stat/test_forecast_truth untold 2>/dev/null    if forecasts are not told that rewards are rare
 *     build/tests/stat/test_forecast_truth advice 2>/dev/null    what "would do", played: some minutes
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/lab.h>

#include "support/check.h"
#include "support/other_worlds.h"
#include "support/scratch.h"

enum { RUNS = 3, MOST_FORECASTS = 600 };

static char scratch[SCRATCH_PATH];
static bool plays_all, plays_advice, is_untold; /* what the command line asks for */

typedef struct tally {
    unsigned enough, false_enough, not_enough, false_not_enough, cases;
} tally;

typedef struct place {
    const char *name, *world; /* without a kind: one of support/other_worlds.h */
    double rewards;           /* as one would tell the forecast; 0: nothing */
} place;

/* What is asked about a place. */
typedef struct question {
    const char *kind, *privacy;
    uint64_t users;
} question;

static const char *const words[] = {"unknown", "enough", "depends", "not enough"};

static tacit_experiment *parse(const place *p, const question *q)
{
    tacit_experiment *e = NULL;
    tacit_error err = {0};
    const char *world = strchr(p->world, ':') != NULL ? p->world : other_world(p->world, scratch);
    const char *text = fmt("world: {%s}\nepisodes: %llu\nruns: %d\nagents:\n"
                           "  - {label: a, kind: %s, privacy: {%s}}\n"
                           "  - {kind: constant}\n  - {kind: uniform}\n",
                           world, (unsigned long long)q->users, RUNS, q->kind, q->privacy);
    if (tacit_experiment_parse(text, strlen(text), TACIT_TESTS_DIR "/../examples/f.yaml", NULL, &e,
                               &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return e;
}

/* The learner's regret as a share of the best constant action's: below 1 it has won. */
static double play(const tacit_experiment *e)
{
    SCOPED(tacit_results) *results = NULL;
    tacit_error err = {0};
    if (tacit_lab_run(e, NULL, &results, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    const double learner = tacit_results_summary(results, 0, 0).regret_mean,
                 constant = tacit_results_summary(results, 0, 1).regret_mean,
                 uniform = tacit_results_summary(results, 0, 2).regret_mean;
    if (constant < 0.1 * uniform) /* else nothing could be better, and forecasts say nothing */
        fail_msg("the best constant action loses %g, random ones %g", constant, uniform);
    return learner / constant;
}

/* The forecast for a place, or what an earlier one of the same shape said: forecasts know no more of a place. */
static tacit_forecast ask(const tacit_experiment *e, const place *p, const question *asked,
                          double seconds)
{
    static struct {
        char key[200];
        tacit_forecast forecast;
    } told[MOST_FORECASTS];
    static size_t n_told;
    const tacit_forecast_options options = {.n_worlds = seconds > 0 ? 0 : 21,
                                            .seconds = seconds,
                                            .search = seconds > 0,
                                            .rewards = is_untold ? 0 : p->rewards};
    SCOPED(tacit_world) *world = NULL;
    tacit_agent_request q;
    tacit_error err = {0};
    assert_ok(tacit_experiment_world(e, 0, &world, &err));
    assert_ok(tacit_experiment_request(e, world, 0, &q, &err));
    const bool table = q.mixture == NULL && q.linear == NULL && q.bandit == NULL;
    const char *key =
        fmt("%zu %zu %zu %s %s %llu %g %s", q.n_states, q.n_actions, q.horizon, asked->kind,
            asked->privacy, (unsigned long long)asked->users, p->rewards, table ? "" : p->name);
    for (size_t i = 0; i < n_told; i++)
        if (strcmp(told[i].key, key) == 0)
            return told[i].forecast;
    assert_true(n_told < MOST_FORECASTS && strlen(key) < sizeof told->key);
    (void)strcpy(told[n_told].key, key);
    if (tacit_forecast_make(&q, &options, &told[n_told].forecast, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return told[n_told++].forecast;
}

/* One cell of a table. */
static void check(const place *p, const question *q, tally *all, tally *of_auto)
{
    SCOPED(tacit_experiment) *e = parse(p, q);
    const double share = play(e);
    const tacit_outlook outlook = ask(e, p, q, 0).outlook;
    const bool enough = outlook == TACIT_OUTLOOK_ENOUGH,
               not_enough = outlook == TACIT_OUTLOOK_NOT_ENOUGH, won = share < 1;
    tally *const both[] = {all, strcmp(q->kind, "auto") == 0 ? of_auto : NULL};
    for (size_t i = 0; i < 2 && both[i] != NULL; i++) {
        both[i]->cases++;
        both[i]->enough += enough;
        both[i]->false_enough += enough && !won;
        both[i]->not_enough += not_enough;
        both[i]->false_not_enough += not_enough && won;
    }
    (void)printf("| %s %.2f%s ", words[outlook], share,
                 enough && !won      ? " **false**"
                 : not_enough && won ? " (false)"
                                     : "");
    (void)fflush(stdout);
}

static void check_all(const char *title, const place *places, size_t n_places, const char *kind,
                      const char *const *guarantees, unsigned users, tally *all, tally *of_auto)
{
    (void)printf("\n**%s, `%s`, %u users**\n\n| world |", title, kind, users);
    for (size_t g = 0; guarantees[g] != NULL; g++) /* "model: joint, epsilon: 10" is joint 10 */
        (void)printf(" %.5s%s |", guarantees[g] + 7,
                     strrchr(guarantees[g], ':') > guarantees[g] + 7 ? strrchr(guarantees[g], ' ')
                                                                     : "");
    (void)printf("\n|---|");
    for (size_t g = 0; guarantees[g] != NULL; g++)
        (void)printf("---|");
    (void)puts("");
    for (size_t i = 0; i < n_places; i++) {
        (void)printf("| %s ", places[i].name);
        for (size_t g = 0; guarantees[g] != NULL; g++)
            check(&places[i], &(question){kind, guarantees[g], users}, all, of_auto);
        (void)puts("|");
    }
}

static const place tables[] = {
    {"grid, slip 0.4", "kind: grid, slip: 0.4, horizon: 25", 0},
    {"grid, slip 0.1", "kind: grid, slip: 0.1, horizon: 12", 0},
    {"deep sea of 5", "kind: deep-sea, size: 5, shuffle: yes, seed: 3", 0},
    {"deep sea of 6", "kind: deep-sea, size: 6, shuffle: yes, seed: 5", 0},
    {"deep sea of 7", "kind: deep-sea, size: 7, shuffle: yes, seed: 2", 0},
    {"people can leave", "kind: table, transitions: leaving.csv, horizon: 20", 0},
    {"queue", "queue_shuffled", 0},
    {"inventory", "inventory", 0},
    {"maintenance", "maintenance", 0},
    {"maintenance, shuffled", "maintenance_shuffled", 0},
    {"stopping", "stopping", 0},
    {"wind", "wind", 0},
    {"cliff", "cliff", 0},
    {"ring", "ring", 0},
    {"ring, shuffled", "ring_shuffled", 0},
    {"tree", "tree", 0},
    {"clicks, 20 or 60 %", "clicks", 0},
    {"clicks, 45 or 55 %", "clicks_faint", 0},
    {"clicks, 4 or 8 %", "clicks_rare", 0.05},
    {"clicks, 1 or 2 %", "clicks_very_rare", 0.0125},
    {"eight states, up to 100 %", "small", 0},
    {"eight states, up to 10 %", "small_rare", 0.05},
    {"eight states, up to 2 %", "small_very_rare", 0.01},
    {"eight states, sizes up to 0.02", "small_sizes", 0.01}};
enum { N_TABLES = sizeof tables / sizeof *tables, N_FIRST = 6 };

static const char *const joint[] = {"model: joint, epsilon: 10", "model: joint, epsilon: 1",
                                    "model: joint, epsilon: 0.1", NULL},
                         *const every[] = {"model: none",
                                           "model: joint, epsilon: 10",
                                           "model: joint, epsilon: 1",
                                           "model: joint, epsilon: 0.1",
                                           "model: local, epsilon: 10",
                                           NULL},
                         *const trusted[] = {"model: none", "model: joint, epsilon: 10",
                                             "model: joint, epsilon: 1",
                                             "model: joint, epsilon: 0.1", NULL},
                         *const local[] = {"model: local, epsilon: 100",
                                           "model: local, epsilon: 10", NULL};

static void print(const char *title, const tally *t)
{
    (void)printf("\n%s: %u cases: \"enough\" in %u, false in %u of these (%.1f %%); \"not enough\" "
                 "in %u, false in %u of these\n",
                 title, t->cases, t->enough, t->false_enough,
                 100.0 * t->false_enough / fmax(t->enough, 1), t->not_enough, t->false_not_enough);
}

TEST(enough_is_seldom_false_in_worlds_of_other_families)
{
    static const place mixtures[] = {
        {"nearly deterministic kernels", "kind: random-mixture, d: 5, concentration: 0.02, seed: 3",
         0},
        {"flat kernels", "kind: random-mixture, d: 4, concentration: 2, seed: 3", 0}};
    static const place bandits[] = {
        {"adversarial order", "kind: linear-bandit, d: 5, actions: 10, phases: 500", 0},
        {"noise of one size", "kind: linear-bandit, d: 10, actions: 5, noise: 0.5", 0},
        {"parameters of each action", "kind: linear-bandit, d: 4, arms: disjoint, phases: 50", 0},
        {"a function of 200 bumps", "kind: kernel-bandit, kernel: se(0.1), centers: 200, seed: 5",
         0},
        {"clicks by a function of 200",
         "kind: kernel-bandit, centers: 200, noise: bernoulli, seed: 5", 0},
        {"a rough function", "kind: kernel-bandit, kernel: matern-1.5(0.15), centers: 200, seed: 5",
         0}};
    static const place linear[] = {
        {"spiky features", "kind: random-linear, concentration: 0.03", 0},
        {"flat features", "kind: random-linear, concentration: 3", 0}};
    tally all = {0}, of_auto = {0};
    if (plays_advice)
        return;
    check_all("Tables", tables, N_TABLES, "auto", every, 500, &all, &of_auto);
    check_all("Tables", tables, N_TABLES, "auto", every, 2000, &all, &of_auto);
    check_all("Tables", tables, N_FIRST, "explore-commit", trusted, 2000, &all, &of_auto);
    if (plays_all) {
        check_all("Tables", tables, N_TABLES, "auto", every, 20000, &all, &of_auto);
        check_all("Tables", tables, N_FIRST, "explore-commit", trusted, 20000, &all, &of_auto);
    }
    check_all("Tables", tables, 3, "dp-ucbvi", local, 500, &all, &of_auto);
    check_all("Mixtures", mixtures, 2, "auto", joint, 500, &all, &of_auto);
    check_all("Mixtures", mixtures, 2, "ucrl-vtr", joint, 500, &all, &of_auto);
    if (plays_all) {
        check_all("Bandits", bandits, 6, "auto", joint, 500, &all, &of_auto);
        check_all("Features", linear, 2, "auto", joint, 500, &all, &of_auto);
    }
    check_all("Bandits", bandits, plays_all ? 6 : 2, "auto", joint, 2000, &all, &of_auto);
    check_all("Features", linear, 2, "auto", joint, 2000, &all, &of_auto);
    print("All learners", &all);
    print("`auto`", &of_auto);
    if (is_untold)
        return;
    assert_true(all.enough >= 30 && all.not_enough >= 10); /* forecasts say something */
    assert_true(20 * all.false_enough <= all.enough);
    assert_true(20 * of_auto.false_enough <= of_auto.enough);
}

/* Plays what a forecast says would do. */
static void follow(const place *p, const char *told, double users, const char *privacy,
                   unsigned *n_told, unsigned *n_false)
{
    if (!isfinite(users)) {
        (void)printf("| none ");
        return;
    }
    SCOPED(tacit_experiment) *e = parse(p, &(question){"auto", privacy, (uint64_t)users});
    const double share = play(e);
    ++*n_told;
    *n_false += share >= 1;
    (void)printf("| %s: %.2f%s ", told, share, share < 1 ? "" : " **false**");
    (void)fflush(stdout);
}

TEST(what_would_do_does)
{
    static const double epsilons[] = {10, 1, 0.1};
    unsigned n_told = 0, n_false = 0;
    if (!plays_advice)
        return;
    (void)puts("\n| world | epsilon of 2,000 users | forecast | users that would do "
               "| epsilon that would do |\n|---|---|---|---|---|");
    for (size_t i = 0; i < N_TABLES; i++)
        for (size_t g = 0; g < 3; g++) {
            const question q = {"auto", fmt("model: joint, epsilon: %g", epsilons[g]), 2000};
            SCOPED(tacit_experiment) *e = parse(&tables[i], &q);
            const tacit_forecast f = ask(e, &tables[i], &q, 20);
            (void)printf("| %s | %g | %s ", tables[i].name, epsilons[g], words[f.outlook]);
            follow(&tables[i], fmt("%.0f", f.users_needed), f.users_needed, q.privacy, &n_told,
                   &n_false);
            follow(&tables[i], fmt("%g", f.epsilon_needed),
                   isfinite(f.epsilon_needed) ? 2000 : f.epsilon_needed,
                   fmt("model: joint, epsilon: %g", f.epsilon_needed), &n_told, &n_false);
            (void)puts("|");
        }
    (void)printf("\n%u pieces of advice, false: %u\n", n_told, n_false);
    assert_true(10 * n_false <= n_told);
}

int main(int argc, char **argv)
{
    plays_all = argc > 1 && strcmp(argv[1], "all") == 0;
    plays_advice = argc > 1 && strcmp(argv[1], "advice") == 0;
    is_untold = argc > 1 && strcmp(argv[1], "untold") == 0;
    scratch_make("tacit_truth_", scratch);
    const int status = test_run(NULL, NULL);
    scratch_remove(scratch);
    return status;
}
