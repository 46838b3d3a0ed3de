/* Who acts by which plan, for planners with rare releases. Users come in batches. The first users of a batch,
 * the quota, act by bold plans, the others by calm ones; within a batch nothing is learned, so that it does
 * not matter who is first. What was shown of each batch is kept, with the plans that its users acted by:
 * the planner makes its estimate of them, anew with every release.
 * See docs/why/posterior-mixture.md#plans. */
#ifndef TACIT_PLAN_BOLD_BATCHES_H
#define TACIT_PLAN_BOLD_BATCHES_H

#include <stdbool.h>

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "plan/played_batch.h"

/* One plan into policy[horizon][state]: the more xi, the bolder. `chance` is the public chance's state. */
typedef void tacit__make_plan(void *context, double xi, uint64_t *chance, uint32_t *policy);

typedef struct tacit__bold_options {
    size_t n_states, n_actions, horizon;
    size_t numbers;       /* that are shown of a batch, before those of first states */
    size_t asked;         /* steps that users answer about: as many numbers more; 0: they do not */
    size_t batches;       /* that are shown; one more follows them */
    const uint64_t *ends; /* [batches + 1]: users when each batch is over; copied */
    tacit__score_noise noise;
    bool explores;     /* the users of the first batch act by no plan: every action is as likely */
    uint64_t quota;    /* users of a batch who act by bold plans, at most */
    size_t bold, calm; /* plans of a batch; calm: at least 1 */
    double boldness, calmness; /* scales of xi, which is half-normal; 0: greedy */
    uint64_t tie_seed;         /* of the public chance */
} tacit__bold_options;

typedef struct tacit__bold_batches tacit__bold_batches;

TACIT_MUST_USE tacit_status tacit__bold_batches_create(const tacit__bold_options *options,
                                                       tacit__bold_batches **out);
void tacit__bold_batches_destroy(tacit__bold_batches *batches);

/* The plans of the present batch. Once at first, and after every batch that is over. */
void tacit__bold_batches_plan(tacit__bold_batches *batches, tacit__make_plan *make, void *context);

/* The present batch is over, and this was shown of it. */
void tacit__bold_batches_end(tacit__bold_batches *batches, const tacit__score_sums *shown);

/* Batches that are over, and their number. */
const tacit__played_batch *tacit__bold_batches_finished(const tacit__bold_batches *batches,
                                                        size_t *n);

/* The plan of user `place` of the present batch, from 0, and its number: bold ones first. */
tacit_billboard tacit__bold_batches_billboard(tacit__bold_batches *batches, uint64_t place);
size_t tacit__bold_batches_turn(const tacit__bold_batches *batches, uint64_t place);

/* The public chance. */
uint64_t *tacit__bold_batches_chance(tacit__bold_batches *batches);

/* As part of a saved state (base/bytes.h), into fresh batches of the same options. Returns how many are over
 * in what is saved or loaded. */
size_t tacit__bold_batches_fields(tacit__bold_batches *batches, tacit__saved *s);

#endif
