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
 * each; the others act by the greedy plan, xi = 0. Within a batch nothing is learned, so that it does
 * not matter who is first.
 *
 * Chance here is public (SplitMix64): it carries no secret, and decides nothing about privacy. */
#include "plan/posterior_mixture.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "linalg/symmetric.h"
#include "plan/public_chance.h"

#define TIE 1e-9 /* relative: more than rounding makes of equal values */

struct tacit__posterior_mixture {
    tacit__bold_options o;
    tacit__mixture_posterior *posterior;
    size_t slots, plan_size; /* plans + 1, horizon x states */
    double *rewards;         /* [horizon][pair] */
    double *q;               /* [horizon][pair] */
    double *values;          /* [2][state] */
    double *x;               /* [part] */
    double *spread;          /* [width] */
    /* batches that are over, and in the next place the present one */
    tacit__played_batch *played; /* [batches + 1] */
    uint32_t *plans;             /* [batches + 1][slots][horizon][state] */
    uint64_t *players;           /* [batches + 1][slots] */
    double *sums;                /* [batches][steps x width + states] */
    size_t sums_size;
    uint64_t *sizes;  /* [batches + 1]: users of each batch */
    size_t n;         /* batches that are over */
    uint64_t chance;  /* state of the public chance */
    uint64_t version; /* of what was shown last, */
    uint64_t shown;   /* and its slot; UINT64_MAX: nothing of this batch */
};

/* --- Plans --------------------------------------------------------------------------------------- */

/* What follows a pair at step h is worth, with values `after` [state] of the next one. */
static double follow(tacit__posterior_mixture *p, size_t h, size_t pair, double xi,
                     const double *after)
{
    const tacit__mixture_model *m = p->o.model;
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

/* The best action; among equals each is as likely. */
static uint32_t best_of(const double *q, size_t n_actions, uint64_t *chance)
{
    double most = q[0];
    uint32_t best = 0;
    uint64_t equals = 0;
    for (size_t a = 1; a < n_actions; a++)
        most = fmax(most, q[a]);
    for (uint32_t a = 0; a < n_actions; a++)
        if (q[a] >= most - TIE * (1 + most) && tacit__chance_word(chance) % ++equals == 0)
            best = a;
    return best;
}

void tacit__posterior_mixture_plan(tacit__posterior_mixture *p, double xi, uint32_t *policy)
{
    const tacit__mixture_model *m = p->o.model;
    const size_t S = m->n_states, A = m->n_actions, H = p->o.horizon;
    double *after = p->values, *here = p->values + S;
    for (size_t h = H; h-- > 0;) {
        double *q = p->q + h * m->pairs;
        for (size_t pair = 0; pair < m->pairs; pair++)
            q[pair] =
                p->rewards[h * m->pairs + pair] + (h + 1 < H ? follow(p, h, pair, xi, after) : 0);
        for (size_t s = 0; s < S; s++) {
            const uint32_t action = best_of(q + s * A, A, &p->chance);
            policy[h * S + s] = action;
            here[s] = q[s * A + action];
        }
        double *swapped = after;
        after = here;
        here = swapped;
    }
}

/* --- Batches ------------------------------------------------------------------------------------- */

/* Users of batch k who act by bold plans, and how many plans these are. */
static uint64_t bold_users(const tacit__posterior_mixture *p, size_t k)
{
    return p->sizes[k] < p->o.quota ? p->sizes[k] : p->o.quota;
}

static uint64_t bold_plans(const tacit__posterior_mixture *p, size_t k)
{
    return bold_users(p, k) < p->o.plans ? bold_users(p, k) : p->o.plans;
}

size_t tacit__posterior_mixture_turn(const tacit__posterior_mixture *p, uint64_t place)
{
    const uint64_t bold = bold_users(p, p->n), plans = bold_plans(p, p->n);
    if (place >= bold)
        return p->o.plans;
    /* the first `longer` plans have one user more than the others */
    const uint64_t part = bold / plans, longer = bold % plans;
    return (size_t)(place < longer * (part + 1) ? place / (part + 1) : (place - longer) / part);
}

/* Where the parts of batch k are, and how many users act by each plan. */
static void place_batch(tacit__posterior_mixture *p, size_t k)
{
    const uint64_t bold = bold_users(p, k), plans = bold_plans(p, k);
    uint64_t *players = p->players + k * p->slots;
    for (uint64_t j = 0; j < plans; j++)
        players[j] = bold / plans + (j < bold % plans);
    players[p->o.plans] = p->sizes[k] - bold;
    p->played[k].n_plans = p->slots;
    p->played[k].plans = p->plans + k * p->slots * p->plan_size;
    p->played[k].players = players;
}

/* The plans of the next batch. */
static void begin(tacit__posterior_mixture *p)
{
    uint32_t *plans = p->plans + p->n * p->slots * p->plan_size;
    p->shown = UINT64_MAX;
    place_batch(p, p->n);
    for (size_t j = 0; j < bold_plans(p, p->n); j++)
        tacit__posterior_mixture_plan(p, p->o.boldness * fabs(tacit__chance_normal(&p->chance)),
                                      plans + j * p->plan_size);
    tacit__posterior_mixture_plan(p, 0, plans + p->o.plans * p->plan_size);
}

tacit_status tacit__posterior_mixture_create(const tacit__bold_options *o,
                                             tacit__posterior_mixture **out)
{
    const tacit__mixture_model *m = o->model;
    const size_t H = o->horizon, S = m->n_states, steps = H - 1, room = o->batches + 1;
    TACIT__REQUIRE(H >= 2 && o->plans > 0 && o->quota > 0);
    tacit__posterior_mixture w = {.o = *o,
                                  .slots = o->plans + 1,
                                  .plan_size = H * S,
                                  .sums_size = steps * m->width + S,
                                  .chance = o->tie_seed,
                                  .version = 1,
                                  .shown = UINT64_MAX};
    tacit__posterior_mixture *p = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.rewards, H * m->pairs), TACIT__PIECE(w.q, H * m->pairs),
        TACIT__PIECE(w.values, 2 * S), TACIT__PIECE(w.x, m->parts),
        TACIT__PIECE(w.spread, m->width), TACIT__PIECE(w.played, room),
        TACIT__PIECE(w.plans, room * w.slots * w.plan_size),
        TACIT__PIECE(w.players, room * w.slots), TACIT__PIECE(w.sums, o->batches * w.sums_size),
        TACIT__PIECE(w.sizes, room));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    tacit_status status = tacit__mixture_posterior_create(m, steps, o->stationary, &p->posterior);
    if (status != TACIT_OK) {
        tacit__posterior_mixture_destroy(p);
        return status;
    }
    for (size_t i = 0; i < H * m->pairs; i++)
        p->rewards[i] = fmin(1, fmax(0, o->rewards[o->stationary ? i % m->pairs : i]));
    for (size_t k = 0; k < room; k++)
        p->sizes[k] = o->ends[k] - (k > 0 ? o->ends[k - 1] : 0);
    p->o.rewards = NULL;
    p->o.ends = NULL;
    begin(p);
    *out = p;
    return TACIT_OK;
}

void tacit__posterior_mixture_destroy(tacit__posterior_mixture *p)
{
    if (p != NULL)
        tacit__mixture_posterior_destroy(p->posterior);
    tacit__workspace_destroy(p);
}

/* The numbers of a batch that is over lie in p->sums. */
static void place_sums(tacit__posterior_mixture *p, size_t k)
{
    const double *sums = p->sums + k * p->sums_size;
    p->played[k].shown = (tacit__score_sums){
        .users = p->sizes[k], .sums = sums, .starts = sums + p->sums_size - p->o.model->n_states};
    p->played[k].variance = p->o.noise.sum + (double)p->sizes[k] * p->o.noise.user;
    p->played[k].start = p->o.noise.start;
}

void tacit__posterior_mixture_absorb(tacit__posterior_mixture *p, const tacit__score_sums *shown)
{
    const size_t S = p->o.model->n_states;
    double *sums = p->sums + p->n * p->sums_size;
    TACIT__REQUIRE(p->n < p->o.batches && shown->users == p->sizes[p->n]);
    memcpy(sums, shown->sums, (p->sums_size - S) * sizeof *sums);
    memcpy(sums + p->sums_size - S, shown->starts, S * sizeof *sums);
    place_sums(p, p->n);
    p->n++;
    tacit__mixture_posterior_fit(p->posterior, p->played, p->n);
    begin(p);
}

size_t tacit__posterior_mixture_batches(const tacit__posterior_mixture *p)
{
    return p->n;
}

tacit_billboard tacit__posterior_mixture_show(tacit__posterior_mixture *p, uint64_t place)
{
    const size_t slot = tacit__posterior_mixture_turn(p, place);
    p->version += p->shown != slot;
    p->shown = slot;
    return (tacit_billboard){.version = p->version,
                             .policy = p->plans + (p->n * p->slots + slot) * p->plan_size};
}

const double *tacit__posterior_mixture_q(const tacit__posterior_mixture *p)
{
    return p->q;
}

const tacit__mixture_posterior *tacit__posterior_mixture_look(const tacit__posterior_mixture *p)
{
    return p->posterior;
}

/* --- Saved states -------------------------------------------------------------------------------- */

typedef struct position {
    uint64_t n, chance, version, shown;
} position;

/* Chances: between 0 and 1. */
static void chance_fields(double *x, size_t n, tacit__saved *s)
{
    const void *bytes = tacit__saved_reals(s, x, n, 1);
    for (size_t i = 0; i < n && bytes != NULL; i++)
        tacit__saved_check(s, tacit__real_at(bytes, i) >= 0);
}

/* Sums and plans of batch k, which is over, or the plans of the present one. The precision is not kept: it
 * is made anew with the next release, and until then no plan is. */
static void batch_fields(tacit__posterior_mixture *p, size_t k, bool over, tacit__saved *s)
{
    tacit__saved_indices(s, p->plans + k * p->slots * p->plan_size, p->slots * p->plan_size,
                         p->o.model->n_actions);
    if (over)
        tacit__saved_reals(s, p->sums + k * p->sums_size, p->sums_size, TACIT__MOST_SUM);
    if (s->pass != TACIT__APPLY)
        return;
    place_batch(p, k);
    if (over)
        place_sums(p, k);
}

size_t tacit__posterior_mixture_fields(tacit__posterior_mixture *p, tacit__saved *s)
{
    position at = {p->n, p->chance, p->version, p->shown};
    tacit__saved_value(s, &at, sizeof at);
    const bool sound = at.n <= p->o.batches && at.version <= TACIT__MOST_COUNT &&
                       (at.shown < p->slots || at.shown == UINT64_MAX);
    tacit__saved_check(s, sound);
    chance_fields(p->posterior->weights, p->posterior->tables * p->o.model->parts, s);
    chance_fields(p->posterior->start, p->o.model->n_states, s);
    for (size_t k = 0; sound && k <= at.n && s->status == TACIT_OK; k++)
        batch_fields(p, k, k < at.n, s);
    if (s->pass == TACIT__APPLY) {
        p->n = (size_t)at.n;
        p->chance = at.chance;
        p->version = at.version;
        p->shown = at.shown;
    }
    return (size_t)at.n;
}
