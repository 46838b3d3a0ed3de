#include "support/score_planners.h"

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

enum { MOST_NUMBERS = 4096, CHAIN_USERS = 20000, CHAIN_MOST = 16 };

static const uint64_t ends[] = {40, 47, 50};

/* --- Planners -------------------------------------------------------------------------------------- */

tacit__batch_plans_options planner_batches(const planner_case *x, size_t steady)
{
    return (tacit__batch_plans_options){.horizon = x->H,
                                        .batches = 2,
                                        .ends = ends,
                                        .noise = {.start = 0.5, .sum = 4},
                                        .quota = 12,
                                        .exploring = 5,
                                        .steady = steady,
                                        .boldness = 2,
                                        .steady_boldness = steady > 1 ? 0.5 : 0,
                                        .tie_seed = 3};
}

planner_case planner_open(const char *kind, const tacit_setting *settings, size_t n)
{
    tacit_world *world = world_of(kind, settings, n);
    const tacit_world_facts *facts = tacit_world_describe(world);
    assert_true(facts->horizon * facts->n_states <= PLANNER_MOST);
    return (planner_case){.world = world,
                          .facts = facts,
                          .S = facts->n_states,
                          .A = facts->n_actions,
                          .H = facts->horizon};
}

void planner_close(planner_case *x, void (*destroy_model)(void *model))
{
    tacit__score_planner_destroy(x->planner);
    destroy_model(x->model);
    tacit_world_destroy(x->world);
}

void planner_absorb(planner_case *x, uint64_t users, double scale, uint64_t seed)
{
    double sums[MOST_NUMBERS], starts[PLANNER_MOST];
    assert_true(x->numbers > 0 && x->numbers <= MOST_NUMBERS);
    for (size_t i = 0; i < x->numbers; i++)
        sums[i] = scale * (double)users * random_normal(&seed);
    for (size_t s = 0; s < x->S; s++)
        starts[s] = 0.5 * (double)users * (s == 0);
    const tacit__score_sums shown = {.users = users, .sums = sums, .starts = starts};
    tacit__score_planner_absorb(x->planner, &shown);
}

static void assert_plan_is(const planner_case *x, planner_formula *formula, double xi)
{
    uint32_t policy[PLANNER_MOST];
    double after[PLANNER_MOST] = {0};
    tacit__score_planner_plan(x->planner, xi, policy);
    const double *q = tacit__score_planner_q(x->planner);
    for (size_t h = x->H; h-- > 0;) {
        double here[PLANNER_MOST];
        for (size_t s = 0; s < x->S; s++) {
            double best = -1;
            for (size_t a = 0; a < x->A; a++) {
                const double wanted = formula(x, h, s * x->A + a, xi, after);
                assert_within(q[(h * x->S + s) * x->A + a] - wanted, -1e-10, 1e-10);
                best = fmax(best, wanted);
            }
            here[s] = q[(h * x->S + s) * x->A + policy[h * x->S + s]];
            assert_within(here[s] - best, -1e-7, 1e-10);
        }
        memcpy(after, here, sizeof after);
    }
}

void assert_plans_are(planner_case *x, planner_formula *formula, double scale)
{
    for (uint64_t k = 0; k < 3; k++) {
        assert_plan_is(x, formula, 0);
        assert_plan_is(x, formula, 0.7);
        assert_plan_is(x, formula, 40); /* nothing but what is possible at best is left */
        if (k < 2)
            planner_absorb(x, k == 0 ? 40 : 7, scale, k + 1);
    }
}

void assert_turns(planner_case *x, size_t slots, const size_t *wanted, double scale)
{
    tacit__batch_plans *batches = tacit__score_planner_batches(x->planner);
    uint64_t version = 0;
    for (size_t k = 0; k < N_OF(ends); k++) {
        const uint64_t users = ends[k] - (k > 0 ? ends[k - 1] : 0);
        size_t turns[CHAIN_MOST] = {0}, last = 99, over;
        for (uint64_t place = 0; place < users; place++) {
            const size_t turn = tacit__batch_plans_turn(batches, place);
            const tacit_billboard board = tacit__batch_plans_billboard(batches, place);
            assert_true(turn == last ? board.version == version : board.version > version);
            version = board.version;
            last = turn;
            turns[turn]++;
        }
        const tacit__played_batch *played = tacit__batch_plans_finished(batches, &over);
        assert_int_equal(over, k);
        for (size_t j = 0; j < slots; j++) {
            assert_int_equal(turns[j], wanted[k * slots + j]);
            assert_int_equal(played[k].players[j], wanted[k * slots + j]); /* visits follow */
        }
        if (k < 2)
            planner_absorb(x, users, scale, k);
    }
}

/* --- Learners -------------------------------------------------------------------------------------- */

uint32_t chain_next(const key_chain *c, uint32_t place, uint32_t action, uint32_t key)
{
    return place < c->links && action == key ? place + 1 : c->links + 1;
}

double chain_reward(const key_chain *c, uint32_t place, uint32_t action)
{
    return place == c->links ? 1 : place < c->links && action == c->keys ? 0.1 : 0;
}

size_t chain_arrivals(const key_chain *c, tacit_agent_request q, uint64_t seed)
{
    const uint32_t steps = c->links + 1, places = c->links + 2;
    q.n_states = places;
    q.n_actions = c->keys + 1;
    q.horizon = steps;
    q.episodes = CHAIN_USERS;
    SCOPED(tacit_agent) *agent = agent_of(&q, seed);
    size_t arrived = 0;
    for (uint64_t k = 0; k < CHAIN_USERS; k++) {
        uint32_t states[CHAIN_MOST + 1] = {0}, actions[CHAIN_MOST];
        double paid[CHAIN_MOST];
        const tacit_billboard board = agent_board(agent);
        for (uint32_t h = 0; h < steps; h++) {
            actions[h] = board.policy[h * places + states[h]];
            paid[h] = chain_reward(c, states[h], actions[h]);
            states[h + 1] = chain_next(c, states[h], actions[h], 3 * h % c->keys);
        }
        arrived += k >= CHAIN_USERS - 1000 && states[c->links] == c->links;
        const tacit_trajectory t = {STEPS_OF(states, actions, paid)};
        assert_ok(tacit_agent_learn(agent, &t, NULL));
    }
    return arrived;
}

void assert_learners_continue(const char *world, const tacit_setting *of_world,
                              const char *const learners[2])
{
    enum { USERS = 60 };
    static const uint64_t stops[] = {0, 1, 3, 4, 5, 17, USERS - 1, USERS};
    static const tacit_guarantee models[] = {
        {TACIT_MODEL_NONE, 0, 0}, {TACIT_MODEL_JOINT, 1, 1e-5}, {TACIT_MODEL_LOCAL, 10, 1e-5}};
    for (size_t i = 0; i < 2 * N_OF(models) * N_OF(stops); i++) {
        const char *kind = learners[i / N_OF(models) / N_OF(stops)];
        SCOPED_BY(arena_close) arena a = arena_open(world, of_world, of_world != NULL ? 1 : 0, 5);
        tacit_agent_request q =
            request_in(a.world, kind, models[i / N_OF(stops) % N_OF(models)], USERS);
        const tacit_setting setting = SET(kind[0] == 'p' ? "first" : "explore", "4");
        q.settings = &setting;
        q.n_settings = 1;
        arena_assert_continued(&a, &q, stops[i % N_OF(stops)], false);
    }
}

void assert_unsupported(tacit_agent_request q, const char *words)
{
    tacit_agent *agent = NULL;
    tacit_error err = {.message = ""};
    assert_status(agent_try(&q, 1, &agent, &err), TACIT_UNSUPPORTED);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, words);
}
