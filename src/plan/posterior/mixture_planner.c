/* See mixture_planner.h. A learner of our own; the page docs/why/posterior-mixture.md
 * derives it, says which worlds its constants were chosen on, and what each of them is worth.
 *
 * A plan has one xi = boldness |N(0, 1)| for all its steps, and
 *
 *     Q_h = r + min(m.x + xi |B' x|_{precision^-1}, max w.x),   x_j = sum_s' phi_j V_{h+1}(s'),
 *
 * with m the posterior mean of step h, and w all weights in the simplex of which each one is within xi
 * standard deviations of its own mean. The Gaussian posterior does not know that weights are positive and
 * sum to 1: where one kernel is known to have nearly all the weight, nothing is to be hoped of the others,
 * though no user may have tried them. Where rewards are learned, r is min(1, mean + xi REWARD_BOLDNESS
 * sd). */
#include "plan/posterior/mixture_planner.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"

/* The posterior of the weights, and what plans need beside it. */
typedef struct outlook {
    const tacit__mixture_model *model;
    tacit__mixture_belief *weights;
    double *rewards; /* [horizon][pair]; NULL: they are learned */
    double *x;       /* [part] */
    double *spread;  /* [width] */
    size_t *order;   /* [part]: those with the largest x first */
} outlook;

/* The most of w.x for weights w in the simplex, each of which is within xi deviations of its mean: as much as
 * is allowed for the parts with the largest x, which are first in `order`. */
static double most_promised(const outlook *o, size_t table, double xi)
{
    const size_t d = o->model->parts;
    const double *mean = o->weights->weights + table * d,
                 *deviation = o->weights->deviation + table * d;
    double left = 1, sum = 0;
    for (size_t j = 0; j < d; j++) {
        const double least = fmax(0, mean[j] - xi * deviation[j]);
        sum += least * o->x[j];
        left -= least;
    }
    for (size_t i = 0; i < d && left > 0; i++) {
        const size_t j = o->order[i];
        const double room = fmin(mean[j], xi * deviation[j]) + xi * deviation[j];
        sum += fmin(left, room) * o->x[j];
        left -= room;
    }
    return sum;
}

/* m.x + xi |B' x|, but not more than such weights allow. */
static double hope(outlook *o, size_t table, double xi, double mean)
{
    const tacit__mixture_model *m = o->model;
    const size_t w = m->width, d = m->parts;
    double square = 0;
    for (size_t j = 0; j < d; j++) {
        size_t at = j;
        for (; at > 0 && o->x[o->order[at - 1]] < o->x[j]; at--)
            o->order[at] = o->order[at - 1];
        o->order[at] = j;
    }
    tacit__mixture_model_differences(m, o->x, o->spread);
    tacit__solve_lower(w, o->weights->factor + table * w * w, o->spread);
    for (size_t i = 0; i < w; i++)
        square += o->spread[i] * o->spread[i];
    return fmin(mean + xi * sqrt(square), most_promised(o, table, xi));
}

/* What follows a pair at step h is worth, with values `after` [state] of the next one. */
static double value_after(outlook *o, size_t h, size_t pair, double xi, const double *after)
{
    const tacit__mixture_model *m = o->model;
    const tacit__mixture_belief *post = o->weights;
    const size_t S = m->n_states, d = m->parts, table = post->tables == 1 ? 0 : h;
    double mean = 0;
    for (size_t j = 0; j < d; j++) {
        const double *kernel = m->kernels + (pair * d + j) * S;
        double x = 0;
        for (size_t next = 0; next < S; next++)
            x += kernel[next] * after[next];
        o->x[j] = x;
        mean += post->weights[table * d + j] * x;
    }
    return xi > 0 ? hope(o, table, xi, mean) : mean;
}

/* Rewards have no directions in common, as weights have: each pair needs less. */
#define REWARD_BOLDNESS 0.5

static double reward_of(const outlook *o, size_t h, size_t pair, double xi)
{
    const tacit__mixture_belief *post = o->weights;
    const size_t at = (o->rewards != NULL || post->tables > 1 ? h * o->model->pairs : 0) + pair;
    return o->rewards != NULL ? o->rewards[at]
                              : fmin(1, fmax(0, 0.5 + post->rewards[at]) +
                                            xi * REWARD_BOLDNESS * post->spread[at]);
}

static void write_q(void *posterior, size_t h, double xi, const double *after, double *q)
{
    outlook *o = posterior;
    const size_t pairs = o->model->pairs;
    for (size_t pair = 0; pair < pairs; pair++)
        q[pair] =
            reward_of(o, h, pair, xi) + (after != NULL ? value_after(o, h, pair, xi, after) : 0);
}

static void fit(void *posterior, const tacit__played_batch *batches, size_t n)
{
    tacit__mixture_belief_fit(((outlook *)posterior)->weights, batches, n);
}

static void fields(void *posterior, tacit__saved *s)
{
    const outlook *o = posterior;
    tacit__saved_chances(s, o->weights->weights, o->weights->tables * o->model->parts);
    tacit__saved_chances(s, o->weights->start, o->model->n_states);
}

static void destroy(void *posterior)
{
    outlook *o = posterior;
    if (o != NULL)
        tacit__mixture_belief_destroy(o->weights);
    tacit__workspace_destroy(o);
}

static const tacit__score_belief kind = {write_q, fit, fields, destroy};

tacit_status tacit__mixture_planner_create(const tacit__mixture_model *m, bool stationary,
                                           const double *rewards,
                                           const tacit__batch_plans_options *batches,
                                           tacit__score_planner **out)
{
    const size_t H = batches->horizon, steps = H - 1;
    TACIT__REQUIRE(H >= 2 && m->learns_rewards == (rewards == NULL));
    tacit__batch_plans_options options = *batches;
    options.n_states = m->n_states;
    options.n_actions = m->n_actions;
    const tacit__score_table table = tacit__mixture_model_table(m, steps);
    options.numbers = tacit__score_table_rewards(&table, H);
    options.asked = batches->noise.each > 0 ? tacit__score_table_asked(&table) : 0;
    outlook w = {.model = m};
    outlook *o = TACIT__WORKSPACE(w, TACIT__PIECE_IF(rewards != NULL, w.rewards, H * m->pairs),
                                  TACIT__PIECE(w.x, m->parts), TACIT__PIECE(w.spread, m->width),
                                  TACIT__PIECE(w.order, m->parts));
    if (o == NULL)
        return TACIT_NO_MEMORY;
    tacit_status status = tacit__mixture_belief_create(m, steps, stationary, &o->weights);
    if (status != TACIT_OK) {
        destroy(o);
        return status;
    }
    for (size_t i = 0; rewards != NULL && i < H * m->pairs; i++)
        o->rewards[i] = fmin(1, fmax(0, rewards[stationary ? i % m->pairs : i]));
    return tacit__score_planner_create(&kind, o, &options, out);
}

const tacit__mixture_belief *tacit__mixture_planner_weights(const tacit__score_planner *p)
{
    return ((const outlook *)tacit__score_planner_belief(p))->weights;
}
