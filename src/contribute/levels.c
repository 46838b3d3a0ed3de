/* Gaussian: sqrt(m) times the normal quantile. Laplace: P(Y > y) <= exp(-u y) (1 - u^2)^-m at the optimal
 * u = y / (sqrt(m^2 + y^2) + m); the level solves 2 * bound = eta by bisection.
 *
 * Matrices with Gaussian packed coordinates: E lambda_max <= sqrt(2 d) (Sudakov and Fernique),
 * lambda_max is 1-Lipschitz in the packed vector, and -N has the same law; lengths of Gaussian
 * vectors likewise. Laplace: operator norm <= Frobenius norm = length of the packed vector <=
 * sqrt(n) times the largest of n coordinates. */
#include "contribute/levels.h"

#include <math.h>

#include "base/error.h"

double tacit__level_gaussian(double m, double eta)
{
    TACIT__REQUIRE(m >= 0 && eta > 0 && eta < 1);
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
        double z = (low + high) / 2;
        if (erfc(z / M_SQRT2) > eta)
            low = z;
        else
            high = z;
    }
    return sqrt(m) * high;
}

static double log_tail(double m, double y)
{
    double u = y / (sqrt(m * m + y * y) + m);
    return -u * y - m * log1p(-u * u);
}

double tacit__level_laplace(double m, double eta)
{
    TACIT__REQUIRE(m >= 0 && eta > 0 && eta < 1);
    double target = log(eta / 2), low = 0, high = 1;
    if (m <= 0)
        return 0;
    while (log_tail(m, high) > target)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double y = (low + high) / 2;
        if (log_tail(m, y) > target)
            low = y;
        else
            high = y;
    }
    return high;
}

double tacit__level_matrix(double m, size_t d, double eta, bool laplace)
{
    TACIT__REQUIRE(d > 0);
    const size_t entries = d * (d + 1) / 2;
    double n = (double)entries;
    return laplace ? sqrt(n) * tacit__level_laplace(m, eta / n)
                   : sqrt(m) * (sqrt(2 * (double)d) + sqrt(2 * log(2 / eta)));
}

double tacit__level_vector(double m, size_t d, double eta, bool laplace)
{
    TACIT__REQUIRE(d > 0);
    double n = (double)d;
    return laplace ? sqrt(n) * tacit__level_laplace(m, eta / n)
                   : sqrt(m) * (sqrt(n) + sqrt(2 * log(1 / eta)));
}
