/* See optimism.h. Sums over a column run in four lanes, always the same ones, so that the bits do not depend on how
 * many columns are evaluated together. */
#include "linalg/optimism.h"

#include <math.h>

#include "base/cpu.h"
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

/* One pass over a solved column: its inner product with the slope and its square. */
TACIT__INLINE void measure(size_t d, const double *restrict t, const double *restrict slope,
                           double *inner, double *square)
{
    double dot[LANES] = {0}, sum[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (size_t lane = 0; lane < LANES; lane++) {
            dot[lane] += t[j + lane] * slope[j + lane];
            sum[lane] += t[j + lane] * t[j + lane];
        }
    for (size_t lane = 0; j < d; j++, lane++) {
        dot[lane] += t[j] * slope[j];
        sum[lane] += t[j] * t[j];
    }
    *inner = (dot[0] + dot[1]) + (dot[2] + dot[3]);
    *square = (sum[0] + sum[1]) + (sum[2] + sum[3]);
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

void tacit__optimism_evaluate(const tacit__optimism *o, size_t n, double *columns, double *out)
{
    tacit__solve_lower_many(o->dimension, n, o->factor, columns);
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2()) {
        finish_avx2(o, n, columns, out);
        return;
    }
#endif
    finish(o, n, columns, out);
}
