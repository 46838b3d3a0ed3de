/* Plans of posterior-bandit against a plain version of their formula, who acts by which plan, its rule for the first batch, and that it
 * learns: with every guarantee it finds the best of several arms. */
#include "plan/posterior/bandit_planner.h"

#include <math.h>

#include "base/memory.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"

enum { ACTIONS = 4, BATCHES = 3, STEADY = 1, BOLD = 5, PLANS = BOLD + STEADY };

static const uint64_t ends[BATCHES + 1] = {40, 100, 107, 120}, sizes[] = {40, 60, 7, 13};

static tacit__batch_plans_options options_with(tacit__score_noise noise)
{
    return (tacit__batch_plans_options){.batches = BATCHES,
                                        .ends = ends,
                                        .noise = noise,
                                        .quota = 12,
                                        .exploring = BOLD,
                                        .steady = STEADY,
                                        .boldness = 1.25,
                                        .tie_seed = 5};
}

static tacit__score_planner *planner_with(tacit__score_noise noise)
{
    const tacit__batch_plans_options o = options_with(noise);
    tacit__score_planner *p = NULL;
    assert_ok(tacit__bandit_planner_create(ACTIONS, &o, &p));
    return p;
}

/* --- The posterior and plans ----------------------------------------------------------------------- */

/* An arm, one batch after the other: the gain of a Kalman filter. */
typedef struct plain_arm {
    double mean, variance;
} plain_arm;

static void learn_plainly(plain_arm *arm, double pulls, double sum, double noise)
{
    const double gain = arm->variance * pulls / (pulls * pulls * arm->variance + noise);
    arm->mean += gain * (sum - pulls * arm->mean);
    arm->variance *= 1 - gain * pulls;
}

/* Who took which arm is counted from the billboards. */
static void check_posterior(tacit__score_noise noise)
{
    tacit__score_planner *p = planner_with(noise);
    plain_arm plain[ACTIONS];
    uint64_t seed = 8;
    for (size_t a = 0; a < ACTIONS; a++)
        plain[a] = (plain_arm){0, 1.0 / 12};
    for (size_t k = 0; k < BATCHES; k++) {
        const double n = (double)sizes[k], truth = noise.each > 0 ? noise.truth : 1;
        double sums[ACTIONS] = {0}, pulls[ACTIONS] = {0};
        for (uint64_t i = 0; i < sizes[k]; i++)
            pulls[tacit__batch_plans_billboard(tacit__score_planner_batches(p), i).policy[0]]++;
        for (size_t a = 0; a < ACTIONS; a++) {
            sums[a] = n * (random_unit(&seed) - 0.5);
            if (pulls[a] > 0)
                learn_plainly(&plain[a], pulls[a], sums[a],
                              noise.sum + n * noise.user + n * noise.spread / 4 / ACTIONS +
                                  pulls[a] / 4 / truth);
        }
        const tacit__score_sums shown = {.users = sizes[k],
                                         .sums = sums,
                                         .starts = (double[]){0},
                                         .asked = noise.each > 0 ? (double[]){n} : NULL};
        tacit__score_planner_absorb(p, &shown);
        for (size_t a = 0; a < ACTIONS; a++) {
            const tacit__arm_belief *arm = &tacit__bandit_planner_arms(p)[a];
            assert_close(arm->mean, plain[a].mean, 1e-12);
            assert_close(arm->stddev, sqrt(plain[a].variance), 1e-12);
        }
    }
    tacit__score_planner_destroy(p);
}

TEST(the_posterior_is_that_of_a_plain_filter)
{
    check_posterior((tacit__score_noise){.sum = 0});
    check_posterior((tacit__score_noise){.sum = 9});
    check_posterior((tacit__score_noise){.user = 4});
    check_posterior((tacit__score_noise){.each = 1, .share = 1, .truth = 0.3, .spread = 7});
}

TEST(plans_take_the_arm_that_promises_most)
{
    tacit__score_planner *p = planner_with((tacit__score_noise){.sum = 4});
    const double sums[ACTIONS] = {9, -3, 2, 0};
    const tacit__score_sums shown = {.users = sizes[0], .sums = sums, .starts = (double[]){0}};
    tacit__score_planner_absorb(p, &shown);
    for (int i = 0; i < 40; i++) {
        const double xi = i / 4.0;
        const tacit__arm_belief *arms = tacit__bandit_planner_arms(p);
        uint32_t policy, best = 0;
        tacit__score_planner_plan(p, xi, &policy);
        for (uint32_t a = 0; a < ACTIONS; a++) {
            assert_close(tacit__score_planner_q(p)[a], arms[a].mean + xi * arms[a].stddev, 1e-15);
            if (arms[a].mean + xi * arms[a].stddev > arms[best].mean + xi * arms[best].stddev)
                best = a;
        }
        assert_int_equal(policy, best);
    }
    tacit__score_planner_destroy(p);
}

/* Twelve users of a batch are bold at most, by five plans, and the others greedy; nothing is shown of the last batch, so it is greedy. */
TEST(users_take_turns)
{
    static const size_t first_greedy[] = {12, 12, 7, 0};
    tacit__score_planner *p = planner_with((tacit__score_noise){.sum = 1});
    tacit__batch_plans *b = tacit__score_planner_batches(p);
    for (size_t k = 0; k <= BATCHES; k++) {
        const double sums[ACTIONS] = {1, 2, 3, 4};
        const tacit__score_sums shown = {.users = sizes[k], .sums = sums, .starts = (double[]){0}};
        for (uint64_t i = 0; i < sizes[k]; i++)
            assert_int_equal(tacit__batch_plans_turn(b, i) == BOLD, i >= first_greedy[k]);
        if (k < BATCHES)
            tacit__score_planner_absorb(p, &shown);
    }
    tacit__score_planner_destroy(p);
}

/* --- The first batch ------------------------------------------------------------------------------- */

/* Users who take the arms in turn halve the prior variance 1/12: their information is 12. */
TEST(the_first_batch_halves_the_variance_of_every_arm)
{
    static const tacit__score_noise noises[] = {
        {.sum = 0}, {.sum = 25}, {.user = 3}, {.each = 1, .share = 1, .truth = 0.4, .spread = 6}};
    for (size_t i = 0; i < N_OF(noises); i++)
        for (size_t A = 1; A < 40; A += 7) {
            const tacit__score_table arms = {.n_states = 1, .n_actions = A, .reward = 1};
            const tacit__score_noise *o = &noises[i];
            const double N = tacit__bandit_wanted(&arms, o, 1), pulls = N / (double)A,
                         truth = o->each > 0 ? o->truth : 1;
            assert_close(
                pulls * pulls /
                    (o->sum + N * (o->user + o->spread / 4 / (double)A) + pulls / 4 / truth),
                12, 1e-9);
            assert_int_equal(tacit__bandit_users(&arms, o, 1, 1e9), (uint64_t)ceil(N));
            assert_int_equal(tacit__bandit_users(&arms, o, 1, 2), N < 2 ? (uint64_t)ceil(N) : 2);
            assert_int_equal(tacit__bandit_users(&arms, o, 1, 0.5), 1);
        }
}

TEST(no_memory_is_survived)
{
    const tacit__batch_plans_options o = options_with((tacit__score_noise){.sum = 1});
    tacit__score_planner *p = NULL;
    assert_survives_no_memory(tacit__bandit_planner_create(ACTIONS, &o, &p), );
    tacit__score_planner_destroy(p);
}

/* --- The learner ------------------------------------------------------------------------------------ */

/* The last thousand of 20,000 users lose at most a fiftieth of what random actions lose. */
TEST(it_finds_the_best_arm)
{
    const tacit_setting settings[] = {SET("states", "1"), SET("actions", "8"), SET("horizon", "1"),
                                      SET("seed", "6")};
    static const tacit_guarantee guarantees[] = {{TACIT_MODEL_NONE, 0, 0},
                                                 {TACIT_MODEL_JOINT, 1, 1e-5},
                                                 {TACIT_MODEL_JOINT, 1, 0},
                                                 {TACIT_MODEL_LOCAL, 3, 1e-5},
                                                 {TACIT_MODEL_LOCAL, 3, 0}};
    for (size_t i = 0; i < N_OF(guarantees); i++) {
        SCOPED_BY(arena_close) arena a = arena_open("random-tabular", settings, 4, 5);
        const tacit_agent_request q = request_in(a.world, "posterior-bandit", guarantees[i], 20000);
        SCOPED(tacit_agent) *agent = agent_of(&q, 6);
        double even = 0, mixed[8];
        for (size_t k = 0; k < 8; k++)
            mixed[k] = 1 / 8.0;
        const tacit_billboard board = {.mixed = mixed};
        for (uint64_t k = 0; k < 5000; k++)
            even += arena_play(&a, k, &board).rewards[0] / 5000;
        (void)arena_learn(&a, agent, 0, 19000);
        const double late = arena_learn(&a, agent, 19000, 20000), best = a.facts->optimal_value;
        assert_within((late - even) / (best - even), 0.98, 1.02);
    }
}
