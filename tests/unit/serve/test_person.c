/* What one person pays for everything that a service does, beside closed forms and integrals that share
 * nothing with the accountant. */
#include <math.h>
#include <string.h>

#include "serve/people/person.h"
#include "support/check.h"
#include "support/random.h"
#include "text/json_text.h"

static const tacit_guarantee nothing = {.model = TACIT_MODEL_NONE};

static tacit_guarantee joint(double epsilon, double delta)
{
    return (tacit_guarantee){TACIT_MODEL_JOINT, epsilon, delta};
}

static tacit_guarantee local(double epsilon, double delta)
{
    return (tacit_guarantee){TACIT_MODEL_LOCAL, epsilon, delta};
}

/* A plan of two lines, numbers or answers. */
static tacit_plan *make_plan(tacit_guarantee g, uint64_t answers)
{
    tacit_plan *plan;
    tacit_release r = {.name = "first",
                       .dimension = 3,
                       .steps = 10,
                       .l1 = 2,
                       .l2 = 1.5,
                       .column_l1 = 4,
                       .column_l2 = 2,
                       .answers = answers};
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &r, NULL));
    if (answers == 0) {
        r.name = "second";
        r.l1 = 7;
        assert_ok(tacit_plan_declare(plan, &r, NULL));
    }
    assert_ok(tacit_plan_calibrate(plan, g, NULL));
    return plan;
}

static tacit__share make_share(tacit_guarantee learner, uint64_t answers, tacit_guarantee monitor)
{
    tacit__share share;
    tacit_plan *plan = learner.model != TACIT_MODEL_NONE ? make_plan(learner, answers) : NULL;
    tacit_plan *other = monitor.model != TACIT_MODEL_NONE ? make_plan(monitor, 0) : NULL;
    assert_ok(tacit__share_create(&learner, plan, &monitor, other, &share, NULL));
    tacit_plan_destroy(plan);
    tacit_plan_destroy(other);
    return share;
}

static tacit_service_person account(const tacit__share *shares, size_t n, bool separate,
                                    tacit_guarantee budget, uint64_t lives)
{
    tacit_service_person p = {.separate = separate, .budget = budget};
    assert_ok(tacit__person_account(shares, n, lives, &p, NULL));
    return p;
}

static void destroy(tacit__share *shares, size_t n)
{
    for (size_t i = 0; i < n; i++)
        tacit__share_destroy(&shares[i]);
}

/* What follows computes in long double on purpose, from doubles. */
#pragma GCC diagnostic ignored "-Wdouble-promotion"

/* --- Profiles, by their definitions
 * ---------------------------------------------------------------------------------- */

static long double phi(long double x)
{
    return erfcl(-x / sqrtl(2)) / 2;
}

/* Gaussian noise at any real epsilon. */
static long double gaussian_delta(long double mu, long double epsilon)
{
    return phi(mu / 2 - epsilon / mu) - expl(epsilon) * phi(-mu / 2 - epsilon / mu);
}

/* mu by bisection, without the accountant. */
static long double mu_of(double epsilon, double delta)
{
    long double low = 0, high = 100;
    for (int i = 0; i < 200; i++)
        *(gaussian_delta((low + high) / 2, epsilon) > delta ? &high : &low) = (low + high) / 2;
    return low;
}

/* Laplace noise that moves by a: no loss above a, none below -a. */
static long double laplace_delta(long double a, long double epsilon)
{
    return epsilon >= a ? 0 : epsilon <= -a ? 1 - expl(epsilon) : 1 - expl((epsilon - a) / 2);
}

typedef long double profile(long double size, long double epsilon);

/* The profile of `other` beside Laplace noise: the mean over the loss of the latter, which is a with
 * probability 1/2, -a with exp(-a)/2, and has the density exp(-(a - l)/2)/4 between. Simpson's rule. */
static long double beside_laplace(profile *other, long double size, long double a,
                                  long double epsilon)
{
    enum { N = 4000 };
    long double sum = 0;
    for (int i = 0; i <= N; i++) {
        const long double l = -a + 2 * a * i / N, weight = i == 0 || i == N ? 1
                                                           : i % 2 == 1     ? 4
                                                                            : 2;
        sum += weight * expl(-(a - l) / 2) / 4 * other(size, epsilon - l);
    }
    return sum * (2 * a / N) / 3 + other(size, epsilon - a) / 2 +
           expl(-a) / 2 * other(size, epsilon + a);
}

/* Beside randomized response: the loss is e with probability 1/(1 + exp(-e)), else -e. */
static long double beside_response(profile *other, long double size, long double e,
                                   long double epsilon)
{
    const long double yes = 1 / (1 + expl(-e));
    return yes * other(size, epsilon - e) + (1 - yes) * other(size, epsilon + e);
}

/* An epsilon is right if the profile is at most delta there, and more than delta a little below. */
#define ASSERT_RIGHT(value, delta, tol, profile_at)                                                \
    do {                                                                                           \
        const double right_value = (value);                                                        \
        long double x = right_value;                                                               \
        assert_true((profile_at) <= (delta) * (1 + 1e-9L));                                        \
        x = right_value * (1 - (tol));                                                             \
        assert_true((profile_at) > (delta));                                                       \
    } while (0)

/* --- Composition
 * ------------------------------------------------------------------------------------------------------ */

TEST(squares_of_gaussian_learners_add_up)
{
    tacit__share s[] = {make_share(joint(1, 1e-6), 0, nothing),
                        make_share(joint(0.5, 2e-6), 0, nothing)};
    const tacit_service_person p = account(s, 2, false, nothing, 1);
    const long double mu = hypotl(mu_of(1, 1e-6), mu_of(0.5, 2e-6));
    assert_true(p.all.model == TACIT_MODEL_JOINT && p.all.delta == 3e-6 && p.joint == 2);
    ASSERT_RIGHT(p.all.epsilon, p.all.delta, 1e-9, gaussian_delta(mu, x));
    destroy(s, 2);
}

TEST(a_monitor_is_paid_beside_its_learner)
{
    tacit__share s = make_share(joint(1, 1e-6), 0, joint(0.1, 1e-6));
    const tacit_service_person p = account(&s, 1, false, nothing, 1);
    const long double mu = hypotl(mu_of(1, 1e-6), mu_of(0.1, 1e-6));
    tacit_guarantee both;
    ASSERT_RIGHT(p.all.epsilon, 2e-6, 1e-9, gaussian_delta(mu, x));
    assert_ok(tacit__share_account(&s, 1, &both, NULL));
    assert_true(both.epsilon == p.all.epsilon && both.delta == 2e-6);
    assert_true(both.epsilon > 0.970 && both.epsilon < 0.9703); /* and not 1.1 */
    destroy(&s, 1);
}

TEST(gaussian_and_laplace_learners_are_convolved)
{
    const double sizes[][2] = {{1, 1}, {0.3, 2}, {2, 0.4}};
    for (size_t i = 0; i < 3; i++) {
        const double g = sizes[i][0], l = sizes[i][1];
        /* one line, so that the whole of l is one coordinate */
        tacit_cost laplace = {.kind = TACIT_COST_LAPLACE, .sensitivity = l, .scale = 1, .count = 1};
        tacit__share s[] = {
            make_share(joint(g, 1e-5), 0, nothing),
            {.model = TACIT_MODEL_JOINT, .epsilon = l, .costs = &laplace, .n_costs = 1}};
        const tacit_service_person p = account(s, 2, false, nothing, 1);
        assert_true(p.all.delta == 1e-5 && p.all.epsilon < g + l);
        ASSERT_RIGHT(p.all.epsilon, 1e-5, 1e-5,
                     beside_laplace(gaussian_delta, mu_of(g, 1e-5), l, x));
        destroy(s, 1);
    }
}

TEST(gaussian_and_randomized_answers_are_convolved)
{
    tacit__share s[] = {make_share(joint(1, 1e-5), 0, nothing),
                        make_share(local(1.5, 0), 5, nothing)};
    const tacit_service_person p = account(s, 2, false, nothing, 1);
    ASSERT_RIGHT(p.all.epsilon, 1e-5, 1e-5,
                 beside_response(gaussian_delta, mu_of(1, 1e-5), 1.5, x));
    destroy(s, 2);
}

TEST(pure_learners_add_up_and_stay_pure)
{
    tacit__share s[] = {make_share(joint(1, 0), 0, joint(0.25, 0)),
                        make_share(local(0.5, 0), 4, nothing)};
    const tacit_service_person p = account(s, 2, false, nothing, 1);
    assert_true(p.all.delta == 0);
    assert_true(fabs(p.all.epsilon - 1.75) < 1e-12);
    destroy(s, 2);
}

/* Laplace noise on a vector is charged as if one coordinate moved by all of it:
 * docs/why/person.md#laplace-noise-on-a-vector. */
TEST(one_coordinate_is_the_worst_vector_with_laplace_noise)
{
    double closest = 1;
    uint64_t seed = 7;
    for (int i = 0; i < 200; i++) {
        const double a = 4 * random_unit(&seed), b = 4 * random_unit(&seed),
                     epsilon = (a + b) * random_unit(&seed);
        const long double two = beside_laplace(laplace_delta, b, a, epsilon),
                          one = laplace_delta(a + b, epsilon);
        assert_true(two <= one + 1e-6L);
        closest = fmin(closest, (double)(one - two));
    }
    assert_true(closest < 1e-3); /* the bound is reached as one of them goes to 0 */
}

TEST(the_sum_is_never_more_than_what_is_added)
{
    uint64_t seed = 3;
    for (int i = 0; i < 12; i++) {
        tacit__share s[4];
        double epsilon = 0, delta = 0;
        for (size_t j = 0; j < 4; j++) {
            const double e = 0.05 + 2 * random_unit(&seed),
                         d = random_unit(&seed) < 0.3 ? 0 : 1e-5 * random_unit(&seed);
            const bool answers = random_unit(&seed) < 0.3;
            s[j] = make_share(answers ? local(e, d) : joint(e, d), answers ? 3 : 0, nothing);
            epsilon += e;
            delta += d;
        }
        const tacit_service_person p = account(s, 4, false, nothing, 1);
        assert_true(fabs(p.all.delta - delta) <= 1e-11 * delta);
        assert_true(p.all.epsilon <= epsilon * (1 + 1e-9));
        destroy(s, 4);
    }
}

/* --- Who sees what
 * -------------------------------------------------------------------------------------------------------- */

TEST(devices_are_told_apart_from_what_the_service_sees)
{
    tacit__share s[] = {make_share(joint(1, 1e-6), 0, nothing),
                        make_share(local(1, 1e-6), 0, local(0.5, 2e-6))};
    tacit_service_person p = account(s, 2, false, nothing, 1);
    const long double of_devices = hypotl(mu_of(1, 1e-6), mu_of(0.5, 2e-6));
    assert_true(p.all.model == TACIT_MODEL_JOINT && p.devices.model == TACIT_MODEL_LOCAL);
    assert_true(p.joint == 1 && p.local == 1 && p.exact == 0);
    ASSERT_RIGHT(p.devices.epsilon, 3e-6, 1e-9, gaussian_delta(of_devices, x));
    ASSERT_RIGHT(p.all.epsilon, 4e-6, 1e-9, gaussian_delta(hypotl(of_devices, mu_of(1, 1e-6)), x));
    p = account(s + 1, 1, false, nothing, 1);
    assert_true(p.all.model == TACIT_MODEL_LOCAL && p.all.epsilon == p.devices.epsilon);
    destroy(s, 2);
}

TEST(lives_are_paid_for_by_the_service_and_not_by_devices)
{
    tacit__share s[] = {make_share(joint(1, 1e-6), 0, nothing),
                        make_share(local(1, 1e-6), 0, nothing)};
    const tacit_service_person p = account(s, 2, false, nothing, 3);
    const long double one = mu_of(1, 1e-6);
    ASSERT_RIGHT(p.all.epsilon, 2e-6, 1e-9, gaussian_delta(sqrtl(3 * one * one + one * one), x));
    ASSERT_RIGHT(p.devices.epsilon, 1e-6, 1e-9, gaussian_delta(one, x));
    destroy(s, 2);
}

TEST(separate_people_pay_for_the_largest)
{
    tacit__share s[] = {make_share(joint(1, 1e-6), 0, joint(0.2, 1e-6)),
                        make_share(joint(0.9, 5e-6), 0, nothing)};
    const tacit_service_person p = account(s, 2, true, nothing, 1);
    const long double mu = fmaxl(hypotl(mu_of(1, 1e-6), mu_of(0.2, 1e-6)), mu_of(0.9, 5e-6));
    assert_true(p.all.delta == 5e-6);
    ASSERT_RIGHT(p.all.epsilon, 5e-6, 1e-9, gaussian_delta(mu, x));
    destroy(s, 2);
}

TEST(exact_data_leave_a_person_without_a_guarantee)
{
    tacit__share s[] = {make_share(joint(1, 1e-6), 0, nothing),
                        make_share(nothing, 0, joint(0.1, 1e-6))};
    tacit_service_person p = account(s, 2, false, joint(100, 0.1), 1);
    assert_true(p.exact == 1 && s[1].n_costs == 0 && !tacit__person_fits(&p));
    p = account(s, 1, false, joint(100, 0.1), 1);
    assert_true(p.exact == 0 && tacit__person_fits(&p));
    p = account(s + 1, 1, false, nothing, 1);
    assert_true(p.all.model == TACIT_MODEL_NONE &&
                tacit__person_fits(&p)); /* no budget, nothing to fit into */
    destroy(s, 2);
}

/* --- Budgets
 * ---------------------------------------------------------------------------------------------------------------
 */

TEST(a_sum_is_held_against_the_budget_at_its_delta)
{
    tacit__share s[] = {make_share(joint(1, 1e-6), 0, nothing),
                        make_share(joint(1, 1e-6), 0, nothing)};
    const long double mu = hypotl(mu_of(1, 1e-6), mu_of(1, 1e-6));
    tacit_service_person p = account(s, 2, false, joint(2, 1e-8), 1);
    assert_true(p.all.delta == 1e-8);
    ASSERT_RIGHT(p.all.epsilon, 1e-8, 1e-9, gaussian_delta(mu, x));
    const double needed = p.all.epsilon;
    assert_true(tacit__person_fits(&p));
    p = account(s, 2, false, joint(needed, 1e-8), 1);
    assert_true(tacit__person_fits(&p));
    p = account(s, 2, false, joint(nextafter(needed, 0), 1e-8), 1);
    assert_false(tacit__person_fits(&p));
    p = account(s, 2, false, joint(1000, 0), 1); /* no noise of Gauss is pure */
    assert_true(isinf(p.all.epsilon) && !tacit__person_fits(&p));
    p = account(s, 1, false, joint(1, 1e-6), 1); /* its own guarantee fits a learner */
    assert_true(tacit__person_fits(&p));
    destroy(s, 2);
}

TEST(a_learner_alone_costs_what_it_declares)
{
    tacit__share s = make_share(joint(1, 1e-6), 0, nothing);
    tacit_guarantee both;
    assert_ok(tacit__share_account(&s, 1, &both, NULL));
    assert_true(both.epsilon == 1 && both.delta == 1e-6 && both.model == TACIT_MODEL_JOINT);
    assert_ok(tacit__share_account(&s, 2, &both, NULL));
    ASSERT_RIGHT(both.epsilon, 1e-6, 1e-9, gaussian_delta(mu_of(1, 1e-6) * sqrtl(2), x));
    destroy(&s, 1);
}

TEST(a_promise_without_a_plan_is_refused)
{
    tacit__share s;
    const tacit_guarantee g = joint(1, 1e-6);
    assert_int_equal(tacit__share_create(&g, NULL, &nothing, NULL, &s, NULL), TACIT_BAD_PLAN);
}

/* --- Words
 * ------------------------------------------------------------------------------------------------------------------
 */

static void assert_says(const tacit_service_person *p, const char *unknown, const char *headline,
                        const char *also)
{
    tacit__text words = {0};
    tacit__person_words(p, unknown, &words);
    assert_memory_equal(words.data, headline, strlen(headline));
    assert_true(words.data[strlen(headline)] == '\n' || words.data[strlen(headline)] == '\0');
    assert_non_null(strstr(words.data, also));
    tacit__text_destroy(&words);
}

TEST(the_first_line_says_what_one_person_pays)
{
    tacit_service_person p = {
        .all = joint(3.10001, 7e-6), .devices = local(1, 1e-6), .joint = 2, .local = 1};
    assert_says(&p, NULL, "for one person: epsilon 3.101, delta 7e-06",
                "raw data in 2 of the learners");
    p.local = 0;
    assert_says(&p, NULL, "for one person: epsilon 3.101, delta 7e-06", "which sees raw data.");
    p.separate = true;
    assert_says(&p, NULL,
                "for one person: epsilon 3.101, delta 7e-06, if no person is in two learners",
                "cannot check");
    p.exact = 1;
    assert_says(
        &p, NULL,
        "for one person: no guarantee, because 1 of 3 learners works on exact data (model none)",
        "pays epsilon 3.101");
    assert_says(&p, "of this", "for one person: no guarantee, because of this",
                "pays epsilon 3.101");
    p = (tacit_service_person){.exact = 2};
    assert_says(&p, NULL,
                "for one person: no guarantee, because everything works on exact data (model none)",
                "exact");
    p = (tacit_service_person){.all = local(1, 0), .local = 1, .budget = joint(2, 0)};
    assert_says(&p, NULL, "for one person: epsilon 1, delta 0", "the service included");
    assert_says(&p, NULL, "for one person: epsilon 1, delta 0",
                "budget for one person is epsilon 2, delta 0");
}

TEST(what_is_shown_is_never_less)
{
    char out[32];
    uint64_t seed = 5;
    for (int i = 0; i < 100000; i++) {
        const double x = pow(10, 16 * random_unit(&seed) - 10),
                     y = i % 2 == 0 ? x : nextafter(pow(10, i % 12 - 8), 1);
        const double shown = strtod(tacit__round_up(out, 4, y), NULL);
        assert_true(shown >= y && shown <= y * (1 + 1.1e-3));
    }
    assert_string_equal(tacit__round_up(out, 4, 0), "0");
    assert_string_equal(tacit__round_up(out, 4, 1 - 1e-13), "1");
    assert_string_equal(tacit__round_up(out, 4, 1 + 1e-13), "1.001");
    assert_string_equal(tacit__round_up(out, 4, 2e-6), "2e-06");
    assert_string_equal(tacit__round_up(out, 4, HUGE_VAL), "infinite");
    assert_true(tacit__short_real(0.1 + 0.2) == 0.3 && tacit__short_real(1e-300 / 3) <= 1e-300);
}
