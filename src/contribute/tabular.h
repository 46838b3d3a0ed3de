/* Counts of a table: what people add for tabular learners.
 *
 * Streams: N visits of (state, action), P moves to the next state, R rewards; a table for each step, or one
 * for all steps (`pooled`); with two streams N is summed from the noisy P. */
#ifndef TACIT_CONTRIBUTE_TABULAR_H
#define TACIT_CONTRIBUTE_TABULAR_H

#include <tacit/plan.h>

#include "board/counts.h"
#include "contribute/statistic.h"
#include "contribute/user_share.h"

typedef struct tacit__tabular_options {
    tacit__space space;
    uint64_t episodes; /* K; the policy of episode k needs users 1 .. k-1 */
    uint64_t visits,
        apart; /* of one person; all streams have the same strategy, so bounds of one visit hold */
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    tacit_sum_mechanism mechanism;
    /* joint: releases when there are so many users, at most K - 1; NULL: after each */
    const uint64_t *ends;
    size_t n_ends;
    bool centered;          /* rewards as r - 1/2 */
    bool visits_from_moves; /* private: no stream of visits, which are sums of the noisy moves */
    bool drop_last;         /* tables per step: the moves of the last step are not counted */
    /* local: each user reports a single step, drawn by public chance; tables per step */
    bool one_step;
    /* pooled, private: this many of a user's visits of a row count, the first ones; 0: all */
    uint64_t user_visits;
    /* pooled: largest L2 norm of a user's counts, as a share of H; 1: all count */
    double user_norm;
    /* of the error levels, two-sided, all cells and episodes together: failure / 3 */
    double failure;
    double published_scale; /* with PUBLISHED: the Laplace scale of every node or report */
    double weight_visits, weight_moves, weight_rewards; /* for the budget split */
} tacit__tabular_options;

/* What a curator is made of. Dense counts that would not fit into memory are refused first. */
TACIT_MUST_USE tacit_status tacit__tabular_describe(const tacit__tabular_options *options,
                                                    tacit_noise *noise, tacit__curator_spec *out,
                                                    tacit_error *err);

typedef struct tacit__tabular tacit__tabular; /* the form */

/* What a planner sees of the release that is shown, which is of so many users. */
tacit__counts tacit__tabular_view(tacit__tabular *form, uint64_t users);

/* The last release as far as it can be known before there are users: their number and error levels; no
 * counts. */
tacit__counts tacit__tabular_last(const tacit__tabular *form);

/* --- What a user adds ------------------------------------------------------------------------------- */

enum { TACIT__VISITS, TACIT__MOVES, TACIT__REWARD_SUMS, TACIT__TABULAR_STREAMS };

/* Public: how a trajectory becomes integers. */
typedef struct tacit__tabular_rule {
    tacit__tabular_options o;
    tacit__share_rule share; /* which visits count, where not all do; unit = 0: all do, in full */
    tacit__lattice lattice[TACIT__TABULAR_STREAMS];
} tacit__tabular_rule;

/* A user's contribution, and what it takes to make it. */
typedef struct tacit__tabular_user {
    tacit__input stream[TACIT__TABULAR_STREAMS]; /* n = 0: the stream is not released */
    size_t *cell[TACIT__TABULAR_STREAMS];        /* [H]: what they point to */
    int64_t *placed[TACIT__TABULAR_STREAMS];
    double *x[TACIT__TABULAR_STREAMS]; /* [H] scratch: the numbers before they are placed */
    struct tacit__visit *order;        /* [H] scratch: steps, sorted */
    tacit__counted_step *counted;      /* [H] scratch: what the rule lets count */
} tacit__tabular_user;

/* Room for the contributions of any number of users; NULL: no memory. */
tacit__tabular_user *tacit__tabular_user_create(const tacit__tabular_options *options);
void tacit__tabular_user_destroy(tacit__tabular_user *user);
void tacit__tabular_user_wipe(tacit__tabular_user *user, size_t horizon);

/* How contributions are made, once the curator is open. */
const tacit__tabular_rule *tacit__tabular_rule_of(const tacit__tabular *form);

/* The row (table, state, action) of a trajectory's step h. Reports of one step have one table. */
size_t tacit__tabular_row(const tacit__tabular_options *options, const tacit_trajectory *user,
                          size_t h);

/* The contribution of the steps first .. last-1 of a user who was checked, into out->stream. */
TACIT_MUST_USE tacit_status tacit__tabular_contribute(const tacit__tabular_rule *rule,
                                                      const tacit_trajectory *user, size_t first,
                                                      size_t last, tacit__tabular_user *out,
                                                      tacit_error *err);

#endif
