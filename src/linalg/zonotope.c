/* See zonotope.h. Length is convex, so the longest vector is that of a corner u in {low, 1}^n. Finding it is
 * as hard as maximum cut, so:
 *
 *   climb   u <- signs of a_i . x, which never makes x = sum_i u_i a_i shorter, from u = 1 and from the signs
 *           of the heaviest row;
 *   prove   depth first through the u_i, heavy columns first. With u_1 .. u_k fixed to a vector p, every
 *           component j lies in [p_j + least_kj, p_j + most_kj], sums of what the others can add, so no
 *           vector below is longer than the vector of the larger absolute ends. Branches that cannot beat
 *           the longest so far, or the limit, are left out.
 *
 * -x is as long as x if low is -1: u_1 = 1 is enough. Columns of zeros do nothing and are left out. */
#include "linalg/zonotope.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"

enum { CLIMB = 8 }; /* rounds of the climb */

typedef struct walk {
    const tacit__zonotope *z;
    size_t n;             /* columns that are not 0, */
    double *columns;      /* [n][d], heavy ones first */
    double *least, *most; /* [n + 1][d]: what columns k .. n-1 can add to a component */
    double *image;        /* [n + 1][d]: with the first k fixed */
    double *u;            /* [n] */
} walk;

size_t tacit__zonotope_scratch(size_t d, size_t n)
{
    return d * n + 3 * d * (n + 1) + 3 * n;
}

static double square(size_t d, const double *x)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += x[j] * x[j];
    return sum;
}

typedef struct weighed {
    double weight, index;
} weighed;

static int heavy_first(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void sort_columns(walk *w, weighed *order)
{
    const tacit__zonotope *z = w->z;
    for (size_t i = 0; i < z->n; i++) {
        double weight = 0;
        for (size_t j = 0; j < z->d; j++)
            weight += z->rows[j * z->n + i] * z->rows[j * z->n + i];
        if (weight > 0)
            order[w->n++] = (weighed){weight, (double)i};
    }
    qsort(order, w->n, sizeof *order, heavy_first);
    for (size_t k = 0; k < w->n; k++)
        for (size_t j = 0; j < z->d; j++)
            w->columns[k * z->d + j] = z->rows[j * z->n + (size_t)order[k].index];
}

static void add_ends(walk *w)
{
    const size_t d = w->z->d;
    for (size_t j = 0; j < d; j++)
        w->least[w->n * d + j] = w->most[w->n * d + j] = 0;
    for (size_t k = w->n; k-- > 0;)
        for (size_t j = 0; j < d; j++) {
            double a = w->columns[k * d + j], b = w->z->low * a;
            w->least[k * d + j] = w->least[(k + 1) * d + j] + fmin(a, b);
            w->most[k * d + j] = w->most[(k + 1) * d + j] + fmax(a, b);
        }
}

/* The squared length that nothing below image k exceeds. */
static double bound_below(const walk *w, size_t k)
{
    const size_t d = w->z->d;
    const double *p = w->image + k * d;
    double sum = 0;
    for (size_t j = 0; j < d; j++) {
        double end = fmax(fabs(p[j] + w->least[k * d + j]), fabs(p[j] + w->most[k * d + j]));
        sum += end * end;
    }
    return sum;
}

static double climb(walk *w)
{
    const size_t d = w->z->d;
    double best = 0, *x = w->image;
    for (int round = 0; round < CLIMB; round++) {
        for (size_t j = 0; j < d; j++) {
            x[j] = 0;
            for (size_t i = 0; i < w->n; i++)
                x[j] += w->u[i] * w->columns[i * d + j];
        }
        double now = square(d, x);
        if (!(now > best))
            break;
        best = now;
        for (size_t i = 0; i < w->n; i++) {
            double slope = 0;
            for (size_t j = 0; j < d; j++)
                slope += x[j] * w->columns[i * d + j];
            w->u[i] = slope > 0 ? 1 : w->z->low;
        }
    }
    return best;
}

static double climb_twice(walk *w)
{
    const size_t d = w->z->d;
    size_t heaviest = 0;
    for (size_t j = 1; j < d; j++)
        if (w->most[j] - w->least[j] > w->most[heaviest] - w->least[heaviest])
            heaviest = j;
    for (size_t i = 0; i < w->n; i++)
        w->u[i] = 1;
    double first = climb(w);
    for (size_t i = 0; i < w->n; i++)
        w->u[i] = w->columns[i * d + heaviest] > 0 ? 1 : w->z->low;
    return fmax(first, climb(w));
}

static void fix(walk *w, size_t k, double u)
{
    const size_t d = w->z->d;
    w->u[k] = u;
    for (size_t j = 0; j < d; j++)
        w->image[(k + 1) * d + j] = w->image[k * d + j] + u * w->columns[k * d + j];
}

/* Walks through all corners that may be longer than sqrt(*best) and sqrt(limit). False: too many steps. */
static bool prove(walk *w, double limit, uint64_t *steps, double *best)
{
    const double low = w->z->low;
    size_t k = 0;
    for (size_t j = 0; j < w->z->d; j++)
        w->image[j] = 0;
    if (w->n == 0)
        return true;
    fix(w, 0, 1);
    for (;;) {
        if (*steps == 0)
            return false;
        --*steps;
        double below = bound_below(w, k + 1);
        if (below > fmax(limit, *best)) {
            if (k + 1 < w->n) {
                fix(w, ++k, 1);
                continue;
            }
            *best = below; /* a corner */
        }
        while (w->u[k] != 1 || (k == 0 && low < 0)) { /* both done, or the mirror image */
            if (k == 0)
                return true;
            k--;
        }
        fix(w, k, low);
    }
}

tacit__length tacit__zonotope_longest(const tacit__zonotope *z, double limit, uint64_t *steps,
                                      double *scratch)
{
    TACIT__REQUIRE(z->low == -1 || z->low == 0);
    TACIT__REQUIRE(z->d > 0 && z->n > 0 && steps != NULL);
    const size_t d = z->d, layer = d * (z->n + 1);
    walk w = {.z = z,
              .columns = scratch,
              .least = scratch + d * z->n,
              .most = scratch + d * z->n + layer,
              .image = scratch + d * z->n + 2 * layer,
              .u = scratch + d * z->n + 3 * layer};
    sort_columns(&w, (weighed *)(w.u + z->n));
    add_ends(&w);
    for (size_t j = 0; j < d; j++)
        w.image[j] = 0;
    const double all = bound_below(&w, 0);
    if (all <= limit * limit)
        return (tacit__length){.met = 0, .proved = sqrt(all)};
    double best = climb_twice(&w);
    bool proved = prove(&w, limit * limit, steps, &best);
    double met = sqrt(best);
    return (tacit__length){.met = met, .proved = proved ? fmax(met, limit) : sqrt(all)};
}
