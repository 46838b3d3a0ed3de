/* Every loop over lanes is a few vector operations. Four lanes are a vector of AVX2; four of those wait
 * for roots and quotients together.
 *
 * Eigenvalues are found in lockstep, as in EISPACK's tred2 and tql2: Householder's reflections make all
 * matrices tridiagonal, and QL steps with explicit shifts, each lane with its own, make the entries off the
 * diagonal vanish one after the other. All lanes work on the same entry until it is negligible in each of
 * them; a lane that is done keeps stepping, which changes nothing that matters. For d = 6 all of it takes 0.4
 * microseconds a matrix (0.6 with rotations of Jacobi), against 3.5 for a call of dsyevd.
 *
 * Nothing is divided by 0: a number that may vanish is first moved away from 0 by TINY, whose square is still
 * a normal number, so that reflections and rotations stay orthogonal. */
#include "linalg/lanes.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"

enum { LANES = TACIT__LANES, MOST_STEPS = 30 }; /* EISPACK's; noise needs three for an entry */

/* Of an entry off the diagonal, in the norm of the matrix, which is then right to nine digits. */
#define NEGLIGIBLE 0x1p-32
#define TINY 1e-140

enum { FOURS = LANES / 4 };
typedef double four __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double))));
typedef union lanes {
    four part[FOURS];
    double lane[LANES]; /* for roots and comparisons, which vectors do not have */
} lanes;

size_t tacit__lanes_scratch(size_t d)
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
    lanes square = {0}, inner = {0}, w[TACIT__LANES_ORDER];
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

/* Diagonals, what is beside them (and a 0 after it), and in the rows of v the product of the reflections. */
TACIT__INLINE void make_tridiagonal(size_t d, lanes *a, lanes *v, lanes *diagonal, lanes *off)
{
    lanes beta[TACIT__LANES_ORDER];
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

/* Subtracts the eigenvalue of the first two rows from n on that is nearer to x[n]. Those two become
 * e^2 / root and root, with the other eigenvalue's distance as root. */
TACIT__INLINE void move_origin(size_t d, size_t n, const lanes *e, lanes *x, lanes *origin)
{
    lanes root, by;
    for (size_t l = 0; l < LANES; l++) {
        const double b = e[n].lane[l], half = (x[n + 1].lane[l] - x[n].lane[l]) / 2;
        root.lane[l] = half + copysign(sqrt(half * half + b * b) + TINY, half);
        by.lane[l] = x[n].lane[l] - b * b / root.lane[l];
    }
    for (size_t f = 0; f < FOURS; f++) {
        x[n].part[f] -= by.part[f];
        x[n + 1].part[f] = root.part[f];
        for (size_t i = n + 2; i < d; i++)
            x[i].part[f] -= by.part[f];
        origin->part[f] += by.part[f];
    }
}

/* A QL step on the rows from n on of the matrices with diagonals x, and e beside them. */
TACIT__INLINE void step(size_t d, size_t n, lanes *x, lanes *e, lanes *origin, lanes *v)
{
    const lanes first = e[n], second = e[n + 1];
    move_origin(d, n, e, x, origin);
    const lanes next = x[n + 1];
    lanes p = x[d - 1], c, s = {0}, c_before, s_before = {0}, c_first;
    for (size_t f = 0; f < FOURS; f++)
        c.part[f] = c_before.part[f] = c_first.part[f] = (four){0} + 1;
    for (size_t i = d - 1; i-- > n;) {
        c_first = c_before;
        c_before = c;
        s_before = s;
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
    for (size_t f = 0; f < FOURS; f++) { /* p without cancellation */
        const four last = -s.part[f] * s_before.part[f] * c_first.part[f] * second.part[f] *
                          first.part[f] / next.part[f];
        e[n].part[f] = s.part[f] * last;
        x[n].part[f] = c.part[f] * last;
    }
}

TACIT__INLINE bool is_any_above(const lanes *x, const lanes *bound)
{
    bool any = false;
    for (size_t l = 0; l < LANES; l++)
        any |= fabs(x->lane[l]) > bound->lane[l];
    return any;
}

/* Eigenvalues in x, eigenvectors in the rows of v. `done` becomes false in lanes that did not converge. */
TACIT__INLINE void diagonalize(size_t d, lanes *x, lanes *e, lanes *v, bool done[LANES])
{
    lanes origin = {0}, tol = {0};
    for (size_t i = 0; i < d; i++)
        for (size_t l = 0; l < LANES; l++) {
            const double row = fabs(x[i].lane[l]) + fabs(e[i].lane[l]), most = tol.lane[l];
            tol.lane[l] = row * NEGLIGIBLE > most ? row * NEGLIGIBLE : most;
        }
    for (size_t n = 0; n < d; n++) {
        for (int i = 0; i < MOST_STEPS && is_any_above(&e[n], &tol); i++)
            step(d, n, x, e, &origin, v);
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
TACIT__INLINE void expand(const tacit__lanes_problem *o, lanes *a)
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

/* In how many lanes an eigenvalue is not above `floor`: there the factorization of a shifted matrix fails. */
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
    lanes diagonal[TACIT__LANES_ORDER], off[TACIT__LANES_ORDER];
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

TACIT__INLINE void write_results(const tacit__lanes_problem *o, const lanes *a, const lanes *x)
{
    const size_t d = o->d;
    for (size_t l = 0; l < o->n; l++)
        for (size_t j = 0; j < d; j++) {
            o->solution[l * d + j] = x[j].lane[l];
            for (size_t i = j; i < d; i++)
                o->factor[(l * d + j) * d + i] = a[at(i, j)].lane[l];
        }
}

TACIT__INLINE size_t fit(const tacit__lanes_problem *o, lanes *a, bool failed[LANES])
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
    TACIT__REQUIRE(problem->d <= TACIT__LANES_ORDER && problem->n <= LANES && scratch != NULL &&
                   problem->floor > 0);
    lanes *a = (lanes *)(void *)scratch;
#if TACIT__HAVE_AVX2
    if (tacit__cpu_has_avx2())
        return fit_avx2(problem, a, failed);
#endif
    return fit_base(problem, a, failed);
}
