/* Planners with rare releases (plan/posterior/score_planner.h) and their learners: what all of them must do. */
#ifndef TACIT_TESTS_SCORE_PLANNERS_H
#define TACIT_TESTS_SCORE_PLANNERS_H

#include "plan/posterior/score_planner.h"
#include "support/arena.h"

enum { PLANNER_MOST = 128 }; /* numbers of a plan */

/* A planner of a world. */
typedef struct planner_case {
    tacit_world *world;
    const tacit_world_facts *facts;
    void *model; /* whose type the test knows */
    tacit__score_planner *planner;
    size_t S, A, H, numbers;
} planner_case;

/* Q of a step by the formula, plainly. */
typedef double planner_formula(const planner_case *x, size_t h, size_t pair, double xi,
                               const double *after);

/* Batches of 40, 7 and 3 users, of which two are shown; 12 users of each are bold at most, by five plans. */
tacit__batch_plans_options planner_batches(const planner_case *x, size_t steady);

/* A world, of which model and planner are to be made. */
planner_case planner_open(const char *kind, const tacit_setting *settings, size_t n);
void planner_close(planner_case *x, void (*destroy_model)(void *model));

/* A release that says something. */
void planner_absorb(planner_case *x, uint64_t users, double scale, uint64_t seed);

/* Before the first release and after each, plans of some xi have the Q of the formula, and are greedy by it. */
void assert_plans_are(planner_case *x, planner_formula *formula, double scale);

/* So many users of each batch have each plan, `slots` of them; the board's version grows with every plan that is new. */
void assert_turns(planner_case *x, size_t slots, const size_t *wanted, double scale);

/* A chain of links. At each link one of the keys leads on, and the others lead out, where nothing is paid; its end pays 1. The last
 * action is to give up, which pays 0.1 and leads out. States are the links, the end and being out. */
typedef struct key_chain {
    uint32_t links, keys;
} key_chain;
uint32_t chain_next(const key_chain *c, uint32_t place, uint32_t action, uint32_t key);
double chain_reward(const key_chain *c, uint32_t place, uint32_t action);
/* How many of the last thousand of 20,000 users reach the end; of the request only the kind, the guarantee, settings and what is known
 * of the world need to be set. */
size_t chain_arrivals(const key_chain *c, tacit_agent_request q, uint64_t seed);

/* Both learners, each with every guarantee, stopped in the middle of a batch, at its end, before the first user and after the last; in a
 * world with this setting, unless it is NULL. */
void assert_learners_continue(const char *world, const tacit_setting *setting,
                              const char *const learners[2]);

/* The request is unsupported, and the message says these words. */
void assert_unsupported(tacit_agent_request q, const char *words);

#endif
