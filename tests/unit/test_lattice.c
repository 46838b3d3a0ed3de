/* Contributions on the lattice: the declared bound holds for the integers, exactly, whatever comes in. */
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "sums/lattice.h"
#include "support/random.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

enum { MANY = 4099 }; /* coordinates; odd, and more than a tile */

static tacit__lattice choose(tacit_bound bound, size_t dimension, uint64_t users)
{
    tacit_sum_spec spec = {.mechanism = TACIT_SUM_TREE,
                           .law = TACIT_LAW_GAUSSIAN,
                           .dimension = dimension,
                           .users = users,
                           .bound = bound};
    tacit__lattice l;
    assert_ok(tacit__lattice_choose(&spec, dimension, &l, NULL));
    return l;
}

/* The norms of the integers, without any rounding. */
static u128 norm1(const int64_t *q, size_t n)
{
    u128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)(q[i] < 0 ? -q[i] : q[i]);
    return sum;
}

static u128 square(const int64_t *q, size_t n)
{
    u128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (u128)((i128)q[i] * q[i]);
    return sum;
}

/* value <= (norm * 2^bits)^power, without any rounding. */
static bool at_most(u128 value, double norm, int bits, unsigned power)
{
    mpfr_t v, bound;
    mpfr_inits2(300, v, bound, (mpfr_ptr)0);
    mpfr_set_uj(v, (uint64_t)(value >> 64), MPFR_RNDN);
    mpfr_mul_2ui(v, v, 64, MPFR_RNDN);
    mpfr_add_ui(v, v, (unsigned long)(uint64_t)value, MPFR_RNDN);
    mpfr_set_d(bound, norm, MPFR_RNDN);
    mpfr_mul_2si(bound, bound, bits, MPFR_RNDN);
    mpfr_pow_ui(bound, bound, power, MPFR_RNDN);
    bool kept = mpfr_lessequal_p(v, bound) != 0;
    mpfr_clears(v, bound, (mpfr_ptr)0);
    return kept;
}

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

/* Scales x so that the tighter of its two norms is `part` of the bound. */
static void scale_to(const tacit__lattice *l, double *x, size_t n, double part)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += fabs(x[i]);
        squares += x[i] * x[i];
    }
    double factor = part * fmin(l->bound.l1 / sum, l->bound.l2 / sqrt(squares));
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

/* Vectors of many shapes: flat, one spike, a few, heavy tails, geometric, random signs. */
static void fill(double *x, size_t n, int shape, bool nonnegative, uint64_t *random)
{
    for (size_t i = 0; i < n; i++) {
        double v = shape == 0   ? 1
                   : shape == 1 ? (i == n / 2 ? 1 : 0)
                   : shape == 2 ? (random_below(random, 1 + n / 4) == 0 ? random_unit(random) : 0)
                   : shape == 3 ? exp(6 * random_normal(random))
                   : shape == 4 ? ldexp(1, -(int)(i % 60))
                                : random_normal(random);
        x[i] = nonnegative ? fabs(v) : random_word(random) & 1 ? -v : v;
    }
    if (shape == 2)
        x[0] = 1; /* not all zero */
}

static const size_t dimensions[] = {1, 2, 3, 4, 5, 7, 8, 64, 1000, MANY};
enum { N_DIMENSIONS = sizeof dimensions / sizeof *dimensions };

static tacit_bound random_bound(size_t n, int kind, uint64_t *random)
{
    double size = exp(random_between(random, -12, 12));
    tacit_bound b = {.nonnegative = kind & 1};
    if (kind / 2 % 3 != 1)
        b.l2 = size;
    if (kind / 2 % 3 != 0) /* between l2 and sqrt(n) l2, or alone */
        b.l1 = size * pow((double)n, 0.5 * random_unit(random));
    return b;
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

/* y: a neighbour of x at the given distance in this norm; where it can, it rounds to the other side of every step. */
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
 * from a neighbour as rounding takes it. */
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
    l.l2_square = (u128)floor((large + 0.52) * (large + 0.52));
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
    double *x = malloc(N * sizeof *x);
    int64_t *q = malloc(N * sizeof *q);
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
    free(x);
    free(q);
}
