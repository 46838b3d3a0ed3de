/* Many users in one call: the same as one by one; what a failure leaves; features of plain vectors; what has passed. */
#include <math.h>
#include <stdlib.h>

#include <tacit/lab.h>
#include <tacit/sum.h>

#include "account/door.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/sums.h"

enum { USERS = 30, STEPS = 3, D = 4, ACTIONS = 3 };

static void assert_same_state(const tacit_agent *a, const tacit_agent *b)
{
    agent_bytes x = agent_saved(a), y = agent_saved(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    free(x.data);
    free(y.data);
}

static tacit_agent *tabular(uint64_t users, tacit_outside outside)
{
    return agent_of(&(tacit_agent_request){SPACE_OF(2, 2, STEPS), .kind = "dp-ucbvi",
                                           .guarantee = {TACIT_MODEL_JOINT, 1, 1e-6},
                                           .episodes = users, .outside = outside},
                    7);
}

typedef struct tables {
    uint32_t states[USERS][STEPS + 1], actions[USERS][STEPS];
    double rewards[USERS][STEPS];
} tables;

static tables some_users(void)
{
    tables t;
    for (uint32_t u = 0; u < USERS; u++)
        for (uint32_t h = 0; h <= STEPS; h++) {
            t.states[u][h] = (u * 7 + h * 3) / 2 % 2;
            if (h == STEPS)
                continue;
            t.actions[u][h] = (u + h) % 2;
            t.rewards[u][h] = (u * 5 + h) % 9 / 8.0;
        }
    return t;
}

static tacit_trajectories all_of(const tables *t)
{
    return (tacit_trajectories){STEPS_OF(t->states[0], t->actions[0], t->rewards[0])};
}

TEST(many_users_are_learned_as_one_by_one)
{
    const tables t = some_users();
    const tacit_trajectories users = all_of(&t);
    SCOPED(tacit_agent) *one = tabular(USERS, TACIT_OUTSIDE_REFUSE),
                        *many = tabular(USERS, TACIT_OUTSIDE_REFUSE);
    size_t learned;
    for (size_t u = 0; u < USERS; u++)
        assert_ok(tacit_agent_learn(
            one, &(tacit_trajectory){STEPS_OF(t.states[u], t.actions[u], t.rewards[u])}, NULL));
    assert_ok(tacit_agent_learn_many(many, USERS, &users, &learned, NULL));
    assert_int_equal(learned, USERS);
    (void)agent_board(one);
    (void)agent_board(many);
    assert_same_state(one, many);
    assert_status(tacit_agent_learn_many(many, 1, &users, &learned, NULL), TACIT_EXHAUSTED);
    assert_int_equal(learned, 0);
    assert_ok(tacit_agent_learn_many(many, 0, &users, &learned, NULL));
}

TEST(the_users_before_a_failure_are_learned_and_no_others)
{
    tables t = some_users();
    t.rewards[4][1] = 1.5;
    const tacit_trajectories users = all_of(&t);
    SCOPED(tacit_agent) *four = tabular(USERS, TACIT_OUTSIDE_REFUSE),
                        *many = tabular(USERS, TACIT_OUTSIDE_REFUSE),
                        *clipped = tabular(USERS, TACIT_OUTSIDE_CLIP);
    tacit_error err = TACIT_ERROR_INIT;
    size_t learned = 99;
    assert_ok(tacit_agent_learn_many(four, 4, &users, &learned, NULL));
    assert_status(tacit_agent_learn_many(many, USERS, &users, &learned, &err), TACIT_OUT_OF_BOUND);
    assert_int_equal(learned, 4);
    assert_same_state(four, many);
    assert_ok(tacit_agent_learn_many(clipped, 4, &users, &learned, NULL));
    assert_false(tacit_agent_was_cut(clipped));
    assert_ok(tacit_agent_learn_many(
        clipped, USERS - 4,
        &(tacit_trajectories){STEPS_OF(t.states[4], t.actions[4], t.rewards[4])}, &learned, NULL));
    assert_int_equal(learned, USERS - 4);
    assert_true(tacit_agent_was_cut(clipped)); /* the first of them */
}

static tacit_agent *bandit(const tacit_bandit *b)
{
    return agent_of(&(tacit_agent_request){.kind = "lin-ucb",
                                           .guarantee = {TACIT_MODEL_JOINT, 1, 1e-6},
                                           .n_actions = ACTIONS,
                                           .horizon = 1,
                                           .episodes = USERS,
                                           .bandit = b},
                    7);
}

static const double low[D - 1] = {-1, 0, 5}, high[D - 1] = {1, 10, 5};

TEST(vectors_become_features_that_learners_accept)
{
    const tacit_bandit b = {.dimension = ACTIONS * D, .bound = 1};
    double x[USERS][D - 1], phi[USERS][ACTIONS][ACTIONS * D], chance[USERS], rewards[USERS];
    bool cut = true;
    for (int u = 0; u < USERS; u++) {
        x[u][0] = u % 3 - 1;
        x[u][1] = u % 11;
        x[u][2] = 5;
        chance[u] = u / (double)USERS;
        rewards[u] = u % 2;
    }
    assert_int_equal(tacit_features_size(D - 1, ACTIONS), sizeof phi[0] / sizeof(double));
    assert_ok(tacit_features_make(USERS, D - 1, low, high, x[0], ACTIONS, phi[0][0], &cut, NULL));
    assert_false(cut);
    SCOPED(tacit_agent) *one = bandit(&b), *many = bandit(&b);
    uint32_t actions[USERS], same[USERS];
    double probabilities[USERS];
    size_t done;
    (void)agent_board(one);
    (void)agent_board(many);
    assert_ok(tacit_agent_act_many(many, USERS, 0, NULL, phi[0][0], chance, actions, probabilities,
                                   &done, NULL));
    assert_int_equal(done, USERS);
    for (size_t u = 0; u < USERS; u++) {
        double probability;
        assert_ok(tacit_agent_act(one, &(tacit_situation){.features = phi[u][0]}, chance[u],
                                  &same[u], &probability, NULL));
        assert_true(probability == probabilities[u]);
        assert_ok(tacit_agent_learn(
            one,
            &(tacit_trajectory){.actions = &same[u], .rewards = &rewards[u], .features = phi[u][0]},
            NULL));
    }
    assert_memory_equal(actions, same, sizeof same);
    assert_ok(tacit_agent_learn_many(
        many, USERS,
        &(tacit_trajectories){.actions = actions, .rewards = rewards, .features = phi[0][0]}, &done,
        NULL));
    assert_same_state(one, many);
}

TEST(actions_before_a_failure_are_written_and_no_others)
{
    SCOPED(tacit_agent) *agent = tabular(USERS, TACIT_OUTSIDE_REFUSE);
    const uint32_t states[] = {0, 1, 2, 0};
    uint32_t actions[] = {7, 7, 7, 7};
    size_t done = 99;
    tacit_error err = TACIT_ERROR_INIT;
    assert_status(tacit_agent_act_many(agent, 4, 0, states, NULL, NULL, actions, NULL, &done, &err),
                  TACIT_BAD_ARGUMENT); /* there is no plan yet */
    assert_int_equal(done, 0);
    (void)agent_board(agent);
    assert_status(tacit_agent_act_many(agent, 4, 0, states, NULL, NULL, actions, NULL, &done, &err),
                  TACIT_OUT_OF_BOUND);
    assert_int_equal(done, 2);
    assert_true(actions[0] < 2 && actions[1] < 2 && actions[2] == 7 && actions[3] == 7);
    assert_status(
        tacit_agent_act_many(agent, 1, STEPS, states, NULL, NULL, actions, NULL, &done, &err),
        TACIT_OUT_OF_BOUND);
    assert_status(tacit_agent_act_many(agent, 1, 0, NULL, NULL, NULL, actions, NULL, &done, &err),
                  TACIT_BAD_ARGUMENT);
}

TEST(features_of_vectors_are_what_the_header_says)
{
    const double x[2][D - 1] = {{1, 0, 5}, {-3, (double)NAN, 6}};
    double context[2][D], blocks[2][2][2 * D];
    bool cut = false;
    assert_ok(tacit_features_make(2, D - 1, low, high, x[0], 0, context[0], &cut, NULL));
    assert_true(cut);
    const double wanted[2][D] = {{0.5, -0.5, 0, 0.5}, {-0.5, 0, 0.5, 0.5}};
    assert_memory_equal(context, wanted, sizeof wanted);
    assert_ok(tacit_features_make(2, D - 1, low, high, x[0], 2, blocks[0][0], NULL, NULL));
    for (size_t v = 0; v < 2; v++)
        for (size_t a = 0; a < 2; a++)
            for (size_t i = 0; i < 2 * D; i++)
                assert_true(blocks[v][a][i] == (i / D == a ? wanted[v][i % D] : 0));
    const double wide[] = {-1.7e308, -1e-300, -5}, other[] = {1.7e308, 1e-300, 1e300};
    for (int i = 0; i < 1000; i++) { /* never longer than 1, whatever the numbers */
        double far[D - 1], phi[D], square = 0;
        for (size_t j = 0; j < D - 1; j++)
            far[j] = wide[j] + (other[j] / 2 - wide[j] / 2) * (i / 500.0);
        assert_ok(tacit_features_make(1, D - 1, wide, other, far, 0, phi, NULL, NULL));
        for (size_t j = 0; j < D; j++)
            square += phi[j] * phi[j];
        assert_within(square, 0.25, 1 + 1e-15);
    }
    tacit_error err = TACIT_ERROR_INIT;
    assert_status(tacit_features_make(1, 1, high, low, x[0], 0, context[0], NULL, &err),
                  TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message,
                        "coordinate 0 has bounds 1 and -1, expected two finite numbers, "
                        "the smaller first");
    const double infinite = (double)INFINITY;
    assert_status(tacit_features_make(1, 1, low, &infinite, x[0], 0, context[0], NULL, &err),
                  TACIT_BAD_ARGUMENT);
    assert_int_equal(tacit_features_size(SIZE_MAX / 2, 2), 0);
}

TEST(a_ledger_tells_what_has_passed_and_what_it_cost)
{
    tables t = some_users();
    const tacit_trajectories users = all_of(&t);
    tacit_agent *agent = tabular(USERS, TACIT_OUTSIDE_REFUSE);
    const tacit_ledger *ledger = tacit_agent_ledger(agent);
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    tacit_composition spent, all;
    size_t learned;
    assert_ok(tacit_ledger_spent(ledger, 1e-6, &spent, NULL));
    assert_true(spent.epsilon.high == 0 && spent.epsilon.low == 0);
    assert_int_equal(tacit_ledger_passed(ledger, 0), 0);
    assert_ok(tacit_agent_learn_many(agent, 10, &users, &learned, NULL));
    (void)agent_board(agent);
    assert_ok(tacit_ledger_spent(ledger, 1e-6, &spent, NULL));
    assert_ok(tacit_plan_account(plan, 1e-6, &all, NULL));
    assert_int_equal(tacit_ledger_passed(ledger, 0), 10);
    assert_within(spent.epsilon.high, 0.9, all.epsilon.high);
    assert_within(all.epsilon.high, 0.99, 1);
    assert_true(tacit_ledger_is_simulated(ledger));
    tacit_agent_destroy(agent);
    SCOPED(tacit_agent) *open =
        agent_of(&(tacit_agent_request){.kind = "ucbvi", SPACE_OF(2, 2, 2), .episodes = 3}, 1);
    assert_null(tacit_agent_ledger(open));
}

/* Fresh releases are paid one by one: after 4 of 16, half of mu for Gaussian noise and a quarter of epsilon for Laplace. */
TEST(fresh_releases_are_charged_as_they_pass)
{
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        const tacit_law law = gaussian ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE;
        const tacit_release line = {.name = "counts",
                                    .dimension = 1,
                                    .steps = 16,
                                    .l1 = 1,
                                    .l2 = 1,
                                    .column_l1 = 16,
                                    .column_l2 = 4,
                                    .mechanism = "fresh"};
        SCOPED(tacit_plan) *plan = NULL;
        SCOPED(tacit_ledger) *ledger = NULL;
        tacit_composition spent;
        assert_ok(tacit_plan_create(&plan));
        assert_ok(tacit_plan_declare(plan, &line, NULL));
        assert_ok(tacit_plan_set_scale(plan, "counts", law, 16, NULL));
        SCOPED(tacit_noise) *noise = simulated_noise(1);
        assert_ok(tacit_ledger_create(plan, noise, &ledger, NULL));
        tacit__gate *gate;
        assert_ok(tacit__gate_open(ledger, &(tacit__gate_spec){.name = "counts", .lattice_bits = 4},
                                   &gate, NULL));
        for (uint64_t step = 1; step <= 16; step++) {
            assert_ok(tacit__gate_begin(gate, (tacit__tag){0}, NULL));
            assert_ok(tacit_ledger_spent(ledger, gaussian ? 1e-6 : 0, &spent, NULL));
            if (gaussian)
                assert_close(spent.mu, sqrt((double)step) / 16, 1e-12);
            else
                assert_close(spent.epsilon.high, (double)step / 16, 1e-12);
        }
    }
}

TEST(many_vectors_are_added_as_one_by_one)
{
    double x[6][2] = {{0.5, 0}, {-0.25, 0.25}, {0, 0.125}, {1, 0}, {2, 2}, {0, 0}};
    for (int i = 0; i < N_SUM_KINDS; i++) {
        const tacit_sum_spec spec = sum_spec_of(sum_kinds[i], 2, 5);
        SCOPED_BY(sum_rig_close) sum_rig one, many;
        double a[2], b[2];
        size_t added = 99;
        sum_rig_open(&one, &spec, "s", 1, 3);
        sum_rig_open(&many, &spec, "s", 1, 3);
        for (int u = 0; u < 4; u++)
            assert_ok(tacit_sum_add(one.sum, x[u], NULL));
        assert_status(tacit_sum_add_many(many.sum, 6, x[0], &added, NULL), TACIT_OUT_OF_BOUND);
        assert_int_equal(added, 4);
        assert_ok(tacit_sum_release(one.sum, a, NULL));
        assert_ok(tacit_sum_release(many.sum, b, NULL));
        assert_memory_equal(a, b, sizeof a);
        assert_status(tacit_sum_add_many(many.sum, 2, x[2], &added, NULL), TACIT_EXHAUSTED);
        assert_int_equal(added, 1);
    }
}
