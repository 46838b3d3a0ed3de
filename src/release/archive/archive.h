/* The curator of LSVI learners: users' features and rewards in, Gram matrices and responses out,
 * noisy as the guarantee asks. It is the one exception to release/curator.h: what a user adds to a response
 * depends on values that are computed at a switch, so raw data are kept and asked again.
 *
 * Gram matrices are sums over users: all steps together are one vector, released through a running
 * sum with one leaf for every `leaf` users, or afresh where that is less noisy. Responses depend on
 * a value function that is known only at a switch, so each is a fresh release. What answers such a
 * question stays here: counts where states are numbered, the features that users met where they are
 * not. */
#ifndef TACIT_RELEASE_ARCHIVE_H
#define TACIT_RELEASE_ARCHIVE_H

#include <tacit/billboard.h>
#include <tacit/ledger.h>

#include "base/bytes.h"
#include "board/linear_space.h"
#include "linalg/optimism.h"
#include "noise/tag.h"
#include "release/archive/lsvi_scheme.h"

typedef struct tacit__archive_options {
    tacit__linear_space space; /* its table must outlive the curator */
    tacit__lsvi_scheme scheme;
    uint64_t episodes;
    uint64_t visits, apart; /* of one person (0: 1) */
    tacit_guarantee guarantee;
    bool printed;         /* scales as the scheme has them, whatever they give */
    bool centered;        /* targets are shown as target / range - 1/2 */
    bool spans;           /* range: that of the values at hand, where states are numbered */
    const double *range;  /* [H]: targets r + V lie in [0, range]; copied */
    bool wide;            /* features that users met: float64 instead of float32 */
    double archive_bytes; /* most memory for them */
} tacit__archive_options;

typedef struct tacit__archive tacit__archive;

/* phi, of length at most the space's bound, to integers of length at most 2^feature_bits, and on
 * the simplex, if that is declared, to integers that are not negative and sum to at most that;
 * false if it is not what was declared, or not a number. */
bool tacit__lsvi_place(const tacit__linear_space *space, const double *phi, double *out);

/* The lattice for features of this many users. */
int tacit__lsvi_feature_bits(uint64_t episodes);

TACIT_MUST_USE tacit_status tacit__archive_create(const tacit__archive_options *options,
                                                  tacit_noise *noise, tacit__archive **out,
                                                  tacit_error *err);
void tacit__archive_destroy(void *curator);

/* One user. What does not fit is refused and changes nothing. states NULL: features[H + 1][A][d] instead. */
TACIT_MUST_USE tacit_status tacit__archive_add(tacit__archive *data, const tacit_trajectory *user,
                                               tacit_error *err);

/* True when a leaf is complete that has not been shown yet. */
bool tacit__archive_ready(const tacit__archive *data);

/* The Gram matrices [tacit__gram_count][tacit__gram_size] of that leaf, until the next call. */
TACIT_MUST_USE tacit_status tacit__archive_gram(tacit__archive *data, const double **gram,
                                                tacit_error *err);

/* The response of step h to the values after it, response[d] in the unit that is told with it; `table` [S] or
 * `function`, both NULL: 0. Values are cut to [0, range_h - 1] here, whatever they are. */
TACIT_MUST_USE tacit_status tacit__archive_respond(tacit__archive *data, size_t h,
                                                   const double *table,
                                                   const tacit__optimism *function,
                                                   double *response, tacit__target_unit *unit,
                                                   tacit_error *err);

/* Every leaf that was declared has been shown: no later user changes anything. */
bool tacit__archive_is_exhausted(const tacit__archive *data);

/* There will be no more switches: users' data are not needed any longer, and are wiped. From now on
 * users are counted, and nothing is kept of them. */
void tacit__archive_close(tacit__archive *c);

/* NULL without privacy. */
tacit_ledger *tacit__archive_ledger(const void *curator);

/* As part of a saved state (base/bytes.h); loaded into a fresh curator of the same options. */
void tacit__archive_fields(tacit__archive *curator, tacit__saved *s);

#endif
