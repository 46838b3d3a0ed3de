/* The columns of C get shorter from step to step, because fewer steps follow: a user who comes last moves
 * less than one who comes first, and is protected better than was promised. Dividing each column by its
 * length, as arXiv 2509.14334 does with the square root of A, makes C diag(q) of it, with
 * q_t = |c_0 .. c_(N-1)| / |c_0 .. c_(N-1-t)| >= 1. The first column, which is charged, stays as it is, and
 * noise falls by q_t in what is shown of step t:
 *
 *     x'_t = floor(q_t x_t),    r' = x' + C^-1 z,    shown: sum_t r'_t / q_t.
 *
 * That is 6 % less noise in the last of 500 releases, and never more.
 *
 * Two streams that differ in one user by d at step t have x' that differ by q_t d, up to 1 for each of m
 * coordinates (floors), and then y that differ by q_t c_n d, up to c_n + e_n (blt.c). With D = |d| and
 * s = sqrt(m) / D,
 *
 *     norm <= q_t |c_0 .. c_(N-1-t)| + s |c + e| <= |c_0 .. c_(N-1)| + s |c_n + e_n, n < N|.
 *
 * q_t is rounded down to 2^-20, so that the first term holds. */
#include "sums/blt_gain.h"

#include <math.h>

#include "base/error.h"

bool tacit__blt_has_gains(const tacit__shape *shape)
{
    return shape->visits.most <= 1 && shape->steps > 1 && shape->steps <= TACIT__MOST_GAINS;
}

/* c_n into c[steps]. */
static void find_column(const tacit__blt_coefficients *k, uint64_t steps, double *c)
{
    double power[TACIT__MAX_BUFFERS];
    for (unsigned j = 0; j < k->buffers; j++)
        power[j] = k->omega[j];
    c[0] = 1;
    for (uint64_t n = 1; n < steps; n++) {
        c[n] = 0;
        for (unsigned j = 0; j < k->buffers; j++)
            c[n] += power[j] *= k->a[j];
    }
}

/* The coefficients of C^-1. */
static void find_inverse(const tacit__blt_coefficients *k, uint64_t steps, double *g)
{
    double buffers[TACIT__MAX_BUFFERS] = {0};
    for (uint64_t n = 0; n < steps; n++) {
        double x = n == 0 ? 1 : 0;
        for (unsigned j = 0; j < k->buffers; j++)
            x -= k->omega[j] * buffers[j];
        for (unsigned j = 0; j < k->buffers; j++)
            buffers[j] = k->a[j] * (buffers[j] + x);
        g[n] = x;
    }
}

void tacit__blt_gains(const tacit__blt_coefficients *k, uint64_t steps, int64_t *gain, double *row)
{
    TACIT__REQUIRE(steps > 0 && steps <= TACIT__MOST_GAINS);
    double c[TACIT__MOST_GAINS], entry[TACIT__MOST_GAINS], sum = 0, *square = entry;
    find_column(k, steps, c);
    for (uint64_t n = 0; n < steps; n++)
        square[n] = sum += c[n] * c[n];
    for (uint64_t t = 0; t < steps; t++) {
        const double q = sqrt(sum / square[steps - 1 - t]);
        gain[t] = t == 0 ? (int64_t)1 << TACIT__GAIN_BITS
                         : (int64_t)floor(ldexp(q * (1 - 1e-9), TACIT__GAIN_BITS));
        gain[t] =
            gain[t] > (int64_t)1 << TACIT__GAIN_BITS ? gain[t] : (int64_t)1 << TACIT__GAIN_BITS;
        TACIT__REQUIRE(gain[t] < (int64_t)2 << TACIT__GAIN_BITS);
    }
    find_inverse(k, steps, c);
    for (uint64_t t = 0; t < steps; t++) {
        const double share = ldexp(1, TACIT__GAIN_BITS) / (double)gain[t];
        entry[t] = 0;
        row[t] = 0;
        for (uint64_t j = 0; j <= t; j++) {
            entry[j] += share * c[t - j];
            row[t] += entry[j] * entry[j];
        }
    }
}

double tacit__blt_gained_norm(const tacit__blt_coefficients *k, const tacit__shape *shape)
{
    double c[TACIT__MOST_GAINS], first = 0, rounding = 0;
    TACIT__REQUIRE(tacit__blt_has_gains(shape));
    find_column(k, shape->steps, c);
    for (uint64_t n = 0; n < shape->steps; n++) {
        double e = n == 0 ? 0 : 1 + ldexp(1, -k->fraction);
        for (unsigned j = 0; j < k->buffers && n > 0; j++)
            e += ldexp(k->omega[j], -k->guard) * fmin((double)n, 1 / (1 - k->a[j]));
        first += c[n] * c[n];
        rounding += (c[n] + e) * (c[n] + e);
    }
    /* some 10^5 roundings of 10^-16 */
    return (sqrt(first) + sqrt(rounding * shape->differing) / shape->sensitivity) * (1 + 2e-9);
}

void tacit__blt_multiply(int64_t gain, size_t n, const int64_t *x, int64_t *out)
{
    const int64_t low = ((int64_t)1 << TACIT__GAIN_BITS) - 1;
    for (size_t i = 0; i < n; i++) /* shifts are floors, also below 0 */
        out[i] = (x[i] >> TACIT__GAIN_BITS) * gain + (((x[i] & low) * gain) >> TACIT__GAIN_BITS);
}
