/* See plan/induct.h. Sums over next states have two versions, by vectors and by plain loops, with
 * the same bits. */
#include "plan/induct.h"

#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "plan/public_chance.h"
#if TACIT__HAVE_AVX2
#include <immintrin.h>
#endif

tacit__induction tacit__induction_begin(tacit__space space, const tacit__planner_options *options,
                                        size_t kept, bool monotone)
{
    TACIT__REQUIRE(space.n_states > 0 && space.n_actions > 0 && space.horizon > 0);
    TACIT__REQUIRE(space.tables == 1 || space.tables == space.horizon);
    TACIT__REQUIRE(options->failure > 0 && options->bonus_scale >= 0 && options->error_scale >= 0);
    TACIT__REQUIRE(kept <= 1 || kept == space.tables);
    const size_t pairs = space.n_states * space.n_actions;
    return (tacit__induction){.space = space,
                              .options = *options,
                              .pairs = pairs,
                              .blocks = (pairs + TACIT__BLOCK - 1) / TACIT__BLOCK,
                              .kept = kept,
                              .monotone = monotone,
                              .tie_words = options->tie_seed};
}

/* Returns what no Q of a step exceeds: what is left to gain, or H at every step as [QW23, line 9]
 * prints it. */
static double cap_of(const tacit__induction *in, size_t h)
{
    return (double)(in->options.whole ? in->space.horizon : in->space.horizon - h);
}

tacit_status tacit__induction_allocate(void *planner, size_t size, const tacit__piece *own,
                                       size_t n, void **out)
{
    tacit__induction *in = planner;
    const size_t h = in->space.horizon, n_states = in->space.n_states, pairs = in->pairs,
                 rows = in->space.tables * pairs;
    const size_t block = TACIT__BLOCK * sizeof(double);
    tacit__piece pieces[9 + TACIT__MOST_OWN_PIECES] = {
        {&in->transitions, in->kept * in->blocks * n_states, in->kept > 0 ? block : 0},
        TACIT__PIECE(in->fixed, rows),
        TACIT__PIECE(in->slope, rows),
        TACIT__PIECE(in->q, h * pairs),
        TACIT__PIECE(in->values, (h + 1) * n_states),
        {&in->mean, in->blocks, block},
        {&in->square, in->blocks, block},
        TACIT__PIECE(in->trial, pairs),
        TACIT__PIECE(in->policy, h * n_states)};
    TACIT__REQUIRE(n <= TACIT__MOST_OWN_PIECES && size >= sizeof *in);
    for (size_t i = 0; i < n; i++)
        pieces[9 + i] = own[i];
    in = tacit__workspace_create(planner, size, pieces, 9 + n);
    if (in == NULL)
        return TACIT_NO_MEMORY;
    for (size_t step = 0; step < h; step++)
        for (size_t i = 0; i < pairs; i++)
            in->q[step * pairs + i] = cap_of(in, step);
    *out = in;
    return TACIT_OK;
}

tacit_status tacit__induction_create(tacit__space space, const tacit__planner_options *options,
                                     const tacit__values *own, void **out, tacit_error *err)
{
    (void)own, (void)err;
    tacit__induction in = tacit__induction_begin(space, options, space.tables, false);
    return tacit__induction_allocate(&in, sizeof in, NULL, 0, out);
}

/* Mean and variance of the next value for eight pairs; max(0, E V^2 - (E V)^2). */
static void moments_base(const double *transitions, const double *values, size_t n_states,
                         double *mean, double *variance)
{
    double first[TACIT__BLOCK] = {0}, second[TACIT__BLOCK] = {0};
    for (size_t next = 0; next < n_states; next++)
        for (size_t i = 0; i < TACIT__BLOCK; i++) {
            double weighted = transitions[next * TACIT__BLOCK + i] * values[next];
            first[i] += weighted;
            second[i] += weighted * values[next];
        }
    for (size_t i = 0; i < TACIT__BLOCK; i++) {
        double spread = second[i] - first[i] * first[i];
        mean[i] = first[i];
        variance[i] = spread > 0 ? spread : 0;
    }
}

#if TACIT__HAVE_AVX2
/* The same on four lanes and four lanes. */
TACIT__AVX2 static void moments_avx2(const double *transitions, const double *values,
                                     size_t n_states, double *mean, double *variance)
{
    __m256d first[2], second[2];
    for (int k = 0; k < 2; k++)
        first[k] = second[k] = _mm256_setzero_pd();
    for (size_t next = 0; next < n_states; next++) {
        __m256d value = _mm256_set1_pd(values[next]);
        for (int k = 0; k < 2; k++) {
            const double *row = transitions + next * TACIT__BLOCK + 4 * k;
            __m256d weighted = _mm256_mul_pd(_mm256_loadu_pd(row), value);
            first[k] = _mm256_add_pd(first[k], weighted);
            second[k] = _mm256_add_pd(second[k], _mm256_mul_pd(weighted, value));
        }
    }
    for (int k = 0; k < 2; k++) {
        __m256d spread = _mm256_sub_pd(second[k], _mm256_mul_pd(first[k], first[k]));
        _mm256_storeu_pd(mean + 4 * k, first[k]);
        _mm256_storeu_pd(variance + 4 * k, _mm256_max_pd(spread, _mm256_setzero_pd()));
    }
}
#endif

static void dense_moments(tacit__induction *in, size_t table, const double *values)
{
#if TACIT__HAVE_AVX2
    const bool wide = tacit__cpu_has_avx2();
#endif
    for (size_t block = 0; block < in->blocks; block++) {
        const double *transitions = tacit__induction_block(in, table, block);
        double *mean = in->mean + block * TACIT__BLOCK, *square = in->square + block * TACIT__BLOCK;
#if TACIT__HAVE_AVX2
        if (wide) {
            moments_avx2(transitions, values, in->space.n_states, mean, square);
            continue;
        }
#endif
        moments_base(transitions, values, in->space.n_states, mean, square);
    }
}

void tacit__induction_expect(const tacit__induction *in, size_t table, const double *g, double *out)
{
    TACIT__REQUIRE(in->transitions != NULL && table < in->space.tables);
    for (size_t block = 0; block < in->blocks; block++, out += TACIT__BLOCK) {
        const double *transitions = tacit__induction_block(in, table, block);
        for (size_t i = 0; i < TACIT__BLOCK; i++)
            out[i] = 0;
        for (size_t next = 0; next < in->space.n_states; next++)
            for (size_t i = 0; i < TACIT__BLOCK; i++)
                out[i] += transitions[next * TACIT__BLOCK + i] * g[next];
    }
}

void tacit__induction_step(tacit__induction *in, size_t h, tacit__q_fn *more, void *planner)
{
    TACIT__REQUIRE(h < in->space.horizon);
    const size_t n_states = in->space.n_states, pairs = in->pairs,
                 table = in->space.tables == 1 ? 0 : h;
    const double *next = in->values + (h + 1) * n_states;
    if (in->model != NULL)
        in->model(planner, h);
    if (h + 1 == in->space.horizon) { /* nothing follows: no estimate of a move is read */
        memset(in->mean, 0, in->blocks * TACIT__BLOCK * sizeof *in->mean);
        memset(in->square, 0, in->blocks * TACIT__BLOCK * sizeof *in->square);
    } else if (in->transitions == NULL) {
        in->moments(planner, h, next, in->mean, in->square);
    } else {
        dense_moments(in, table, next);
    }
    const double *fixed = in->fixed + table * pairs, *slope = in->slope + table * pairs;
    const double rest = (double)(in->space.horizon - h - 1); /* H - h with h counted from 1 */
    for (size_t i = 0; i < pairs; i++)
        in->trial[i] = fixed[i] + rest * slope[i] + in->mean[i];
    if (more != NULL)
        more(planner, h, in->mean, in->square, in->trial);
}

/* The greedy actions of step h, and their values; whether an action changed. */
static bool choose_actions(tacit__induction *in, size_t h)
{
    const size_t n_states = in->space.n_states, n_actions = in->space.n_actions;
    const double *q = in->q + h * in->pairs;
    bool changed = in->version == 0;
    for (size_t s = 0; s < n_states; s++) {
        uint32_t action = tacit__chance_best(q + s * n_actions, n_actions, &in->tie_words);
        in->values[h * n_states + s] = q[s * n_actions + action];
        changed |= in->policy[h * n_states + s] != action;
        in->policy[h * n_states + s] = action;
    }
    return changed;
}

static tacit_billboard billboard_of(tacit__induction *in, bool changed)
{
    in->version += changed;
    return (tacit_billboard){.version = in->version, .policy = in->policy};
}

tacit_billboard tacit__induction_repeat(tacit__induction *in)
{
    bool changed = false;
    for (size_t h = in->space.horizon; h-- > 0;)
        changed |= choose_actions(in, h);
    return billboard_of(in, changed);
}

tacit_billboard tacit__induction_run(tacit__induction *in, tacit__q_fn *more, void *planner)
{
    const size_t pairs = in->pairs;
    bool changed = false;
    for (size_t h = in->space.horizon; h-- > 0;) {
        double *q = in->q + h * pairs;
        const double cap = cap_of(in, h);
        tacit__induction_step(in, h, more, planner);
        for (size_t i = 0; i < pairs; i++) {
            double limit = in->monotone ? q[i] : cap, value = in->trial[i];
            value = value < limit ? value : limit;
            q[i] = value > 0 ? value : 0;
        }
        changed |= choose_actions(in, h);
    }
    return billboard_of(in, changed);
}

void tacit__induction_fields(void *planner, tacit__saved *s)
{
    tacit__induction *in = planner;
    uint64_t version = in->version;
    tacit__saved_value(s, &version, sizeof version);
    tacit__saved_check(s, version <= TACIT__MOST_COUNT);
    tacit__saved_array(s, &in->tie_words, 1, sizeof in->tie_words);
    tacit__saved_indices(s, in->policy, in->space.horizon * in->space.n_states,
                         in->space.n_actions);
    if (in->monotone)
        tacit__saved_reals(s, in->q, in->space.horizon * in->pairs, TACIT__MOST_SUM);
    if (s->pass == TACIT__APPLY)
        in->version = version;
}
