/* The largest movement of one step, from the public table: best first through boxes of value
 * functions. See table_reach.h.
 *
 * Two users meet the same v, so that with x = A v, x' = A' v, targets y, y' among the values of v, and
 *
 *     U = |x - x'|^2,   M = |x + x'|^2,   e = |x|^2 - |x'|^2 = (x - x') . (x + x'),
 *
 * the squared distance is exactly
 *
 *     |x x^T - x' x'^T|^2 + c^2 |x y - x' y'|^2 = (U M + e^2) / 2 + c^2 |x y - x' y'|^2:
 *
 * write d = x - x', m = x + x'; then x x^T - x' x'^T = (d m^T + m d^T) / 2, whose square is (U M +
 * (d . m)^2) / 2.
 *
 * A box gives each v(s') an interval of half width h(s'). Within it
 *
 *   U M   t U + M / t is convex in v, hence largest at a corner of the box; U M <= (t U + M / t)^2 / 4 for every t > 0.
 *   e     v^T Q v with Q = A^T A - A'^T A'. Where Q(s', s') < 0, replace -v^2 by its tangent in the middle, which is h^2 more at both
 *         ends and never less between; then it is convex in each v(s') by itself, hence largest at a corner. The same for
 *         -e. And e^2 <= U M.
 *   y     all values lie in [a, b], the hull of the intervals. |x y - x' y'|^2 is convex in (y, y'), hence largest at
 *         y, y' in {a, b}, and then convex in v: largest at a corner.
 *   w     weights w, w' multiply all that a user adds, so the distance is convex in them and largest at w, w' in {0, 1}: one user
 *         alone, |x|^4 + c^2 |x|^2 y^2, is one more candidate, and again largest at a corner.
 *
 * Every box's bound is the sum of these. The box with the largest bound is halved where it is
 * longest until no bound is more than TOL above the largest distance that was found, or the work is
 * done; the largest bound of what is left then holds for all v, whenever the search stops. v and -v
 * are the same if low is -1: half of the first state's interval is enough. States that no part of
 * either pair leads to move no feature; their values may be anything, so [a, b] is all of [low, 1]
 * if there are any.
 *
 * Cost: 2^n corners of 5 d flops a box, n states that the two pairs lead to. On `lock` (d 4, S 3,
 * 12 pairs) some 1000 boxes. */
#include "contribute/table_reach.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    MOST_STATES = 10,     /* next states of two pairs: 1024 corners a box */
    MOST_BOXES = 1 << 16, /* that wait; 6 MB */
    DIRECTIONS = 5        /* values of t around sqrt(M / U), by factors of sqrt(2) */
};

#define TOL 0.01       /* of the squared distance: half a percent of the noise */
#define MOST_FLOPS 1e8 /* some 50 ms */
#define ROUNDING 1e-9  /* of sums of at most 10^4 products */

/* Halves of [-1, 1] and [0, 1], again and again: exact in floats. */
typedef struct box {
    double bound;
    uint32_t first, second; /* pairs */
    float middle[MOST_STATES], half[MOST_STATES];
} box;

typedef struct search {
    const tacit__part_table *t;
    double square;      /* c^2 */
    double *rows;       /* [pair][next state][width] */
    double *columns[2]; /* [MOST_STATES][width]: of the two pairs, states that either leads to */
    double *image[2];   /* [width]: x and x' */
    double *u, *m;      /* [corner] */
    size_t n;           /* states that either pair leads to */
    bool others;        /* there are states that neither leads to */
    double found;       /* the largest distance found */
    double flops;
    box *heap;
    size_t boxes, room;
} search;

/* --- The distance of two users -------------------------------------------------------------------- */

/* fmax and fmin are calls, because of what they say of NaN. Nothing here is one, and this is the inner loop
 * when a learner is created. */
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

typedef struct products {
    double xx, yy, xy; /* x . x, x' . x', x . x' */
} products;

static products multiply(const search *s)
{
    products p = {0, 0, 0};
    for (size_t j = 0; j < s->t->width; j++) {
        double x = s->image[0][j], y = s->image[1][j];
        p.xx += x * x;
        p.yy += y * y;
        p.xy += x * y;
    }
    return p;
}

/* The largest |x y - x' y'|^2 for y, y' in [a, b]. */
static double response(const products *p, double a, double b)
{
    double far = larger(a * a, b * b) * (p->xx + p->yy - 2 * p->xy);
    double one = a * a * p->xx + b * b * p->yy - 2 * a * b * p->xy;
    double other = b * b * p->xx + a * a * p->yy - 2 * a * b * p->xy;
    return larger(far, larger(one, other));
}

static double distance_alone(const search *s, double xx, double a, double b)
{
    return xx * xx + s->square * xx * larger(a * a, b * b);
}

static double distance(const search *s, const products *p, double a, double b)
{
    double gram = p->xx * p->xx + p->yy * p->yy - 2 * p->xy * p->xy;
    double both = gram + s->square * response(p, a, b);
    return s->t->weighted ? larger(both, distance_alone(s, larger(p->xx, p->yy), a, b)) : both;
}

/* The images of v. */
static void apply(search *s, const double *v)
{
    const size_t d = s->t->width;
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < d; j++) {
            s->image[i][j] = 0;
            for (size_t k = 0; k < s->n; k++)
                s->image[i][j] += s->columns[i][k * d + j] * v[k];
        }
}

static void try_values(search *s, const double *v)
{
    double a = s->others ? s->t->low : 1, b = s->others ? 1 : s->t->low;
    for (size_t k = 0; k < s->n; k++) {
        a = smaller(a, v[k]);
        b = larger(b, v[k]);
    }
    apply(s, v);
    products p = multiply(s);
    s->found = larger(s->found, distance(s, &p, a, b));
}

/* --- The bound of a box ----------------------------------------------------------------------------- */

static bool is_zero(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0)
            return false;
    return true;
}

/* The columns of a pair of pairs. False: there are more states than can be searched. */
static bool gather(search *s, uint32_t first, uint32_t second)
{
    const size_t d = s->t->width, S = s->t->n_states;
    s->n = 0;
    s->others = false;
    for (size_t next = 0; next < S; next++) {
        const double *x = s->rows + (first * S + next) * d, *y = s->rows + (second * S + next) * d;
        if (is_zero(x, d) && is_zero(y, d)) {
            s->others = true;
            continue;
        }
        if (s->n == MOST_STATES)
            return false;
        memcpy(s->columns[0] + s->n * d, x, d * sizeof *x);
        memcpy(s->columns[1] + s->n * d, y, d * sizeof *y);
        s->n++;
    }
    return true;
}

/* sum over states of h^2 max(0, -Q(s', s')) and of h^2 max(0, Q(s', s')). */
static void curvature(const search *s, const box *b, double out[2])
{
    const size_t d = s->t->width;
    out[0] = out[1] = 0;
    for (size_t k = 0; k < s->n; k++) {
        double q = 0, h = (double)b->half[k];
        for (size_t j = 0; j < d; j++) {
            double x = s->columns[0][k * d + j], y = s->columns[1][k * d + j];
            q += x * x - y * y;
        }
        out[q > 0] += h * h * fabs(q);
    }
}

/* What all corners of a box say, and the corner that is farthest out. */
typedef struct corners {
    double u, m, longest; /* largest U, M, |x|^2 */
    double rise, fall;    /* largest e, largest -e */
    double response;
    double farthest;
    size_t where;
} corners;

static void visit_corner(const search *s, size_t i, size_t where, double a, double b, corners *c)
{
    products p = multiply(s);
    double u = larger(p.xx + p.yy - 2 * p.xy, 0), m = larger(p.xx + p.yy + 2 * p.xy, 0);
    double r = response(&p, a, b), far = distance(s, &p, a, b);
    s->u[i] = u;
    s->m[i] = m;
    c->u = larger(c->u, u);
    c->m = larger(c->m, m);
    c->longest = larger(c->longest, larger(p.xx, p.yy));
    c->rise = larger(c->rise, p.xx - p.yy);
    c->fall = larger(c->fall, p.yy - p.xx);
    c->response = larger(c->response, r);
    if (far > c->farthest) {
        c->farthest = far;
        c->where = where;
    }
}

/* All corners in the order of a Gray code, so that one state changes at a time. */
static corners visit_corners(search *s, const box *in, double a, double b)
{
    const size_t d = s->t->width, n = (size_t)1 << s->n;
    double v[MOST_STATES] = {0};
    corners c = {.rise = -HUGE_VAL, .fall = -HUGE_VAL};
    for (size_t k = 0; k < s->n; k++)
        v[k] = (double)in->middle[k] - (double)in->half[k];
    apply(s, v);
    for (size_t i = 0, code = 0; i < n; i++) {
        if (i > 0) {
            size_t k = (size_t)__builtin_ctzll(i);
            code ^= (size_t)1 << k;
            double by = 2 * (double)in->half[k] * (code >> k & 1 ? 1 : -1);
            for (size_t j = 0; j < d; j++) {
                s->image[0][j] += by * s->columns[0][k * d + j];
                s->image[1][j] += by * s->columns[1][k * d + j];
            }
        }
        visit_corner(s, i, code, a, b, &c);
    }
    return c;
}

/* The least (t U + M / t)^2 / 4 of a few t. */
static double bound_product(const search *s, const corners *c)
{
    double least = c->u * c->m, t = sqrt(c->m / c->u) / 2;
    for (int i = 0; i < DIRECTIONS && least > 0; i++, t *= M_SQRT2) {
        double most = 0, inverse = 1 / t;
        for (size_t k = 0; k < (size_t)1 << s->n; k++) {
            double sum = t * s->u[k] + inverse * s->m[k];
            most = sum > most ? sum : most;
        }
        least = smaller(least, most * most / 4);
    }
    return least;
}

/* Of a box whose columns are gathered. */
static void bound_box(search *s, box *in)
{
    double a = s->others ? s->t->low : 1, b = s->others ? 1 : s->t->low, bent[2];
    double v[MOST_STATES] = {0};
    for (size_t k = 0; k < s->n; k++) {
        a = smaller(a, (double)in->middle[k] - (double)in->half[k]);
        b = larger(b, (double)in->middle[k] + (double)in->half[k]);
        v[k] = (double)in->middle[k];
    }
    try_values(s, v);
    corners c = visit_corners(s, in, a, b);
    for (size_t k = 0; k < s->n; k++)
        v[k] += (double)in->half[k] * (c.where >> k & 1 ? 1 : -1);
    try_values(s, v);
    curvature(s, in, bent);
    double product = bound_product(s, &c),
           e = larger(larger(c.rise + bent[0], c.fall + bent[1]), 0);
    double bound = (product + smaller(e * e, product)) / 2 + s->square * c.response;
    if (s->t->weighted)
        bound = larger(bound, distance_alone(s, c.longest, a, b));
    in->bound = smaller(in->bound, bound * (1 + ROUNDING));
    s->flops += ldexp(5 * (double)s->t->width + 2 * DIRECTIONS, (int)s->n);
}

/* --- The search ------------------------------------------------------------------------------------- */

static tacit_status grow(search *s)
{
    size_t room = s->room > 0 ? 2 * s->room : 256;
    box *heap = tacit__alloc(room, sizeof *heap);
    if (heap == NULL)
        return TACIT_NO_MEMORY;
    if (s->boxes > 0)
        memcpy(heap, s->heap, s->boxes * sizeof *heap);
    tacit__free(s->heap);
    s->heap = heap;
    s->room = room;
    return TACIT_OK;
}

static tacit_status push(search *s, const box *new)
{
    TRY(s->boxes == s->room ? grow(s) : TACIT_OK);
    size_t i = s->boxes++;
    for (; i > 0 && s->heap[(i - 1) / 2].bound < new->bound; i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = *new;
    return TACIT_OK;
}

static box pop(search *s)
{
    box top = s->heap[0], last = s->heap[--s->boxes];
    size_t i = 0;
    for (size_t child = 1; child < s->boxes; child = 2 * i + 1) {
        if (child + 1 < s->boxes && s->heap[child + 1].bound > s->heap[child].bound)
            child++;
        if (s->heap[child].bound <= last.bound)
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

/* A box for each pair of pairs. TOO_LARGE: too many pairs, or too many states. */
static tacit_status open_boxes(search *s)
{
    const uint32_t pairs = (uint32_t)s->t->pairs;
    const bool symmetric = s->t->low < 0;
    for (uint32_t i = 0; i < pairs; i++)
        for (uint32_t j = i; j < pairs; j++) {
            box b = {.bound = HUGE_VAL, .first = i, .second = j};
            if (!gather(s, i, j) || s->flops > MOST_FLOPS / 2)
                return TACIT_TOO_LARGE;
            for (size_t k = 0; k < s->n; k++) {
                bool whole = symmetric && k > 0;
                b.middle[k] = whole ? 0 : 0.5F;
                b.half[k] = whole ? 1 : 0.5F;
            }
            bound_box(s, &b);
            TRY(push(s, &b));
        }
    return TACIT_OK;
}

/* The state whose interval, times what it does to the features, is longest; its value counts as a target
 * too. */
static size_t choose_state(const search *s, const box *b)
{
    const size_t d = s->t->width;
    size_t best = 0;
    double most = -1;
    for (size_t k = 0; k < s->n; k++) {
        double squares = 0;
        for (size_t j = 0; j < d; j++) {
            double x = s->columns[0][k * d + j], y = s->columns[1][k * d + j];
            squares += x * x + y * y;
        }
        double length = (double)b->half[k] * (sqrt(squares) + 0.1 * sqrt(s->square));
        if (length > most) {
            most = length;
            best = k;
        }
    }
    return best;
}

static tacit_status refine(search *s, double *out)
{
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK && s->boxes > 0 && s->boxes < MOST_BOXES && s->flops < MOST_FLOPS &&
           s->heap[0].bound > s->found * (1 + TOL)) {
        box b = pop(s);
        (void)gather(s, b.first, b.second);
        size_t k = choose_state(s, &b);
        b.half[k] /= 2;
        for (int side = -1; side <= 1 && status == TACIT_OK; side += 2) {
            box half = b;
            half.middle[k] += (float)side * b.half[k];
            bound_box(s, &half);
            if (half.bound > s->found)
                status = push(s, &half);
        }
    }
    *out = larger(s->found * (1 + ROUNDING), s->boxes > 0 ? s->heap[0].bound : 0);
    return status;
}

static tacit_status create(search *s)
{
    const size_t d = s->t->width, S = s->t->n_states, pairs = s->t->pairs;
    const size_t scratch = 2 * (MOST_STATES + 1) * d + ((size_t)2 << MOST_STATES);
    s->rows = tacit__alloc(pairs * S * d + scratch, sizeof *s->rows);
    if (s->rows == NULL)
        return TACIT_NO_MEMORY;
    double *at = s->rows + pairs * S * d;
    for (int i = 0; i < 2; i++, at += (MOST_STATES + 1) * d) {
        s->columns[i] = at;
        s->image[i] = at + MOST_STATES * d;
    }
    s->u = at;
    s->m = at + ((size_t)1 << MOST_STATES);
    for (size_t next = 0; next < S; next++)
        for (size_t j = 0; j < d; j++)
            for (size_t p = 0; p < pairs; p++)
                s->rows[(p * S + next) * d + j] = s->t->parts[(next * d + j) * pairs + p];
    return TACIT_OK;
}

tacit_status tacit__table_reach(const tacit__part_table *t, double ratio, double *out)
{
    TACIT__REQUIRE(t->pairs > 0 && ratio >= 0);
    search s = {.t = t, .square = ratio * ratio};
    const double pairs = (double)t->pairs;
    *out = HUGE_VAL;
    if (pairs * (pairs + 1) > MOST_BOXES)
        return TACIT_OK;
    double reach = HUGE_VAL;
    tacit_status status = create(&s);
    if (status == TACIT_OK)
        status = open_boxes(&s);
    if (status == TACIT_OK)
        status = refine(&s, &reach);
    tacit__free(s.rows);
    tacit__free(s.heap);
    if (status == TACIT_OK)
        *out = reach;
    return status == TACIT_TOO_LARGE ? TACIT_OK : status;
}
