/* See gp_ucb.h. All state is the posterior's, n^2 for a step. */
#include "plan/papers/gp_ucb.h"

#include <math.h>

#include "base/error.h"

uint32_t tacit__gp_ucb_act(const tacit__gaussian_process *q, const tacit__gp_ucb_options *o,
                           size_t state)
{
    TACIT__REQUIRE(state < q->pairs.n_contexts);
    double spread = 0.5 / sqrt(q->tau);
    double beta = o->norm + spread * sqrt(2 * (q->gain + 1 + log(1 / o->failure)));
    double best = -HUGE_VAL;
    uint32_t action = 0;
    for (uint32_t a = 0; a < q->pairs.n_actions; a++) {
        size_t w = state * q->pairs.n_actions + a;
        double score = q->mean[w] + o->bonus_scale * beta * sqrt(fmax(0, q->variance[w]));
        if (score > best) {
            best = score;
            action = a;
        }
    }
    return action;
}
