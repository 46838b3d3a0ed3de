/* tacit worlds: lists the environments. */
#include "cli/cli.h"
#include "cli/kinds.h"

static const char before[] =
    "usage: tacit worlds [NAME] [--load FILE.so] [--json]\n"
    "\n"
    "Lists the worlds, one line each, or shows one: what it is, where it comes from, its "
    "parameters with\n"
    "defaults and ranges. An experiment names one under `world`: world: {kind: NAME, PARAMETER: "
    "VALUE}.\n"
    "\n";

static const char after[] = "\n"
                            "example:\n"
                            "  tacit worlds riverswim\n";

static cli_kind at(size_t i)
{
    const tacit_world_kind *kind = tacit_world_kind_at(i);
    return (cli_kind){.name = kind->name,
                      .help = kind->help,
                      .source = kind->source,
                      .parameters = kind->parameters,
                      .n_parameters = kind->n_parameters};
}

static size_t count(void)
{
    return tacit_world_kind_count();
}

int cli_worlds(int argc, char **argv)
{
    const cli_catalog catalog = {.command = "worlds",
                                 .noun = "world",
                                 .before = before,
                                 .after = after,
                                 .count = count,
                                 .at = at};
    return cli_list(argc, argv, &catalog);
}
