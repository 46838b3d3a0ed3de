/* The curator of tabular learners: users' trajectories in, counts out, noisy as the guarantee asks.
 *
 * Streams: N visits of (state, action), P moves to the next state, R rewards; a table for each
 * step, or one for all steps (`pooled`); with two streams N is summed from the noisy P. Under joint
 * privacy the curator keeps running sums of raw data behind the door; under local privacy every
 * user's vector gets its noise before it is added (the randomizer and the aggregator are here
 * together, because both run in one process in a simulation; nothing but the noisy vector is
 * kept). */
#ifndef TACIT_CURATE_TABULAR_CURATOR_H
#define TACIT_CURATE_TABULAR_CURATOR_H

#include <tacit/billboard.h>
#include <tacit/ledger.h>
#include <tacit/sum.h>

#include "base/bytes.h"
#include "board/counts.h"
#include "noise/tag.h"

typedef struct tacit__tabular_options {
    tacit__space space;
    uint64_t episodes; /* K; the policy of episode k needs users 1 .. k-1 */
    uint64_t visits,
        apart; /* of one person; all streams have the same strategy, so bounds of one visit hold */
    tacit_guarantee guarantee;
    tacit_calibration calibration;
    tacit_sum_mechanism mechanism;
    double growth; /* joint: a release whenever users have grown by this factor; 0: after each */
    bool centered; /* rewards as r - 1/2 */
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

typedef struct tacit__tabular tacit__tabular;

TACIT_MUST_USE tacit_status tacit__tabular_create(const tacit__tabular_options *options,
                                                  tacit_noise *noise, tacit__tabular **out,
                                                  tacit_error *err);
void tacit__tabular_destroy(void *curator);

/* The release for the next episode. */
TACIT_MUST_USE tacit_status tacit__tabular_release(tacit__tabular *curator, tacit__counts *out,
                                                   tacit_error *err);

/* The last release as far as it can be known before there are users: their number and error levels; no
 * counts. */
tacit__counts tacit__tabular_last(const tacit__tabular *curator);

/* One user. Rewards outside [0, 1], states or actions outside the space: refused, nothing changed. The
 * last user's data are never needed and are dropped. */
TACIT_MUST_USE tacit_status tacit__tabular_add(tacit__tabular *curator,
                                               const tacit_trajectory *user, tacit_error *err);

/* Privacy: one user whose contribution was made elsewhere, by `form`, of the steps that the next user shows:
 * visits, moves and rewards. Refused, and nothing changed, if it cannot be one; see tacit__sum_add_foreign
 * for what that does not tell. */
TACIT_MUST_USE tacit_status tacit__tabular_add_contribution(tacit__tabular *curator,
                                                            const tacit__input *stream,
                                                            tacit_error *err);
/* How contributions are made; NULL without privacy. */
const struct tacit__tabular_form *tacit__tabular_form_of(const tacit__tabular *curator);

/* Local privacy: both halves of `add`. `report` draws the user's noise and adds nothing; bytes =
 * NULL gives the size. */
TACIT_MUST_USE tacit_status tacit__tabular_report(tacit__tabular *curator,
                                                  const tacit_trajectory *user, void *bytes,
                                                  size_t *size, tacit_error *err);
/* What `absorb` would say; nothing changes but scratch. */
TACIT_MUST_USE tacit_status tacit__tabular_check_report(const void *curator, const void *bytes,
                                                        size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__tabular_absorb(void *curator, const void *bytes, size_t size,
                                                  tacit_error *err);

/* Everything that the future depends on, as part of a saved state (base/bytes.h); loaded into a fresh
 * curator of the same options. */
void tacit__tabular_fields(tacit__tabular *curator, tacit__saved *s);

/* NULL without privacy. */
tacit_ledger *tacit__tabular_ledger(const void *curator);

#endif
