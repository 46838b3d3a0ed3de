/* Declaring many users costs nothing: every learner, in every model that it has, in spaces of every shape, is created for 10^9 users and
 * for as many as files may declare, and makes its first plan. A walk through the users would not end before the test's time
 * is over. A learner that keeps all its users may be refused for memory; one that it says takes so many must take them. */
#include <stdlib.h>

#include <tacit/agent.h>
#include <tacit/lab.h>
#include <tacit/world.h>

#include "support/check.h"
#include "support/spaces.h"

static const tacit_guarantee guarantees[] = {{TACIT_MODEL_NONE, 0, 0},
                                             {TACIT_MODEL_JOINT, 1, 0},
                                             {TACIT_MODEL_JOINT, 1, 1e-13},
                                             {TACIT_MODEL_LOCAL, 1, 0},
                                             {TACIT_MODEL_LOCAL, 1, 1e-13}};

/* True: it was created. */
static bool hire(const tacit_agent_request *request)
{
    SCOPED(tacit_agent) *agent = NULL;
    if (agent_try(request, 11, &agent, NULL) != TACIT_OK)
        return false;
    (void)agent_board(agent);
    return true;
}

/* How many learners there are for so many users; *kinds: of how many kinds. */
static size_t count(uint64_t users, size_t *kinds)
{
    size_t n = 0;
    *kinds = 0;
    for (size_t k = 0; k < tacit_agent_kind_count(); k++) {
        const size_t before = n;
        for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
            SCOPED(tacit_world) *world = NULL;
            tacit_agent_request q = space_request(&spaces[s], users, &world);
            q.kind = tacit_agent_kind_at(k)->name;
            for (size_t g = 0; g < sizeof guarantees / sizeof *guarantees; g++) {
                q.guarantee = guarantees[g];
                n += hire(&q);
            }
        }
        *kinds += n > before;
    }
    return n;
}

TEST(learners_are_declared_for_any_number_of_users_at_once)
{
    size_t few_kinds, many_kinds, most_kinds;
    const size_t few = count(100000, &few_kinds), many = count(1000000000, &many_kinds);
    assert_true(many_kinds == few_kinds && many > few / 2);
    assert_true(count(TACIT_MAX_EPISODES, &most_kinds) > 0);
}
