/* See audit/residuals.h.
 *
 * Under the declared law, with u = draw / scale: sum u has variance n v (v = 1 or 2); sum u^2 (Gaussian)
 * is chi-square with n degrees, of variance 2n; sum |u| (Laplace) is Gamma(n), of variance n; products of
 * independent draws have variance v^2. All are sums of many like terms, and their scores are compared with
 * the normal distribution. The error is shared equally by 2 x 8 tests, twice as many as there are, which
 * covers what the normal approximation is off by in the tails at n >= 256. Equal draws are rare events:
 * Chernoff's bound for Poisson counts, with 1.5 times the density's value at its mode as expectation,
 * which covers the rounding to the lattice from scale 1 on. */
#include "audit/residuals.h"

#include <math.h>
#include <stdbool.h>

#include "base/error.h"

static const char *const words[TACIT__RESIDUAL_TESTS] = {
    [TACIT__TEST_MEAN] =
        "the noise does not have mean 0, or answers are not true as often as declared",
    [TACIT__TEST_SIZE] = "the noise does not have the declared size",
    [TACIT__TEST_STEPS] = "the noise of one step is correlated with that of the step before",
    [TACIT__TEST_COORDINATES] = "the noise of a coordinate is correlated with its neighbor's",
    [TACIT__TEST_ZEROS] = "some numbers are released without noise",
    [TACIT__TEST_SAME_STEP] = "noise is used again in the next step",
    [TACIT__TEST_SAME_COORDINATE] = "several numbers share one draw of noise",
    [TACIT__TEST_SAME_RUN] = "the noise is the same in every run: it does not depend on the seed",
};

const char *tacit__residual_words(tacit__residual_test test)
{
    return words[test];
}

static double equal_to(const int64_t *x, const int64_t *y, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += x[i] == y[i];
    return (double)count;
}

void tacit__residuals_add(tacit__residuals *r, tacit_law law, double scale, size_t n,
                          const int64_t *x, const int64_t *before, const int64_t *other)
{
    TACIT__REQUIRE(scale > 0 && law != TACIT_LAW_NONE);
    bool gaussian = law == TACIT_LAW_GAUSSIAN;
    double many = (double)n, v = gaussian ? 1 : 2;
    /* in units of the scale; rounding to the lattice adds a twelfth to the variance */
    double unit = 1 / (gaussian ? sqrt(scale * scale + 1.0 / 12) : scale);
    double sum = 0, size = 0, steps = 0, coordinates = 0, zeros = 0, twins = 0;
    for (size_t i = 0; i < n; i++) {
        double u = (double)x[i] * unit;
        sum += u;
        size += gaussian ? u * u : fabs(u);
        zeros += x[i] == 0;
    }
    for (size_t i = 1; i < n; i++) {
        coordinates += ((double)x[i] * unit) * ((double)x[i - 1] * unit);
        twins += x[i] == x[i - 1];
    }
    for (size_t i = 0; before != NULL && i < n; i++)
        steps += ((double)x[i] * unit) * ((double)before[i] * unit);
    r->n += many;
    r->sum += sum;
    r->size += size;
    r->variance += many * v;
    r->law_gaussian += gaussian ? many : 0;
    r->n_coordinates += (many - 1) * v * v;
    r->coordinates += coordinates;
    double at_zero = 1.5 * fmin(1, gaussian ? 0.3989422804014327 / scale : 0.5 / scale);
    double at_twin = 1.5 * fmin(1, gaussian ? 0.28209479177387814 / scale : 0.25 / scale);
    r->count[TACIT__TEST_ZEROS] += zeros;
    r->expected[TACIT__TEST_ZEROS] += many * at_zero;
    r->count[TACIT__TEST_SAME_COORDINATE] += twins;
    r->expected[TACIT__TEST_SAME_COORDINATE] += (many - 1) * at_twin;
    if (before != NULL) {
        r->n_steps += many * v * v;
        r->steps += steps;
        r->count[TACIT__TEST_SAME_STEP] += equal_to(x, before, n);
        r->expected[TACIT__TEST_SAME_STEP] += many * at_twin;
    }
    if (other != NULL) {
        r->count[TACIT__TEST_SAME_RUN] += equal_to(x, other, n);
        r->expected[TACIT__TEST_SAME_RUN] += many * at_twin;
    }
}

/* A share p of the answers is true, p = e^epsilon / (e^epsilon + g - 1) at most. Rare answers are few terms,
 * and are given more variance than they have. */
void tacit__residuals_add_answers(tacit__residuals *r, double scale, uint64_t answers, size_t n,
                                  const int64_t *x)
{
    TACIT__REQUIRE(scale > 0 && answers > 1);
    const double least = 0.05, many = (double)n,
                 p = 1 / (1 + ((double)answers - 1) * exp(-1 / scale));
    double given = 0;
    for (size_t i = 0; i < n; i++)
        given += x[i] == 0;
    r->n += many;
    r->law_gaussian += many;
    r->variance += many;
    r->size += many;
    r->sum += (given - many * p) / sqrt(fmax(p * (1 - p), least));
}

void tacit__residuals_merge(tacit__residuals *into, const tacit__residuals *from)
{
    into->n += from->n;
    into->sum += from->sum;
    into->size += from->size;
    into->variance += from->variance;
    into->n_steps += from->n_steps;
    into->steps += from->steps;
    into->n_coordinates += from->n_coordinates;
    into->coordinates += from->coordinates;
    into->law_gaussian += from->law_gaussian;
    for (int i = 0; i < TACIT__RESIDUAL_TESTS; i++) {
        into->count[i] += from->count[i];
        into->expected[i] += from->expected[i];
    }
}

/* ln of twice the normal tail beyond |z|, without underflow. */
static double log_two_sided(double z)
{
    z = fabs(z);
    return z < 30 ? log(erfc(z / M_SQRT2)) : -z * z / 2;
}

static double log_chance(const tacit__residuals *r, tacit__residual_test test)
{
    double variance_of_size = 2 * r->law_gaussian + (r->n - r->law_gaussian);
    switch (test) {
    case TACIT__TEST_MEAN:
        return log_two_sided(r->sum / sqrt(r->variance));
    case TACIT__TEST_SIZE:
        return log_two_sided((r->size - r->n) / sqrt(variance_of_size));
    case TACIT__TEST_STEPS:
        return r->n_steps > 0 ? log_two_sided(r->steps / sqrt(r->n_steps)) : 0;
    case TACIT__TEST_COORDINATES:
        return r->n_coordinates > 0 ? log_two_sided(r->coordinates / sqrt(r->n_coordinates)) : 0;
    default: {
        double c = r->count[test], mean = r->expected[test];
        return c > mean && mean > 0 ? c - mean - c * log(c / mean) : 0;
    }
    }
}

tacit__residual_test tacit__residuals_judge(const tacit__residuals *r, double error)
{
    TACIT__REQUIRE(error > 0 && error < 1);
    double least = log(error / (2 * TACIT__RESIDUAL_TESTS));
    tacit__residual_test found = TACIT__RESIDUAL_TESTS;
    if (r->n < TACIT__MIN_DRAWS)
        return found;
    /* equal draws explain whatever else is wrong; zeros are equal to each other, and what is the same in
     * every run need no further test */
    static const tacit__residual_test telling[] = {TACIT__TEST_ZEROS, TACIT__TEST_SAME_RUN,
                                                   TACIT__TEST_SAME_STEP,
                                                   TACIT__TEST_SAME_COORDINATE};
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (log_chance(r, telling[i]) < least)
            return telling[i];
    for (int i = 0; i < TACIT__TEST_ZEROS; i++) {
        double chance = log_chance(r, (tacit__residual_test)i);
        if (chance < least) {
            least = chance;
            found = (tacit__residual_test)i;
        }
    }
    return found;
}

double tacit__residuals_size(const tacit__residuals *r)
{
    double mean = r->n > 0 ? r->size / r->n : (double)NAN;
    return r->law_gaussian > 0 ? sqrt(mean) : mean;
}
