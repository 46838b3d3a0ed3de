#include "support/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/experiment.h"

static tacit_noise *noise_of(uint64_t seed)
{
    tacit_noise *noise;
    assert_ok(tacit_noise_create_simulated(seed, &noise));
    return noise;
}

arena arena_open(const char *kind, const tacit_setting *settings, size_t n, uint64_t seed)
{
    arena a = {.world = world_of(kind, settings, n)};
    tacit_noise *noise = noise_of(seed);
    a.facts = tacit_world_describe(a.world);
    assert_ok(tacit_walk_create(a.world, noise, &a.walk, NULL));
    tacit_noise_destroy(noise);
    a.states = calloc(a.facts->horizon + 1, sizeof *a.states);
    a.actions = calloc(a.facts->horizon, sizeof *a.actions);
    a.rewards = calloc(a.facts->horizon, sizeof *a.rewards);
    a.scratch = calloc(tacit_world_scratch(a.world), sizeof *a.scratch);
    return a;
}

void arena_close(arena *a)
{
    tacit_walk_destroy(a->walk);
    tacit_world_destroy(a->world);
    free(a->states);
    free(a->actions);
    free(a->rewards);
    free(a->scratch);
}

tacit_trajectory arena_play(arena *a, uint64_t episode, const tacit_billboard *board)
{
    if (board->policy != NULL)
        assert_ok(
            tacit_walk_play(a->walk, episode, board->policy, a->states, a->actions, a->rewards));
    else
        assert_ok(tacit_walk_play_mixed(a->walk, episode, board->mixed, a->states, a->actions,
                                        a->rewards));
    return (tacit_trajectory){STEPS_OF(a->states, a->actions, a->rewards)};
}

void arena_assert_same_board(const arena *a, const tacit_billboard *x, const tacit_billboard *y)
{
    size_t cells = a->facts->horizon * a->facts->n_states;
    assert_true(x->version == y->version);
    assert_true((x->policy != NULL) == (y->policy != NULL));
    assert_true((x->mixed != NULL) == (y->mixed != NULL));
    if (x->policy != NULL)
        assert_memory_equal(x->policy, y->policy, cells * sizeof *x->policy);
    if (x->mixed != NULL)
        assert_memory_equal(x->mixed, y->mixed, cells * a->facts->n_actions * sizeof *x->mixed);
}

tacit_agent_request request_in(const tacit_world *world, const char *kind,
                               tacit_guarantee guarantee, uint64_t episodes)
{
    tacit_agent_request q = tacit__world_request(world, episodes, NULL);
    q.kind = kind;
    q.guarantee = guarantee;
    return q;
}

tacit_status agent_try(const tacit_agent_request *request, uint64_t seed, tacit_agent **out,
                       tacit_error *err)
{
    SCOPED(tacit_noise) *noise = noise_of(seed);
    *out = NULL;
    tacit_status status = tacit_agent_create(request, noise, out, err);
    return status;
}

tacit_agent *agent_of(const tacit_agent_request *request, uint64_t seed)
{
    tacit_agent *agent;
    tacit_error err = {0};
    if (agent_try(request, seed, &agent, &err) != TACIT_OK)
        fail_msg("%s: %s", request->kind, err.message);
    return agent;
}

tacit_billboard agent_board(tacit_agent *agent)
{
    tacit_billboard board;
    tacit_error err = {0};
    if (tacit_agent_plan(agent, &board, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    return board;
}

static agent_bytes bytes_of(const tacit_agent *agent,
                            tacit_status (*write)(const tacit_agent *agent, void *out, size_t *size,
                                                  tacit_error *err))
{
    agent_bytes b = {0};
    assert_ok(write(agent, NULL, &b.size, NULL));
    b.data = malloc(b.size);
    size_t size = b.size;
    assert_ok(write(agent, b.data, &size, NULL));
    assert_true(size == b.size);
    return b;
}

agent_bytes agent_saved(const tacit_agent *agent)
{
    return bytes_of(agent, tacit_agent_save);
}

agent_bytes agent_published(const tacit_agent *agent)
{
    return bytes_of(agent, tacit_agent_publish);
}

double arena_learn(arena *a, tacit_agent *agent, uint64_t first, uint64_t last)
{
    double sum = 0;
    for (uint64_t k = first; k < last; k++) {
        const tacit_billboard board = agent_board(agent);
        const tacit_trajectory t = arena_play(a, k, &board);
        for (size_t h = 0; h < a->facts->horizon; h++)
            sum += t.rewards[h];
        assert_ok(tacit_agent_learn(agent, &t, NULL));
    }
    return last > first ? sum / (double)(last - first) : 0;
}

void arena_assert_continued(arena *a, const tacit_agent_request *request, uint64_t stop,
                            bool planned)
{
    SCOPED(tacit_agent) *straight = agent_of(request, 9), *first = agent_of(request, 9),
                        *second = agent_of(request, 10);
    tacit_billboard x = {.version = 0}, y;
    (void)arena_learn(a, straight, 0, stop);
    (void)arena_learn(a, first, 0, stop);
    if (planned) {
        x = agent_board(straight);
        (void)agent_board(first);
    }
    const agent_bytes saved = agent_saved(first);
    assert_ok(tacit_agent_load(second, saved.data, saved.size, NULL));
    const agent_bytes again = agent_saved(second);
    assert_int_equal(again.size, saved.size);
    assert_memory_equal(again.data, saved.data, saved.size);
    for (uint64_t k = stop; k < request->episodes; k++) {
        if (planned && k == stop) {
            assert_ok(tacit_agent_billboard(second, &y, NULL));
        } else {
            x = agent_board(straight);
            y = agent_board(second);
        }
        arena_assert_same_board(a, &x, &y);
        const tacit_trajectory t = arena_play(a, k, &x);
        assert_ok(tacit_agent_learn(straight, &t, NULL));
        assert_ok(tacit_agent_learn(second, &t, NULL));
    }
    free(saved.data);
    free(again.data);
}

double bandit_play(const tacit_world *world, tacit_agent *agent, uint64_t first, uint64_t last,
                   tacit_billboard *board, double *mixed, size_t n)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    tacit_noise *noise = noise_of(5);
    SCOPED(tacit_rounds) *rounds = NULL;
    double regret = 0;
    assert_ok(tacit_rounds_create(world, noise, &rounds, NULL));
    tacit_noise_destroy(noise);
    for (uint64_t t = first; t < last; t++) {
        tacit_billboard shown = agent_board(agent);
        tacit_visitor v;
        uint32_t action;
        double probability, reward, best = 0;
        assert_ok(tacit_rounds_begin(rounds, t, &v));
        tacit_situation where = {.state = v.state, .features = v.features};
        assert_ok(tacit_agent_act(agent, &where, tacit_rounds_chance(rounds), &action, &probability,
                                  NULL));
        assert_ok(tacit_rounds_reward(rounds, action, &reward));
        for (size_t a = 0; a < f->n_actions; a++)
            best = fmax(best, v.means[a]);
        regret += best - v.means[action];
        if (board != NULL)
            *board = shown;
        if (mixed != NULL && shown.mixed != NULL)
            memcpy(mixed, shown.mixed, n * sizeof *mixed);
        tacit_trajectory user = {STEPS_OF(&v.state, &action, &reward), .features = v.features};
        assert_ok(tacit_agent_learn(agent, &user, NULL));
    }
    return regret;
}
