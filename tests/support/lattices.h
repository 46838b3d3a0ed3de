/* Contributions on the lattice for tests: lattices, vectors of many shapes, and norms of integers without any rounding. */
#ifndef TACIT_TESTS_LATTICES_H
#define TACIT_TESTS_LATTICES_H

#include "support/check.h" /* mpfr.h needs what it includes */

#include <math.h>
#include <mpfr.h>

#include "sums/lattice.h"
#include "support/random.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

enum { MANY = 4099 }; /* coordinates; odd, and more than a tile */

static inline tacit__lattice choose(tacit_bound bound, size_t dimension, uint64_t users)
{
    tacit_sum_spec spec = {SUM_OF(TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN, dimension, users),
                           .bound = bound};
    tacit__lattice l;
    assert_ok(tacit__lattice_choose(&spec, dimension, &l, NULL));
    return l;
}

/* The norms of the integers, without any rounding. */
static inline u128 norm1(const int64_t *q, size_t n)
{
    u128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)(q[i] < 0 ? -q[i] : q[i]);
    return sum;
}

static inline u128 square(const int64_t *q, size_t n)
{
    u128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (u128)((i128)q[i] * q[i]);
    return sum;
}

/* value <= (norm * 2^bits)^power, without any rounding. */
static inline bool at_most(u128 value, double norm, int bits, unsigned power)
{
    mpfr_t v, bound;
    mpfr_inits2(300, v, bound, (mpfr_ptr)0);
    mpfr_set_uj(v, (uint64_t)(value >> 64), MPFR_RNDN);
    mpfr_mul_2ui(v, v, 64, MPFR_RNDN);
    mpfr_add_ui(v, v, (unsigned long)(uint64_t)value, MPFR_RNDN);
    mpfr_set_d(bound, norm, MPFR_RNDN);
    mpfr_mul_2si(bound, bound, bits, MPFR_RNDN);
    mpfr_pow_ui(bound, bound, power, MPFR_RNDN);
    bool kept = mpfr_lessequal_p(v, bound) != 0;
    mpfr_clears(v, bound, (mpfr_ptr)0);
    return kept;
}

/* Scales x so that the tighter of its two norms is `part` of the bound. */
static inline void scale_to(const tacit__lattice *l, double *x, size_t n, double part)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += fabs(x[i]);
        squares += x[i] * x[i];
    }
    double factor = part * fmin(l->bound.l1 / sum, l->bound.l2 / sqrt(squares));
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* Vectors of many shapes: flat, one spike, a few, heavy tails, geometric, random signs. */
static inline void fill(double *x, size_t n, int shape, bool nonnegative, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        double v = shape == 0   ? 1
                   : shape == 1 ? (i == n / 2 ? 1 : 0)
                   : shape == 2 ? (random_below(random, 1 + n / 4) == 0 ? random_unit(random) : 0)
                   : shape == 3 ? exp(6 * random_normal(random))
                   : shape == 4 ? ldexp(1, -(int)(i % 60))
                                : random_normal(random);
        x[i] = nonnegative ? fabs(v) : random_word(random) & 1 ? -v : v;
    }
    if (shape == 2)
        x[0] = 1; /* not all zero */
}

static const size_t dimensions[] = {1, 2, 3, 4, 5, 7, 8, 64, 1000, MANY};
enum { N_DIMENSIONS = sizeof dimensions / sizeof *dimensions };

static inline tacit_bound random_bound(size_t n, int kind, uint64_t *random)
{
    double size = exp(random_between(random, -12, 12));
    tacit_bound b = {.nonnegative = kind & 1};
    if (kind / 2 % 3 != 1)
        b.l2 = size;
    if (kind / 2 % 3 != 0) /* between l2 and sqrt(n) l2, or alone */
        b.l1 = size * pow((double)n, 0.5 * random_unit(random));
    return b;
}

#endif
