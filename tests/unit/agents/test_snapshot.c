/* A snapshot of an agent acts as the agent did, whatever the agent learns since, and for many threads at once. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

enum { D = 6, ACTIONS = 4, USERS = 60, QUESTIONS = 200, THREADS = 4 };

typedef struct answers {
    uint32_t action[QUESTIONS];
    double probability[QUESTIONS];
} answers;

static tacit_situation situation(uint64_t *seed, double x[ACTIONS * D])
{
    for (size_t i = 0; i < ACTIONS * D; i++)
        x[i] = (2 * random_unit(seed) - 1) / sqrt(D);
    return (tacit_situation){.features = x};
}

static void ask(tacit_agent *agent, answers *out)
{
    uint64_t seed = 5;
    for (size_t i = 0; i < QUESTIONS; i++) {
        double x[ACTIONS * D];
        const tacit_situation here = situation(&seed, x);
        assert_ok(tacit_agent_act(agent, &here, random_unit(&seed), &out->action[i],
                                  &out->probability[i], NULL));
    }
}

typedef struct asking {
    tacit_agent *agent;
    answers got;
} asking;

static void *ask_often(void *context)
{
    asking *a = context;
    for (int i = 0; i < 20; i++)
        ask(a->agent, &a->got);
    return NULL;
}

static void learn(tacit_agent *agent, uint64_t *seed)
{
    tacit_billboard board;
    for (int i = 0; i < USERS; i++) {
        double x[ACTIONS * D], reward = random_unit(seed);
        const uint32_t action = (uint32_t)(ACTIONS * random_unit(seed));
        (void)situation(seed, x);
        const tacit_trajectory user = {.actions = &action, .rewards = &reward, .features = x};
        assert_ok(tacit_agent_learn(agent, &user, NULL));
        assert_ok(tacit_agent_plan(agent, &board, NULL));
    }
}

TEST(a_snapshot_stays_as_the_agent_was)
{
    static const tacit_guarantee guarantees[] = {{TACIT_MODEL_NONE, 0, 0},
                                                 {TACIT_MODEL_JOINT, 10, 1e-5}};
    for (size_t disjoint = 0; disjoint < 2; disjoint++)
        for (size_t g = 0; g < 2; g++) {
            const tacit_bandit bandit = {.dimension = D, .bound = 1, .disjoint = disjoint == 1};
            const tacit_agent_request request = {.kind = "lin-ucb",
                                                 .guarantee = guarantees[g],
                                                 .n_actions = ACTIONS,
                                                 .horizon = 1,
                                                 .episodes = 10 * USERS,
                                                 .bandit = &bandit};
            SCOPED(tacit_agent) *agent = agent_of(&request, 3), *snapshot = NULL;
            answers before, later;
            uint64_t seed = 1;
            learn(agent, &seed);
            assert_ok(tacit__agent_snapshot(agent, &snapshot, NULL));
            ask(agent, &before);
            learn(agent, &seed);
            ask(agent, &later);
            assert_true(memcmp(&before, &later, sizeof later) != 0); /* it has learned something */
            pthread_t threads[THREADS];
            SCOPED_FREE asking *all = calloc(THREADS, sizeof *all);
            for (int i = 0; i < THREADS; i++) {
                all[i].agent = snapshot;
                assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &all[i]), 0);
            }
            for (int i = 0; i < THREADS; i++) {
                (void)pthread_join(threads[i], NULL);
                assert_memory_equal(&all[i].got, &before, sizeof before);
            }
        }
}

TEST(a_family_without_one_says_so)
{
    const tacit_agent_request request = {.kind = "ucbvi", SPACE_OF(2, 2, 2), .episodes = 10};
    tacit_agent *agent, *snapshot = NULL;
    assert_ok(tacit_agent_create(&request, NULL, &agent, NULL));
    assert_status(tacit__agent_snapshot(agent, &snapshot, NULL), TACIT_UNSUPPORTED);
    assert_null(snapshot);
    tacit_agent_destroy(agent);
}
