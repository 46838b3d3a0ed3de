/* Fresh releases: what is declared, what is refused, the noise, and saved states. */
#include "sums/fresh_releases.h"

#include <math.h>
#include <string.h>

#include "support/check.h"

enum { N = 3000, RELEASES = 4, BITS = 10 };

typedef struct rig {
    tacit_release line;
    tacit_plan *plan;
    tacit_noise *noise;
    tacit_ledger *ledger;
    tacit__fresh_releases *once;
} rig;

static tacit__fresh_spec spec_of(tacit_law law)
{
    return (tacit__fresh_spec){.law = law,
                               .dimension = N,
                               .releases = RELEASES,
                               .bits = BITS,
                               .l1 = 3,
                               .l2 = 2,
                               .reason = "a test"};
}

static void open_rig(rig *r, tacit_law law, double scale)
{
    tacit__fresh_spec spec = spec_of(law);
    *r = (rig){0};
    assert_ok(tacit__fresh_declare(&spec, "fresh", &r->line, NULL));
    assert_ok(tacit_plan_create(&r->plan));
    assert_ok(tacit_plan_declare(r->plan, &r->line, NULL));
    assert_ok(tacit_plan_set_scale(r->plan, "fresh", law, scale, NULL));
    assert_ok(tacit_noise_create_simulated(5, &r->noise));
    assert_ok(tacit_ledger_create(r->plan, r->noise, &r->ledger, NULL));
    assert_ok(tacit__fresh_create(&spec, r->ledger, "fresh", &r->once, NULL));
}

static void close_rig(rig *r)
{
    tacit__fresh_destroy(r->once);
    tacit_ledger_destroy(r->ledger);
    tacit_noise_destroy(r->noise);
    tacit_plan_destroy(r->plan);
}

TEST(what_is_declared_adds_up_over_releases)
{
    rig r;
    open_rig(&r, TACIT_LAW_GAUSSIAN, 7);
    assert_int_equal(r.line.steps, RELEASES);
    assert_true(r.line.column_l1 == RELEASES);
    assert_within(r.line.column_l2, sqrt(RELEASES), sqrt(RELEASES) * (1 + 1e-15));
    tacit_composition real;
    assert_ok(tacit_plan_account(r.plan, 1e-5, &real, NULL));
    assert_close(real.mu, 2 * sqrt(RELEASES) / 7, 1e-9);
    close_rig(&r);
    open_rig(&r, TACIT_LAW_LAPLACE, 30);
    assert_ok(tacit_plan_account(r.plan, 0, &real, NULL));
    assert_close(real.epsilon.high, 3.0 * RELEASES / 30, 1e-9);
    close_rig(&r);
}

/* A place is in all later releases, with less and less of it. */
TEST(shares_of_earlier_releases_add_up)
{
    for (uint64_t n = 1; n <= 60; n += 7) {
        tacit__fresh_spec spec = spec_of(TACIT_LAW_GAUSSIAN);
        tacit_release line = {0};
        double sum = 0, square = 0;
        for (uint64_t i = 0; i < n; i++) {
            sum += pow(0.75, (double)i);
            square += pow(0.75, 2 * (double)i);
        }
        spec.releases = n;
        spec.disjoint = true;
        spec.fade = 0.75;
        assert_ok(tacit__fresh_declare(&spec, "fading", &line, NULL));
        assert_within(line.column_l1, sum, sum * (1 + 1e-11));
        assert_within(line.column_l2, sqrt(square), sqrt(square) * (1 + 1e-11));
        spec.fade = 0;
        assert_ok(tacit__fresh_declare(&spec, "parallel", &line, NULL));
        assert_true(line.column_l1 == 1 && line.column_l2 == 1);
    }
}

/* Means and variances over 12,000 draws; six standard errors (Laplace: kurtosis 6). */
TEST(noise_is_fresh_and_as_large_as_declared)
{
    for (int law = TACIT_LAW_GAUSSIAN; law <= TACIT_LAW_LAPLACE; law++) {
        rig r;
        static int64_t exact[N];
        static double first[N], noisy[N];
        double sum = 0, square = 0, product = 0, n = RELEASES * N;
        open_rig(&r, (tacit_law)law, 7);
        for (size_t i = 0; i < N; i++)
            exact[i] = (int64_t)(i << BITS); /* the value i */
        for (int k = 0; k < RELEASES; k++) {
            assert_int_equal(tacit__fresh_count(r.once), k);
            assert_ok(tacit__fresh_release(r.once, exact, noisy, NULL));
            for (size_t i = 0; i < N; i++) {
                double z = noisy[i] - (double)i;
                sum += z;
                square += z * z;
                product += k > 0 ? z * first[i] : 0;
                first[i] = k == 0 ? z : first[i];
            }
        }
        double s = tacit__fresh_stddev(r.once);
        assert_close(s, law == TACIT_LAW_GAUSSIAN ? 7 : 7 * sqrt(2), 1e-12);
        assert_within(sum / n, -6 * s / sqrt(n), 6 * s / sqrt(n));
        assert_within(square / n / (s * s), 1 - 6 * sqrt(5 / n), 1 + 6 * sqrt(5 / n));
        assert_within(product / n / (s * s), -6 / sqrt(n), 6 / sqrt(n));
        tacit_error err;
        assert_status(tacit__fresh_release(r.once, exact, noisy, &err), TACIT_EXHAUSTED);
        close_rig(&r);
    }
}

/* Answers: fresh for other data, the same for the same, and true as often as declared. Six standard errors. */
TEST(answers_are_fresh_and_true_as_often_as_declared)
{
    enum { ANSWERS = 50 };
    const double epsilon = 3, p = exp(epsilon) / (exp(epsilon) + ANSWERS - 1);
    static int64_t exact[3][N];
    static double given[3][2][N];
    for (int life = 0; life < 3; life++) {
        tacit__fresh_spec spec = {.law = TACIT_LAW_RESPONSE,
                                  .dimension = N,
                                  .releases = 2,
                                  .answers = ANSWERS,
                                  .largest = ANSWERS,
                                  .l1 = N,
                                  .disjoint = true,
                                  .reason = "a test"};
        rig r = {.noise = simulated_noise(5)};
        tacit_composition real;
        assert_ok(tacit__fresh_declare(&spec, "fresh", &r.line, NULL));
        assert_ok(tacit_plan_create(&r.plan));
        assert_ok(tacit_plan_declare(r.plan, &r.line, NULL));
        assert_ok(tacit_plan_calibrate(r.plan, (tacit_guarantee){TACIT_MODEL_LOCAL, N * epsilon, 0},
                                       NULL));
        assert_true(tacit_plan_law(r.plan) == TACIT_LAW_RESPONSE);
        assert_ok(tacit_plan_account(r.plan, 0, &real, NULL));
        assert_within(real.epsilon.high, N * epsilon * (1 - 1e-9), N * epsilon);
        assert_ok(tacit_ledger_create(r.plan, r.noise, &r.ledger, NULL));
        assert_ok(tacit__fresh_create(&spec, r.ledger, "fresh", &r.once, NULL));
        for (size_t i = 0; i < N; i++)
            exact[life][i] = (int64_t)(i % ANSWERS);
        exact[life][N - 1] = life == 1; /* another user in one answer of one life */
        for (int k = 0; k < 2; k++)
            assert_ok(tacit__fresh_release(r.once, exact[life], given[life][k], NULL));
        close_rig(&r);
    }
    assert_memory_equal(given[0], given[2], sizeof given[0]);
    double truth = 0, same = 0, again = 0;
    for (size_t i = 0; i < N; i++) {
        truth += given[0][0][i] == (double)exact[0][i];
        same += given[0][0][i] == given[1][0][i];
        again += given[0][1][i] == given[0][0][i];
    }
    const double alike = p * p + (1 - p) * (1 - p) / (ANSWERS - 1);
    assert_within(truth / N, p - 6 * sqrt(p * (1 - p) / N), p + 6 * sqrt(p * (1 - p) / N));
    assert_within(same / N, alike - 3 / sqrt(N), alike + 3 / sqrt(N));
    assert_within(again / N, alike - 3 / sqrt(N), alike + 3 / sqrt(N));
}

TEST(what_the_plan_does_not_cover_is_refused)
{
    rig r;
    tacit_error err;
    open_rig(&r, TACIT_LAW_GAUSSIAN, 7);
    tacit__fresh_releases *other = NULL;
    tacit__fresh_spec spec = spec_of(TACIT_LAW_GAUSSIAN);
    assert_status(tacit__fresh_create(&spec, r.ledger, "fresh", &other, &err),
                  TACIT_RELEASED_TWICE);
    assert_status(tacit__fresh_create(&spec, r.ledger, "stale", &other, &err), TACIT_UNDECLARED);
    spec.l2 = 2.1;
    assert_status(tacit__fresh_create(&spec, r.ledger, "fresh", &other, &err), TACIT_BAD_PLAN);
    spec = spec_of(TACIT_LAW_GAUSSIAN);
    spec.releases++;
    assert_status(tacit__fresh_create(&spec, r.ledger, "fresh", &other, &err), TACIT_BAD_PLAN);
    spec = spec_of(TACIT_LAW_LAPLACE);
    assert_status(tacit__fresh_create(&spec, r.ledger, "fresh", &other, &err), TACIT_BAD_PLAN);
    spec = spec_of(TACIT_LAW_GAUSSIAN);
    spec.releases = 0;
    assert_status(tacit__fresh_declare(&spec, "fresh", &r.line, &err), TACIT_BAD_COUNT);
    assert_null(other);
    close_rig(&r);
}

static size_t save(tacit__fresh_releases *once, uint8_t *bytes, size_t room)
{
    size_t size = room;
    tacit__saved s = tacit__saved_save(bytes, &size, NULL);
    while (tacit__saved_next(&s))
        tacit__fresh_fields(once, &s);
    assert_ok(s.status);
    return size;
}

static tacit_status load(tacit__fresh_releases *once, const uint8_t *bytes, size_t size)
{
    tacit__saved s = tacit__saved_load(bytes, size, NULL);
    while (tacit__saved_next(&s))
        tacit__fresh_fields(once, &s);
    return s.status;
}

TEST(a_saved_state_goes_on_with_unused_noise)
{
    rig a, b;
    static int64_t exact[N];
    static double x[N], y[N];
    uint8_t bytes[256];
    open_rig(&a, TACIT_LAW_GAUSSIAN, 7);
    open_rig(&b, TACIT_LAW_GAUSSIAN, 7);
    assert_ok(tacit__fresh_release(a.once, exact, x, NULL));
    const size_t size = save(a.once, bytes, sizeof bytes);
    assert_ok(load(b.once, bytes, size));
    assert_int_equal(tacit__fresh_count(b.once), 1);
    assert_ok(tacit__fresh_release(a.once, exact, x, NULL));
    assert_ok(tacit__fresh_release(b.once, exact, y, NULL));
    assert_memory_equal(x, y, sizeof x);
    assert_status(load(b.once, bytes, size), TACIT_BAD_ARGUMENT);
    close_rig(&b);
    open_rig(&b, TACIT_LAW_GAUSSIAN, 8);
    assert_status(load(b.once, bytes, size), TACIT_WRONG_PLAN);
    bytes[0] ^= 1;
    assert_status(load(b.once, bytes, size), TACIT_CORRUPT);
    assert_int_equal(tacit__fresh_count(b.once), 0);
    close_rig(&a);
    close_rig(&b);
}

/* The number of releases that were made comes last. One beyond the declared number would never meet its end. */
TEST(a_saved_state_has_no_more_releases_than_declared)
{
    rig a, b;
    static int64_t exact[N];
    static double x[N];
    uint8_t bytes[256];
    open_rig(&a, TACIT_LAW_GAUSSIAN, 7);
    open_rig(&b, TACIT_LAW_GAUSSIAN, 7);
    for (int i = 0; i < RELEASES; i++)
        assert_ok(tacit__fresh_release(a.once, exact, x, NULL));
    const size_t size = save(a.once, bytes, sizeof bytes);
    uint64_t passed;
    uint8_t *last = bytes + size - sizeof passed;
    memcpy(&passed, last, sizeof passed);
    assert_int_equal(passed, RELEASES);
    passed++;
    memcpy(last, &passed, sizeof passed);
    assert_status(load(b.once, bytes, size), TACIT_CORRUPT);
    passed--;
    memcpy(last, &passed, sizeof passed);
    assert_ok(load(b.once, bytes, size));
    assert_status(tacit__fresh_release(b.once, exact, x, NULL), TACIT_EXHAUSTED);
    close_rig(&a);
    close_rig(&b);
}
