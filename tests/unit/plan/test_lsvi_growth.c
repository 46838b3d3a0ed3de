/* When lsvi-ucb switches: growth of Gram matrices in volume and in some direction, since the last switch or the largest, and what
 * noise makes of both. `build/tests/unit/test_lsvi_growth` prints the table of docs/why/lsvi.md, "Noisy Gram matrices do not grow". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/symmetric.h"
#include "plan/papers/lsvi.h"
#include "plan/papers/lsvi_printed.h"
#include "release/archive/lsvi_scheme.h"
#include "support/check.h"
#include "support/random.h"

SCOPED_TYPE(tacit__lsvi, tacit__lsvi_destroy)

enum { MOST_D = 20, MOST_PACKED = MOST_D * (MOST_D + 1) / 2 };

static tacit__lsvi *planner_of(tacit__lsvi_options o, tacit__feature_form form, size_t d)
{
    static const double caps[2] = {2, 1};
    tacit__lsvi *planner = NULL;
    o.space = (tacit__linear_space){.form = form,
                                    .n_states = form == TACIT__ONE_HOT ? d : 0,
                                    .n_actions = 1,
                                    .horizon = o.space.horizon,
                                    .dimension = d,
                                    .bound = 1,
                                    .feature_bits = 18,
                                    .pooled = o.space.pooled};
    o.cap = caps;
    assert_ok(tacit__lsvi_create(&o, &planner));
    return planner;
}

static void switch_at(tacit__lsvi *planner, size_t horizon, const double *gram)
{
    static const double response[MOST_D];
    tacit__lsvi_begin(planner, gram);
    for (size_t h = horizon; h-- > 0;)
        tacit__lsvi_fit(planner, h, response, (tacit__target_unit){0, 1});
    tacit__lsvi_end(planner);
}

/* The largest eigenvalue of M against N, by its power iteration with N^-1 M; both positive definite. */
static double largest_ratio(size_t d, const double *m, const double *n, double ridge)
{
    double full[MOST_D * MOST_D], root[MOST_D * MOST_D], v[MOST_D], w[MOST_D], value = 0;
    uint64_t seed = 7;
    tacit__packed_expand(d, m, ridge, full);
    tacit__packed_expand(d, n, ridge, root);
    assert_true(tacit__cholesky(d, root));
    for (size_t j = 0; j < d; j++)
        v[j] = random_normal(&seed);
    for (int round = 0; round < 400; round++) {
        double length = 0;
        for (size_t i = 0; i < d; i++) {
            w[i] = 0;
            for (size_t j = 0; j < d; j++) /* only the lower triangle is there */
                w[i] += full[i >= j ? j * d + i : i * d + j] * v[j];
        }
        tacit__solve(d, root, w);
        for (size_t j = 0; j < d; j++)
            length += w[j] * w[j];
        length = sqrt(length);
        value = length;
        for (size_t j = 0; j < d; j++)
            v[j] = w[j] / length;
    }
    return value;
}

/* Adds n users with features on the simplex, many of them near a corner. */
static void add_users(size_t d, size_t n, uint64_t *seed, double *packed)
{
    for (size_t k = 0; k < n; k++) {
        double x[MOST_D], outer[MOST_PACKED], sum = 0;
        for (size_t j = 0; j < d; j++)
            sum += x[j] = pow(random_unit(seed), 12);
        for (size_t j = 0; j < d; j++)
            x[j] /= sum;
        tacit__packed_outer(d, 1, x, outer);
        for (size_t i = 0; i < tacit__packed_size(d); i++)
            packed[i] += outer[i];
    }
}

/* A switch is asked for exactly when the largest eigenvalue reaches the factor, at either of two steps, or in the one of both. */
TEST(rayleigh_asks_when_some_direction_has_grown)
{
    size_t asked = 0, quiet = 0;
    for (size_t i = 0; i < 300; i++) {
        uint64_t seed = 100 + i;
        const size_t d = 1 + i % 6, size = tacit__packed_size(d), count = i % 3 == 0 ? 1 : 2;
        double gram[2 * MOST_PACKED] = {0}, last[2 * MOST_PACKED], ratio = 0;
        SCOPED(tacit__lsvi) *planner =
            planner_of((tacit__lsvi_options){.space = {.horizon = 2, .pooled = count == 1},
                                             .schedule = TACIT__RAYLEIGH,
                                             .switches = 9,
                                             .switch_factor = 2,
                                             .ridge = 3,
                                             .floor = i % 2 == 0 ? 0 : 1},
                       TACIT__CARRIED, d);
        for (size_t g = 0; g < count; g++)
            add_users(d, 5 + i / 3, &seed, gram + g * size);
        memcpy(last, gram, sizeof last);
        switch_at(planner, 2, gram);
        for (size_t g = 0; g < count; g++) {
            add_users(d, random_below(&seed, 10 + i / 2), &seed, gram + g * size);
            ratio = fmax(ratio, largest_ratio(d, gram + g * size, last + g * size, 3));
        }
        if (fabs(ratio - 2) < 1e-3)
            continue; /* what rounding decides */
        const bool due = tacit__lsvi_is_due(planner, gram);
        assert_int_equal(due, ratio >= 2);
        asked += due;
        quiet += !due;
    }
    assert_true(asked > 50 && quiet > 50);
}

/* Before the first switch there is the ridge to compare with; one-hot features have a direction each. */
TEST(rayleigh_begins_with_the_ridge)
{
    const double below[] = {2.9, 0, -1, 2.9}, reached[] = {0, 0, 0, 3};
    SCOPED(tacit__lsvi) *planner = planner_of((tacit__lsvi_options){.space = {.horizon = 1},
                                                                    .schedule = TACIT__RAYLEIGH,
                                                                    .switches = 2,
                                                                    .switch_factor = 2,
                                                                    .ridge = 3},
                                              TACIT__ONE_HOT, 4);
    assert_false(tacit__lsvi_is_due(planner, below));
    assert_true(tacit__lsvi_is_due(planner, reached));
    switch_at(planner, 1, reached);
    assert_false(tacit__lsvi_is_due(planner, reached));
    const double corner[] = {0, 3, 0, 0};
    assert_true(tacit__lsvi_is_due(planner, corner));
    switch_at(planner, 1, corner);
    const double huge[] = {1e9, 1e9, 1e9, 1e9};
    assert_false(tacit__lsvi_is_due(planner, huge)); /* the cap */
}

/* Noise of eigenvalues within Y, of whatever signs, and a shift of 5 Y: directions that grow one after the other ask for no more
 * switches than src/release/archive/lsvi_schedules.c proves. */
TEST(rayleigh_asks_no_more_often_than_is_proved)
{
    enum { D = 3, K = 4000 };
    const double Y = 2, ridge = TACIT__RAYLEIGH_SHIFT * Y,
                 bound = ceil(D / log(2 * 4.0 / 6) * log(1 + K / (D * ridge)));
    double exact[D] = {0}, shown[D], switches = 0;
    SCOPED(tacit__lsvi) *planner = planner_of((tacit__lsvi_options){.space = {.horizon = 1},
                                                                    .schedule = TACIT__RAYLEIGH,
                                                                    .switches = K,
                                                                    .switch_factor = 2,
                                                                    .floor = 1,
                                                                    .ridge = ridge},
                                              TACIT__ONE_HOT, D);
    for (size_t k = 0; k < K; k++) {
        exact[k * D / K] += 1;
        for (size_t tries = 0; tries < 8; tries++) { /* all signs of noise at every user */
            for (size_t j = 0; j < D; j++)
                shown[j] = exact[j] + (tries >> j & 1 ? Y : -Y);
            if (!tacit__lsvi_is_due(planner, shown))
                continue;
            switch_at(planner, 1, shown);
            switches++;
        }
    }
    assert_true(switches > bound / 4 && switches <= bound);
}

/* As printed, a determinant that falls at a switch and comes back has grown. */
TEST(as_printed_the_last_switch_counts)
{
    for (int from_last = 0; from_last < 2; from_last++) {
        SCOPED(tacit__lsvi) *planner = planner_of((tacit__lsvi_options){.space = {.horizon = 2},
                                                                        .schedule = TACIT__DOUBLING,
                                                                        .switches = 3,
                                                                        .switch_factor = 2,
                                                                        .from_last = from_last == 1,
                                                                        .floor = 1,
                                                                        .ridge = 1},
                                                  TACIT__ONE_HOT, 1);
        const double up[] = {9, 0}, down[] = {0, 9}, again[] = {9, 9};
        assert_true(tacit__lsvi_is_due(planner, up));
        switch_at(planner, 2, up);
        assert_true(tacit__lsvi_is_due(planner, down)); /* step 1 asks, while step 0 falls */
        switch_at(planner, 2, down);
        assert_int_equal(tacit__lsvi_is_due(planner, again), from_last);
    }
}

/* --- Noise -------------------------------------------------------------------------------------- */

enum { EPISODES = 20000, EVERY = 20, TESTS = EPISODES / EVERY - 1, STEPS = 5 };

typedef struct trial {
    size_t d;
    double node, ridge; /* noise of a node of the tree; what is added to the diagonal */
    size_t leaf;        /* users in a leaf of the tree */
} trial;

/* What the trial shows: of pairs of tests that follow each other, how many differ by a matrix with a negative eigenvalue; of tests
 * without a switch, the worst ratio of widths and how many are above sqrt(2); switches. */
typedef struct outcome {
    double shrinking, worst, above, switches;
} outcome;

/* Noise of all nodes that a prefix of n leaves consists of, on exact sums. */
static void show(const trial *t, size_t n, const double *exact, double *out)
{
    const size_t size = tacit__packed_size(t->d);
    memcpy(out, exact, size * sizeof *out);
    for (size_t level = 0; n >> level > 0; level++) {
        if (((n >> level) & 1) == 0)
            continue;
        uint64_t seed = (((n >> level) << 8) + level + 1) * 0x9e3779b97f4a7c15U;
        for (size_t i = 0; i < size; i++)
            out[i] += t->node * random_normal(&seed);
    }
}

static bool has_root(size_t d, const double *packed, double ridge)
{
    double full[MOST_D * MOST_D];
    tacit__packed_expand(d, packed, ridge, full);
    return tacit__cholesky(d, full);
}

static outcome simulate(const trial *t, tacit__lsvi_schedule schedule)
{
    const size_t d = t->d, size = tacit__packed_size(d);
    double exact[MOST_PACKED] = {0}, before[MOST_PACKED] = {0}, now[MOST_PACKED],
           last[MOST_PACKED] = {0}, difference[MOST_PACKED];
    outcome out = {0, 0, 0, 0};
    uint64_t seed = 11, quiet = 0;
    SCOPED(tacit__lsvi) *planner = planner_of((tacit__lsvi_options){.space = {.horizon = 1},
                                                                    .schedule = schedule,
                                                                    .switches = TESTS,
                                                                    .switch_factor = 2,
                                                                    .from_last = true,
                                                                    .floor = 1,
                                                                    .ridge = t->ridge},
                                              TACIT__CARRIED, d);
    for (size_t k = 1; k <= TESTS; k++) {
        add_users(d, EVERY, &seed, exact);
        show(t, k * EVERY / t->leaf, exact, now);
        for (size_t i = 0; i < size; i++)
            difference[i] = now[i] - before[i];
        out.shrinking += k > 1 && !has_root(d, difference, 0);
        memcpy(before, now, sizeof now);
        assert_true(has_root(d, now, t->ridge));
        if (tacit__lsvi_is_due(planner, now)) {
            switch_at(planner, 1, now);
            memcpy(last, now, sizeof last);
            out.switches++;
            continue;
        }
        const double ratio = sqrt(largest_ratio(d, now, last, t->ridge));
        out.worst = fmax(out.worst, ratio);
        out.above += ratio > M_SQRT2 * (1 + 1e-9);
        quiet++;
    }
    out.shrinking /= TESTS - 1;
    out.above /= (double)quiet;
    return out;
}

/* Noise and ridge as [NVW22] prints them, and as doubling needs them here, both by a tree. */
static trial trial_of(size_t d, bool printed)
{
    if (printed) {
        const tacit__lsvi_case c = {EPISODES, (double)d, STEPS, 1, 1e-5, 0.05};
        const tacit__lsvi_printed p = tacit__lsvi_print_doubling(&c);
        return (trial){.d = d, .node = p.gram, .ridge = p.ridge, .leaf = 1};
    }
    const tacit__lsvi_scheme_options wish = {
        .space = {SPACE_OF(0, 1, STEPS), .form = TACIT__CARRIED, .dimension = d, .bound = 1,
                  .simplex = true, .feature_bits = 18},
        .schedule = TACIT__DOUBLING,
        .episodes = EPISODES,
        .guarantee = {TACIT_MODEL_JOINT, 1, 1e-5},
        .mechanism = TACIT_SUM_TREE,
        .centered = true,
        .lambda = 1,
        .shift = 2,
        .failure = 0.05};
    tacit__lsvi_scheme s;
    assert_ok(tacit__lsvi_decide(&wish, &s, NULL));
    assert_int_equal(s.leaf, EVERY);
    return (trial){.d = d, .node = s.gram_scale, .ridge = 1 + s.shift, .leaf = EVERY};
}

/* [NVW22, Lemma 31] takes noisy Gram matrices to grow. Nearly none does from one test to the next; growth in volume
 * then bounds no width, and growth in some direction does. */
TEST(noisy_gram_matrices_do_not_grow)
{
    print_message("%-24s %9s | %-29s | %s\n", "", "shrinking",
                  "doubling: widths, > 1.414, switches", "rayleigh: widths, switches");
    double worst = 0;
    for (size_t d = 5; d <= MOST_D; d *= 2)
        for (int printed = 1; printed >= 0; printed--) {
            const trial t = trial_of(d, printed == 1);
            const outcome volume = simulate(&t, TACIT__DOUBLING),
                          direction = simulate(&t, TACIT__RAYLEIGH);
            print_message(
                "d %2zu %-7s node %6.2f   %7.1f %% | %.3f  %5.1f %%  %3.0f | %.3f  %3.0f\n", d,
                printed ? "printed" : "tight", t.node, 100 * volume.shrinking, volume.worst,
                100 * volume.above, volume.switches, direction.worst, direction.switches);
            worst = fmax(worst, volume.worst);
            assert_true(volume.shrinking > 0.99);
            assert_true(direction.worst < M_SQRT2 && direction.above == 0);
        }
    assert_true(worst > 1.1);
}
