/* Weighted counts of a table: what people add for learners with rare releases.
 *
 * Streams: visits of (state, action), moves to the next state, rewards, and first states; a table for each
 * step, or one for all. How much a visit counts is public, and a budget that every trajectory keeps limits it
 * (user_share.h). Under local privacy, and where it is better, people answer questions instead
 * (table_answers.h). */
#ifndef TACIT_CONTRIBUTE_WEIGHTED_H
#define TACIT_CONTRIBUTE_WEIGHTED_H

#include "board/weighted_counts.h"
#include "contribute/statistic.h"

typedef struct tacit__weighted_options {
    tacit__space space;
    uint64_t episodes;      /* K; the last user's data are never used */
    uint64_t visits, apart; /* of one person (0: 1) */
    tacit_guarantee guarantee;
    tacit_sum_mechanism mechanism;
    bool answers;         /* users give answers instead of counts; under local privacy they must */
    const uint64_t *ends; /* users at each release; at least one */
    size_t n_ends;
} tacit__weighted_options;

/* The square of a user's budget, max(1, min(H, m^2 S A)), and m. Both are public rules. */
uint64_t tacit__weighted_square(tacit__space space);
enum { TACIT__WEIGHTED_VISITS = 2 };

/* What a curator is made of. */
TACIT_MUST_USE tacit_status tacit__weighted_describe(const tacit__weighted_options *options,
                                                     tacit__curator_spec *out, tacit_error *err);

typedef struct tacit__weighted tacit__weighted; /* the form */

/* What the streams show: release number `released`, at least 1, which is of so many users. If users answer,
 * the answers have it (tacit__table_answers_view). */
tacit__weighted_counts tacit__weighted_view(const tacit__weighted *form, uint64_t users,
                                            uint64_t released);

/* Weights for the users from now on, [rows], made of releases; rounded down to the lattice.
 * Without privacy, and with delta 0, everything counts in full, and they are not used. */
void tacit__weighted_set_weights(tacit__weighted *form, const double *weights);

#endif
