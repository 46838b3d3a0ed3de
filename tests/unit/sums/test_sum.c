/* Running sums as a caller sees them: what is released, how noisy it is, and how large sums are. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/sum.h>

#include "base/cpu.h"
#include "support/random.h"
#include "support/sums.h"

/* A contribution of norm at most 1 in either norm. */
static void fill(double *x, size_t n, uint64_t *random)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(x[i] = random_normal(random));
    for (size_t i = 0; i < n; i++)
        x[i] *= 0.999 / sum;
}

TEST(without_noise_a_release_is_the_sum_of_all_users)
{
    enum { N = 7, USERS = 300 };
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS);
        SCOPED_BY(sum_rig_close) sum_rig rig;
        double x[N], total[N] = {0}, noisy[N];
        uint64_t random = 1;
        sum_rig_open(&rig, &spec, "sum", 1e-15, 1); /* draws of 1e-15 round to 0 on the lattice */
        for (uint64_t k = 1; k <= USERS; k++) {
            fill(x, N, &random);
            assert_ok(tacit_sum_add(rig.sum, x, NULL));
            assert_true(tacit_sum_step(rig.sum) == k);
            assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
            for (size_t i = 0; i < N; i++) {
                total[i] += x[i];
                /* half a step of 2^-26 from each user */
                assert_true(fabs(noisy[i] - total[i]) <= 0x1p-26 * (double)k);
            }
        }
    }
}

/* Relative error of a standard deviation measured on n independent coordinates, each a sum of `alive`
 * draws: (kurtosis - 1) / n is the relative variance of the variance. A Laplace draw has kurtosis 6. */
static double relative_error(tacit_law law, double alive, double n)
{
    double excess = law == TACIT_LAW_LAPLACE ? 3 / alive : 0;
    return sqrt((2 + excess) / n) / 2;
}

static double measured_stddev(const double *noisy, const double *center, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (noisy[i] - center[i]) * (noisy[i] - center[i]);
    return sqrt(sum / (double)n);
}

/* 6 standard errors each: a false alarm once in 5e8 comparisons, of which there are fewer than 200; the
 * seed is fixed. The largest noise over all steps is compared with the published table at K = 1000, mu = 1
 * or epsilon = 1, sensitivity 1. */
TEST(the_noise_is_as_large_as_announced_and_as_small_as_the_tables_say)
{
    enum { N = 20000, USERS = 1000 };
    static const double table[N_NOISY_SUM_KINDS] = {9.5, 42, 6.3, 17.5, 3.07, 0, 0};
    static double x[N], total[N], noisy[N];
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS);
        spec.bound.l1 *= 0.5; /* sensitivity 1 */
        spec.bound.l2 *= 0.5;
        SCOPED_BY(sum_rig_close) sum_rig rig;
        double most = 0, stddev;
        uint64_t noisiest = 0;
        sum_rig_open_unit(&rig, &spec, 2);
        for (uint64_t k = 1; k <= USERS; k++) {
            assert_ok(tacit_sum_stddev(rig.sum, k, &stddev));
            if (stddev > most) {
                most = stddev;
                noisiest = k;
            }
        }
        memset(total, 0, sizeof total);
        for (uint64_t k = 1; k <= USERS; k++) {
            size_t at = (size_t)(k * 37 % N);
            x[at] = k % 2 == 0 ? 0.5 : -0.25;
            total[at] += x[at];
            assert_ok(tacit_sum_add(rig.sum, x, NULL));
            x[at] = 0;
            if (k != noisiest && k > 3 && k % 97 != 0 && k != USERS)
                continue;
            assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
            assert_ok(tacit_sum_stddev(rig.sum, k, &stddev));
            double draw, got = measured_stddev(noisy, total, N);
            assert_ok(tacit_sum_stddev(rig.sum, 1, &draw)); /* one node, one draw */
            double alive = stddev * stddev / (draw * draw);
            assert_close(got, stddev, 6 * relative_error(spec.law, alive, N));
            if (k == noisiest && table[m] > 0)
                assert_close(got, table[m], 0.03);
            if (sum_kinds[m].mechanism == TACIT_SUM_LOCAL)
                assert_close(got, sqrt((double)k * (spec.law == TACIT_LAW_LAPLACE ? 2 : 1)), 0.06);
        }
    }
}

/* Coordinates and steps must not share draws. Over n pairs a correlation of 0 is measured with standard
 * deviation 1 / sqrt(n); 6 of them: one false alarm in 5e8. */
TEST(coordinates_and_names_have_noise_of_their_own)
{
    enum { N = 20000 };
    static double a[N], b[N], zero[N];
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, 1);
        SCOPED_BY(sum_rig_close) sum_rig first, second;
        sum_rig_open(&first, &spec, "first", 1, 3);
        sum_rig_open(&second, &spec, "second", 1, 3);
        assert_ok(tacit_sum_add(first.sum, zero, NULL));
        assert_ok(tacit_sum_add(second.sum, zero, NULL));
        assert_ok(tacit_sum_release(first.sum, a, NULL));
        assert_ok(tacit_sum_release(second.sum, b, NULL));
        double variance = spec.law == TACIT_LAW_LAPLACE ? 2 : 1, names = 0, neighbors = 0;
        for (size_t i = 0; i + 1 < N; i++) {
            names += a[i] * b[i] / variance;
            neighbors += a[i] * a[i + 1] / variance;
        }
        assert_within(names, -6 * sqrt(N), 6 * sqrt(N));
        assert_within(neighbors, -6 * sqrt(N), 6 * sqrt(N));
    }
}

static void run(const tacit_sum_spec *spec, uint64_t seed, uint64_t skip, double *out)
{
    SCOPED_BY(sum_rig_close) sum_rig rig;
    SCOPED_FREE double *x = calloc(spec->dimension, sizeof *x);
    assert_non_null(x);
    uint64_t random = 4;
    sum_rig_open_unit(&rig, spec, seed);
    for (uint64_t k = 1; k <= spec->users; k++) {
        fill(x, spec->dimension, &random);
        assert_ok(tacit_sum_add(rig.sum, x, NULL));
        if (k % skip == 0 || k == spec->users) /* out keeps the last */
            assert_ok(tacit_sum_release(rig.sum, out, NULL));
    }
}

TEST(skipping_releases_changes_nothing_and_seeds_repeat)
{
    enum { N = 11 };
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, 100);
        double all[N], some[N], none[N], other[N];
        run(&spec, 5, 1, all);
        run(&spec, 5, 7, some);
        run(&spec, 5, 1000, none);
        run(&spec, 6, 1, other);
        assert_memory_equal(all, some, sizeof all);
        assert_memory_equal(all, none, sizeof all);
        if (m < N_NOISY_SUM_KINDS)
            assert_memory_not_equal(all, other, sizeof all);
    }
}

TEST(releases_do_not_depend_on_the_instruction_set)
{
    if (!tacit__cpu_has_avx2())
        skip();
    enum { N = 2500 }; /* more than a tile */
    static double wide[N], base[N];
    static const uint64_t users[] = {20, 60, 1200}; /* fewer and more buffers */
    for (size_t m = 0; m < N_SUM_KINDS; m++)
        for (size_t u = 0; u < 3; u++) {
            tacit_sum_spec spec = sum_spec_of(sum_kinds[m], u == 2 ? 37 : N, users[u]);
            run(&spec, 7, 5, wide);
            tacit__cpu_pretend_base(true);
            run(&spec, 7, 5, base);
            tacit__cpu_pretend_base(false);
            assert_memory_equal(wide, base, spec.dimension * sizeof *wide);
        }
}

TEST(the_worst_standard_deviation_is_the_largest_of_all_steps)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++)
        for (uint64_t users = 1; users < 400; users += 1 + users / 9) {
            tacit_sum_spec spec = sum_spec_of(sum_kinds[m], 1, users);
            SCOPED_BY(sum_rig_close) sum_rig rig;
            double most = 0, stddev;
            sum_rig_open_unit(&rig, &spec, 1);
            for (uint64_t k = 1; k <= users; k++) {
                assert_ok(tacit_sum_stddev(rig.sum, k, &stddev));
                most = fmax(most, stddev);
            }
            assert_true(tacit_sum_worst_stddev(rig.sum) == most);
        }
}

TEST(standard_deviations_are_given_for_steps_that_exist)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], 1, 10);
        SCOPED_BY(sum_rig_close) sum_rig rig;
        double stddev = -1;
        sum_rig_open_unit(&rig, &spec, 1);
        assert_status(tacit_sum_stddev(rig.sum, 0, &stddev), TACIT_BAD_ARGUMENT);
        assert_status(tacit_sum_stddev(rig.sum, 11, &stddev), TACIT_BAD_ARGUMENT);
        assert_status(tacit_sum_stddev(rig.sum, 1, NULL), TACIT_BAD_ARGUMENT);
        assert_status(tacit_sum_stddev(NULL, 1, &stddev), TACIT_BAD_ARGUMENT);
        assert_true(stddev == -1);
        assert_ok(tacit_sum_stddev(rig.sum, 10, &stddev)); /* before it runs */
        assert_true(m < N_NOISY_SUM_KINDS ? stddev > 0 : stddev == 0);
    }
}

/* --- Structural zeros, sizes, names ----------------------------------------------------------- */

TEST(structural_zeros_are_released_as_exact_zeros_and_cost_nothing)
{
    enum { N = 9, ACTIVE = 4, USERS = 40 };
    static const bool zero[N] = {true, false, true, false, false, true, true, false, true};
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec packed = sum_spec_of(sum_kinds[m], ACTIVE, USERS);
        tacit_sum_spec spread = sum_spec_of(sum_kinds[m], N, USERS);
        spread.structural_zero = zero;
        SCOPED_BY(sum_rig_close) sum_rig a, b;
        uint64_t random = 10;
        sum_rig_open_unit(&a, &packed, 11);
        sum_rig_open_unit(&b, &spread, 11);
        assert_true(b.line.dimension == ACTIVE); /* the plan does not know of them */
        assert_true(a.line.l1 == b.line.l1 && a.line.l2 == b.line.l2);
        for (uint64_t k = 1; k <= USERS; k++) {
            double x[ACTIVE], wide[N] = {0}, small[ACTIVE], large[N], bad[N];
            fill(x, ACTIVE, &random);
            for (size_t i = 0, n = 0; i < N; i++)
                wide[i] = zero[i] ? 0 : x[n++];
            memcpy(bad, wide, sizeof bad);
            bad[5] = 1e-9;
            assert_status(tacit_sum_add(b.sum, bad, NULL), TACIT_OUT_OF_BOUND);
            bad[5] = (double)NAN;
            assert_status(tacit_sum_add(b.sum, bad, NULL), TACIT_OUT_OF_BOUND);
            assert_ok(tacit_sum_add(a.sum, x, NULL));
            assert_ok(tacit_sum_add(b.sum, wide, NULL));
            assert_ok(tacit_sum_release(a.sum, small, NULL));
            assert_ok(tacit_sum_release(b.sum, large, NULL));
            for (size_t i = 0, n = 0; i < N; i++)
                assert_true(large[i] == (zero[i] ? 0 : small[n++]));
        }
    }
}

/* Bit for bit, with and without structural zeros, in more than one tile; users of no coordinate included. */
TEST(a_sparse_user_is_the_same_as_one_written_out)
{
    enum { N = 5000, USERS = 30, MOST = 6 };
    static double x[N], a[N], b[N];
    static bool zero[N];
    for (size_t i = 0; i < N; i++)
        zero[i] = i % 7 == 3;
    for (size_t m = 0; m < 2 * N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m / 2], N, USERS);
        spec.structural_zero = m % 2 == 1 ? zero : NULL;
        SCOPED_BY(sum_rig_close) sum_rig full, sparse;
        uint64_t random = 12;
        sum_rig_open_unit(&full, &spec, 13);
        sum_rig_open_unit(&sparse, &spec, 13);
        const size_t wrong = 3;
        if (m % 2 == 1)
            assert_status(tacit_sum_add_sparse(sparse.sum, 1, &wrong, &(double){0.5}, NULL),
                          TACIT_OUT_OF_BOUND);
        for (uint64_t k = 0; k < USERS; k++) {
            size_t index[MOST], n = 0, at = (size_t)random_below(&random, N / MOST);
            double value[MOST];
            for (size_t i = 0; i < k % (MOST + 1);
                 i++, at += 1 + random_below(&random, N / MOST - 1)) {
                at += zero[at];
                index[n] = at;
                x[at] = value[n++] = random_between(&random, -0.16, 0.16);
            }
            assert_ok(tacit_sum_add(full.sum, x, NULL));
            assert_ok(tacit_sum_add_sparse(sparse.sum, n, n > 0 ? index : NULL,
                                           n > 0 ? value : NULL, NULL));
            assert_ok(tacit_sum_release(full.sum, a, NULL));
            assert_ok(tacit_sum_release(sparse.sum, b, NULL));
            assert_memory_equal(a, b, sizeof a);
            for (size_t i = 0; i < n; i++)
                x[index[i]] = 0;
        }
        assert_status(tacit_sum_add_sparse(sparse.sum, 0, NULL, NULL, NULL), TACIT_EXHAUSTED);
    }
}

TEST(no_structural_zeros_is_the_same_as_none_declared)
{
    static const bool nothing[3];
    tacit_sum_spec plain = sum_spec_of(sum_kinds[0], 3, 5), marked = plain;
    double a[3], b[3];
    marked.structural_zero = nothing;
    run(&plain, 1, 1, a);
    run(&marked, 1, 1, b);
    assert_memory_equal(a, b, sizeof a);
}

TEST(sums_of_one_and_of_a_million_coordinates_work)
{
    static const size_t dimensions[] = {1, 1000000};
    for (size_t m = 0; m < N_SUM_KINDS; m++)
        for (size_t d = 0; d < 2; d++) {
            tacit_sum_spec spec = sum_spec_of(sum_kinds[m], dimensions[d], 3);
            SCOPED_BY(sum_rig_close) sum_rig rig;
            double *x = calloc(dimensions[d], sizeof *x),
                   *noisy = calloc(dimensions[d], sizeof *noisy);
            assert_true(x != NULL && noisy != NULL);
            x[dimensions[d] - 1] = 0.75;
            sum_rig_open(&rig, &spec, "sum", 1e-15, 1);
            for (int k = 0; k < 2; k++)
                assert_ok(tacit_sum_add(rig.sum, x, NULL));
            assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
            for (size_t i = 0; i < dimensions[d]; i++)
                assert_true(fabs(noisy[i] - 2 * x[i]) <= 1e-7);
            free(x);
            free(noisy);
        }
}

/* `state per coordinate` of the mechanisms: numbers of 8 bytes, beside one of scratch. */
TEST(the_memory_is_that_of_the_state)
{
    enum { N = 100000 };
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, 1000);
        SCOPED_BY(sum_rig_close) sum_rig rig;
        size_t saved;
        sum_rig_open_unit(&rig, &spec, 1);
        size_t bytes = tacit_sum_memory(rig.sum);
        assert_ok(tacit_sum_save(rig.sum, NULL, &saved, NULL));
        assert_true(bytes >= saved - 200); /* whatever is saved is held */
        double numbers = (double)bytes / N / 8;
        switch (sum_kinds[m].mechanism) {
        case TACIT_SUM_EXACT:
        case TACIT_SUM_LOCAL:
            assert_within(numbers, 2, 2.1);
            break;
        case TACIT_SUM_TREE: /* two for each of 9 nodes, and the contribution */
            assert_within(numbers, 19, 19.1);
            break;
        case TACIT_SUM_SMOOTH: /* 10 nodes, or 17 of which a user is in fewer */
            assert_within(numbers, 21, sum_kinds[m].law == TACIT_LAW_LAPLACE ? 35.1 : 21.1);
            break;
        case TACIT_SUM_BLT: /* three buffers, the noisy sum, and the contribution */
            assert_within(numbers, 5, 5.1);
            break;
        }
    }
}

TEST(the_default_mechanism_is_the_least_noisy_one)
{
    assert_int_equal(tacit_sum_default_mechanism((tacit_guarantee){TACIT_MODEL_NONE, 0, 0}),
                     TACIT_SUM_EXACT);
    assert_int_equal(tacit_sum_default_mechanism((tacit_guarantee){TACIT_MODEL_LOCAL, 1, 1e-6}),
                     TACIT_SUM_LOCAL);
    assert_int_equal(tacit_sum_default_mechanism((tacit_guarantee){TACIT_MODEL_LOCAL, 1, 0}),
                     TACIT_SUM_LOCAL);
    for (size_t m = 0; m < N_NOISY_SUM_KINDS; m++) {
        if (sum_kinds[m].mechanism == TACIT_SUM_LOCAL)
            continue;
        bool pure = sum_kinds[m].law == TACIT_LAW_LAPLACE;
        tacit_guarantee g = {TACIT_MODEL_JOINT, 1, pure ? 0 : 1e-6};
        sum_kind best = {tacit_sum_default_mechanism(g), sum_kinds[m].law};
        double most[2] = {0, 0};
        for (int i = 0; i < 2; i++) {
            tacit_sum_spec spec = sum_spec_of(i == 0 ? best : sum_kinds[m], 1, 1000);
            SCOPED_BY(sum_rig_close) sum_rig rig;
            double stddev;
            sum_rig_open_unit(&rig, &spec, 1);
            for (uint64_t k = 1; k <= 1000; k++) {
                assert_ok(tacit_sum_stddev(rig.sum, k, &stddev));
                most[i] = fmax(most[i], stddev);
            }
        }
        assert_true(most[0] <= most[1]);
    }
}

TEST(every_mechanism_has_a_name_of_its_own)
{
    assert_string_equal(tacit_sum_mechanism_name(TACIT_SUM_EXACT), "exact");
    assert_string_equal(tacit_sum_mechanism_name(TACIT_SUM_TREE), "tree");
    assert_string_equal(tacit_sum_mechanism_name(TACIT_SUM_SMOOTH), "smooth");
    assert_string_equal(tacit_sum_mechanism_name(TACIT_SUM_BLT), "blt");
    assert_string_equal(tacit_sum_mechanism_name(TACIT_SUM_LOCAL), "local");
}
