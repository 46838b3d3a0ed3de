/* How often is a forecast's "enough" false? Forecasts are made for learners in worlds of families that no
 * reference world comes from, and then the learners are played there. A forecast is false if it says "enough" and
 * the learner, over three runs, does not beat the best constant action. Seeds are fixed, so that the table is the
 * same every time; docs/why/forecast.md has it.
 *
 *     build/tests/stat/test_forecast_truth 2>/dev/null
 */
#include <stdio.h>
#include <string.h>

#include <tacit/lab.h>

#include "support/check.h"

enum { RUNS = 3 };

typedef struct tally {
    unsigned enough, false_enough, not_enough, false_not_enough, cases;
} tally;

static const char *const words[] = {"unknown", "enough", "depends", "not enough"};

static tacit_results *play(const tacit_experiment *e)
{
    tacit_results *results = NULL;
    tacit_error err = {0};
    if (tacit_lab_run(e, NULL, &results, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return results;
}

static tacit_forecast ask(const tacit_experiment *e)
{
    static const tacit_forecast_options options = {.n_worlds = 21};
    SCOPED(tacit_world) *world = NULL;
    tacit_agent_request q;
    tacit_forecast f;
    tacit_error err = {0};
    assert_ok(tacit_experiment_world(e, 0, &world, &err));
    assert_ok(tacit_experiment_request(e, world, 0, &q, &err));
    if (tacit_forecast_make(&q, &options, &f, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return f;
}

/* One cell of the table. */
static void check(const char *world, const char *kind, const char *privacy, unsigned users,
                  tally *t)
{
    const char *text = fmt("world: {%s}\nepisodes: %u\nruns: %d\nagents:\n"
                           "  - {label: a, kind: %s, privacy: {%s}}\n"
                           "  - {kind: constant}\n  - {kind: uniform}\n",
                           world, users, RUNS, kind, privacy);
    SCOPED(tacit_experiment) *e = NULL;
    tacit_error err = {0};
    if (tacit_experiment_parse(text, strlen(text), TACIT_TESTS_DIR "/../examples/f.yaml", NULL, &e,
                               &err) != TACIT_OK)
        fail_msg("%s", err.message);
    SCOPED(tacit_results) *results = play(e);
    const double learner = tacit_results_summary(results, 0, 0).regret_mean,
                 constant = tacit_results_summary(results, 0, 1).regret_mean,
                 uniform = tacit_results_summary(results, 0, 2).regret_mean;
    assert_true(constant >=
                0.1 * uniform); /* else nothing could be better, and forecasts say nothing */
    const tacit_forecast f = ask(e);
    const bool won = learner < constant;
    t->cases++;
    t->enough += f.outlook == TACIT_OUTLOOK_ENOUGH;
    t->false_enough += f.outlook == TACIT_OUTLOOK_ENOUGH && !won;
    t->not_enough += f.outlook == TACIT_OUTLOOK_NOT_ENOUGH;
    t->false_not_enough += f.outlook == TACIT_OUTLOOK_NOT_ENOUGH && won;
    (void)printf("| %s, %u of %u, %.2f%s ", words[f.outlook], (unsigned)f.n_beaten,
                 (unsigned)f.n_worlds, learner / constant,
                 f.outlook == TACIT_OUTLOOK_ENOUGH && !won      ? " **false**"
                 : f.outlook == TACIT_OUTLOOK_NOT_ENOUGH && won ? " (false)"
                                                                : "");
    (void)fflush(stdout);
}

typedef struct place {
    const char *name, *world;
} place;

static void check_all(const char *title, const place *places, size_t n_places,
                      const char *const *kinds, const char *const *guarantees,
                      const unsigned *users, tally *t)
{
    for (; *users > 0; users++)
        for (const char *const *kind = kinds; *kind != NULL; kind++) {
            (void)printf("\n%s, %s, %u users\n\n| world |", title, *kind, *users);
            for (size_t g = 0; guarantees[g] != NULL; g++)
                (void)printf(" %s |", guarantees[g]);
            (void)printf("\n|---|");
            for (size_t g = 0; guarantees[g] != NULL; g++)
                (void)printf("---|");
            (void)puts("");
            for (size_t i = 0; i < n_places; i++) {
                (void)printf("| %s ", places[i].name);
                for (size_t g = 0; guarantees[g] != NULL; g++)
                    check(places[i].world, *kind, guarantees[g], *users, t);
                (void)puts("|");
            }
        }
}

TEST(enough_is_seldom_false_in_worlds_of_other_families)
{
    static const place tables[] = {
        {"grid, slip 0.4", "kind: grid, slip: 0.4, horizon: 25"},
        {"grid, slip 0.1", "kind: grid, slip: 0.1, horizon: 12"},
        {"deep sea of 5", "kind: deep-sea, size: 5, shuffle: yes, seed: 3"},
        {"deep sea of 6", "kind: deep-sea, size: 6, shuffle: yes, seed: 5"},
        {"deep sea of 7", "kind: deep-sea, size: 7, shuffle: yes, seed: 2"},
        {"people can leave", "kind: table, transitions: leaving.csv, horizon: 20"}};
    static const place mixtures[] = {
        {"nearly deterministic kernels",
         "kind: random-mixture, d: 5, concentration: 0.02, seed: 3"},
        {"flat kernels", "kind: random-mixture, d: 4, concentration: 2, seed: 3"}};
    static const place bandits[] = {
        {"adversarial order", "kind: linear-bandit, d: 5, actions: 10, phases: 500"},
        {"noise of one size", "kind: linear-bandit, d: 10, actions: 5, noise: 0.5"}};
    static const place linear[] = {{"spiky features", "kind: random-linear, concentration: 0.03"},
                                   {"flat features", "kind: random-linear, concentration: 3"}};
    static const char *const joint[] = {"model: joint, epsilon: 10", "model: joint, epsilon: 1",
                                        "model: joint, epsilon: 0.1", NULL},
                             *const all[] = {"model: none", "model: joint, epsilon: 10",
                                             "model: joint, epsilon: 1",
                                             "model: joint, epsilon: 0.1", NULL},
                             *const local[] = {"model: local, epsilon: 100",
                                               "model: local, epsilon: 10", NULL};
    static const char *const own[] = {"auto", "explore-commit", NULL},
                             *const only[] = {"auto", NULL}, *const dp_ucbvi[] = {"dp-ucbvi", NULL},
                             *const vtr[] = {"auto", "ucrl-vtr", NULL};
    static const unsigned both[] = {2000, 20000, 0}, few[] = {2000, 0}, very_few[] = {500, 0};
    tally t = {0};
    check_all("Tables", tables, 6, own, all, both, &t);
    check_all("Tables", tables, 3, dp_ucbvi, local, very_few, &t);
    check_all("Mixtures", mixtures, 2, vtr, joint, very_few, &t);
    check_all("Bandits", bandits, 2, only, joint, few, &t);
    check_all("Features", linear, 2, only, joint, few, &t);
    (void)printf(
        "\n%u cases: \"enough\" in %u, false in %u of these; \"not enough\" in %u, false in "
        "%u of these\n",
        t.cases, t.enough, t.false_enough, t.not_enough, t.false_not_enough);
    assert_true(t.enough >= 30 && t.not_enough >= 10); /* forecasts say something */
    assert_true(20 * t.false_enough <= t.enough);
}
