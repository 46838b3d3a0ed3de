/* Which kinds take logs: those that keep account of who was where. Every kind that can be served with one step is named here. */
#include <string.h>

#include <tacit/agent.h>

#include "agents/agent_inside.h"
#include "support/check.h"

TEST(who_takes_their_own_plans_for_granted_takes_no_logs)
{
    static const char *const takes[] = {"ucbvi",    "dp-ucbvi",       "private-ucb-vi",
                                        "pucb",     "private-ucb-po", "posterior-tabular",
                                        "lin-ucb",  "gp-ucb",         "kernel-elimination",
                                        "ldp-obi",  "ucrl-vtr",       "ucrl-vtr-plus",
                                        "lsvi-ucb", "linopt-vi",      "linopt-po"};
    static const char *const refuses[] = {"explore-commit-tabular",
                                          "explore-commit-mixture",
                                          "explore-commit-linear",
                                          "explore-commit-features",
                                          "explore-commit-kernel",
                                          "posterior-mixture",
                                          "posterior-linear",
                                          "posterior-bandit",
                                          "posterior-kernel",
                                          "capri",
                                          "no such kind"};
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (!tacit__agent_takes_logs(takes[i]))
            fail_msg("%s", takes[i]);
    for (size_t i = 0; i < sizeof refuses / sizeof *refuses; i++)
        if (tacit__agent_takes_logs(refuses[i]))
            fail_msg("%s", refuses[i]);
    for (size_t i = 0; i < tacit_agent_kind_count(); i++) {
        const char *name = tacit_agent_kind_at(i)->name;
        bool known = false;
        for (size_t j = 0; j < sizeof takes / sizeof *takes; j++)
            known = known || strcmp(takes[j], name) == 0;
        for (size_t j = 0; j < sizeof refuses / sizeof *refuses; j++)
            known = known || strcmp(refuses[j], name) == 0;
        if (!known)
            fail_msg("is %s honest about users who acted by another policy?", name);
    }
}
