/* Curators of weighted counts, and of answers, as tests use them. */
#ifndef TACIT_TESTS_WEIGHTED_H
#define TACIT_TESTS_WEIGHTED_H

#include "agents/tabular/posterior_curator.h"
#include "support/check.h"

SCOPED_TYPE(tacit__curator, tacit__curator_destroy)

static inline tacit__curator *weighted_create(const tacit__posterior_schedule *schedule,
                                              uint64_t seed)
{
    tacit__posterior_schedule s = *schedule;
    tacit__curator *c = NULL;
    tacit_error err = {.message = ""};
    SCOPED(tacit_noise) *noise = simulated_noise(seed);
    if (tacit__posterior_curator(&s, noise, &c, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return c;
}

static inline tacit_status weighted_add(tacit__curator *c, const tacit_trajectory *user)
{
    return tacit__curator_add(c, &(tacit__user_view){.trajectory = user}, NULL);
}

#endif
