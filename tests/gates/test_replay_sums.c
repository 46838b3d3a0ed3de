/* Gate 1: record and replay, on every running sum, both laws, early, middle and last user, random and
 * extreme vectors, released after every user or rarely. See support/replay.h. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/sum.h>

#include "noise/stream.h"
#include "sums/sum_steps.h"
#include "support/replay.h"

enum { DIMENSION = 9, USERS = 200 };

typedef struct setup {
    tacit_sum_mechanism mechanism;
    tacit_law law;
    tacit_bound bound;
    uint64_t releases; /* fewer than users; 0: one after each */
} setup;

typedef struct run {
    tacit_ledger *ledger;
    tacit_sum *sum;
    double mu, epsilon; /* declared */
} run;

static tacit_sum_spec spec_of(const setup *s)
{
    return (tacit_sum_spec){SUM_OF(s->mechanism, s->law, DIMENSION, USERS), .bound = s->bound};
}

static uint64_t releases_of(const setup *s)
{
    return s->releases > 0 ? s->releases : USERS;
}

/* Whether there is a release after user t: their number grows like a square. */
static bool is_due(const setup *s, size_t t)
{
    for (uint64_t k = 1; k <= s->releases; k++)
        if (USERS * k * k / (s->releases * s->releases) == t + 1)
            return true;
    return s->releases == 0;
}

static run start(const setup *s)
{
    run r;
    tacit_sum_spec spec = spec_of(s);
    tacit_release release;
    SCOPED(tacit_plan) *plan = NULL;
    SCOPED(tacit_noise) *noise = NULL;
    assert_int_equal(tacit__sum_declare_released(&spec, &(tacit__batches){.n = releases_of(s)},
                                                 "sum", &release, NULL),
                     TACIT_OK);
    assert_int_equal(tacit_plan_create(&plan), TACIT_OK);
    assert_int_equal(tacit_plan_declare(plan, &release, NULL), TACIT_OK);
    tacit_guarantee target = {s->mechanism == TACIT_SUM_LOCAL ? TACIT_MODEL_LOCAL
                                                              : TACIT_MODEL_JOINT,
                              1, s->law == TACIT_LAW_GAUSSIAN ? 1e-6 : 0};
    assert_int_equal(tacit_plan_calibrate(plan, target, NULL), TACIT_OK);
    assert_int_equal(tacit_noise_create_simulated(5, &noise), TACIT_OK);
    assert_int_equal(tacit_ledger_create(plan, noise, &r.ledger, NULL), TACIT_OK);
    assert_int_equal(tacit__sum_create_released(&spec, &(tacit__batches){.n = releases_of(s)},
                                                r.ledger, "sum", &r.sum, NULL),
                     TACIT_OK);
    r.mu = release.l2 * release.column_l2 / tacit_plan_scale(plan, 0);
    r.epsilon = release.l1 * release.column_l1 / tacit_plan_scale(plan, 0);
    return r;
}

static void finish(run *r)
{
    tacit_sum_destroy(r->sum);
    tacit_ledger_destroy(r->ledger);
}

/* A stream of vectors on the sphere of the bound, with some at the corners. */
static void fill(const setup *s, uint64_t seed, double x[USERS][DIMENSION])
{
    tacit_noise *root;
    tacit__site site;
    assert_int_equal(tacit_noise_create_simulated(seed, &root), TACIT_OK);
    tacit__site_open(&site, root, "stream");
    tacit_noise_destroy(root);
    for (size_t t = 0; t < USERS; t++) {
        uint64_t words[DIMENSION + 1];
        tacit__site_words(&site, t, 0, DIMENSION + 1, words);
        double norm1 = 0, norm2 = 0;
        bool corner = words[DIMENSION] % 3 == 0;
        for (size_t i = 0; i < DIMENSION; i++) {
            double u = (double)(words[i] >> 11) * 0x1p-53 - (s->bound.nonnegative ? 0 : 0.5);
            x[t][i] = corner ? (i == words[DIMENSION] / 3 % DIMENSION ? (u < 0 ? -1 : 1) : 0) : u;
            norm1 += fabs(x[t][i]);
            norm2 += x[t][i] * x[t][i];
        }
        double by1 = s->bound.l1 > 0 ? s->bound.l1 / norm1 : HUGE_VAL;
        double by2 = s->bound.l2 > 0 ? s->bound.l2 / sqrt(norm2) : HUGE_VAL;
        for (size_t i = 0; i < DIMENSION; i++)
            x[t][i] *= fmin(by1, by2);
    }
}

static void play(const setup *s, run *r, double x[USERS][DIMENSION],
                 double released[USERS][DIMENSION])
{
    for (size_t t = 0; t < USERS; t++) {
        assert_int_equal(tacit_sum_add(r->sum, x[t], NULL), TACIT_OK);
        if (is_due(s, t))
            assert_int_equal(tacit_sum_release(r->sum, released[t], NULL), TACIT_OK);
    }
}

/* The loss when user `who` is replaced by `other`, as a share of what is declared. */
static double share(const setup *s, double x[USERS][DIMENSION], size_t who, const double *other)
{
    static double first[USERS][DIMENSION], second[USERS][DIMENSION];
    double kept[DIMENSION];
    tape *t = tape_create();
    run a = start(s);
    tape_record(t, a.ledger);
    play(s, &a, x, first);
    memcpy(kept, x[who], sizeof kept);
    memcpy(x[who], other, sizeof kept);
    run b = start(s);
    tape_replay(t, b.ledger);
    play(s, &b, x, second);
    memcpy(x[who], kept, sizeof kept);

    tape_verdict v = tape_compare(t);
    assert_true(v.same_calls);
    assert_int_equal(tape_length(t), releases_of(s));
    /* with the passages frozen, everything shown is the same: it depends on nothing else */
    assert_memory_equal(first, second, sizeof first);
    double result = s->law == TACIT_LAW_GAUSSIAN ? sqrt(v.mu_square) / a.mu : v.epsilon / a.epsilon;
    finish(&a);
    finish(&b);
    tape_destroy(t);
    return result;
}

/* Two vectors as far apart as the bound allows. */
static void extremes(const setup *s, double x[DIMENSION], double y[DIMENSION])
{
    memset(x, 0, DIMENSION * sizeof *x);
    memset(y, 0, DIMENSION * sizeof *y);
    double size = s->bound.l2 > 0 ? s->bound.l2 : s->bound.l1;
    x[0] = size;
    y[s->bound.nonnegative ? 1 : 0] = s->bound.nonnegative ? size : -size;
}

static void check(const setup *s)
{
    static double x[USERS][DIMENSION], z[USERS][DIMENSION];
    static const size_t who[] = {0, 1, USERS / 2, USERS - 2, USERS - 1};
    double worst = 0;
    fill(s, 11, x);
    fill(s, 12, z);
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        double kept[DIMENSION], other[DIMENSION];
        worst = fmax(worst, share(s, x, who[i], z[who[i]]));
        memcpy(kept, x[who[i]], sizeof kept);
        extremes(s, x[who[i]], other);
        worst = fmax(worst, share(s, x, who[i], other));
        memcpy(x[who[i]], kept, sizeof kept);
    }
    assert_true(worst <= 1 + 1e-12);
    assert_true(worst >= 0.999); /* the declared loss is reached, not just an upper bound */
}

static const tacit_bound sphere = {.l2 = 1}, one_hot = {.l1 = 1, .l2 = 1, .nonnegative = true};
static const tacit_bound odd = {.l1 = 0.3, .l2 = 0.3},
                         large = {.l1 = 1000, .l2 = 1000, .nonnegative = true};

static void each_bound(tacit_sum_mechanism mechanism, tacit_law law)
{
    if (law == TACIT_LAW_GAUSSIAN)
        check(&(setup){mechanism, law, sphere, 0});
    check(&(setup){mechanism, law, one_hot, 0});
    check(&(setup){mechanism, law, odd, 0});
    check(&(setup){mechanism, law, large, 0});
}

TEST(a_tree_moves_by_what_it_declares)
{
    each_bound(TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN);
    each_bound(TACIT_SUM_TREE, TACIT_LAW_LAPLACE);
}

TEST(a_smooth_tree_moves_by_what_it_declares)
{
    each_bound(TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN);
    each_bound(TACIT_SUM_SMOOTH, TACIT_LAW_LAPLACE);
}

TEST(a_toeplitz_sum_moves_by_what_it_declares)
{
    each_bound(TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN);
}

TEST(a_local_sum_moves_by_what_it_declares)
{
    each_bound(TACIT_SUM_LOCAL, TACIT_LAW_GAUSSIAN);
    each_bound(TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE);
}

/* Two hundred people in one, two, seven and fourteen releases: nobody moves more than one person can, and the
 * plan pays for as many steps as there are. */
TEST(people_who_are_released_together_move_a_sum_by_what_one_of_them_declares)
{
    static const uint64_t releases[] = {1, 2, 7, 14};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        check(&(setup){TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN, sphere, releases[i]});
        check(&(setup){TACIT_SUM_TREE, TACIT_LAW_LAPLACE, one_hot, releases[i]});
        check(&(setup){TACIT_SUM_SMOOTH, TACIT_LAW_LAPLACE, odd, releases[i]});
        check(&(setup){TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN, large, releases[i]});
        check(&(setup){TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, sphere, releases[i]});
        check(&(setup){TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, one_hot, releases[i]});
    }
}

TEST(the_harness_sees_a_larger_move_than_declared)
{
    static double x[USERS][DIMENSION], first[USERS][DIMENSION];
    const setup s = {TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN, sphere, 0};
    const setup wide = {TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN, {.l2 = 1.5}, 0};
    tape *t = tape_create();
    fill(&s, 11, x);
    run a = start(&s);
    tape_record(t, a.ledger);
    play(&s, &a, x, first);
    /* the same calls, but the user's vector goes beyond the first plan's bound */
    memset(x[0], 0, sizeof x[0]);
    x[0][0] = 1.5;
    run b = start(&wide);
    tape_replay(t, b.ledger);
    assert_int_equal(tacit_sum_add(b.sum, x[0], NULL), TACIT_OK);
    assert_false(tape_compare(t).same_calls); /* another scale, and too few calls */
    finish(&a);
    finish(&b);
    tape_destroy(t);
}
