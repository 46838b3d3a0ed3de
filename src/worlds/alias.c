/* Vose's construction of alias tables in exact integers.
 *
 * Probabilities become integers w_i with sum 2^64 (the largest takes the rounding, less than n parts in
 * 2^53). A bucket has mass 2^64 / n; scaled by n, outcome i has mass n w_i and a bucket 2^64, so
 * everything is a 128-bit integer and the table represents w exactly: no floating-point leftovers in the
 * last buckets. O(n). A word meets a bucket's limit with probability exact to 2^-64. */
#include "worlds/alias.h"

#include <math.h>

#include "base/error.h"

#define BUCKET_MASS ((tacit__u128)1 << 64) /* one bucket holds the mass of all 64-bit words */

/* w_i = prob_i 2^64, and the rest to the largest. */
static void fill_masses(size_t n, const double *prob, tacit__u128 *mass)
{
    tacit__u128 total = 0;
    size_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        mass[i] = prob[i] >= 1 ? BUCKET_MASS : (tacit__u128)(uint64_t)ldexp(prob[i], 64);
        total += mass[i];
        largest = prob[i] > prob[largest] ? i : largest;
    }
    mass[largest] += BUCKET_MASS - total; /* unsigned: right also when the total is above */
}

void tacit__alias_build(size_t n, const double *prob, const uint32_t *value,
                        tacit__alias_scratch scratch, tacit__bucket *buckets, uint32_t *other)
{
    TACIT__REQUIRE(n > 0 && n <= UINT32_MAX);
    tacit__u128 *mass = scratch.mass;
    uint32_t *stack = scratch.stack; /* light outcomes from the front, heavy ones from the back */
    size_t n_light = 0, heavy = n;
    fill_masses(n, prob, mass);
    for (uint32_t i = 0; i < n; i++) {
        mass[i] *= n;
        if (mass[i] < BUCKET_MASS)
            stack[n_light++] = i;
        else
            stack[--heavy] = i;
    }
    while (n_light > 0) { /* some outcome is heavy: the mean is exactly one bucket */
        uint32_t i = stack[--n_light], giver = stack[heavy];
        buckets[i] = (tacit__bucket){(uint64_t)mass[i], {value[i], value[giver]}};
        if (other != NULL)
            other[i] = giver;
        mass[giver] -= BUCKET_MASS - mass[i];
        if (mass[giver] < BUCKET_MASS) {
            heavy++;
            stack[n_light++] = giver;
        }
    }
    for (; heavy < n; heavy++) {
        uint32_t i = stack[heavy];
        buckets[i] = (tacit__bucket){UINT64_MAX, {value[i], value[i]}};
        if (other != NULL)
            other[i] = i;
    }
}
