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
 * the norm that is charged is certified in blt.c. */
#include "sums/blt_tune.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MAX_POINTS = 2 * TACIT__MAX_BUFFERS };

/* 1 - a_j above this does not fit blt.c's 31-bit fixed point; the optimum stays far below. */
#define LARGEST_GAP 0.499

void tacit__blt_residues(const tacit__blt *blt, double omega[TACIT__MAX_BUFFERS])
{
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
    double gap = x + y - x * y;
    return gap < 1e-300 ? count : -expm1(count * log1p(-gap)) / gap;
}

static double column_square(const tacit__blt *blt, double users)
{
    double omega[TACIT__MAX_BUFFERS], sum = 1;
    tacit__blt_residues(blt, omega);
    for (unsigned i = 0; i < blt->buffers; i++)
        for (unsigned j = 0; j < blt->buffers; j++) {
            double x = blt->one_minus_a[i], y = blt->one_minus_a[j];
            sum += omega[i] * omega[j] * (1 - x) * (1 - y) * geometric(x, y, users - 1);
        }
    return sum;
}

double tacit__blt_row_square(const tacit__blt *blt, double users)
{
    double weight[TACIT__MAX_BUFFERS + 1], gap[TACIT__MAX_BUFFERS + 1];
    unsigned n = blt->buffers;
    weight[n] = 1; /* kappa: the pole at 1 */
    gap[n] = 0;
    for (unsigned j = 0; j < n; j++)
        weight[n] *= blt->one_minus_a[j] / blt->one_minus_b[j];
    for (unsigned j = 0; j < n; j++) {
        double beta = gap[j] = blt->one_minus_b[j];
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

double tacit__blt_error(const tacit__blt *blt, uint64_t users)
{
    double k = (double)users;
    return sqrt(column_square(blt, k) * tacit__blt_row_square(blt, k));
}

/* Coordinates: y_0 = log of the first gap, y_i = log of the i-th step between log gaps. */
static bool from_coordinates(const double *y, unsigned buffers, tacit__blt *blt)
{
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

static double objective(const double *y, unsigned buffers, uint64_t users)
{
    tacit__blt blt;
    if (!from_coordinates(y, buffers, &blt))
        return HUGE_VAL;
    double error = tacit__blt_error(&blt, users);
    return isfinite(error) && error > 0 ? log(error) : HUGE_VAL;
}

typedef struct simplex {
    unsigned dimension, buffers;
    uint64_t users;
    double point[MAX_POINTS + 1][MAX_POINTS], value[MAX_POINTS + 1];
} simplex;

static void start_simplex(simplex *s, const double *origin, double size)
{
    for (unsigned i = 0; i <= s->dimension; i++) {
        memcpy(s->point[i], origin, s->dimension * sizeof *origin);
        if (i > 0)
            s->point[i][i - 1] += size;
        s->value[i] = objective(s->point[i], s->buffers, s->users);
    }
}

/* The point at center + t * (worst - center), and its value. */
static double reflect(const simplex *s, const double *center, unsigned worst, double t, double *out)
{
    for (unsigned j = 0; j < s->dimension; j++)
        out[j] = center[j] + t * (s->point[worst][j] - center[j]);
    return objective(out, s->buffers, s->users);
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
        s->value[i] = objective(s->point[i], s->buffers, s->users);
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

static tacit__blt tune_with(unsigned buffers, uint64_t users)
{
    simplex s = {.dimension = 2 * buffers, .buffers = buffers, .users = users};
    double best[MAX_POINTS], first = fmin(1.2 / (double)users, 0.3), last = 0.6;
    best[0] = log(first);
    for (unsigned i = 1; i < s.dimension; i++)
        best[i] = log(log(last / first) / (s.dimension - 1));
    double value = objective(best, buffers, users);
    for (int restart = 0; restart < 6; restart++) {
        start_simplex(&s, best, restart % 2 == 0 ? 0.2 : -0.1);
        for (int i = 0; i < 1000 && step_simplex(&s, 1e-6); i++)
            continue;
        double before = value;
        for (unsigned i = 0; i <= s.dimension; i++)
            if (s.value[i] < value) {
                value = s.value[i];
                memcpy(best, s.point[i], sizeof best);
            }
        if (before - value < 1e-5)
            break;
    }
    tacit__blt blt = {0};
    (void)from_coordinates(best, buffers, &blt);
    return blt;
}

static tacit__blt search(uint64_t users)
{
    tacit__blt best = {0};
    if (users == 1)
        return best; /* C = 1 */
    best = tune_with(1, users);
    for (unsigned buffers = 2; buffers <= TACIT__MAX_BUFFERS; buffers++) {
        tacit__blt more = tune_with(buffers, users);
        if (!(tacit__blt_error(&more, users) < tacit__blt_error(&best, users) / 1.002))
            break;
        best = more;
    }
    return best;
}

/* The last answer of this thread is kept: the streams of an agent share a horizon, and each asks twice. */
tacit__blt tacit__blt_tune(uint64_t users)
{
    static _Thread_local tacit__blt last;
    static _Thread_local uint64_t last_users; /* 0: none yet; a stream has at least one */
    if (users != last_users) {
        last = search(users);
        last_users = users;
    }
    return last;
}
