/* The curator of linear bandits: sums of x x^T and x y, released after every user, or after batches
 * that grow. */
#ifndef TACIT_CURATE_REGRESSION_H
#define TACIT_CURATE_REGRESSION_H

#include <tacit/ledger.h>
#include <tacit/sum.h>

#include "base/bytes.h"
#include "board/moments.h"

typedef struct tacit__regression_options {
    size_t dimension, blocks;
    uint64_t users;         /* that will come; the last one's data are not needed */
    uint64_t visits, apart; /* of one person (0: 1) */
    tacit_guarantee guarantee;
    tacit_sum_mechanism mechanism; /* joint: tree or blt */
    /* joint: a release when there are this many times as many users; 1: after each */
    double growth;
    /* 0; or one release only, after this many users: data of the others are not used */
    uint64_t explore;
    double response_weight; /* s: the vector is (x x^T, s x y) */
    double published_scale; /* of every coordinate; 0: calibrated to the guarantee */
    bool triangle; /* off-diagonal entries once instead of isometrically: what [ZCHLW20] print */
} tacit__regression_options;

typedef struct tacit__regression tacit__regression;

TACIT_MUST_USE tacit_status tacit__regression_create(const tacit__regression_options *options,
                                                     tacit_noise *noise, tacit__regression **out,
                                                     tacit_error *err);
void tacit__regression_destroy(void *curator);

/* What may be known now. */
tacit__moments tacit__regression_release(const tacit__regression *curator);

/* One user: features x[dimension] of the action taken, |x| <= 1, its block, and y in [-1, 1]. What
 * does not fit is refused and changes nothing. */
TACIT_MUST_USE tacit_status tacit__regression_add(tacit__regression *curator, const double *x,
                                                  size_t block, double y, tacit_error *err);

/* How a user's numbers are made; public. */
typedef struct tacit__regression_form {
    size_t dimension, blocks;
    double response_weight; /* s: the vector is (x x^T, s x y) */
    bool triangle;
    int bits; /* lattice step 2^-bits */
} tacit__regression_form;
tacit__regression_form tacit__regression_form_of(const tacit__regression *curator);

/* What a user adds to their block, exactly: integers on the lattice, made of the features and the reward and
 * of public knowledge alone. A party that holds no sums can make them. What does not fit is refused, as by
 * `add`. `unit` [dimension]: x, shortened where rounding made it longer than 1. out: [d (d + 1) / 2 + d];
 * NULL: no integers are wanted. */
TACIT_MUST_USE tacit_status tacit__regression_contribute(const tacit__regression_form *form,
                                                         const double *x, size_t block, double y,
                                                         double *unit, int64_t *out,
                                                         tacit_error *err);

/* Privacy: one user whose contribution to a block was made elsewhere. Longer ones than any user's are
 * OUT_OF_BOUND and change nothing; that they come from one x and y, their maker has to see to. */
TACIT_MUST_USE tacit_status tacit__regression_add_contribution(tacit__regression *curator,
                                                               size_t block,
                                                               const int64_t *contribution,
                                                               tacit_error *err);

/* Local privacy in two halves: a user's report, noise included, and its addition. A report is the
 * numbers of all blocks on the lattice, 64 bits each, low byte first; bytes NULL asks for the
 * size. */
TACIT_MUST_USE tacit_status tacit__regression_report(tacit__regression *curator, const double *x,
                                                     size_t block, double y, void *bytes,
                                                     size_t *size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__regression_check_report(const void *curator, const void *bytes,
                                                           size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__regression_absorb(void *curator, const void *bytes, size_t size,
                                                     tacit_error *err);

/* NULL without privacy. */
tacit_ledger *tacit__regression_ledger(const void *curator);

/* How far one user moves (x x^T, s x y), |x| <= 1, |y| <= 1. */
double tacit__regression_sensitivity(double s);

/* Releases there will be, and the number of users after the i-th of them. */
size_t tacit__regression_schedule(uint64_t users, double growth, uint64_t *at);

/* As part of a saved state (base/bytes.h), of which it takes all bytes that are left; loaded into a fresh
 * curator of the same options. */
void tacit__regression_fields(tacit__regression *curator, tacit__saved *s);

#endif
