/* Clamp the mass of the positive part into the allowed interval, then project on the simplex of that mass.
 *
 * With m0 = sum max(y_i, 0) and mass = clamp(m0, visits - slack, visits + slack): if mass = m0 the positive part
 * is the answer; else x_i = max(y_i - theta, 0) with theta such that the sum is right: by repeatedly dropping what
 * lies below the mean excess of the rest, which settles after a few passes, or from the sorted values should it not.
 * The argmin of the paper is not unique; this one is also the Euclidean projection on the
 * feasible polytope, hence continuous: rounding cannot flip it. docs/why/projection.md has the proof of
 * optimality. O(n log n) at worst, O(n) as a rule. */
#include "plan/project.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cpu.h"

enum { PASSES = 16, SHORT_ROW = 8, LANES = 4 };

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* theta with sum max(y_i - theta, 0) = mass > 0, from the sorted values: the largest j with
 * d_j > (d_1 + .. + d_j - mass) / j. */
static double threshold_by_sorting(const double *y, size_t n, double mass, double *sorted)
{
    double sum = 0, theta = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = y[i];
    qsort(sorted, n, sizeof *sorted, descending);
    for (size_t j = 0; j < n; j++) {
        sum += sorted[j];
        double candidate = (sum - mass) / (double)(j + 1);
        if (!(sorted[j] > candidate))
            break;
        theta = candidate;
    }
    return theta;
}

/* The same: from a theta that is not too large, which `count` values exceed; it only grows, and each pass drops at
 * least one value or none. NaN if it does not settle. */
TACIT__INLINE double settle(const double *y, size_t n, double mass, double theta, double count)
{
    for (int pass = 0; pass < PASSES; pass++) {
        double sums[LANES] = {0}, aboves[LANES] = {0}; /* so that additions overlap */
        size_t i = 0;
        for (; i + LANES <= n; i += LANES)
            for (size_t lane = 0; lane < LANES; lane++) {
                sums[lane] += y[i + lane] > theta ? y[i + lane] : 0;
                aboves[lane] += y[i + lane] > theta ? 1 : 0;
            }
        for (; i < n; i++) {
            sums[0] += y[i] > theta ? y[i] : 0;
            aboves[0] += y[i] > theta ? 1 : 0;
        }
        double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        double above = (aboves[0] + aboves[1]) + (aboves[2] + aboves[3]);
        if (above == count)
            return theta;
        theta = (sum - mass) / above;
        count = above;
    }
    return (double)NAN;
}

static double threshold(const double *y, size_t n, double mass, double positive, double n_positive,
                        double *sorted)
{
    /* less mass than the positive values have: theta is positive, and they are all that matters */
    bool less = mass < positive;
    double theta = less ? (positive - mass) / n_positive : -HUGE_VAL, count = less ? n_positive : 0;
    if (n <= SHORT_ROW) { /* a fixed length, so that the loops unroll */
        double row[SHORT_ROW];
        for (size_t i = 0; i < SHORT_ROW; i++)
            row[i] = i < n ? y[i] : -HUGE_VAL;
        theta = settle(row, SHORT_ROW, mass, theta, count);
    } else {
        theta = settle(y, n, mass, theta, count);
    }
    return isnan(theta) ? threshold_by_sorting(y, n, mass, sorted) : theta;
}

void tacit__project_counts(const double *y, size_t n, double visits, double slack, double *sorted,
                           double *x)
{
    double up = visits + slack > 0 ? visits + slack : 0;
    double low = visits - slack < up ? visits - slack : up;
    double positive = 0, n_positive = 0;
    for (size_t i = 0; i < n; i++) {
        positive += y[i] > 0 ? y[i] : 0;
        n_positive += y[i] > 0 ? 1 : 0;
    }
    double mass = positive < low ? low : positive;
    mass = mass > up ? up : mass;
    double theta = 0;
    if (mass <= 0) {
        for (size_t i = 0; i < n; i++)
            x[i] = 0;
        return;
    }
    if (mass != positive)
        theta = threshold(y, n, mass, positive, n_positive, sorted);
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] > theta ? y[i] - theta : 0;
}
