/* Bandit worlds: who comes, what actions earn, what is wrong with files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/world.h>

#include "linalg/kernel_function.h"
#include "support/check.h"
#include "support/world.h"

static tacit_rounds *rounds_of(const tacit_world *world, uint64_t seed)
{
    tacit_rounds *rounds;
    tacit_error err = {0};
    SCOPED(tacit_noise) *noise = simulated_noise(seed);
    assert_ok(tacit_rounds_create(world, noise, &rounds, &err));
    return rounds;
}

/* --- linear-bandit ------------------------------------------------------------------------------- */

TEST(chance_follows_from_root_and_round_alone)
{
    static const tacit_setting kinds[][2] = {{SET("contexts", "0"), SET("d", "3")},
                                             {SET("contexts", "40"), SET("d", "3")},
                                             {SET("contexts", "0"), SET("d", "60")}};
    for (size_t k = 0; k < N_OF(kinds); k++) {
        SCOPED(tacit_world) *world = world_of("linear-bandit", kinds[k], 2);
        size_t n_actions = tacit_world_describe(world)->n_actions;
        SCOPED(tacit_rounds) *a = rounds_of(world, 5), *b = rounds_of(world, 5);
        for (uint64_t t = 0; t < 300; t++) {
            uint64_t round = t * 7 % 300; /* in another order */
            tacit_visitor u, v;
            double r[2], means[16];
            assert_ok(tacit_rounds_begin(a, t, &u));
            (void)tacit_rounds_chance(a);
            assert_ok(tacit_rounds_begin(a, round, &u));
            assert_ok(tacit_rounds_begin(b, round, &v));
            assert_int_equal(u.state, v.state);
            memcpy(means, u.means, n_actions * sizeof *means);
            assert_memory_equal(means, v.means, n_actions * sizeof *means);
            assert_ok(tacit_rounds_reward(a, 3, &r[0]));
            assert_ok(tacit_rounds_reward(b, 3, &r[1]));
            assert_true(r[0] == r[1] && tacit_rounds_chance(a) == tacit_rounds_chance(b));
        }
        assert_status(tacit_rounds_reward(a, (uint32_t)n_actions, &(double){0}),
                      TACIT_BAD_ARGUMENT);
    }
}

/* The parameter that four actions of a context determine explains all the others. */
static void check_linear(const tacit_world_facts *f, tacit_rounds *rounds)
{
    double theta[4] = {0};
    for (uint64_t t = 0; t < 100; t++) {
        tacit_visitor v;
        assert_ok(tacit_rounds_begin(rounds, t, &v));
        const double *x = f->bandit->points + v.state * f->n_actions * 4;
        if (t == 0) {
            double m[4][5];
            for (size_t i = 0; i < 4; i++) {
                memcpy(m[i], x + 4 * i, sizeof *m - sizeof **m);
                m[i][4] = v.means[i] - 0.5;
            }
            for (size_t k = 0; k < 4; k++)
                for (size_t i = 0; i < 4; i++) {
                    double factor = i == k ? 0 : m[i][k] / m[k][k];
                    for (size_t j = 0; j < 5; j++)
                        m[i][j] -= factor * m[k][j];
                }
            for (size_t i = 0; i < 4; i++)
                theta[i] = m[i][4] / m[i][i];
        }
        for (size_t a = 0; a < f->n_actions; a++) {
            double mean = 0.5;
            for (size_t i = 0; i < 4; i++)
                mean += theta[i] * x[4 * a + i];
            assert_within(v.means[a] - mean, -1e-10, 1e-10);
        }
    }
}

/* Means are linear in what a learner sees, features are at most 1 long, and rewards average to the
 * means: 40000 rewards of variance at most 1/4, five standard deviations. */
TEST(means_are_linear_and_rewards_have_them)
{
    static const char *const noises[] = {"bernoulli", "0.2"};
    for (size_t k = 0; k < 2; k++) {
        const tacit_setting settings[] = {SET("contexts", "20"), SET("noise", noises[k]),
                                          SET("d", "4")};
        SCOPED(tacit_world) *world = world_of("linear-bandit", settings, N_OF(settings));
        const tacit_world_facts *f = tacit_world_describe(world);
        SCOPED(tacit_rounds) *rounds = rounds_of(world, 3);
        double excess = 0, low = 1, high = 0;
        for (uint64_t t = 0; t < 40000; t++) {
            tacit_visitor v;
            double reward;
            assert_ok(tacit_rounds_begin(rounds, t, &v));
            uint32_t a = (uint32_t)(t % f->n_actions);
            assert_ok(tacit_rounds_reward(rounds, a, &reward));
            excess += reward - v.means[a];
            low = fmin(low, reward);
            high = fmax(high, reward);
            const double *x = f->bandit->points + (v.state * f->n_actions + a) * 4;
            assert_true(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] <= 1);
        }
        assert_within(excess / sqrt(40000 * 0.25), -5, 5);
        assert_true(low >= 0 && high <= 1 && high - low > (k ? 0.3 : 0.999));
        check_linear(f, rounds);
        assert_within(f->optimal_value, 0.5, 1);
    }
}

TEST(phases_keep_features_near_one_axis)
{
    static const tacit_setting settings[] = {SET("phases", "10"), SET("contexts", "0"),
                                             SET("d", "4")};
    SCOPED(tacit_world) *world = world_of("linear-bandit", settings, N_OF(settings));
    SCOPED(tacit_rounds) *rounds = rounds_of(world, 3);
    for (uint64_t t = 0; t < 200; t++) {
        tacit_visitor v;
        size_t axis = t / 10 % 4;
        assert_ok(tacit_rounds_begin(rounds, t, &v));
        for (size_t i = 0; i < 4; i++)
            assert_within(v.features[i], i == axis ? -0.5 : -0.05, i == axis ? 0.5 : 0.05);
    }
    assert_true(isnan(tacit_world_describe(world)->optimal_value));
}

TEST(tabular_questions_are_refused)
{
    SCOPED(tacit_world) *world = world_of("kernel-bandit", NULL, 0);
    SCOPED(tacit_world) *river = world_of("riverswim", NULL, 0);
    tacit_error err = {0};
    tacit_walk *walk = NULL;
    tacit_rounds *rounds = NULL;
    uint32_t policy[64] = {0};
    double values[64], value;
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    assert_status(tacit_walk_create(world, noise, &walk, &err), TACIT_UNSUPPORTED);
    assert_status(tacit_rounds_create(river, noise, &rounds, &err), TACIT_UNSUPPORTED);
    assert_status(tacit_world_solve(world, policy, values, &err), TACIT_UNSUPPORTED);
    assert_status(tacit_world_evaluate(world, policy, values, &value), TACIT_UNSUPPORTED);
    assert_status(tacit_world_evaluate_mixed(world, values, values, &value), TACIT_UNSUPPORTED);
    assert_int_equal(tacit_world_unreachable(world, NULL), 0);
}

/* --- kernel-bandit ------------------------------------------------------------------------------- */

/* The function is in the span of its centers: its norm in the space of all pairs, f^T K^+ f, is what
 * was asked for. It is computed by conjugate gradients on K a = f. */
TEST(the_function_has_its_norm)
{
    static const tacit_setting settings[] = {SET("contexts", "6"), SET("actions", "7"),
                                             SET("kernel", "matern-0.5(0.3)"), SET("norm", "2"),
                                             SET("noise", "0.5")};
    enum { N = 42 };
    SCOPED(tacit_world) *world = world_of("kernel-bandit", settings, N_OF(settings));
    const tacit_world_facts *f = tacit_world_describe(world);
    tacit__kernel k;
    assert_ok(tacit__kernel_read("matern-0.5(0.3)", 2, 1, &k, NULL));
    assert_true(f->reward_low == -2.5 && f->reward_high == 2.5);
    double gram[N][N], mean[N], a[N] = {0}, r[N], p[N], norm = 0, rr = 0;
    SCOPED(tacit_rounds) *rounds = rounds_of(world, 3);
    bool met[6] = {false};
    for (uint64_t t = 0; t < 500; t++) {
        tacit_visitor v;
        assert_ok(tacit_rounds_begin(rounds, t, &v));
        met[v.state] = true;
        for (size_t i = 0; i < 7; i++)
            mean[v.state * 7 + i] = 5 * v.means[i] - 2.5;
    }
    for (size_t c = 0; c < 6; c++)
        assert_true(met[c]);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++)
            gram[i][j] =
                tacit__kernel_value(&k, f->bandit->points + 2 * i, f->bandit->points + 2 * j);
        r[i] = p[i] = mean[i];
        rr += r[i] * r[i];
    }
    for (int step = 0; step < 200 && rr > 1e-26; step++) {
        double kp[N] = {0}, pkp = 0, next = 0;
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < N; j++)
                kp[i] += gram[i][j] * p[j];
            pkp += p[i] * kp[i];
        }
        for (size_t i = 0; i < N; i++) {
            a[i] += rr / pkp * p[i];
            r[i] -= rr / pkp * kp[i];
            next += r[i] * r[i];
        }
        for (size_t i = 0; i < N; i++)
            p[i] = r[i] + next / rr * p[i];
        rr = next;
    }
    for (size_t i = 0; i < N; i++)
        norm += a[i] * mean[i];
    assert_close(sqrt(norm), 2, 1e-6);
    assert_close(f->bandit->parameter_norm, 2.0 / 5, 1e-12);
}

TEST(wrong_settings_are_told)
{
    const tacit_setting kernel = {"kernel", "rbf", 3}, noise = {"noise", "gauss", 4},
                        file = {"file", "nowhere.csv", 5}, arms = {"arms", "both", 6};
    refuse_world("kernel-bandit", &kernel, 1, TACIT_BAD_ARGUMENT,
                 "lake/test.yaml:3: kernel is 'rbf': the name is not known; expected for example "
                 "se(0.2), matern-2.5(0.2 0.5), linear, poly-2(1), or two of them with * or + for "
                 "context and action");
    refuse_world("kernel-bandit", &noise, 1, TACIT_BAD_ARGUMENT,
                 "lake/test.yaml:4: kernel-bandit: noise is 'gauss', expected bernoulli, or the "
                 "half-width of a uniform law: a number >= 0");
    refuse_world("kernel-bandit", &file, 1, TACIT_BAD_ARGUMENT,
                 "lake/test.yaml:5: cannot open 'nowhere.csv': No such file or directory; looked "
                 "beside this file and in the current directory");
    refuse_world("linear-bandit", &arms, 1, TACIT_BAD_ARGUMENT,
                 "lake/test.yaml:6: linear-bandit: arms is 'both', expected one of: shared, "
                 "disjoint");
}

/* --- logged-bandit ------------------------------------------------------------------------------- */

#define PEOPLE TACIT_TESTS_DIR "/cli/data/people.csv"
#define LOG TACIT_TESTS_DIR "/cli/data/log.csv"

TEST(people_come_once_each_in_another_order_in_each_run)
{
    static const tacit_setting settings[] = {SET("file", PEOPLE),
                                             SET("answer", "income {low | high}"),
                                             SET("context", "age 18..70 ?, sex {Male | ...}")};
    SCOPED(tacit_world) *world = world_of("logged-bandit", settings, N_OF(settings));
    const tacit_world_facts *f = tacit_world_describe(world);
    assert_int_equal(f->people, 11); /* one has no answer */
    assert_int_equal(f->n_actions, 2);
    assert_int_equal(f->bandit->dimension, 4);
    assert_true(f->labeled && f->bandit->complementary && f->optimal_value == 1);
    assert_non_null(strstr(f->remark, "1 people without an answer"));
    assert_null(strstr(f->remark, "NOT PRIVATE"));
    double last[11] = {0};
    int moved = 0;
    for (uint64_t seed = 0; seed < 2; seed++) {
        SCOPED(tacit_rounds) *rounds = rounds_of(world, seed);
        double ages = 0;
        size_t high = 0;
        for (uint64_t t = 0; t < 11; t++) {
            tacit_visitor v;
            double reward[2];
            assert_ok(tacit_rounds_begin(rounds, t, &v));
            double square = 0;
            for (size_t i = 0; i < 4; i++)
                square += v.features[i] * v.features[i];
            assert_close(square, 1, 1e-12);
            assert_ok(tacit_rounds_reward(rounds, 0, &reward[0]));
            assert_ok(tacit_rounds_reward(rounds, 1, &reward[1]));
            assert_true(reward[0] + reward[1] == 1);
            high += reward[1] == 1;
            double age = v.features[1] / v.features[0]; /* in [-1, 1] */
            ages += age;
            moved += seed == 1 && age != last[t];
            last[t] = age;
        }
        assert_int_equal(high, 6);
        /* all eleven but the one of unknown age, who counts as the middle */
        double wanted = 0;
        const double known[] = {25, 61, 44, 33, 52, 18, 70, 47, 38, 55};
        for (size_t i = 0; i < N_OF(known); i++)
            wanted += (known[i] - 44) / 26;
        assert_close(ages, wanted, 1e-12);
        assert_status(tacit_rounds_begin(rounds, 11, &(tacit_visitor){0}), TACIT_EXHAUSTED);
    }
    assert_true(moved > 4);
}

TEST(what_is_looked_up_is_told)
{
    static const tacit_setting settings[] = {SET("file", PEOPLE), SET("answer", "income"),
                                             SET("context", "age, city, dose 0..4 log ?"),
                                             SET("unit", "no")};
    SCOPED(tacit_world) *world = world_of("logged-bandit", settings, N_OF(settings));
    const tacit_world_facts *f = tacit_world_describe(world);
    assert_non_null(strstr(f->remark, "NOT PRIVATE: ranges or categories of age, city, income"));
    /* intercept, age and whether it is missing, three cities, dose and whether it is missing */
    assert_int_equal(f->bandit->dimension, 8);
}

TEST(a_log_knows_one_reward_a_person)
{
    static const tacit_setting settings[] = {SET("file", LOG),
                                             SET("action", "arm {a | b | c}"),
                                             SET("propensity", "chance"),
                                             SET("reward", "outcome -1..1"),
                                             SET("context", "age 20..70"),
                                             SET("order", "file")};
    SCOPED(tacit_world) *world = world_of("logged-bandit", settings, N_OF(settings));
    const tacit_world_facts *f = tacit_world_describe(world);
    assert_true(!f->labeled && isnan(f->optimal_value) && f->reward_low == -1);
    SCOPED(tacit_rounds) *rounds = rounds_of(world, 1);
    tacit_visitor v;
    double reward;
    assert_ok(tacit_rounds_begin(rounds, 2, &v));
    assert_null(v.means);
    assert_int_equal(v.logged_action, 0);
    assert_true(v.propensity == 0.5);
    assert_status(tacit_rounds_reward(rounds, 1, &reward), TACIT_UNSUPPORTED);
    assert_ok(tacit_rounds_reward(rounds, 0, &reward));
    assert_close(reward, 0.75, 1e-15);
}

TEST(declarations_that_do_not_fit_the_file_are_told)
{
    static const struct {
        const char *answer, *context, *message;
    } cases[] = {
        {"income {low | high}", "age 18..70",
         PEOPLE ":4: age is missing; if that may be, declare it as 'age 18..70 ?'"},
        {"income {low}", "sex",
         PEOPLE
         ":3: income is 'high', which is not a declared category; declare it, or '...' for all "
         "others"},
        {"income {low | high}", "sex {Male}",
         PEOPLE
         ":3: sex is 'Female', which is not a declared category; declare it, or '...' for all "
         "others"},
        {"income {low | high}", "sex 0..1", PEOPLE ":2: sex is 'Male', expected a number"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit_setting settings[] = {
            {"file", PEOPLE, 3}, {"answer", cases[i].answer, 4}, {"context", cases[i].context, 5}};
        refuse_world("logged-bandit", settings, 3, TACIT_OUT_OF_BOUND, cases[i].message);
    }
    static const struct {
        const char *context, *what;
    } wrong[] = {{"age 70..18", "'age 70..18' is not understood"},
                 {"sex {Male", "'sex {Male' has no closing brace"},
                 {"sex {Male | }", "'sex {Male | }' has an empty category"},
                 {"sex {Male | Male}", "'sex {Male | Male}' has a category twice"},
                 {"age 1..2 maybe", "'age 1..2 maybe' is not understood"},
                 {"sex, sex", "'sex' is declared twice"},
                 {",", "'' has no column's name"}};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        const tacit_setting settings[] = {
            {"file", PEOPLE, 3}, {"answer", "income", 4}, {"context", wrong[i].context, 5}};
        const char *message =
            fmt("lake/test.yaml:5: context: %s; expected for example 'age 17..90', 'sex "
                "{Male | Female}', or 'race {White | Black | ...}', with commas between "
                "columns",
                wrong[i].what);
        refuse_world("logged-bandit", settings, 3, TACIT_BAD_ARGUMENT, message);
    }
    const tacit_setting nothing[] = {{"file", PEOPLE, 3}, {"context", "sex", 5}};
    refuse_world(
        "logged-bandit", nothing, 2, TACIT_BAD_ARGUMENT,
        "lake/test.yaml:2: logged-bandit needs either an answer, or action, propensity and "
        "reward");
    const tacit_setting absent[] = {
        {"file", PEOPLE, 3}, {"answer", "income", 4}, {"context", "weight 1..9", 5}};
    refuse_world("logged-bandit", absent, 3, TACIT_BAD_ARGUMENT,
                 "lake/test.yaml:5: context: " PEOPLE
                 " has no column 'weight'; there are age, sex, city, dose, income");
}
