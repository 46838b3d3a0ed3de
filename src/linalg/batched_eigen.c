/* Every loop over lanes is a few vector operations. Four lanes are a vector of AVX2; four of those wait
 * for roots and quotients together.
 *
 * Eigenvalues are found in lockstep, as in EISPACK: Householder's reflections make all matrices tridiagonal
 * (tred2), QL steps without roots and vectors find the eigenvalues (tqlrat), and one QL step for each of
 * them, shifted by it, makes the entry beside it vanish and turns the vectors (tql2); rarely a second one.
 * Each lane has shifts of its own. All lanes work on the same entry until it is negligible in each of them;
 * a lane that is done keeps stepping, which changes nothing that matters. For d = 6 a repaired system takes
 * 0.26 microseconds (0.33 if every step turns vectors), against 3.5 for dsyevd alone.
 *
 * Nothing is divided by 0: a number that may vanish is first moved away from 0 by TINY, whose square is still
 * a normal number, so that reflections and rotations stay orthogonal. */
#include "linalg/batched_eigen.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"

enum {
    LANES = TACIT__EIGEN_BATCH,
    MOST_STEPS = 30
}; /* EISPACK's; noise needs three for an entry */

/* Of an entry off the diagonal, in the norm of the matrix, which is then right to nine digits. Eigenvalues
 * are right to the square of ROUGH, so that a step shifted by one leaves a negligible entry. */
#define NEGLIGIBLE 0x1p-32
#define ROUGH 0x1p-18
#define TINY 1e-140

enum { FOURS = LANES / 4 };
typedef double four __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));
typedef union lanes {
    four part[FOURS];
    double lane[LANES]; /* for roots and comparisons, which vectors do not have */
} lanes;

size_t tacit__eigen_batch_scratch(size_t d)
{
    return (d * (d + 1) + d * d + d) * LANES;
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

/* out = x y */
TACIT__INLINE void scale(const lanes *x, const lanes *y, lanes *out)
{
    for (size_t i = 0; i < FOURS; i++)
        out->part[i] = x->part[i] * y->part[i];
}

/* sum += x y */
TACIT__INLINE void accumulate(lanes *sum, const lanes *x, const lanes *y)
{
    for (size_t i = 0; i < FOURS; i++)
        sum->part[i] += x->part[i] * y->part[i];
}

/* --- Eigenvalues --------------------------------------------------------------------------------- */

/* The reflection I - beta u u^T that makes column k vanish below off = a_{k+1,k}, on both sides of what is
 * right of the column; u is left in the column. */
TACIT__INLINE void reflect(size_t d, size_t k, lanes *a, lanes *beta, lanes *off)
{
    lanes square = {0}, inner = {0}, w[TACIT__EIGEN_ORDER];
    for (size_t i = k + 1; i < d; i++)
        accumulate(&square, &a[at(i, k)], &a[at(i, k)]);
    lanes *head = &a[at(k + 1, k)];
    for (size_t l = 0; l < LANES; l++) {
        const double n = square.lane[l], root = copysign(sqrt(n), head->lane[l]),
                     inverse = 1 / (n + head->lane[l] * root);
        beta->lane[l] = n > TINY * TINY ? inverse : 0;
        off->lane[l] = -root;
    }
    for (size_t f = 0; f < FOURS; f++)
        head->part[f] -= off->part[f];
    for (size_t i = k + 1; i < d; i++) {
        lanes sum = {0};
        for (size_t j = k + 1; j < d; j++)
            accumulate(&sum, &a[i > j ? at(i, j) : at(j, i)], &a[at(j, k)]);
        scale(&sum, beta, &w[i]);
        accumulate(&inner, &w[i], &a[at(i, k)]);
    }
    scale(&inner, beta, &inner);
    for (size_t i = k + 1; i < d; i++) {
        for (size_t f = 0; f < FOURS; f++)
            w[i].part[f] -= inner.part[f] / 2 * a[at(i, k)].part[f];
        for (size_t j = k + 1; j <= i; j++)
            for (size_t f = 0; f < FOURS; f++)
                a[at(i, j)].part[f] -=
                    a[at(i, k)].part[f] * w[j].part[f] + w[i].part[f] * a[at(j, k)].part[f];
    }
}

/* Diagonals, what is beside them (and a 0 after it), and in the rows of v the product of the
 * reflections. */
TACIT__INLINE void make_tridiagonal(size_t d, lanes *a, lanes *v, lanes *diagonal, lanes *off)
{
    lanes beta[TACIT__EIGEN_ORDER];
    for (size_t i = 0; i < d * d; i++)
        for (size_t f = 0; f < FOURS; f++)
            v[i].part[f] = (four){0} + (i % (d + 1) == 0);
    for (size_t k = 0; k + 2 < d; k++)
        reflect(d, k, a, &beta[k], &off[k]);
    for (size_t i = 0; i < d; i++)
        diagonal[i] = a[at(i, i)];
    if (d > 1)
        off[d - 2] = a[at(d - 1, d - 2)];
    off[d - 1] = (lanes){0};
    for (size_t k = d > 2 ? d - 2 : 0; k-- > 0;)
        for (size_t j = k + 1; j < d; j++) {
            lanes inner = {0};
            for (size_t i = k + 1; i < d; i++)
                accumulate(&inner, &a[at(i, k)], &v[j * d + i]);
            scale(&inner, &beta[k], &inner);
            for (size_t i = k + 1; i < d; i++)
                for (size_t f = 0; f < FOURS; f++)
                    v[j * d + i].part[f] -= inner.part[f] * a[at(i, k)].part[f];
        }
}

/* The eigenvalue that is nearer to x, of matrices with x and y on the diagonal and the root of e2
 * beside. */
TACIT__INLINE lanes nearer_eigenvalue(const lanes *x, const lanes *y, const lanes *e2)
{
    lanes value;
    for (size_t l = 0; l < LANES; l++) {
        const double b2 = e2->lane[l], half = (y->lane[l] - x->lane[l]) / 2;
        value.lane[l] = x->lane[l] - b2 / (half + copysign(sqrt(half * half + b2) + TINY, half));
    }
    return value;
}

/* A QL step, shifted by `by`, on the rows from n on of the matrices with diagonals x, and e beside
 * them. The rows of v turn along. */
TACIT__INLINE void step(size_t d, size_t n, const lanes *by, lanes *x, lanes *e, lanes *origin,
                        lanes *v)
{
    for (size_t f = 0; f < FOURS; f++) {
        origin->part[f] += by->part[f];
        for (size_t i = n; i < d; i++)
            x[i].part[f] -= by->part[f];
    }
    lanes p = x[d - 1], c, s = {0};
    for (size_t f = 0; f < FOURS; f++)
        c.part[f] = (four){0} + 1;
    for (size_t i = d - 1; i-- > n;) {
        for (size_t l = 0; l < LANES; l++) {
            const double q = p.lane[l] + copysign(TINY, p.lane[l]), b = e[i].lane[l];
            const double root = sqrt(q * q + b * b), inverse = 1 / root;
            const double g = c.lane[l] * b, h = c.lane[l] * q;
            e[i + 1].lane[l] = s.lane[l] * root;
            s.lane[l] = b * inverse;
            c.lane[l] = q * inverse;
            p.lane[l] = c.lane[l] * x[i].lane[l] - s.lane[l] * g;
            x[i + 1].lane[l] = h + s.lane[l] * (c.lane[l] * g + s.lane[l] * x[i].lane[l]);
        }
        for (size_t k = 0; k < d; k++)
            turn(&c, &s, &v[i * d + k], &v[(i + 1) * d + k]);
    }
    scale(&s, &p, &e[n]);
    scale(&c, &p, &x[n]);
}

TACIT__INLINE bool is_any_above(const lanes *x, const lanes *bound)
{
    bool any = false;
    for (size_t l = 0; l < LANES; l++)
        any |= fabs(x->lane[l]) > bound->lane[l];
    return any;
}

/* The same without roots and vectors: e2 is e^2, and x keeps its origin. */
TACIT__INLINE void step_values(size_t d, size_t n, const lanes *by, lanes *x, lanes *e2)
{
    lanes g, p, s = {0};
    for (size_t l = 0; l < LANES; l++) {
        const double last = x[d - 1].lane[l] - by->lane[l];
        g.lane[l] = last + copysign(TINY, last);
        p.lane[l] = g.lane[l] * g.lane[l];
    }
    for (size_t i = d - 1; i-- > n;)
        for (size_t l = 0; l < LANES; l++) {
            const double b2 = e2[i].lane[l], a = x[i].lane[l], before = g.lane[l];
            const double r = p.lane[l] + b2, inverse = 1 / r, secant2 = r / p.lane[l];
            e2[i + 1].lane[l] = s.lane[l] * r;
            s.lane[l] = b2 * inverse;
            const double next = p.lane[l] * inverse * (a - by->lane[l]) - s.lane[l] * before;
            g.lane[l] = next + copysign(TINY, next);
            x[i + 1].lane[l] = before + (a - g.lane[l]);
            p.lane[l] = g.lane[l] * g.lane[l] * secant2;
        }
    for (size_t f = 0; f < FOURS; f++) {
        e2[n].part[f] = s.part[f] * p.part[f];
        x[n].part[f] = by->part[f] + g.part[f];
    }
}

/* The eigenvalues, in the order in which QL finds them, so well that a step shifted by one is enough. */
TACIT__INLINE void find_values(size_t d, const lanes *tol, const lanes *off, lanes *x)
{
    lanes e2[TACIT__EIGEN_ORDER], rough2;
    for (size_t i = 0; i < d; i++)
        scale(&off[i], &off[i], &e2[i]);
    for (size_t f = 0; f < FOURS; f++)
        rough2.part[f] = tol->part[f] * tol->part[f] * (ROUGH / NEGLIGIBLE * (ROUGH / NEGLIGIBLE));
    for (size_t n = 0; n + 1 < d; n++)
        for (int i = 0; i < MOST_STEPS && is_any_above(&e2[n], &rough2); i++) {
            const lanes by = nearer_eigenvalue(&x[n], &x[n + 1], &e2[n]);
            step_values(d, n, &by, x, e2);
        }
}

/* Eigenvalues in x, eigenvectors in the rows of v. `done` becomes false in lanes that did not converge. */
TACIT__INLINE void diagonalize(size_t d, lanes *x, lanes *e, lanes *v, bool done[LANES])
{
    lanes tol = {0}, origin = {0}, value[TACIT__EIGEN_ORDER];
    for (size_t i = 0; i < d; i++)
        for (size_t l = 0; l < LANES; l++) {
            const double row = fabs(x[i].lane[l]) + fabs(e[i].lane[l]), most = tol.lane[l];
            tol.lane[l] = row * NEGLIGIBLE > most ? row * NEGLIGIBLE : most;
        }
    memcpy(value, x, d * sizeof *x);
    find_values(d, &tol, e, value);
    for (size_t n = 0; n < d; n++) {
        lanes by = value[n], e2;
        for (size_t f = 0; f < FOURS; f++)
            by.part[f] -= origin.part[f];
        for (int i = 0; i < MOST_STEPS && is_any_above(&e[n], &tol); i++) {
            if (i > 0) {
                scale(&e[n], &e[n], &e2);
                by = nearer_eigenvalue(&x[n], &x[n + 1], &e2);
            }
            step(d, n, &by, x, e, &origin, v);
        }
        for (size_t l = 0; l < LANES; l++)
            done[l] &= fabs(e[n].lane[l]) <= tol.lane[l];
        for (size_t f = 0; f < FOURS; f++)
            x[n].part[f] += origin.part[f];
    }
}

/* a = sum_j max(x_j, floor) v_j v_j^T */
TACIT__INLINE void rebuild(size_t d, double floor, const lanes *x, const lanes *v, lanes *a)
{
    for (size_t i = 0; i < d * (d + 1) / 2; i++)
        a[i] = (lanes){0};
    for (size_t j = 0; j < d; j++) {
        lanes lambda = {0}, scaled;
        for (size_t l = 0; l < LANES; l++) {
            const double value = x[j].lane[l];
            lambda.lane[l] = value >= floor ? value : floor;
        }
        for (size_t i = 0; i < d; i++) {
            scale(&v[j * d + i], &lambda, &scaled);
            for (size_t k = 0; k <= i; k++)
                accumulate(&a[at(i, k)], &scaled, &v[j * d + k]);
        }
    }
}

/* --- Factors and solutions ----------------------------------------------------------------------- */

/* The packed matrices + add I as lower triangles by rows; good ones in lanes without a matrix. */
TACIT__INLINE void expand(const tacit__eigen_batch *o, lanes *a)
{
    for (size_t i = 0; i < o->d; i++)
        for (size_t j = 0; j <= i; j++) {
            lanes *to = &a[at(i, j)];
            for (size_t l = 0; l < o->n; l++)
                to->lane[l] = o->packed[l * o->stride + at(i, j)];
            for (size_t f = 0; f < FOURS; f++)
                to->part[f] = i == j ? to->part[f] + o->add : to->part[f] / M_SQRT2;
            for (size_t l = o->n; l < LANES; l++)
                to->lane[l] = i == j ? 2 * o->floor : 0;
        }
}

/* Triangles into their factors; `good` stays true in lanes that have one. The operations of tacit__cholesky
 * in its order. */
TACIT__INLINE void factorize(size_t d, lanes *a, bool good[LANES])
{
    for (size_t j = 0; j < d; j++) {
        lanes inverse, *pivot = &a[at(j, j)];
        for (size_t l = 0; l < LANES; l++)
            good[l] &= pivot->lane[l] > 0 && pivot->lane[l] < HUGE_VAL;
        for (size_t l = 0; l < LANES; l++) {
            pivot->lane[l] = sqrt(fabs(pivot->lane[l]));
            inverse.lane[l] = 1 / pivot->lane[l];
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

/* Returns in how many lanes an eigenvalue is not above `floor`: there the factorization of a shifted
 * matrix fails. */
TACIT__INLINE size_t test(size_t d, double floor, const lanes *kept, lanes *a, bool good[LANES])
{
    size_t bad = 0;
    memcpy(a, kept, d * (d + 1) / 2 * sizeof *a);
    for (size_t i = 0; i < d; i++)
        for (size_t f = 0; f < FOURS; f++)
            a[at(i, i)].part[f] -= floor;
    factorize(d, a, good);
    for (size_t l = 0; l < LANES; l++)
        bad += !good[l];
    return bad;
}

/* The nearest matrices with eigenvalues at least `floor` in lanes that are not `good`; `kept` in the
 * others. */
TACIT__INLINE void repair(size_t d, double floor, const bool good[LANES], const lanes *kept,
                          lanes *a, lanes *v, bool done[LANES])
{
    lanes diagonal[TACIT__EIGEN_ORDER], off[TACIT__EIGEN_ORDER];
    make_tridiagonal(d, a, v, diagonal, off);
    diagonalize(d, diagonal, off, v, done);
    rebuild(d, floor, diagonal, v, a);
    for (size_t l = 0; l < LANES; l++)
        if (good[l]) {
            done[l] = true;
            for (size_t i = 0; i < d * (d + 1) / 2; i++)
                a[i].lane[l] = kept[i].lane[l];
        }
}

TACIT__INLINE void write_results(const tacit__eigen_batch *o, const lanes *a, const lanes *x)
{
    const size_t d = o->d;
    for (size_t l = 0; l < o->n; l++)
        for (size_t j = 0; j < d; j++) {
            o->solution[l * d + j] = x[j].lane[l];
            for (size_t i = j; i < d; i++)
                o->factor[(l * d + j) * d + i] = a[at(i, j)].lane[l];
        }
}

TACIT__INLINE size_t fit(const tacit__eigen_batch *o, lanes *a, bool failed[LANES])
{
    const size_t d = o->d, triangle = d * (d + 1) / 2;
    lanes *v = a + triangle, *x = v + d * d, *kept = x + d;
    bool good[LANES], done[LANES];
    for (size_t l = 0; l < LANES; l++)
        good[l] = done[l] = true;
    expand(o, kept);
    const size_t repaired = o->exact ? 0 : test(d, o->floor, kept, a, good);
    memcpy(a, kept, triangle * sizeof *a);
    if (repaired > 0)
        repair(d, o->floor, good, kept, a, v, done);
    factorize(d, a, done);
    for (size_t j = 0; j < d; j++)
        for (size_t l = 0; l < LANES; l++)
            x[j].lane[l] = l < o->n ? o->packed[l * o->stride + triangle + j] : 0;
    solve(d, a, x);
    for (size_t l = 0; l < o->n; l++)
        failed[l] = !done[l];
    write_results(o, a, x);
    return repaired;
}

static size_t fit_base(const tacit__eigen_batch *o, lanes *a, bool failed[LANES])
{
    return fit(o, a, failed);
}

#if TACIT__HAVE_AVX2
TACIT__AVX2 static size_t fit_avx2(const tacit__eigen_batch *o, lanes *a, bool failed[LANES])
{
    return fit(o, a, failed);
}
#endif

size_t tacit__eigen_batch_solve(const tacit__eigen_batch *problem, double *scratch, bool *failed)
{
    TACIT__REQUIRE(problem->d <= TACIT__EIGEN_ORDER && problem->n <= LANES && scratch != NULL &&
                   problem->floor > 0);
    lanes *a = (lanes *)(void *)scratch;
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2())
        return fit_avx2(problem, a, failed);
#endif
    return fit_base(problem, a, failed);
}
