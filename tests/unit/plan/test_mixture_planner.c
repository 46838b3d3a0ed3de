/* Plans of posterior-mixture against a plain version of their formula, who acts by which plan, and that it learns: with every
 * guarantee it beats the best constant action on the lock by far. */
#include "plan/posterior/mixture_planner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "base/memory.h"
#include "support/check.h"
#include "support/score_planners.h"

static tacit_status create(const planner_case *x, const tacit__batch_plans_options *batches,
                           tacit__score_planner **out)
{
    return tacit__mixture_planner_create(x->model, x->facts->stationary, x->facts->rewards, batches,
                                         out);
}

static const tacit_setting hidden = SET("rewards", "hidden");

static planner_case open_planner(const char *kind, bool hides)
{
    planner_case x = planner_open(kind, &hidden, hides ? 1 : 0);
    tacit__mixture_model *model = NULL;
    const tacit__batch_plans_options batches = planner_batches(&x, 1);
    assert_ok(tacit__mixture_model_create(x.facts->mixture, x.S, x.A, 1000,
                                          x.facts->rewards == NULL, &model, NULL));
    x.model = model;
    x.numbers = (x.H - 1) * model->width + (hides ? x.H * x.S * x.A : 0);
    assert_ok(create(&x, &batches, &x.planner));
    return x;
}

/* --- Plans ----------------------------------------------------------------------------------------- */

/* u' M^-1 u with u = B' x and M = L L'. */
static double plain_square(const tacit__mixture_model *m, const double *factor, const double *x)
{
    const size_t d = m->parts, w = m->width;
    double u[PLANNER_MOST], square = 0;
    for (size_t i = 0; i < w; i++) {
        u[i] = 0;
        for (size_t j = 0; j < d; j++)
            u[i] += m->basis[i * d + j] * x[j];
        for (size_t k = 0; k < i; k++)
            u[i] -= factor[k * w + i] * u[k];
        u[i] /= factor[i * (w + 1)];
        square += u[i] * u[i];
    }
    return square;
}

/* The most of w.x over low <= w <= high with sum w = 1 is the least of its dual, t + sum_j max(low_j (x_j - t), high_j (x_j - t)),
 * which lies at a corner: t is one of the x. */
static double plain_most(size_t d, const double *low, const double *high, const double *x)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < d; i++) {
        double dual = x[i];
        for (size_t j = 0; j < d; j++)
            dual += fmax(low[j] * (x[j] - x[i]), high[j] * (x[j] - x[i]));
        least = fmin(least, dual);
    }
    return least;
}

/* r + min(m.x + xi |B' x|, most w.x) from the world's own features. */
static double plain_q(const planner_case *x, size_t h, size_t pair, double xi, const double *after)
{
    const tacit__mixture_belief *p = tacit__mixture_planner_weights(x->planner);
    const tacit__mixture_model *m = p->model;
    const size_t d = m->parts, w = m->width;
    double part[PLANNER_MOST], low[PLANNER_MOST], high[PLANNER_MOST], mean = 0;
    const size_t at = (x->facts->stationary ? 0 : h) * x->S * x->A + pair;
    const double reward =
        x->facts->rewards != NULL
            ? x->facts->rewards[at]
            : fmin(1, fmin(1, fmax(0, 0.5 + p->rewards[at])) + xi / 2 * p->spread[at]);
    const double *factor = p->factor + h * w * w;
    if (h + 1 == x->H)
        return reward;
    double *row = calloc(d * x->S, sizeof *row);
    x->facts->mixture->row(x->facts->mixture->context, (uint32_t)(pair / x->A),
                           (uint32_t)(pair % x->A), row);
    for (size_t j = 0; j < d; j++) {
        double sum = 0, alone[PLANNER_MOST] = {0};
        part[j] = 0;
        for (size_t next = 0; next < x->S; next++) {
            sum += row[j * x->S + next];
            part[j] += row[j * x->S + next] * after[next];
        }
        part[j] /= sum;
        mean += p->weights[h * d + j] * part[j];
        alone[j] = 1;
        const double deviation = sqrt(plain_square(m, factor, alone));
        low[j] = fmax(0, p->weights[h * d + j] - xi * deviation);
        high[j] = p->weights[h * d + j] + xi * deviation;
    }
    free(row);
    return reward +
           fmin(mean + xi * sqrt(plain_square(m, factor, part)), plain_most(d, low, high, part));
}

TEST(plans_are_those_of_the_formula)
{
    static const char *const worlds[] = {"lock", "random-mixture"};
    for (size_t i = 0; i < 2 * N_OF(worlds); i++) {
        planner_case x = open_planner(worlds[i / 2], i % 2 == 1);
        assert_plans_are(&x, plain_q, 0.2);
        planner_close(&x, tacit__mixture_model_destroy);
    }
}

/* A kernel that is known to have nearly all the weight leaves nothing to hope of the others, whether they were tried or not: the first
 * step of the lock is learned from one action alone, and then the boldest plan takes it. */
TEST(nothing_is_hoped_of_kernels_that_have_no_weight)
{
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
    const tacit_setting settings[] = {SET("first", "2000"), SET("plans", "1"),
                                      SET("boldness", "10")};
    tacit_agent_request q =
        request_in(a.world, "posterior-mixture", (tacit_guarantee){TACIT_MODEL_NONE, 0, 0}, 4000);
    q.settings = settings;
    q.n_settings = 3;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        SCOPED(tacit_agent) *agent = agent_of(&q, seed);
        const tacit_billboard before = agent_board(agent);
        if (before.policy[0] != 2) /* the first number of the combination; all actions tie */
            continue;
        (void)arena_learn(&a, agent, 0, 2000);
        assert_int_equal(agent_board(agent).policy[0], 2);
    }
}

/* Before there are data, kernels and actions of the lock are exchangeable: every action ties, and each is chosen about as often. */
TEST(ties_are_broken_by_chance)
{
    planner_case x = open_planner("lock", false);
    uint32_t policy[PLANNER_MOST];
    size_t chosen[4] = {0};
    assert_int_equal(x.A, 4);
    for (int i = 0; i < 1000; i++) {
        tacit__score_planner_plan(x.planner, 0, policy);
        chosen[policy[0]]++;
    }
    for (size_t a = 0; a < 4; a++) /* 250 +- 5 sigma */
        assert_within((double)chosen[a], 250 - 69, 250 + 69);
    planner_close(&x, tacit__mixture_model_destroy);
}

/* --- Turns ----------------------------------------------------------------------------------------- */

/* Of a batch of 40 with a quota of 12, five bold plans have 3, 3, 2, 2, 2 users and the greedy one 28; a batch of 7 is bold. */
TEST(users_take_turns)
{
    static const size_t wanted[] = {3, 3, 2, 2, 2, 28, /* */
                                    2, 2, 1, 1, 1, 0,  /* */
                                    0, 0, 0, 0, 0, 3}; /* nothing is shown of the last */
    planner_case x = open_planner("lock", false);
    assert_turns(&x, 6, wanted, 0.2);
    planner_close(&x, tacit__mixture_model_destroy);
}

/* Who explores and commits: every action is as likely in the first batch, and one greedy plan follows. */
TEST(explorers_have_no_plan)
{
    planner_case x = open_planner("lock", false);
    tacit__batch_plans_options o = planner_batches(&x, 1);
    o.uniform_start = true;
    o.noise.sum = 0;
    o.quota = o.exploring = 0;
    tacit__score_planner_destroy(x.planner);
    assert_ok(create(&x, &o, &x.planner));
    tacit__batch_plans *batches = tacit__score_planner_batches(x.planner);
    const tacit_billboard first = tacit__batch_plans_billboard(batches, 0);
    assert_null(first.policy);
    for (size_t i = 0; i < x.H * x.S * x.A; i++)
        assert_close(first.mixed[i], 1 / (double)x.A, 1e-15);
    assert_int_equal(tacit__batch_plans_billboard(batches, 39).version, first.version);
    planner_absorb(&x, 40, 0.2, 1);
    const tacit_billboard second = tacit__batch_plans_billboard(batches, 0);
    uint32_t policy[PLANNER_MOST];
    assert_true(second.version > first.version);
    assert_null(second.mixed);
    assert_int_equal(tacit__batch_plans_billboard(batches, 6).version, second.version);
    tacit__score_planner_plan(x.planner, 0, policy);
    const double *q = tacit__score_planner_q(x.planner);
    for (size_t i = 0; i < x.H * x.S; i++)
        assert_close(q[i * x.A + second.policy[i]], q[i * x.A + policy[i]], 1e-7);
    planner_close(&x, tacit__mixture_model_destroy);
}

TEST(no_memory_is_survived)
{
    planner_case x = open_planner("lock", false);
    const tacit__batch_plans_options batches = planner_batches(&x, 1);
    tacit__score_planner *other = NULL;
    assert_survives_no_memory(create(&x, &batches, &other), );
    tacit__score_planner_destroy(other);
    planner_close(&x, tacit__mixture_model_destroy);
}

/* --- The learner ------------------------------------------------------------------------------------ */

static const char *const learners[] = {"posterior-mixture", "explore-commit-mixture"};
static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-5},
                             joint_10 = {TACIT_MODEL_JOINT, 10, 1e-5},
                             local = {TACIT_MODEL_LOCAL, 10, 1e-5};

/* The best policy of the lock is worth 3.31, the best constant action 1.88. */
TEST(it_learns_the_lock)
{
    const tacit_guarantee *const models[] = {&none, &joint, &joint_10, &local};
    for (size_t i = 0; i < 2 * N_OF(models); i++) {
        SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
        const tacit_agent_request q =
            request_in(a.world, learners[i / N_OF(models)], *models[i % N_OF(models)], 6000);
        SCOPED(tacit_agent) *agent = agent_of(&q, 6);
        (void)arena_learn(&a, agent, 0, 5000);
        assert_within(arena_learn(&a, agent, 5000, 6000), 3.1, 3.5);
    }
}

/* The same where nobody is told what states pay, and what is paid is 0 or 1. */
TEST(it_learns_the_lock_and_its_rewards)
{
    const tacit_guarantee *const models[] = {&none, &joint_10, &joint};
    for (size_t i = 0; i < N_OF(models); i++) {
        SCOPED_BY(arena_close) arena a = arena_open("lock", &hidden, 1, 5);
        const tacit_agent_request q = request_in(a.world, learners[0], *models[i], 12000);
        SCOPED(tacit_agent) *agent = agent_of(&q, 6);
        assert_null(q.rewards);
        (void)arena_learn(&a, agent, 0, 11000);
        assert_within(arena_learn(&a, agent, 11000, 12000), 3.1, 3.5);
    }
}

/* A report about all steps has the noise of all of them. The best policy of this lock is worth 7.19, and with Laplace noise in such a report
 * users got 6.36 on average, 6.79 in the best of 20 runs; with answers 7.11, and 7.05 in the worst. */
TEST(it_learns_long_locks_under_local_privacy)
{
    const tacit_setting settings[] = {SET("d", "6"), SET("horizon", "10")};
    SCOPED_BY(arena_close) arena a = arena_open("lock", settings, N_OF(settings), 5);
    const tacit_agent_request q =
        request_in(a.world, learners[0], (tacit_guarantee){TACIT_MODEL_LOCAL, 10, 0}, 6000);
    SCOPED(tacit_agent) *agent = agent_of(&q, 6);
    assert_within(arena_learn(&a, agent, 0, 6000), 6.92, 7.3);
}

/* Users answer where fewer of them are needed then: in small tables, and if epsilon is large. */
TEST(local_users_answer_where_that_tells_more)
{
    static const struct {
        const char *world;
        double epsilon, delta;
        uint64_t answers, each; /* 0: numbers */
    } cases[] = {{"lock", 10, 0, 36, 2},
                 {"lock", 10, 1e-5, 36, 2},
                 {"lock", 1, 1e-5, 4, 1},
                 {"random-mixture", 10, 1e-5, 256, 1},
                 {"random-mixture", 0.3, 1e-5, 0, 0},
                 {"random-mixture", 0.3, 0, 2, 1}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        SCOPED_BY(arena_close) arena a = arena_open(cases[i].world, NULL, 0, 5);
        const tacit_guarantee g = {TACIT_MODEL_LOCAL, cases[i].epsilon, cases[i].delta};
        const tacit_agent_request q = request_in(a.world, learners[0], g, 6000);
        SCOPED(tacit_agent) *agent = agent_of(&q, 6);
        const tacit_release *line =
            tacit_plan_release(tacit_ledger_plan(tacit__agent_ledger(agent)), 0);
        assert_int_equal(line->answers, cases[i].answers);
        if (cases[i].each > 0)
            assert_int_equal(line->dimension, cases[i].each);
    }
}

/* 2,000 users are few for this lock, whose best policy is worth 8.73 and whose best constant action 4.45. Beginning with a 16th of them it
 * got 5.05 of it, less than the baseline's 5.55; the mean of 30 runs has a standard error of 0.07 at most, so this is 4 of them or
 * more away on either side: a false alarm in 30,000. */
TEST(it_learns_with_few_users_too)
{
    enum { RUNS = 30, FEW = 2000 };
    const tacit_setting settings[] = {hidden, SET("d", "3"), SET("horizon", "12")};
    double mean = 0;
    for (uint64_t i = 0; i < RUNS; i++) {
        SCOPED_BY(arena_close) arena a = arena_open("lock", settings, N_OF(settings), 100 + i);
        const tacit_agent_request q =
            request_in(a.world, learners[0], (tacit_guarantee){TACIT_MODEL_JOINT, 0.3, 5e-5}, FEW);
        SCOPED(tacit_agent) *agent = agent_of(&q, 200 + i);
        mean += arena_learn(&a, agent, 0, FEW) / RUNS;
    }
    assert_within(mean, 5.4, 8.8);
}

/* Without noise a release costs nothing, so the first user is a batch, unless the first batch is set. A saved state has the 16
 * bold plans and the greedy one of every batch, so it grows by them with each that is over. */
TEST(without_privacy_the_first_batch_is_one_user)
{
    static const struct {
        const char *first;
        const tacit_guarantee *guarantee;
        bool grows;
    } cases[] = {{"0", &none, true}, {"2", &none, false}, {"0", &joint_10, false}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
        const tacit_setting setting = SET("first", cases[i].first);
        tacit_agent_request q =
            request_in(a.world, "posterior-mixture", *cases[i].guarantee, 20000);
        q.settings = &setting;
        q.n_settings = 1;
        SCOPED(tacit_agent) *agent = agent_of(&q, 6);
        size_t before = 0, after = 0;
        assert_ok(tacit_agent_save(agent, NULL, &before, NULL));
        (void)arena_learn(&a, agent, 0, 1);
        assert_ok(tacit_agent_save(agent, NULL, &after, NULL));
        const size_t plans = 17 * a.facts->horizon * a.facts->n_states * sizeof(uint32_t);
        assert_true(after >= before && (after - before >= plans) == cases[i].grows);
    }
}

/* People who come back crowd into the long batches at the end. Releases stop before, with less noise; and who sets the first batch
 * gets all batches. */
TEST(releases_stop_before_visits_crowd)
{
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
    tacit_agent_request q = request_in(a.world, "posterior-mixture", joint, 20000);
    q.visits = 20;
    q.apart = 500;
    const tacit_setting all = SET("first", "100");
    SCOPED(tacit_agent) *agent = agent_of(&q, 6);
    q.settings = &all;
    q.n_settings = 1;
    SCOPED(tacit_agent) *other = agent_of(&q, 6);
    const tacit_plan *stops = tacit_agent_release_plan(agent),
                     *goes_on = tacit_agent_release_plan(other);
    assert_true(tacit_plan_release(stops, 0)->steps < tacit_plan_release(goes_on, 0)->steps);
    assert_true(tacit_plan_scale(stops, 0) < 0.5 * tacit_plan_scale(goes_on, 0));
    assert_int_equal(tacit_plan_release(stops, 0)->visits, 20); /* what is declared stays */
    (void)arena_learn(&a, agent, 0, 19000);
    assert_within(arena_learn(&a, agent, 19000, 20000), 3.1, 3.5);
}

/* --- Far away ------------------------------------------------------------------------------------- */

/* Kernel j says that key j leads on. A user who is out learns nothing. Before there are data, every plan that is not bold at all links
 * gives up at the first. */
static const key_chain chain = {.links = 6, .keys = 8};
enum { PLACES = 8, CHAIN_STEPS = 7, CHAIN_ACTIONS = 9 };

static void chain_row(void *context, uint32_t place, uint32_t action, double *out)
{
    (void)context;
    memset(out, 0, sizeof(double) * chain.keys * PLACES);
    for (uint32_t j = 0; j < chain.keys; j++)
        out[j * PLACES + chain_next(&chain, place, action, j)] = 1;
}

static const tacit_mixture chain_mixture = {.dimension = 8,
                                            .bound = 3,
                                            .parameter_norm = 1,
                                            .kernels = true,
                                            .nonnegative = true,
                                            .row = chain_row};

static size_t arrive(tacit_guarantee guarantee, const char *boldness, uint64_t seed)
{
    static double rewards[CHAIN_STEPS][PLACES][CHAIN_ACTIONS];
    const tacit_setting settings[] = {SET("boldness", boldness), SET("growth", "1.2")};
    const tacit_agent_request q = {SETTINGS_OF(settings, 2), .kind = "posterior-mixture",
                                   .guarantee = guarantee, .mixture = &chain_mixture,
                                   .rewards = &rewards[0][0][0]};
    for (size_t i = 0; i < CHAIN_STEPS * PLACES * CHAIN_ACTIONS; i++)
        (&rewards[0][0][0])[i] = chain_reward(&chain, (uint32_t)(i / CHAIN_ACTIONS % PLACES),
                                              (uint32_t)(i % CHAIN_ACTIONS));
    return chain_arrivals(&chain, q, seed);
}

/* The hope of a plan is a product over the links: with half of the boldness hardly any plan is bold enough. */
TEST(bold_plans_reach_the_end_of_a_chain)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        assert_int_equal(arrive(joint_10, "2", seed), 1000);
        assert_int_equal(arrive(joint_10, "0", seed), 0);
    }
    assert_int_equal(arrive(joint, "2", 1), 1000);
}

TEST(saved_and_continued_is_as_if_never_stopped)
{
    assert_learners_continue("random-mixture", NULL, learners);
    assert_learners_continue("random-mixture", &hidden, learners);
}

/* Devices report by the public table: the server's learner is the same as one that adds the users' noise itself. */
TEST(devices_need_the_billboard_only)
{
    enum { USERS = 400 };
    SCOPED_BY(arena_close) arena a = arena_open("lock", &hidden, 1, 5);
    const tacit_agent_request q = request_in(a.world, "posterior-mixture", local, USERS);
    SCOPED(tacit_agent) *server = agent_of(&q, 6);
    uint8_t report[1000];
    for (uint64_t k = 0; k < USERS; k++) {
        SCOPED(tacit_agent) *device = agent_of(&q, 100 + k);
        const tacit_billboard board = agent_board(server);
        const tacit_trajectory t = arena_play(&a, k, &board);
        size_t size = sizeof report, small = 8;
        assert_status(tacit_agent_report(device, &t, report, &small, NULL), TACIT_BAD_ARGUMENT);
        assert_ok(tacit_agent_report(device, &t, report, &size, NULL));
        assert_ok(tacit_agent_check_report(server, report, size, NULL));
        assert_ok(tacit_agent_absorb(server, report, size, NULL));
    }
}

TEST(what_it_cannot_do_is_refused_with_what_can)
{
    SCOPED(tacit_world) *world = world_of("lock", NULL, 0);
    tacit_agent_request q = request_in(world, "posterior-mixture", joint, 100);
    const tacit_setting slow = SET("growth", "1.05");
    tacit_agent *agent = NULL;
    q.settings = &slow;
    q.n_settings = 1;
    assert_status(agent_try(&q, 1, &agent, NULL), TACIT_BAD_ARGUMENT);
    q.n_settings = 0;
    q.calibration = TACIT_CALIBRATION_PUBLISHED;
    assert_unsupported(q, "tight");
    q.calibration = TACIT_CALIBRATION_TIGHT;
    q.sums = "tree";
    assert_unsupported(q, "no running sums");
    q.sums = NULL;
    q.mixture = NULL;
    assert_unsupported(q, "dp-ucbvi learns tables");
    q.horizon = 1;
    assert_unsupported(q, "horizon of at least 2");
}
