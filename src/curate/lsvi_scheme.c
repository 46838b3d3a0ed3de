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
#include "curate/lsvi_scheme.h"

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

enum {
    N_RATIOS = 49,       /* of t, from 2^-12 to 2^12 by factors of sqrt(2) */
    MOST_SWITCHES = 400, /* candidates for a cap */
    MOST_BATCHES = 64,   /* that grow */
    TEST_POINTS = 1000   /* tests of determinants in a run, unless asked for: more cost noise */
};

/* --- Noise of a candidate ----------------------------------------------------------------------- */

typedef struct search {
    const tacit__lsvi_scheme_options *w;
    double budget;          /* mu, or epsilon */
    double reach[N_RATIOS]; /* at ratio_at(i) */
    double gram_reach;      /* reach(0) */
    double norm;            /* expected largest eigenvalue of unit noise */
    double alpha;
} search;

/* A way to release: how often, and how well the Gram mechanism does. */
typedef struct candidate {
    uint64_t leaf, leaves, switches;
    double factor;
    double unit, rate; /* of leaf ends; rate 0: equal leaves */
    double column, row;
} candidate;

/* Scales for it. */
typedef struct noise {
    double gram, response; /* of a draw */
    double ratio;          /* t; Laplace: 0 */
    double loss;           /* what was minimized */
} noise;

static double ratio_at(int i)
{
    const int middle = N_RATIOS / 2;
    return exp2(0.5 * (double)(i - middle));
}

static bool is_laplace(const search *s)
{
    return s->w->guarantee.delta == 0;
}

static double weight_size(const search *s)
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

static tacit__lsvi_scheme leaves_of(const candidate *c)
{
    return (tacit__lsvi_scheme){
        .leaf = c->leaf, .leaves = c->leaves, .unit = c->unit, .rate = c->rate};
}

/* Users seen when the i-th policy is made, i = 1 .. switches. */
static double switch_time(const search *s, const candidate *c, double ridge, uint64_t i)
{
    double K = (double)s->w->episodes, d = (double)s->w->space.dimension;
    const tacit__lsvi_scheme leaves = leaves_of(c);
    if (s->w->schedule != TACIT__DOUBLING)
        return (double)tacit__lsvi_leaf_end(&leaves, i);
    /* all directions grow alike: det = (ridge + k / d)^d */
    double rate = log1p(K / (d * ridge)) / ((double)c->switches + 1);
    return d * ridge * expm1(rate * (double)i);
}

/* The mean loss of an episode, in shares of its range. */
static double predict(const search *s, const candidate *c, double gram, double response)
{
    double K = (double)s->w->episodes, d = (double)s->w->space.dimension, w = weight_size(s);
    double unit = is_laplace(s) ? M_SQRT2 : 1;
    double g = gram * c->row * unit, u = response * unit;
    double error = sqrt(w * w * g * g + u * u), ridge = s->w->lambda + s->w->shift * s->norm * g;
    double at = switch_time(s, c, ridge, 1), loss = BLIND * fmin(at, K);
    uint64_t stride = c->switches > 1000 ? c->switches / 1000 : 1; /* a sum like an integral */
    for (uint64_t i = 1; i <= c->switches && at < K; i += stride) {
        double n = at / d;
        double next = i + stride > c->switches ? K : fmin(K, switch_time(s, c, ridge, i + stride));
        double off = (SIGMA * sqrt(n) + error + ridge / 4) / (n + ridge);
        loss += (next - at) * (fmin(BLIND, off) + TIE * off / (BLIND + off));
        at = next;
    }
    return loss / K;
}

/* What noise adds to the theorem's bonus: c_B row s_B + c_g s_u (in place of a predicted loss). */
static double theorem_loss(const search *s, const candidate *c, double gram, double response)
{
    tacit_law law = is_laplace(s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN;
    const tacit__linear_space *sp = &s->w->space;
    double matrix = tacit__lsvi_matrix_level(sp, law, c->row * c->row, s->alpha),
           vector = tacit__lsvi_vector_level(sp->dimension, law, s->alpha);
    return 3 * sqrt((double)sp->dimension) * matrix * c->row * gram + vector * response;
}

static double loss_of(const search *s, const candidate *c, double gram, double response)
{
    return s->w->theorem ? theorem_loss(s, c, gram, response) : predict(s, c, gram, response);
}

static tacit__returning visits_of(const tacit__lsvi_scheme_options *w)
{
    return (tacit__returning){w->visits > 0 ? w->visits : 1, w->apart > 0 ? w->apart : 1};
}

/* What one person moves in n fresh releases over all data so far, after the leaves first .. first + n - 1:
 * squares in L2, moves in L1. */
static double prefixes(const search *s, const candidate *c, uint64_t first, uint64_t n)
{
    const tacit__returning v = visits_of(s->w);
    const tacit__lsvi_scheme leaves = leaves_of(c);
    double sum = 0;
    if (v.most == 1)
        return (double)n;
    for (uint64_t i = first; i < first + n; i++) {
        const uint64_t end = tacit__lsvi_leaf_end(&leaves, i + 1);
        const tacit__returning_sums one = tacit__returning_in_prefixes(&v, &end, 1);
        sum += is_laplace(s) ? one.l1 : one.square;
    }
    return sum;
}

/* The best split of the budget for a candidate. */
static noise split(const search *s, const candidate *c)
{
    const tacit__lsvi_scheme_options *w = s->w;
    const uint64_t idle = c->switches < c->leaves ? c->leaves - c->switches : 0;
    double H = (double)w->space.horizon, N = prefixes(s, c, idle, c->switches), nearest = HUGE_VAL;
    noise best = {.loss = HUGE_VAL};
    for (int i = 0; i < N_RATIOS; i++) {
        double t = ratio_at(i), share;
        noise trial = {.ratio = is_laplace(s) ? 0 : t};
        if (is_laplace(s)) {
            share = 1 / (1 + t);
            trial.gram = H * c->column * l1_of_gram(w) / (share * s->budget);
            trial.response = H * N * l1_of_response(w) / ((1 - share) * s->budget);
        } else {
            double a = s->budget * s->budget / (H * s->reach[i]);
            share = s->gram_reach / s->reach[i];
            trial.gram = c->column / sqrt(a);
            trial.response = sqrt(N / (t * a));
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
static double rough_gain(const search *s, double n)
{
    double levels = ceil(log2(n + 1));
    if (s->w->mechanism == TACIT_SUM_BLT)
        return 1.07 + 0.319 * log(n);
    if (is_laplace(s))
        return (s->w->mechanism == TACIT_SUM_SMOOTH ? 0.42 : 1) * levels * sqrt(levels);
    return levels;
}

static double direct_column(const search *s, const candidate *c)
{
    const double sum = prefixes(s, c, 0, c->leaves);
    return is_laplace(s) ? sum : sqrt(sum) * ROUNDING;
}

/* How much more all visits of one person move a running sum than one, roughly: overlaps fall with the
 * logarithm of the distance. */
static double rough_visits(const search *s)
{
    enum { MOST_TERMS = 10000 };
    const tacit__returning v = visits_of(s->w);
    const double k = (double)v.most, K = (double)s->w->episodes, one = 1 + log1p(K);
    double sum = k;
    if (is_laplace(s))
        return k;
    for (uint64_t j = 1; j < v.most && j < MOST_TERMS; j++)
        sum += 2 * (k - (double)j) * log1p(K / ((double)j * (double)v.apart)) / one;
    return fmin(sqrt(sum), k);
}

/* For the search: the better of both mechanisms. */
static void estimate_gain(const search *s, candidate *c)
{
    double sums = rough_gain(s, (double)c->leaves) * rough_visits(s), direct = direct_column(s, c);
    bool may_sum = s->w->gram != TACIT__GRAM_DIRECT || s->w->schedule == TACIT__DOUBLING;
    bool may_direct = s->w->gram != TACIT__GRAM_SUMS && s->w->schedule != TACIT__DOUBLING;
    c->row = 1;
    c->column = !may_direct || (may_sum && sums < direct) ? sums : direct;
}

/* Leaves of one user are places; others hold several visits. */
static tacit_status predict_sums(const search *s, const candidate *c, const tacit_sum_spec *spec,
                                 tacit__sum_prediction *out, tacit_error *err)
{
    if (visits_of(s->w).most == 1 || c->leaf == 1)
        return tacit__sum_predict(spec, out, err);
    const tacit__lsvi_scheme leaves = leaves_of(c);
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
static tacit_status find_gain(const search *s, candidate *c, tacit__lsvi_scheme *out,
                              tacit_error *err)
{
    tacit__sum_prediction gain = {.column = HUGE_VAL, .row = 1};
    bool doubling = s->w->schedule == TACIT__DOUBLING;
    out->direct = s->w->gram == TACIT__GRAM_DIRECT && !doubling;
    if (!out->direct) {
        double H = (double)s->w->space.horizon;
        const tacit_sum_spec spec = {.mechanism = s->w->mechanism,
                                     .law = is_laplace(s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                                     .dimension =
                                         s->w->space.horizon * tacit__gram_size(&s->w->space),
                                     .users = c->leaves,
                                     .visits = s->w->visits,
                                     .apart = s->w->apart,
                                     .bound = {.l1 = H * l1_of_gram(s->w), .l2 = sqrt(H)}};
        TRY(predict_sums(s, c, &spec, &gain, err));
        out->direct = s->w->gram == TACIT__GRAM_AUTO && !doubling &&
                      direct_column(s, c) < gain.column * gain.row;
    }
    if (out->direct)
        gain = (tacit__sum_prediction){.column = direct_column(s, c), .row = 1};
    c->column = gain.column;
    c->row = gain.row;
    return TACIT_OK;
}

/* --- Schedules ---------------------------------------------------------------------------------- */

static uint64_t at_least_one(uint64_t n)
{
    return n > 0 ? n : 1;
}

/* B batches of ceil(K / B) users; nothing is needed after the last. */
static candidate in_batches(const tacit__lsvi_scheme_options *w, uint64_t batches)
{
    uint64_t K = w->episodes, B = batches < 1 ? 1 : batches > K ? K : batches;
    TACIT__REQUIRE(K > 0);
    candidate c = {.leaf = K / B + (K % B > 0)};
    uint64_t most = (K - 1) / c.leaf;
    c.leaves = at_least_one(B - 1 < most ? B - 1 : most);
    c.switches = c.leaves;
    return c;
}

/* n batches and a rest of which nothing is needed. Determinants would grow alike from one to the next:
 * (unit + users)^d, where unit / d is what the diagonal has before the first user. */
static candidate in_growing(const tacit__lsvi_scheme_options *w, uint64_t n, double unit)
{
    const double last = (double)w->episodes - 1;
    candidate c = {.leaves = n < 1 || last < 1  ? 1
                             : (double)n < last ? n
                                                : (uint64_t)last,
                   .unit = unit};
    c.switches = c.leaves;
    c.rate = log1p(fmax(last, 1) / unit) / (double)(c.leaves + 1);
    const tacit__lsvi_scheme leaves = leaves_of(&c);
    for (uint64_t i = 0, before = 0, end = 0; i < c.leaves; i++, before = end) {
        end = tacit__lsvi_leaf_end(&leaves, i + 1);
        c.leaf = end - before > c.leaf ? end - before : c.leaf;
    }
    return c;
}

static candidate by_tests(const tacit__lsvi_scheme_options *w, uint64_t leaf)
{
    uint64_t K = w->episodes;
    candidate c = {.leaf = leaf > K - 1 ? at_least_one(K - 1) : leaf};
    c.leaves = at_least_one((K - 1) / c.leaf);
    return c;
}

/* (d H / log C) log(growth): a bound on switches [NVW22, Lemma 31, with the constants of its proof]. */
static uint64_t cap_of(const tacit__lsvi_scheme_options *w, double factor, double growth)
{
    double dH = (double)w->space.dimension * (double)w->space.horizon;
    double n = ceil(dH / log(factor) * log(growth));
    return n < 1 ? 1 : n < (double)w->episodes ? (uint64_t)n : w->episodes;
}

/* The theorem's cap for noisy matrices: the fixed point of N -> bound at the noise that N switches need. */
static uint64_t theorem_cap(const search *s, candidate c, double factor)
{
    const tacit__lsvi_scheme_options *w = s->w;
    tacit_law law = is_laplace(s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN;
    uint64_t n = 10;
    for (int round = 0; round < 20; round++) {
        c.switches = n;
        noise scales = split(s, &c);
        double stddev = scales.gram * c.row * (is_laplace(s) ? M_SQRT2 : 1);
        double level = stddev * tacit__lsvi_matrix_level(&w->space, law, c.row * c.row, s->alpha);
        uint64_t next =
            cap_of(w, factor, 1.5 + (double)w->episodes / (2 * (double)w->space.dimension * level));
        if (next == n)
            break;
        n = next;
    }
    return n < c.leaves ? n : c.leaves;
}

/* The growth of all directions together, shared out between the switches; not below the paper's 2. */
static double factor_for(const search *s, const candidate *c, double gram)
{
    double stddev = gram * c->row * (is_laplace(s) ? M_SQRT2 : 1);
    double ridge = s->w->lambda + s->w->shift * s->norm * stddev, d = (double)s->w->space.dimension;
    double growth = d * log1p((double)s->w->episodes / (d * ridge));
    return fmax(2, exp(fmin(growth / ((double)c->switches + 1), 600)));
}

/* How many switches pay: the candidate with the least predicted loss. */
static candidate best_doubling(const search *s, candidate c, uint64_t *theorem)
{
    const tacit__lsvi_scheme_options *w = s->w;
    double factor = w->switch_factor > 0 ? w->switch_factor : 2;
    *theorem = theorem_cap(s, c, factor);
    c.switches = w->switches > 0 ? w->switches : *theorem;
    if (w->switches == 0 && !w->theorem) {
        double least = HUGE_VAL;
        /* beyond the theorem's cap nothing switches, so it would be paid for in vain */
        uint64_t best = 1, most = *theorem < MOST_SWITCHES ? *theorem : MOST_SWITCHES;
        for (uint64_t n = 1; n <= most; n++) {
            c.switches = n;
            double loss = split(s, &c).loss;
            if (loss < least) {
                least = loss;
                best = n;
            }
        }
        c.switches = best;
    }
    c.switches = c.switches < c.leaves ? c.switches : c.leaves;
    c.factor = w->switch_factor > 0 ? w->switch_factor
               : w->theorem         ? 2
                                    : factor_for(s, &c, split(s, &c).gram);
    return c;
}

static candidate best_batches(const search *s)
{
    const tacit__lsvi_scheme_options *w = s->w;
    double K = (double)w->episodes, d = (double)w->space.dimension, H = (double)w->space.horizon,
           epsilon = w->guarantee.epsilon, best = 1, least = HUGE_VAL;
    if (w->batches > 0)
        return in_batches(w, w->batches);
    if (w->theorem) { /* [LGLP21, E.1] and, for delta = 0, E.3 with the exponents recovered by balancing */
        best = is_laplace(s) ? cbrt(K * epsilon) / (pow(d, 2.0 / 3) * cbrt(H))
                             : pow(K * epsilon, 0.4) / (pow(d, 0.6) * pow(H, 0.2));
        return in_batches(w, (uint64_t)fmin(fmax(2, ceil(best)), K));
    }
    for (double B = 2; B <= fmin(K, 4096); B = fmax(B + 1, floor(B * 1.1))) {
        candidate c = in_batches(w, (uint64_t)B);
        estimate_gain(s, &c);
        double loss = split(s, &c).loss;
        if (loss < least) {
            least = loss;
            best = B;
        }
    }
    return in_batches(w, (uint64_t)best);
}

/* The ridge decides about the first batch, and the number of batches about the ridge. */
static candidate growing(const search *s, uint64_t n)
{
    const double d = (double)s->w->space.dimension;
    candidate c = in_growing(s->w, n, d * s->w->lambda);
    for (int round = 0; round < 3; round++) {
        estimate_gain(s, &c);
        const double stddev = split(s, &c).gram * c.row * (is_laplace(s) ? M_SQRT2 : 1);
        c = in_growing(s->w, n, d * (s->w->lambda + s->w->shift * s->norm * stddev));
    }
    estimate_gain(s, &c);
    return c;
}

static candidate best_growing(const search *s)
{
    uint64_t best = s->w->switches;
    double least = HUGE_VAL;
    for (uint64_t n = 1; s->w->switches == 0 && n <= MOST_BATCHES; n++) {
        const candidate c = growing(s, n);
        const double loss = split(s, &c).loss;
        best = loss < least ? n : best;
        least = fmin(loss, least);
    }
    return growing(s, best);
}

/* --- The decision ------------------------------------------------------------------------------- */

static void set_leaves(const candidate *c, tacit__lsvi_scheme *out)
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
    double K = (double)w->episodes, d = (double)w->space.dimension;
    candidate c;
    if (w->schedule == TACIT__DOUBLING) {
        c = by_tests(w, w->test_every > 0 ? w->test_every : 1);
        c.factor = w->switch_factor > 0 ? w->switch_factor : 2;
        out->theorem_switches = cap_of(w, c.factor, 1 + K / (d * w->lambda));
        c.switches = w->switches > 0 ? w->switches : out->theorem_switches;
        c.switches = c.switches < c.leaves ? c.switches : c.leaves;
    } else { /* [WZG21]: sqrt(K / d) batches cost nothing in the order of the regret */
        uint64_t batches = w->batches > 0 ? w->batches : (uint64_t)fmax(2, ceil(sqrt(K / d)));
        c = in_batches(w, w->schedule == TACIT__EVERY ? w->episodes : batches);
    }
    if (w->schedule == TACIT__GROWTH) /* as many as double the users, and the ridge before them */
        c = in_growing(w, w->switches > 0 ? w->switches : (uint64_t)log2(1 + K / (d * w->lambda)),
                       d * w->lambda);
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

static tacit_status begin_search(search *s, const tacit__lsvi_scheme_options *w, tacit_error *err)
{
    *s = (search){.w = w,
                  .budget = w->guarantee.epsilon,
                  .gram_reach = tacit__lsvi_reach(&w->space, w->centered, 0),
                  .norm = tacit__lsvi_expected_norm(&w->space),
                  .alpha = w->failure / (6 * (double)w->episodes * (double)w->space.horizon)};
    if (is_laplace(s))
        return TACIT_OK;
    double ratios[N_RATIOS];
    for (int i = 0; i < N_RATIOS; i++)
        ratios[i] = ratio_at(i);
    tacit__lsvi_reaches(&w->space, w->centered, N_RATIOS, ratios, s->reach);
    for (int i = 0; i < N_RATIOS && visits_of(w).most > 1; i++)
        s->reach[i] = s->gram_reach + ratios[i] * response_reach(w);
    tacit_status status = tacit_gdp_mu(w->guarantee.epsilon, w->guarantee.delta, &s->budget);
    if (status != TACIT_OK)
        return tacit__fail(err, status, "no Gaussian noise gives epsilon = %g at delta = %g",
                           w->guarantee.epsilon, w->guarantee.delta);
    return TACIT_OK;
}

static void fill_sensitivities(const search *s, const noise *scales, tacit__lsvi_scheme *out)
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
    if (is_laplace(s)) { /* for the record; the law is charged in L1 */
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
    search s;
    tacit_status status = begin_search(&s, w, err);
    if (status != TACIT_OK)
        return status;
    candidate c;
    if (w->schedule == TACIT__DOUBLING) {
        uint64_t tests = w->episodes / TEST_POINTS;
        c = by_tests(w, w->test_every > 0 ? w->test_every : w->theorem ? 1 : at_least_one(tests));
        status = find_gain(&s, &c, out, err);
        if (status != TACIT_OK)
            return status;
        c = best_doubling(&s, c, &out->theorem_switches);
    } else {
        c = w->schedule == TACIT__EVERY    ? in_batches(w, w->episodes)
            : w->schedule == TACIT__GROWTH ? best_growing(&s)
                                           : best_batches(&s);
        status = find_gain(&s, &c, out, err);
        if (status != TACIT_OK)
            return status;
    }
    noise scales = split(&s, &c);
    if (w->printed_gram > 0)
        scales = (noise){w->printed_gram, w->printed_response, 0, 0};
    TACIT__REQUIRE(scales.gram > 0 && scales.response > 0);
    fill_sensitivities(&s, &scales, out);
    double unit = is_laplace(&s) ? M_SQRT2 : 1;
    out->law = is_laplace(&s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN;
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
