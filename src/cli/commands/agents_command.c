/* tacit agents: lists the learners, the names that stand for them, and the baselines. */
#include "cli/cli.h"
#include "cli/kinds.h"

static const char before[] =
    "usage: tacit agents [NAME] [--load FILE.so] [--json]\n"
    "\n"
    "Lists the agents, one line each, or shows one: what it does, its paper, the models of "
    "privacy\n"
    "that it supports, its parameters with defaults and ranges. An experiment lists agents under\n"
    "`agents`. Besides its parameters every agent takes label, worlds, privacy and outside "
    "(refuse,\n"
    "or clip: data outside the declared domain are clipped to it and count). Begin with `auto`: "
    "it\n"
    "chooses the learner that fits the world and the privacy, and says which it is.\n"
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
                                           : tacit_baseline_at(i - m);
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
    return tacit_agent_alias_count() + tacit_agent_kind_count() + tacit_baseline_count();
}

int cli_agents(int argc, char **argv)
{
    const cli_catalog catalog = {.command = "agents",
                                 .noun = "agent",
                                 .before = before,
                                 .after = after,
                                 .count = count,
                                 .at = at};
    return cli_list(argc, argv, &catalog);
}
