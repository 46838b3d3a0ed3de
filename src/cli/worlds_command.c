/* tacit worlds: lists the environments. */
#include "cli/cli.h"
#include "cli/kinds.h"

static const char before[] =
    "usage: tacit worlds [NAME] [--json]\n"
    "\n"
    "Lists the worlds, one line each, or shows one: what it is, where it comes from, its "
    "parameters with\n"
    "defaults and ranges. An experiment names one under `world`: world: {kind: NAME, PARAMETER: "
    "VALUE}.\n"
    "\n";

static const char after[] = "\n"
                            "example:\n"
                            "  tacit worlds riverswim\n";

static const tacit__field options[] = {
    {"json", TACIT__FIELD_FLAG, 0, .help = "one JSON document: name, help, source, parameters"},
    {.name = NULL}};

static cli_kind at(size_t i)
{
    const tacit_world_kind *kind = tacit_world_kind_at(i);
    return (cli_kind){.name = kind->name,
                      .help = kind->help,
                      .source = kind->source,
                      .parameters = kind->parameters,
                      .n_parameters = kind->n_parameters};
}

int cli_worlds(int argc, char **argv)
{
    const cli_catalogue catalogue = {.command = "worlds",
                                     .noun = "world",
                                     .form = {before, after, options},
                                     .n = tacit_world_kind_count(),
                                     .at = at};
    return cli_list(argc, argv, &catalogue);
}
