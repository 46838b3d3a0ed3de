/* What a user adds to the sums of a linear bandit, exactly. See curate/regression.h; how far apart two users'
 * vectors can be is derived at the head of regression.c. */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "curate/regression.h"

/* x, checked and, where rounding made it longer than 1, shortened. */
static tacit_status shorten(const tacit__regression_form *f, const double *x, size_t block,
                            double y, double *unit, tacit_error *err)
{
    double square = 0;
    for (size_t i = 0; i < f->dimension; i++)
        square += x[i] * x[i];
    if (!(square <= 1 + 1e-9) || block >= f->blocks || !(y >= -1 && y <= 1))
        return tacit__fail(err, TACIT_OUT_OF_BOUND,
                           "features are longer than their bound, or no numbers, or the action or "
                           "the reward is out of range");
    double factor = square > 1 ? (1 - 1e-15) / sqrt(square) : 1;
    for (size_t i = 0; i < f->dimension; i++)
        unit[i] = factor * x[i];
    return TACIT_OK;
}

/* out[i] = weight x[i], on the lattice: to the nearest integer, ties to even, by adding 1.5 * 2^52, since a
 * norm has at most 2^48 steps (sums/lattice.c). */
TACIT__INLINE void place_row(double per_step, size_t n, double weight, const double *restrict x,
                             int64_t *restrict out)
{
    const double magic = 0x1.8p52;
    for (size_t i = 0; i < n; i++) {
        double shifted = weight * x[i] * per_step + magic;
        int64_t bits, magic_bits;
        memcpy(&bits, &shifted, sizeof bits);
        memcpy(&magic_bits, &magic, sizeof magic_bits);
        out[i] = bits - magic_bits;
    }
}

/* The coordinates of a user: the triangle of x x^T, then x y. */
TACIT__INLINE void place_user(const tacit__regression_form *f, const double *x, double y,
                              int64_t *out)
{
    const size_t d = f->dimension;
    const double root = f->triangle ? 1 : M_SQRT2, per_step = ldexp(1, f->bits);
    for (size_t j = 0; j < d; out += ++j) {
        place_row(per_step, j, root * x[j], x, out);
        place_row(per_step, 1, x[j], x + j, out + j);
    }
    place_row(per_step, d, f->response_weight * y, x, out);
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static void place_user_avx2(const tacit__regression_form *f, const double *x, double y,
                                        int64_t *out)
{
    place_user(f, x, y, out);
}
#endif

tacit_status tacit__regression_contribute(const tacit__regression_form *f, const double *x,
                                          size_t block, double y, double *unit, int64_t *out,
                                          tacit_error *err)
{
    TACIT__REQUIRE(f->dimension > 0);
    tacit_status status = shorten(f, x, block, y, unit, err);
    if (status != TACIT_OK || out == NULL)
        return status;
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        place_user_avx2(f, unit, y, out);
        return TACIT_OK;
    }
#endif
    place_user(f, unit, y, out);
    return TACIT_OK;
}
