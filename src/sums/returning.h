/* People who come back: how much more than one visit the visits of one person move the whole of a release.
 *
 * A release has places 1 .. K, one for each user who is learned from. One person holds at most `most` places,
 * and any two of them are at least `apart` places apart. A strategy C with G = C'C, no entry negative, turns
 * visits at places I that each move by at most D into a move of at most
 *
 *     D sqrt(sum over i, l in I of G(i, l))      in L2,        D sum over i in I of |C[:, i]|_1      in L1,
 *
 * and that is attained when all visits move alike: sum_t |D_t|^2 = sum G(i, l) <d_i, d_l>. What is
 * declared is the largest value over all patterns I. It holds for patterns and moves that are
 * chosen as the releases go, because the sum of squares (or the sum) is bounded on every path.
 * docs/why/returning.md has the proofs. */
#ifndef TACIT_SUMS_RETURNING_H
#define TACIT_SUMS_RETURNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

typedef struct tacit__returning {
    uint64_t most;  /* visits of one person, at least 1 */
    uint64_t apart; /* places between any two of them, at least 1 */
} tacit__returning;

/* Reads visits as callers write them: 0 is 1. BAD_COUNT if so many visits do not fit into `places`. */
TACIT_MUST_USE tacit_status tacit__returning_read(uint64_t most, uint64_t apart, uint64_t places,
                                                  tacit__returning *out, tacit_error *err);

/* Which places are in which step. Without `ends` each place is a step; with them, step m has the places
 * from the end of the step before it up to ends[m], and places after the last end are in none. */
typedef struct tacit__batches {
    uint64_t n;           /* steps */
    const uint64_t *ends; /* [n] ascending, or NULL */
} tacit__batches;

/* G of two steps, from 0 to n - 1. */
typedef double tacit__overlap_fn(const void *context, uint64_t i, uint64_t l);

/* The entries from which G is computed. It must not grow as l moves away from i, on either side. */
typedef struct tacit__overlaps {
    tacit__overlap_fn *overlap;
    const void *context;
    double one; /* no G(i, i) is larger: what one visit costs */
} tacit__overlaps;

/* Returns whether each place is looked at: places times visits are at most 2^26. */
bool tacit__returning_are_few(const tacit__returning *v, const tacit__batches *steps);

/* A bound on the largest sum of G(i, l) over all patterns. With one visit it is `one`; otherwise at
 * most 1.09^2 times the truth where they are few, and a coarser bound, for which `overlap` is
 * called only if there are ends, beyond. */
TACIT_MUST_USE tacit_status tacit__returning_bound(const tacit__returning *v,
                                                   const tacit__batches *steps,
                                                   const tacit__overlaps *of, double *square,
                                                   tacit_error *err);

/* The largest sum of G(i, i) over all patterns, for strategies whose entries are 0 and 1 (the L1 norm):
 * exact where they are few, `most` times `one` beyond. */
TACIT_MUST_USE tacit_status tacit__returning_sum(const tacit__returning *v,
                                                 const tacit__batches *steps,
                                                 const tacit__overlaps *of, double *sum,
                                                 tacit_error *err);

/* Fresh releases of the people in each step: visits in one step add up, steps are independent. The
 * largest sum over steps of (visits in it)^2, and the largest number of visits in steps; exact. */
typedef struct tacit__returning_sums {
    double l1, square;
} tacit__returning_sums;
TACIT_MUST_USE tacit_status tacit__returning_in_batches(const tacit__returning *v,
                                                        const tacit__batches *steps,
                                                        tacit__returning_sums *out,
                                                        tacit_error *err);

/* Fresh releases over all data so far at these places: the largest sum of (visits so far)^2, and of
 * visits so far. From the first place on is the worst pattern for both. */
tacit__returning_sums tacit__returning_in_prefixes(const tacit__returning *v, const uint64_t *ends,
                                                   size_t n);

#endif
