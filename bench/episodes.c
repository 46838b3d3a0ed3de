#include "episodes.h"

#include "lab/experiment.h"

tacit_world *bench_world(const char *kind, const tacit_setting *settings, size_t n)
{
    tacit_world *world;
    tacit_error err = {0};
    const tacit_world_request request = {.kind = kind, .settings = settings, .n_settings = n};
    bench_check(tacit_world_create(&request, &world, &err), &err);
    return world;
}

tacit_agent_request bench_request(const tacit_world *world, const char *kind,
                                  tacit_guarantee guarantee, uint64_t users)
{
    tacit_agent_request q = tacit__world_request(world, users, NULL);
    q.kind = kind;
    q.guarantee = guarantee;
    return q;
}

bench_run bench_run_open(const tacit_world *world, const tacit_agent_request *request)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    bench_run r = {.world = world, .facts = f};
    tacit_error err = {0};
    tacit_noise *noise;
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_agent_create(request, noise, &r.agent, &err), &err);
    bench_check(tacit_walk_create(world, noise, &r.walk, &err), &err);
    tacit_noise_destroy(noise);
    r.states = calloc(f->horizon + 1, sizeof *r.states);
    r.actions = calloc(f->horizon, sizeof *r.actions);
    r.rewards = calloc(f->horizon, sizeof *r.rewards);
    r.scratch = calloc(tacit_world_scratch(world), sizeof *r.scratch);
    return r;
}

void bench_run_close(bench_run *r)
{
    tacit_walk_destroy(r->walk);
    tacit_agent_destroy(r->agent);
    free(r->states);
    free(r->actions);
    free(r->rewards);
    free(r->scratch);
}

double bench_run_play(bench_run *r, uint64_t episodes, uint64_t evaluate)
{
    tacit_error err = {0};
    const tacit_trajectory user = {
        .states = r->states, .actions = r->actions, .rewards = r->rewards};
    episodes = bench_times(episodes);
    double start = bench_now();
    for (uint64_t k = 0; k < episodes; k++, r->episode++) {
        tacit_billboard board;
        bench_check(tacit_agent_plan(r->agent, &board, &err), &err);
        bool mixed = board.mixed != NULL;
        if (board.version != r->version && k % evaluate == 0) {
            bench_check(
                mixed ? tacit_world_evaluate_mixed(r->world, board.mixed, r->scratch, &r->value)
                      : tacit_world_evaluate(r->world, board.policy, r->scratch, &r->value),
                NULL);
            r->version = board.version;
        }
        r->regret += r->facts->optimal_value - r->value;
        bench_check(mixed ? tacit_walk_play_mixed(r->walk, r->episode, board.mixed, r->states,
                                                  r->actions, r->rewards)
                          : tacit_walk_play(r->walk, r->episode, board.policy, r->states,
                                            r->actions, r->rewards),
                    NULL);
        bench_check(tacit_agent_learn(r->agent, &user, &err), &err);
    }
    return (bench_now() - start) / (double)episodes;
}

double bench_episodes(const tacit_world *world, const tacit_agent_request *request,
                      uint64_t episodes, uint64_t evaluate)
{
    bench_run r = bench_run_open(world, request);
    double seconds = bench_run_play(&r, episodes, evaluate);
    bench_run_close(&r);
    return seconds;
}

double bench_draws(size_t n, tacit__noise_law law)
{
    tacit_noise *noise;
    tacit__site site;
    int64_t *x = calloc(n, sizeof *x);
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    tacit__site_open(&site, noise, "floor");
    const size_t rounds = bench_times(2000000 / n + 1);
    double start = bench_now();
    for (size_t i = 0; i < rounds; i++)
        tacit__noise_draw(&site, i, 0, law, 0x1p28, n, x);
    double seconds = (bench_now() - start) / (double)rounds;
    tacit_noise_destroy(noise);
    free(x);
    return seconds;
}
