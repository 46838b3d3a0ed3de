/* Sensitivities, and the search for the least predicted error. See lsvi_scheme.h; proofs in docs/why/lsvi.md.
 *
 * Sensitivities (replacement; features x, y of length at most 1, c = x . y):
 *
 *     Gram       |x x^T - y y^T|_F^2 = |x|^4 + |y|^4 - 2 c^2 <= 2
 *     response   |x a - y b|^2 <= 4 for targets in [0, 1], 2 if c >= 0 (no feature is negative), 1 for centered targets
 *     together   max |x x^T - y y^T|^2 + t |x a - y b|^2 =: reach(t), which is less than the sum of the maxima
 *
 * A user is in every response and, through the mechanism's column, in every Gram matrix: over H
 * steps the squared loss is H (A column^2 / s_G^2 + U N / s_u^2) <= H column^2 / s_G^2 reach(t)
 * with t = (N / s_u^2) / (column / s_G)^2. The plan has a line for each, so reach(t) is split into
 * A = reach(0) and U = (reach(t) - A) / t; reach is convex, so the split is an upper bound for
 * every smaller t too, and that is checked once scales are known.
 *
 * Pooled: the H steps of a user are in one Gram matrix and in each of the H responses of a switch. Step by
 * step (x_i, a_i) against (y_i, b_i), with |sum_i v_i|^2 <= H sum_i |v_i|^2, the move of the Gram matrix and
 * t times that of a response are at most
 *
 *     H sum_i (|x_i x_i^T - y_i y_i^T|^2 + t |x_i a_i - y_i b_i|^2) <= H^2 reach(t).
 *
 * A switch has H responses, so t = (H N / s_u^2) / (column / s_G)^2, and the squared loss, the mean over the
 * responses of such sums, is at most H^2 column^2 / s_G^2 reach(t). L1 norms are at most H times those of a
 * step, each.
 *
 * People who come back. A visit is in every response after it, so visits so far add up in each: over N
 * switches at places t the column is sum_t min(k, 1 + floor((t - 1) / b))^2 (packed is worst;
 * sums/returning.h) in the place of N. Pairs of visits that are far apart weigh more in responses than
 * in Gram matrices, which have columns of their own, so reach(t) does not carry over: both maxima are
 * declared, A = reach(0) and U the largest |x a - y b|^2 alone, and A + U t holds at every ratio.
 *
 * Prediction. After k users a direction of the features has been seen about k / d times. With noise
 * E on Q's numerator and a ridge r, an estimate is off by about (sigma sqrt(n) + E + r / 4) / (n +
 * r), n = k / d, of the range; a policy that knows nothing loses about BLIND of it, and none is
 * predicted to lose more. The predicted loss is the mean of that over all episodes, each counted
 * with the k of the last switch. It is crude and looks at no data; all it decides is how many
 * switches to pay for. */
#include "release/archive/lsvi_scheme_inside.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "sums/sum_inside.h"

#define SIGMA 0.25   /* standard deviation of a normalized target: stated choice */
#define TYPICAL 0.25 /* size of a centered weight: stated choice, half the largest possible */
#define BLIND 0.2 /* what a policy that knows nothing loses: stated choice, as in random worlds */
#define TIE 1e-4  /* share of the prediction that still tells blind policies apart */
#define LEAST_SHARE 0.2  /* of the budget, for either release: no prediction is that good */
#define JOINT_SLACK 1e-3 /* room between the ratio that is wanted and the one that is allowed */
#define ROUNDING (1 + 1e-12)
#define RESPONSES_ONLY 1e9 /* a ratio t at which reach(t) / t is U, from above */

/* --- Noise of a candidate ----------------------------------------------------------------------- */

static double ratio_at(int i)
{
    const int middle = TACIT__LSVI_RATIOS / 2;
    return exp2(0.5 * (double)(i - middle));
}

static double weight_size(const tacit__lsvi_search *s)
{
    double d = s->w->space.form == TACIT__ONE_HOT ? 1 : (double)s->w->space.dimension;
    return (s->w->centered ? TYPICAL : 2 * TYPICAL) * sqrt(d);
}

static double l1_of_gram(const tacit__lsvi_scheme_options *w)
{
    bool simplex = w->space.simplex || w->space.form == TACIT__ONE_HOT;
    return simplex ? 2 : 2 * (1 + ((double)w->space.dimension - 1) * M_SQRT1_2);
}

static double l1_of_response(const tacit__lsvi_scheme_options *w)
{
    bool simplex = w->space.simplex || w->space.form == TACIT__ONE_HOT;
    double most = simplex ? 1 : sqrt((double)w->space.dimension);
    return (w->centered ? 1 : 2) * most;
}

/* Users seen when the i-th policy is made, i = 1 .. switches. */
static double switch_time(const tacit__lsvi_search *s, const tacit__lsvi_way *c, double ridge,
                          uint64_t i)
{
    double K = (double)s->w->episodes, d = (double)s->w->space.dimension;
    const tacit__lsvi_scheme leaves = tacit__lsvi_leaves_of(c);
    if (!tacit__lsvi_watches(s->w->schedule))
        return (double)tacit__lsvi_leaf_end(&leaves, i);
    /* all directions grow alike: det = (ridge + k / d)^d */
    double unit = d * ridge / (double)tacit__gram_steps(&s->w->space),
           rate = log1p(K / unit) / ((double)c->switches + 1);
    return unit * expm1(rate * (double)i);
}

/* The mean loss of an episode, in shares of its range. */
static double predict(const tacit__lsvi_search *s, const tacit__lsvi_way *c, double gram,
                      double response)
{
    double K = (double)s->w->episodes, d = (double)s->w->space.dimension, w = weight_size(s);
    double unit = tacit__lsvi_is_laplace(s) ? M_SQRT2 : 1,
           steps = (double)tacit__gram_steps(&s->w->space);
    double g = gram * c->row * unit, u = response * unit;
    double error = sqrt(w * w * g * g + u * u), ridge = s->w->lambda + s->w->shift * s->norm * g;
    double at = switch_time(s, c, ridge, 1), loss = BLIND * fmin(at, K);
    uint64_t stride = c->switches > 1000 ? c->switches / 1000 : 1; /* a sum like an integral */
    for (uint64_t i = 1; i <= c->switches && at < K; i += stride) {
        double n = steps * at / d;
        double next = i + stride > c->switches ? K : fmin(K, switch_time(s, c, ridge, i + stride));
        double off = (SIGMA * sqrt(n) + error + ridge / 4) / (n + ridge);
        loss += (next - at) * (fmin(BLIND, off) + TIE * off / (BLIND + off));
        at = next;
    }
    return loss / K;
}

/* What noise adds to the theorem's bonus: c_B row s_B + c_g s_u (in place of a predicted loss). */
static double theorem_loss(const tacit__lsvi_search *s, const tacit__lsvi_way *c, double gram,
                           double response)
{
    tacit_law law = tacit__lsvi_is_laplace(s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN;
    const tacit__linear_space *sp = &s->w->space;
    double matrix = tacit__lsvi_matrix_level(sp, law, c->row * c->row, s->alpha),
           vector = tacit__lsvi_vector_level(sp->dimension, law, s->alpha);
    return 3 * sqrt((double)sp->dimension) * matrix * c->row * gram + vector * response;
}

static double loss_of(const tacit__lsvi_search *s, const tacit__lsvi_way *c, double gram,
                      double response)
{
    return s->w->theorem ? theorem_loss(s, c, gram, response) : predict(s, c, gram, response);
}

static tacit__returning visits_of(const tacit__lsvi_scheme_options *w)
{
    return (tacit__returning){w->visits > 0 ? w->visits : 1, w->apart > 0 ? w->apart : 1};
}

/* What one person moves in n fresh releases over all data so far, after the leaves first .. first + n - 1:
 * squares in L2, moves in L1. */
static double prefixes(const tacit__lsvi_search *s, const tacit__lsvi_way *c, uint64_t first,
                       uint64_t n)
{
    const tacit__returning v = visits_of(s->w);
    const tacit__lsvi_scheme leaves = tacit__lsvi_leaves_of(c);
    double sum = 0;
    if (v.most == 1)
        return (double)n;
    for (uint64_t i = first; i < first + n; i++) {
        const uint64_t end = tacit__lsvi_leaf_end(&leaves, i + 1);
        const tacit__returning_sums one = tacit__returning_in_prefixes(&v, &end, 1);
        sum += tacit__lsvi_is_laplace(s) ? one.l1 : one.square;
    }
    return sum;
}

/* The best split of the budget for a candidate. */
tacit__lsvi_scales tacit__lsvi_split(const tacit__lsvi_search *s, const tacit__lsvi_way *c)
{
    const tacit__lsvi_scheme_options *w = s->w;
    const uint64_t idle = c->switches < c->leaves ? c->leaves - c->switches : 0;
    double H = (double)w->space.horizon, P = (double)tacit__gram_steps(&w->space),
           N = prefixes(s, c, idle, c->switches), nearest = HUGE_VAL;
    tacit__lsvi_scales best = {.loss = HUGE_VAL};
    for (int i = 0; i < TACIT__LSVI_RATIOS; i++) {
        double t = ratio_at(i), share;
        tacit__lsvi_scales trial = {.ratio = tacit__lsvi_is_laplace(s) ? 0 : t};
        if (tacit__lsvi_is_laplace(s)) {
            share = 1 / (1 + t);
            trial.gram = H * c->column * l1_of_gram(w) / (share * s->budget);
            trial.response = H * N * P * l1_of_response(w) / ((1 - share) * s->budget);
        } else {
            double a = s->budget * s->budget / (H * P * s->reach[i]);
            share = s->gram_reach / s->reach[i];
            trial.gram = c->column / sqrt(a);
            trial.response = sqrt(N * P / (t * a));
        }
        trial.loss = loss_of(s, c, trial.gram, trial.response);
        if (!w->theorem && w->gram_share == 0 && !(share > LEAST_SHARE && share < 1 - LEAST_SHARE))
            continue;
        double distance = fabs(share - w->gram_share);
        if (w->gram_share > 0 ? distance < nearest : trial.loss < best.loss) {
            best = trial;
            nearest = distance;
        }
    }
    return best;
}

/* --- The Gram mechanism ------------------------------------------------------------------------- */

/* column * row of a running sum of n steps, roughly: the table of docs/why/sums.md. */
static double rough_gain(const tacit__lsvi_search *s, double n)
{
    double levels = ceil(log2(n + 1));
    if (s->w->mechanism == TACIT_SUM_BLT)
        return 1.07 + 0.319 * log(n);
    if (tacit__lsvi_is_laplace(s))
        return (s->w->mechanism == TACIT_SUM_SMOOTH ? 0.42 : 1) * levels * sqrt(levels);
    return levels;
}

static double direct_column(const tacit__lsvi_search *s, const tacit__lsvi_way *c)
{
    const double sum = prefixes(s, c, 0, c->leaves);
    return tacit__lsvi_is_laplace(s) ? sum : sqrt(sum) * ROUNDING;
}

/* How much more all visits of one person move a running sum than one, roughly: overlaps fall with the
 * logarithm of the distance. */
static double rough_visits(const tacit__lsvi_search *s)
{
    enum { MOST_TERMS = 10000 };
    const tacit__returning v = visits_of(s->w);
    const double k = (double)v.most, K = (double)s->w->episodes, one = 1 + log1p(K);
    double sum = k;
    if (tacit__lsvi_is_laplace(s))
        return k;
    for (uint64_t j = 1; j < v.most && j < MOST_TERMS; j++)
        sum += 2 * (k - (double)j) * log1p(K / ((double)j * (double)v.apart)) / one;
    return fmin(sqrt(sum), k);
}

/* For the search: the better of both mechanisms. */
void tacit__lsvi_estimate_gain(const tacit__lsvi_search *s, tacit__lsvi_way *c)
{
    double sums = rough_gain(s, (double)c->leaves) * rough_visits(s), direct = direct_column(s, c);
    bool may_sum = s->w->gram != TACIT__GRAM_DIRECT, may_direct = s->w->gram != TACIT__GRAM_SUMS;
    c->row = 1;
    c->column = !may_direct || (may_sum && sums < direct) ? sums : direct;
}

/* Leaves of one user are places; others hold several visits. */
static tacit_status predict_sums(const tacit__lsvi_search *s, const tacit__lsvi_way *c,
                                 const tacit_sum_spec *spec, tacit__sum_prediction *out,
                                 tacit_error *err)
{
    if (visits_of(s->w).most == 1 || c->leaf == 1)
        return tacit__sum_predict(spec, out, err);
    const tacit__lsvi_scheme leaves = tacit__lsvi_leaves_of(c);
    uint64_t *ends = tacit__alloc((size_t)c->leaves, sizeof *ends);
    if (ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__lsvi_leaf_ends(&leaves, ends);
    tacit_status status =
        tacit__sum_predict_released(spec, &(tacit__batches){c->leaves, ends}, out, err);
    tacit__free(ends);
    return status;
}

/* For the plan: the exact one. */
static tacit_status find_gain(const tacit__lsvi_search *s, tacit__lsvi_way *c,
                              tacit__lsvi_scheme *out, tacit_error *err)
{
    tacit__sum_prediction gain = {.column = HUGE_VAL, .row = 1};
    const bool watches = tacit__lsvi_watches(s->w->schedule);
    out->direct = s->w->gram == TACIT__GRAM_DIRECT && !watches;
    if (!out->direct) {
        double H = (double)s->w->space.horizon, P = (double)tacit__gram_steps(&s->w->space);
        const tacit_sum_spec spec = {
            .mechanism = s->w->mechanism,
            .law = tacit__lsvi_is_laplace(s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
            .dimension = tacit__gram_count(&s->w->space) * tacit__gram_size(&s->w->space),
            .users = c->leaves,
            .visits = s->w->visits,
            .apart = s->w->apart,
            .bound = {.l1 = H * l1_of_gram(s->w), .l2 = sqrt(H * P)}};
        TRY(predict_sums(s, c, &spec, &gain, err));
        out->direct = s->w->gram == TACIT__GRAM_AUTO && !watches &&
                      direct_column(s, c) < gain.column * gain.row;
    }
    if (out->direct)
        gain = (tacit__sum_prediction){.column = direct_column(s, c), .row = 1};
    c->column = gain.column;
    c->row = gain.row;
    return TACIT_OK;
}

/* --- The decision ------------------------------------------------------------------------------- */

static void set_leaves(const tacit__lsvi_way *c, tacit__lsvi_scheme *out)
{
    out->leaf = c->leaf;
    out->leaves = c->leaves;
    out->unit = c->unit;
    out->rate = c->rate;
    out->switches = c->switches;
    out->switch_factor = c->factor;
}

static void decide_exact(const tacit__lsvi_scheme_options *w, tacit__lsvi_scheme *out)
{
    const tacit__lsvi_way c = tacit__lsvi_exact_way(w, &out->bound);
    out->law = TACIT_LAW_NONE;
    out->mechanism = TACIT_SUM_EXACT;
    set_leaves(&c, out);
    out->predicted = (double)NAN;
}

/* U: the largest |x a - y b|^2. */
static double response_reach(const tacit__lsvi_scheme_options *w)
{
    return tacit__lsvi_reach(&w->space, w->centered, RESPONSES_ONLY) / RESPONSES_ONLY;
}

static tacit_status begin_search(tacit__lsvi_search *s, const tacit__lsvi_scheme_options *w,
                                 tacit_error *err)
{
    *s = (tacit__lsvi_search){.w = w,
                              .budget = w->guarantee.epsilon,
                              .gram_reach = tacit__lsvi_reach(&w->space, w->centered, 0),
                              .norm = tacit__lsvi_expected_norm(&w->space),
                              .alpha = w->failure /
                                       (6 * (double)w->episodes * (double)w->space.horizon)};
    if (tacit__lsvi_is_laplace(s))
        return TACIT_OK;
    double ratios[TACIT__LSVI_RATIOS];
    for (int i = 0; i < TACIT__LSVI_RATIOS; i++)
        ratios[i] = ratio_at(i);
    tacit__lsvi_reaches(&w->space, w->centered, TACIT__LSVI_RATIOS, ratios, s->reach);
    for (int i = 0; i < TACIT__LSVI_RATIOS && visits_of(w).most > 1; i++)
        s->reach[i] = s->gram_reach + ratios[i] * response_reach(w);
    tacit_status status = tacit_gdp_mu(w->guarantee.epsilon, w->guarantee.delta, &s->budget);
    if (status != TACIT_OK)
        return tacit__fail(err, status, "no Gaussian noise gives epsilon = %g at delta = %g",
                           w->guarantee.epsilon, w->guarantee.delta);
    return TACIT_OK;
}

static void fill_sensitivities(const tacit__lsvi_search *s, const tacit__lsvi_scales *scales,
                               tacit__lsvi_scheme *out)
{
    const tacit__lsvi_scheme_options *w = s->w;
    out->gram_l1 = l1_of_gram(w);
    out->response_l1 = l1_of_response(w);
    if (w->printed_gram > 0) { /* features anywhere in the ball, targets in [0, 1] */
        out->gram_l2 = M_SQRT2 * ROUNDING;
        out->response_l2 = 2;
        return;
    }
    out->gram_l2 = sqrt(s->gram_reach) * ROUNDING;
    out->tabled = tacit__lsvi_is_searched(&w->space);
    if (tacit__lsvi_is_laplace(s)) { /* for the record; the law is charged in L1 */
        out->response_l2 = w->centered ? 1 : 2;
        return;
    }
    if (visits_of(w).most > 1) {
        out->ratio = HUGE_VAL;
        out->response_l2 = fmin(sqrt(response_reach(w)) * ROUNDING, out->response_l1);
        return;
    }
    out->ratio = scales->ratio * (1 + JOINT_SLACK);
    double both = tacit__lsvi_reach(&w->space, w->centered, out->ratio);
    out->response_l2 = sqrt((both - s->gram_reach) / out->ratio) * ROUNDING;
}

tacit_status tacit__lsvi_decide(const tacit__lsvi_scheme_options *w, tacit__lsvi_scheme *out,
                                tacit_error *err)
{
    TACIT__REQUIRE(w->episodes > 0 && w->space.horizon > 0);
    *out = (tacit__lsvi_scheme){.mechanism = w->mechanism};
    if (w->guarantee.model == TACIT_MODEL_NONE) {
        decide_exact(w, out);
        return TACIT_OK;
    }
    tacit__lsvi_search s;
    TRY(begin_search(&s, w, err));
    const bool watches = tacit__lsvi_watches(w->schedule);
    tacit__lsvi_way c = watches ? tacit__lsvi_tests(w) : tacit__lsvi_best_way(&s);
    TRY(find_gain(&s, &c, out, err));
    if (watches)
        c = tacit__lsvi_best_watching(&s, c, &out->bound);
    tacit__lsvi_scales scales = tacit__lsvi_split(&s, &c);
    if (w->printed_gram > 0)
        scales = (tacit__lsvi_scales){w->printed_gram, w->printed_response, 0, 0};
    TACIT__REQUIRE(scales.gram > 0 && scales.response > 0);
    fill_sensitivities(&s, &scales, out);
    double unit = tacit__lsvi_is_laplace(&s) ? M_SQRT2 : 1;
    out->law = tacit__lsvi_is_laplace(&s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN;
    set_leaves(&c, out);
    out->column = c.column;
    out->row = c.row;
    out->gram_scale = scales.gram;
    out->response_scale = scales.response;
    out->gram_stddev = scales.gram * c.row * unit;
    out->response_stddev = scales.response * unit;
    out->shift = w->shift * s.norm * out->gram_stddev;
    out->predicted = predict(&s, &c, scales.gram, scales.response);
    return TACIT_OK;
}
