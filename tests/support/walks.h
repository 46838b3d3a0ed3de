/* Users of a small world, for tests of what they add: each says the same whenever it is asked. */
#ifndef TACIT_TESTS_WALKS_H
#define TACIT_TESTS_WALKS_H

#include <tacit/billboard.h>
#include <tacit/noise.h>
#include <tacit/plan.h>

#include "support/check.h"
#include "support/random.h"

enum { S = 3, A = 2, H = 4, USERS = 20, SEED = 11 };

static const tacit_guarantee models[] = {
    {TACIT_MODEL_JOINT, 1, 1e-6}, {TACIT_MODEL_LOCAL, 1, 1e-6}, {TACIT_MODEL_JOINT, 1, 0}};
enum { N_MODELS = sizeof models / sizeof *models };

/* A walk that says the same whenever it is asked. */
typedef struct walk {
    uint32_t states[H + 1], actions[H];
    double rewards[H];
} walk;

static inline walk walk_of(size_t user)
{
    uint64_t seed = 100 + user;
    walk w = {.states = {0}};
    for (size_t h = 0; h <= H; h++)
        w.states[h] = (uint32_t)random_below(&seed, S);
    for (size_t h = 0; h < H; h++) {
        w.actions[h] = (uint32_t)random_below(&seed, A);
        w.rewards[h] = random_unit(&seed);
    }
    return w;
}

static inline tacit_trajectory trajectory(const walk *w)
{
    return (tacit_trajectory){STEPS_OF(w->states, w->actions, w->rewards)};
}

static inline tacit_noise *noise_of_test(void)
{
    tacit_noise *noise;
    assert_ok(tacit_noise_create_simulated(SEED, &noise));
    return noise;
}

#endif
