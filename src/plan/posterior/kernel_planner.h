/* Policies for kernel bandits from rare releases: bold ones by the posterior of the mean reward for a quota
 * of each batch, milder ones for the others. See docs/why/posterior-kernel.md. */
#ifndef TACIT_PLAN_POSTERIOR_KERNEL_PLANNER_H
#define TACIT_PLAN_POSTERIOR_KERNEL_PLANNER_H

#include "plan/epoch_planner.h"
#include "plan/posterior/kernel_belief.h"

typedef struct tacit__kernel_planner_options {
    tacit__pairs pairs;
    uint64_t users;            /* K */
    size_t rank;               /* features, at most */
    double norm;               /* of the mean reward minus 1/2 */
    tacit__kernel_noise noise; /* as far as it is known before the door is open: it sizes batches */
    uint64_t first;            /* users of the first batch; 0: by a public rule */
    double growth;             /* of the users from batch to batch, above 1 */
    uint64_t last;             /* after this many users nothing is released; 0: there is no limit */
    double boldness, rest;     /* standard deviations that the quota and the others hope for, on a
                                * half-normal scale */
    bool commits;              /* one release, and then greedy play */
    double cell; /* what users add for their context; 0: how likely contexts are is known */
} tacit__kernel_planner_options;

/* Its options are tacit__kernel_planner_options. */
extern const tacit__epoch_planner tacit__kernel_planner;

/* The batches' ends with this many users in the first one, into `ends` (NULL: they are counted only);
 * returns how many batches there are. */
size_t tacit__kernel_planner_schedule(const tacit__kernel_planner_options *options, uint64_t first,
                                      uint64_t *ends);

/* The size of the quota. */
uint64_t tacit__kernel_planner_quota(const void *self);

/* For tests: the posterior behind the policy, and how likely contexts are held to be, [contexts]. */
const tacit__kernel_belief *tacit__kernel_planner_belief(const void *self);
const double *tacit__kernel_planner_law(const void *self);

#endif
