/* Norms of buffered linear Toeplitz sums, summed and in closed form. See blt_norm.h; C, c_n and e_n are in
 * the head of blt.c.
 *
 * Columns. The norm that is charged must not be below the true one. Every number here is positive, so it is
 * enough that every operation errs upward: `up` adds 2^-62 of the result, more than a long double of 64 bits
 * loses in an operation and in the addition itself. In closed form: between two of the numbers 1/(1 - a_j)
 * the error e_n is a line, so for n = from + m
 *
 *     (c_n + e_n s)^2 = sum_ij omega_i omega_j (a_i a_j)^n + 2 sum_j omega_j a_j^n (A + B m) + (A + B m)^2,
 *
 * and all that is wanted of a series with ratio q are q^N, sum_{m<N} q^m and sum_{m<N} m q^m. They follow
 * from those for N/2:
 *
 *     q^2N = (q^N)^2,    S(2N) = S(N) (1 + q^N),    T(2N) = T(N) + q^N (T(N) + N S(N)),
 *
 * which only adds and multiplies positive numbers: bounds stay bounds, nothing cancels, and 31 doublings
 * reach 2^31. The usual formulas, (1 - q^N) / (1 - q) and worse for T, lose all digits where q is near 1. a_j
 * is a multiple of 2^-32, so a_i a_j is exact. What `up` adds to q^N is 3 N 2^-62 of it: 2 10^-9 at N = 2^31,
 * and less than 10^-12 at a million.
 *
 * Several visits. c_n falls, so G(i, l) = sum_n c_n c_(n + l - i) over the K - l rows that are left
 * falls when the lag grows and when l grows. The places 1, 1 + b, 1 + 2b, .. have the smallest lags
 * and the smallest places that any pattern can have, visit by visit: they are the worst. Visit
 * number l has M = K - (l - 1) b rows; with E_pq = sum over 1 <= n < M of (a_p a_q)^n and h_q =
 * a_q^b + .. + a_q^((l - 1) b), the visits before it,
 *
 *     column^2 = sum_l [ 1 + omega' E omega + 2 sum_q h_q omega_q (1 + (E omega)_q) ].
 *
 * What integers add is charged by the triangle inequality: e_(K-1) in each of K - 1 steps and min(k
 * m, dimension) coordinates.
 *
 * Summation stays for up to SUMMED users, because the charged norm is part of what saved states must agree
 * with.
 *
 * Rows are for error bars: no privacy depends on them. B = 1 / ((1 - x) C(x)) has the poles 1 and the zeros
 * b_j of C, so its coefficients are r_n = kappa + sum_j v_j b_j^n, all positive, and row k is a double sum
 * over poles (blt_tune.c). With integers C is not quite the one that was tuned, so the zeros are looked for
 * again: with alpha = 1 - a and beta = 1 - b,
 *
 *     C = 0   where   f(beta) = 1 + sum_j omega_j (1 - alpha_j) / (alpha_j - beta) = 0,
 *
 * and f rises from -infinity to +infinity between two poles, and to 1 after the last: one zero in each
 * place. */
#include "sums/blt_norm.h"

#include <float.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"

_Static_assert(LDBL_MANT_DIG >= 53, "the certified norm rounds up by two units of the last place");

enum { SUMMED = 1 << 20, SUMMED_ROW = 1 << 12, MOST_BATCHES = 1 << 12 };

#define NEGLIGIBLE 1e-30L /* stands for smaller powers, which would be slow denormals */
/* Two units of the last place: of a long double with 64 bits, or of one that is a double (32-bit ARM). */
#define UP (1 + (LDBL_MANT_DIG >= 64 ? 0x1p-62L : 0x1p-51L))

/* The certificates share this: spread is sqrt(m) / D; unit and memory belong to e_n. */
typedef struct rounding {
    double spread, least, unit[TACIT__MAX_BUFFERS], memory[TACIT__MAX_BUFFERS];
} rounding;

static rounding rounding_of(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    rounding r = {.spread = sqrt(shape->differing) / shape->sensitivity,
                  .least = 1 + ldexp(1, -c->fraction)};
    for (unsigned j = 0; j < c->buffers; j++) {
        r.unit[j] = ldexp(c->omega[j], -c->guard);
        r.memory[j] = 1 / (1 - c->a[j]);
    }
    return r;
}

long double tacit__blt_column_summed(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    TACIT__REQUIRE(shape->steps > 0);
    const rounding r = rounding_of(c, shape);
    long double power[TACIT__MAX_BUFFERS], factor[TACIT__MAX_BUFFERS], sum = 1;
    for (unsigned j = 0; j < c->buffers; j++) {
        power[j] = (long double)c->omega[j];
        factor[j] = (long double)c->a[j] * UP;
    }
    for (uint64_t n = 1; n < shape->steps; n++) {
        long double c_n = 0;
        double e_n = r.least, steps = (double)n;
        for (unsigned j = 0; j < c->buffers; j++) {
            power[j] = power[j] > NEGLIGIBLE ? power[j] * factor[j] : NEGLIGIBLE;
            c_n += power[j];
            e_n += r.unit[j] * (steps < r.memory[j] ? steps : r.memory[j]);
        }
        long double term = c_n + (long double)(e_n * r.spread * (1 + 0x1p-50));
        sum += term * term;
    }
    return sum;
}

/* --- Closed form --------------------------------------------------------------------------------- */

static long double up(long double x)
{
    return x * UP;
}

/* Bounds on q^N, on the sum of q^m and on that of m q^m over m < N. */
typedef struct series {
    long double power, sum, moment;
} series;

static series series_of(long double q, uint64_t count)
{
    series s = {.power = 1};
    long double n = 0; /* terms so far */
    for (int bit = 63; bit >= 0; bit--) {
        if (n > 0) {
            s.moment = up(s.moment + up(s.power * up(s.moment + up(n * s.sum))));
            s.sum = up(s.sum * up(1 + s.power));
            s.power = up(s.power * s.power);
            n *= 2;
        }
        if (count >> bit & 1) {
            s.moment = up(s.moment + up(n * s.power));
            s.sum = up(s.sum + s.power);
            s.power = up(s.power * q);
            n++;
        }
        s.power = s.power > NEGLIGIBLE ? s.power : NEGLIGIBLE;
    }
    return s;
}

/* The part of the sum from n = from on, `count` terms, where e_n s = first + slope m. */
static long double piece(const tacit__blt_coefficients *c, uint64_t from, uint64_t count,
                         long double first, long double slope)
{
    const long double N = (long double)count;
    long double sum = up(up(first * first) * N);
    sum = up(sum + up(up(first * slope) * up(N * (N - 1))));
    sum = up(sum + up(up(up(slope * slope) * up(N * (N - 1))) * up((2 * N - 1) / 6)));
    for (unsigned i = 0; i < c->buffers; i++) {
        const long double a = (long double)c->a[i], omega = (long double)c->omega[i];
        const series one = series_of(a, count);
        long double line = up(up(first * one.sum) + up(slope * one.moment));
        sum = up(sum + up(2 * up(up(omega * series_of(a, from).power) * line)));
        for (unsigned j = 0; j < c->buffers; j++) {
            const long double q = a * (long double)c->a[j];
            long double both =
                up(up(omega * (long double)c->omega[j]) * up(series_of(q, from).power));
            sum = up(sum + up(both * series_of(q, count).sum));
        }
    }
    return sum;
}

long double tacit__blt_column_closed(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    TACIT__REQUIRE(shape->steps > 0);
    const rounding r = rounding_of(c, shape);
    const long double spread = (long double)r.spread * (1 + 0x1p-50L);
    long double sum = 1;
    for (uint64_t from = 1, to; from < shape->steps; from = to) {
        long double level = (long double)r.least, slope = 0;
        to = shape->steps;
        for (unsigned j = 0; j < c->buffers; j++) {
            const uint64_t end = (uint64_t)r.memory[j] + 1; /* the first n above it */
            if (from < end) {
                slope = up(slope + (long double)r.unit[j]);
                to = end < to ? end : to;
            } else {
                level = up(level + up((long double)r.unit[j] * (long double)r.memory[j]));
            }
        }
        long double first = up(spread * up(level + up(slope * (long double)from)));
        sum = up(sum + piece(c, from, to - from, first, up(spread * slope)));
    }
    return sum;
}

long double tacit__blt_visits_closed(const tacit__blt_coefficients *c, uint64_t steps,
                                     const tacit__returning *visits)
{
    TACIT__REQUIRE(steps > 0 && visits->most > 0 && visits->apart > 0);
    long double stride[TACIT__MAX_BUFFERS], before[TACIT__MAX_BUFFERS] = {0}, sum = 0;
    for (unsigned p = 0; p < c->buffers; p++)
        stride[p] = series_of((long double)c->a[p], visits->apart).power;
    for (uint64_t l = 0; l < visits->most && l * visits->apart < steps; l++) {
        const uint64_t rows = steps - l * visits->apart;
        long double visit = 1;
        for (unsigned p = 0; p < c->buffers; p++) {
            const long double a = (long double)c->a[p], omega = (long double)c->omega[p];
            long double with = 0; /* (E omega)_p */
            for (unsigned q = 0; q < c->buffers; q++) {
                const long double both = a * (long double)c->a[q];
                with = up(with +
                          up(up(both * series_of(both, rows - 1).sum) * (long double)c->omega[q]));
            }
            visit = up(visit + up(omega * with));
            visit = up(visit + up(2 * up(up(before[p] * omega) * up(1 + with))));
            before[p] = up(stride[p] * up(1 + before[p]));
        }
        sum = up(sum + visit);
    }
    return sum;
}

/* G over steps: sum over t of c_(t - i) c_(t - l), from the last step on. Row i has its entries from i
 * on. */
typedef struct gram {
    size_t steps;
    double *at;
} gram;

static double gram_at(const void *context, uint64_t i, uint64_t l)
{
    const gram *g = context;
    return i <= l ? g->at[i * g->steps + l] : g->at[l * g->steps + i];
}

/* Batches of people: G falls with the lag, and toward the end, so the bound of returning.h holds. Beyond
 * MOST_BATCHES, and without memory, `visits` times the norm of one. */
static double batches_square(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    const size_t n = (size_t)shape->steps;
    const double once =
        (double)tacit__blt_visits_closed(c, shape->steps, &(tacit__returning){1, 1});
    const double naive = once * (double)shape->visits.most * (double)shape->visits.most;
    gram g = {n, n <= MOST_BATCHES ? tacit__alloc(n * n + n, sizeof *g.at) : NULL};
    if (g.at == NULL)
        return naive;
    double *coefficient = g.at + n * n;
    for (size_t m = 0; m < n; m++)
        for (unsigned j = 0; m > 0 && j < c->buffers; j++)
            coefficient[m] += c->omega[j] * pow(c->a[j], (double)m);
    coefficient[0] = 1;
    for (size_t i = n; i-- > 0;)
        for (size_t l = n; l-- > i;)
            g.at[i * n + l] = coefficient[n - 1 - i] * coefficient[n - 1 - l] +
                              (l + 1 < n ? g.at[(i + 1) * n + l + 1] : 0);
    double square;
    const tacit_status status =
        tacit__returning_bound(&shape->visits, &(tacit__batches){n, shape->ends},
                               &(tacit__overlaps){gram_at, &g, once}, &square, NULL);
    tacit__free(g.at);
    return status == TACIT_OK ? fmin(naive, square * (1 + 1e-9)) : naive;
}

static double visits_norm(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    const rounding r = rounding_of(c, shape);
    const double last = (double)(shape->steps - 1), dimension = (double)shape->dimension;
    const double differing = fmin((double)shape->visits.most * shape->differing, dimension);
    double e = r.least;
    for (unsigned j = 0; j < c->buffers; j++)
        e += r.unit[j] * fmin(last, r.memory[j]);
    const double square = shape->ends != NULL
                              ? batches_square(c, shape)
                              : (double)tacit__blt_visits_closed(c, shape->steps, &shape->visits);
    return sqrt(square) + e * sqrt(last * differing) / shape->sensitivity;
}

double tacit__blt_column_norm(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    TACIT__REQUIRE(shape->steps > 0);
    double norm;
    if (shape->visits.most > 1)
        norm = visits_norm(c, shape);
    else if (shape->steps <= SUMMED)
        norm = (double)sqrtl(tacit__blt_column_summed(c, shape));
    else
        norm = (double)sqrtl(tacit__blt_column_closed(c, shape));
    return norm * (1 + 1e-9); /* roundings of the few operations that are not up */
}

/* --- Rows ----------------------------------------------------------------------------------------- */

/* Finds where f is 0 between two places, of which it is negative just after the first and positive
 * before the second. */
static double find_zero(const tacit__blt_coefficients *c, const double *alpha, double low,
                        double high)
{
    for (int i = 0; i < 200 && low < high; i++) {
        const double beta = low + (high - low) / 2;
        double f = 1;
        if (!(beta > low && beta < high))
            break;
        for (unsigned j = 0; j < c->buffers; j++)
            f += c->omega[j] * (1 - alpha[j]) / (alpha[j] - beta);
        if (f < 0)
            low = beta;
        else
            high = beta;
    }
    return high;
}

tacit__blt tacit__blt_factors(const tacit__blt_coefficients *c)
{
    TACIT__REQUIRE(c->buffers <= TACIT__MAX_BUFFERS);
    tacit__blt out = {.buffers = c->buffers};
    double last = 0;
    for (unsigned j = 0; j < c->buffers; j++) {
        out.one_minus_a[j] = ldexp((double)c->decay[j], -32);
        last += c->omega[j] * (1 - out.one_minus_a[j]);
    }
    for (unsigned j = 0; j < c->buffers; j++) /* f is positive beyond the last pole plus that sum */
        out.one_minus_b[j] =
            find_zero(c, out.one_minus_a, out.one_minus_a[j],
                      j + 1 < c->buffers ? out.one_minus_a[j + 1] : out.one_minus_a[j] + last);
    return out;
}

/* The prefix sums of the impulse response of C^-1, squared and added up. */
static double sum_row(const tacit__blt_coefficients *c, uint64_t k)
{
    double buffers[TACIT__MAX_BUFFERS] = {0}, total = 0, row = 0;
    for (uint64_t n = 0; n < k; n++) {
        double xhat = n == 0 ? 1 : 0;
        for (unsigned j = 0; j < c->buffers; j++)
            xhat -= c->omega[j] * buffers[j];
        for (unsigned j = 0; j < c->buffers; j++)
            buffers[j] = c->a[j] * (buffers[j] + xhat);
        total += xhat;
        row += total * total;
    }
    return row;
}

double tacit__blt_row(const tacit__blt_coefficients *c, const tacit__blt *factors, uint64_t k)
{
    return k <= SUMMED_ROW ? sum_row(c, k) : tacit__blt_row_square(factors, (double)k);
}
