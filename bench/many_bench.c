/* The loops in C that python/bench.py stands beside: many users of lin-ucb in one call, users of a table one after the other, and an
 * experiment.
 *
 *     many_bench                     the first two of these
 *     many_bench many                seconds of processor time for one user, in batches
 *     many_bench table               the same for users of RiverSwim who are played, planned for and learned from
 *     many_bench run FILE EPISODES   seconds of processor time for an experiment, on one thread */
#include "harness.h"

#include <tacit/lab.h>

enum { DIMENSION = 20, ACTIONS = 10, BATCH = 1000, BATCHES = 40 };

/* Somewhere in [-1, 1]: which numbers they are does not matter here. */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)*state / 9223372036854775808.0;
}

static void many(void)
{
    static const char text[] = "agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}\n"
                               "episodes: 40000\n"
                               "space: {features: 20, actions: 10}\n";
    static double features[BATCH * ACTIONS * DIMENSION], rewards[BATCH], chances[BATCH];
    static uint32_t actions[BATCH];
    tacit_error err = TACIT_ERROR_INIT;
    tacit_noise *noise = NULL;
    tacit_agent *agent = NULL;
    tacit_billboard board;
    uint64_t state = 1;
    size_t done;
    for (size_t i = 0; i < BATCH * ACTIONS * DIMENSION; i++)
        features[i] = draw(&state) / 4.5; /* no vector of 20 is longer than 1 */
    for (size_t i = 0; i < BATCH; i++)
        rewards[i] = (1 + draw(&state)) / 2;
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_agent_create_text(text, sizeof text - 1, NULL, NULL, noise, &agent, &err),
                &err);
    const size_t batches = bench_times(BATCHES);
    double acting = 0, learning = 0;
    for (size_t b = 0; b < batches; b++) {
        bench_check(tacit_agent_plan(agent, &board, &err), &err);
        const double start = bench_now();
        bench_check(tacit_agent_act_many(agent, BATCH, 0, NULL, features, chances, actions, NULL,
                                         &done, &err),
                    &err);
        const double middle = bench_now();
        const tacit_trajectories users = {
            .actions = actions, .rewards = rewards, .features = features};
        bench_check(tacit_agent_learn_many(agent, BATCH, &users, &done, &err), &err);
        acting += middle - start;
        learning += bench_now() - middle;
    }
    const double n = (double)(BATCH * batches);
    printf("{\"loop\":\"many\",\"dimension\":%d,\"actions\":%d,\"act_seconds\":%.4g,\"learn_"
           "seconds\":%.4g}\n",
           DIMENSION, ACTIONS, acting / n, learning / n);
    tacit_agent_destroy(agent);
    tacit_noise_destroy(noise);
}

static void table(void)
{
    static const char world_text[] = "{kind: riverswim, states: 6, horizon: 20}";
    static const char text[] =
        "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\nepisodes: 20000\n";
    tacit_error err = TACIT_ERROR_INIT;
    tacit_noise *noise = NULL;
    tacit_world *world = NULL;
    tacit_agent *agent = NULL;
    tacit_walk *walk = NULL;
    uint32_t states[21], actions[20];
    double rewards[20];
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_world_create_text(world_text, sizeof world_text - 1, NULL, &world, &err),
                &err);
    bench_check(tacit_agent_create_text(text, sizeof text - 1, NULL, world, noise, &agent, &err),
                &err);
    bench_check(tacit_walk_create(world, noise, &walk, &err), &err);
    const uint64_t users = bench_times(20000);
    const double start = bench_now();
    for (uint64_t k = 0; k < users; k++) {
        tacit_billboard board;
        bench_check(tacit_agent_plan(agent, &board, &err), &err);
        bench_check(tacit_walk_play(walk, k, board.policy, states, actions, rewards), NULL);
        const tacit_trajectory user = {.states = states, .actions = actions, .rewards = rewards};
        bench_check(tacit_agent_learn(agent, &user, &err), &err);
    }
    printf("{\"loop\":\"table\",\"seconds\":%.4g}\n", (bench_now() - start) / (double)users);
    tacit_walk_destroy(walk);
    tacit_agent_destroy(agent);
    tacit_world_destroy(world);
    tacit_noise_destroy(noise);
}

static void run(const char *file, uint64_t episodes)
{
    tacit_error err = TACIT_ERROR_INIT;
    tacit_experiment *experiment = NULL;
    tacit_results *results = NULL;
    const tacit_experiment_changes changes = {.episodes = episodes};
    const tacit_lab_options options = {.n_threads = 1};
    const double start = bench_now();
    bench_check(tacit_experiment_read(file, &changes, &experiment, &err), &err);
    bench_check(tacit_lab_run(experiment, &options, &results, &err), &err);
    printf("{\"loop\":\"run\",\"seconds\":%.6g}\n", bench_now() - start);
    tacit_results_destroy(results);
    tacit_experiment_destroy(experiment);
}

int main(int argc, char **argv)
{
    bench_begin(&argc, argv);
    if (argc > 3 && strcmp(argv[1], "run") == 0)
        run(argv[2], strtoull(argv[3], NULL, 10));
    if (argc == 1 || strcmp(argv[1], "many") == 0)
        many();
    if (argc == 1 || strcmp(argv[1], "table") == 0)
        table();
    return 0;
}
