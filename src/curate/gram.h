/* The curator of learners by regression: users' trajectories in, Gram matrices and responses out,
 * noisy as the guarantee asks.
 *
 * It keeps one or more streams; a stream is a sum over users of one long vector each, with the Gram
 * matrix and the response of every step and block (board/gram_sums.h). How a step becomes features
 * and a target is said by a public lens, which may change from user to user. Under local privacy
 * every user's vector gets its noise before it is added. */
#ifndef TACIT_CURATE_GRAM_H
#define TACIT_CURATE_GRAM_H

#include <tacit/billboard.h>
#include <tacit/ledger.h>
#include <tacit/sum.h>

#include "base/bytes.h"
#include "board/gram_sums.h"
#include "sums/lattice.h"

enum { TACIT__MAX_GRAM_STREAMS = 2 };

typedef struct tacit__gram_stream {
    const char *name;
    tacit__frame frame;
    const double *radius; /* [steps] in (0, 1]: largest |x| and |y| of a step; NULL: ones */
    bool centered;        /* targets in [-1, 1], rewards as 2 r - 1; else in [0, 1] */
    bool nonnegative;     /* no component of a feature vector is negative; excludes `centered` */
    bool weighted;        /* lenses have weights */
    /* One block: features are the sum over next states of this public table, [next
     * state][width][pair], times the targets, and the curator computes them itself. Must outlive
     * it. NULL: features are the lens's, whatever they are. */
    const double *table;
    double parameter_norm; /* |w| of a block, for the proportion between both noises */
    double share;          /* of the budget */
    /* A printed calibration: the noise of every packed coordinate of the Gram matrix, and of the
     * response. 0: sound and as small as can be proved. */
    double printed_gram, printed_response;
} tacit__gram_stream;

typedef struct tacit__gram_options {
    size_t n_states, n_actions, horizon;
    uint64_t episodes; /* K; the policy of episode k needs users 1 .. k-1 */
    uint64_t visits,
        apart; /* of one person; all streams have the same strategy, so bounds of one visit hold */
    tacit_guarantee guarantee;
    tacit_sum_mechanism mechanism;
    double growth;  /* joint: a release whenever users have grown by this factor; 0: after each */
    double failure; /* of one level at one step and episode */
    size_t n_streams;
    tacit__gram_stream streams[TACIT__MAX_GRAM_STREAMS];
} tacit__gram_options;

typedef struct tacit__gram tacit__gram;

TACIT_MUST_USE tacit_status tacit__gram_create(const tacit__gram_options *options,
                                               tacit_noise *noise, tacit__gram **out,
                                               tacit_error *err);
void tacit__gram_destroy(void *curator);

/* The release for the next episode, of all streams. Sums live until the next call. With `growth` it is the
 * last one that was due, of fewer users than there are. */
TACIT_MUST_USE tacit_status tacit__gram_release(tacit__gram *curator,
                                                tacit__gram_sums out[TACIT__MAX_GRAM_STREAMS],
                                                tacit_error *err);

/* The last release of a stream as far as it can be known before there are users: their number, and the
 * levels; no sums. */
tacit__gram_sums tacit__gram_last(const tacit__gram *curator, size_t stream);

/* One user, seen through lenses[n_streams]. Rewards outside [0, 1], states or actions outside the
 * space: refused, nothing changed. The last user's data are never needed and are dropped. */
TACIT_MUST_USE tacit_status tacit__gram_add(tacit__gram *curator, const tacit_trajectory *user,
                                            const tacit__lens *lenses, tacit_error *err);

/* How the numbers of a stream are made of a trajectory; public. */
typedef struct tacit__gram_form {
    size_t n_states, n_actions;
    tacit__gram_stream o;
    double ratio; /* c: the vector is (iso x x^T, c x y) for every step and block */
    tacit__lattice lattice;
} tacit__gram_form;
const tacit__gram_form *tacit__gram_form_of(const tacit__gram *curator, size_t stream);

/* What a user who was checked adds to a stream, exactly: integers on the stream's lattice, made of the
 * trajectory and of public knowledge alone. A party that holds no sums can make them. `x` [size] is 0 before
 * and after, `step` [width] is scratch; out is [size], the frame's. */
TACIT_MUST_USE tacit_status tacit__gram_contribute(const tacit__gram_form *form,
                                                   const tacit_trajectory *user,
                                                   const tacit__lens *lens, double *x, double *step,
                                                   int64_t *out, tacit_error *err);

/* One user whose contributions to all streams were made elsewhere. Refused, and nothing changed, if they
 * cannot be such; see tacit__sum_add_foreign for what that does not tell. */
TACIT_MUST_USE tacit_status tacit__gram_add_contribution(tacit__gram *curator,
                                                         const int64_t *const *streams,
                                                         tacit_error *err);

/* Local privacy: both halves of `add`. `report` draws the user's noise and adds nothing; bytes =
 * NULL gives the size. */
TACIT_MUST_USE tacit_status tacit__gram_report(tacit__gram *curator, const tacit_trajectory *user,
                                               const tacit__lens *lenses, void *bytes, size_t *size,
                                               tacit_error *err);
TACIT_MUST_USE tacit_status tacit__gram_check_report(const void *curator, const void *bytes,
                                                     size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__gram_absorb(void *curator, const void *bytes, size_t size,
                                               tacit_error *err);

/* Everything that the future depends on, as part of a saved state (base/bytes.h); loaded into a fresh
 * curator of the same options. Returns the users in it. */
uint64_t tacit__gram_fields(tacit__gram *curator, tacit__saved *s);

/* Users who are in the release for the next episode. */
uint64_t tacit__gram_shown(const tacit__gram *curator);

/* NULL without privacy. */
tacit_ledger *tacit__gram_ledger(const void *curator);

#endif
