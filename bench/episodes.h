/* Learners in worlds of episodes, for the benches that time them: created in one call, and played. */
#ifndef TACIT_BENCH_EPISODES_H
#define TACIT_BENCH_EPISODES_H

#include <tacit/agent.h>
#include <tacit/world.h>

#include "harness.h"
#include "noise/sampler.h"

tacit_world *bench_world(const char *kind, const tacit_setting *settings, size_t n);
/* Asks for an agent in the space of this world. */
tacit_agent_request bench_request(const tacit_world *world, const char *kind,
                                  tacit_guarantee guarantee, uint64_t users);

typedef struct bench_run {
    const tacit_world *world;
    const tacit_world_facts *facts;
    tacit_agent *agent;
    tacit_walk *walk;
    uint32_t *states, *actions;
    double *rewards, *scratch, value, regret;
    uint64_t version, episode;
} bench_run;

bench_run bench_run_open(const tacit_world *world, const tacit_agent_request *request);
void bench_run_close(bench_run *r);

/* Plays so many episodes more: seconds for one. The exact regret is computed in every `evaluate`-th one at the most, and when the
 * plan is a new one. */
double bench_run_play(bench_run *r, uint64_t episodes, uint64_t evaluate);
/* A run of its own. */
double bench_episodes(const tacit_world *world, const tacit_agent_request *request,
                      uint64_t episodes, uint64_t evaluate);

/* Seconds for n draws of noise in one call. */
double bench_draws(size_t n, tacit__noise_law law);

#endif
