/* Variables of a test that are destroyed at the end of their block, in reverse order:
 *
 *     SCOPED(tacit_agent) *agent = agent_of(&request, 1);     a pointer to a type that has a row below
 *     SCOPED_BY(arena_close) arena a = arena_open(...);       any type, by a function of its address
 *     SCOPED_FREE char *text = malloc(n);                     memory of malloc
 *
 * A file that has a type of its own adds a row: SCOPED_TYPE(tacit__gram, tacit__gram_destroy). A failed assertion leaves
 * the block without destroying anything, as cmocka always has. */
#ifndef TACIT_TESTS_SCOPED_H
#define TACIT_TESTS_SCOPED_H

#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/audit.h>
#include <tacit/client.h>
#include <tacit/explain.h>
#include <tacit/lab.h>
#include <tacit/ledger.h>
#include <tacit/noise.h>
#include <tacit/plan.h>
#include <tacit/sum.h>
#include <tacit/world.h>

#define SCOPED(type) __attribute__((cleanup(scoped_end_##type))) type
#define SCOPED_BY(end) __attribute__((cleanup(end)))
#define SCOPED_FREE __attribute__((cleanup(scoped_free)))
#define SCOPED_TYPE(type, destroy)                                                                 \
    static inline void scoped_end_##type(type **x)                                                 \
    {                                                                                              \
        destroy(*x);                                                                               \
    }

static inline void scoped_free(void *address)
{
    void *memory;
    memcpy(&memory, address, sizeof memory);
    free(memory);
}

SCOPED_TYPE(tacit_agent, tacit_agent_destroy)
SCOPED_TYPE(tacit_world, tacit_world_destroy)
SCOPED_TYPE(tacit_noise, tacit_noise_destroy)
SCOPED_TYPE(tacit_results, tacit_results_destroy)
SCOPED_TYPE(tacit_plan, tacit_plan_destroy)
SCOPED_TYPE(tacit_client, tacit_client_destroy)
SCOPED_TYPE(tacit_experiment, tacit_experiment_destroy)
SCOPED_TYPE(tacit_ledger, tacit_ledger_destroy)
SCOPED_TYPE(tacit_audit, tacit_audit_destroy)
SCOPED_TYPE(tacit_walk, tacit_walk_destroy)
SCOPED_TYPE(tacit_explanation, tacit_explanation_destroy)
SCOPED_TYPE(tacit_rounds, tacit_rounds_destroy)
SCOPED_TYPE(tacit_sum, tacit_sum_destroy)

#endif
