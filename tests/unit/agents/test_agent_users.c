/* Users as learners see them: episodes that end early, and rewards of a declared range. Every learner counts such a user exactly
 * as it counts the full one with rewards in [0, 1]. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/random.h"
#include "support/small_agents.h"

enum { USERS = 8, MOST_FEATURES = (SMALL_STEPS + 1) * SMALL_ACTIONS * SMALL_D };

/* One user, and room for the full episode. */
typedef struct person {
    uint32_t states[SMALL_STEPS + 1], actions[SMALL_STEPS];
    double rewards[SMALL_STEPS], features[MOST_FEATURES];
    size_t length;
} person;

static person person_of(uint64_t *seed, size_t n_states, size_t horizon)
{
    person p = {.length = random_below(seed, horizon + 1)};
    for (size_t h = 0; h <= horizon; h++)
        p.states[h] = (uint32_t)random_below(seed, n_states);
    for (size_t h = 0; h < horizon; h++) {
        p.actions[h] = (uint32_t)random_below(seed, SMALL_ACTIONS);
        p.rewards[h] = random_unit(seed);
    }
    for (size_t i = 0; i < MOST_FEATURES; i++)
        p.features[i] = random_unit(seed) / 4;
    /* nothing behind the end is looked at */
    for (size_t h = p.length > 0 ? p.length : horizon; h < horizon; h++) {
        p.states[h + 1] = UINT32_MAX;
        p.actions[h] = UINT32_MAX;
        p.rewards[h] = (double)NAN;
    }
    return p;
}

static tacit_trajectory told(const person *p, bool carried)
{
    return (tacit_trajectory){STEPS_OF(carried ? NULL : p->states, p->actions, p->rewards),
                              .features = carried ? p->features : NULL, .length = p->length};
}

/* The episode that goes on where it ended, by the agent's billboard: what the header promises. */
static person continued(tacit_agent *agent, const person *p, bool carried, size_t row)
{
    const tacit_agent_facts *f = tacit_agent_describe(agent);
    const tacit_trajectory user = told(p, carried);
    tacit_trajectory full;
    person out = *p;
    const size_t length = p->length > 0 ? p->length : f->horizon;
    assert_ok(tacit__agent_clip_user(agent, &user, &full, NULL));
    assert_int_equal(full.length, 0);
    out.length = 0;
    for (size_t h = 0; h < f->horizon; h++) {
        out.actions[h] = full.actions[h];
        out.rewards[h] = full.rewards[h];
        assert_true(h >= length ||
                    (full.actions[h] == p->actions[h] && full.rewards[h] == p->rewards[h]));
        assert_true(h < length || (full.rewards[h] == 0 && full.actions[h] < f->n_actions));
        if (h >= length && !carried)
            assert_int_equal(full.states[h + 1], p->states[length]);
        if (h >= length && carried)
            assert_memory_equal(full.features + (h + 1) * row, p->features + length * row,
                                row * sizeof(double));
        if (h >= length && agent->board.policy != NULL) /* else it depends on chance */
            assert_int_equal(full.actions[h],
                             agent->board.policy[h * f->n_states + full.states[h]]);
    }
    for (size_t h = 0; h <= f->horizon && !carried; h++)
        out.states[h] = h <= length ? p->states[h] : p->states[length];
    if (carried && f->horizon > 1)
        memcpy(out.features, full.features, (f->horizon + 1) * row * sizeof(double));
    tacit__agent_wipe_user(agent);
    return out;
}

static void assert_same_state(const tacit_agent *a, const tacit_agent *b)
{
    agent_bytes x = agent_saved(a), y = agent_saved(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
}

static person person_among(uint64_t *seed, const tacit_agent_facts *f)
{
    return person_of(seed, f->n_states > 0 ? f->n_states : SMALL_STATES, f->horizon);
}

/* Both agents meet the same people, one of them full ones, and are the same to the last bit after each. */
static void check(tacit_agent *ended, tacit_agent *full, bool carried)
{
    const tacit_agent_facts *f = tacit_agent_describe(ended);
    uint64_t seed = 7;
    for (int user = 0; user < USERS; user++) {
        const person p = person_among(&seed, f);
        (void)agent_board(ended);
        (void)agent_board(full);
        const person q = continued(ended, &p, carried, f->per_situation);
        const tacit_trajectory one = told(&p, carried), two = told(&q, carried);
        assert_ok(tacit_agent_learn(ended, &one, NULL));
        assert_ok(tacit_agent_learn(full, &two, NULL));
        assert_same_state(ended, full);
    }
    tacit_agent_destroy(ended);
    tacit_agent_destroy(full);
}

/* Reports of all lengths have one size, and are to the last bit those of the full ones. */
static void check_report(tacit_agent *ended, tacit_agent *full, size_t length)
{
    static uint8_t report[1 << 16], other[1 << 16];
    const tacit_agent_facts *f = tacit_agent_describe(ended);
    const bool carried = f->n_states == 0;
    size_t size = sizeof report, same = sizeof other, most = 0;
    uint64_t seed = 9;
    person p = person_among(&seed, f);
    while (p.length != length)
        p = person_among(&seed, f);
    (void)agent_board(ended);
    (void)agent_board(full);
    const person q = continued(ended, &p, carried, f->per_situation);
    const tacit_trajectory one = told(&p, carried), two = told(&q, carried);
    assert_ok(tacit_agent_report(ended, &one, report, &size, NULL));
    assert_ok(tacit_agent_report(full, &two, other, &same, NULL));
    assert_ok(tacit_agent_report(full, NULL, NULL, &most, NULL));
    assert_int_equal(size, same);
    assert_int_equal(size, most);
    assert_memory_equal(report, other, size);
    tacit_agent_destroy(ended);
    tacit_agent_destroy(full);
}

static void create_both(const small_agent *v, tacit_agent **one, tacit_agent **other)
{
    assert_ok(small_agent_create(v, SMALL_STEPS, 2 * USERS, one, NULL));
    assert_ok(small_agent_create(v, SMALL_STEPS, 2 * USERS, other, NULL));
}

TEST(every_learner_counts_an_early_end_as_a_state_that_is_never_left)
{
    static small_agent agents[SMALL_MOST];
    const size_t n = small_agents_fill(NULL, 0, agents);
    for (size_t i = 0; i < n; i++) {
        tacit_agent *ended, *full;
        create_both(&agents[i], &ended, &full);
        check(ended, full, small_carried(&agents[i]));
        const bool local = agents[i].guarantee.model == TACIT_MODEL_LOCAL;
        for (size_t length = 0; length <= small_horizon(&agents[i], SMALL_STEPS) && local;
             length++) {
            create_both(&agents[i], &ended, &full);
            check_report(ended, full, length);
        }
    }
}

TEST(so_does_a_learner_whose_users_bring_features)
{
    static const tacit_linear carried = {.dimension = SMALL_D, .bound = 1};
    for (int clip = 0; clip < 2; clip++) {
        const tacit_agent_request request = {.kind = "lsvi-ucb",
                                             .guarantee = {TACIT_MODEL_JOINT, 1, 1e-6},
                                             .n_actions = SMALL_ACTIONS,
                                             .horizon = SMALL_STEPS,
                                             .episodes = USERS,
                                             .linear = &carried,
                                             .outside =
                                                 clip ? TACIT_OUTSIDE_CLIP : TACIT_OUTSIDE_REFUSE};
        check(agent_of(&request, 3), agent_of(&request, 3), true);
    }
}

static tacit_agent *tabular(tacit_agent_request q)
{
    q.kind = q.kind != NULL ? q.kind : "dp-ucbvi";
    q.guarantee = (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-6};
    q.n_states = SMALL_STATES;
    q.n_actions = SMALL_ACTIONS;
    q.horizon = SMALL_STEPS;
    q.episodes = USERS;
    return agent_of(&q, 5);
}

static const uint32_t states[SMALL_STEPS + 1] = {0, 1, 0, 1}, actions[SMALL_STEPS] = {0, 1, 1};

TEST(an_episode_that_is_too_long_is_refused_or_cut)
{
    SCOPED(tacit_agent) *refuse = tabular((tacit_agent_request){0}),
                        *clip = tabular((tacit_agent_request){.outside = TACIT_OUTSIDE_CLIP});
    const double rewards[SMALL_STEPS] = {0, 1, 0.5};
    const tacit_trajectory t = {STEPS_OF(states, actions, rewards), .length = SMALL_STEPS + 1};
    tacit_error err = TACIT_ERROR_INIT;
    assert_status(tacit_agent_learn(refuse, &t, &err), TACIT_OUT_OF_BOUND);
    assert_string_equal(err.message, "the episode has more steps than the horizon, 3");
    assert_ok(tacit_agent_learn(clip, &t, NULL));
    assert_true(tacit_agent_was_cut(clip));
}

/* The same people, once in [0, 1] and once in dollars. */
TEST(rewards_of_a_range_are_learned_as_their_place_in_it)
{
    static small_agent agents[SMALL_MOST];
    const size_t n = small_agents_fill(NULL, 0, agents);
    const double low = -5, high = 3;
    double dollars[SMALL_STEPS * SMALL_STATES * SMALL_ACTIONS];
    for (size_t i = 0; i < N_OF(dollars); i++)
        dollars[i] = low + (high - low) * small_rewards[i];
    for (size_t i = 0; i < n; i++) {
        const small_agent *v = &agents[i];
        SCOPED(tacit_agent) *unit = NULL, *ranged = NULL;
        uint64_t seed = 3;
        assert_ok(small_agent_create(v, SMALL_STEPS, USERS + 1, &unit, NULL));
        const bool carried = small_carried(v);
        for (int known = 0; known < 3 && ranged == NULL; known++) {
            const tacit_agent_request request = {SPACE_OF(carried ? 0 : small_states(v),
                                                          SMALL_ACTIONS,
                                                          small_horizon(v, SMALL_STEPS)),
                                                 SETTINGS_OF(&v->setting, v->setting.key != NULL),
                                                 .kind = v->kind,
                                                 .guarantee = v->guarantee,
                                                 .stationary = true,
                                                 .episodes = USERS + 1,
                                                 .bandit = v->bandit,
                                                 .mixture = known == 1 ? &small_mixture : NULL,
                                                 .linear = known == 2 ? &small_linear : NULL,
                                                 .rewards = v->bandit == NULL ? dollars : NULL,
                                                 .reward_low = low,
                                                 .reward_high = high};
            tacit_status status = agent_try(&request, 1, &ranged, NULL);
            assert_true(status == TACIT_OK || status == TACIT_UNSUPPORTED);
        }
        assert_non_null(ranged);
        for (int user = 0; user < USERS; user++) {
            person p = person_of(&seed, small_states(v), small_horizon(v, SMALL_STEPS)), q;
            const tacit_trajectory one = told(&p, carried), two = told(&q, carried);
            p.length = 0;
            for (size_t h = 0; h < SMALL_STEPS; h++) { /* whole numbers of eighths: exact */
                p.states[h + 1] = p.states[h + 1] < small_states(v) ? p.states[h + 1] : 0;
                p.actions[h] = p.actions[h] < SMALL_ACTIONS ? p.actions[h] : 0;
                p.rewards[h] = (double)random_below(&seed, 9) / 8;
            }
            q = p;
            for (size_t h = 0; h < SMALL_STEPS; h++)
                q.rewards[h] = low + (high - low) * p.rewards[h];
            const tacit_billboard a = agent_board(unit), b = agent_board(ranged);
            assert_int_equal(a.version, b.version);
            assert_ok(tacit_agent_learn(
                unit,
                &(tacit_trajectory){STEPS_OF(one.states, one.actions, one.rewards),
                                    .features = one.features},
                NULL));
            assert_ok(tacit_agent_learn(
                ranged,
                &(tacit_trajectory){STEPS_OF(two.states, two.actions, two.rewards),
                                    .features = two.features},
                NULL));
        }
        const tacit_billboard a = agent_board(unit), b = agent_board(ranged);
        const size_t cells = small_horizon(v, SMALL_STEPS) * small_states(v);
        if (a.policy != NULL)
            assert_memory_equal(a.policy, b.policy, cells * sizeof *a.policy);
        if (a.mixed != NULL)
            assert_memory_equal(a.mixed, b.mixed, cells * SMALL_ACTIONS * sizeof *a.mixed);
    }
}

TEST(rewards_outside_their_range_are_refused_or_cut)
{
    const tacit_agent_request range = {.reward_low = -1, .reward_high = 0};
    tacit_agent_request clipped = range;
    clipped.outside = TACIT_OUTSIDE_CLIP;
    SCOPED(tacit_agent) *refuse = tabular(range), *clip = tabular(clipped), *same = tabular(range);
    double rewards[SMALL_STEPS] = {-1, 0, -0.5};
    tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
    tacit_error err = TACIT_ERROR_INIT;
    assert_ok(tacit_agent_learn(same, &t, NULL));
    rewards[1] = 0.25;
    assert_status(tacit_agent_learn(refuse, &t, &err), TACIT_OUT_OF_BOUND);
    assert_string_equal(err.message, "step 1: the reward does not lie from -1 to 0");
    rewards[2] = (double)NAN;
    assert_ok(tacit_agent_learn(clip, &t, NULL)); /* 0, and the middle */
    assert_true(tacit_agent_was_cut(clip));
    assert_same_state(clip, same);
    assert_true(tacit_agent_describe(clip)->reward_low == -1);
    assert_true(tacit_agent_describe(clip)->reward_high == 0);
}

/* Where every step costs, to end early is good: 0 is the largest reward. */
TEST(the_reward_after_an_end_is_zero_in_the_declared_range)
{
    SCOPED(tacit_agent) *agent = tabular((tacit_agent_request){.reward_low = -1, .reward_high = 0}),
                        *never = tabular((tacit_agent_request){.reward_low = 1, .reward_high = 2});
    const double costs[] = {-0.5}, gains[] = {1.5};
    tacit_trajectory t = {STEPS_OF(states, actions, costs), .length = 1}, full;
    tacit_error err = TACIT_ERROR_INIT;
    (void)agent_board(agent);
    assert_ok(tacit__agent_clip_user(agent, &t, &full, NULL));
    assert_true(full.rewards[0] == 0.5 && full.rewards[1] == 1 && full.rewards[2] == 1);
    tacit__agent_wipe_user(agent);
    t.rewards = gains;
    assert_status(tacit_agent_learn(never, &t, &err), TACIT_OUT_OF_BOUND);
    assert_string_equal(err.message, "the episode ends early, after which rewards are 0; but they "
                                     "were declared to lie from 1 to 2");
}

TEST(expected_rewards_lie_in_their_range_up_to_rounding)
{
    double rewards[] = {1 + 1e-12, -1e-12, 0.5, 1};
    tacit_agent *agent = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    const tacit_agent_request request = {SPACE_OF(2, 2, 2), .kind = "ucbvi", .stationary = true,
                                         .episodes = 5, .rewards = rewards};
    assert_ok(agent_try(&request, 1, &agent, NULL));
    tacit_agent_destroy(agent);
    rewards[2] = 1.5;
    assert_status(agent_try(&request, 1, &agent, &err), TACIT_OUT_OF_BOUND);
    assert_string_equal(err.message, "an expected reward is 1.5, outside 0 to 1");
}

TEST(ranges_that_are_none_are_refused)
{
    static const double ranges[][2] = {
        {1, 1}, {2, 1}, {0, -1}, {-1e308, 1e308}, {0, (double)INFINITY}, {(double)NAN, 1}};
    for (size_t i = 0; i < N_OF(ranges); i++) {
        tacit_agent *agent = NULL;
        const tacit_agent_request request = {SPACE_OF(2, 2, 2), .kind = "ucbvi", .episodes = 5,
                                             .reward_low = ranges[i][0],
                                             .reward_high = ranges[i][1]};
        assert_status(agent_try(&request, 1, &agent, NULL), TACIT_OUT_OF_BOUND);
    }
}

/* Two rooms and the way out: who stays earns 1/2 at every step, who goes earns 0.6 once and is out. An optimistic learner must
 * not be drawn to the end by actions that nobody can try there. */
TEST(learners_are_not_drawn_to_an_end_that_they_cannot_explore)
{
    enum { H = 5, EPISODES = 3000 };
    static const char *const kinds[] = {"ucbvi", "private-ucb-po", "posterior-tabular", "lsvi-ucb"};
    for (size_t k = 0; k < N_OF(kinds); k++) {
        SCOPED(tacit_agent) *agent = agent_of(
            &(tacit_agent_request){.kind = kinds[k], SPACE_OF(2, 2, H), .episodes = EPISODES}, 1);
        double late = 0;
        uint64_t seed = 5;
        for (int user = 0; user < EPISODES; user++) {
            uint32_t s[H + 1] = {0}, a[H];
            double r[H], probability;
            size_t h = 0;
            (void)agent_board(agent);
            do {
                assert_ok(tacit_agent_act(agent, &(tacit_situation){.step = h, .state = s[h]},
                                          random_unit(&seed), &a[h], &probability, NULL));
                r[h] = a[h] == 0 ? 0.5 : 0.6;
                late += user >= EPISODES * 9 / 10 ? r[h] : 0;
                s[h + 1] = a[h];
            } while (++h < H && s[h] == 0);
            const tacit_trajectory t = {STEPS_OF(s, a, r), .length = h < H ? h : 0};
            assert_ok(tacit_agent_learn(agent, &t, NULL));
        }
        /* the best is 2.6; to leave at once is worth 0.6, and random actions some 1.1 */
        assert_within(late / (EPISODES / 10.0), 2.2, 2.6 + 1e-9);
    }
}
