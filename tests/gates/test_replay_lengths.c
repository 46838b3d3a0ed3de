/* Gate 1 for episodes that end early: whether and when an episode ends is its user's own data, so neighbors
 * may have other lengths. With the releases frozen everybody else meets the same, and no pair of lengths
 * moves more than what is declared. gates.counting does this for every learner; here the worst pair is
 * searched for, for one learner of each curator with episodes. What is declared is for full episodes, so the
 * search must come as near to it as there. */

#include "support/check.h"
#include "support/kinds.h"
#include "support/neighbors.h"
#include "support/small_agents.h"

enum { STATES = 2, ACTIONS = 2, HORIZON = 3, USERS = 8 };

static void check(tacit_agent_request request, double least, bool devices)
{
    static crowd c;
    c = (crowd){.request = request, .devices = devices, .ends = true};
    if (request.n_states == 0) {
        c.features = CROWD_BALL;
        c.rows = request.n_actions;
        c.dimension = request.linear->dimension;
        c.bound = request.linear->bound;
    }
    crowd_fill(&c, 3);
    const neighbors_wish wish = {
        .note = "early ends", .restarts = 4, .moves = 60, .least_whole = least};
    neighbors_assert(&c, &wish);
}

static tacit_agent_request request_of(const char *kind, tacit_guarantee g)
{
    return (tacit_agent_request){SPACE_OF(STATES, ACTIONS, HORIZON),
                                 .kind = kind,
                                 .guarantee = g,
                                 .stationary = true,
                                 .episodes = USERS,
                                 .rewards = small_rewards};
}

TEST(tabular_learners_move_by_what_they_declare)
{
    for (unsigned model = TACIT_AGENT_JOINT_PURE; model <= TACIT_AGENT_LOCAL; model *= 2) {
        check(request_of("dp-ucbvi", guarantee_in(model, 1, 1e-6)), 0.5, false);
        if (model >= TACIT_AGENT_LOCAL_PURE)
            check(request_of("dp-ucbvi", guarantee_in(model, 1, 1e-6)), 0.5, true);
    }
    check(request_of("private-ucb-po", guarantee_in(TACIT_AGENT_JOINT, 1, 1e-6)), 0.5, false);
    check(request_of("posterior-tabular", guarantee_in(TACIT_AGENT_JOINT, 1, 1e-6)), 0.2, false);
    for (unsigned model = TACIT_AGENT_LOCAL_PURE; model <= TACIT_AGENT_LOCAL; model *= 2)
        check(request_of("posterior-tabular", guarantee_in(model, 30, 1e-6)), 0.9, true);
}

TEST(mixture_and_linear_learners_move_by_what_they_declare)
{
    tacit_agent_request request = request_of("ucrl-vtr", guarantee_in(TACIT_AGENT_JOINT, 1, 1e-6));
    check(request, 0.15, false);
    request.kind = "posterior-mixture";
    request.mixture = &small_mixture;
    check(request, 0.2, false);
    request.rewards = NULL; /* they are learned */
    check(request, 0.2, false);
    request.guarantee = guarantee_in(TACIT_AGENT_LOCAL, 1, 1e-6);
    check(request, 0.2, true);
    request = request_of("posterior-linear", guarantee_in(TACIT_AGENT_JOINT, 1, 1e-6));
    request.linear = &small_linear;
    check(request, 0.2, false);
}

TEST(learners_with_features_of_users_move_by_what_they_declare)
{
    static const tacit_linear carried = {.dimension = 2, .bound = 1};
    tacit_agent_request request = request_of("lsvi-ucb", guarantee_in(TACIT_AGENT_JOINT, 1, 1e-6));
    request.n_states = 0;
    request.rewards = NULL;
    request.linear = &carried;
    check(request, 0.2, false);
}
