#include "support/stats.h"

#include <math.h>

double stats_normal_quantile_upper(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(middle / M_SQRT2) > p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double stats_chi_square_score(double chi_square, double degrees)
{
    double spread = 2 / (9 * degrees);
    return (cbrt(chi_square / degrees) - (1 - spread)) / sqrt(spread);
}

/* P(Binomial(n, p) >= k). */
static double upper_tail(uint64_t k, uint64_t n, double p)
{
    double sum = 0;
    for (uint64_t i = k; i <= n; i++) {
        double term =
            exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                (double)i * log(p) + (double)(n - i) * log1p(-p));
        sum += term;
        if ((double)i > p * (double)n && term < 1e-18 * sum)
            break;
    }
    return sum;
}

double stats_proportion_low(uint64_t hits, uint64_t n, double error)
{
    if (hits == 0)
        return 0;
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        double p = (low + high) / 2;
        if (upper_tail(hits, n, p) < error)
            low = p;
        else
            high = p;
    }
    return low;
}

double stats_proportion_high(uint64_t hits, uint64_t n, double error)
{
    return 1 - stats_proportion_low(n - hits, n, error);
}

double stats_gdp_low(uint64_t true_positives, uint64_t false_positives, uint64_t n, double error)
{
    double tpr = stats_proportion_low(true_positives, n, error / 2);
    double fpr = stats_proportion_high(false_positives, n, error / 2);
    return tpr <= 0 || fpr >= 1
               ? -HUGE_VAL
               : stats_normal_quantile_upper(fpr) - stats_normal_quantile_upper(tpr);
}

double stats_epsilon_low(uint64_t true_positives, uint64_t false_positives, uint64_t n,
                         double error)
{
    double tpr = stats_proportion_low(true_positives, n, error / 2);
    double fpr = stats_proportion_high(false_positives, n, error / 2);
    return log(tpr / fpr);
}
