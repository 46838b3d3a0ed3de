/* Alias tables: draw from a finite distribution with one 64-bit word, one multiplication and one comparison.
 *
 * A distribution on n outcomes becomes n buckets of equal mass. word * n, as 128 bits, is bucket number
 * and position inside it; below the bucket's limit the draw is the bucket's own outcome, from there on
 * another. */
#ifndef TACIT_WORLDS_ALIAS_H
#define TACIT_WORLDS_ALIAS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/int128.h"

typedef struct tacit__bucket {
    uint64_t limit;
    uint32_t value[2]; /* below the limit, from the limit on */
} tacit__bucket;

/* Scratch for tables of up to n outcomes: the caller allocates n of each. */
typedef struct tacit__alias_scratch {
    tacit__u128 *mass;
    uint32_t *stack;
} tacit__alias_scratch;

/* Makes the buckets of `prob`, positive numbers that sum to one up to rounding: outcome i has the value
 * value[i]. other[i] (may be NULL) becomes the outcome that bucket i gives from its limit on. */
void tacit__alias_build(size_t n, const double *prob, const uint32_t *value,
                        tacit__alias_scratch scratch, tacit__bucket *buckets, uint32_t *other);

/* The bucket of a word, and which of its two values: *which is 0 or 1. */
TACIT__INLINE uint32_t tacit__alias_bucket(const tacit__bucket *buckets, uint32_t n, uint64_t word,
                                           uint32_t *which)
{
    tacit__u128 product = (tacit__u128)word * n;
    uint32_t i = (uint32_t)(product >> 64);
    *which = (uint64_t)product >= buckets[i].limit;
    return i;
}

TACIT__INLINE uint32_t tacit__alias_draw(const tacit__bucket *buckets, uint32_t n, uint64_t word)
{
    uint32_t which, i = tacit__alias_bucket(buckets, n, word, &which);
    return buckets[i].value[which];
}

#endif
