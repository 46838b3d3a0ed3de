/* Contributions on the lattice: the declared bound holds for the integers, exactly, whatever comes in. */
#include "support/check.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "support/lattices.h"

/* The integers keep the bound as declared: both norms, signs, number of coordinates. */
static void assert_kept(const tacit__lattice *l, const int64_t *q, size_t n)
{
    assert_true(at_most(norm1(q, n), l->bound.l1, l->bits, 1));
    assert_true(at_most(square(q, n), l->bound.l2, l->bits, 2));
    size_t nonzeros = 0;
    for (size_t i = 0; i < n; i++) {
        nonzeros += q[i] != 0;
        assert_true(!l->bound.nonnegative || q[i] >= 0);
    }
    assert_true(nonzeros <= l->bound.nonzeros);
}

TEST(contributions_at_the_bound_keep_it_exactly_in_integers)
{
    static double x[MANY];
    static int64_t q[MANY];
    /* at the bound, an ulp and a caller's rounding above it, and just inside */
    static const double parts[] = {1, 1 + 4e-16, 1 + 9e-10, 1 - 1e-9};
    uint64_t random = 1;
    for (int kind = 0; kind < 6; kind++)
        for (size_t d = 0; d < N_DIMENSIONS; d++)
            for (int shape = 0; shape < 6; shape++)
                for (size_t p = 0; p < 4; p++) {
                    size_t n = dimensions[d];
                    uint64_t users = (uint64_t)1 << random_below(&random, 45);
                    tacit__lattice l = choose(random_bound(n, kind, &random), n, users);
                    fill(x, n, shape, l.bound.nonnegative, &random);
                    scale_to(&l, x, n, parts[p]);
                    assert_ok(tacit__lattice_quantize(&l, x, n, q, NULL));
                    assert_kept(&l, q, n);
                }
}

TEST(contributions_inside_the_bound_are_rounded_to_the_nearest_step)
{
    static double x[MANY];
    static int64_t q[MANY];
    uint64_t random = 2;
    for (int kind = 0; kind < 6; kind++)
        for (size_t d = 0; d < N_DIMENSIONS; d++)
            for (int shape = 0; shape < 6; shape++) {
                size_t n = dimensions[d];
                tacit__lattice l = choose(random_bound(n, kind, &random), n, 1000);
                fill(x, n, shape, l.bound.nonnegative, &random);
                scale_to(&l, x, n, random_between(&random, 0, 0.99));
                assert_ok(tacit__lattice_quantize(&l, x, n, q, NULL));
                for (size_t i = 0; i < n; i++)
                    assert_true(fabs((double)q[i] - ldexp(x[i], l.bits)) <= 0.5);
            }
}

TEST(clipping_scales_down_to_the_bound_and_keeps_the_direction)
{
    static double x[MANY];
    static int64_t q[MANY];
    uint64_t random = 3;
    for (int kind = 0; kind < 6; kind++)
        for (size_t d = 0; d < N_DIMENSIONS; d++)
            for (int shape = 0; shape < 6; shape++) {
                size_t n = dimensions[d];
                tacit_bound bound = random_bound(n, kind, &random);
                bound.clip = true;
                tacit__lattice l = choose(bound, n, 1000);
                double excess = exp(random_between(&random, 0.01, 200));
                fill(x, n, shape, l.bound.nonnegative, &random);
                scale_to(&l, x, n, excess);
                assert_ok(tacit__lattice_quantize(&l, x, n, q, NULL));
                assert_kept(&l, q, n);
                for (size_t i = 0; i < n; i++) /* each shrinking round takes one step */
                    assert_true(fabs((double)q[i] - ldexp(x[i] / excess, l.bits)) <= 3);
            }
}

TEST(what_exceeds_the_bound_is_refused_without_clipping)
{
    static double x[MANY];
    static int64_t q[MANY];
    uint64_t random = 4;
    for (int kind = 0; kind < 6; kind++)
        for (size_t d = 0; d < N_DIMENSIONS; d++)
            for (int shape = 0; shape < 6; shape++) {
                size_t n = dimensions[d];
                tacit__lattice l = choose(random_bound(n, kind, &random), n, 1000);
                tacit_error err = {0};
                fill(x, n, shape, l.bound.nonnegative, &random);
                scale_to(&l, x, n, 1 + exp(random_between(&random, log(1e-8), 200)));
                assert_status(tacit__lattice_quantize(&l, x, n, q, &err), TACIT_OUT_OF_BOUND);
                assert_int_equal(err.status, TACIT_OUT_OF_BOUND);
            }
}

/* Under a sanitizer this also says that no step of the way there is undefined. */
TEST(numbers_of_any_size_are_refused_or_clipped_at_every_position)
{
    static const double wild[] = {1e6,     -1e6,      0x1p24,        -0x1p24, -0x1.8p25, -0x1.8p26,
                                  -1e8,    -0x1.9p26, -0x1.7ffffp26, 1e8,     -2e8,      0x1p27,
                                  -0x1p27, 1e15,      -1e15,         0x1p40,  -0x1p100,  1e150,
                                  -1e150,  DBL_MAX,   -DBL_MAX,      0x1p63,  -0x1p63,   -0x1p38};
    for (size_t w = 0; w < sizeof wild / sizeof *wild; w++)
        for (size_t at = 0; at < 9; at++)
            for (int clip = 0; clip < 2; clip++) {
                double x[9] = {0};
                int64_t q[9];
                tacit__lattice l = choose((tacit_bound){.l2 = 1, .clip = clip}, 9, 1000);
                x[at] = wild[w];
                tacit_status status = tacit__lattice_quantize(&l, x, 9, q, NULL);
                if (!clip) {
                    assert_int_equal(status, TACIT_OUT_OF_BOUND);
                } else {
                    assert_int_equal(status, TACIT_OK);
                    assert_kept(&l, q, 9);
                    assert_true(llabs(q[at]) >= l.l2 - 2 && (q[at] > 0) == (wild[w] > 0));
                }
            }
}

/* Squares that overflow in doubles are measured in smaller units: the direction and the bound are kept. */
TEST(numbers_whose_squares_overflow_are_clipped_like_all_others)
{
    static const double units[] = {0x1p510, 0x1p600, 1e300, 0x1p1022};
    static const double direction[] = {1, -0.75, 0, 0.5, -0.25, 1, 0x1p-60};
    enum { N = sizeof direction / sizeof *direction };
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (int l1 = 0; l1 < 2; l1++) {
            tacit_bound bound = {.l2 = 3, .clip = true};
            if (l1)
                bound = (tacit_bound){.l1 = 3, .clip = true};
            tacit__lattice l = choose(bound, N, 1000);
            double x[N], y[N];
            int64_t q[N], expected[N];
            for (size_t i = 0; i < N; i++) {
                x[i] = units[u] * direction[i];
                y[i] = 1e6 * direction[i];
            }
            assert_ok(tacit__lattice_quantize(&l, x, N, q, NULL));
            assert_ok(tacit__lattice_quantize(&l, y, N, expected, NULL));
            assert_kept(&l, q, N);
            for (size_t i = 0; i < N; i++)
                assert_true(llabs(q[i] - expected[i]) <= 1);
        }
}

TEST(what_is_not_a_finite_number_is_refused_at_every_position)
{
    static const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL};
    for (size_t n = 1; n < 12; n++)
        for (size_t at = 0; at < n; at++)
            for (size_t b = 0; b < 3; b++)
                for (int clip = 0; clip < 2; clip++) {
                    double x[12] = {0.01, 0.01, -0.01, 0, 0.01};
                    int64_t q[12];
                    tacit__lattice l = choose((tacit_bound){.l2 = 1, .clip = clip}, n, 1000);
                    x[at] = bad[b];
                    assert_status(tacit__lattice_quantize(&l, x, n, q, NULL), TACIT_NOT_FINITE);
                    if (at > 0) { /* beside a number that is merely too large */
                        x[0] = DBL_MAX;
                        assert_status(tacit__lattice_quantize(&l, x, n, q, NULL), TACIT_NOT_FINITE);
                    }
                }
}

TEST(denormal_numbers_and_negative_zeros_are_zeros)
{
    const double x[] = {DBL_TRUE_MIN, -DBL_TRUE_MIN, -0.0, 1e-310, -1e-300};
    int64_t q[5];
    tacit__lattice l = choose((tacit_bound){.l2 = 1, .nonnegative = true, .nonzeros = 1}, 5, 1000);
    assert_ok(tacit__lattice_quantize(&l, x, 5, q, NULL));
    for (size_t i = 0; i < 5; i++)
        assert_true(q[i] == 0);
}

TEST(negative_coordinates_are_refused_or_become_zero)
{
    for (size_t at = 0; at < 7; at++) {
        double x[7] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
        int64_t q[7];
        x[at] = -0.1;
        tacit__lattice strict = choose((tacit_bound){.l2 = 1, .nonnegative = true}, 7, 1000);
        tacit__lattice mild =
            choose((tacit_bound){.l2 = 1, .nonnegative = true, .clip = true}, 7, 1000);
        assert_status(tacit__lattice_quantize(&strict, x, 7, q, NULL), TACIT_OUT_OF_BOUND);
        assert_ok(tacit__lattice_quantize(&mild, x, 7, q, NULL));
        assert_kept(&mild, q, 7);
        for (size_t i = 0; i < 7; i++)
            assert_true(i == at ? q[i] == 0 : llabs(q[i] - llrint(ldexp(0.1, mild.bits))) <= 1);
    }
}

TEST(more_coordinates_than_declared_are_refused)
{
    double x[20] = {0};
    int64_t q[20];
    tacit__lattice l = choose((tacit_bound){.l2 = 1, .nonzeros = 3}, 20, 1000);
    tacit__lattice clip = choose((tacit_bound){.l2 = 1, .nonzeros = 3, .clip = true}, 20, 1000);
    for (size_t i = 0; i < 20; i += 6)
        x[i] = 0.2;
    assert_status(tacit__lattice_quantize(&l, x, 20, q, NULL), TACIT_OUT_OF_BOUND);
    assert_status(tacit__lattice_quantize(&clip, x, 20, q, NULL), TACIT_OUT_OF_BOUND);
    x[6] = 0;
    assert_ok(tacit__lattice_quantize(&l, x, 20, q, NULL));
    assert_kept(&l, q, 20);
}

TEST(messages_do_not_repeat_a_persons_numbers)
{
    const double cases[][3] = {{12345678, 0, 0}, {-0.12345678, 0, 0}, {0.12345678, 0.12345678, 0}};
    for (size_t i = 0; i < 3; i++) {
        int64_t q[3];
        tacit_error err = {0};
        tacit__lattice l =
            choose((tacit_bound){.l2 = 1, .nonnegative = true, .nonzeros = 1}, 3, 1000);
        assert_status(tacit__lattice_quantize(&l, cases[i], 3, q, &err), TACIT_OUT_OF_BOUND);
        assert_true(strlen(err.message) > 0);
        assert_null(strstr(err.message, "1234"));
        assert_null(strstr(err.message, "1.234"));
    }
}

TEST(both_instruction_sets_give_the_same_integers)
{
    if (!tacit__cpu_has_avx2())
        skip();
    static double x[MANY];
    static int64_t wide[MANY], base[MANY];
    uint64_t random = 5;
    for (int i = 0; i < 600; i++) {
        size_t n = dimensions[i % N_DIMENSIONS];
        tacit_bound bound = random_bound(n, i % 6, &random);
        bound.clip = i % 2 == 0;
        tacit__lattice l = choose(bound, n, (uint64_t)1 << random_below(&random, 45));
        fill(x, n, i % 5, i % 4 == 0, &random);
        scale_to(&l, x, n, random_between(&random, 0.9, 1.1));
        memset(wide, 0, sizeof wide);
        memset(base, 0, sizeof base);
        tacit_status status = tacit__lattice_quantize(&l, x, n, wide, NULL);
        tacit__cpu_pretend_base(true);
        tacit_status base_status = tacit__lattice_quantize(&l, x, n, base, NULL);
        tacit__cpu_pretend_base(false);
        assert_int_equal(status, base_status);
        if (status == TACIT_OK)
            assert_memory_equal(wide, base, sizeof wide);
    }
}

TEST(bounds_and_sensitivities_that_are_no_norms_are_refused)
{
    static const double bad[] = {-1, (double)NAN, HUGE_VAL, -HUGE_VAL};
    tacit__lattice l;
    for (size_t i = 0; i < 4; i++) {
        tacit_sum_spec spec = {.users = 10, .dimension = 4, .bound = {.l2 = bad[i]}};
        assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_SENSITIVITY);
        spec.bound = (tacit_bound){.l1 = bad[i], .l2 = 1};
        assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_SENSITIVITY);
        spec.bound.l1 = 1;
        spec.reason = "none";
        spec.sensitivity_l1 = bad[i];
        assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_SENSITIVITY);
        spec.sensitivity_l1 = 0;
        spec.sensitivity_l2 = bad[i];
        assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_SENSITIVITY);
    }
    tacit_sum_spec spec = {.users = 10, .dimension = 4};
    assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_SENSITIVITY);
    spec.bound.l2 = 1;
    spec.users = 0;
    assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_COUNT);
}

TEST(all_users_together_fit_into_sixty_bits_and_one_of_them_is_finely_resolved)
{
    uint64_t random = 7;
    for (int log_users = 0; log_users <= 52; log_users++)
        for (int i = 0; i < 20; i++) {
            uint64_t users = (uint64_t)1 << log_users;
            users -= users > 2 ? random_below(&random, users / 2) : 0;
            double size = exp(random_between(&random, -200, 200));
            tacit__lattice l = choose((tacit_bound){.l2 = size}, 100, users);
            assert_true((u128)users * (u128)l.l2 <= (u128)1 << 60);
            if (log_users <= 34)
                assert_true(l.l2 >= (int64_t)1 << 25);
            else
                assert_true(l.l2 >= (int64_t)1 << 7);
        }
    tacit_sum_spec spec = {.users = (uint64_t)3 << 51, .dimension = 1, .bound = {.l2 = 1}};
    tacit__lattice l;
    assert_status(tacit__lattice_choose(&spec, 1, &l, NULL), TACIT_NO_ROOM);
    spec.users = UINT64_MAX;
    assert_status(tacit__lattice_choose(&spec, 1, &l, NULL), TACIT_NO_ROOM);
}

/* A bound so small or so large that squares of doubles leave their range must be refused, or be kept. */
TEST(bounds_at_the_edges_of_the_doubles_are_refused_or_kept)
{
    enum { N = 1 << 14 };
    static double x[N];
    static int64_t q[N];
    for (int exponent = -1074; exponent < 1024;
         exponent += exponent < -1000 || exponent > 990 ? 1 : 25) {
        tacit_sum_spec spec = {.users = 10, .dimension = N, .bound = {.l2 = ldexp(1, exponent)}};
        tacit__lattice l;
        if (tacit__lattice_choose(&spec, N, &l, NULL) != TACIT_OK)
            continue;
        assert_true(isfinite(ldexp(1, l.bits)) && ldexp(1, -l.bits) > 0); /* there is a step */
        assert_true(isfinite(l.bound.l1) && isfinite(l.sensitivity_l1) &&
                    isfinite(l.sensitivity_l2));
        for (int excess = 7; excess >= -1; excess--) {
            memset(x, 0, sizeof x);
            x[5] = ldexp(1, exponent + excess);
            if (!isfinite(x[5]))
                continue;
            if (tacit__lattice_quantize(&l, x, N, q, NULL) == TACIT_OK)
                assert_kept(&l, q, N);
            else
                assert_true(excess > 0); /* what keeps the bound is taken */
        }
    }
}

TEST(a_million_coordinates_keep_the_bound)
{
    enum { N = 1000003 };
    SCOPED_FREE double *x = malloc(N * sizeof *x);
    SCOPED_FREE int64_t *q = malloc(N * sizeof *q);
    assert_true(x != NULL && q != NULL);
    for (int shape = 0; shape < 2; shape++) {
        tacit__lattice l = choose((tacit_bound){.l2 = 1}, N, 100000);
        for (size_t i = 0; i < N; i++) /* all roundings go up */
            x[i] =
                shape == 0 ? 1 / sqrt(N) : ldexp(floor(ldexp(1 / sqrt(N), l.bits)) + 0.51, -l.bits);
        scale_to(&l, x, N, 1);
        assert_ok(tacit__lattice_quantize(&l, x, N, q, NULL));
        assert_kept(&l, q, N);
    }
}
