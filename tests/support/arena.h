/* Learners, and the worlds that they are tested in, each in one call. What fails here ends the case with its message. */
#ifndef TACIT_TESTS_ARENA_H
#define TACIT_TESTS_ARENA_H

#include <tacit/agent.h>

#include "support/world.h"

/* A world of episodes with a walk through it, and room for one episode and for evaluations. */
typedef struct arena {
    tacit_world *world;
    const tacit_world_facts *facts;
    tacit_walk *walk;
    uint32_t *states, *actions;
    double *rewards, *scratch;
} arena;

arena arena_open(const char *kind, const tacit_setting *settings, size_t n, uint64_t seed);
void arena_close(arena *a);

/* An episode under the board's policy; valid until the next one. */
tacit_trajectory arena_play(arena *a, uint64_t episode, const tacit_billboard *board);
/* Both boards show the same version and the same policy, deterministic or not. */
void arena_assert_same_board(const arena *a, const tacit_billboard *x, const tacit_billboard *y);

/* Asks for an agent in the space of this world, with all that the world says of it. */
tacit_agent_request request_in(const tacit_world *world, const char *kind,
                               tacit_guarantee guarantee, uint64_t episodes);
/* An agent with simulated noise of this seed; the second returns what refuses it. */
tacit_agent *agent_of(const tacit_agent_request *request, uint64_t seed);
tacit_status agent_try(const tacit_agent_request *request, uint64_t seed, tacit_agent **out,
                       tacit_error *err);
tacit_billboard agent_board(tacit_agent *agent);

/* What an agent saves or publishes; free(data). */
typedef struct agent_bytes {
    uint8_t *data;
    size_t size;
} agent_bytes;
agent_bytes agent_saved(const tacit_agent *agent);
agent_bytes agent_published(const tacit_agent *agent);

/* Users `first` to `last` - 1 plan, act and learn, one after the other. Returns their mean reward. */
double arena_learn(arena *a, tacit_agent *agent, uint64_t first, uint64_t last);
/* A learner that is saved before user `stop`, and loaded into an agent whose noise has another key, goes on as if it had never been
 * stopped; it saves the same bytes again. `planned`: it was saved after the plan for that user. */
void arena_assert_continued(arena *a, const tacit_agent_request *request, uint64_t stop,
                            bool planned);

/* Users `first` to `last` - 1 of a bandit: plan, act, learn. Returns their regret; the last board is copied to *board, and its
 * probabilities to `mixed` (n of them), where these are not NULL. */
double bandit_play(const tacit_world *world, tacit_agent *agent, uint64_t first, uint64_t last,
                   tacit_billboard *board, double *mixed, size_t n);

#endif
