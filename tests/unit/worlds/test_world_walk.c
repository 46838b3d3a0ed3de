/* Walks: their chance is what the model says, and belongs to the episode alone. */
#include "support/world.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "worlds/kind.h"
#include "worlds/walk.h"

static tacit_walk *walk_in(const tacit_world *world, uint64_t seed)
{
    tacit_walk *walk = NULL;
    tacit_error err;
    SCOPED(tacit_noise) *noise = simulated_noise(seed);
    assert_ok(tacit_walk_create(world, noise, &walk, &err));
    return walk;
}

static const tacit_setting layered[] = {
    {"states", "7", 0}, {"actions", "3", 0}, {"horizon", "9", 0}, {"stationary", "no", 0}};
static const tacit_setting slippery[] = {{"slip", "0.5", 0}, {"map", "SFG/SHF/FFS", 0}};
static const tacit_setting seven[] = {{"size", "7", 0}, {"shuffle", "yes", 0}};
static const struct {
    const char *kind;
    const tacit_setting *settings;
    size_t n;
} worlds[] = {{"riverswim", NULL, 0},
              {"random-tabular", layered, 4},
              {"grid", slippery, 2},
              {"deep-sea", seven, 2}};
enum { N_WORLDS = sizeof worlds / sizeof *worlds, MAX_STATES = 64, MAX_STEPS = 32 };

/* Mean of the sums of rewards of 40,000 episodes, five policies in four worlds: beyond six standard errors
 * with probability below 20 x 2e-9. */
TEST(returns_have_the_exact_value_as_their_mean)
{
    enum { EPISODES = 40000 };
    uint32_t policy[MAX_STEPS * MAX_STATES], states[MAX_STEPS + 1], actions[MAX_STEPS];
    double scratch[2 * MAX_STATES], rewards[MAX_STEPS], value;
    for (size_t w = 0; w < N_WORLDS; w++) {
        SCOPED(tacit_world) *world = world_of(worlds[w].kind, worlds[w].settings, worlds[w].n);
        const tacit_world_facts *facts = tacit_world_describe(world);
        for (uint32_t variant = 0; variant < 5; variant++) {
            SCOPED(tacit_walk) *walk = walk_in(world, variant);
            for (uint32_t i = 0; i < facts->horizon * facts->n_states; i++)
                policy[i] = (variant == 0 ? (uint32_t)facts->n_actions - 1
                                          : i * 2654435761U >> (variant + 7)) %
                            (uint32_t)facts->n_actions;
            assert_ok(tacit_world_evaluate(world, policy, scratch, &value));
            double sum = 0, squares = 0;
            for (uint64_t e = 0; e < EPISODES; e++) {
                double total = 0;
                assert_ok(tacit_walk_play(walk, e, policy, states, actions, rewards));
                for (size_t h = 0; h < facts->horizon; h++)
                    total += rewards[h];
                sum += total;
                squares += total * total;
            }
            double mean = sum / EPISODES, variance = fmax(squares / EPISODES - mean * mean, 0);
            assert_true(fabs(mean - value) <= 6 * sqrt(variance / EPISODES) + 1e-9);
        }
    }
}

/* All rows of RiverSwim: how often each next state follows, within six standard errors. */
TEST(next_states_have_their_frequencies)
{
    SCOPED(tacit_world) *world = world_of("riverswim", NULL, 0);
    const tacit__mdp *mdp = tacit__world_mdp(world);
    SCOPED(tacit_walk) *walk = walk_in(world, 5);
    enum { TRIALS = 20000 };
    for (uint32_t s = 0; s < 6; s++)
        for (uint32_t a = 0; a < 2; a++) {
            double count[6] = {0}, reward;
            for (uint64_t e = 0; e < TRIALS; e++) {
                (void)tacit__walk_begin(walk, e);
                walk->state = s;
                count[tacit__walk_step(walk, a, &reward)]++;
                assert_true(reward == mdp->reward[s * 2 + a]);
            }
            for (size_t i = mdp->start[s * 2 + a]; i < mdp->start[s * 2 + a + 1]; i++) {
                double p = mdp->prob[i], error = sqrt(p * (1 - p) / TRIALS);
                assert_true(fabs(count[mdp->next[i]] / TRIALS - p) <= 6 * error);
                count[mdp->next[i]] = 0;
            }
            for (size_t next = 0; next < 6; next++)
                assert_true(count[next] == 0);
        }
}

TEST(an_episode_depends_on_seed_and_number_alone)
{
    enum { EPISODES = 100 };
    uint32_t policy[20 * 6], first[EPISODES][21], again[21], actions[20];
    double rewards[20];
    SCOPED(tacit_world) *world = world_of("riverswim", NULL, 0);
    SCOPED(tacit_walk) *walk = walk_in(world, 3), *other = walk_in(world, 3),
                       *stranger = walk_in(world, 4);
    for (size_t i = 0; i < 20 * 6; i++)
        policy[i] = 1;
    for (uint64_t e = 0; e < EPISODES; e++)
        assert_ok(tacit_walk_play(walk, e, policy, first[e], actions, rewards));
    int differing = 0;
    for (uint64_t e = EPISODES; e-- > 0;) { /* backwards, after an agent that did something else */
        uint32_t s;
        double reward;
        assert_ok(tacit_walk_begin(other, e, &s));
        assert_ok(tacit_walk_step(other, 0, &s, &reward));
        assert_ok(tacit_walk_play(other, e, policy, again, actions, rewards));
        assert_memory_equal(again, first[e], sizeof again);
        assert_ok(tacit_walk_play(stranger, e, policy, again, actions, rewards));
        differing += memcmp(again, first[e], sizeof again) != 0;
    }
    assert_true(differing > EPISODES / 2);
}

TEST(playing_and_stepping_are_the_same)
{
    uint32_t policy[MAX_STEPS * MAX_STATES], states[MAX_STEPS + 1], actions[MAX_STEPS], s;
    double rewards[MAX_STEPS], reward;
    for (size_t w = 0; w < N_WORLDS; w++) {
        SCOPED(tacit_world) *world = world_of(worlds[w].kind, worlds[w].settings, worlds[w].n);
        const tacit_world_facts *facts = tacit_world_describe(world);
        size_t S = facts->n_states, H = facts->horizon;
        SCOPED(tacit_walk) *walk = walk_in(world, 1);
        for (uint32_t i = 0; i < H * S; i++)
            policy[i] = i * 2654435761U >> 9 & 1;
        for (uint64_t e = 0; e < 200; e++) {
            assert_ok(tacit_walk_play(walk, e, policy, states, actions, rewards));
            assert_ok(tacit_walk_begin(walk, e, &s));
            assert_int_equal(s, states[0]);
            for (size_t h = 0; h < H; h++) {
                assert_ok(tacit_walk_step(walk, policy[h * S + s], &s, &reward));
                assert_int_equal(s, states[h + 1]);
                assert_true(reward == rewards[h]);
                assert_int_equal(actions[h], policy[h * S + states[h]]);
            }
            assert_status(tacit_walk_step(walk, 0, &s, &reward), TACIT_EXHAUSTED);
        }
    }
}

TEST(mixed_policies_are_played_as_they_are_valued)
{
    enum { EPISODES = 40000 };
    static double mixed[MAX_STEPS * MAX_STATES * 4];
    static const double shares[4][4] = {
        {1}, {0.125, 0.875}, {0.125, 0, 0.875}, {0.125, 0, 0.375, 0.5}};
    uint32_t states[MAX_STEPS + 1], actions[MAX_STEPS];
    double scratch[2 * MAX_STATES], rewards[MAX_STEPS], value;
    for (size_t w = 0; w < N_WORLDS; w++) {
        SCOPED(tacit_world) *world = world_of(worlds[w].kind, worlds[w].settings, worlds[w].n);
        const tacit_world_facts *facts = tacit_world_describe(world);
        size_t S = facts->n_states, A = facts->n_actions, H = facts->horizon;
        SCOPED(tacit_walk) *walk = walk_in(world, 11);
        for (size_t i = 0; i < H * S * A; i++)
            mixed[i] = shares[A - 1][i % A];
        assert_ok(tacit_world_evaluate_mixed(world, mixed, scratch, &value));
        double sum = 0, squares = 0, count[4] = {0};
        for (uint64_t e = 0; e < EPISODES; e++) {
            double total = 0;
            assert_ok(tacit_walk_play_mixed(walk, e, mixed, states, actions, rewards));
            for (size_t h = 0; h < H; h++) {
                total += rewards[h];
                count[actions[h]]++;
            }
            sum += total;
            squares += total * total;
        }
        double mean = sum / EPISODES, variance = fmax(squares / EPISODES - mean * mean, 0);
        assert_true(fabs(mean - value) <= 6 * sqrt(variance / EPISODES) + 1e-9);
        double n = EPISODES * (double)H;
        assert_true(fabs(count[0] / n - 0.125) <= 6 * sqrt(0.125 * 0.875 / n));
        assert_true(A == 2 || count[1] == 0);
    }
}

TEST(a_pure_policy_is_played_alike_as_a_mixed_one)
{
    static double mixed[20 * 6 * 2];
    uint32_t policy[20 * 6], states[21], actions[20], same_states[21], same_actions[20];
    double rewards[20], same_rewards[20];
    SCOPED(tacit_world) *world = world_of("riverswim", NULL, 0);
    SCOPED(tacit_walk) *walk = walk_in(world, 2);
    for (uint32_t i = 0; i < 20 * 6; i++) {
        policy[i] = i * 2654435761U >> 9 & 1;
        mixed[2 * i + policy[i]] = 1;
    }
    for (uint64_t e = 0; e < 300; e++) {
        assert_ok(tacit_walk_play(walk, e, policy, states, actions, rewards));
        assert_ok(tacit_walk_play_mixed(walk, e, mixed, same_states, same_actions, same_rewards));
        assert_memory_equal(states, same_states, sizeof states);
        assert_memory_equal(actions, same_actions, sizeof actions);
        assert_memory_equal(rewards, same_rewards, sizeof rewards);
    }
    memset(mixed, 0, sizeof mixed);
    assert_status(tacit_walk_play_mixed(walk, 0, mixed, states, actions, rewards),
                  TACIT_BAD_ARGUMENT);
}

TEST(a_horizon_longer_than_a_group_works_too)
{
    static const tacit_setting settings[] = {{"horizon", "3000", 0}};
    SCOPED(tacit_world) *world = world_of("riverswim", settings, 1);
    SCOPED(tacit_walk) *walk = walk_in(world, 1);
    assert_int_equal(walk->group, 1);
    uint32_t s;
    double reward, total = 0;
    for (uint64_t e = 0; e < 20; e++) {
        assert_ok(tacit_walk_begin(walk, e, &s));
        for (size_t h = 0; h < 3000; h++) {
            assert_ok(tacit_walk_step(walk, 1, &s, &reward));
            total += reward;
        }
    }
    /* In the long run the right end is visited 0.4286 of the time; within a wide band. */
    assert_true(total / 60000 > 0.35 && total / 60000 < 0.5);
}

TEST(wrong_calls_are_refused)
{
    SCOPED(tacit_world) *world = world_of("riverswim", NULL, 0);
    tacit_walk *walk = walk_in(world, 1);
    uint32_t s = 77, policy[20 * 6] = {0}, states[21], actions[20];
    double reward, rewards[20];
    assert_status(tacit_walk_step(walk, 0, &s, &reward), TACIT_EXHAUSTED); /* before begin */
    assert_status(tacit_walk_begin(walk, UINT64_C(1) << 62, &s), TACIT_BAD_ARGUMENT);
    assert_int_equal(s, 77);
    assert_ok(tacit_walk_begin(walk, (UINT64_C(1) << 62) - 1, &s));
    assert_status(tacit_walk_step(walk, 2, &s, &reward), TACIT_BAD_ARGUMENT);
    policy[0] = 2;
    assert_status(tacit_walk_play(walk, 0, policy, states, actions, rewards), TACIT_BAD_ARGUMENT);
    assert_status(tacit_walk_step(walk, 0, &s, &reward), TACIT_EXHAUSTED);
    assert_status(tacit_walk_play(walk, 0, NULL, states, actions, rewards), TACIT_BAD_ARGUMENT);
    tacit_walk_destroy(walk);
    tacit_walk_destroy(NULL);
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    walk = NULL;
    tacit__alloc_fail_at(1);
    assert_status(tacit_walk_create(world, noise, &walk, NULL), TACIT_NO_MEMORY);
    tacit__alloc_fail_at(0);
    assert_null(walk);
}
