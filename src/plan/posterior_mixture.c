/* See plan/posterior_mixture.h. A learner of our own; the page docs/why/posterior-mixture.md
 * derives it, says which worlds its constants were chosen on, and what each of them is worth.
 *
 * A plan has one xi = boldness |N(0, 1)| for all its steps, and
 *
 *     Q_h = r + clip(m.x + xi |B' x|_{precision^-1}, min_j x_j, max_j x_j),    x_j = sum_s' phi_j V_{h+1}(s'),
 *
 * with m the posterior mean of step h. What the kernels can promise is all that optimism can add. One
 * xi for a plan, because independent draws for each step never explore far. Ties are broken by
 * chance: before there are data nearly everything ties.
 *
 * Of a batch, the first users, `quota` of them, take turns with the bold plans, a part of the quota
 * each; the others act by the greedy plan, xi = 0 (plan/bold_batches.c), and so does everybody in the
 * last batch, of which nothing is released. A learner that explores and then commits acts at random in
 * the first batch, and greedily after it. */
#include "plan/posterior_mixture.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"
#include "plan/public_chance.h"

struct tacit__posterior_mixture {
    const tacit__mixture_model *model;
    size_t horizon;
    tacit__mixture_posterior *posterior;
    tacit__bold_batches *batches;
    double *rewards; /* [horizon][pair] */
    double *q;       /* [horizon][pair] */
    double *values;  /* [2][state] */
    double *x;       /* [part] */
    double *spread;  /* [width] */
};

/* --- Plans --------------------------------------------------------------------------------------- */

/* What follows a pair at step h is worth, with values `after` [state] of the next one. */
static double value_after(tacit__posterior_mixture *p, size_t h, size_t pair, double xi,
                          const double *after)
{
    const tacit__mixture_model *m = p->model;
    const tacit__mixture_posterior *post = p->posterior;
    const size_t S = m->n_states, d = m->parts, w = m->width, table = post->tables == 1 ? 0 : h;
    double mean = 0, low = HUGE_VAL, high = -HUGE_VAL, square = 0;
    for (size_t j = 0; j < d; j++) {
        const double *kernel = m->kernels + (pair * d + j) * S;
        double x = 0;
        for (size_t next = 0; next < S; next++)
            x += kernel[next] * after[next];
        p->x[j] = x;
        mean += post->weights[table * d + j] * x;
        low = fmin(low, x);
        high = fmax(high, x);
    }
    if (xi > 0) {
        tacit__mixture_model_differences(m, p->x, p->spread);
        tacit__solve_lower(w, post->factor + table * w * w, p->spread);
        for (size_t i = 0; i < w; i++)
            square += p->spread[i] * p->spread[i];
    }
    return fmin(high, fmax(low, mean + xi * sqrt(square)));
}

static void make_plan(void *self, double xi, uint64_t *chance, uint32_t *policy)
{
    tacit__posterior_mixture *p = self;
    const tacit__mixture_model *m = p->model;
    const size_t S = m->n_states, A = m->n_actions, H = p->horizon;
    double *after = p->values, *here = p->values + S;
    for (size_t h = H; h-- > 0;) {
        double *q = p->q + h * m->pairs;
        for (size_t pair = 0; pair < m->pairs; pair++)
            q[pair] = p->rewards[h * m->pairs + pair] +
                      (h + 1 < H ? value_after(p, h, pair, xi, after) : 0);
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

void tacit__posterior_mixture_plan(tacit__posterior_mixture *p, double xi, uint32_t *policy)
{
    make_plan(p, xi, tacit__bold_batches_chance(p->batches), policy);
}

/* --- Batches ------------------------------------------------------------------------------------- */

tacit_status tacit__posterior_mixture_create(const tacit__mixture_plans *o,
                                             tacit__posterior_mixture **out)
{
    const tacit__mixture_model *m = o->model;
    const size_t H = o->batches.horizon, steps = H - 1;
    TACIT__REQUIRE(H >= 2);
    tacit__bold_options bold = o->batches;
    bold.n_states = m->n_states;
    bold.n_actions = m->n_actions;
    bold.numbers = steps * m->width;
    tacit__posterior_mixture w = {.model = m, .horizon = H};
    tacit__posterior_mixture *p =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.rewards, H * m->pairs), TACIT__PIECE(w.q, H * m->pairs),
                         TACIT__PIECE(w.values, 2 * m->n_states), TACIT__PIECE(w.x, m->parts),
                         TACIT__PIECE(w.spread, m->width));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    tacit_status status = tacit__mixture_posterior_create(m, steps, o->stationary, &p->posterior);
    if (status == TACIT_OK)
        status = tacit__bold_batches_create(&bold, &p->batches);
    if (status != TACIT_OK) {
        tacit__posterior_mixture_destroy(p);
        return status;
    }
    for (size_t i = 0; i < H * m->pairs; i++)
        p->rewards[i] = fmin(1, fmax(0, o->rewards[o->stationary ? i % m->pairs : i]));
    tacit__bold_batches_plan(p->batches, make_plan, p);
    *out = p;
    return TACIT_OK;
}

void tacit__posterior_mixture_destroy(void *planner)
{
    tacit__posterior_mixture *p = planner;
    if (p != NULL) {
        tacit__bold_batches_destroy(p->batches);
        tacit__mixture_posterior_destroy(p->posterior);
    }
    tacit__workspace_destroy(p);
}

void tacit__posterior_mixture_absorb(void *planner, const tacit__score_sums *shown)
{
    tacit__posterior_mixture *p = planner;
    size_t n;
    tacit__bold_batches_end(p->batches, shown);
    const tacit__played_batch *over = tacit__bold_batches_finished(p->batches, &n);
    tacit__mixture_posterior_fit(p->posterior, over, n);
    tacit__bold_batches_plan(p->batches, make_plan, p);
}

tacit__bold_batches *tacit__posterior_mixture_batches(const tacit__posterior_mixture *p)
{
    return p->batches;
}

const double *tacit__posterior_mixture_q(const tacit__posterior_mixture *p)
{
    return p->q;
}

const tacit__mixture_posterior *tacit__posterior_mixture_get(const tacit__posterior_mixture *p)
{
    return p->posterior;
}

/* --- Saved states -------------------------------------------------------------------------------- */

/* Chances: between 0 and 1. */
static void chance_fields(double *x, size_t n, tacit__saved *s)
{
    const void *bytes = tacit__saved_reals(s, x, n, 1);
    for (size_t i = 0; i < n && bytes != NULL; i++)
        tacit__saved_check(s, tacit__real_at(bytes, i) >= 0);
}

/* The precision is not kept: it is made anew with the next release, and until then no plan is. */
size_t tacit__posterior_mixture_fields(void *planner, tacit__saved *s)
{
    tacit__posterior_mixture *p = planner;
    chance_fields(p->posterior->weights, p->posterior->tables * p->model->parts, s);
    chance_fields(p->posterior->start, p->model->n_states, s);
    return tacit__bold_batches_fields(p->batches, s);
}
