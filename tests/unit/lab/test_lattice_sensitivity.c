/* How far apart two contributions on the lattice can be: the sensitivity holds for the integers, and is attained. */
#include <string.h>

#include "support/lattices.h"

/* |q - r| in both norms is within the derived sensitivities, in steps. */
static void assert_apart(const tacit__lattice *l, const int64_t *q, const int64_t *r, size_t n)
{
    static int64_t difference[MANY];
    for (size_t i = 0; i < n; i++)
        difference[i] = q[i] - r[i];
    assert_true(at_most(norm1(difference, n), l->sensitivity_l1, l->bits, 1));
    assert_true(at_most(square(difference, n), l->sensitivity_l2, l->bits, 2));
    size_t differing = 0;
    for (size_t i = 0; i < n; i++)
        differing += difference[i] != 0;
    assert_true((double)differing <= l->differing);
}

TEST(two_users_are_never_farther_apart_than_the_sensitivity)
{
    static double x[MANY], y[MANY];
    static int64_t q[MANY], r[MANY];
    uint64_t random = 6;
    for (int i = 0; i < 1200; i++) {
        size_t n = dimensions[i % N_DIMENSIONS];
        tacit__lattice l = choose(random_bound(n, i % 6, &random), n, 1000);
        fill(x, n, i / 6 % 6, l.bound.nonnegative, &random);
        scale_to(&l, x, n, 1);
        fill(y, n, i / 36 % 6, l.bound.nonnegative, &random);
        scale_to(&l, y, n, 1);
        if (i % 5 == 0 && !l.bound.nonnegative)
            for (size_t k = 0; k < n; k++)
                y[k] = -x[k]; /* as far apart as can be */
        assert_ok(tacit__lattice_quantize(&l, x, n, q, NULL));
        assert_ok(tacit__lattice_quantize(&l, y, n, r, NULL));
        assert_apart(&l, q, r, n);
    }
}

/* How far apart x and y come, as a part of the sensitivity in this norm. */
static double attained(const tacit__lattice *l, const double *x, const double *y, size_t n,
                       int norm)
{
    static int64_t q[MANY], r[MANY];
    assert_ok(tacit__lattice_quantize(l, x, n, q, NULL));
    assert_ok(tacit__lattice_quantize(l, y, n, r, NULL));
    for (size_t i = 0; i < n; i++)
        q[i] -= r[i];
    double distance = norm == 1 ? (double)norm1(q, n) : sqrt((double)square(q, n));
    return ldexp(distance, -l->bits) / (norm == 1 ? l->sensitivity_l1 : l->sensitivity_l2);
}

TEST(the_sensitivities_are_attained)
{
    enum { N = 16 };
    const double least = 1 - 0x1p-20; /* lattice steps are 2^-25 of the bound or less */
    double up[N] = {3}, down[N] = {-3}, beside[N] = {0, 3}, flat[N], steep[N];
    for (size_t i = 0; i < N; i++)
        steep[i] = -(flat[i] = 3 / sqrt(N));
    tacit__lattice l = choose((tacit_bound){.l2 = 3}, N, 1000);
    assert_within(attained(&l, up, down, N, 2), least, 1);
    assert_within(attained(&l, flat, steep, N, 1), least, 1); /* l1 = sqrt(n) l2 */
    l = choose((tacit_bound){.l2 = 3, .nonnegative = true}, N, 1000);
    assert_within(attained(&l, up, beside, N, 2), least, 1);
    l = choose((tacit_bound){.l1 = 3, .nonnegative = true}, N, 1000);
    assert_within(attained(&l, up, beside, N, 1), least, 1);
    assert_within(attained(&l, up, beside, N, 2), least, 1);
    l = choose((tacit_bound){.l1 = 3}, N, 1000);
    assert_within(attained(&l, up, down, N, 1), least, 1);
    assert_within(attained(&l, up, down, N, 2), least, 1);
    l = choose((tacit_bound){.l2 = 3, .nonzeros = 4}, N, 1000);
    double four[N] = {1.5, 1.5, 1.5, 1.5}, minus[N] = {-1.5, -1.5, -1.5, -1.5};
    assert_within(attained(&l, four, minus, N, 1), least, 1); /* l1 = sqrt(nonzeros) l2 */
    assert_true(l.differing == 8);
}

TEST(a_smaller_sensitivity_of_the_caller_wins_and_a_larger_one_does_not)
{
    tacit_sum_spec spec = {.users = 10, .dimension = 4, .bound = {.l1 = 2, .l2 = 1}};
    tacit__lattice l;
    spec.sensitivity_l1 = 3;
    assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_SENSITIVITY); /* and why? */
    spec.reason = "";
    assert_status(tacit__lattice_choose(&spec, 4, &l, NULL), TACIT_BAD_SENSITIVITY);
    spec.reason = "a counting argument";
    spec.sensitivity_on_lattice = true;
    assert_ok(tacit__lattice_choose(&spec, 4, &l, NULL));
    assert_true(l.sensitivity_l1 == 3 && l.sensitivity_l2 == 2);
    spec.sensitivity_l1 = 5;
    spec.sensitivity_l2 = 0.5;
    assert_ok(tacit__lattice_choose(&spec, 4, &l, NULL));
    assert_true(l.sensitivity_l1 == 4 && l.sensitivity_l2 == 0.5);
}

TEST(a_sensitivity_in_l1_holds_in_l2_as_well)
{
    tacit_sum_spec spec = {.users = 10,
                           .dimension = 4,
                           .bound = {.l1 = 2, .l2 = 1},
                           .sensitivity_l1 = 1,
                           .sensitivity_on_lattice = true,
                           .reason = "a counting argument"};
    tacit__lattice l;
    assert_ok(tacit__lattice_choose(&spec, 4, &l, NULL));
    assert_true(l.sensitivity_l1 == 1);
    assert_true(l.sensitivity_l2 == 1); /* no vector is longer in L2 than in L1 */
    spec.sensitivity_on_lattice = false;
    assert_ok(tacit__lattice_choose(&spec, 4, &l, NULL));
    assert_within(l.sensitivity_l1, 1 + 4 * ldexp(1, -l.bits), 1 + 5 * ldexp(1, -l.bits));
    assert_true(l.sensitivity_l2 == l.sensitivity_l1);
}

static double distance(const double *x, const double *y, size_t n, int norm)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += norm == 1 ? fabs(x[i] - y[i]) : (x[i] - y[i]) * (x[i] - y[i]);
    return norm == 1 ? sum : sqrt(sum);
}

/* y: a neighbor of x at the given distance in this norm; where it can, it rounds to the other side of every step. */
static void move_apart(const tacit__lattice *l, double *x, double *y, size_t n, size_t nonzeros,
                       double far, int norm)
{
    double step = ldexp(1, -l->bits), m = (double)nonzeros;
    double each = fmin(far / (norm == 1 ? m : sqrt(m)), 0.9 * step);
    memcpy(y, x, n * sizeof *y);
    for (size_t i = 0; i < nonzeros; i++) {
        double middle = (floor(ldexp(x[i], l->bits)) + 0.5) * step;
        x[i] = middle - 0.499 * each;
        y[i] = middle + 0.499 * each;
    }
}

/* What two users' integers are apart, as a part of the declared sensitivity in this norm. -1: one was refused. */
static double placed_apart(const tacit__lattice *l, const double *x, const double *y, size_t n,
                           int norm)
{
    static int64_t q[50000], r[50000];
    if (tacit__lattice_quantize(l, x, n, q, NULL) != TACIT_OK ||
        tacit__lattice_quantize(l, y, n, r, NULL) != TACIT_OK)
        return -1;
    for (size_t i = 0; i < n; i++)
        q[i] -= r[i];
    double apart = norm == 1 ? (double)norm1(q, n) : sqrt((double)square(q, n));
    return ldexp(apart, -l->bits) / (norm == 1 ? l->sensitivity_l1 : l->sensitivity_l2);
}

/* A search over shapes, sizes and distances, at the bound and below it: the declared move is never exceeded, and is nearly
 * attained; without the part for rounding it would be exceeded. */
TEST(rounding_is_part_of_a_given_sensitivity)
{
    enum { N = 50000 };
    static double x[N], y[N];
    static const size_t sizes[] = {1, 3, 64, 4099, N};
    uint64_t random = 11;
    double worst[3] = {0}, bare[3] = {0};
    for (int i = 0; i < 400; i++) {
        size_t n = sizes[i % 5], nonzeros = i % 3 == 0 ? (n + 3) / 4 : n;
        int norm = 1 + i / 5 % 2;
        double far = exp(random_between(&random, -12, 0));
        tacit_sum_spec spec = {.mechanism =
                                   i % 4 == 0 && norm == 2 ? TACIT_SUM_BLT : TACIT_SUM_TREE,
                               .law = TACIT_LAW_GAUSSIAN,
                               .dimension = n,
                               .users = (uint64_t)1 << random_below(&random, 40),
                               .bound = {.l2 = exp(random_between(&random, 1, 8)),
                                         .nonzeros = nonzeros < n ? nonzeros : 0,
                                         .nonnegative = i % 7 == 0},
                               .reason = "a search"};
        *(norm == 1 ? &spec.sensitivity_l1 : &spec.sensitivity_l2) = far;
        tacit__lattice l, without;
        assert_ok(tacit__lattice_choose(&spec, n, &l, NULL));
        without = l;
        *(norm == 1 ? &without.sensitivity_l1 : &without.sensitivity_l2) = far;
        for (int shape = 0; shape < 4; shape++) {
            memset(x, 0, sizeof x);
            fill(x, nonzeros, shape, spec.bound.nonnegative, &random);
            double length = 0, half = 0.5 * ldexp(sqrt((double)nonzeros), -l.bits),
                   wanted = shape % 2 ? l.bound.l2 - half : 0.5 * l.bound.l2;
            for (size_t k = 0; k < nonzeros; k++)
                length = hypot(length, x[k]);
            for (size_t k = 0; k < nonzeros && length > 0; k++)
                x[k] *= wanted / length;
            move_apart(&l, x, y, n, nonzeros, far, norm);
            assert_true(distance(x, y, n, norm) <= far);
            for (int m = 1; m <= 2; m++)
                worst[m] = fmax(worst[m], placed_apart(&l, x, y, n, m));
            bare[norm] = fmax(bare[norm], placed_apart(&without, x, y, n, norm));
        }
    }
    for (int m = 1; m <= 2; m++) {
        assert_within(worst[m], 0.9, 1);
        assert_true(bare[m] > 2);
    }
}

TEST(a_small_part_of_a_large_vector_is_declared_with_its_rounding)
{
    enum { N = 50000 };
    static double x[N], y[N];
    tacit_sum_spec spec = {.users = 1000,
                           .dimension = N,
                           .bound = {.l2 = 1000},
                           .sensitivity_l2 = 1e-4,
                           .reason = "a small part"};
    tacit__lattice l;
    assert_ok(tacit__lattice_choose(&spec, N, &l, NULL));
    assert_within(l.sensitivity_l2, 1e-4, 1e-4 * (1 + 0x1p-9)); /* a finer lattice keeps it small */
    move_apart(&l, x, y, N, N, 1e-4, 2);
    assert_within(placed_apart(&l, x, y, N, 2), 0.001, 1);
    spec.sensitivity_on_lattice = true; /* what the bound alone would take: 2^26 steps */
    assert_ok(tacit__lattice_choose(&spec, N, &l, NULL));
    move_apart(&l, x, y, N, N, 1e-4, 2);
    assert_true(placed_apart(&l, x, y, N, 2) > 30);
}

/* A user whose first coordinate rounds up, and out of the bound, would be scaled back in all the others, and come to lie twice as far
 * from a neighbor as rounding takes it. */
TEST(with_a_given_sensitivity_nothing_that_is_accepted_is_scaled_back)
{
    enum { N = 50000, BITS = 25 };
    static double x[N], y[N];
    const double large = ldexp(1, BITS), step = ldexp(1, -BITS);
    tacit_sum_spec spec = {.users = (uint64_t)1 << 34, /* no room for a finer lattice */
                           .dimension = N,
                           .bound = {.l2 = (large + 0.52) * step},
                           .sensitivity_l2 = step,
                           .reason = "a search"};
    tacit__lattice l;
    assert_ok(tacit__lattice_choose(&spec, N, &l, NULL));
    assert_int_equal(l.bits, BITS);
    for (size_t i = 1; i < N; i++) {
        x[i] = 2.501 * step;
        y[i] = 2.499 * step;
    }
    x[0] = (large + 0.499) * step;
    y[0] = (large + 0.501) * step;
    assert_true(distance(x, y, N, 2) <= spec.sensitivity_l2);
    assert_within(placed_apart(&l, x, y, N, 2), 0.99, 1);
    /* (large + 0.52)^2, in integers */
    l.l2_square = ((u128)1 << 2 * BITS) + (uint64_t)floor(1.04 * large + 0.27);
    assert_true(placed_apart(&l, x, y, N, 2) > 1.9);
}

/* The search climbs from random pairs of points outside an L1 ball. Scaling moves some of them farther apart than they were, so a
 * given distance would not outlast it. */
TEST(a_given_sensitivity_does_not_outlast_clipping_and_is_refused)
{
    enum { N = 2, CLIMBS = 20, STEPS = 400 };
    tacit__lattice l = choose((tacit_bound){.l1 = 1, .clip = true}, N, 10);
    l.sensitivity_l1 = 1;
    uint64_t random = 12;
    double best = 0;
    for (int i = 0; i < CLIMBS * STEPS; i++) {
        static double x[N], y[N], kept;
        double a[N], b[N];
        for (size_t k = 0; k < N; k++) {
            a[k] = random_between(&random, -1.5, 1.5) * (i % STEPS == 0 ? 1 : 0.1);
            b[k] = random_between(&random, -1.5, 1.5) * (i % STEPS == 0 ? 1 : 0.1);
            a[k] += i % STEPS == 0 ? 0 : x[k];
            b[k] += i % STEPS == 0 ? 0 : y[k];
        }
        double before = distance(a, b, N, 1);
        double ratio = before < 1e-3 ? 0 : placed_apart(&l, a, b, N, 1) / before;
        if (i % STEPS == 0 || ratio > kept) {
            memcpy(x, a, sizeof x);
            memcpy(y, b, sizeof y);
            kept = ratio;
        }
        best = fmax(best, kept);
    }
    assert_within(best, 4.0 / 3, 2); /* 0.5 becomes more than 0.666 */
    tacit_sum_spec spec = {.users = 10, .dimension = N, .reason = "a distance before clipping"};
    for (int i = 0; i < 4; i++) {
        spec.bound = (tacit_bound){.l1 = i % 2 ? 1 : 0, .l2 = i % 2 ? 0 : 1, .clip = true};
        spec.sensitivity_l1 = i / 2 ? 0.5 : 0;
        spec.sensitivity_l2 = i / 2 ? 0 : 0.5;
        spec.sensitivity_on_lattice = false;
        assert_status(tacit__lattice_choose(&spec, N, &l, NULL), TACIT_BAD_SENSITIVITY);
        spec.sensitivity_on_lattice = true; /* a distance after it */
        assert_ok(tacit__lattice_choose(&spec, N, &l, NULL));
        assert_true((i / 2 ? l.sensitivity_l1 : l.sensitivity_l2) == 0.5);
    }
}
