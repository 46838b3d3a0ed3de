/* LSVI learners for tests: small spaces with four kinds of features, adversarial users, requests in one call. */
#ifndef TACIT_TESTS_LSVI_H
#define TACIT_TESTS_LSVI_H

#include <math.h>
#include <string.h>

#include <tacit/agent.h>

#include "support/check.h"
#include "support/random.h"

enum { LSVI_S = 4, LSVI_A = 2, LSVI_H = 3, LSVI_D = 3, LSVI_MOST = 4096 };

typedef enum lsvi_form { LSVI_ONE_HOT, LSVI_SIMPLEX, LSVI_SIGNED, LSVI_CARRIED } lsvi_form;

typedef struct lsvi_user {
    uint32_t states[LSVI_H + 1], actions[LSVI_H];
    double rewards[LSVI_H];
} lsvi_user;

typedef struct lsvi_setup {
    lsvi_form form;
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    uint64_t users;
    const tacit_setting *settings;
    size_t n_settings;
    const char *sums;
    uint64_t seed;  /* of the noise */
    size_t horizon; /* 0: LSVI_H */
    bool stationary;
} lsvi_setup;

/* Features of a pair: corners and inner points of the simplex, or vectors of any sign and length up to 1. */
static inline void lsvi_simplex_row(void *context, uint32_t s, uint32_t a, double *out)
{
    (void)context;
    uint64_t seed = 1000 + s * LSVI_A + a;
    double sum = 0;
    for (size_t j = 0; j < LSVI_D; j++) {
        out[j] = s < LSVI_D && a == 0 ? (double)(j == s) : -log(random_unit(&seed));
        sum += out[j];
    }
    for (size_t j = 0; j < LSVI_D; j++)
        out[j] /= sum;
}

static inline void lsvi_signed_row(void *context, uint32_t s, uint32_t a, double *out)
{
    (void)context;
    uint64_t seed = 2000 + s;
    double sum = 0;
    for (size_t j = 0; j < LSVI_D; j++) {
        out[j] = random_normal(&seed);
        sum += out[j] * out[j];
    }
    for (size_t j = 0; j < LSVI_D; j++) /* the actions of a state are opposite: the worst case */
        out[j] *= (a == 0 ? 1 : -1) / sqrt(sum);
}

static inline const tacit_linear *lsvi_linear(lsvi_form form)
{
    static const tacit_linear linear[] = {
        [LSVI_SIMPLEX] = {.dimension = LSVI_D,
                          .bound = 1,
                          .simplex = true,
                          .row = lsvi_simplex_row},
        [LSVI_SIGNED] = {.dimension = LSVI_D, .bound = 1, .row = lsvi_signed_row},
        [LSVI_CARRIED] = {.dimension = LSVI_D, .bound = 1, .simplex = true},
    };
    return form == LSVI_ONE_HOT ? NULL : &linear[form];
}

static inline tacit_status lsvi_try(const lsvi_setup *s, tacit_agent **out, tacit_error *err)
{
    const tacit_agent_request request = {
        SPACE_OF(LSVI_S, LSVI_A, s->horizon > 0 ? s->horizon : LSVI_H),
        SETTINGS_OF(s->settings, s->n_settings),
        .kind = "lsvi-ucb",
        .guarantee = s->guarantee,
        .calibration = s->calibration,
        .sums = s->sums,
        .episodes = s->users,
        .stationary = s->stationary,
        .linear = lsvi_linear(s->form)};
    tacit_noise *noise;
    assert_ok(tacit_noise_create_simulated(s->seed, &noise));
    tacit_status status = tacit_agent_create(&request, noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}

static inline tacit_agent *lsvi_start(const lsvi_setup *s)
{
    tacit_agent *agent = NULL;
    tacit_error err = {.message = ""};
    if (lsvi_try(s, &agent, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return agent;
}

/* Users that stay, wander, or jump, with extreme rewards. */
static inline void lsvi_fill(lsvi_user *users, size_t n, uint64_t seed)
{
    for (size_t k = 0; k < n; k++) {
        uint64_t shape = random_below(&seed, 3);
        uint32_t home = (uint32_t)random_below(&seed, LSVI_S),
                 hand = (uint32_t)random_below(&seed, LSVI_A);
        for (size_t h = 0; h <= LSVI_H; h++)
            users[k].states[h] = shape == 0 ? home : (uint32_t)random_below(&seed, LSVI_S);
        for (size_t h = 0; h < LSVI_H; h++) {
            users[k].actions[h] = shape < 2 ? hand : (uint32_t)random_below(&seed, LSVI_A);
            users[k].rewards[h] = shape == 0 ? (double)random_below(&seed, 2) : random_unit(&seed);
        }
    }
}

/* The same user with the features of the simplex table, as states that are not numbered. */
static inline void lsvi_features(const lsvi_user *u, double out[LSVI_H + 1][LSVI_A][LSVI_D])
{
    for (size_t h = 0; h <= LSVI_H; h++)
        for (uint32_t a = 0; a < LSVI_A; a++)
            lsvi_simplex_row(NULL, u->states[h], a, out[h][a]);
}

static inline tacit_status lsvi_learn(tacit_agent *agent, lsvi_form form, const lsvi_user *u,
                                      tacit_error *err)
{
    double features[LSVI_H + 1][LSVI_A][LSVI_D];
    tacit_trajectory t = {STEPS_OF(u->states, u->actions, u->rewards)};
    if (form == LSVI_CARRIED) {
        lsvi_features(u, features);
        t.states = NULL;
        t.features = &features[0][0][0];
    }
    return tacit_agent_learn(agent, &t, err);
}

/* The billboard as the actions in all situations (chance 0.3 where it is random); returns its version. */
static inline uint64_t lsvi_look(tacit_agent *agent, lsvi_form form,
                                 uint32_t policy[LSVI_H][LSVI_S])
{
    tacit_error err = {.message = ""};
    tacit_billboard board;
    if (tacit_agent_plan(agent, &board, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    for (size_t h = 0; h < LSVI_H; h++)
        for (uint32_t s = 0; s < LSVI_S; s++) {
            double phi[LSVI_A][LSVI_D], probability;
            tacit_situation where = {.step = h, .state = s};
            for (uint32_t a = 0; a < LSVI_A && form == LSVI_CARRIED; a++)
                lsvi_simplex_row(NULL, s, a, phi[a]);
            if (form == LSVI_CARRIED)
                where.features = &phi[0][0];
            assert_ok(tacit_agent_act(agent, &where, 0.3, &policy[h][s], &probability, &err));
        }
    return board.version;
}

#endif
