/* Plans for linear mixtures from rare releases: several bold ones, drawn by the posterior of the
 * weights, and a greedy one. See docs/why/posterior-mixture.md. */
#ifndef TACIT_PLAN_POSTERIOR_MIXTURE_H
#define TACIT_PLAN_POSTERIOR_MIXTURE_H

#include <tacit/billboard.h>

#include "plan/mixture_posterior.h"

typedef struct tacit__bold_options {
    const tacit__mixture_model *model; /* must outlive the planner */
    size_t horizon;
    bool stationary;       /* rewards are [1][pair], and all steps have the same weights */
    const double *rewards; /* [horizon or 1][pair]; copied */
    size_t batches;        /* that are shown; one more follows them */
    const uint64_t *ends;  /* [batches + 1]: users when each batch is over; copied */
    tacit__score_noise noise;
    uint64_t quota;    /* users of a batch who act by bold plans, at most */
    size_t plans;      /* bold plans of a batch */
    double boldness;   /* scale of xi */
    uint64_t tie_seed; /* of the public chance */
} tacit__bold_options;

typedef struct tacit__posterior_mixture tacit__posterior_mixture;

TACIT_MUST_USE tacit_status tacit__posterior_mixture_create(const tacit__bold_options *options,
                                                            tacit__posterior_mixture **out);
void tacit__posterior_mixture_destroy(tacit__posterior_mixture *planner);

/* The batch is over, and this was shown of it: a new posterior, and the plans of the next batch. */
void tacit__posterior_mixture_absorb(tacit__posterior_mixture *planner,
                                     const tacit__score_sums *shown);

/* Batches so far: those that are over. */
size_t tacit__posterior_mixture_batches(const tacit__posterior_mixture *planner);

/* The plan of user `place` of the batch, from 0. */
tacit_billboard tacit__posterior_mixture_show(tacit__posterior_mixture *planner, uint64_t place);

/* The number of that plan; `plans` is the greedy one. */
size_t tacit__posterior_mixture_turn(const tacit__posterior_mixture *planner, uint64_t place);

/* One plan with this xi, into policy[horizon][state]. */
void tacit__posterior_mixture_plan(tacit__posterior_mixture *planner, double xi, uint32_t *policy);

/* Q of the last plan that was made, [horizon][state][action], and the posterior behind it: for tests. */
const double *tacit__posterior_mixture_q(const tacit__posterior_mixture *planner);
const tacit__mixture_posterior *tacit__posterior_mixture_look(
    const tacit__posterior_mixture *planner);

/* As part of a saved state (base/bytes.h), into a fresh planner of the same options. Returns how many
 * batches are over in what is saved or loaded. */
size_t tacit__posterior_mixture_fields(tacit__posterior_mixture *planner, tacit__saved *s);

#endif
