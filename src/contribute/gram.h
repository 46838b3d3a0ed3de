/* Gram matrices and responses: what users add to learners by regression.
 *
 * There are one or more streams; a stream is a sum over users of one long vector each, with the Gram matrix
 * and the response of every step and block (board/gram_sums.h). How a step becomes features and a target is
 * said by a public lens, which may change from user to user. */
#ifndef TACIT_CONTRIBUTE_GRAM_H
#define TACIT_CONTRIBUTE_GRAM_H

#include "board/gram_sums.h"
#include "contribute/statistic.h"

enum { TACIT__MAX_GRAM_STREAMS = 2 };

typedef struct tacit__gram_stream {
    const char *name;
    tacit__frame frame;
    const double *radius; /* [steps] in (0, 1]: largest |x| and |y| of a step; NULL: ones */
    bool centered;        /* targets in [-1, 1], rewards as 2 r - 1; else in [0, 1] */
    bool nonnegative;     /* no component of a feature vector is negative; excludes `centered` */
    bool weighted;        /* lenses have weights */
    /* One block: features are the sum over next states of this public table, [next state][width][pair],
     * times the targets, and are computed here. Must outlive the form. NULL: features are the lens's,
     * whatever they are. */
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
    const uint64_t *ends; /* joint: users at each of few releases; NULL: after each user */
    size_t n_ends;
    double failure; /* of one level at one step and episode */
    size_t n_streams;
    tacit__gram_stream streams[TACIT__MAX_GRAM_STREAMS];
} tacit__gram_options;

/* What a curator is made of. */
TACIT_MUST_USE tacit_status tacit__gram_describe(const tacit__gram_options *options,
                                                 tacit__curator_spec *out, tacit_error *err);

/* How the numbers of a stream are made of a trajectory; public. */
typedef struct tacit__gram_form {
    size_t n_states, n_actions;
    tacit__gram_stream o;
    double ratio; /* c: the vector is (iso x x^T, c x y) for every step and block */
    double reach; /* the largest squared L2 movement of a step with radius 1 */
    tacit__lattice lattice;
} tacit__gram_form;
const tacit__gram_form *tacit__gram_form_of(const void *form, size_t stream);

/* What a user who was checked adds to a stream, exactly: integers on the stream's lattice, made of the
 * trajectory and of public knowledge alone. `x` [size] is 0 before and after, `step` [width] is scratch; out
 * is [size], the frame's. */
TACIT_MUST_USE tacit_status tacit__gram_contribute(const tacit__gram_form *form,
                                                   const tacit_trajectory *user,
                                                   const tacit__lens *lens, double *x, double *step,
                                                   int64_t *out, tacit_error *err);

/* What stream i shows: release number `released`, of `users` users. The sums live until the next call. */
tacit__gram_sums tacit__gram_view(void *form, size_t i, const tacit__stream *stream,
                                  uint64_t released, uint64_t users);

/* The last release of stream i as far as it can be known before there are users: their number, and the
 * levels; no sums. */
tacit__gram_sums tacit__gram_last(const void *form, size_t i, const tacit__stream *stream);

#endif
