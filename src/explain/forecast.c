/* Forecasts: will so many users be enough? See tacit_agent_forecast in include/tacit/agent.h. The
 * learner's own criterion tells, or its release plan. Both searches double, then bisect to a
 * hundredth.
 *
 * From a plan alone: n users make a sum of length at most n l2 / sqrt(2) (l2 is how far two of them
 * are apart), and the noise of its last release has length sd sqrt(dimension). Their ratio,
 * averaged over releases by weight, is what the noise leaves of the signal when everything goes in
 * one direction; learners whose people go in many need it to be small. The tabular learners of
 * examples/price_of_privacy.yaml learn well at 0.005 and below, late at 0.03 to 0.04, nothing at
 * 0.25: the line is drawn at PLENTY. (In lock, with 20,000 users, ucrl-vtr loses a seventh of what
 * random play loses at 0.009, half at 0.04, nearly all at 0.07; lsvi-ucb in random-linear a seventh
 * at 0.005, half at 0.04.) Along epsilon the noise goes as 1 / epsilon (Laplace) or 1 / mu, with
 * the closed form of zCDP for mu; along users as their square root (local) or as the logarithm of
 * running sums, 1 + 0.3 ln n, which fits blt and is a little low for trees. All of this is rough,
 * and instant. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/agent_inside.h"

typedef double burden_fn(const void *context, double users, double epsilon);

#define MOST_USERS 1e12
#define LEAST_EPSILON 1e-3
#define MOST_EPSILON 1e3

/* The least x in [low, high] with a burden of at most 1, along users or epsilon. */
static double search(burden_fn *burden, const void *context, double users, double epsilon,
                     bool along_users, double low, double high)
{
    double good = low;
    while (burden(context, along_users ? good : users, along_users ? epsilon : good) > 1) {
        low = good;
        good *= 2;
        if (good > high)
            return HUGE_VAL;
    }
    while (good > 1.01 * low) {
        double middle = sqrt(low * good);
        if (burden(context, along_users ? middle : users, along_users ? epsilon : middle) > 1)
            low = middle;
        else
            good = middle;
    }
    return good;
}

/* Two digits, upwards: 31234 becomes "32000". */
static const char *rounded(double x, char text[32])
{
    double unit = pow(10, floor(log10(x)) - 1);
    (void)snprintf(text, 32, "%.10g", ceil(x / unit) * unit);
    return text;
}

/* The users and the epsilon that would be enough. `what` names what the users bring, `goal` what it is
 * for. */
static void forecast(burden_fn *burden, const void *context, uint64_t users, tacit_guarantee g,
                     const char *what, const char *goal, tacit_forecast *out)
{
    double n = (double)users, now = burden(context, n, g.epsilon);
    char number[32], instead[120];
    if (!isfinite(now))
        return;
    out->outlook = now <= 1   ? TACIT_OUTLOOK_ENOUGH
                   : now <= 2 ? TACIT_OUTLOOK_BORDERLINE
                              : TACIT_OUTLOOK_NOT_ENOUGH;
    out->users_needed =
        search(burden, context, n, g.epsilon, true, now <= 1 ? fmin(n, 16) : n, MOST_USERS);
    double least = fmin(g.epsilon, LEAST_EPSILON);
    if (now > 1)
        least = g.epsilon > 0 ? g.epsilon : LEAST_EPSILON;
    out->epsilon_needed = search(burden, context, n, g.epsilon, false, least, MOST_EPSILON);
    if (out->outlook == TACIT_OUTLOOK_ENOUGH) {
        (void)snprintf(out->words, sizeof out->words,
                       "enough data: %llu users, %s; about %s users would do at epsilon %g",
                       (unsigned long long)users, what, rounded(out->users_needed, number),
                       g.epsilon);
        return;
    }
    if (isfinite(out->epsilon_needed))
        (void)snprintf(instead, sizeof instead, "or epsilon %.2g", out->epsilon_needed);
    else
        (void)snprintf(instead, sizeof instead, "and no epsilon would do for so few");
    (void)snprintf(
        out->words, sizeof out->words,
        "%s for epsilon %g: %llu users, %s; %s expect to need about %s users, %s",
        out->outlook == TACIT_OUTLOOK_BORDERLINE ? "barely enough data" : "NOT ENOUGH DATA",
        g.epsilon, (unsigned long long)users, what, goal,
        isfinite(out->users_needed) ? rounded(out->users_needed, number) : "more than 1e12",
        instead);
}

/* --- From a plan --------------------------------------------------------------------------------- */

#define PLENTY 0.03

typedef struct prospect {
    tacit_law law;
    tacit_guarantee guarantee;
    double users, ratio; /* as they are */
} prospect;

/* Ones in a word of the smooth tree for so many users, when each is in `zeros` nodes: C(ones +
 * zeros, zeros) > users. */
static double smooth_ones(double zeros, double users)
{
    double ones = 0, words = 1;
    while (words <= users && ones < 64) {
        ones++;
        words *= (ones + zeros) / ones;
    }
    return fmax(ones, 1);
}

/* Standard deviation of the last release; NaN: not known. */
static double last_stddev(const tacit_release *r, tacit_law law, double scale, double users)
{
    double sd = scale * (law == TACIT_LAW_LAPLACE ? M_SQRT2 : 1);
    if (r->mechanism == NULL)
        return (double)NAN;
    if (strcmp(r->mechanism, "local") == 0)
        return sd * sqrt(users);
    if (strcmp(r->mechanism, "blt") == 0 || strcmp(r->mechanism, "tree") == 0)
        return sd * r->column_l2;
    if (strcmp(r->mechanism, "smooth") == 0)
        return sd * sqrt(smooth_ones(r->column_l1, users));
    return sd;
}

static double ratio_of(const tacit_plan *plan, double users)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *r = tacit_plan_release(plan, i);
        double length = users * (r->l2 > 0 ? r->l2 : r->l1) / M_SQRT2;
        double noise = last_stddev(r, tacit_plan_law(plan), tacit_plan_scale(plan, i), users) *
                       sqrt((double)r->dimension);
        sum += r->weight * noise / length;
        weights += r->weight;
    }
    return sum / weights;
}

/* mu / sqrt(2) at (epsilon, delta) by zCDP, up to a factor that hardly varies; at least that of (0,
 * delta), where mu is sqrt(2 pi) delta. */
static double loudness(const prospect *p, double epsilon)
{
    if (p->law == TACIT_LAW_LAPLACE || p->guarantee.delta <= 0)
        return epsilon;
    double bits = -log(p->guarantee.delta);
    return fmax(sqrt(bits + epsilon) - sqrt(bits), sqrt(M_PI) * p->guarantee.delta);
}

static double plan_burden(const void *context, double users, double epsilon)
{
    const prospect *p = context;
    double quieter = loudness(p, p->guarantee.epsilon) / loudness(p, epsilon);
    double more = users / p->users;
    double grown = p->guarantee.model == TACIT_MODEL_LOCAL
                       ? sqrt(more)
                       : (1 + 0.3 * log(users)) / (1 + 0.3 * log(p->users));
    return p->ratio / PLENTY * quieter * grown / more;
}

static void forecast_plan(const tacit_plan *plan, uint64_t users, tacit_guarantee g,
                          tacit_forecast *out)
{
    char what[120];
    prospect p = {.law = tacit_plan_law(plan),
                  .guarantee = g,
                  .users = (double)users,
                  .ratio = ratio_of(plan, (double)users)};
    (void)snprintf(what, sizeof what, "with noise of %.2g %% of the longest sum that they can make",
                   100 * p.ratio);
    forecast(plan_burden, &p, users, g, what, "to learn much", out);
}

void tacit_agent_forecast(const tacit_agent *agent, tacit_forecast *out)
{
    *out = (tacit_forecast){.users_needed = (double)NAN, .epsilon_needed = (double)NAN};
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    const tacit__criterion *own = agent->family->criterion;
    char what[80];
    if (agent->model == TACIT_MODEL_NONE)
        return;
    if (own != NULL) {
        own->describe(agent->self, what, sizeof what);
        forecast(own->burden, agent->self, agent->episodes, agent->guarantee, what, own->goal, out);
    } else if (plan != NULL) {
        forecast_plan(plan, agent->episodes, agent->guarantee, out);
    }
}
