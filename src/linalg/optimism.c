/* See optimism.h. Sums over a column run in four lanes, always the same ones, so that the bits do not
 * depend on how many columns are evaluated together. */
#include "linalg/optimism.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "linalg/symmetric.h"

enum { LANES = 4 };

void tacit__optimism_slope(size_t d, const double *factor, const double *weights, double *slope)
{
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t i = j; i < d; i++)
            sum += factor[j * d + i] * weights[i];
        slope[j] = sum;
    }
}

/* Four numbers that are added side by side; wherever there are no registers for it, as pairs or one by
 * one. */
typedef double four __attribute__((vector_size(4 * sizeof(double))));

/* One pass over a transformed column: its inner product with the slope and its square. */
TACIT__INLINE void measure(size_t d, const double *t, const double *slope, double *inner,
                           double *square)
{
    four dot = {0}, sum = {0};
    size_t j = 0;
    for (; j + LANES <= d; j += LANES) {
        four x, y;
        memcpy(&x, t + j, sizeof x);
        memcpy(&y, slope + j, sizeof y);
        dot += x * y;
        sum += x * x;
    }
    *inner = (dot[0] + dot[1]) + (dot[2] + dot[3]);
    *square = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; j < d; j++) {
        *inner += t[j] * slope[j];
        *square += t[j] * t[j];
    }
}

TACIT__INLINE void finish(const tacit__optimism *o, size_t n, const double *columns, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double inner, square;
        measure(o->dimension, columns + i * o->dimension, o->slope, &inner, &square);
        out[i] = tacit__optimism_cut(o, o->unit * inner, o->unit * sqrt(square));
    }
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static void finish_avx2(const tacit__optimism *o, size_t n, const double *columns,
                                    double *out)
{
    finish(o, n, columns, out);
}
#endif

void tacit__optimism_evaluate(const tacit__optimism *o, size_t n, const double *columns,
                              double *work, double *out)
{
    TACIT__REQUIRE(o->inverse != NULL && o->slope != NULL && o->low <= o->high);
    TACIT__REQUIRE(work != columns);
    tacit__multiply_many(o->dimension, n, o->inverse, columns, work);
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        finish_avx2(o, n, work, out);
        return;
    }
#endif
    finish(o, n, work, out);
}
