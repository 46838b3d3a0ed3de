/* See plan/posterior_linear.h. A learner of our own; the page docs/why/posterior-linear.md derives it,
 * says which worlds its constants were chosen on, and what they are worth.
 *
 * A plan has one xi for all its steps, and with the posterior's chances P and rewards r of step h
 *
 *     Q_h = min(1, r + xi |phi|_{rewards}) + min(max V, P V + xi |phi|_{measures} |V - mean V|),   V = V_{h+1},
 *
 * |phi| by the inverse precisions: two standard deviations of what is not known, times xi. A constant in V
 * costs nothing, as chances sum to 1 in any case. Ties are broken by chance.
 *
 * Of a batch, the first users, `quota` of them, take turns with the bold plans, the others with the calm
 * ones, whose xi is smaller (plan/bold_batches.c). The last batch, of which nothing is released, acts
 * greedily. A learner that explores and then commits acts at random in the first batch, and greedily after
 * it. */
#include "plan/posterior_linear.h"

#include <math.h>

#include "base/error.h"
#include "base/workspace.h"
#include "plan/public_chance.h"

struct tacit__posterior_linear {
    const tacit__linear_model *model;
    tacit__linear_posterior *posterior;
    tacit__bold_batches *batches;
    double *q;      /* [horizon][pair] */
    double *values; /* [2][state] */
};

/* --- Plans --------------------------------------------------------------------------------------- */

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

/* `row`: of the posterior's tables. */
static double q_of(const tacit__posterior_linear *p, size_t row, double xi, const outlook *next)
{
    const tacit__linear_posterior *post = p->posterior;
    const size_t S = p->model->n_states;
    const double reward = fmin(1, post->expected[row] + xi * post->reward_spread[row]);
    double mean = 0;
    if (next == NULL)
        return reward;
    for (size_t s = 0; s < S; s++)
        mean += post->chances[row * S + s] * next->values[s];
    return reward + fmin(next->most, mean + xi * post->spread[row] * next->length);
}

static void make_plan(void *self, double xi, uint64_t *chance, uint32_t *policy)
{
    tacit__posterior_linear *p = self;
    const tacit__linear_model *m = p->model;
    const size_t S = m->n_states, A = m->n_actions, H = m->horizon;
    double *after = p->values, *here = p->values + S;
    for (size_t h = H; h-- > 0;) {
        const outlook next = outlook_of(after, S);
        const size_t table = p->posterior->tables == 1 ? 0 : h;
        double *q = p->q + h * m->pairs;
        for (size_t pair = 0; pair < m->pairs; pair++)
            q[pair] = q_of(p, table * m->pairs + pair, xi, h + 1 < H ? &next : NULL);
        for (size_t s = 0; s < S; s++) {
            const uint32_t action = tacit__chance_best_near(q + s * A, A, chance);
            policy[h * S + s] = action;
            here[s] = q[s * A + action];
        }
        double *swapped = after;
        after = here;
        here = swapped;
    }
}

void tacit__posterior_linear_plan(tacit__posterior_linear *p, double xi, uint32_t *policy)
{
    make_plan(p, xi, tacit__bold_batches_chance(p->batches), policy);
}

/* --- Batches ------------------------------------------------------------------------------------- */

tacit_status tacit__posterior_linear_create(const tacit__linear_plans *o,
                                            tacit__posterior_linear **out)
{
    const tacit__linear_model *m = o->model;
    tacit__bold_options bold = o->batches;
    bold.n_states = m->n_states;
    bold.n_actions = m->n_actions;
    bold.horizon = m->horizon;
    bold.numbers = tacit__feature_scores_rewards(&m->scores, m->horizon);
    tacit__posterior_linear w = {.model = m};
    tacit__posterior_linear *p = TACIT__WORKSPACE(w, TACIT__PIECE(w.q, m->horizon * m->pairs),
                                                  TACIT__PIECE(w.values, 2 * m->n_states));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    tacit_status status = tacit__linear_posterior_create(m, o->stationary, &p->posterior);
    if (status == TACIT_OK)
        status = tacit__bold_batches_create(&bold, &p->batches);
    if (status != TACIT_OK) {
        tacit__posterior_linear_destroy(p);
        return status;
    }
    tacit__bold_batches_plan(p->batches, make_plan, p);
    *out = p;
    return TACIT_OK;
}

void tacit__posterior_linear_destroy(void *planner)
{
    tacit__posterior_linear *p = planner;
    if (p != NULL) {
        tacit__bold_batches_destroy(p->batches);
        tacit__linear_posterior_destroy(p->posterior);
    }
    tacit__workspace_destroy(p);
}

void tacit__posterior_linear_absorb(void *planner, const tacit__score_sums *shown)
{
    tacit__posterior_linear *p = planner;
    size_t n;
    tacit__bold_batches_end(p->batches, shown);
    const tacit__played_batch *over = tacit__bold_batches_finished(p->batches, &n);
    tacit__linear_posterior_fit(p->posterior, over, n);
    tacit__bold_batches_plan(p->batches, make_plan, p);
}

tacit__bold_batches *tacit__posterior_linear_batches(const tacit__posterior_linear *p)
{
    return p->batches;
}

const double *tacit__posterior_linear_q(const tacit__posterior_linear *p)
{
    return p->q;
}

const tacit__linear_posterior *tacit__posterior_linear_get(const tacit__posterior_linear *p)
{
    return p->posterior;
}

/* --- Saved states -------------------------------------------------------------------------------- */

/* The means, from which the next fit begins. Precisions are not kept: they are made anew with the next
 * release, and until then no plan is. */
size_t tacit__posterior_linear_fields(void *planner, tacit__saved *s)
{
    tacit__posterior_linear *p = planner;
    tacit__linear_posterior *post = p->posterior;
    const size_t d = p->model->dimension, S = p->model->n_states;
    tacit__saved_reals(s, post->measures, post->tables * S * d, TACIT__MOST_SUM);
    tacit__saved_reals(s, post->rewards, post->tables * d, TACIT__MOST_SUM);
    const void *bytes = tacit__saved_reals(s, post->start, S, 1);
    for (size_t i = 0; i < S && bytes != NULL; i++)
        tacit__saved_check(s, tacit__real_at(bytes, i) >= 0);
    if (s->pass == TACIT__APPLY)
        tacit__linear_posterior_predict(post);
    return tacit__bold_batches_fields(p->batches, s);
}
