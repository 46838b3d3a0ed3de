/* Every loop over lanes is a few vector operations. Four lanes are a vector of AVX2; four of those wait
 * for roots and quotients together.
 *
 * Eigenvalues are found by Jacobi's method in lockstep: the same rotations of rows and columns in all lanes,
 * each by its own angle. A lane that is done rotates by 0. The rotation of p < q makes a_pq vanish: with
 * e = a_qq - a_pp,
 *     t = 2 a_pq sign(e) / (|e| + sqrt(e^2 + 4 a_pq^2)),    c = 1 / sqrt(1 + t^2),    s = t c.
 * Sweeps converge quadratically; matrices of noise need five. For d = 6 that is 0.4 microseconds a matrix,
 * against 3.5 for a call of dsyevd. */
#include "linalg/lanes.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"

enum { LANES = TACIT__LANES, MOST_SWEEPS = 16 };

/* Of the squares off the diagonal, in those on it: matrices are then right to eight digits, of noise. */
#define NEGLIGIBLE 0x1p-56

enum { FOURS = LANES / 4 };
typedef double four __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));
typedef struct lanes {
    four part[FOURS];
} lanes;

size_t tacit__lanes_scratch(size_t d)
{
    return (d * (d + 1) / 2 + d * d + d) * LANES;
}

/* Entry (i, j), i >= j, of a triangle by rows. */
TACIT__INLINE size_t at(size_t i, size_t j)
{
    return i * (i + 1) / 2 + j;
}

/* (x, y) = (c x - s y, s x + c y) */
TACIT__INLINE void turn(const lanes *c, const lanes *s, lanes *x, lanes *y)
{
    for (size_t i = 0; i < FOURS; i++) {
        const four was = x->part[i], other = y->part[i];
        x->part[i] = c->part[i] * was - s->part[i] * other;
        y->part[i] = s->part[i] * was + c->part[i] * other;
    }
}

/* The angle that makes a_pq vanish, and what it does to a_pp, a_pq and a_qq. */
TACIT__INLINE void begin(lanes *pp, lanes *qq, lanes *pq, lanes *c, lanes *s)
{
    lanes t;
    for (size_t i = 0; i < FOURS; i++) {
        const four e = qq->part[i] - pp->part[i], twice = 2 * pq->part[i];
        const four square = e * e + twice * twice;
        for (size_t l = 0; l < 4; l++) /* the least number keeps 0 / 0 away */
            t.part[i][l] = copysign(1, e[l]) * twice[l] / (fabs(e[l]) + sqrt(square[l]) + DBL_MIN);
    }
    for (size_t i = 0; i < FOURS; i++) {
        const four square = 1 + t.part[i] * t.part[i];
        for (size_t l = 0; l < 4; l++)
            c->part[i][l] = 1 / sqrt(square[l]);
        s->part[i] = t.part[i] * c->part[i];
        pp->part[i] -= t.part[i] * pq->part[i];
        qq->part[i] += t.part[i] * pq->part[i];
        pq->part[i] = (four){0};
    }
}

TACIT__INLINE void rotate(size_t d, size_t p, size_t q, lanes *a, lanes *v)
{
    lanes c, s;
    begin(&a[at(p, p)], &a[at(q, q)], &a[at(q, p)], &c, &s);
    for (size_t k = 0; k < p; k++)
        turn(&c, &s, &a[at(p, k)], &a[at(q, k)]);
    for (size_t k = p + 1; k < q; k++)
        turn(&c, &s, &a[at(k, p)], &a[at(q, k)]);
    for (size_t k = q + 1; k < d; k++)
        turn(&c, &s, &a[at(k, p)], &a[at(k, q)]);
    for (size_t k = 0; k < d; k++)
        turn(&c, &s, &v[p * d + k], &v[q * d + k]);
}

/* sum += x y */
TACIT__INLINE void accumulate(lanes *sum, const lanes *x, const lanes *y)
{
    for (size_t i = 0; i < FOURS; i++)
        sum->part[i] += x->part[i] * y->part[i];
}

TACIT__INLINE bool is_diagonal(size_t d, const lanes *a)
{
    lanes diagonal = {0}, off = {0};
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++)
            accumulate(&off, &a[at(i, j)], &a[at(i, j)]);
        accumulate(&diagonal, &a[at(i, i)], &a[at(i, i)]);
    }
    bool all = true;
    for (size_t l = 0; l < LANES; l++)
        all &= !(off.part[l / 4][l % 4] > NEGLIGIBLE * diagonal.part[l / 4][l % 4]);
    return all;
}

/* a = sum_j max(lambda_j, floor) v_j v_j^T; lambda is on the diagonal before. */
TACIT__INLINE void rebuild(size_t d, double floor, lanes *a, const lanes *v)
{
    lanes lambda[TACIT__JACOBI_ORDER];
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < LANES; l++) {
            const double value = a[at(j, j)].part[l / 4][l % 4];
            lambda[j].part[l / 4][l % 4] = value >= floor ? value : floor;
        }
    for (size_t i = 0; i < d * (d + 1) / 2; i++)
        a[i] = (lanes){0};
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++) {
            lanes scaled = {0};
            accumulate(&scaled, &lambda[j], &v[j * d + i]);
            for (size_t k = 0; k <= i; k++)
                accumulate(&a[at(i, k)], &scaled, &v[j * d + k]);
        }
}

TACIT__INLINE void floor_all(size_t d, double floor, lanes *a, lanes *v)
{
    for (size_t i = 0; i < d * d; i++)
        for (size_t f = 0; f < FOURS; f++)
            v[i].part[f] = (four){0} + (i % (d + 1) == 0);
    for (int sweep = 0; sweep < MOST_SWEEPS && !is_diagonal(d, a); sweep++)
        for (size_t p = 0; p + 1 < d; p++)
            for (size_t q = p + 1; q < d; q++)
                rotate(d, p, q, a, v);
    rebuild(d, floor, a, v);
}

/* --- Factors and solutions ----------------------------------------------------------------------- */

/* The packed matrices, shifted, as lower triangles by rows; ones in lanes without a matrix. */
TACIT__INLINE void expand(const tacit__lanes_problem *o, double shift, lanes *a)
{
    for (size_t i = 0; i < o->d; i++)
        for (size_t j = 0; j <= i; j++) {
            lanes *to = &a[at(i, j)];
            for (size_t l = 0; l < o->n; l++)
                to->part[l / 4][l % 4] = o->packed[l * o->stride + at(i, j)];
            for (size_t l = o->n; l < LANES; l++)
                to->part[l / 4][l % 4] = i == j;
            for (size_t f = 0; f < FOURS; f++)
                to->part[f] = i == j ? to->part[f] + shift : to->part[f] / M_SQRT2;
        }
}

/* Triangles into their factors; `good` stays true in lanes that have one. The operations of tacit__cholesky
 * in its order. */
TACIT__INLINE void factorize(size_t d, lanes *a, bool good[LANES])
{
    for (size_t j = 0; j < d; j++) {
        lanes inverse;
        for (size_t l = 0; l < LANES; l++) {
            const double pivot = a[at(j, j)].part[l / 4][l % 4], root = sqrt(fabs(pivot));
            good[l] &= pivot > 0 && pivot < HUGE_VAL;
            a[at(j, j)].part[l / 4][l % 4] = root;
            inverse.part[l / 4][l % 4] = 1 / root;
        }
        for (size_t i = j + 1; i < d; i++)
            for (size_t f = 0; f < FOURS; f++)
                a[at(i, j)].part[f] *= inverse.part[f];
        for (size_t k = j + 1; k < d; k++)
            for (size_t i = k; i < d; i++)
                for (size_t f = 0; f < FOURS; f++)
                    a[at(i, k)].part[f] -= a[at(k, j)].part[f] * a[at(i, j)].part[f];
    }
}

/* x becomes (L L^T)^-1 x; as tacit__solve. */
TACIT__INLINE void solve(size_t d, const lanes *a, lanes *x)
{
    for (size_t j = 0; j < d; j++)
        for (size_t f = 0; f < FOURS; f++) {
            x[j].part[f] /= a[at(j, j)].part[f];
            for (size_t i = j + 1; i < d; i++)
                x[i].part[f] -= x[j].part[f] * a[at(i, j)].part[f];
        }
    for (size_t j = d; j-- > 0;)
        for (size_t f = 0; f < FOURS; f++) {
            for (size_t i = j + 1; i < d; i++)
                x[j].part[f] -= a[at(i, j)].part[f] * x[i].part[f];
            x[j].part[f] /= a[at(j, j)].part[f];
        }
}

/* The nearest matrices with eigenvalues at least `floor` in lanes that are not `good`; the others stay. */
TACIT__INLINE void repair(const tacit__lanes_problem *o, const bool good[LANES], lanes *a, lanes *v)
{
    lanes kept[TACIT__JACOBI_ORDER * (TACIT__JACOBI_ORDER + 1) / 2];
    memcpy(kept, a, o->d * (o->d + 1) / 2 * sizeof *a);
    floor_all(o->d, o->floor, a, v);
    for (size_t i = 0; i < o->d * (o->d + 1) / 2; i++)
        for (size_t l = 0; l < LANES; l++)
            if (good[l])
                a[i].part[l / 4][l % 4] = kept[i].part[l / 4][l % 4];
}

TACIT__INLINE size_t fit(const tacit__lanes_problem *o, lanes *a, bool failed[LANES])
{
    const size_t d = o->d;
    lanes *v = a + d * (d + 1) / 2, *x = v + d * d;
    bool good[LANES], done[LANES];
    size_t repaired = 0;
    for (size_t l = 0; l < LANES; l++)
        good[l] = done[l] = true;
    if (!o->exact) {
        expand(o, o->add - o->floor, a);
        factorize(d, a, good);
    }
    for (size_t l = 0; l < o->n; l++)
        repaired += !good[l];
    expand(o, o->add, a);
    if (repaired > 0)
        repair(o, good, a, v);
    factorize(d, a, done);
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < LANES; l++)
            x[j].part[l / 4][l % 4] = l < o->n ? o->packed[l * o->stride + d * (d + 1) / 2 + j] : 0;
    solve(d, a, x);
    for (size_t l = 0; l < o->n; l++) {
        failed[l] = !done[l];
        for (size_t j = 0; j < d; j++) {
            o->solution[l * d + j] = x[j].part[l / 4][l % 4];
            for (size_t i = j; i < d; i++)
                o->factor[(l * d + j) * d + i] = a[at(i, j)].part[l / 4][l % 4];
        }
    }
    return repaired;
}

static size_t fit_base(const tacit__lanes_problem *o, lanes *a, bool failed[LANES])
{
    return fit(o, a, failed);
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static size_t fit_avx2(const tacit__lanes_problem *o, lanes *a, bool failed[LANES])
{
    return fit(o, a, failed);
}
#endif

size_t tacit__lanes_fit(const tacit__lanes_problem *problem, double *scratch, bool *failed)
{
    TACIT__REQUIRE(problem->d <= TACIT__JACOBI_ORDER && problem->n <= LANES && scratch != NULL &&
                   problem->floor > 0);
    lanes *a = (lanes *)(void *)scratch;
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2())
        return fit_avx2(problem, a, failed);
#endif
    return fit_base(problem, a, failed);
}
