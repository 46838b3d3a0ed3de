/* Moments: what users add to linear bandits, x x^T and x y. */
#ifndef TACIT_CONTRIBUTE_REGRESSION_H
#define TACIT_CONTRIBUTE_REGRESSION_H

#include "board/moments.h"
#include "contribute/statistic.h"

typedef struct tacit__regression_options {
    size_t dimension, blocks;
    uint64_t users;         /* that will come; the last one's data are not needed */
    uint64_t visits, apart; /* of one person (0: 1) */
    tacit_guarantee guarantee;
    tacit_sum_mechanism mechanism; /* joint: tree or blt */
    const uint64_t *ends;          /* users at each release; NULL: after each */
    size_t n_ends;
    double response_weight; /* s: the vector is (x x^T, s x y) */
    double published_scale; /* of every coordinate; 0: calibrated to the guarantee */
    bool triangle; /* off-diagonal entries once instead of isometrically: what [ZCHLW20] print */
} tacit__regression_options;

/* What a curator is made of. Users are views with a vector x of at most length 1, its block, and y in
 * [-1, 1]. */
TACIT_MUST_USE tacit_status tacit__regression_describe(const tacit__regression_options *options,
                                                       tacit__curator_spec *out, tacit_error *err);

/* How a user's numbers are made; public. */
typedef struct tacit__regression_form {
    size_t dimension, blocks;
    double response_weight; /* s: the vector is (x x^T, s x y) */
    bool triangle;
    int bits; /* lattice step 2^-bits */
} tacit__regression_form;
tacit__regression_form tacit__regression_form_of(const void *form);

/* What a user adds to their block, exactly: integers on the lattice, made of the features and the reward and
 * of public knowledge alone. What does not fit is refused. `unit` [dimension]: x, shortened where rounding
 * made it longer than 1. out: [d (d + 1) / 2 + d]. */
TACIT_MUST_USE tacit_status tacit__regression_contribute(const tacit__regression_form *form,
                                                         const double *x, size_t block, double y,
                                                         double *unit, int64_t *out,
                                                         tacit_error *err);

/* What may be known when there are `users` users: what the stream shows, release number `released`, of
 * `shown` of them. It lives until the next call. */
tacit__moments tacit__regression_view(void *form, const tacit__stream *stream, uint64_t users,
                                      uint64_t shown, uint64_t released);

/* How far one user moves (x x^T, s x y), |x| <= 1, |y| <= 1. */
double tacit__regression_sensitivity(double s);

#endif
