/* Who acts by which plan, for planners with rare releases. Users come in batches. The first users of a batch,
 * the quota, act by exploring plans, the others by steady ones; within a batch nothing is learned, so that
 * it does not matter who is first. What was shown of each batch is kept, with the plans that its users acted
 * by: the planner makes its estimate of them, anew with every release.
 * See docs/why/posterior-mixture.md#plans. */
#ifndef TACIT_PLAN_POSTERIOR_BATCH_PLANS_H
#define TACIT_PLAN_POSTERIOR_BATCH_PLANS_H

#include <stdbool.h>

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "plan/posterior/played_batch.h"

/* One plan into policy[horizon][state]: the more xi, the bolder. `chance` is the public chance's state. */
typedef void tacit__make_plan(void *context, double xi, uint64_t *chance, uint32_t *policy);

typedef struct tacit__batch_plans_options {
    size_t n_states, n_actions, horizon;
    size_t numbers;       /* that are shown of a batch, before those of first states */
    size_t asked;         /* steps that users answer about: as many numbers more; 0: they do not */
    size_t batches;       /* that are shown; one more follows them */
    const uint64_t *ends; /* [batches + 1]: users when each batch is over; copied */
    tacit__score_noise noise;
    bool uniform_start; /* the users of the first batch act by no plan: every action is as likely */
    uint64_t quota;     /* users of a batch who act by exploring plans, at most */
    size_t exploring, steady;         /* plans of a batch; steady: at least 1 */
    double boldness, steady_boldness; /* scales of xi, which is half-normal; 0: greedy */
    uint64_t tie_seed;                /* of the public chance */
} tacit__batch_plans_options;

typedef struct tacit__batch_plans tacit__batch_plans;

TACIT_MUST_USE tacit_status tacit__batch_plans_create(const tacit__batch_plans_options *options,
                                                      tacit__batch_plans **out);
void tacit__batch_plans_destroy(tacit__batch_plans *batches);

/* The plans of the present batch. Once at first, and after every batch that is over. */
void tacit__batch_plans_make(tacit__batch_plans *batches, tacit__make_plan *make, void *context);

/* The present batch is over, and this was shown of it. */
void tacit__batch_plans_end(tacit__batch_plans *batches, const tacit__score_sums *shown);

/* Batches that are over, and their number. */
const tacit__played_batch *tacit__batch_plans_finished(const tacit__batch_plans *batches,
                                                       size_t *n);

/* The plan of user `place` of the present batch, from 0, and its number: exploring ones first. */
tacit_billboard tacit__batch_plans_billboard(tacit__batch_plans *batches, uint64_t place);
size_t tacit__batch_plans_turn(const tacit__batch_plans *batches, uint64_t place);

/* The public chance. */
uint64_t *tacit__batch_plans_chance(tacit__batch_plans *batches);

/* As part of a saved state (base/bytes.h), into fresh batches of the same options. Returns how many are over
 * in what is saved or loaded. */
size_t tacit__batch_plans_fields(tacit__batch_plans *batches, tacit__saved *s);

#endif
