/* Planners with rare releases: a posterior of the world, made anew of all that was shown, and plans for the
 * users of the next batch, exploring ones and steady ones (batch_plans.h). Planners differ in their posterior
 * alone. See docs/why/posterior-mixture.md#plans. */
#ifndef TACIT_PLAN_POSTERIOR_SCORE_PLANNER_H
#define TACIT_PLAN_POSTERIOR_SCORE_PLANNER_H

#include "plan/posterior/batch_plans.h"

/* What a planner asks of its posterior. */
typedef struct tacit__score_belief {
    /* q[state][action] of step h, by a plan with this xi. `after`: values of the next step's states; NULL: h
     * is the last step. */
    void (*write_q)(void *posterior, size_t h, double xi, const double *after, double *q);
    /* The posterior given these batches, n of them. */
    void (*fit)(void *posterior, const tacit__played_batch *batches, size_t n);
    /* What the next fit begins with, as part of a saved state (base/bytes.h). */
    void (*fields)(void *posterior, tacit__saved *s);
    void (*destroy)(void *posterior); /* accepts NULL */
} tacit__score_belief;

typedef struct tacit__score_planner tacit__score_planner;

/* The planner destroys the posterior; if it cannot be created, at once. */
TACIT_MUST_USE tacit_status tacit__score_planner_create(const tacit__score_belief *kind,
                                                        void *posterior,
                                                        const tacit__batch_plans_options *batches,
                                                        tacit__score_planner **out);
void tacit__score_planner_destroy(tacit__score_planner *planner);

/* The batch is over, and this was shown of it: a new posterior, and the plans of the next batch. */
void tacit__score_planner_absorb(tacit__score_planner *planner, const tacit__score_sums *shown);

/* Its batches, which say by which plan a user acts. */
tacit__batch_plans *tacit__score_planner_batches(const tacit__score_planner *planner);

/* As part of a saved state (base/bytes.h), into a fresh planner of the same options. Returns how many batches
 * are over in what is saved or loaded. */
size_t tacit__score_planner_fields(tacit__score_planner *planner, tacit__saved *s);

/* One plan with this xi, into policy[horizon][state]; its Q, [horizon][state][action]; and the posterior
 * behind it: for tests. */
void tacit__score_planner_plan(tacit__score_planner *planner, double xi, uint32_t *policy);
const double *tacit__score_planner_q(const tacit__score_planner *planner);
const void *tacit__score_planner_belief(const tacit__score_planner *planner);

#endif
