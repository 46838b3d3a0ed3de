/* See printed.h. K0 = ceil(log2 K + 1), m = ceil(log2 K).
 *
 * Nodes of [LGLP21] under joint privacy are (Z + Z^T) / sqrt(2), that is sqrt(2) sigma on packed coordinates; of [Z22], Gaussian noise
 * sigma on each entry of a triangle, which is as much off the diagonal and is taken for all coordinates here. Under local
 * privacy the matrix of [LGLP21] has d^2 independent entries and is not symmetric; averaged with its transpose it has sigma
 * on packed coordinates. [Z22] only sketches local privacy: 4H releases at (epsilon, delta) / 4H each, with the sensitivities of replacement. */
#include "agents/printed.h"

#include <math.h>
#include <stdbool.h>

static bool is_local(const tacit__printed_case *c)
{
    return c->guarantee.model == TACIT_MODEL_LOCAL;
}

/* One regression of [LGLP21] whose raw statistics are bounded by `bound`: node noise sigma, level 1 / (events K H). */
static tacit__printed_noise luyo(const tacit__printed_case *c, double sigma, double bound, double d,
                                 double nodes, double events)
{
    double kh = events * c->episodes * c->horizon / c->failure;
    double node = sigma / bound, root = sqrt(nodes);
    return (tacit__printed_noise){.gram = is_local(c) ? node : M_SQRT2 * node,
                                  .response = node,
                                  .gram_level = node * root * (4 * sqrt(d) + 2 * log(kh)),
                                  .response_level = node * root * (sqrt(d) + 2 * sqrt(log(kh)))};
}

static double nodes_of(const tacit__printed_case *c)
{
    return is_local(c) ? c->episodes : ceil(log2(c->episodes) + 1);
}

void tacit__printed_ucrl_vtr(const tacit__printed_case *c, tacit__printed_noise out[1])
{
    double h = c->horizon, epsilon = c->guarantee.epsilon, delta = c->guarantee.delta;
    double k0 = nodes_of(c);
    double sigma =
        is_local(c)
            ? 4 * h * h * h / epsilon * sqrt(2 * log(4 * h / delta))
            : 32 * h * h / epsilon *
                  sqrt(2 * h * k0 * log(8 * h / delta) * log(4 / delta) * log(16 * h * k0 / delta));
    out[0] = luyo(c, sigma, h * h, c->dimension[0], k0, 6);
}

void tacit__printed_ucrl_vtr_plus(const tacit__printed_case *c, tacit__printed_noise out[2])
{
    double h = c->horizon, epsilon = c->guarantee.epsilon, delta = c->guarantee.delta;
    double k0 = nodes_of(c), d = c->dimension[0];
    double unit = is_local(c) ? 8 * h / epsilon * sqrt(2 * log(8 * h / delta))
                              : 64 / epsilon *
                                    sqrt(2 * h * k0 * log(16 * h / delta) * log(8 / delta) *
                                         log(32 * h * k0 / delta));
    /* raw: d times this for weighted steps, H^4 times for squares */
    out[0] = luyo(c, unit, 1, d, k0, 24);
    out[1] = luyo(c, unit, 1, c->dimension[1], k0, 24);
}

void tacit__printed_linopt(const tacit__printed_case *c, tacit__printed_noise out[2])
{
    double h = c->horizon, epsilon = c->guarantee.epsilon, delta = c->guarantee.delta;
    double kh = c->episodes * h / c->failure;
    double m = is_local(c) ? c->episodes : fmax(1, ceil(log2(c->episodes)));
    for (int i = 0; i < 2; i++) {
        double d = c->dimension[i];
        double gram = h / epsilon * sqrt(32 * m * log(4 * h / delta)), response = gram;
        if (is_local(c)) {
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
