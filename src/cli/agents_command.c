/* tacit agents: lists the learners, the names that stand for them, and the yardsticks. */
#include "cli/cli.h"
#include "cli/kinds.h"

static const char before[] =
    "usage: tacit agents [NAME] [--load FILE.so] [--json]\n"
    "\n"
    "Lists the agents, one line each, or shows one: what it is, its paper, the privacy that it can "
    "promise, its\n"
    "parameters with defaults and ranges. An experiment lists agents under `agents`. Beside its\n"
    "parameters every agent takes label, worlds, privacy and outside (refuse, or clip: data\n"
    "outside the declared domain are moved to its boundary and count). `auto` is the one to begin\n"
    "with: it takes the learner that fits the world and the privacy, and says which.\n"
    "\n"
    "An agent's other inputs count as public: features, mixtures, kernels, norms, weights. If you\n"
    "fitted them on the same people, they reveal those people's data without any noise.\n"
    "\n";

static const char after[] = "\n"
                            "example:\n"
                            "  tacit agents posterior-tabular\n";

static cli_kind at(size_t i)
{
    const size_t n = tacit_agent_alias_count(), m = n + tacit_agent_kind_count();
    const tacit_agent_kind *kind = i < n   ? tacit_agent_alias_at(i)
                                   : i < m ? tacit_agent_kind_at(i - n)
                                           : tacit_yardstick_at(i - m);
    return (cli_kind){.name = kind->name,
                      .help = kind->help,
                      .source = kind->source,
                      .models = kind->models,
                      .returning = tacit_agent_kind_returning(kind->name),
                      .parameters = kind->parameters,
                      .n_parameters = kind->n_parameters};
}

static size_t count(void)
{
    return tacit_agent_alias_count() + tacit_agent_kind_count() + tacit_yardstick_count();
}

int cli_agents(int argc, char **argv)
{
    const cli_catalogue catalogue = {.command = "agents",
                                     .noun = "agent",
                                     .before = before,
                                     .after = after,
                                     .count = count,
                                     .at = at};
    return cli_list(argc, argv, &catalogue);
}
