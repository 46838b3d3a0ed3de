/* See bandit_planner.h and docs/why/posterior-bandit.md.
 *
 * A reward in [0, 1] of arm a, from its middle, has the mean theta_a and a variance of at most 1/4. If n
 * users of a batch took the arm, which follows from the public plans, the cell that was shown is
 *
 *     X_a = n theta_a + e,      var X_a <= R = noise + n / 4,
 *
 * and with the prior theta_a ~ N(0, 1/12), the variance of an even reward,
 *
 *     precision = 12 + sum_k n^2 / R,     mean = sum_k n X / R / precision        over the batches k.
 *
 * A plan with xi takes the arm with the largest mean + xi / sqrt(precision). Where users answer
 * (contribute/score_answers.c), what happened has its variance over `truth`, and every answer adds `spread`
 * times the variance 1 / (4 A) of a cell if all answers are as likely.
 *
 * Cost of a fit: A times the plans of all batches. */
#include "plan/posterior/bandit_planner.h"

#include <math.h>

#include "base/error.h"
#include "base/workspace.h"

#define PRIOR 12.0           /* precision of a mean that is even in [0, 1] */
#define REWARD_VARIANCE 0.25 /* no reward in [0, 1] has more */

typedef struct belief {
    size_t n_actions;
    tacit__arm_belief *arms; /* [action] */
} belief;

/* How many users of the batch took the arm. */
static double pulls_of(const tacit__played_batch *b, size_t arm)
{
    double n = 0;
    for (size_t j = 0; j < b->n_plans; j++)
        n += b->plans[j] == arm ? (double)b->players[j] : 0;
    return n;
}

/* What an arm's cell varies by for each user of a batch, and for each who took the arm. */
static double even_variance(size_t n_actions)
{
    return REWARD_VARIANCE / (double)n_actions;
}

static tacit__arm_belief fit_arm(const belief *p, const tacit__played_batch *batches, size_t n,
                                 size_t arm)
{
    double precision = PRIOR, target = 0;
    for (size_t k = 0; k < n; k++) {
        const tacit__played_batch *b = &batches[k];
        const double pulls = pulls_of(b, arm),
                     variance = tacit__played_noise(b, 0, even_variance(p->n_actions)) +
                                pulls * REWARD_VARIANCE / b->truth;
        if (!(pulls > 0))
            continue;
        precision += pulls * pulls / variance;
        target += pulls * b->shown.sums[arm] / variance;
    }
    return (tacit__arm_belief){.mean = target / precision, .stddev = 1 / sqrt(precision)};
}

static void fit(void *posterior, const tacit__played_batch *batches, size_t n)
{
    belief *p = posterior;
    for (size_t a = 0; a < p->n_actions; a++)
        p->arms[a] = fit_arm(p, batches, n, a);
}

static void write_q(void *posterior, size_t h, double xi, const double *after, double *q)
{
    const belief *p = posterior;
    TACIT__REQUIRE(h == 0 && after == NULL);
    for (size_t a = 0; a < p->n_actions; a++)
        q[a] = p->arms[a].mean + xi * p->arms[a].stddev;
}

/* A fit begins with the prior, whatever was before it. */
static void fields(void *posterior, tacit__saved *s)
{
    (void)posterior, (void)s;
}

static const tacit__score_belief kind = {write_q, fit, fields, tacit__workspace_destroy};

/* N users have N / A pulls of every arm each, and so the information (N / A)^2 / (sum + N c) about it; N is
 * the smallest for which that is PRIOR. */
double tacit__bandit_wanted(const void *arms, const tacit__score_noise *noise, size_t steps)
{
    TACIT__REQUIRE(steps == 1);
    const size_t n = ((const tacit__score_table *)arms)->n_actions;
    const double A = (double)n, even = even_variance(n),
                 c = noise->user + noise->spread * even +
                     even / (noise->each > 0 ? noise->truth : 1),
                 b = PRIOR * A * A * c;
    return (b + sqrt(b * b + 4 * PRIOR * A * A * noise->sum)) / 2;
}

uint64_t tacit__bandit_users(const void *arms, const tacit__score_noise *noise, size_t steps,
                             double most)
{
    return (uint64_t)fmax(1, fmin(most, ceil(tacit__bandit_wanted(arms, noise, steps))));
}

tacit_status tacit__bandit_planner_create(size_t n_actions,
                                          const tacit__batch_plans_options *batches,
                                          tacit__score_planner **out)
{
    TACIT__REQUIRE(n_actions > 0 && !batches->uniform_start && batches->noise.fade <= 0);
    tacit__batch_plans_options options = *batches;
    belief w = {.n_actions = n_actions};
    belief *p = TACIT__WORKSPACE(w, TACIT__PIECE(w.arms, n_actions));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    fit(p, NULL, 0);
    options.n_states = options.horizon = 1;
    options.n_actions = options.numbers = n_actions;
    options.asked = batches->noise.each > 0 ? 1 : 0;
    return tacit__score_planner_create(&kind, p, &options, out);
}

const tacit__arm_belief *tacit__bandit_planner_arms(const tacit__score_planner *planner)
{
    return ((const belief *)tacit__score_planner_belief(planner))->arms;
}
