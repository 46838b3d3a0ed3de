/* When Gram matrices are shown, and how many switches pay: see lsvi_scheme_inside.h.
 *
 * How often a schedule that watches can switch. Let |noise| <= Y, c = lambda + shift, a = Y / c < 1, and
 * B = Gram + c I of exact sums. Then (1 - a) B <= M <= (1 + a) B, and B grows. A switch at factor C has
 * v' M v >= C v' N v for some v, where N is the matrix of the last switch, so B has grown in direction v by
 * C (1 - a) / (1 + a) =: C', and in no direction has it shrunk: its determinant has grown by C'. So if
 * C' > 1 there are at most (d H / log C') log(1 + K / (d c)) switches. Where M has grown in volume alone,
 * the same step loses ((1 + a) / (1 - a))^d, and [NVW22, Lemma 31], which takes M to grow, is no
 * bound; it is what `doubling` reserves nevertheless [docs/why/lsvi.md]. */
#include <math.h>

#include "base/error.h"
#include "release/archive/lsvi_scheme_inside.h"

enum {
    MOST_SWITCHES = 400, /* candidates for a cap */
    MOST_BATCHES = 64,   /* that grow */
    TEST_POINTS = 1000   /* tests of Gram matrices in a run, unless asked for: more cost noise */
};

static uint64_t at_least_one(uint64_t n)
{
    return n > 0 ? n : 1;
}

/* B batches of ceil(K / B) users; nothing is needed after the last. */
static tacit__lsvi_way in_batches(const tacit__lsvi_scheme_options *w, uint64_t batches)
{
    uint64_t K = w->episodes, B = batches < 1 ? 1 : batches > K ? K : batches;
    TACIT__REQUIRE(K > 0);
    tacit__lsvi_way c = {.leaf = K / B + (K % B > 0)};
    uint64_t most = (K - 1) / c.leaf;
    c.leaves = at_least_one(B - 1 < most ? B - 1 : most);
    c.switches = c.leaves;
    return c;
}

/* Users who add as much to all directions as the ridge. */
static double unit_of(const tacit__lsvi_scheme_options *w, double ridge)
{
    return (double)w->space.dimension * ridge / (double)tacit__gram_steps(&w->space);
}

/* n batches and a rest of which nothing is needed. Determinants would grow alike from one to the next:
 * (unit + users)^d, where unit / d is what the diagonal has before the first user. */
static tacit__lsvi_way in_growing(const tacit__lsvi_scheme_options *w, uint64_t n, double unit)
{
    const double last = (double)w->episodes - 1;
    tacit__lsvi_way c = {.leaves = n < 1 || last < 1  ? 1
                                   : (double)n < last ? n
                                                      : (uint64_t)last,
                         .unit = unit};
    c.switches = c.leaves;
    c.rate = log1p(fmax(last, 1) / unit) / (double)(c.leaves + 1);
    const tacit__lsvi_scheme leaves = tacit__lsvi_leaves_of(&c);
    for (uint64_t i = 0, before = 0, end = 0; i < c.leaves; i++, before = end) {
        end = tacit__lsvi_leaf_end(&leaves, i + 1);
        c.leaf = end - before > c.leaf ? end - before : c.leaf;
    }
    return c;
}

tacit__lsvi_way tacit__lsvi_tests(const tacit__lsvi_scheme_options *w)
{
    const uint64_t K = w->episodes, few = at_least_one(K / TEST_POINTS),
                   asked = w->test_every > 0                                      ? w->test_every
                           : w->theorem || w->guarantee.model == TACIT_MODEL_NONE ? 1
                                                                                  : few;
    tacit__lsvi_way c = {.leaf = asked > K - 1 ? at_least_one(K - 1) : asked};
    c.leaves = at_least_one((K - 1) / c.leaf);
    return c;
}

/* (d H / log C) log(growth); without a bound, all episodes. */
static uint64_t cap_of(const tacit__lsvi_scheme_options *w, double factor, double growth)
{
    double dH = (double)w->space.dimension * (double)tacit__gram_count(&w->space);
    double n = factor > 1 ? ceil(dH / log(factor) * log(growth)) : HUGE_VAL;
    return n < 1 ? 1 : n < (double)w->episodes ? (uint64_t)n : w->episodes;
}

/* For matrices whose noise is below this level: RAYLEIGH the bound of the head at the shift of the theorem,
 * DOUBLING what is printed [NVW22, Lemma 31, with the constants of its proof]. */
static uint64_t noisy_cap(const tacit__lsvi_scheme_options *w, double factor, double level)
{
    const double steps = (double)tacit__gram_steps(&w->space),
                 growth = steps * (double)w->episodes / ((double)w->space.dimension * level),
                 shift = TACIT__RAYLEIGH_SHIFT;
    return w->schedule == TACIT__RAYLEIGH
               ? cap_of(w, factor * (shift - 1) / (shift + 1), 1 + growth / shift)
               : cap_of(w, factor, 1.5 + growth / 2);
}

/* The fixed point of N -> bound at the noise that N switches need. */
static uint64_t bound_of(const tacit__lsvi_search *s, tacit__lsvi_way c, double factor)
{
    const tacit__lsvi_scheme_options *w = s->w;
    tacit_law law = tacit__lsvi_is_laplace(s) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN;
    uint64_t n = 10;
    for (int round = 0; round < 20; round++) {
        c.switches = n;
        tacit__lsvi_scales scales = tacit__lsvi_split(s, &c);
        double stddev = scales.gram * c.row * (tacit__lsvi_is_laplace(s) ? M_SQRT2 : 1);
        double level = stddev * tacit__lsvi_matrix_level(&w->space, law, c.row * c.row, s->alpha);
        uint64_t next = noisy_cap(w, factor, level);
        if (next == n)
            break;
        n = next;
    }
    return n < c.leaves ? n : c.leaves;
}

/* The growth of all directions together, or of each, shared out between the switches; not below the
 * paper's 2. */
static double factor_for(const tacit__lsvi_search *s, const tacit__lsvi_way *c, double gram)
{
    double stddev = gram * c->row * (tacit__lsvi_is_laplace(s) ? M_SQRT2 : 1);
    double ridge = s->w->lambda + s->w->shift * s->norm * stddev, d = (double)s->w->space.dimension;
    double users = (double)s->w->episodes * (double)tacit__gram_steps(&s->w->space);
    double growth = (s->w->schedule == TACIT__RAYLEIGH ? 1 : d) * log1p(users / (d * ridge));
    return fmax(2, exp(fmin(growth / ((double)c->switches + 1), 600)));
}

/* How many switches pay: the candidate with the least predicted loss. */
tacit__lsvi_way tacit__lsvi_best_watching(const tacit__lsvi_search *s, tacit__lsvi_way c,
                                          uint64_t *bound)
{
    const tacit__lsvi_scheme_options *w = s->w;
    double factor = w->switch_factor > 0 ? w->switch_factor : 2;
    *bound = bound_of(s, c, factor);
    c.switches = w->switches > 0 ? w->switches : *bound;
    if (w->switches == 0 && !w->theorem) {
        double least = HUGE_VAL;
        /* beyond the bound hardly anything switches, so it would be paid for in vain */
        uint64_t best = 1, most = *bound < MOST_SWITCHES ? *bound : MOST_SWITCHES;
        for (uint64_t n = 1; n <= most; n++) {
            c.switches = n;
            double loss = tacit__lsvi_split(s, &c).loss;
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
                                    : factor_for(s, &c, tacit__lsvi_split(s, &c).gram);
    return c;
}

static tacit__lsvi_way best_batches(const tacit__lsvi_search *s)
{
    const tacit__lsvi_scheme_options *w = s->w;
    double K = (double)w->episodes, d = (double)w->space.dimension, H = (double)w->space.horizon,
           epsilon = w->guarantee.epsilon, best = 1, least = HUGE_VAL;
    if (w->batches > 0)
        return in_batches(w, w->batches);
    if (w->theorem) { /* [LGLP21, E.1] and, for delta = 0, E.3 with the exponents recovered by balancing */
        best = tacit__lsvi_is_laplace(s) ? cbrt(K * epsilon) / (pow(d, 2.0 / 3) * cbrt(H))
                                         : pow(K * epsilon, 0.4) / (pow(d, 0.6) * pow(H, 0.2));
        return in_batches(w, (uint64_t)fmin(fmax(2, ceil(best)), K));
    }
    for (double B = 2; B <= fmin(K, 4096); B = fmax(B + 1, floor(B * 1.1))) {
        tacit__lsvi_way c = in_batches(w, (uint64_t)B);
        tacit__lsvi_estimate_gain(s, &c);
        double loss = tacit__lsvi_split(s, &c).loss;
        if (loss < least) {
            least = loss;
            best = B;
        }
    }
    return in_batches(w, (uint64_t)best);
}

/* The ridge decides about the first batch, and the number of batches about the ridge. */
static tacit__lsvi_way growing(const tacit__lsvi_search *s, uint64_t n)
{
    tacit__lsvi_way c = in_growing(s->w, n, unit_of(s->w, s->w->lambda));
    for (int round = 0; round < 3; round++) {
        tacit__lsvi_estimate_gain(s, &c);
        const double stddev =
            tacit__lsvi_split(s, &c).gram * c.row * (tacit__lsvi_is_laplace(s) ? M_SQRT2 : 1);
        c = in_growing(s->w, n, unit_of(s->w, s->w->lambda + s->w->shift * s->norm * stddev));
    }
    tacit__lsvi_estimate_gain(s, &c);
    return c;
}

static tacit__lsvi_way best_growing(const tacit__lsvi_search *s)
{
    uint64_t best = s->w->switches;
    double least = HUGE_VAL;
    for (uint64_t n = 1; s->w->switches == 0 && n <= MOST_BATCHES; n++) {
        const tacit__lsvi_way c = growing(s, n);
        const double loss = tacit__lsvi_split(s, &c).loss;
        best = loss < least ? n : best;
        least = fmin(loss, least);
    }
    return growing(s, best);
}

tacit__lsvi_way tacit__lsvi_best_way(const tacit__lsvi_search *s)
{
    TACIT__REQUIRE(!tacit__lsvi_watches(s->w->schedule));
    return s->w->schedule == TACIT__EVERY    ? in_batches(s->w, s->w->episodes)
           : s->w->schedule == TACIT__GROWTH ? best_growing(s)
                                             : best_batches(s);
}

tacit__lsvi_way tacit__lsvi_exact_way(const tacit__lsvi_scheme_options *w, uint64_t *bound)
{
    TACIT__REQUIRE(w->lambda > 0);
    const double K = (double)w->episodes, d = (double)w->space.dimension,
                 growth = 1 + K * (double)tacit__gram_steps(&w->space) / (d * w->lambda);
    if (w->schedule == TACIT__GROWTH) /* as many as double the users, and the ridge before them */
        return in_growing(w, w->switches > 0 ? w->switches : (uint64_t)log2(growth),
                          unit_of(w, w->lambda));
    if (!tacit__lsvi_watches(
            w->schedule)) { /* [WZG21]: sqrt(K / d) batches cost nothing in the order of the regret */
        uint64_t batches = w->batches > 0 ? w->batches : (uint64_t)fmax(2, ceil(sqrt(K / d)));
        return in_batches(w, w->schedule == TACIT__EVERY ? w->episodes : batches);
    }
    tacit__lsvi_way c = tacit__lsvi_tests(w);
    c.factor = w->switch_factor > 0 ? w->switch_factor : 2;
    *bound = cap_of(w, c.factor, growth);
    c.switches = w->switches > 0 ? w->switches : *bound;
    c.switches = c.switches < c.leaves ? c.switches : c.leaves;
    return c;
}
