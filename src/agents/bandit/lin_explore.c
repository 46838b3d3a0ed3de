/* How long explore-commit-features explores. Public numbers only.
 *
 * The model: features of length 1 that go evenly in all d directions, and contexts that move the mean
 * reward by MODEST (standard deviation, for rewards in [-1, 1]). After t users, t / blocks for an action, a
 * prediction is off by
 *     d/t + (d/t)^2 (sr^2 + st^2 MODEST^2 d / 2)
 * squared: statistics, noise in the response, noise in the Gram matrix. */
#include <math.h>

#include "agents/bandit/lin_ucb_agent.h"

#include "base/error.h"

#define MODEST 0.25 /* chosen on linear-bandit, seeds 1 and 2 */
#define STRIDE 1.05 /* of the numbers of users that are tried */

/* Of the squared error after this many users, 1 / (1 + MODEST^2 / error) of what can be learned is left. */
static double left_after(const tacit__regression_options *o, double sd, double users)
{
    TACIT__REQUIRE(users > 0);
    const double d = (double)o->dimension * (double)o->blocks, s = o->response_weight,
                 spread = 1 / (s * s) + MODEST * MODEST * (double)o->dimension / 2;
    const double noise = sd * sd * spread * (o->guarantee.model == TACIT_MODEL_LOCAL ? users : 1);
    const double error = d / users + d / users * (d / users) * noise;
    return error / (error + MODEST * MODEST);
}

/* As in kernel_features.c: who explores loses what the best action is worth, and the others lose
 * 1 - sqrt(1 - left) of it. */
uint64_t tacit__lin_explore(const tacit__regression_options *o)
{
    TACIT__REQUIRE(o->users > 0 && o->dimension > 0);
    const tacit_guarantee *g = &o->guarantee;
    const double users = (double)o->users;
    double sd = 0, mu = 1, best = 1, least = HUGE_VAL;
    if (g->model != TACIT_MODEL_NONE && tacit_gdp_mu(g->epsilon, g->delta, &mu) == TACIT_OK)
        sd = tacit__regression_sensitivity(o->response_weight) / mu;
    for (double n = 1; n <= fmax(1, users / 2); n = ceil(STRIDE * n)) {
        const double left = left_after(o, sd, n), loss = n + (users - n) * (1 - sqrt(1 - left));
        if (loss < least) {
            least = loss;
            best = n;
        }
    }
    return (uint64_t)best;
}
