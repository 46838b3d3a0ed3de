/* How near running sums come to the best factorization that there is. For n steps, beside each other: the largest standard
 * deviation of a prefix at mu = 1 and sensitivity 1 with the tuned blt; with the square root of A, the best that is known among
 * Toeplitz matrices; with that square root and its columns normalized [arXiv 2509.14334]; and a bound that no factorization can
 * beat.
 *
 * The bound. For A = B C and vectors u, v of length 1, the nuclear norm of diag(u) A diag(v) is at most the largest row norm of B
 * times the largest column norm of C, because diag(u) B and C diag(v) have Frobenius norms of at most that. u = v = 1 / sqrt(n)
 * gives the bound of docs/why/sums.md; the best u and v satisfy u_i^2 ~ sum_k s_k U_ik^2 with the singular vectors U, which is
 * iterated. Turned around, A is its own transpose, so v is u turned around. Any u is a valid bound. */
#include <math.h>

#include "harness.h"
#include "linalg/blas.h"
#include "sums/blt_tune.h"

/* Squared lengths of the rows of M M^T's square root into u, M = diag(u) A diag(v); returns the nuclear norm. */
static double improve(size_t n, double *u, double *gram, double *values, double *scratch)
{
    double total = 0;
    for (size_t i = 0; i < n; i++) { /* (M M^T)_ij = u_i u_j sum_(k <= min(i, j)) v_k^2 */
        double sum = 0;
        for (size_t j = 0; j <= i; j++) {
            sum += u[n - 1 - j] * u[n - 1 - j];
            gram[i * n + j] = gram[j * n + i] = u[i] * u[j] * sum;
        }
    }
    tacit__blas_syevd(n, gram, n, values, scratch);
    for (size_t k = 0; k < n; k++) {
        values[k] = sqrt(fmax(0, values[k]));
        total += values[k];
    }
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += values[k] * gram[k * n + i] * gram[k * n + i];
        u[i] = sqrt(sum / total);
    }
    return total;
}

static double bound(size_t n)
{
    double *u = calloc(n, sizeof *u), *gram = calloc(n * n, sizeof *gram),
           *values = calloc(n, sizeof *values),
           *scratch = calloc(tacit__blas_syevd_scratch(n), sizeof *scratch), best = 0;
    for (size_t i = 0; i < n; i++)
        u[i] = 1 / sqrt((double)n);
    for (int round = 0; round < 40; round++) {
        const double found = improve(n, u, gram, values, scratch);
        if (found < best * (1 + 1e-5))
            break;
        best = found;
    }
    free(u);
    free(gram);
    free(values);
    free(scratch);
    return best;
}

/* Coefficients of (1 - x)^power, power = -1/2 or 1/2. */
static void binomial(double power, size_t n, double *out)
{
    out[0] = 1;
    for (size_t i = 1; i < n; i++)
        out[i] = out[i - 1] * ((double)i - 1 - power) / (double)i;
}

/* The square root, and with C's columns divided by their lengths d_j: B = A diag(d) T^-1. */
static void square_roots(size_t n, double *plain, double *normalized)
{
    double *root = calloc(n, sizeof *root), *inverse = calloc(n, sizeof *inverse),
           *length = calloc(n, sizeof *length), *row = calloc(n, sizeof *row), square = 0;
    binomial(-0.5, n, root);
    binomial(0.5, n, inverse);
    for (size_t j = n; j-- > 0;) {
        square += root[n - 1 - j] * root[n - 1 - j];
        length[j] = sqrt(square);
    }
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = j; i < n; i++) {
            sum += length[i] * inverse[i - j];
            row[i] += sum * sum;
        }
    }
    *plain = square;
    *normalized = 0;
    for (size_t i = 0; i < n; i++)
        *normalized = fmax(*normalized, sqrt(row[i]));
    free(root);
    free(inverse);
    free(length);
    free(row);
}

int main(int argc, char **argv)
{
    static const size_t steps[] = {10, 30, 100, 200, 500, 1000};
    const tacit__returning once = {1, 1};
    bench_begin(&argc, argv);
    for (size_t i = 0; i < bench_times(sizeof steps / sizeof *steps); i++) {
        const size_t n = steps[i];
        const tacit__blt tuned = tacit__blt_tune(n, &once);
        const double blt = tacit__blt_error(&tuned, n, &once), least = bound(n);
        double plain, normalized;
        square_roots(n, &plain, &normalized);
        printf("{\"bench\": \"factorization\", \"steps\": %zu, \"blt\": %.4f, \"square_root\": "
               "%.4f, \"normalized\": %.4f, \"bound\": %.4f, \"blt_of_bound\": %.3f}\n",
               n, blt, plain, normalized, least, blt / least);
        fflush(stdout);
    }
    return 0;
}
