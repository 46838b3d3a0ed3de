/* From a user's doubles to integers that keep the declared bound exactly. */
#ifndef TACIT_SUMS_LATTICE_H
#define TACIT_SUMS_LATTICE_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/sum.h>

#include "base/int128.h"

typedef struct tacit__lattice {
    tacit_bound bound; /* as declared, both norms filled in */
    int bits;          /* step 2^-bits */
    double per_unit;   /* 2^bits */
    bool all;       /* L1 norm and nonzeros do not follow from the L2 bound: they are checked too */
    int64_t l1, l2; /* the integers' bound, rounded down; l1 may saturate (no limit) */
    tacit__u128 l2_square;                 /* the square of their exact L2 bound, rounded down */
    double largest;                        /* of a coordinate, in steps */
    double differing;                      /* coordinates in which two users can differ */
    double sensitivity_l1, sensitivity_l2; /* of a replaced user, in units of the data */
} tacit__lattice;

/* The lattice for `dimension` (without structural zeros) and `users`, released after each of them. */
TACIT_MUST_USE tacit_status tacit__lattice_choose(const tacit_sum_spec *spec, size_t dimension,
                                                  tacit__lattice *out, tacit_error *err);

/* The same for this many releases: the integers have room for all users, and a strategy rounds as in
 * `releases` steps. */
TACIT_MUST_USE tacit_status tacit__lattice_choose_for(const tacit_sum_spec *spec, size_t dimension,
                                                      uint64_t releases, tacit__lattice *out,
                                                      tacit_error *err);

/* x to integers within the bound. On failure `out` holds nothing of use. No message repeats a number
 * from x: it belongs to a person. */
TACIT_MUST_USE tacit_status tacit__lattice_quantize(const tacit__lattice *lattice, const double *x,
                                                    size_t n, int64_t *out, tacit_error *err);

#endif
