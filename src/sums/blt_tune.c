/* Tuning of the buffered linear Toeplitz strategy [DMPST24].
 *
 * With poles a_j and zeros b_j of C the coefficients are sums of geometric series,
 *     c_0 = 1,  c_n = sum_j omega_j a_j^n,   omega_j = prod_i (1 - b_i/a_j) / prod_{i/=j} (1 - a_i/a_j),
 *     B(x) = 1/((1-x) C(x)):  r_n = kappa + sum_j v_j b_j^n,   kappa = prod (1-a_j) / prod (1-b_j),
 *     v_j = prod_i (1 - a_i/b_j) / prod_{i/=j} (1 - b_i/b_j) / (1 - 1/b_j),
 * so both squared norms are double sums over buffers of q (1 - q^n) / (1 - q), evaluated through 1 - a and
 * 1 - b to keep their digits. Rows of B grow, so the last is the largest.
 *
 * Search: Nelder-Mead on the logarithms of the 2 n gaps, from a geometric start between 1/K and 0.6 (the
 * optimum is close to that), restarted until it stops improving. The interlacing is built into the
 * coordinates. About 2,000 evaluations of 2 microseconds. The answer need not be optimal: whatever it is,
 * the norm that is charged is certified in blt.c.
 *
 * Several visits (blt_norm.c has the column): the optimum moves one gap toward 0 and the others
 * toward 1 / apart, so there are several starts. Learners learn long before the last user, so what
 * is minimized then is the mean of the logarithms of the errors at K/100, K/50, .., K, with a
 * penalty where the last one is more than SLACK above the least that was found for it alone. */
#include "sums/blt_tune.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"

enum { MAX_POINTS = 2 * TACIT__MAX_BUFFERS };

/* 1 - a_j above this does not fit blt.c's 31-bit fixed point; the optimum stays far below. */
#define LARGEST_GAP 0.499
#define SLACK 1.015
#define PENALTY 1000

void tacit__blt_residues(const tacit__blt *blt, double omega[TACIT__MAX_BUFFERS])
{
    TACIT__REQUIRE(blt->buffers <= TACIT__MAX_BUFFERS);
    for (unsigned j = 0; j < blt->buffers; j++) {
        double alpha = blt->one_minus_a[j], value = 1;
        for (unsigned i = 0; i < blt->buffers; i++) {
            value *= (blt->one_minus_b[i] - alpha) / (1 - alpha);
            if (i != j)
                value /= (blt->one_minus_a[i] - alpha) / (1 - alpha);
        }
        omega[j] = value;
    }
}

/* sum_{n=0}^{count-1} q^n for q = (1 - x)(1 - y). */
static double geometric(double x, double y, double count)
{
    double gap = fmin(x + y - x * y, 1 - 0x1p-53); /* q = 0 would be no power of 0 */
    return gap < 1e-300 ? count : -expm1(count * log1p(-gap)) / gap;
}

static double column_square(const tacit__blt *blt, double users)
{
    TACIT__REQUIRE(users >= 1);
    double omega[TACIT__MAX_BUFFERS], sum = 1;
    tacit__blt_residues(blt, omega);
    for (unsigned i = 0; i < blt->buffers; i++)
        for (unsigned j = 0; j < blt->buffers; j++) {
            double x = blt->one_minus_a[i], y = blt->one_minus_a[j];
            sum += omega[i] * omega[j] * (1 - x) * (1 - y) * geometric(x, y, users - 1);
        }
    return sum;
}

enum { NODES = 64 };

/* Visits, from 0, at which the square is computed, and their weights: all, or those of Simpson's
 * rule, which is exact enough to compare. Returns how many. */
static int choose_nodes(double most, double at[NODES + 1], double weight[NODES + 1])
{
    if (most <= NODES) {
        for (int i = 0; i < (int)most; i++) {
            at[i] = i;
            weight[i] = 1;
        }
        return (int)most;
    }
    for (int i = 0; i <= NODES; i++) {
        at[i] = (most - 1) * i / NODES;
        weight[i] = (i == 0 || i == NODES ? 1 : i % 2 == 1 ? 4 : 2) * most / (3 * NODES);
    }
    return NODES + 1;
}

/* The square of the columns of all visits together (blt_norm.c): for visit l, 1 + omega' E omega +
 * 2 sum_p h_p omega_p (1 + (E omega)_p). */
static double visits_square(const tacit__blt *blt, double users, const tacit__returning *v)
{
    double omega[TACIT__MAX_BUFFERS], at[NODES + 1], weight[NODES + 1], sum = 0;
    const double apart = (double)v->apart;
    const int n = choose_nodes((double)v->most, at, weight);
    tacit__blt_residues(blt, omega);
    for (int i = 0; i < n; i++)
        sum += weight[i];
    for (unsigned p = 0; p < blt->buffers; p++) {
        const double x = blt->one_minus_a[p], gap = -expm1(apart * log1p(-x));
        double before[NODES + 1]; /* 1 for the visit itself, 2 h for those before it */
        for (int i = 0; i < n; i++) {
            before[i] = 2 * (1 - gap) * geometric(gap, 0, at[i]) * omega[p];
            sum += weight[i] * before[i];
        }
        for (unsigned q = 0; q < blt->buffers; q++) {
            const double y = blt->one_minus_a[q], both = x + y - x * y;
            const double scale = omega[q] * (1 - both) / both, rate = log1p(-both);
            for (int i = 0; i < n; i++)
                sum -= weight[i] * (omega[p] + before[i]) * scale *
                       expm1((users - at[i] * apart - 1) * rate);
        }
    }
    return sum;
}

double tacit__blt_row_square(const tacit__blt *blt, double users)
{
    TACIT__REQUIRE(users >= 1);
    double weight[TACIT__MAX_BUFFERS + 1], gap[TACIT__MAX_BUFFERS + 1];
    unsigned n = blt->buffers;
    weight[n] = 1; /* kappa: the pole at 1 */
    gap[n] = 0;
    for (unsigned j = 0; j < n; j++)
        weight[n] *= blt->one_minus_a[j] / blt->one_minus_b[j];
    for (unsigned j = 0; j < n; j++) {
        /* b = 0 would be 0 / 0 */
        double beta = gap[j] = blt->one_minus_b[j] == 1 ? 1 - 0x1p-53 : blt->one_minus_b[j];
        weight[j] = -(1 - beta) / beta;
        for (unsigned i = 0; i < n; i++) {
            weight[j] *= (blt->one_minus_a[i] - beta) / (1 - beta);
            if (i != j)
                weight[j] /= (blt->one_minus_b[i] - beta) / (1 - beta);
        }
    }
    double sum = 0;
    for (unsigned i = 0; i <= n; i++)
        for (unsigned j = 0; j <= n; j++)
            sum += weight[i] * weight[j] * geometric(gap[i], gap[j], users);
    return sum;
}

double tacit__blt_error(const tacit__blt *blt, uint64_t users, const tacit__returning *visits)
{
    const double k = (double)users;
    const double column = visits->most > 1 ? visits_square(blt, k, visits) : column_square(blt, k);
    return sqrt(column * tacit__blt_row_square(blt, k));
}

/* Coordinates: y_0 = log of the first gap, y_i = log of the i-th step between log gaps. */
static bool from_coordinates(const double *y, unsigned buffers, tacit__blt *blt)
{
    TACIT__REQUIRE(buffers > 0 && buffers <= TACIT__MAX_BUFFERS);
    double log_gap = y[0];
    blt->buffers = buffers;
    for (unsigned i = 0; i < 2 * buffers; i++) {
        log_gap += i == 0 ? 0 : exp(y[i]);
        double gap = exp(log_gap);
        if (!(gap > 0 && gap < (i % 2 == 0 ? LARGEST_GAP : 1)))
            return false;
        if (i % 2 == 0)
            blt->one_minus_a[i / 2] = gap;
        else
            blt->one_minus_b[i / 2] = gap;
    }
    return true;
}

/* The function that is minimized. */
typedef struct goal {
    uint64_t users;
    tacit__returning visits;
    double least; /* of the last prefix's error; 0: that is what is minimized */
} goal;

/* The mean logarithm of the errors while learners learn. `last`: that of the last prefix. */
static double learning_error(const tacit__blt *blt, const goal *g, double last)
{
    static const double parts[] = {100, 50, 25, 10, 5, 2.5, 1};
    enum { PARTS = sizeof parts / sizeof *parts };
    const double users = (double)g->users;
    double sum = 0;
    for (size_t i = 0; i < PARTS; i++)
        sum += log(tacit__blt_row_square(blt, fmax(1, users / parts[i]))) / 2;
    const double column = last - log(tacit__blt_row_square(blt, users)) / 2;
    const double excess = fmax(0, last - log(g->least * SLACK));
    return column + sum / PARTS + PENALTY * excess * excess;
}

static double objective(const double *y, unsigned buffers, const goal *g)
{
    tacit__blt blt;
    if (!from_coordinates(y, buffers, &blt))
        return HUGE_VAL;
    const double error = tacit__blt_error(&blt, g->users, &g->visits);
    if (!(isfinite(error) && error > 0))
        return HUGE_VAL;
    const double value = g->least > 0 ? learning_error(&blt, g, log(error)) : log(error);
    return isfinite(value) ? value : HUGE_VAL;
}

typedef struct simplex {
    unsigned dimension, buffers;
    const goal *goal;
    double point[MAX_POINTS + 1][MAX_POINTS], value[MAX_POINTS + 1];
} simplex;

static void start_simplex(simplex *s, const double *origin, double size)
{
    for (unsigned i = 0; i <= s->dimension; i++) {
        memcpy(s->point[i], origin, s->dimension * sizeof *origin);
        if (i > 0)
            s->point[i][i - 1] += size;
        s->value[i] = objective(s->point[i], s->buffers, s->goal);
    }
}

/* The point at center + t * (worst - center), and its value. */
static double reflect(const simplex *s, const double *center, unsigned worst, double t, double *out)
{
    for (unsigned j = 0; j < s->dimension; j++)
        out[j] = center[j] + t * (s->point[worst][j] - center[j]);
    return objective(out, s->buffers, s->goal);
}

static void replace(simplex *s, unsigned i, const double *point, double value)
{
    memcpy(s->point[i], point, s->dimension * sizeof *point);
    s->value[i] = value;
}

static void shrink(simplex *s, unsigned best)
{
    for (unsigned i = 0; i <= s->dimension; i++) {
        if (i == best)
            continue;
        for (unsigned j = 0; j < s->dimension; j++)
            s->point[i][j] = (s->point[i][j] + s->point[best][j]) / 2;
        s->value[i] = objective(s->point[i], s->buffers, s->goal);
    }
}

/* One Nelder-Mead step with the usual coefficients; false when the values agree to `tol`. */
static bool step_simplex(simplex *s, double tol)
{
    unsigned best = 0, worst = 0;
    for (unsigned i = 1; i <= s->dimension; i++) {
        best = s->value[i] < s->value[best] ? i : best;
        worst = s->value[i] > s->value[worst] ? i : worst;
    }
    double second = -HUGE_VAL, center[MAX_POINTS] = {0}, trial[MAX_POINTS] = {0};
    double other[MAX_POINTS] = {0};
    for (unsigned i = 0; i <= s->dimension; i++) {
        if (i == worst)
            continue;
        second = fmax(second, s->value[i]);
        for (unsigned j = 0; j < s->dimension; j++)
            center[j] += s->point[i][j] / s->dimension;
    }
    if (s->value[worst] - s->value[best] < tol)
        return false;
    double value = reflect(s, center, worst, -1, trial);
    if (value < s->value[best]) {
        double further = reflect(s, center, worst, -2, other);
        if (further < value)
            replace(s, worst, other, further);
        else
            replace(s, worst, trial, value);
    } else if (value < second) {
        replace(s, worst, trial, value);
    } else {
        double inside = reflect(s, center, worst, value < s->value[worst] ? -0.5 : 0.5, other);
        if (inside < fmin(value, s->value[worst]))
            replace(s, worst, other, inside);
        else
            shrink(s, best);
    }
    return true;
}

/* The least value near the point y, which moves there. */
static double minimize(double y[MAX_POINTS], unsigned buffers, const goal *g)
{
    simplex s = {.dimension = 2 * buffers, .buffers = buffers, .goal = g};
    double value = objective(y, buffers, g);
    for (int restart = 0; restart < 6; restart++) {
        start_simplex(&s, y, restart % 2 == 0 ? 0.2 : -0.1);
        for (int i = 0; i < 1000 && step_simplex(&s, 1e-6); i++)
            continue;
        double before = value;
        for (unsigned i = 0; i <= s.dimension; i++)
            if (s.value[i] < value) {
                value = s.value[i];
                memcpy(y, s.point[i], s.dimension * sizeof *y);
            }
        if (before - value < 1e-5)
            break;
    }
    return value;
}

/* Gaps in geometric progression from `first` to 0.6. */
static void start_at(double first, unsigned buffers, double y[MAX_POINTS])
{
    const double last = 0.6;
    y[0] = log(first);
    for (unsigned i = 1; i < 2 * buffers; i++)
        y[i] = log(log(last / first) / (2 * buffers - 1));
}

static tacit__blt search_one_visit(const goal *g)
{
    tacit__blt best = {0};
    double least = HUGE_VAL;
    for (unsigned buffers = 1; buffers <= TACIT__MAX_BUFFERS; buffers++) {
        tacit__blt found = {0};
        double y[MAX_POINTS];
        start_at(fmin(1.2 / (double)g->users, 0.3), buffers, y);
        (void)minimize(y, buffers, g);
        (void)from_coordinates(y, buffers, &found);
        const double error = tacit__blt_error(&found, g->users, &g->visits);
        if (!(error < least / 1.002))
            break;
        best = found;
        least = error;
    }
    return best;
}

/* Drops the pole and the zero after it that are nearest to each other. */
static void drop_nearest(double y[MAX_POINTS], unsigned buffers)
{
    TACIT__REQUIRE(buffers > 1);
    unsigned nearest = 0;
    for (unsigned j = 1; j < buffers; j++)
        nearest = y[2 * j + 1] < y[2 * nearest + 1] ? j : nearest;
    const unsigned at = 2 * nearest, n = 2 * buffers;
    if (nearest == 0) { /* the first gap is given by itself */
        y[0] += exp(y[1]) + exp(y[2]);
        memmove(y + 1, y + 3, (n - 3) * sizeof *y);
    } else {
        if (at + 2 < n)
            y[at + 2] = log(exp(y[at]) + exp(y[at + 1]) + exp(y[at + 2]));
        memmove(y + at, y + at + 2, (n - at - 2) * sizeof *y);
    }
}

/* All buffers from several starts, for the last prefix alone; from there for the time of learning;
 * then as few buffers as come within 0.2 %. */
static tacit__blt search_visits(goal *g)
{
    const double users = (double)g->users, apart = (double)g->visits.apart;
    const double starts[] = {1.2 / users, 1.2 / (apart * (double)g->visits.most), 1.2 / apart,
                             0.3 / apart};
    unsigned buffers = TACIT__MAX_BUFFERS;
    double best[MAX_POINTS] = {0}, least = HUGE_VAL;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        double y[MAX_POINTS];
        start_at(fmin(starts[i], 0.2), buffers, y);
        const double found = minimize(y, buffers, g);
        if (found < least) {
            least = found;
            memcpy(best, y, sizeof best);
        }
    }
    g->least = exp(least);
    least = minimize(best, buffers, g);
    while (buffers > 1) {
        double y[MAX_POINTS];
        memcpy(y, best, sizeof y);
        drop_nearest(y, buffers);
        const double found = minimize(y, buffers - 1, g);
        if (!(found < least + log(1.002)))
            break;
        buffers--;
        memcpy(best, y, sizeof best);
    }
    tacit__blt blt = {0};
    (void)from_coordinates(best, buffers, &blt);
    return blt;
}

static tacit__blt search(uint64_t users, const tacit__returning *visits)
{
    TACIT__REQUIRE(users > 0);
    goal g = {.users = users, .visits = *visits};
    if (users == 1)
        return (tacit__blt){0}; /* C = 1 */
    return visits->most > 1 ? search_visits(&g) : search_one_visit(&g);
}

/* The last answers of this thread are kept: the streams of an agent share a horizon, each asks twice, and
 * predictions ask for other horizons in between. */
enum { KEPT = 4 };
typedef struct tuned {
    uint64_t users; /* 0: none yet; a stream has at least one */
    tacit__returning visits;
    tacit__blt blt;
} tuned;

tacit__blt tacit__blt_tune(uint64_t users, const tacit__returning *visits)
{
    TACIT__REQUIRE(users > 0);
    static _Thread_local tuned kept[KEPT];
    static _Thread_local unsigned next;
    for (unsigned i = 0; i < KEPT; i++)
        if (kept[i].users == users && kept[i].visits.most == visits->most &&
            kept[i].visits.apart == visits->apart)
            return kept[i].blt;
    tuned *oldest = &kept[next];
    next = (next + 1) % KEPT;
    *oldest = (tuned){users, *visits, search(users, visits)};
    return oldest->blt;
}
