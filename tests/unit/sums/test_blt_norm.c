/* The norms of blt sums: closed forms against plain sums, never below where privacy depends on it. */
#include "support/check.h"

#include <float.h>
#include <math.h>

#include "sums/blt_norm.h"
#include "sums/blt_tune.h"
#include "support/random.h"

static const tacit__returning once = {1, 1};

/* Integers near the tuned C, or any that fit. */
static tacit__blt_coefficients quantized(const tacit__blt *tuned, int guard)
{
    tacit__blt rounded = *tuned;
    tacit__blt_coefficients c = {.buffers = tuned->buffers, .guard = guard, .fraction = guard - 9};
    double omega[TACIT__MAX_BUFFERS];
    for (unsigned j = 0; j < c.buffers; j++) {
        c.decay[j] = llrint(fmax(1, ldexp(tuned->one_minus_a[j], 32)));
        rounded.one_minus_a[j] = ldexp((double)c.decay[j], -32);
        c.a[j] = 1 - rounded.one_minus_a[j];
    }
    tacit__blt_residues(&rounded, omega);
    for (unsigned j = 0; j < c.buffers; j++) {
        c.output[j] = llrint(ldexp(omega[j], 32 + c.fraction - c.guard));
        c.omega[j] = ldexp((double)c.output[j], c.guard - 32 - c.fraction);
    }
    return c;
}

static tacit__blt_coefficients random_coefficients(uint64_t *random)
{
    tacit__blt_coefficients c = {.buffers = 1 + (unsigned)(random_unit(random) * 5),
                                 .guard = 10 + (int)(random_unit(random) * 8),
                                 .fraction = 1 + (int)(random_unit(random) * 19)};
    for (unsigned j = 0; j < c.buffers; j++) {
        c.decay[j] = llrint(exp2(31 * random_unit(random)));
        c.a[j] = 1 - ldexp((double)c.decay[j], -32);
        c.output[j] = llrint(exp2(29 * random_unit(random)));
        c.omega[j] = ldexp((double)c.output[j], c.guard - 32 - c.fraction);
    }
    return c;
}

/* The sum as it is defined, with roundings to nearest: off by less than 10^-15 of it. */
static long double plain(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    long double power[TACIT__MAX_BUFFERS], sum = 1, lost = 0;
    const long double spread =
        sqrtl((long double)shape->differing) / (long double)shape->sensitivity;
    for (unsigned j = 0; j < c->buffers; j++)
        power[j] = (long double)c->omega[j];
    for (uint64_t n = 1; n < shape->steps; n++) {
        long double c_n = 0, e_n = 1 + ldexpl(1, -c->fraction);
        for (unsigned j = 0; j < c->buffers; j++) {
            const long double memory = 1 / (1 - (long double)c->a[j]);
            if (n % 1024 == 0) /* afresh: multiplication adds up errors */
                power[j] = (long double)c->omega[j] *
                           expl((long double)n * log1pl(-ldexpl((long double)c->decay[j], -32)));
            else
                power[j] *= (long double)c->a[j];
            c_n += power[j] > 1e-40L ? power[j] : 0;
            power[j] = power[j] > LDBL_MIN ? power[j] : 0;
            e_n += ldexpl((long double)c->omega[j], -c->guard) *
                   ((long double)n < memory ? (long double)n : memory);
        }
        const long double term = (c_n + e_n * spread) * (c_n + e_n * spread) - lost,
                          next = sum + term; /* Kahan */
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

/* Where a long double is a double, roundings of up to `steps` additions and powers show; the norm that is
 * charged has room for them (1e-9). */
static void assert_bounds(const tacit__blt_coefficients *c, const tacit__shape *shape)
{
    const long double coarse =
        LDBL_MANT_DIG >= 64 ? 0 : 8 * (long double)shape->steps * LDBL_EPSILON;
    const long double below = 1e-15L + coarse, above = 1e-10L + coarse;
    const long double exact = plain(c, shape), closed = tacit__blt_column_closed(c, shape),
                      summed = tacit__blt_column_summed(c, shape);
    if (!(closed >= exact * (1 - below)) || !(closed <= exact * (1 + above)) ||
        !(summed >= exact * (1 - below)) || !(summed <= exact * (1 + above)))
        fail_msg("%llu users: closed %.18Lg, summed %.18Lg, exact %.18Lg",
                 (unsigned long long)shape->steps, closed, summed, exact);
}

TEST(the_closed_form_is_never_below_the_sum_and_close_to_it)
{
    static const uint64_t users[] = {1, 2, 3, 4, 7, 64, 100, 1023, 1024, 4097, 50000, 1000000};
    static const double spreads[] = {1e-9, 1e-4, 0.1}; /* how much integers add */
    uint64_t random = 3;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        for (size_t j = 0; j < 3; j++) {
            const tacit__shape shape = {
                .steps = users[i], .differing = 9, .sensitivity = 3 / spreads[j]};
            const tacit__blt tuned = tacit__blt_tune(users[i], &once);
            const tacit__blt_coefficients c = quantized(&tuned, 12);
            assert_bounds(&c, &shape);
            for (int round = 0; round < (users[i] <= 5000 ? 20 : 1); round++) {
                const tacit__blt_coefficients any = random_coefficients(&random);
                assert_bounds(&any, &shape);
            }
        }
}

TEST(what_is_charged_for_few_users_is_the_sum)
{
    const tacit__blt tuned = tacit__blt_tune(1000, &once);
    const tacit__blt_coefficients c = quantized(&tuned, 12);
    for (uint64_t users = 1; users <= 1 << 20; users = 3 * users + 1) {
        const tacit__shape shape = {.steps = users, .differing = 9, .sensitivity = 1e4};
        assert_true(tacit__blt_column_norm(&c, &shape) ==
                    (double)sqrtl(tacit__blt_column_summed(&c, &shape)) * (1 + 1e-9));
    }
    /* and for more it goes on from there */
    const tacit__shape most = {.steps = 1 << 20, .differing = 9, .sensitivity = 1e4},
                       more = {.steps = (1 << 20) + 1, .differing = 9, .sensitivity = 1e4};
    const double before = tacit__blt_column_norm(&c, &most),
                 after = tacit__blt_column_norm(&c, &more);
    assert_within(after, before, before * (1 + 1e-7)); /* one more term */
}

TEST(a_row_in_closed_form_is_the_summed_one)
{
    for (uint64_t users = 2; users <= 1000000; users *= 7) {
        const tacit__blt tuned = tacit__blt_tune(users, &once);
        const tacit__blt_coefficients c = quantized(&tuned, 12);
        const tacit__blt factors = tacit__blt_factors(&c);
        long double buffers[TACIT__MAX_BUFFERS] = {0}, total = 0, row = 0;
        for (uint64_t n = 0; n < users; n++) {
            long double next = n == 0 ? 1 : 0;
            for (unsigned j = 0; j < c.buffers; j++)
                next -= (long double)c.omega[j] * buffers[j];
            for (unsigned j = 0; j < c.buffers; j++)
                buffers[j] = (long double)c.a[j] * (buffers[j] + next);
            total += next;
            row += total * total;
            if (((n + 1) & n) == 0 || n + 1 == users) {
                assert_close(tacit__blt_row_square(&factors, (double)(n + 1)), (double)row,
                             1e-11 * (double)row);
                assert_close(tacit__blt_row(&c, &factors, n + 1), (double)row, 1e-11 * (double)row);
            }
        }
    }
}

/* 2^30 users and more: this would take minutes by summation. Norms grow with the users, slowly. */
TEST(the_closed_form_takes_no_longer_for_more_users)
{
    double before = 0;
    for (uint64_t users = 1 << 21; users < UINT64_C(1) << 31; users *= 2) {
        const tacit__shape shape = {.steps = users, .differing = 9, .sensitivity = 1e9};
        const tacit__blt tuned = tacit__blt_tune(users, &once);
        const tacit__blt_coefficients c = quantized(&tuned, 17);
        const tacit__blt factors = tacit__blt_factors(&c);
        const double error =
            tacit__blt_column_norm(&c, &shape) * sqrt(tacit__blt_row(&c, &factors, users));
        assert_within(error / tacit__blt_error(&tuned, users, &once), 0.9999, 1.01);
        assert_true(error > before);
        before = error;
    }
}
