/* Features of all pairs against sums written out, and what is said of features that break their word. */
#include "plan/pair_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/check.h"
#include "support/random.h"

enum { S = 20, A = 3, D = 4, PAIRS = S * A };

/* A user's own features: a table [S][A][D][S] behind a callback. */
typedef struct table {
    double phi[S][A][D][S];
    size_t calls;
} table;

static void row(void *context, uint32_t state, uint32_t action, double *out)
{
    table *t = context;
    t->calls++;
    memcpy(out, t->phi[state][action], sizeof t->phi[state][action]);
}

/* Signed features within bound 1: every part sums to at most 1 / sqrt(D) in absolute value. */
static table signed_table(uint64_t seed)
{
    table t = {.calls = 0};
    for (size_t s = 0; s < S; s++)
        for (size_t a = 0; a < A; a++)
            for (size_t j = 0; j < D; j++)
                for (size_t next = 0; next < S; next++)
                    t.phi[s][a][j][next] = random_between(&seed, -1, 1) / (S * sqrt(D));
    return t;
}

static tacit_mixture mixture_of(table *t)
{
    return (tacit_mixture){
        .dimension = D, .bound = 1, .parameter_norm = 3, .kernels = true, .row = row, .context = t};
}

/* One pair. */
typedef struct small_table {
    double phi[D * S];
} small_table;

static void small_row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)state, (void)action;
    memcpy(out, ((small_table *)context)->phi, D * 6 * sizeof *out);
}

static void large_row(void *context, uint32_t state, uint32_t action, double *out)
{
    (void)state, (void)action;
    memcpy(out, context, D * 60 * sizeof *out);
}

TEST(features_are_sums_over_next_states)
{
    uint64_t r = 1;
    table t = signed_table(2);
    tacit_mixture m = mixture_of(&t);
    m.bound = 2;
    tacit__pair_features features;
    tacit_error err;
    assert_ok(tacit__pair_features_create(&m, S, A, &features, &err));
    assert_int_equal(t.calls, PAIRS); /* once for each pair */
    assert_close(features.parameter_norm, 6, 1e-15);
    double u[S], out[D * PAIRS];
    for (size_t i = 0; i < S; i++)
        u[i] = random_between(&r, -1, 1);
    tacit__pair_features_apply(&features, u, out);
    for (size_t p = 0; p < PAIRS; p++)
        for (size_t j = 0; j < D; j++) {
            double sum = 0;
            for (size_t next = 0; next < S; next++)
                sum += t.phi[p / A][p % A][j][next] * u[next];
            assert_within(out[j * PAIRS + p] - sum / 2, -1e-15, 1e-15);
        }
    tacit__pair_features_destroy(&features);
}

TEST(tables_are_copied_into_their_block)
{
    tacit__pair_features features;
    tacit_error err;
    double u[S], out[S];
    for (size_t i = 0; i < S; i++)
        u[i] = (double)i / S;
    assert_ok(tacit__pair_features_create(NULL, S, A, &features, &err));
    assert_int_equal(features.frame.blocks, PAIRS);
    assert_int_equal(features.frame.width, S);
    assert_close(features.parameter_norm, sqrt(S), 1e-15);
    tacit__pair_features_apply(&features, u, out);
    for (size_t i = 0; i < S; i++)
        assert_within(out[i] - u[i] / sqrt(S), -1e-15, 1e-15);
    tacit__pair_features_destroy(&features);
}

static void refused(table *t, const tacit_mixture *m, const char *wanted)
{
    tacit__pair_features features;
    tacit_error err;
    (void)t;
    assert_status(tacit__pair_features_create(m, S, A, &features, &err), TACIT_OUT_OF_BOUND);
    if (strstr(err.message, wanted) == NULL)
        fail_msg("'%s' is not in '%s'", wanted, err.message);
}

TEST(features_that_break_their_word_are_named)
{
    table t = signed_table(3);
    tacit_mixture m = mixture_of(&t);
    /* too long only for a value function of mixed signs, which the search has to find */
    for (size_t next = 0; next < S; next++)
        t.phi[7][2][1][next] = (next % 2 == 0 ? 1.2 : -1.2) / S;
    refused(&t, &m, "state 7, action 2: features of a value function can be");
    t = signed_table(3);
    t.phi[19][0][3][4] = (double)NAN;
    refused(&t, &m, "state 19, action 0: a feature is not a finite number");
    t = signed_table(3);
    m.nonnegative = true;
    refused(&t, &m, "state 0, action 0: a feature is -");
    /* kernels over sqrt(d) are as long as they may be, and no longer */
    tacit__pair_features features;
    tacit_error err;
    for (size_t i = 0; i < S * A * D * S; i++)
        (&t.phi[0][0][0][0])[i] = 1 / (S * sqrt(D));
    assert_ok(tacit__pair_features_create(&m, S, A, &features, &err));
    tacit__pair_features_destroy(&features);
    t.phi[4][1][0][0] += 1e-6;
    refused(&t, &m, "state 4, action 1: features of a value function can be");
    m.dimension = 0;
    assert_status(tacit__pair_features_create(&m, S, A, &features, &err), TACIT_BAD_ARGUMENT);
}

/* Random signs, the bound by going through all corners: a bound that is a millionth too small is refused, the true one is not. */
TEST(every_bound_that_is_too_small_is_refused)
{
    enum { FEW = 6, TABLES = 400 };
    uint64_t r = 6;
    for (int trial = 0; trial < TABLES; trial++) {
        small_table t;
        double most = 0, low = trial % 2 == 0 ? -1 : 0;
        for (size_t i = 0; i < D * FEW; i++)
            t.phi[i] = random_normal(&r);
        for (size_t mask = 0; mask < (size_t)1 << FEW; mask++) {
            double square = 0;
            for (size_t j = 0; j < D; j++) {
                double x = 0;
                for (size_t i = 0; i < FEW; i++)
                    x += (mask >> i & 1 ? 1 : low) * t.phi[j * FEW + i];
                square += x * x;
            }
            most = fmax(most, sqrt(square));
        }
        tacit_mixture m = {.dimension = D,
                           .bound = most * (1 - 1e-6),
                           .parameter_norm = 1,
                           .kernels = low < 0,
                           .row = small_row,
                           .context = &t};
        tacit__pair_features features;
        tacit_error err;
        assert_status(tacit__pair_features_create(&m, FEW, 1, &features, &err), TACIT_OUT_OF_BOUND);
        m.bound = most;
        assert_ok(tacit__pair_features_create(&m, FEW, 1, &features, &err));
        tacit__pair_features_destroy(&features);
    }
}

/* So many states that all corners cannot be gone through: refused with a bound that is accepted. */
TEST(a_bound_that_cannot_be_proved_is_refused_with_one_that_can)
{
    enum { MANY = 60 };
    uint64_t r = 7;
    double phi[D * MANY], enough;
    for (size_t i = 0; i < D * MANY; i++)
        phi[i] = random_normal(&r);
    tacit_mixture m = {.dimension = D,
                       .bound = 100,
                       .parameter_norm = 1,
                       .kernels = true,
                       .row = large_row,
                       .context = phi};
    tacit__pair_features features;
    tacit_error err;
    const char *told;
    tacit_status status = TACIT_OK;
    for (; status == TACIT_OK; m.bound *= 0.99) { /* down from what is accepted at once */
        status = tacit__pair_features_create(&m, MANY, 1, &features, &err);
        if (status == TACIT_OK)
            tacit__pair_features_destroy(&features);
    }
    assert_status(status, TACIT_OUT_OF_BOUND);
    told = strstr(err.message, "none is longer than ");
    if (told == NULL)
        fail_msg("%s", err.message);
    enough = strtod(told + strlen("none is longer than "), NULL);
    m.bound = enough;
    assert_ok(tacit__pair_features_create(&m, MANY, 1, &features, &err));
    tacit__pair_features_destroy(&features);
}

/* Without [-1, 1] the same signed features are allowed to be longer there. */
TEST(bounds_of_values_between_0_and_1_ask_for_less)
{
    table t = signed_table(5);
    tacit_mixture m = mixture_of(&t);
    for (size_t next = 0; next < S; next++)
        t.phi[7][2][1][next] = (next % 2 == 0 ? 1.2 : -1.2) / S;
    m.kernels = false;
    tacit__pair_features features;
    tacit_error err;
    assert_ok(tacit__pair_features_create(&m, S, A, &features, &err));
    tacit__pair_features_destroy(&features);
}

static void reward_row(void *context, uint32_t state, uint32_t action, double *out)
{
    const double *scale = context;
    out[0] = *scale * (state + 1.0) / S;
    out[1] = *scale * (action + 1.0) / A;
}

TEST(features_of_rewards_are_checked_and_scaled)
{
    double scale = 1, *out;
    tacit_linear linear = {.dimension = 2, .bound = 2, .row = reward_row, .context = &scale};
    tacit__frame frame;
    tacit_error err;
    assert_ok(tacit__reward_features(&linear, S, A, &frame, &out, &err));
    assert_int_equal(frame.blocks, 1);
    assert_int_equal(frame.width, 2);
    for (size_t p = 0; p < PAIRS; p++) {
        assert_close(out[p], ((double)(p / A) + 1) / S / 2, 1e-15);
        assert_close(out[PAIRS + p], ((double)(p % A) + 1) / A / 2, 1e-15);
    }
    tacit__free(out);
    scale = 1.43; /* the last state and action alone are too long */
    assert_status(tacit__reward_features(&linear, S, A, &frame, &out, &err), TACIT_OUT_OF_BOUND);
    assert_non_null(strstr(err.message, "state 19, action 2"));
    assert_ok(tacit__reward_features(NULL, S, A, &frame, &out, &err));
    assert_int_equal(frame.blocks, PAIRS);
    assert_int_equal(frame.width, 1);
    assert_close(out[0], 1, 0);
    tacit__free(out);
}
