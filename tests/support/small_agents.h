/* Every learner in every model, in the smallest space that it learns in: for tests that take states and reports apart.
 * The same without cmocka, for fuzz targets. */
#ifndef TACIT_TESTS_SMALL_AGENTS_H
#define TACIT_TESTS_SMALL_AGENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/kinds.h"

enum { SMALL_STATES = 2, SMALL_ACTIONS = 2, SMALL_STEPS = 3, SMALL_D = 2, SMALL_MOST = 160 };

typedef struct small_agent {
    const char *kind;
    tacit_guarantee guarantee;
    tacit_setting setting;      /* key NULL: none */
    const tacit_bandit *bandit; /* NULL: episodes */
    bool bare;                  /* of one step, in the only state */
} small_agent;

static const double small_rewards[SMALL_STEPS * SMALL_STATES * SMALL_ACTIONS] = {
    0, 1, 0.5, 0.25, 1, 0, 0.25, 0.5, 0.1, 0.9, 1, 0};
static const double small_points[SMALL_STATES * SMALL_ACTIONS * SMALL_D] = {0.5,  0,    0,   0.5,
                                                                            -0.5, 0.25, 0.1, 0.9};
/* What users bring in each step, where they do. */
static const double small_features[SMALL_STEPS + 1][SMALL_ACTIONS * SMALL_D] = {
    {0.5, 0, 0, 0.25}, {0.1, 0.2, 0.3, 0.4}};
static const tacit_bandit small_numbered = {.dimension = SMALL_D,
                                            .bound = 1,
                                            .points = small_points},
                          small_shared = {.dimension = SMALL_D, .bound = 2},
                          small_disjoint = {.dimension = SMALL_D, .bound = 1, .disjoint = true};

/* One kernel stays, the other goes where the action says. */
static inline void small_kernels(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    for (uint32_t next = 0; next < SMALL_STATES; next++) {
        out[next] = next == state ? 0.75 : 0.25;
        out[SMALL_STATES + next] = next == action ? 0.875 : 0.125;
    }
}
static const tacit_mixture small_mixture = {.dimension = SMALL_D,
                                            .bound = 2,
                                            .parameter_norm = 1,
                                            .kernels = true,
                                            .nonnegative = true,
                                            .row = small_kernels};

/* A corner, or the middle. */
static inline void small_row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)context;
    out[0] = state == action ? 1 : 0.5;
    out[1] = 1 - out[0];
}
static const tacit_linear small_linear = {
    .dimension = SMALL_D, .bound = 1, .simplex = true, .row = small_row};

static inline bool small_carried(const small_agent *v)
{
    return v->bandit != NULL && v->bandit->points == NULL;
}

static inline size_t small_horizon(const small_agent *v, size_t horizon)
{
    return v->bandit != NULL || v->bare ? 1 : horizon;
}

/* That are numbered; users who bring features have the number 0 or 1 as well. */
static inline size_t small_states(const small_agent *v)
{
    return v->bare ? 1 : SMALL_STATES;
}

/* Up to SMALL_STEPS steps. A mixture, or features, are known only to those who learn nothing else. */
static inline tacit_status small_agent_create(const small_agent *v, size_t horizon, uint64_t users,
                                              tacit_agent **out, tacit_error *err)
{
    tacit_agent_request request = {.kind = v->kind,
                                   .settings = &v->setting,
                                   .n_settings = v->setting.key != NULL,
                                   .guarantee = v->guarantee,
                                   .n_states = small_carried(v) ? 0 : small_states(v),
                                   .n_actions = SMALL_ACTIONS,
                                   .horizon = small_horizon(v, horizon),
                                   .stationary = v->setting.key == NULL ||
                                                 strcmp(v->setting.key, "report") != 0,
                                   .episodes = users,
                                   .bandit = v->bandit,
                                   .rewards = v->bandit == NULL ? small_rewards : NULL};
    tacit_noise *noise;
    tacit_status status = tacit_noise_create_simulated(1, &noise);
    if (status != TACIT_OK)
        return status;
    status = tacit_agent_create(&request, noise, out, err);
    if (status == TACIT_UNSUPPORTED && v->bandit == NULL) {
        request.mixture = &small_mixture;
        status = tacit_agent_create(&request, noise, out, err);
    }
    if (status == TACIT_UNSUPPORTED && v->bandit == NULL) {
        request.mixture = NULL;
        request.linear = &small_linear;
        status = tacit_agent_create(&request, noise, out, err);
    }
    tacit_noise_destroy(noise);
    return status;
}

/* Those that are given, and behind them every learner in every model and in every kind of space that it takes; of one
 * state only if it takes no other. Stops the
 * program if there is no space for one. */
static inline size_t small_agents_fill(const small_agent *given, size_t n,
                                       small_agent out[SMALL_MOST])
{
    static const tacit_bandit *const bandits[] = {NULL, &small_numbered, &small_shared,
                                                  &small_disjoint};
    kind_in_model k;
    if (n > 0)
        memcpy(out, given, n * sizeof *given);
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++) {
        const size_t before = n;
        for (size_t b = 0; b < 5 && n < SMALL_MOST; b++) {
            tacit_agent *agent;
            if (b == 4 && n > before)
                continue;
            out[n] = (small_agent){.kind = k.kind->name,
                                   .guarantee = guarantee_in(k.model, 1, 0.01),
                                   .setting = setting_in(k.kind, k.model),
                                   .bandit = b < 4 ? bandits[b] : NULL,
                                   .bare = b == 4};
            if (small_agent_create(&out[n], SMALL_STEPS, 8, &agent, NULL) != TACIT_OK)
                continue;
            tacit_agent_destroy(agent);
            n++;
        }
        if (n == before) {
            (void)fprintf(stderr, "%s learns in none of the small spaces\n", k.kind->name);
            abort();
        }
    }
    return n;
}

#endif
