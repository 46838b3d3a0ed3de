/* The curator of LSVI learners: users' features and rewards in, Gram matrices and responses out,
 * noisy as the guarantee asks.
 *
 * Gram matrices are sums over users: all steps together are one vector, released through a running
 * sum with one leaf for every `leaf` users, or afresh where that is less noisy. Responses depend on
 * a value function that is known only at a switch, so each is a fresh release. What answers such a
 * question stays here: counts where states are numbered, the features that users met where they are
 * not. */
#ifndef TACIT_CURATE_LSVI_CURATOR_H
#define TACIT_CURATE_LSVI_CURATOR_H

#include <tacit/billboard.h>
#include <tacit/ledger.h>

#include "base/bytes.h"
#include "board/linear_space.h"
#include "curate/lsvi_scheme.h"
#include "linalg/optimism.h"
#include "noise/tag.h"

typedef struct tacit__lsvi_data_options {
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
    /* Users' data stay where they are: contributions come in, and the curator keeps their sums alone. */
    bool elsewhere;
} tacit__lsvi_data_options;

typedef struct tacit__lsvi_data tacit__lsvi_data;

/* phi, of length at most the space's bound, to integers of length at most 2^feature_bits, and on
 * the simplex, if that is declared, to integers that are not negative and sum to at most that;
 * false if it is not what was declared, or not a number. */
bool tacit__lsvi_place(const tacit__linear_space *space, const double *phi, double *out);

/* The lattice for features of this many users. */
int tacit__lsvi_feature_bits(uint64_t episodes);

TACIT_MUST_USE tacit_status tacit__lsvi_data_create(const tacit__lsvi_data_options *options,
                                                    tacit_noise *noise, tacit__lsvi_data **out,
                                                    tacit_error *err);
void tacit__lsvi_data_destroy(void *curator);

/* One user. What does not fit is refused and changes nothing. states NULL: features[H + 1][A][d] instead. */
TACIT_MUST_USE tacit_status tacit__lsvi_data_add(tacit__lsvi_data *data,
                                                 const tacit_trajectory *user, tacit_error *err);

/* True when a leaf is complete that has not been shown yet. */
bool tacit__lsvi_data_ready(const tacit__lsvi_data *data);

/* The Gram matrices [tacit__gram_count][tacit__gram_size] of that leaf, until the next call. */
TACIT_MUST_USE tacit_status tacit__lsvi_data_gram(tacit__lsvi_data *data, const double **gram,
                                                  tacit_error *err);

/* The response of step h to the values after it, response[d] in the unit that is told with it; `table` [S] or
 * `function`, both NULL: 0. Values are cut to [0, range_h - 1] here, whatever they are. */
TACIT_MUST_USE tacit_status tacit__lsvi_data_respond(tacit__lsvi_data *data, size_t h,
                                                     const double *table,
                                                     const tacit__optimism *function,
                                                     double *response, tacit__target_unit *unit,
                                                     tacit_error *err);

/* The same for users whose data stay elsewhere (lsvi_elsewhere.c). `add_contribution`: one user, who has made
 * the Gram matrices of all steps (tacit__lsvi_contribute_gram). A response takes three calls: `ask` begins
 * with no answers; `add_response` is one user's (tacit__lsvi_contribute_response), once for each user whom a
 * curator with data would have kept; `release_response` shows their sum, and is refused until all have
 * answered. Integers that cannot be a contribution are refused and change nothing; that they are what the
 * user's data make, their maker has to see to, as with tacit__sum_add_foreign. */
TACIT_MUST_USE tacit_status tacit__lsvi_data_add_contribution(tacit__lsvi_data *data,
                                                              const tacit__input *gram,
                                                              tacit_error *err);
TACIT_MUST_USE tacit_status tacit__lsvi_data_ask(tacit__lsvi_data *data, size_t h,
                                                 const double *table, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__lsvi_data_add_response(tacit__lsvi_data *data,
                                                          const int64_t *response,
                                                          tacit_error *err);
TACIT_MUST_USE tacit_status tacit__lsvi_data_release_response(tacit__lsvi_data *data,
                                                              double *response, tacit_error *err);

/* Every leaf that was declared has been shown: no later user changes anything. */
bool tacit__lsvi_data_is_exhausted(const tacit__lsvi_data *data);

/* There will be no more switches: users' data are not needed any longer, and are wiped. From now on
 * users are counted, and nothing is kept of them. */
void tacit__lsvi_data_close(tacit__lsvi_data *c);

/* NULL without privacy. */
tacit_ledger *tacit__lsvi_data_ledger(const void *curator);

/* As part of a saved state (base/bytes.h); loaded into a fresh curator of the same options. */
void tacit__lsvi_data_fields(tacit__lsvi_data *curator, tacit__saved *s);

#endif
