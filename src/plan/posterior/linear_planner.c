/* See linear_planner.h. A learner of our own; the page docs/why/posterior-linear.md derives it,
 * says which worlds its constants were chosen on, and what they are worth.
 *
 * A plan has one xi for all its steps, and with the posterior's chances P and rewards r of step h
 *
 *     Q_h = min(1, r + xi |phi|_{rewards}) + min(max V, P V + xi |phi|_{measures} |V - mean V|),   V = V_{h+1},
 *
 * |phi| by the inverse precisions: two standard deviations of what is not known, times xi. A constant in V
 * costs nothing, as chances sum to 1 in any case. */
#include "plan/posterior/linear_planner.h"

#include <math.h>

#include "base/error.h"

/* The largest of the values of the next step, and their distance from their mean. */
typedef struct outlook {
    const double *values; /* [state] */
    double most, length;
} outlook;

static outlook outlook_of(const double *values, size_t n_states)
{
    double mean = 0, square = 0;
    outlook v = {.values = values, .most = values[0]};
    for (size_t s = 0; s < n_states; s++) {
        mean += values[s] / (double)n_states;
        v.most = fmax(v.most, values[s]);
    }
    for (size_t s = 0; s < n_states; s++)
        square += (values[s] - mean) * (values[s] - mean);
    v.length = sqrt(square);
    return v;
}

/* What follows is worth; `row`: of the posterior's tables. */
static double value_after(const tacit__linear_belief *post, size_t row, double xi,
                          const outlook *next)
{
    const size_t S = post->model->n_states;
    double mean = 0;
    for (size_t s = 0; s < S; s++)
        mean += post->chances[row * S + s] * next->values[s];
    return fmin(next->most, mean + xi * post->spread[row] * next->length);
}

static void write_q(void *posterior, size_t h, double xi, const double *after, double *q)
{
    const tacit__linear_belief *post = posterior;
    const size_t pairs = post->model->pairs, first = post->tables == 1 ? 0 : h * pairs;
    for (size_t pair = 0; pair < pairs; pair++)
        q[pair] = fmin(1, post->expected[first + pair] + xi * post->reward_spread[first + pair]);
    if (after == NULL)
        return;
    const outlook next = outlook_of(after, post->model->n_states);
    for (size_t pair = 0; pair < pairs; pair++)
        q[pair] += value_after(post, first + pair, xi, &next);
}

static void fit(void *posterior, const tacit__played_batch *batches, size_t n)
{
    tacit__linear_belief_fit(posterior, batches, n);
}

/* Of what is saved: 2 since rewards are added as phi (2 y - 1). */
enum { LAYOUT = 2 };

static void fields(void *posterior, tacit__saved *s)
{
    tacit__linear_belief *post = posterior;
    const size_t d = post->model->dimension, S = post->model->n_states;
    uint64_t layout = LAYOUT;
    tacit__saved_value(s, &layout, sizeof layout);
    if (layout != LAYOUT)
        tacit__saved_fail(s, TACIT_WRONG_VERSION, NULL);
    tacit__saved_reals(s, post->measures, post->tables * S * d, TACIT__MOST_SUM);
    tacit__saved_reals(s, post->rewards, post->tables * d, TACIT__MOST_SUM);
    tacit__saved_chances(s, post->start, S);
    if (s->pass == TACIT__APPLY)
        tacit__linear_belief_predict(post);
}

static void destroy(void *posterior)
{
    tacit__linear_belief_destroy(posterior);
}

static const tacit__score_belief kind = {write_q, fit, fields, destroy};

tacit_status tacit__linear_planner_create(const tacit__linear_model *m, bool stationary,
                                          const tacit__batch_plans_options *batches,
                                          tacit__score_planner **out)
{
    tacit__linear_belief *posterior = NULL;
    tacit__batch_plans_options options = *batches;
    options.n_states = m->n_states;
    options.n_actions = m->n_actions;
    options.horizon = m->horizon;
    options.numbers = tacit__feature_scores_rewards(&m->scores, m->horizon);
    TRY(tacit__linear_belief_create(m, stationary, &posterior));
    return tacit__score_planner_create(&kind, posterior, &options, out);
}
