/* Confidence bounds [CP34] and power.
 *
 * Clopper-Pearson: P(Bin(n, p) >= k) = I_p(k, n - k + 1), the regularized incomplete beta function, by its
 * continued fraction [DLMF 8.17.22] where that converges fast, else by the symmetry; O(sqrt n) terms. The
 * answer of the bisection is the end that errs on the safe side, and the rounding of lgamma (1e-9 relative at
 * n = 1e7) is far below the tail's weight.
 *
 * Power: the estimate of mu (or of p - e^eps q) is nearly normal, and the two one-sided bounds shift it by
 * z each, so the trials needed follow from the distance between truth and claim in standard deviations. */
#include "audit/bounds.h"

#include <math.h>

#include "base/error.h"

/* Quantile of the normal distribution at the power of 90 %. */
#define Z_POWER 1.2815515655446004

/* From this many trials on the normal approximation is good enough. */
#define NORMAL_FROM 1e5

static double normal_upper_tail(double z)
{
    return 0.5 * erfc(z / M_SQRT2);
}

/* z with P(N > z) = p, for p in (0, 1). */
static double normal_upper(double p)
{
    TACIT__REQUIRE(p >= 0 && p <= 1);
    double low = -40, high = 40;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (normal_upper_tail(middle) > p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The continued fraction of I_x(a, b), by the modified Lentz method. */
static double beta_fraction(double x, double a, double b)
{
    static const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m <= 100000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        if (fabs(d * c - 1) < 1e-14)
            break;
    }
    return value;
}

static double incomplete_beta(double x, double a, double b)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    int sign; /* lgamma has one for all threads */
    double log_front = lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                       a * log(x) + b * log1p(-x);
    if (x < (a + 1) / (a + b + 2))
        return exp(log_front) * beta_fraction(x, a, b) / a;
    return 1 - exp(log_front) * beta_fraction(1 - x, b, a) / b;
}

double tacit__proportion_low(uint64_t hits, uint64_t n, double error)
{
    TACIT__REQUIRE(hits <= n && n > 0 && error > 0);
    if (hits == 0)
        return 0;
    double low = 0, high = (double)hits / (double)n;
    for (int i = 0; i < 60; i++) {
        double p = (low + high) / 2;
        if (incomplete_beta(p, (double)hits, (double)(n - hits) + 1) < error)
            low = p;
        else
            high = p;
    }
    return low;
}

double tacit__proportion_high(uint64_t hits, uint64_t n, double error)
{
    return 1 - tacit__proportion_low(n - hits, n, error);
}

static double log_ratio(double p, double q, double delta)
{
    return p > delta && q < 1 ? log((p - delta) / q) : -HUGE_VAL;
}

static double score_distance(double p, double q)
{
    return p > 0 && q < 1 ? normal_upper(q) - normal_upper(p) : -HUGE_VAL;
}

double tacit__epsilon_proved(uint64_t hits, uint64_t alarms, uint64_t n, double delta, double error)
{
    TACIT__REQUIRE(hits <= n && alarms <= n && delta >= 0 && error > 0);
    return log_ratio(tacit__proportion_low(hits, n, error / 2),
                     tacit__proportion_high(alarms, n, error / 2), delta);
}

double tacit__mu_proved(uint64_t hits, uint64_t alarms, uint64_t n, double error)
{
    TACIT__REQUIRE(hits <= n && alarms <= n && error > 0);
    return score_distance(tacit__proportion_low(hits, n, error / 2),
                          tacit__proportion_high(alarms, n, error / 2));
}

/* Wilson's score interval [W27], the end on the side of `sign`. */
static double score_end(double p, double n, double z, double sign)
{
    double shift = z * z / n;
    return (p + shift / 2 + sign * z * sqrt(p * (1 - p) / n + shift / (4 * n))) / (1 + shift);
}

double tacit__epsilon_guess(double p, double q, double n, double delta, double error)
{
    TACIT__REQUIRE(n > 0 && error > 0 && error < 1);
    double z = normal_upper(error / 2);
    return log_ratio(score_end(p, n, z, -1), score_end(q, n, z, 1), delta);
}

double tacit__mu_guess(double p, double q, double n, double error)
{
    TACIT__REQUIRE(n > 0 && error > 0 && error < 1);
    double z = normal_upper(error / 2);
    return score_distance(score_end(p, n, z, -1), score_end(q, n, z, 1));
}

double tacit__trials_for_mu(double mu, double claim, double error)
{
    TACIT__REQUIRE(error > 0 && error < 1);
    if (!(mu > claim))
        return HUGE_VAL;
    double density = exp(-mu * mu / 8) / sqrt(2 * M_PI);
    double tail = normal_upper_tail(mu / 2);
    double unit = tail * (1 - tail) / (density * density);
    double far = (2 * normal_upper(error / 2) + M_SQRT2 * Z_POWER) / (mu - claim);
    return fmax(unit * far * far, log(2 / error));
}

double tacit__trials_for_event(double p, double q, double epsilon, double delta, double error)
{
    TACIT__REQUIRE(p >= 0 && p <= 1 && q >= 0 && q <= 1 && error > 0);
    double factor = exp(epsilon), gap = p - factor * q - delta;
    if (!(gap > 0))
        return HUGE_VAL;
    double z = normal_upper(error / 2), a = sqrt(p * (1 - p)), b = factor * sqrt(q * (1 - q));
    double far = (z * (a + b) + Z_POWER * hypot(a, b)) / gap;
    double n = fmax(far * far, 2);
    /* small counts are not normal: more, until unlucky ones (both together with the probability that was
     * allowed) do */
    double w = Z_POWER / M_SQRT2;
    while (n < NORMAL_FROM) {
        double hits = floor(n * p - w * a * sqrt(n)),
               alarms = ceil(n * q + w * sqrt(n * q * (1 - q)));
        if (hits > 0 && alarms < n &&
            tacit__epsilon_proved((uint64_t)hits, (uint64_t)alarms, (uint64_t)n, delta, error) >
                epsilon)
            break;
        n *= 1.05;
    }
    return n;
}
