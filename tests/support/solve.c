#include "support/solve.h"

#include <math.h>
#include <stdlib.h>

#include "support/check.h"

double solve_plainly(size_t d, const double *m, const double *b, double *x)
{
    const size_t w = d + 1; /* the last column is b */
    long double *a = calloc(d * w, sizeof *a), log_det = 0;
    assert_non_null(a);
    for (size_t i = 0; i < d * w; i++)
        a[i] = (long double)(i % w < d ? m[i / w * d + i % w] : b[i / w]);
    for (size_t k = 0; k < d; k++) {
        size_t p = k;
        for (size_t i = k; i < d; i++)
            p = fabsl(a[i * w + k]) > fabsl(a[p * w + k]) ? i : p;
        for (size_t j = 0; j <= d; j++) {
            const long double swap = a[k * w + j];
            a[k * w + j] = a[p * w + j];
            a[p * w + j] = swap;
        }
        log_det += logl(fabsl(a[k * w + k]));
        for (size_t i = 0; i < d; i++) {
            const long double f = i == k ? 0 : a[i * w + k] / a[k * w + k];
            for (size_t j = k; j <= d; j++)
                a[i * w + j] -= f * a[k * w + j];
        }
    }
    for (size_t i = 0; i < d; i++)
        x[i] = (double)(a[i * w + d] / a[i * w + i]);
    free(a);
    return (double)log_det;
}

void invert_plainly(size_t d, const double *m, double *out)
{
    SCOPED_FREE double *x = calloc(d, sizeof *x);
    assert_non_null(x);
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++)
            x[i] = i == j;
        (void)solve_plainly(d, m, x, x);
        for (size_t i = 0; i < d; i++)
            out[i * d + j] = x[i];
    }
}
