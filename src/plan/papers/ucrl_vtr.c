/* UCRL-VTR [LGLP21, Thm. 7]. As printed in [LGLP21, Cor. 5 and 6], divided by H (U in units of H^2,
 * lambda = H^2 is 1):
 *     3 (W + 1) sqrt(1 + U) + sqrt(2 [log(3 H / p) + (d/2) log(1 + K H)])
 * else the radius of radius.h with sigma = 1: targets in [0, 1] or [-1, 1] have sub-Gaussian width at most 1.
 *
 * UCRL-VTR+ [LGLP21, Thm. 9], with the Bernstein inequality of [ZGS21]. Weighted steps in units of
 * d: features of norm sqrt(d), so that raw numbers are d times ours, lambda = 1 is 1/d, and a raw
 * radius is sqrt(d) times ours. For
 * |eta| <= b and variance at most s^2, with l = log(24 k^2 H / p),
 *     |sum x eta|_{(G + lambda I)^-1} <= 8 s sqrt(d log(1 + k / (d lambda)) l) + 4 b l.
 * Weighted: s = 1 for the true weights and sqrt(d) for whatever weights, b = sqrt(d), twice that if
 * centered. Squares: s = b = 1 in units of unit^2, b = 2 if centered. Printed: 3 (W + 1) sqrt(lambda
 * + U) for the noise's part.
 *
 * Printed noise [LGLP21, Cor. 5, 6, 10, 11], K0 = ceil(log2 K + 1): nodes under joint privacy are
 * (Z + Z^T) / sqrt(2), that is sqrt(2) sigma on packed coordinates. Under local privacy the matrix
 * has d^2 independent entries and is not symmetric; averaged with its transpose it has sigma on
 * packed coordinates. */
#include "plan/papers/ucrl_vtr.h"

#include <math.h>

#include "base/error.h"

void tacit__ucrl_vtr_confidence(const tacit__radius_options *o, const tacit__gram_sums *m,
                                tacit__confidence *out)
{
    double lambda = o->lambda > 0 ? o->lambda : 1, radius;
    tacit__radius_ridge(o, m, 0, lambda, out);
    if (o->printed) {
        double h = (double)o->horizon, k = (double)o->episodes, d = tacit__radius_dimension(o, 0);
        radius = 3 * (o->parameter_norm[0] + 1) * sqrt(lambda + o->level[0].gram) +
                 sqrt(2 * (log(3 * h / o->failure) + d / 2 * log1p(k * h)));
    } else {
        radius = tacit__radius_noise(o, m, 0, lambda) + tacit__radius_hoeffding(o, 0, lambda, 1);
    }
    out->radius = o->bonus_scale * radius;
    out->crude = 0;
}

/* The noise's part, printed or proven. */
static double noise_part(const tacit__radius_options *o, const tacit__gram_sums *m, size_t i,
                         double lambda)
{
    return o->printed ? 3 * (o->parameter_norm[i] + 1) * sqrt(lambda + o->level[i].gram)
                      : tacit__radius_noise(o, m, i, lambda);
}

void tacit__ucrl_vtr_plus_confidence(const tacit__radius_options *o, const tacit__gram_sums *m,
                                     tacit__confidence *out)
{
    double d = o->printed ? tacit__radius_dimension(o, 0) : (double)o->frame[0].width;
    double blocks = o->printed ? 1 : (double)o->frame[0].blocks;
    double h = (double)o->horizon, k = (double)(m[0].users > 0 ? m[0].users : 1);
    double most = (double)o->episodes, b = o->centered[0] ? 2 : 1;
    double l = log(24 * k * k * h * blocks / o->failure);
    double first = o->lambda > 0 ? o->lambda : 1 / d;
    double second = o->printed ? 1 / (h * h * h * h) : o->lambda > 0 ? o->lambda : 1;
    double width = log1p(most / (d * first)) * l;
    double noise = noise_part(o, m, 0, first);
    tacit__radius_ridge(o, m, 0, first, &out[0]);
    tacit__radius_ridge(o, m, 1, second, &out[1]);
    out[0].radius = o->bonus_scale * (noise + 8 * sqrt(width) + 4 * b * l);
    out[0].crude = o->bonus_scale * (noise + 8 * sqrt(d * width) + 4 * b * l);
    out[1].radius = o->bonus_scale * (noise_part(o, m, 1, second) +
                                      8 * sqrt(d * log1p(most / (d * second)) * l) + 4 * b * l);
    out[1].crude = 0;
}

/* --- Printed noise ------------------------------------------------------------------------------- */

/* One regression of [LGLP21] whose raw statistics are bounded by `bound`: node noise sigma, level 1
 * / (events K H). */
static tacit__printed_noise luyo(const tacit__printed_case *c, double sigma, double bound, double d,
                                 double nodes, double events)
{
    TACIT__REQUIRE(c->epsilon > 0 && c->delta > 0 && c->failure > 0);
    double kh = events * c->episodes * c->horizon / c->failure;
    double node = sigma / bound, root = sqrt(nodes);
    return (tacit__printed_noise){.gram = c->local ? node : M_SQRT2 * node,
                                  .response = node,
                                  .gram_level = node * root * (4 * sqrt(d) + 2 * log(kh)),
                                  .response_level = node * root * (sqrt(d) + 2 * sqrt(log(kh)))};
}

static double nodes_of(const tacit__printed_case *c)
{
    return c->local ? c->episodes : ceil(log2(c->episodes) + 1);
}

void tacit__printed_ucrl_vtr(const tacit__printed_case *c, tacit__printed_noise *out)
{
    double h = c->horizon, epsilon = c->epsilon, delta = c->delta;
    double k0 = nodes_of(c);
    double sigma =
        c->local
            ? 4 * h * h * h / epsilon * sqrt(2 * log(4 * h / delta))
            : 32 * h * h / epsilon *
                  sqrt(2 * h * k0 * log(8 * h / delta) * log(4 / delta) * log(16 * h * k0 / delta));
    out[0] = luyo(c, sigma, h * h, c->dimension[0], k0, 6);
}

void tacit__printed_ucrl_vtr_plus(const tacit__printed_case *c, tacit__printed_noise *out)
{
    double h = c->horizon, epsilon = c->epsilon, delta = c->delta;
    double k0 = nodes_of(c), d = c->dimension[0];
    double unit = c->local ? 8 * h / epsilon * sqrt(2 * log(8 * h / delta))
                           : 64 / epsilon *
                                 sqrt(2 * h * k0 * log(16 * h / delta) * log(8 / delta) *
                                      log(32 * h * k0 / delta));
    /* raw: d times this for weighted steps, H^4 times for squares */
    out[0] = luyo(c, unit, 1, d, k0, 24);
    out[1] = luyo(c, unit, 1, c->dimension[1], k0, 24);
}
