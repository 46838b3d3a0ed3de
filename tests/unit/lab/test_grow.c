/* Experiments grow: more runs, agents, worlds and epsilons keep what was played, bit for bit, and what differs is named. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/lab.h>

#define WORLD "{label: river, kind: riverswim, horizon: 5}"
#define PLAIN "  - {label: plain, kind: ucbvi, privacy: {model: none}}\n"
#define JOINT "  - {label: joint, kind: dp-ucbvi, privacy: {model: joint, epsilon: [1, 4]}}\n"
#define MORE                                                                                       \
    "  - {label: joint, kind: dp-ucbvi, privacy: {model: joint, epsilon: [0.5, 1, 2, 4]}}\n"
#define STICK "  - {kind: uniform}\n"

static char *make(const char *worlds, const char *rest, const char *agents)
{
    char *text = NULL;
    assert_true(asprintf(&text, "worlds: [%s]\nepisodes: 120\nseed: 5\n%sagents:\n%s", worlds, rest,
                         agents) > 0);
    return text;
}

static tacit_status play(const char *text, const char *directory, tacit_lab_mode mode,
                         tacit_results **out, tacit_error *err)
{
    SCOPED(tacit_experiment) *e = NULL;
    const tacit_lab_options options = {.n_threads = 1, .directory = directory, .mode = mode};
    assert_ok(tacit_experiment_parse(text, strlen(text), "grown.yaml", NULL, &e, err));
    tacit_status status = tacit_lab_run(e, &options, out, err);
    return status;
}

static void assert_same_results(const tacit_results *a, const tacit_results *b)
{
    const tacit_experiment_facts *facts = tacit_results_describe(a);
    assert_int_equal(facts->n_jobs, tacit_results_describe(b)->n_jobs);
    for (size_t w = 0; w < facts->n_worlds; w++)
        for (size_t i = 0; i < facts->n_agents; i++)
            for (uint64_t run = 0; run < facts->runs; run++) {
                const tacit_job *x = tacit_results_job(a, w, i, run);
                const tacit_job *y = tacit_results_job(b, w, i, run);
                assert_true((x == NULL) == (y == NULL));
                if (x == NULL)
                    continue;
                assert_true(x->done && y->done && x->regret == y->regret);
                assert_true(x->switches == y->switches);
                assert_memory_equal(x->curve, y->curve, tacit_results_points(a) * sizeof *x->curve);
            }
}

/* What grew step by step is what was played at once. */
TEST(what_grows_is_what_would_have_been_played_at_once)
{
    static const struct {
        const char *worlds, *runs, *agents;
    } steps[] = {
        {WORLD, "runs: 2\n", PLAIN JOINT},
        {WORLD, "runs: 3\n", PLAIN JOINT},       /* more runs */
        {WORLD, "runs: 3\n", STICK PLAIN JOINT}, /* another agent, in front */
        {WORLD, "runs: 3\n", STICK MORE PLAIN},  /* epsilons, another order */
        {"{kind: random-tabular, states: 3, horizon: 4}, " WORLD, "runs: 4\n",
         STICK MORE PLAIN}, /* a world and a run */
    };
    char directory[] = "/tmp/tacit-grow-XXXXXX";
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        SCOPED(tacit_results) *grown = NULL, *whole = NULL, *read = NULL;
        tacit_error err = {0};
        SCOPED_FREE char *text = make(steps[i].worlds, steps[i].runs, steps[i].agents);
        tacit_status status = play(text, directory, TACIT_LAB_RESUME, &grown, &err);
        if (status != TACIT_OK)
            fail_msg("step %zu: %s", i, err.message);
        assert_ok(play(text, NULL, TACIT_LAB_NEW, &whole, &err));
        assert_ok(tacit_results_open(directory, &read, &err));
        assert_same_results(grown, whole);
        assert_same_results(read, whole);
    }
    assert_int_equal(unlink(fmt("%s/results.db", directory)), 0);
    assert_int_equal(rmdir(directory), 0);
}

TEST(what_differs_is_named_and_nothing_is_changed)
{
    static const struct {
        const char *worlds, *rest, *agents, *says;
    } cases[] = {
        {"{label: river, kind: riverswim, horizon: 6}", "runs: 2\n", PLAIN JOINT,
         "the world 'river': horizon is 5 there and 6 here"},
        {"{label: river, kind: riverswim, horizon: 5, states: 7}", "runs: 2\n", PLAIN JOINT,
         "the world 'river': states is not given there and 7 here"},
        {"{label: sea, kind: riverswim, horizon: 5}", "runs: 2\n", PLAIN JOINT,
         "the world 'river' is there and not here"},
        {WORLD, "runs: 1\n", PLAIN JOINT, "runs is 2 there and 1 here"},
        {WORLD, "runs: 2\n", JOINT, "the agent 'plain' is there and not here"},
        {WORLD, "runs: 2\n",
         PLAIN
         "  - {label: joint, kind: dp-ucbvi, user_norm: 0.5, privacy: {model: joint, epsilon: "
         "[1, 4]}}\n",
         "the agent 'joint epsilon 1': user_norm is not given there and 0.5 here"},
        {WORLD, "runs: 2\n",
         PLAIN "  - {label: joint, kind: dp-ucbvi, privacy: {model: joint, delta: 0.001, epsilon: "
               "[1, 4]}}\n",
         "the agent 'joint epsilon 1': delta is"},
    };
    char directory[] = "/tmp/tacit-grow-XXXXXX";
    assert_non_null(mkdtemp(directory));
    tacit_results *first = NULL, *read = NULL;
    tacit_error err = {0};
    char *text = make(WORLD, "runs: 2\n", PLAIN JOINT);
    assert_ok(play(text, directory, TACIT_LAB_NEW, &first, &err));
    free(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_results *none = NULL;
        text = make(cases[i].worlds, cases[i].rest, cases[i].agents);
        assert_status(play(text, directory, TACIT_LAB_RESUME, &none, &err), TACIT_WRONG_PLAN);
        if (strstr(err.message, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, cases[i].says);
        assert_null(none);
        free(text);
    }
    /* larger, but nobody said --resume */
    text = make(WORLD, "runs: 3\n", PLAIN JOINT);
    tacit_results *none = NULL;
    assert_status(play(text, directory, TACIT_LAB_NEW, &none, &err), TACIT_EXISTS);
    assert_non_null(
        strstr(err.message, "already has a part of this experiment, 6 of 6 jobs finished"));
    free(text);
    assert_ok(tacit_results_open(directory, &read, &err));
    assert_same_results(first, read);
    tacit_results_destroy(first);
    tacit_results_destroy(read);
    assert_int_equal(unlink(fmt("%s/results.db", directory)), 0);
    assert_int_equal(rmdir(directory), 0);
}
