/* See audit/power.h.
 *
 * Gaussian noise smaller by f makes a mu-GDP pair an (f mu)-GDP one, and the test at the middle of the two
 * worlds is the best. Laplace: the event {loss > epsilon} maximizes P(E) - e^epsilon Q(E) =
 * delta(epsilon), the pair's privacy profile, and both probabilities follow from the profile's slope: Q(E)
 * = -e^-epsilon delta'(epsilon), P(E) = delta - delta'. */
#include "audit/power.h"

#include <math.h>

#include "audit/attack.h"
#include "audit/bounds.h"
#include "base/error.h"
#include "base/memory.h"

static const double factors[] = {1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 16};
enum { N_FACTORS = sizeof factors / sizeof *factors };

/* delta(epsilon) of the pair with noise smaller by `factor`; NaN: not known. */
static double profile(tacit__prospect *p, double factor, double epsilon)
{
    tacit_composition out;
    tacit_cost *costs = tacit__alloc(p->n_costs, sizeof *costs);
    double delta = (double)NAN;
    p->no_memory = p->no_memory || costs == NULL;
    if (costs == NULL)
        return delta;
    for (size_t i = 0; i < p->n_costs; i++) {
        costs[i] = p->costs[i];
        costs[i].scale /= factor;
    }
    tacit_status status = tacit_compose_at_epsilon(costs, p->n_costs, epsilon, &out, NULL);
    if (status == TACIT_OK)
        delta = (out.delta.low + out.delta.high) / 2;
    p->no_memory = p->no_memory || status == TACIT_NO_MEMORY;
    tacit__free(costs);
    return delta;
}

static double laplace_trials(tacit__prospect *p, double factor)
{
    double epsilon = p->claim.epsilon, step = 1e-2 * epsilon;
    if (factor * p->moved <= epsilon * (1 + 1e-9) || p->n_costs == 0)
        return HUGE_VAL;
    double here = profile(p, factor, epsilon), there = profile(p, factor, epsilon - step);
    double slope = (here - there) / step;
    double q = -exp(-epsilon) * slope, likely = here - slope;
    if (!(here > 0 && q >= 0 && likely > 0))
        return HUGE_VAL;
    return tacit__trials_for_event(fmin(likely, 1), fmin(q, 1), epsilon, p->claim.delta,
                                   p->error_epsilon);
}

/* Trials in each world, those that choose included, that convict with 90 % probability a mechanism whose
 * noise is `factor` times smaller than declared; HUGE_VAL: no number does. */
static double trials_for(tacit__prospect *p, double factor)
{
    TACIT__REQUIRE(factor > 0);
    double n = p->law == TACIT_LAW_GAUSSIAN
                   ? tacit__trials_for_mu(factor * p->moved, p->claim_mu, p->error_mu)
                   : laplace_trials(p, factor);
    return n * 4 / 3; /* a quarter chooses */
}

double tacit__power_factor(tacit__prospect *p, uint64_t trials)
{
    TACIT__REQUIRE(trials > 0);
    for (size_t i = 0; i < N_FACTORS; i++)
        if (trials_for(p, factors[i]) <= (double)trials)
            return factors[i];
    return HUGE_VAL;
}

double tacit__power_ceiling(uint64_t n, double delta, double error)
{
    TACIT__REQUIRE(delta >= 0 && error > 0);
    return tacit__epsilon_proved(n, 0, n, delta, error);
}

uint64_t tacit__power_choose(tacit__prospect *p, double numbers_per_trial, double effort)
{
    TACIT__REQUIRE(numbers_per_trial > 0 && effort > 0);
    static const double least = 64, most = 1e6;
    double factor =
        p->law == TACIT_LAW_GAUSSIAN ? p->claim_mu / p->moved : p->claim.epsilon / p->moved;
    double wanted = p->moved > 0 ? trials_for(p, TACIT__POWER_WANTED * factor) : most;
    double affordable = fmax(effort / fmax(numbers_per_trial, 1), least);
    return (uint64_t)ceil(fmax(fmin(fmin(wanted, affordable), most), least));
}
