/* Finite processes: how they are built, and their exact values against plain reference code. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "support/random.h"
#include "worlds/kind.h"

SCOPED_TYPE(tacit__mdp, tacit__mdp_destroy)

/* --- A small random process, kept dense for the reference --------------------------------------- */

enum { MAX_S = 12, MAX_A = 4, MAX_H = 6 };

typedef struct dense {
    size_t S, A, H, layers;
    double p[MAX_H][MAX_S][MAX_A][MAX_S], r[MAX_H][MAX_S][MAX_A][MAX_S]; /* r by next state */
    tacit_outcome initial[MAX_S];
} dense;

static size_t dense_row(void *context, size_t layer, uint32_t s, uint32_t a, tacit_outcome *out)
{
    const dense *d = context;
    for (uint32_t next = 0; next < d->S; next++) /* backwards, to be sorted */
        out[d->S - 1 - next] =
            (tacit_outcome){next, d->p[layer][s][a][next], d->r[layer][s][a][next]};
    return d->S;
}

static void normalize(double *p, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i];
    for (size_t i = 0; i < n; i++)
        p[i] /= sum;
}

/* About `support` successors a row. */
static void fill(dense *d, size_t S, size_t A, size_t H, bool stationary, size_t support,
                 uint64_t seed)
{
    memset(d, 0, sizeof *d);
    d->S = S;
    d->A = A;
    d->H = H;
    d->layers = stationary ? 1 : H;
    for (size_t h = 0; h < d->layers; h++)
        for (size_t s = 0; s < S; s++)
            for (size_t a = 0; a < A; a++) {
                for (size_t k = 0; k < support; k++)
                    d->p[h][s][a][random_below(&seed, S)] += random_unit(&seed) + 0.01;
                normalize(d->p[h][s][a], S);
                for (size_t next = 0; next < S; next++)
                    d->r[h][s][a][next] = random_unit(&seed);
            }
    double sum = 0;
    for (uint32_t s = 0; s < S; s++) {
        d->initial[s] = (tacit_outcome){s, random_unit(&seed), 0};
        sum += d->initial[s].prob;
    }
    for (size_t s = 0; s < S; s++)
        d->initial[s].prob /= sum;
}

static tacit__mdp *build(dense *d)
{
    tacit__mdp *mdp = NULL;
    tacit_error err = {.message = ""};
    const tacit__mdp_spec spec = {SPACE_OF(d->S, d->A, d->H), .stationary = d->layers == 1,
                                  .reward_high = 1,           .row_max = d->S,
                                  .row = dense_row,           .context = d,
                                  .initial = d->initial,      .n_initial = d->S};
    tacit_status status = tacit__mdp_create(&spec, &mdp, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return mdp;
}

/* The reference: sums over all next states, from the definition. */
static double reference_q(const dense *d, size_t h, size_t s, size_t a, const double *v)
{
    size_t layer = d->layers == 1 ? 0 : h;
    double q = 0;
    for (size_t next = 0; next < d->S; next++)
        q += d->p[layer][s][a][next] * (d->r[layer][s][a][next] + v[next]);
    return q;
}

static double reference_mixed(const dense *d, const double *mixed)
{
    double v[MAX_S] = {0}, now[MAX_S], value = 0;
    for (size_t h = d->H; h-- > 0;) {
        for (size_t s = 0; s < d->S; s++) {
            now[s] = 0;
            for (size_t a = 0; a < d->A; a++)
                now[s] += mixed[(h * d->S + s) * d->A + a] * reference_q(d, h, s, a, v);
        }
        memcpy(v, now, sizeof v);
    }
    for (size_t s = 0; s < d->S; s++)
        value += d->initial[s].prob * v[s];
    return value;
}

static void one_hot(const dense *d, const uint32_t *policy, double *mixed)
{
    for (size_t i = 0; i < d->H * d->S; i++)
        for (size_t a = 0; a < d->A; a++)
            mixed[i * d->A + a] = policy[i] == a;
}

static const struct shape {
    size_t S, A, H;
    bool stationary;
    size_t support;
} shapes[] = {{1, 1, 1, true, 1},   {1, 3, 4, true, 1},  {5, 2, 6, true, 1}, {6, 2, 5, true, 2},
              {7, 3, 6, true, 3},   {8, 3, 4, false, 4}, {9, 4, 6, true, 6}, {12, 4, 6, true, 40},
              {12, 2, 6, false, 9}, {3, 4, 6, false, 2}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

#define FOR_EACH_SHAPE(d)                                                                          \
    for (size_t k_ = 0; k_ < N_SHAPES * 5; k_++)                                                   \
        if (fill(&(d), shapes[k_ / 5].S, shapes[k_ / 5].A, shapes[k_ / 5].H,                       \
                 shapes[k_ / 5].stationary, shapes[k_ / 5].support, k_),                           \
            true)

static dense d;
static uint32_t policy[MAX_H * MAX_S];
static double values[(MAX_H + 1) * MAX_S], scratch[2 * MAX_S], mixed[MAX_H * MAX_S * MAX_A];

/* --- Building ----------------------------------------------------------------------------------- */

TEST(every_row_sums_to_one_and_is_sorted)
{
    FOR_EACH_SHAPE(d)
    {
        SCOPED(tacit__mdp) *mdp = build(&d);
        for (size_t row = 0; row < mdp->n_rows; row++) {
            double sum = 0;
            for (size_t i = mdp->start[row]; i < mdp->start[row + 1]; i++) {
                assert_true(mdp->prob[i] > 0);
                assert_true(i == mdp->start[row] || mdp->next[i] > mdp->next[i - 1]);
                sum += mdp->prob[i];
            }
            assert_true(fabs(sum - 1) <= 4e-16 * (double)d.S);
            assert_true(mdp->reward[row] >= 0 && mdp->reward[row] <= 1);
        }
    }
}

/* Adds up what the buckets give to each outcome, exactly. */
TEST(sampling_tables_hold_the_probabilities)
{
    FOR_EACH_SHAPE(d)
    {
        SCOPED(tacit__mdp) *mdp = build(&d);
        for (size_t row = 0; row < mdp->n_rows; row++) {
            size_t start = mdp->start[row], n = mdp->start[row + 1] - start;
            tacit__u128 mass[MAX_S] = {0}, whole = (tacit__u128)1 << 64;
            for (size_t i = 0; i < n; i++) {
                const tacit__bucket *b = &mdp->bucket[start + i];
                tacit__u128 limit = b->limit == UINT64_MAX ? whole : b->limit;
                mass[b->value[0]] += limit;
                mass[b->value[1]] += whole - limit;
                assert_int_equal(b->value[0], mdp->next[start + i]);
                if (mdp->other != NULL)
                    assert_int_equal(b->value[1], mdp->next[start + mdp->other[start + i]]);
            }
            for (size_t i = 0; i < n; i++) {
                double prob = ldexp((double)mass[mdp->next[start + i]], -64) / (double)n;
                assert_true(fabs(prob - mdp->prob[start + i]) <= 4e-16);
            }
        }
    }
}

typedef struct one_row {
    tacit_outcome outcomes[4];
    size_t n;
} one_row;

static size_t give_row(void *context, size_t layer, uint32_t s, uint32_t a, tacit_outcome *out)
{
    const one_row *r = context;
    (void)layer, (void)s, (void)a;
    memcpy(out, r->outcomes, r->n * sizeof *out);
    return r->n;
}

static tacit_status try_row(one_row *r, double low, double high, tacit__mdp **out, tacit_error *err)
{
    const tacit__mdp_spec spec = {SPACE_OF(2, 1, 3),   .stationary = true, .reward_low = low,
                                  .reward_high = high, .row_max = 4,       .row = give_row,
                                  .context = r};
    return tacit__mdp_create(&spec, out, err);
}

TEST(equal_outcomes_are_added_up_and_impossible_ones_dropped)
{
    one_row r = {{{1, 0.25, 1}, {0, 0, 1}, {1, 0.5, 0}, {1, 0.25, 1}}, 4};
    SCOPED(tacit__mdp) *mdp = NULL;
    tacit_error err;
    assert_ok(try_row(&r, 0, 1, &mdp, &err));
    assert_int_equal(mdp->n_outcomes, 4); /* two rows of two */
    assert_int_equal(mdp->next[0], 1);
    assert_int_equal(mdp->next[1], 1);
    assert_true(mdp->prob[0] == 0.5 && mdp->outcome_reward[0] == 0);
    assert_true(mdp->prob[1] == 0.5 && mdp->outcome_reward[1] == 1);
    assert_true(mdp->reward[0] == 0.5);
    assert_int_equal(mdp->n_unreachable, 0);
}

TEST(rewards_are_mapped_by_their_bounds)
{
    one_row r = {{{0, 0.5, -1}, {1, 0.5, 3}}, 2};
    SCOPED(tacit__mdp) *mdp = NULL;
    tacit_error err;
    assert_ok(try_row(&r, -1, 4, &mdp, &err));
    assert_true(mdp->outcome_reward[0] == 0 && mdp->outcome_reward[1] == 0.8);
    assert_true(mdp->reward[0] == 0.4);
    /* Three steps of (-1 + 3) / 2. */
    double value = tacit__mdp_solve(mdp, NULL, NULL, scratch);
    assert_true(fabs(3 * -1 + 5 * value - 3) < 1e-14);
}

TEST(small_errors_of_sums_are_divided_out_and_large_ones_refused)
{
    one_row r = {{{0, 0.3333333, 0}, {1, 0.6666666, 0}}, 2};
    tacit__mdp *mdp = NULL;
    tacit_error err;
    assert_ok(try_row(&r, 0, 1, &mdp, &err));
    assert_true(fabs(mdp->prob[0] + mdp->prob[1] - 1) < 2e-16);
    tacit__mdp_destroy(mdp);
    mdp = NULL;
    r.outcomes[0].prob = 0.33;
    assert_status(try_row(&r, 0, 1, &mdp, &err), TACIT_BAD_ARGUMENT);
    assert_null(mdp);
    r.outcomes[0].prob = -0.5;
    r.outcomes[1].prob = 1.5;
    assert_status(try_row(&r, 0, 1, &mdp, &err), TACIT_BAD_ARGUMENT);
    r.outcomes[0].prob = nan("");
    assert_status(try_row(&r, 0, 1, &mdp, &err), TACIT_BAD_ARGUMENT);
    r = (one_row){{{0, 1, 2}}, 1};
    assert_status(try_row(&r, 0, 1, &mdp, &err), TACIT_OUT_OF_BOUND);
    r = (one_row){{{2, 1, 0}}, 1};
    assert_status(try_row(&r, 0, 1, &mdp, &err), TACIT_BAD_ARGUMENT);
    r.n = 0;
    assert_status(try_row(&r, 0, 1, &mdp, &err), TACIT_BAD_ARGUMENT);
    r = (one_row){{{0, 1, 0}}, 1};
    assert_status(try_row(&r, 1, 1, &mdp, &err), TACIT_BAD_ARGUMENT);
    assert_null(mdp);
}

/* A chain 0 -> 1 -> 2 -> ..., by layer or for ever. */
static size_t chain_row(void *context, size_t layer, uint32_t s, uint32_t a, tacit_outcome *out)
{
    (void)context, (void)layer, (void)a;
    out[0] = (tacit_outcome){s < 9 ? s + 1 : s, 1, 0};
    return 1;
}

TEST(states_beyond_the_horizon_are_reported_unreachable)
{
    for (int stationary = 0; stationary < 2; stationary++) {
        const tacit__mdp_spec spec = {SPACE_OF(10, 1, 4), .stationary = stationary != 0,
                                      .reward_high = 1, .row_max = 1, .row = chain_row};
        SCOPED(tacit__mdp) *mdp = NULL;
        assert_ok(tacit__mdp_create(&spec, &mdp, NULL));
        assert_int_equal(mdp->n_unreachable, 5); /* 0 .. 4 are met, 4 after the last step */
        assert_int_equal(mdp->unreachable[0], 5);
    }
}

TEST(worlds_that_no_memory_holds_are_refused_before_asking_for_it)
{
    tacit_error err;
    tacit__mdp *mdp = NULL;
    tacit__mdp_spec spec = {SPACE_OF(1000000, 1000, 10), .reward_high = 1, .row_max = 1,
                            .row = chain_row};
    assert_status(tacit__mdp_create(&spec, &mdp, &err), TACIT_TOO_LARGE);
    spec.n_states = SIZE_MAX;
    assert_status(tacit__mdp_create(&spec, &mdp, &err), TACIT_TOO_LARGE);
    spec.n_states = 0;
    assert_status(tacit__mdp_create(&spec, &mdp, &err), TACIT_BAD_ARGUMENT);
    assert_null(mdp);
}

TEST(every_failed_allocation_leaves_nothing_behind)
{
    fill(&d, 6, 2, 5, true, 2, 1);
    uint64_t n = 0;
    for (bool failed = true; failed;) {
        SCOPED(tacit__mdp) *mdp = NULL;
        const tacit__mdp_spec spec = {SPACE_OF(d.S, d.A, d.H), .stationary = true, .reward_high = 1,
                                      .row_max = d.S,          .row = dense_row,   .context = &d};
        tacit__alloc_fail_at(++n);
        tacit_status status = tacit__mdp_create(&spec, &mdp, NULL);
        failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        assert_status(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
        assert_true(failed == (mdp == NULL));
    }
    assert_true(n > 4);
}

/* --- Values ------------------------------------------------------------------------------------- */

TEST(the_best_of_all_policies_is_the_optimal_value)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        fill(&d, 3, 2, 4, seed % 2 == 0, 2, seed); /* 2^12 policies */
        SCOPED(tacit__mdp) *mdp = build(&d);
        double optimal = tacit__mdp_solve(mdp, policy, values, NULL), best = 0;
        uint32_t all[12];
        for (uint32_t code = 0; code < 1U << 12; code++) {
            for (uint32_t i = 0; i < 12; i++)
                all[i] = code >> i & 1;
            best = fmax(best, tacit__mdp_evaluate(mdp, all, scratch));
        }
        assert_true(best == optimal);
    }
}

TEST(optimal_values_satisfy_the_bellman_equation)
{
    FOR_EACH_SHAPE(d)
    {
        SCOPED(tacit__mdp) *mdp = build(&d);
        tacit__mdp_solve(mdp, policy, values, NULL);
        for (size_t s = 0; s < d.S; s++)
            assert_true(values[d.H * d.S + s] == 0);
        for (size_t h = 0; h < d.H; h++)
            for (size_t s = 0; s < d.S; s++) {
                double best = -1;
                for (size_t a = 0; a < d.A; a++) {
                    double q = reference_q(&d, h, s, a, values + (h + 1) * d.S);
                    best = fmax(best, q);
                    if (policy[h * d.S + s] == a)
                        assert_true(fabs(q - values[h * d.S + s]) < 1e-13);
                }
                assert_true(fabs(best - values[h * d.S + s]) < 1e-13);
            }
    }
}

TEST(the_value_of_the_optimal_policy_is_the_optimal_value)
{
    FOR_EACH_SHAPE(d)
    {
        SCOPED(tacit__mdp) *mdp = build(&d);
        double optimal = tacit__mdp_solve(mdp, policy, values, NULL);
        assert_true(tacit__mdp_evaluate(mdp, policy, scratch) == optimal);
        assert_true(tacit__mdp_solve(mdp, NULL, NULL, scratch) == optimal);
        assert_true(tacit__mdp_solve(mdp, policy, NULL, scratch) == optimal);
    }
}

TEST(evaluations_agree_with_the_reference)
{
    uint64_t seed = 99;
    FOR_EACH_SHAPE(d)
    {
        SCOPED(tacit__mdp) *mdp = build(&d);
        for (size_t i = 0; i < d.H * d.S; i++)
            policy[i] = (uint32_t)(random_below(&seed, d.A));
        one_hot(&d, policy, mixed);
        double value = tacit__mdp_evaluate(mdp, policy, scratch);
        assert_true(value == tacit__mdp_evaluate_mixed(mdp, mixed, scratch));
        assert_true(fabs(value - reference_mixed(&d, mixed)) < 1e-13);
        for (size_t i = 0; i < d.H * d.S; i++) {
            for (size_t a = 0; a < d.A; a++)
                mixed[i * d.A + a] = random_unit(&seed) + 1e-3;
            normalize(mixed + i * d.A, d.A);
        }
        value = tacit__mdp_evaluate_mixed(mdp, mixed, scratch);
        assert_true(fabs(value - reference_mixed(&d, mixed)) < 1e-13);
    }
}

TEST(rows_of_equal_width_give_the_bits_of_the_general_code)
{
    int n_narrow = 0;
    FOR_EACH_SHAPE(d)
    {
        SCOPED(tacit__mdp) *mdp = build(&d);
        size_t width = mdp->width;
        n_narrow += width > 0;
        double narrow = tacit__mdp_solve(mdp, policy, NULL, scratch);
        mdp->width = 0;
        assert_true(tacit__mdp_solve(mdp, NULL, NULL, scratch) == narrow);
        assert_true(tacit__mdp_evaluate(mdp, policy, scratch) == narrow);
    }
    assert_true(n_narrow >= 20);
}
