/* See optimist.h. Steps h = 0 .. H-1; R = H - 1 - h is the range of V_{h+1}, to which `unit` and
 * `middle` belong:
 *
 *     v(s') = (V_{h+1}(s') - middle) / unit      in [0, 1] (middle 0, unit R) or [-1, 1] (middle = unit = R/2)
 *     x = phi_v(s, a) / bound                    |x| <= 1; the target of a step is v(s')
 *     P V = middle + unit (x . w + radius |x|_{M^-1})                                     [LGLP21, Alg. 1; Z22, Alg. 1]
 *
 * Centered values are allowed for mixtures of kernels, which map constants to constants: P (V - m) =
 * P V - m. What is learned at h = H - 1 is nothing, since V_H = 0.
 *
 * Q = r + P V with each part clipped to what it can be, r to [0, 1] and P V to [0, R]: both ends,
 * so that V is within [0, H - h] on every path, which privacy rests on; and part by part, where the
 * papers clip the sum from above, because a saturated bonus then does not hide a known reward. The
 * truth is within the same bounds, so optimism is kept. Where a paper is played as printed, the sum is
 * clipped instead, to H - h + 1 or to H, and from below at 0.
 *
 * VARIANCE [LGLP21, Alg. 3 with its second-moment updates read as phi_{V^2}]: with u = v^2 (or 2
 * v^2 - 1 if centered), which is again in [0, 1] (or [-1, 1]), a second regression predicts E v^2,
 * and in units of unit^2
 *     sigma^2 = max{1 / d, [E v^2]_{[0,1]} - [x . w]^2 + min{1, 2 crude |x|_{M^-1}} + min{1, radius_2 |x_2|_{M_2^-1}}}
 * (half of radius_2 if centered). The weight of the step is 1 / (d sigma^2) <= 1; sums of weighted
 * steps are in units of d.
 *
 * Cost of induct: for each h the features of all pairs (pair_features.c) and their spreads (ridge.c). */
#include "plan/optimist.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

struct tacit__optimist {
    tacit__optimist_options o;
    size_t steps, pairs, streams; /* steps = H - 1 */
    tacit__pair_features pair_features;
    double *reward;          /* known: [H][pair] */
    double *reward_features; /* REWARDS */
    tacit__ridge ridge[TACIT__REGRESSIONS];
    tacit__confidence confidence[TACIT__REGRESSIONS]; /* of the model */
    uint64_t users;                                   /* of the model */
    double *unit, *middle;                            /* [steps] */
    double *radius, *second_radius;                   /* [steps]: of values, of their squares */
    double *features[TACIT__REGRESSIONS]; /* [step][width][pair] or [step][width] of the plan */
    double *targets[TACIT__REGRESSIONS];  /* [step][S] */
    double *step_weights;                 /* VARIANCE: [step][pair] */
    double *mean, *spread, *second_mean, *second_spread; /* [pair] scratch */
    double *q;                                           /* [H][pair] */
    double *values;                                      /* [H + 1][S] */
    double *logits, *mixed;                              /* soft: [H][pair] */
    uint32_t *policy;                                    /* greedy: [H][S] */
    bool planned;
    bool adopted; /* the model was taken from elsewhere, and its version with it */
    uint64_t version;
    tacit__repairs repairs;
};

/* --- Creation ---------------------------------------------------------------------------------- */

static size_t feature_size(const tacit__frame *f)
{
    return f->blocks == 1 ? f->width * f->pairs : f->width;
}

static void destroy_regressions(tacit__optimist *p)
{
    tacit__pair_features_destroy(&p->pair_features);
    tacit__free(p->reward_features);
    for (int i = 0; i < TACIT__REGRESSIONS; i++)
        tacit__ridge_destroy(&p->ridge[i]);
}

void tacit__optimist_destroy(tacit__optimist *p)
{
    if (p != NULL)
        destroy_regressions(p);
    tacit__workspace_destroy(p);
}

/* Units of values, and what features and targets are bounded by in them. */
static void set_units(tacit__optimist *p)
{
    for (size_t h = 0; h < p->steps; h++) {
        double range = (double)(p->o.horizon - 1 - h);
        double unit = p->o.whole_range ? (double)p->o.horizon : range;
        p->unit[h] = p->o.centered ? unit / 2 : unit;
        p->middle[h] = p->o.centered ? range / 2 : 0;
        p->radius[h] = p->o.clip == TACIT__CLIP_HORIZON ? 1 : range / unit;
        p->second_radius[h] = p->o.centered ? 1 : p->radius[h] * p->radius[h];
    }
}

static void copy_rewards(tacit__optimist *p)
{
    for (size_t h = 0; h < p->o.horizon; h++)
        memcpy(p->reward + h * p->pairs, p->o.rewards + (p->o.stationary ? 0 : h * p->pairs),
               p->pairs * sizeof *p->reward);
    for (size_t i = 0; i < p->o.horizon * p->pairs; i++)
        p->reward[i] = fmin(fmax(p->reward[i], 0), 1);
    p->o.rewards = NULL;
}

static tacit_status create_regressions(tacit__optimist *p, tacit_error *err)
{
    tacit__frame frames[TACIT__REGRESSIONS];
    tacit_status status = tacit__pair_features_create(p->o.mixture, p->o.n_states, p->o.n_actions,
                                                      &p->pair_features, err);
    if (status != TACIT_OK)
        return status;
    frames[TACIT__TRANSITIONS] = frames[TACIT__OTHER] = p->pair_features.frame;
    frames[TACIT__TRANSITIONS].steps = frames[TACIT__OTHER].steps = p->steps;
    if (p->o.form == TACIT__REWARDS) {
        status = tacit__reward_features(p->o.linear, p->o.n_states, p->o.n_actions,
                                        &frames[TACIT__OTHER], &p->reward_features, err);
        frames[TACIT__OTHER].steps = p->o.horizon;
    }
    for (size_t i = 0; i < p->streams && status == TACIT_OK; i++)
        status = tacit__ridge_create(&frames[i], &p->ridge[i]);
    return status;
}

/* The planner with its arrays; NULL: no memory. */
static tacit__optimist *allocate(tacit__optimist w)
{
    const size_t H = w.o.horizon, S = w.o.n_states, pairs = w.pairs, all = H * pairs;
    const size_t numbers = w.steps * feature_size(&w.pair_features.frame);
    const bool variance = w.o.form == TACIT__VARIANCE, soft = w.o.soft != NULL;
    return TACIT__WORKSPACE(
        w, TACIT__PIECE(w.reward, all), TACIT__PIECE(w.unit, w.steps),
        TACIT__PIECE(w.middle, w.steps), TACIT__PIECE(w.radius, w.steps),
        TACIT__PIECE(w.second_radius, w.steps), TACIT__PIECE(w.mean, pairs),
        TACIT__PIECE(w.spread, pairs), TACIT__PIECE(w.second_mean, pairs),
        TACIT__PIECE(w.second_spread, pairs), TACIT__PIECE(w.q, all),
        TACIT__PIECE(w.values, (H + 1) * S), TACIT__PIECE(w.features[TACIT__TRANSITIONS], numbers),
        TACIT__PIECE(w.targets[TACIT__TRANSITIONS], w.steps * S),
        TACIT__PIECE_IF(variance, w.features[TACIT__OTHER], numbers),
        TACIT__PIECE_IF(variance, w.targets[TACIT__OTHER], w.steps * S),
        TACIT__PIECE_IF(variance, w.step_weights, w.steps * pairs),
        TACIT__PIECE_IF(soft, w.logits, all), TACIT__PIECE_IF(soft, w.mixed, all),
        TACIT__PIECE_IF(!soft, w.policy, H * S));
}

tacit_status tacit__optimist_create(const tacit__optimist_options *options, tacit__optimist **out,
                                    tacit_error *err)
{
    TACIT__REQUIRE(options->horizon >= 2);
    TACIT__REQUIRE(options->form == TACIT__REWARDS || options->rewards != NULL);
    TACIT__REQUIRE(options->clip != TACIT__CLIP_HORIZON || options->whole_range);
    tacit__optimist w = {.o = *options,
                         .steps = options->horizon - 1,
                         .pairs = options->n_states * options->n_actions,
                         .streams = options->form == TACIT__PLAIN ? 1 : 2};
    tacit_status status = create_regressions(&w, err);
    tacit__optimist *p = status == TACIT_OK ? allocate(w) : NULL;
    if (p == NULL) {
        destroy_regressions(&w);
        return status == TACIT_OK || status == TACIT_NO_MEMORY
                   ? tacit__fail_plain(err, TACIT_NO_MEMORY)
                   : status;
    }
    set_units(p);
    if (p->o.form != TACIT__REWARDS)
        copy_rewards(p);
    p->o.mixture = NULL;
    p->o.linear = NULL;
    *out = p;
    return TACIT_OK;
}

size_t tacit__optimist_streams(const tacit__optimist *p)
{
    return p->streams;
}

tacit__frame tacit__optimist_frame(const tacit__optimist *p, size_t stream)
{
    TACIT__REQUIRE(stream < p->streams);
    return p->ridge[stream].frame;
}

double tacit__optimist_parameter_norm(const tacit__optimist *p, size_t stream)
{
    TACIT__REQUIRE(stream < p->streams);
    return stream == TACIT__OTHER && p->o.form == TACIT__REWARDS
               ? sqrt((double)p->ridge[stream].frame.width)
               : p->pair_features.parameter_norm;
}

const double *tacit__optimist_radius(const tacit__optimist *p, size_t stream)
{
    TACIT__REQUIRE(stream < p->streams);
    if (stream == TACIT__TRANSITIONS)
        return p->radius;
    return p->o.form == TACIT__REWARDS ? NULL : p->second_radius;
}

const double *tacit__optimist_table(const tacit__optimist *p, size_t stream)
{
    TACIT__REQUIRE(stream < p->streams);
    return stream == TACIT__OTHER && p->o.form == TACIT__REWARDS ? NULL : p->pair_features.parts;
}

/* --- The model --------------------------------------------------------------------------------- */

void tacit__optimist_fit(tacit__optimist *p, const tacit__gram_sums *moments,
                         const tacit__confidence *confidence)
{
    if (p->o.soft != NULL && p->planned)
        p->o.soft->update(p->o.step_size * (double)(moments->users - p->users), p->q,
                          p->o.horizon * p->pairs, p->logits);
    for (size_t i = 0; i < p->streams; i++) {
        p->confidence[i] = confidence[i];
        p->repairs.repaired +=
            tacit__ridge_fit(&p->ridge[i], &moments[i], confidence[i].add, confidence[i].floor);
        p->repairs.matrices += p->ridge[i].frame.steps * p->ridge[i].frame.blocks;
    }
    p->users = moments->users;
}

tacit__repairs tacit__optimist_repairs(const tacit__optimist *p)
{
    return p->repairs;
}

/* --- The plan ---------------------------------------------------------------------------------- */

static double clip(double value, double low, double high)
{
    return value >= low ? (value <= high ? value : high) : low;
}

/* The rewards of step h into q. */
static void begin_q(tacit__optimist *p, size_t h, double *q)
{
    if (p->o.form != TACIT__REWARDS) {
        memcpy(q, p->reward + h * p->pairs, p->pairs * sizeof *q);
        return;
    }
    double unit = p->o.centered_rewards ? 0.5 : 1, middle = 1 - unit;
    const bool parts = p->o.clip == TACIT__CLIP_PARTS;
    double radius = p->confidence[TACIT__OTHER].radius;
    tacit__ridge_predict(&p->ridge[TACIT__OTHER], h, p->reward_features, p->mean, p->spread);
    for (size_t i = 0; i < p->pairs; i++) {
        q[i] = middle + unit * (p->mean[i] + radius * p->spread[i]);
        q[i] = parts ? clip(q[i], 0, 1) : q[i];
    }
}

/* Q as a whole, where its parts were not clipped. */
static void clip_q(const tacit__optimist *p, size_t h, double *q)
{
    const double most =
        (double)(p->o.clip == TACIT__CLIP_HORIZON ? p->o.horizon : p->o.horizon - h);
    for (size_t i = 0; i < p->pairs && p->o.clip != TACIT__CLIP_PARTS; i++)
        q[i] = clip(q[i], 0, most);
}

/* Squared values, their features, and the weights of steps. Uses mean and spread of the transitions at h. */
static void weight_steps(tacit__optimist *p, size_t h)
{
    const size_t n = p->o.n_states, size = feature_size(&p->pair_features.frame);
    const double *v = p->targets[TACIT__TRANSITIONS] + h * n;
    double *u = p->targets[TACIT__OTHER] + h * n, *x = p->features[TACIT__OTHER] + h * size;
    double *weights = p->step_weights + h * p->pairs, d = (double)p->pair_features.frame.width;
    double crude = p->confidence[TACIT__TRANSITIONS].crude;
    double half = p->o.centered ? 0.5 : 1, radius = half * p->confidence[TACIT__OTHER].radius;
    for (size_t s = 0; s < n; s++)
        u[s] = p->o.centered ? 2 * v[s] * v[s] - 1 : v[s] * v[s];
    tacit__pair_features_apply(&p->pair_features, u, x);
    tacit__ridge_predict(&p->ridge[TACIT__OTHER], h, x, p->second_mean, p->second_spread);
    for (size_t i = 0; i < p->pairs; i++) {
        double square = clip(half * p->second_mean[i] + (1 - half), 0, 1);
        double mean = clip(p->mean[i], p->o.centered ? -1 : 0, 1);
        double error = fmin(1, 2 * crude * p->spread[i]) + fmin(1, radius * p->second_spread[i]);
        weights[i] = 1 / fmax(1, d * (square - mean * mean + error));
    }
}

/* Adds the transitions of step h < H - 1. */
static void add_transitions(tacit__optimist *p, size_t h, double *q)
{
    const size_t n = p->o.n_states, size = feature_size(&p->pair_features.frame);
    const double *next = p->values + (h + 1) * n, unit = p->unit[h], middle = p->middle[h];
    const double range = (double)(p->o.horizon - 1 - h);
    const bool parts = p->o.clip == TACIT__CLIP_PARTS;
    double radius = p->confidence[TACIT__TRANSITIONS].radius;
    double *v = p->targets[TACIT__TRANSITIONS] + h * n;
    double *x = p->features[TACIT__TRANSITIONS] + h * size;
    for (size_t s = 0; s < n; s++)
        v[s] = (next[s] - middle) / unit;
    tacit__pair_features_apply(&p->pair_features, v, x);
    tacit__ridge_predict(&p->ridge[TACIT__TRANSITIONS], h, x, p->mean, p->spread);
    for (size_t i = 0; i < p->pairs; i++) {
        const double next_value = middle + unit * (p->mean[i] + radius * p->spread[i]);
        q[i] += parts ? clip(next_value, 0, range) : next_value;
    }
    if (p->o.form == TACIT__VARIANCE)
        weight_steps(p, h);
}

/* Greedy choices of step h, ties to the smallest action. True: one of them is new. */
static bool choose(tacit__optimist *p, size_t h, const double *q, double *values)
{
    const size_t A = p->o.n_actions;
    bool changed = false;
    for (size_t s = 0; s < p->o.n_states; s++) {
        uint32_t best = 0;
        for (uint32_t a = 1; a < A; a++)
            if (q[s * A + a] > q[s * A + best])
                best = a;
        values[s] = q[s * A + best];
        uint32_t *chosen = &p->policy[h * p->o.n_states + s];
        changed |= *chosen != best;
        *chosen = best;
    }
    return changed;
}

tacit_billboard tacit__optimist_induct(tacit__optimist *p)
{
    bool changed = !p->planned || p->o.soft != NULL;
    for (size_t h = p->o.horizon; h-- > 0;) {
        double *q = p->q + h * p->pairs, *values = p->values + h * p->o.n_states;
        begin_q(p, h, q);
        if (h < p->steps)
            add_transitions(p, h, q);
        clip_q(p, h, q);
        if (p->o.soft != NULL)
            p->o.soft->mix(p->o.n_states, p->o.n_actions, p->logits + h * p->pairs, q,
                           (double)(p->o.horizon - h), p->mixed + h * p->pairs, values);
        else
            changed |= choose(p, h, q, values);
    }
    p->planned = true;
    p->version += changed && !p->adopted;
    p->adopted = false;
    return (tacit_billboard){.version = p->version, .policy = p->policy, .mixed = p->mixed};
}

void tacit__optimist_lenses(const tacit__optimist *p, tacit__lens out[TACIT__REGRESSIONS])
{
    for (size_t i = 0; i < p->streams; i++)
        out[i] = (tacit__lens){.features = p->features[i],
                               .stride = feature_size(&p->ridge[i].frame),
                               .targets = p->targets[i]};
    out[TACIT__TRANSITIONS].weights = p->step_weights;
    if (p->o.form == TACIT__REWARDS)
        out[TACIT__OTHER] = (tacit__lens){.features = p->reward_features};
}

/* --- The model as numbers ------------------------------------------------------------------------ */

/* Radii, estimates and factors of one regression. Once there is a model, factors can be divided by. */
static void ridge_fields(tacit__ridge *r, tacit__confidence *confidence, bool planned,
                         tacit__saved *s)
{
    const size_t w = r->frame.width, cells = r->frame.steps * r->frame.blocks;
    tacit__saved_reals(s, &confidence->radius, 1, DBL_MAX);
    tacit__saved_reals(s, &confidence->crude, 1, DBL_MAX);
    tacit__saved_reals(s, r->weights, cells * w, DBL_MAX);
    const void *factor = tacit__saved_reals(s, r->factor, cells * w * w, DBL_MAX);
    for (size_t j = 0; j < cells * w && factor != NULL && planned; j++)
        tacit__saved_check(s, tacit__real_at(factor, j / w * w * w + j % w * (w + 1)) > 0);
}

void tacit__optimist_fields(tacit__optimist *p, bool planned, tacit__saved *s)
{
    double head[] = {(double)p->users, (double)p->version, p->planned};
    tacit__saved_value(s, head, sizeof head);
    tacit__saved_check(s, head[0] >= 0 && head[0] < 0x1p53 && head[1] >= 0 && head[1] < 0x1p53 &&
                              isfinite(head[2]) && (!planned || head[2] != 0));
    for (size_t i = 0; i < p->streams; i++)
        ridge_fields(&p->ridge[i], &p->confidence[i], head[2] != 0, s);
    if (p->o.soft != NULL)
        tacit__saved_reals(s, p->logits, p->o.horizon * p->pairs, DBL_MAX);
    if (s->pass != TACIT__APPLY)
        return;
    p->users = (uint64_t)head[0];
    p->version = (uint64_t)head[1];
    p->planned = head[2] != 0;
    p->adopted = p->planned;
}

tacit__optimist_view tacit__optimist_get(const tacit__optimist *p)
{
    return (tacit__optimist_view){.q = p->q,
                                  .values = p->values,
                                  .mixed = p->mixed,
                                  .weights = p->ridge[TACIT__TRANSITIONS].weights};
}
