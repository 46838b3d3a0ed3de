/* Clamp the mass of the positive part into the allowed interval, then project on the simplex of that mass.
 *
 * With m0 = sum max(y_i, 0) and mass = clamp(m0, visits - slack, visits + slack): if mass = m0 the positive part
 * is the answer; else x_i = max(y_i - theta, 0) with theta such that the sum is right, found from the sorted
 * values. The argmin of the paper is not unique; this one is also the Euclidean projection on the
 * feasible polytope, hence continuous: rounding cannot flip it. docs/why/projection.md has the proof of
 * optimality. O(n log n), insertion sort for short rows. */
#include "plan/project.h"

#include <stdlib.h>

enum { SHORT_ROW = 32 };

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void sort(double *d, size_t n)
{
    if (n > SHORT_ROW) {
        qsort(d, n, sizeof *d, descending);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        double value = d[i];
        size_t j = i;
        for (; j > 0 && d[j - 1] < value; j--)
            d[j] = d[j - 1];
        d[j] = value;
    }
}

void tacit__project_counts(const double *y, size_t n, double visits, double slack, double *sorted,
                           double *x)
{
    double up = visits + slack > 0 ? visits + slack : 0;
    double low = visits - slack < up ? visits - slack : up;
    double positive = 0;
    for (size_t i = 0; i < n; i++)
        positive += y[i] > 0 ? y[i] : 0;
    double mass = positive < low ? low : positive;
    mass = mass > up ? up : mass;
    double theta = 0;
    if (mass <= 0) {
        for (size_t i = 0; i < n; i++)
            x[i] = 0;
        return;
    }
    if (mass != positive) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = y[i];
        sort(sorted, n);
        double sum = 0; /* the largest j with d_j > (d_1 + .. + d_j - mass) / j */
        for (size_t j = 0; j < n; j++) {
            sum += sorted[j];
            double candidate = (sum - mass) / (double)(j + 1);
            if (sorted[j] > candidate)
                theta = candidate;
            else
                break;
        }
    }
    for (size_t i = 0; i < n; i++)
        x[i] = y[i] > theta ? y[i] - theta : 0;
}
