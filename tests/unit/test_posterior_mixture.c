/* Plans of posterior-mixture against a plain version of their formula, who acts by which plan, and that it learns: with every
 * guarantee it beats the best constant action on the lock by far. */
#include "plan/posterior_mixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

enum { MOST = 64 };

typedef struct setup {
    tacit_world *world;
    const tacit_world_facts *facts;
    tacit__mixture_model *model;
    tacit__posterior_mixture *planner;
    size_t S, A, H, d, w;
} setup;

static const uint64_t ends[] = {40, 47, 50};

static tacit__mixture_plans plans_of(const setup *x, tacit__bold_options batches)
{
    batches.horizon = x->H;
    batches.batches = 2;
    batches.ends = ends;
    return (tacit__mixture_plans){.model = x->model,
                                  .stationary = x->facts->stationary,
                                  .rewards = x->facts->rewards,
                                  .batches = batches};
}

static setup open_planner(const char *kind, uint64_t quota, size_t plans, double boldness)
{
    setup x = {.world = world_of(kind, NULL, 0)};
    x.facts = tacit_world_describe(x.world);
    x.S = x.facts->n_states;
    x.A = x.facts->n_actions;
    x.H = x.facts->horizon;
    assert_ok(tacit__mixture_model_create(x.facts->mixture, x.S, x.A, 1000, &x.model, NULL));
    x.d = x.model->parts;
    x.w = x.model->width;
    const tacit__mixture_plans o =
        plans_of(&x, (tacit__bold_options){.noise = {.start = 0.5, .sum = 4},
                                           .quota = quota,
                                           .bold = plans,
                                           .calm = 1,
                                           .boldness = boldness,
                                           .tie_seed = 3});
    assert_ok(tacit__posterior_mixture_create(&o, &x.planner));
    return x;
}

static void close_planner(setup *x)
{
    tacit__posterior_mixture_destroy(x->planner);
    tacit__mixture_model_destroy(x->model);
    tacit_world_destroy(x->world);
}

/* A release that says something. */
static void absorb(setup *x, uint64_t users, uint64_t seed)
{
    double sums[MOST], starts[MOST];
    for (size_t i = 0; i < (x->H - 1) * x->w; i++)
        sums[i] = 0.2 * (double)users * random_normal(&seed);
    for (size_t s = 0; s < x->S; s++)
        starts[s] = 0.5 * (double)users * (s == 0);
    const tacit__score_sums shown = {users, sums, starts};
    tacit__posterior_mixture_absorb(x->planner, &shown);
}

/* --- Plans ----------------------------------------------------------------------------------------- */

/* r + clip(m.x + xi |B' x|, min x, max x) from the world's own features; |u|^2 = u' M^-1 u by a solve with M = L L'. */
static double plain_q(const setup *x, size_t h, size_t pair, double xi, const double *after)
{
    const tacit__mixture_posterior *p = tacit__posterior_mixture_get(x->planner);
    double part[MOST], u[MOST], mean = 0, low = HUGE_VAL, high = -HUGE_VAL, square = 0;
    const double *reward = x->facts->rewards + (x->facts->stationary ? 0 : h) * x->S * x->A;
    const double *factor = p->factor + h * x->w * x->w;
    if (h + 1 == x->H)
        return reward[pair];
    double *row = calloc(x->d * x->S, sizeof *row);
    x->facts->mixture->row(x->facts->mixture->context, (uint32_t)(pair / x->A),
                           (uint32_t)(pair % x->A), row);
    for (size_t j = 0; j < x->d; j++) {
        double sum = 0;
        part[j] = 0;
        for (size_t next = 0; next < x->S; next++) {
            sum += row[j * x->S + next];
            part[j] += row[j * x->S + next] * after[next];
        }
        part[j] /= sum;
        mean += p->weights[h * x->d + j] * part[j];
        low = fmin(low, part[j]);
        high = fmax(high, part[j]);
    }
    free(row);
    for (size_t i = 0; i < x->w; i++) {
        u[i] = 0;
        for (size_t j = 0; j < x->d; j++)
            u[i] += x->model->basis[i * x->d + j] * part[j];
        for (size_t k = 0; k < i; k++)
            u[i] -= factor[k * x->w + i] * u[k];
        u[i] /= factor[i * (x->w + 1)];
        square += u[i] * u[i];
    }
    return reward[pair] + fmin(high, fmax(low, mean + xi * sqrt(square)));
}

static void check_plan(const setup *x, double xi)
{
    uint32_t policy[MOST];
    double after[MOST] = {0};
    tacit__posterior_mixture_plan(x->planner, xi, policy);
    const double *q = tacit__posterior_mixture_q(x->planner);
    for (size_t h = x->H; h-- > 0;) {
        double here[MOST];
        for (size_t s = 0; s < x->S; s++) {
            double best = -1;
            for (size_t a = 0; a < x->A; a++) {
                const double wanted = plain_q(x, h, s * x->A + a, xi, after);
                assert_within(q[(h * x->S + s) * x->A + a] - wanted, -1e-10, 1e-10);
                best = fmax(best, wanted);
            }
            here[s] = q[(h * x->S + s) * x->A + policy[h * x->S + s]];
            assert_within(here[s] - best, -1e-7, 1e-10);
        }
        memcpy(after, here, sizeof after);
    }
}

TEST(plans_are_those_of_the_formula)
{
    static const char *const worlds[] = {"lock", "random-mixture"};
    for (size_t i = 0; i < N_OF(worlds); i++) {
        setup x = open_planner(worlds[i], 12, 5, 2);
        for (uint64_t k = 0; k < 3; k++) {
            check_plan(&x, 0);
            check_plan(&x, 0.7);
            check_plan(&x, 40); /* nothing but the clip is left */
            if (k < 2)
                absorb(&x, k == 0 ? 40 : 7, k + 1);
        }
        close_planner(&x);
    }
}

/* Before there are data, kernels and actions of the lock are exchangeable: every action ties, and each is chosen about as often. */
TEST(ties_are_broken_by_chance)
{
    setup x = open_planner("lock", 12, 5, 2);
    uint32_t policy[MOST];
    size_t chosen[4] = {0};
    assert_int_equal(x.A, 4);
    for (int i = 0; i < 1000; i++) {
        tacit__posterior_mixture_plan(x.planner, 0, policy);
        chosen[policy[0]]++;
    }
    for (size_t a = 0; a < 4; a++) /* 250 +- 5 sigma */
        assert_within((double)chosen[a], 250 - 69, 250 + 69);
    close_planner(&x);
}

/* --- Turns ----------------------------------------------------------------------------------------- */

/* Of a batch of 40 with a quota of 12, five bold plans have 3, 3, 2, 2, 2 users and the greedy one 28; a batch of 7 is bold, one of 3 has
 * three plans. The board's version grows with every plan that is new. */
TEST(users_take_turns)
{
    static const size_t wanted[3][6] = {{3, 3, 2, 2, 2, 28},
                                        {2, 2, 1, 1, 1, 0},
                                        {0, 0, 0, 0, 0, 3}}; /* nothing is shown of the last */
    setup x = open_planner("lock", 12, 5, 2);
    tacit__bold_batches *batches = tacit__posterior_mixture_batches(x.planner);
    uint64_t version = 0;
    for (size_t k = 0; k < 3; k++) {
        const uint64_t users = ends[k] - (k > 0 ? ends[k - 1] : 0);
        size_t turns[6] = {0}, last = 99, over;
        for (uint64_t place = 0; place < users; place++) {
            const size_t turn = tacit__bold_batches_turn(batches, place);
            const tacit_billboard board = tacit__bold_batches_billboard(batches, place);
            assert_true(turn == last ? board.version == version : board.version > version);
            version = board.version;
            last = turn;
            turns[turn]++;
        }
        for (size_t j = 0; j < 6; j++)
            assert_int_equal(turns[j], wanted[k][j]);
        (void)tacit__bold_batches_finished(batches, &over);
        assert_int_equal(over, k);
        if (k < 2)
            absorb(&x, users, k);
    }
    close_planner(&x);
}

/* Who explores and commits: every action is as likely in the first batch, and one greedy plan follows. */
TEST(explorers_have_no_plan)
{
    setup x = open_planner("lock", 12, 5, 2);
    const tacit__mixture_plans o =
        plans_of(&x, (tacit__bold_options){.noise = {.start = 0.5}, .explores = true, .calm = 1});
    tacit__posterior_mixture_destroy(x.planner);
    assert_ok(tacit__posterior_mixture_create(&o, &x.planner));
    tacit__bold_batches *batches = tacit__posterior_mixture_batches(x.planner);
    const tacit_billboard first = tacit__bold_batches_billboard(batches, 0);
    assert_null(first.policy);
    for (size_t i = 0; i < x.H * x.S * x.A; i++)
        assert_close(first.mixed[i], 1 / (double)x.A, 1e-15);
    assert_int_equal(tacit__bold_batches_billboard(batches, 39).version, first.version);
    absorb(&x, 40, 1);
    const tacit_billboard second = tacit__bold_batches_billboard(batches, 0);
    uint32_t policy[MOST];
    assert_true(second.version > first.version);
    assert_null(second.mixed);
    assert_int_equal(tacit__bold_batches_billboard(batches, 6).version, second.version);
    tacit__posterior_mixture_plan(x.planner, 0, policy);
    const double *q = tacit__posterior_mixture_q(x.planner);
    for (size_t i = 0; i < x.H * x.S; i++)
        assert_close(q[i * x.A + second.policy[i]], q[i * x.A + policy[i]], 1e-7);
    close_planner(&x);
}

TEST(no_memory_is_survived)
{
    setup x = open_planner("lock", 12, 5, 2);
    tacit__posterior_mixture *other = NULL;
    const tacit__mixture_plans o = plans_of(
        &x,
        (tacit__bold_options){.noise = {.start = 0.5, .sum = 4}, .quota = 3, .bold = 2, .calm = 1});
    assert_survives_no_memory(tacit__posterior_mixture_create(&o, &other), );
    tacit__posterior_mixture_destroy(other);
    close_planner(&x);
}

/* --- The learner ------------------------------------------------------------------------------------ */

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-5},
                             joint_10 = {TACIT_MODEL_JOINT, 10, 1e-5},
                             local = {TACIT_MODEL_LOCAL, 10, 1e-5};

/* The best policy of the lock is worth 3.31, the best constant action 1.88. */
TEST(it_learns_the_lock)
{
    const tacit_guarantee *const models[] = {&none, &joint, &joint_10, &local};
    static const char *const learners[] = {"posterior-mixture", "explore-commit-mixture"};
    for (size_t i = 0; i < 2 * N_OF(models); i++) {
        SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
        const tacit_agent_request q =
            request_in(a.world, learners[i / N_OF(models)], *models[i % N_OF(models)], 6000);
        SCOPED(tacit_agent) *agent = agent_of(&q, 6);
        (void)arena_learn(&a, agent, 0, 5000);
        assert_within(arena_learn(&a, agent, 5000, 6000), 3.1, 3.5);
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
    const tacit_setting all = {.key = "first", .value = "100"};
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

/* A chain of links. At each link one of eight keys leads on, and the others lead out; kernel j says that it is key j. Whoever is out
 * learns nothing. Its end pays 1. The last action is to give up, which pays 0.1 for sure: before there are data, every plan that
 * is not bold at all links gives up at the first. */
enum { LINKS = 6, KEYS = 8, GIVE_UP = KEYS, OUT = LINKS + 1, PLACES = LINKS + 2 };
enum { CHAIN_ACTIONS = KEYS + 1, CHAIN_STEPS = LINKS + 1, CHAIN_USERS = 20000 };

static uint32_t follow(uint32_t place, uint32_t action, uint32_t key)
{
    return place < LINKS && action == key ? place + 1 : OUT;
}

static void chain_row(void *context, uint32_t place, uint32_t action, double *out)
{
    (void)context;
    memset(out, 0, sizeof(double) * KEYS * PLACES);
    for (uint32_t j = 0; j < KEYS; j++)
        out[j * PLACES + follow(place, action, j)] = 1;
}

static const tacit_mixture chain = {.dimension = KEYS,
                                    .bound = 3,
                                    .parameter_norm = 1,
                                    .kernels = true,
                                    .nonnegative = true,
                                    .row = chain_row};

/* How many of the last thousand users reach the end. */
static size_t arrive(tacit_guarantee guarantee, const char *boldness, uint64_t seed)
{
    static double rewards[CHAIN_STEPS][PLACES][CHAIN_ACTIONS];
    const tacit_setting setting = {.key = "boldness", .value = boldness};
    const tacit_agent_request q = {.kind = "posterior-mixture",
                                   .settings = &setting,
                                   .n_settings = 1,
                                   .guarantee = guarantee,
                                   .n_states = PLACES,
                                   .n_actions = CHAIN_ACTIONS,
                                   .horizon = CHAIN_STEPS,
                                   .episodes = CHAIN_USERS,
                                   .mixture = &chain,
                                   .rewards = &rewards[0][0][0]};
    for (size_t h = 0; h < LINKS; h++)
        for (size_t place = 0; place < LINKS; place++)
            rewards[h][place][GIVE_UP] = 0.1;
    for (size_t a = 0; a < CHAIN_ACTIONS; a++)
        rewards[LINKS][LINKS][a] = 1;
    SCOPED(tacit_agent) *agent = agent_of(&q, seed);
    size_t arrived = 0;
    for (uint64_t k = 0; k < CHAIN_USERS; k++) {
        uint32_t states[CHAIN_STEPS + 1] = {0}, actions[CHAIN_STEPS];
        double paid[CHAIN_STEPS] = {0};
        const tacit_billboard board = agent_board(agent);
        for (size_t h = 0; h < CHAIN_STEPS; h++) {
            actions[h] = board.policy[h * PLACES + states[h]];
            states[h + 1] = follow(states[h], actions[h], (uint32_t)(3 * h % KEYS));
        }
        arrived += k >= CHAIN_USERS - 1000 && states[LINKS] == LINKS;
        const tacit_trajectory t = {.states = states, .actions = actions, .rewards = paid};
        assert_ok(tacit_agent_learn(agent, &t, NULL));
    }
    return arrived;
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

/* In the middle of a batch, at its end, before the first user and after the last. */
TEST(saved_and_continued_is_as_if_never_stopped)
{
    enum { USERS = 60 };
    static const uint64_t stops[] = {0, 1, 3, 4, 5, 17, USERS - 1, USERS};
    const tacit_guarantee *const models[] = {&none, &joint, &local};
    for (size_t i = 0; i < 2 * N_OF(models) * N_OF(stops); i++) {
        const uint64_t stop = stops[i % N_OF(stops)];
        const bool commits = i >= N_OF(models) * N_OF(stops);
        SCOPED_BY(arena_close) arena a = arena_open("random-mixture", NULL, 0, 5);
        tacit_agent_request q =
            request_in(a.world, commits ? "explore-commit-mixture" : "posterior-mixture",
                       *models[i / N_OF(stops) % N_OF(models)], USERS);
        const tacit_setting setting = {.key = commits ? "explore" : "first", .value = "4"};
        q.settings = &setting;
        q.n_settings = 1;
        arena_assert_continued(&a, &q, stop, false);
    }
}

/* Devices report by the public table: the server's learner is the same as one that adds the users' noise itself. */
TEST(devices_need_the_billboard_only)
{
    enum { USERS = 400 };
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
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

static void refuse(tacit_agent_request q, const char *words)
{
    tacit_agent *agent = NULL;
    tacit_error err = {.message = ""};
    assert_status(agent_try(&q, 1, &agent, &err), TACIT_UNSUPPORTED);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, words);
}

TEST(what_it_cannot_do_is_refused_with_what_can)
{
    SCOPED(tacit_world) *world = world_of("lock", NULL, 0);
    const tacit_guarantee pure = {TACIT_MODEL_JOINT, 1, 0};
    tacit_agent_request q = request_in(world, "posterior-mixture", pure, 100);
    refuse(q, "ucrl-vtr has delta 0");
    q.guarantee = joint;
    const tacit_setting slow = {.key = "growth", .value = "1.05"};
    tacit_agent *agent = NULL;
    q.settings = &slow;
    q.n_settings = 1;
    assert_status(agent_try(&q, 1, &agent, NULL), TACIT_BAD_ARGUMENT);
    q.n_settings = 0;
    q.calibration = TACIT_CALIBRATION_PUBLISHED;
    refuse(q, "tight");
    q.calibration = TACIT_CALIBRATION_TIGHT;
    q.sums = "tree";
    refuse(q, "no running sums");
    q.sums = NULL;
    q.rewards = NULL;
    refuse(q, "linopt-vi learns them");
    q.mixture = NULL;
    refuse(q, "dp-ucbvi learns tables");
    q.horizon = 1;
    refuse(q, "horizon of at least 2");
}
