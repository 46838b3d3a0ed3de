/* Buffered linear Toeplitz sums: the tuning, the certificate for the norm that is charged, and the integer
 * arithmetic behind it. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "sums/blt_gain.h"
#include "sums/blt_kernel.h"
#include "sums/blt_norm.h"
#include "sums/blt_tune.h"
#include "sums/lattice.h"
#include "sums/strategy.h"
#include "support/random.h"

static const tacit__returning once = {1, 1};

static const tacit__strategy *const strategy = &tacit__strategy_blt;

/* Coefficients of prod (1 - b_j x) / prod (1 - a_j x), by multiplying power series. */
static void series(const tacit__blt *blt, size_t n, long double *c)
{
    memset(c, 0, n * sizeof *c);
    c[0] = 1;
    for (unsigned j = 0; j < blt->buffers; j++) {
        long double a = 1 - (long double)blt->one_minus_a[j],
                    b = 1 - (long double)blt->one_minus_b[j];
        for (size_t i = n; i-- > 1;)
            c[i] -= b * c[i - 1];
        for (size_t i = 1; i < n; i++)
            c[i] += a * c[i - 1];
    }
}

static long double square(const long double *c, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += c[i] * c[i];
    return sum;
}

/* The same for B = A / C: poles and zeros exchanged, then prefix sums. */
static long double direct_error(const tacit__blt *blt, size_t n)
{
    long double *c = calloc(n, sizeof *c);
    assert_non_null(c);
    series(blt, n, c);
    long double column = square(c, n);
    tacit__blt inverse = *blt;
    memcpy(inverse.one_minus_a, blt->one_minus_b, sizeof inverse.one_minus_a);
    memcpy(inverse.one_minus_b, blt->one_minus_a, sizeof inverse.one_minus_b);
    series(&inverse, n, c);
    for (size_t i = 1; i < n; i++)
        c[i] += c[i - 1];
    long double row = square(c, n);
    free(c);
    return sqrtl(column * row);
}

/* Random gaps, interlaced and ascending. */
static tacit__blt random_blt(unsigned buffers, uint64_t *random)
{
    tacit__blt blt = {.buffers = buffers};
    double log_gap = random_between(random, -14, -10);
    for (unsigned j = 0; j < buffers; j++) {
        blt.one_minus_a[j] = exp(log_gap);
        log_gap += random_between(random, 0.1, 1) * -log_gap / (2 * (buffers - j));
        blt.one_minus_b[j] = exp(log_gap);
        log_gap += random_between(random, 0.1, 1) * -log_gap / (2 * (buffers - j));
    }
    return blt;
}

TEST(the_closed_form_of_the_error_is_the_direct_sum)
{
    static const size_t users[] = {1, 2, 3, 17, 1000, 30000};
    uint64_t random = 1;
    for (unsigned buffers = 1; buffers <= TACIT__MAX_BUFFERS; buffers++)
        for (size_t u = 0; u < 6; u++)
            for (int i = 0; i < 5; i++) {
                tacit__blt blt = random_blt(buffers, &random);
                assert_close(tacit__blt_error(&blt, users[u], &once),
                             (double)direct_error(&blt, users[u]), 1e-8);
            }
    tacit__blt none = {0};
    assert_close(tacit__blt_error(&none, 9, &once), 3, 1e-14); /* C = 1: every user adds noise */
}

TEST(the_residues_are_those_of_the_series_and_positive)
{
    enum { N = 200 };
    long double c[N];
    uint64_t random = 2;
    for (int i = 0; i < 50; i++) {
        tacit__blt blt = random_blt(1 + (unsigned)i % TACIT__MAX_BUFFERS, &random);
        double omega[TACIT__MAX_BUFFERS];
        tacit__blt_residues(&blt, omega);
        series(&blt, N, c);
        for (int n = 1; n < N; n++) {
            double sum = 0;
            for (unsigned j = 0; j < blt.buffers; j++) {
                assert_true(omega[j] > 0);
                sum += omega[j] * pow(1 - blt.one_minus_a[j], n);
            }
            assert_close(sum, (double)c[n], 1e-9);
        }
    }
}

TEST(the_tuned_error_is_that_of_the_tables)
{
    static const uint64_t users[] = {1000, 10000, 50000, 1000000};
    static const double table[] = {3.27, 4.00, 4.51, 5.49};
    for (size_t i = 0; i < 4; i++) {
        tacit__blt blt = tacit__blt_tune(users[i], &once);
        assert_within(tacit__blt_error(&blt, users[i], &once), table[i] * 0.99, table[i] * 1.01);
        double before = 0; /* ascending, interlaced, within the fixed point */
        for (unsigned j = 0; j < blt.buffers; j++) {
            assert_within(blt.one_minus_a[j], before, 0.5);
            assert_within(blt.one_minus_b[j], blt.one_minus_a[j], 1);
            before = blt.one_minus_b[j];
        }
    }
}

TEST(the_tuned_error_is_below_that_of_the_tree)
{
    for (uint64_t users = 2; users <= 2000; users += users < 150 ? 1 : users / 20) {
        unsigned nodes = 0;
        while (users >> nodes != 0)
            nodes++;
        /* the most ones of a number up to users */
        unsigned alive = (users & (users + 1)) == 0 ? nodes : nodes - 1;
        tacit__blt blt = tacit__blt_tune(users, &once);
        assert_within(tacit__blt_error(&blt, users, &once), 1, sqrt((double)nodes * alive));
    }
}

/* The shape that a sum with this bound gets, and its certified column norm. */
static tacit__shape shape_of(size_t dimension, uint64_t users, double l2, double sensitivity)
{
    tacit_sum_spec spec = {SUM_OF(TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, dimension, users),
                           .bound = {.l2 = l2}, .sensitivity_l2 = sensitivity,
                           .reason = sensitivity > 0 ? "a test" : NULL};
    tacit__lattice l;
    assert_ok(tacit__lattice_choose(&spec, dimension, &l, NULL));
    return (tacit__shape){.law = TACIT_LAW_GAUSSIAN,
                          .dimension = dimension,
                          .steps = users,
                          .largest = l.largest,
                          .sensitivity = ldexp(l.sensitivity_l2, l.bits),
                          .differing = l.differing,
                          .unit = 1};
}

static double certified(const tacit__shape *shape)
{
    tacit__columns columns;
    assert_ok(strategy->columns(shape, &columns, NULL));
    assert_true(isinf(columns.l1)); /* not for Laplace noise */
    return columns.l2;
}

static void *create(const tacit__shape *shape)
{
    void *state = NULL;
    assert_ok(strategy->create(shape, &state, NULL));
    return state;
}

/* What a step passes, for a stream x; then it is released as `released`. */
static void pass(void *state, size_t n, const int64_t *x, int64_t *y)
{
    strategy->encode(state, 0, n, x, y);
}

static void release(void *state, size_t n, const int64_t *x, const int64_t *released)
{
    strategy->absorb(state, 0, n, x, released);
    strategy->advance(state);
}

/* The column norm of the C with poles on the grid of 2^-32, without any further rounding. */
static long double ideal_norm(uint64_t users)
{
    tacit__blt blt = tacit__blt_tune(users, &once);
    double omega[TACIT__MAX_BUFFERS];
    long double power[TACIT__MAX_BUFFERS], sum = 1;
    for (unsigned j = 0; j < blt.buffers; j++)
        blt.one_minus_a[j] = ldexp(rint(ldexp(blt.one_minus_a[j], 32)), -32);
    tacit__blt_residues(&blt, omega);
    for (unsigned j = 0; j < blt.buffers; j++)
        power[j] = (long double)omega[j];
    for (uint64_t n = 1; n < users; n++) {
        long double c = 0;
        for (unsigned j = 0; j < blt.buffers; j++)
            c += power[j] *= 1 - (long double)blt.one_minus_a[j];
        sum += c * c;
    }
    return sqrtl(sum);
}

TEST(the_certificate_covers_the_ideal_column_norm_and_is_close_to_it)
{
    static const uint64_t users[] = {1, 2, 3, 10, 100, 1000, 10000, 200000};
    for (size_t u = 0; u < 8; u++) {
        tacit__shape shape = shape_of(1, users[u], 1, 0);
        double ideal = (double)ideal_norm(users[u]);
        assert_within(certified(&shape), ideal, ideal * (1 + 5e-4));
    }
}

/* Streams that make contributions small, large, and of both signs. */
static int64_t contribution(int kind, uint64_t t, double largest, uint64_t *random)
{
    int64_t most = (int64_t)largest, any = (int64_t)(largest * random_between(random, -1, 1));
    switch (kind) {
    case 0:
        return most;
    case 1:
        return t % 2 == 0 ? most : -most;
    case 2:
        return any;
    default:
        return 0;
    }
}

/* The largest scale that a blt sum takes, in lattice steps. */
static double largest_scale(uint64_t users)
{
    return ldexp(1, 53 - tacit__blt_guard_bits(users));
}

enum { NOISE_KINDS = 6 };

/* Noise that keeps the buffers near 0, where it should be, and at their limit on one side or both. */
static int64_t noise(int kind, uint64_t t, const tacit__shape *shape, uint64_t *random)
{
    int64_t most = 400 * (int64_t)largest_scale(shape->steps);
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return (int64_t)random_below(random, 3) - 1; /* every floor near its edge */
    case 2:
        return (int64_t)(2 * shape->sensitivity * random_normal(random));
    case 3:
        return -most;
    case 4:
        return t / 3 % 2 == 0 ? most : -most;
    default:
        return (int64_t)((double)most * random_between(random, -1, 1));
    }
}

/* Two streams that differ in user `changed`: how far apart is what they pass, given that the first one's noisy
 * values are released? */
static double passed_distance(const tacit__shape *shape, int kind, int noise_kind, uint64_t changed,
                              const int64_t *one, const int64_t *other, uint64_t seed)
{
    size_t n = shape->dimension;
    void *a = create(shape), *b = create(shape);
    int64_t *x = calloc(5 * n, sizeof *x), *z = x + n, *ya = x + 2 * n, *yb = x + 3 * n,
            *released = x + 4 * n;
    assert_non_null(x);
    uint64_t random = seed;
    long double sum = 0;
    for (uint64_t t = 0; t < shape->steps; t++) {
        for (size_t i = 0; i < n; i++)
            z[i] = x[i] = contribution(kind, t, shape->largest / sqrt((double)n), &random);
        if (t == changed) {
            memcpy(x, one, n * sizeof *x);
            memcpy(z, other, n * sizeof *z);
        }
        pass(a, n, x, ya);
        pass(b, n, z, yb);
        for (size_t i = 0; i < n; i++) {
            long double d = (long double)ya[i] - (long double)yb[i];
            assert_true(d == 0 || t >= changed); /* causal */
            assert_true(llabs(ya[i]) < (int64_t)1 << 61);
            released[i] = ya[i] + noise(noise_kind, t, shape, &random);
            sum += d * d;
        }
        release(a, n, x, released);
        release(b, n, z, released);
    }
    strategy->destroy(a);
    strategy->destroy(b);
    free(x);
    return (double)sqrtl(sum);
}

TEST(an_impulse_has_the_norm_that_is_certified_and_no_larger_one)
{
    static const uint64_t users[] = {2, 50, 1000, 40000};
    for (size_t u = 0; u < 4; u++) {
        tacit__shape shape = shape_of(1, users[u], 1, 0);
        int64_t most = (int64_t)shape.largest, none = 0;
        double norm = passed_distance(&shape, 3, 0, 0, &most, &none, 1) / shape.largest;
        assert_within(certified(&shape), norm, norm * (1 + 5e-4));
    }
}

enum { WIDEST = 64 };

static void check_neighbors(size_t n, uint64_t users, double sensitivity, double *closest)
{
    tacit__shape shape = shape_of(n, users, 1, sensitivity);
    double bound = certified(&shape) * shape.sensitivity;
    const uint64_t where[] = {0, users / 2, users - 1};
    uint64_t random = 3;
    for (int kind = 0; kind < 2 * NOISE_KINDS; kind++)
        for (size_t w = 0; w < 3; w++)
            for (int spread = 0; spread < 2; spread++) {
                int64_t one[WIDEST] = {0}, other[WIDEST] = {0};
                /* as far apart as is allowed: in one coordinate, or a little in each */
                double half = shape.sensitivity / 2 / (spread ? sqrt((double)n) : 1);
                for (size_t i = 0; i < (spread ? n : 1); i++) {
                    int64_t step = (int64_t)half * (random_word(&random) & 1 ? 1 : -1);
                    one[i] = step;
                    other[i] = -step;
                }
                double distance = passed_distance(&shape, kind % 4, kind % NOISE_KINDS, where[w],
                                                  one, other, random_word(&random));
                assert_within(distance, 0, bound);
                *closest = fmax(*closest, distance / bound);
            }
}

TEST(neighboring_streams_stay_within_the_certificate_whatever_the_rounding)
{
    double closest = 0;
    check_neighbors(1, 3000, 0, &closest);
    check_neighbors(1, 7, 0, &closest);
    check_neighbors(3, 1500, 0, &closest);
    check_neighbors(WIDEST, 400, 0, &closest);
    assert_within(closest, 0.999, 1); /* the certificate is not idle */
    /* two users who differ by little: rounding is then a larger part of the difference */
    check_neighbors(1, 3000, 1e-3, &closest);
    check_neighbors(5, 800, 1e-6, &closest);
    check_neighbors(1, 2000, 1e-8, &closest);
}

/* Whatever the data, what is shown is the exact sum and B z: the noise z of all steps through 1 / C(x), here by long division of
 * power series, divided by the gains, and summed. With gains data are rounded once more, by less than a unit a step. */
TEST(a_release_is_the_exact_sum_and_noise_that_does_not_depend_on_data)
{
    enum { N = 3, MOST = 2000 };
    static const uint64_t users[] = {1, 2, 5, 100, MOST};
    static long double b[MOST], z[MOST];
    static int64_t gain[MOST];
    static double row[MOST];
    for (size_t u = 0; u < 5; u++) {
        tacit__shape shape = shape_of(N, users[u], 1, 0);
        tacit__blt inverse, tuned = tacit__blt_tune(users[u], &once);
        inverse = tuned;
        memcpy(inverse.one_minus_a, tuned.one_minus_b, sizeof inverse.one_minus_a);
        memcpy(inverse.one_minus_b, tuned.one_minus_a, sizeof inverse.one_minus_b);
        series(&inverse, (size_t)users[u], b);
        const double scale = 2 * shape.sensitivity;
        void *s = create(&shape);
        uint64_t random = 4;
        int64_t prefix[N] = {0}, x[N], y[N];
        long double expected = 0;
        tacit__blt_gains(s, users[u], gain, row); /* a state begins with its coefficients */
        double out[N];
        for (uint64_t t = 0; t < users[u]; t++) {
            int64_t fresh = (int64_t)(scale * random_normal(&random));
            z[t] = (long double)fresh;
            for (size_t i = 0; i < N; i++)
                prefix[i] += x[i] = contribution((int)i, t, shape.largest, &random);
            pass(s, N, x, y);
            for (size_t i = 0; i < N; i++)
                y[i] += fresh;
            release(s, N, x, y);
            strategy->read(s, out);
            assert_memory_equal(strategy->get_released(s), out, sizeof out);
            for (uint64_t n = 0; n <= t; n++)
                expected += b[n] * z[t - n] * (1 << TACIT__GAIN_BITS) / (long double)gain[t];
            for (size_t i = 1; i < N; i++)
                assert_within(out[0] - (double)prefix[0] - (out[i] - (double)prefix[i]),
                              -1e-6 - (double)t, 1e-6 + (double)t);
            assert_true(fabs(out[0] - (double)prefix[0] - (double)expected) <=
                        1e-6 * scale + (double)t);
        }
        strategy->destroy(s);
    }
}

/* Every integer that the tuning can give must fit, and every certificate be a modest number. */
TEST(any_number_of_users_and_any_bound_give_coefficients_that_fit)
{
    uint64_t random = 5;
    for (uint64_t users = 1; users < 3000000; users += 1 + users * 3 / 4)
        for (int i = 0; i < 3; i++) {
            size_t dimension = (size_t)1 << random_below(&random, 24);
            double sensitivity = i == 0 ? 0 : exp(random_between(&random, -12, 0));
            tacit__shape shape = shape_of(dimension, users, 1, sensitivity);
            tacit__columns columns;
            tacit_status status = strategy->columns(&shape, &columns, NULL);
            /* a sensitivity far below the bound leaves the lattice coarse for it: rounding costs more */
            if (status == TACIT_OK)
                assert_within(columns.l2, 1, i == 0 ? 4 : 1e6);
            else
                assert_int_equal(status, TACIT_NO_ROOM);
            if (i == 0)
                assert_int_equal(status, TACIT_OK);
        }
}

TEST(what_blt_cannot_do_is_refused)
{
    tacit__shape shape = shape_of(1, 100, 1, 0);
    tacit__columns columns;
    shape.law = TACIT_LAW_LAPLACE;
    assert_status(strategy->columns(&shape, &columns, NULL), TACIT_UNSUPPORTED);
    shape.law = TACIT_LAW_GAUSSIAN;
    shape.sensitivity = 0;
    assert_status(strategy->columns(&shape, &columns, NULL), TACIT_BAD_SENSITIVITY);
    shape.sensitivity = 1;
    shape.steps = (uint64_t)1 << 31;
    assert_status(strategy->columns(&shape, &columns, NULL), TACIT_NO_ROOM);
    shape.steps = 1000;
    shape.scale = largest_scale(shape.steps);
    assert_ok(strategy->columns(&shape, &columns, NULL));
    shape.scale *= 1.01;
    assert_status(strategy->columns(&shape, &columns, NULL), TACIT_BAD_SCALE);
}

/* Coefficients within the documented ranges. */
static tacit__blt_coefficients random_coefficients(unsigned buffers, uint64_t *random)
{
    tacit__blt_coefficients c = {.buffers = buffers, .guard = (int)random_below(random, 18)};
    c.fraction = 1 + (int)random_below(random, (uint64_t)c.guard + 1);
    for (unsigned j = 0; j < buffers; j++) {
        c.decay[j] = 1 + (int64_t)random_below(random, ((uint64_t)1 << 31) - 1);
        /* residues add up to less than 1 */
        double most = fmin(0x1p29, ldexp(1, 32 + c.fraction - c.guard) / buffers);
        c.output[j] = (int64_t)random_below(random, (uint64_t)most);
        c.a[j] = 1 - ldexp((double)c.decay[j], -32);
        c.omega[j] = ldexp((double)c.output[j], c.guard - 32 - c.fraction);
    }
    return c;
}

static int64_t signed_below(uint64_t *random, int bits)
{
    return (int64_t)(random_word(random) >> (63 - bits)) - ((int64_t)1 << bits);
}

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;

static int64_t floor_shifted(i128 v, int bits)
{
    const u128 unit = (u128)1 << bits, size = v < 0 ? -(u128)v : (u128)v, q = size / unit;
    return v < 0 ? -(int64_t)(q + (q * unit != size)) : (int64_t)q;
}

enum { ROOM = 64 }; /* coordinates, in whole lines */

typedef struct arrays {
    int64_t buffer[ROOM * TACIT__MAX_BUFFERS], x[ROOM], y[ROOM], noise[ROOM];
    double shown[ROOM];
} arrays;

static void run_kernels(const tacit__blt_coefficients *c, size_t n, arrays *a)
{
    tacit__blt_encode(c, a->buffer, n, a->x, a->y);
    for (size_t i = 0; i < n; i++)
        a->y[i] += a->noise[i];
    tacit__blt_absorb(c, a->buffer, n, a->x, a->y, 0x1p-7, a->shown);
}

/* The definition, one coordinate at a time, with 128-bit products. */
static void run_reference(const tacit__blt_coefficients *c, size_t n, arrays *a)
{
    for (size_t i = 0; i < n; i++) {
        int64_t *s = a->buffer + i / TACIT__LINE * TACIT__LINE * c->buffers + i % TACIT__LINE;
        i128 output = 0;
        for (unsigned j = 0; j < c->buffers; j++)
            output += (i128)s[j * TACIT__LINE] * c->output[j];
        output = floor_shifted(output, 32) + ((i128)1 << (c->fraction - 1));
        a->y[i] = a->noise[i] + a->x[i] + floor_shifted(output, c->fraction);
        a->shown[i] += (double)a->y[i] * 0x1p-7;
        for (unsigned j = 0; j < c->buffers; j++) {
            int64_t *sj = s + j * TACIT__LINE;
            *sj += (a->x[i] - a->y[i]) * ((int64_t)1 << c->guard);
            *sj -= floor_shifted((i128)*sj * c->decay[j], 32);
            *sj = *sj > TACIT__BLT_LIMIT ? TACIT__BLT_LIMIT : *sj;
            *sj = *sj < -TACIT__BLT_LIMIT ? -TACIT__BLT_LIMIT : *sj;
        }
    }
}

TEST(all_instruction_sets_are_the_definition_bit_for_bit)
{
    static arrays start, wide, base, reference;
    uint64_t random = 6;
    for (unsigned buffers = 0; buffers <= TACIT__MAX_BUFFERS; buffers++)
        for (size_t n = 1; n <= 40; n++)
            for (int round = 0; round < 5; round++) {
                tacit__blt_coefficients c = random_coefficients(buffers, &random);
                for (size_t i = 0; i < ROOM * TACIT__MAX_BUFFERS; i++)
                    start.buffer[i] = signed_below(&random, 60);
                /* in every fifth round buffers reach their limit */
                int noise_bits = (round == 0 ? 61 : 50) - c.guard;
                for (size_t i = 0; i < ROOM; i++) {
                    start.x[i] = signed_below(&random, 40);
                    start.noise[i] = signed_below(&random, noise_bits);
                    start.shown[i] = ldexp((double)signed_below(&random, 40), -7);
                }
                wide = base = reference = start;
                run_kernels(&c, n, &wide);
                tacit__cpu_pretend_base(true);
                run_kernels(&c, n, &base);
                tacit__cpu_pretend_base(false);
                run_reference(&c, n, &reference);
                assert_memory_equal(&wide, &reference, sizeof wide);
                assert_memory_equal(&base, &reference, sizeof base);
            }
}

/* Columns times their gains: never longer than the first, which is charged, and as long up to what gains are rounded by. */
TEST(gains_make_columns_as_long_as_the_first)
{
    static const uint64_t releases[] = {2, 3, 40, 500, TACIT__MOST_GAINS};
    static int64_t gain[TACIT__MOST_GAINS];
    static double row[TACIT__MOST_GAINS];
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        const uint64_t n = releases[i];
        tacit__shape shape = shape_of(3, n, 1, 0);
        tacit__columns charged;
        void *s = create(&shape);
        const tacit__blt_coefficients *c = s; /* a state begins with its coefficients */
        long double square = 0, lengths[TACIT__MOST_GAINS];
        assert_ok(strategy->columns(&shape, &charged, NULL));
        tacit__blt_gains(c, n, gain, row);
        for (uint64_t m = 0; m < n; m++) {
            long double at = m == 0;
            for (unsigned j = 0; j < c->buffers && m > 0; j++)
                at += (long double)c->omega[j] * powl((long double)c->a[j], (long double)m);
            lengths[m] = sqrtl(square += at * at);
        }
        for (uint64_t t = 0; t < n; t++) {
            const double gained =
                (double)(lengths[n - 1 - t] * (long double)gain[t]) / (1 << TACIT__GAIN_BITS);
            assert_within(gained, (double)lengths[n - 1] * (1 - 2e-6), (double)lengths[n - 1]);
            assert_within(row[t], 0, tacit__blt_row(c, NULL, t + 1) * (1 + 1e-9));
        }
        assert_within(charged.l2, (double)lengths[n - 1], (double)lengths[n - 1] * 1.001);
        strategy->destroy(s);
    }
}
