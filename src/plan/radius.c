/* The formulas of plan/radius.h, one function for each. */
#include "plan/radius.h"

#include <math.h>

#include "base/error.h"

static double level(const tacit__radius_options *o, const tacit__gram_sums *m, size_t i)
{
    return o->printed ? o->level[i].gram : m[i].gram_level;
}

double tacit__radius_dimension(const tacit__radius_options *o, size_t i)
{
    TACIT__REQUIRE(i < TACIT__REGRESSIONS);
    return (double)o->frame[i].blocks * (double)o->frame[i].width;
}

void tacit__radius_ridge(const tacit__radius_options *o, const tacit__gram_sums *m, size_t i,
                         double lambda, tacit__confidence *out)
{
    TACIT__REQUIRE(i < TACIT__REGRESSIONS && lambda >= 0);
    out->add = lambda + o->shift_scale * 2 * level(o, m, i);
    out->floor = lambda;
}

double tacit__radius_noise(const tacit__radius_options *o, const tacit__gram_sums *m, size_t i,
                           double lambda)
{
    TACIT__REQUIRE(i < TACIT__REGRESSIONS && lambda > 0);
    double u = level(o, m, i), shift = fmax(1, o->shift_scale) * 2 * u;
    return sqrt(lambda + shift + u) * o->parameter_norm[i] +
           m[i].response_level / sqrt(lambda + shift - u);
}

double tacit__radius_hoeffding(const tacit__radius_options *o, size_t i, double lambda,
                               double sigma)
{
    TACIT__REQUIRE(i < TACIT__REGRESSIONS && lambda > 0);
    double d = (double)o->frame[i].width, blocks = (double)o->frame[i].blocks;
    return sigma * sqrt(2 * log(3 * (double)o->horizon * blocks / o->failure) +
                        d * log1p((double)o->episodes / (d * lambda)));
}
