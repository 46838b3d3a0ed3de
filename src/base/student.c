/* Student's t: how wide a confidence interval of a mean is.
 *
 * The probability of |T| <= t has a finite sum for whole degrees of freedom [AS64, 26.7.3 and 26.7.4]; the
 * limit is found by bisection. Above MANY degrees the normal limit differs by less than 0.03 % and stands
 * in. */
#include "base/student.h"

#include <math.h>

#include "base/error.h"

enum { MANY = 10000 };

static double probability_within(double t, uint64_t n)
{
    const double pi = 3.14159265358979323846;
    const double angle = atan(t / sqrt((double)n)), s = sin(angle), c2 = cos(angle) * cos(angle);
    double term = n % 2 == 1 ? cos(angle) : 1, sum = n == 1 ? 0 : term;
    for (uint64_t k = n % 2 == 1 ? 3 : 2; k <= n - 2 && n > 2; k += 2) {
        term *= c2 * (double)(k - 1) / (double)k;
        sum += term;
    }
    return n % 2 == 1 ? 2 / pi * (angle + s * sum) : s * sum;
}

double tacit__student_limit(uint64_t degrees)
{
    TACIT__REQUIRE(degrees > 0);
    if (degrees > MANY)
        return 1.959963984540054;
    double low = 0, high = 16; /* 12.706 at one degree */
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (probability_within(middle, degrees) < 0.95)
            low = middle;
        else
            high = middle;
    }
    return high;
}
