/* Transitions and rewards are two regressions with targets whose sub-Gaussian width is half their
 * range [Z22, Lemma 3.1]: the radius of radius.h with sigma = 1/2, or 1 if targets are centered.
 * Each holds with probability 1 - alpha, with 3 H in the place of H.
 *
 * Printed, with U the papers' Sigma: no ridge but the shift 2 U; the paper's features are sqrt(d) H
 * times ours and its parameters sqrt(d) long, which is d for ours:
 *     transitions (divided by H)  (1/2) sqrt(2 log(H / alpha) + d log(1 + K / (d U))) + d sqrt(3 U) + C / sqrt(U)
 *     rewards                     (1/2) sqrt(2 log(H / alpha) + d log(1 + K / (d U))) + sqrt(3 d U) + C / sqrt(U)
 *
 * Printed noise [Z22, Thm. 6.4], m = ceil(log2 K): sigma on each entry of a triangle, which is as
 * much off the diagonal and is taken for all coordinates here. Local privacy is only sketched: 4H
 * releases at (epsilon, delta) / 4H each, with the sensitivities of replacement. */
#include "plan/papers/linopt.h"

#include <math.h>

#include "base/error.h"

static double printed_radius(const tacit__radius_options *o, size_t i)
{
    double d = tacit__radius_dimension(o, i), u = o->level[i].gram;
    double parameter = i == TACIT__TRANSITIONS ? d : sqrt(d);
    return sqrt(2 * log((double)o->horizon / o->failure) +
                d * log1p((double)o->episodes / (d * u))) /
               2 +
           parameter * sqrt(3 * u) + o->level[i].response / sqrt(u);
}

void tacit__linopt_confidence(const tacit__radius_options *o, const tacit__gram_sums *m,
                              tacit__confidence *out)
{
    for (size_t i = 0; i < TACIT__REGRESSIONS; i++) {
        double lambda = o->lambda > 0 ? o->lambda : 1, sigma = o->centered[i] ? 1 : 0.5;
        if (o->printed) { /* the shift alone */
            tacit__radius_ridge(o, m, i, 0, &out[i]);
            out[i].floor = fmax(o->shift_scale, 1e-3) * o->level[i].gram;
        } else {
            tacit__radius_ridge(o, m, i, lambda, &out[i]);
        }
        double radius = o->printed ? printed_radius(o, i)
                                   : tacit__radius_noise(o, m, i, lambda) +
                                         tacit__radius_hoeffding(o, i, lambda, sigma);
        out[i].radius = o->bonus_scale * radius;
        out[i].crude = 0;
    }
}

void tacit__printed_linopt(const tacit__printed_case *c, tacit__printed_noise *out)
{
    TACIT__REQUIRE(c->epsilon > 0 && c->delta > 0 && c->failure > 0);
    double h = c->horizon, epsilon = c->epsilon, delta = c->delta;
    double kh = c->episodes * h / c->failure;
    double m = c->local ? c->episodes : fmax(1, ceil(log2(c->episodes)));
    for (int i = 0; i < 2; i++) {
        double d = c->dimension[i];
        double gram = h / epsilon * sqrt(32 * m * log(4 * h / delta)), response = gram;
        if (c->local) {
            double each = 4 * h / epsilon * sqrt(2 * log(8 * h / delta));
            gram = M_SQRT2 * each;
            response = 2 * each;
        }
        out[i] = (tacit__printed_noise){
            .gram = M_SQRT2 * gram,
            .response = response,
            .gram_level = gram * sqrt(m) * (4 * sqrt(d) + sqrt(8 * log(8 * kh))),
            .response_level = response * sqrt(m) * (sqrt(d) + sqrt(2 * log(4 * kh)))};
    }
}
