/* tacit explain: what each agent of an experiment promises, through which releases, and what the accountant makes of
 * it. Nothing is played. Service files are explained by cli/explain_service.c. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <tacit/explain.h>
#include <tacit/lab.h>
#include <tacit/service.h>

#include "cli/cli.h"
#include "cli/explain_service.h"
#include "cli/findings.h"
#include "cli/print_json.h"
#include "cli/warn.h"
#include "cli/words.h"

static const char help[] =
    "usage: tacit explain FILE.yaml [--runs N] [--episodes K] [--agent LABEL] [--json]\n"
    "\n"
    "For each agent of an experiment, or each learner of a service file: the guarantee that it\n"
    "claims, what it releases and how far one user can move that, the noise, and what the\n"
    "accountant makes of it. Nothing is played, served or written.\n"
    "\n"
    "  --agent LABEL     this agent, or learner, only\n"
    "  --episodes K      users, instead of what the file says\n"
    "  --runs N          repetitions, instead of what the file says (no promise depends on them)\n"
    "  --json            one JSON document\n"
    "\n"
    "Exit status 1 if a claim that should hold (calibration tight) does not.\n"
    "\n"
    "example:\n"
    "  tacit explain examples/riverswim.yaml\n"
    "  tacit explain examples/service/service.yaml --agent river\n";

enum { RUNS = 1, EPISODES, AGENT, JSON, HELP };

static const struct option options[] = {
    {"runs", required_argument, NULL, RUNS},   {"episodes", required_argument, NULL, EPISODES},
    {"agent", required_argument, NULL, AGENT}, {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, HELP},         {NULL, 0, NULL, 0}};

typedef struct wish {
    const char *file, *label;
    tacit_experiment_changes changes;
    bool json, help;
} wish;

static json_t *world_json(const tacit_experiment_facts *facts, size_t i, const tacit_world *world)
{
    const tacit_world_facts *space = tacit_world_describe(world);
    return cli_world_json(&facts->worlds[i], space,
                          tacit_world_original_value(world, space->optimal_value));
}

/* `worlds` have their agents with them; one world alone stands beside them. Takes it over. */
static int print_document(const tacit_experiment_facts *facts, json_t *worlds)
{
    json_t *list = cli_exceptions_json(), *document;
    if (facts->n_worlds > 1) {
        document = json_pack("{s:s, s:O, s:I, s:o}", "title", facts->title, "worlds", worlds,
                             "episodes", (json_int_t)facts->episodes, "not_covered", list);
    } else {
        json_t *world = json_array_get(worlds, 0), *agents = json_object_get(world, "agents");
        json_incref(agents);
        (void)json_object_del(world, "agents");
        document = json_pack("{s:s, s:O, s:I, s:o, s:o}", "title", facts->title, "world", world,
                             "episodes", (json_int_t)facts->episodes, "agents", agents,
                             "not_covered", list);
    }
    json_decref(worlds);
    return cli_print_json(document);
}

/* --- The command ----------------------------------------------------------------------------------- */

static int read_option(void *wishes, int code)
{
    wish *w = wishes;
    switch (code) {
    case RUNS:
        return cli_read_count("--runs", optarg, TACIT_MAX_RUNS, &w->changes.runs);
    case EPISODES:
        return cli_read_count("--episodes", optarg, TACIT_MAX_EPISODES, &w->changes.episodes);
    case AGENT:
        w->label = optarg;
        return CLI_DONE;
    case JSON:
        w->json = true;
        return CLI_DONE;
    default:
        w->help = true;
        return CLI_DONE;
    }
}

static int read_options(int argc, char **argv, wish *w)
{
    *w = (wish){0};
    int status = cli_take_options(argc, argv, ":h", options, read_option, w);
    if (status != CLI_DONE || w->help)
        return status;
    if (optind == argc)
        return cli_wrong(
            "no experiment or service is given, expected FILE.yaml; see tacit explain --help");
    if (optind + 1 < argc)
        return cli_wrong("unexpected argument '%s' after '%s', expected one experiment",
                         argv[optind + 1], argv[optind]);
    w->file = argv[optind];
    return CLI_DONE;
}

/* What explaining has found so far. */
typedef struct story {
    const wish *w;
    const tacit_experiment *experiment;
    const tacit_experiment_facts *facts;
    json_t *worlds; /* NULL: text */
    size_t n_told;
    bool broken; /* a claim that should hold does not */
} story;

static tacit_status explain_agent(story *s, size_t i, const tacit_world *world, size_t agent_number,
                                  json_t *agents, tacit_error *err)
{
    const tacit_entry *entry = &s->facts->agents[agent_number];
    tacit_agent *agent = NULL;
    if ((s->w->label != NULL && strcmp(s->w->label, entry->label) != 0) ||
        !tacit_experiment_plays(s->experiment, i, agent_number))
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    if (!entry->yardstick)
        status = tacit_experiment_agent(s->experiment, i, world, agent_number, 0, &agent, err);
    cli_findings f = {0};
    if (status == TACIT_OK)
        status = cli_findings_make(entry, agent != NULL ? tacit_agent_release_plan(agent) : NULL,
                                   agent, NULL, &f, err);
    if (status == TACIT_OK && s->worlds != NULL)
        (void)json_array_append_new(agents, cli_findings_json(&f));
    else if (status == TACIT_OK)
        cli_findings_print(&f);
    if (status == TACIT_OK) {
        s->n_told++;
        s->broken |= f.explanation->verdict == TACIT_VERDICT_FAILS &&
                     entry->calibration == TACIT_CALIBRATION_TIGHT;
    }
    tacit_explanation_destroy(f.explanation);
    tacit_agent_destroy(agent);
    return status;
}

static tacit_status explain_world(story *s, size_t i, tacit_error *err)
{
    tacit_world *world = NULL;
    json_t *agents = s->worlds != NULL ? json_array() : NULL;
    tacit_status status = tacit_experiment_world(s->experiment, i, &world, err);
    if (status == TACIT_OK && s->worlds == NULL)
        (void)printf("%llu users in %s\n\n", (unsigned long long)s->facts->episodes,
                     s->facts->worlds[i].label);
    for (size_t a = 0; a < s->facts->n_agents && status == TACIT_OK; a++)
        status = explain_agent(s, i, world, a, agents, err);
    if (status == TACIT_OK && s->worlds != NULL) {
        json_t *entry = world_json(s->facts, i, world);
        (void)json_object_set(entry, "agents", agents);
        (void)json_array_append_new(s->worlds, entry);
    }
    json_decref(agents);
    tacit_world_destroy(world);
    return status;
}

static int explain_all(const wish *w, const tacit_experiment *experiment)
{
    story s = {w, experiment, tacit_experiment_describe(experiment), w->json ? json_array() : NULL,
               0, false};
    tacit_error err = {0};
    tacit_status status = TACIT_OK;
    if (!w->json)
        (void)printf("%s\n", s.facts->title);
    for (size_t i = 0; i < s.facts->n_worlds && status == TACIT_OK; i++)
        status = explain_world(&s, i, &err);
    if (status != TACIT_OK || s.n_told == 0) {
        json_decref(s.worlds);
        return status != TACIT_OK
                   ? cli_failed(status, &err)
                   : cli_wrong("%s: no agent has the label '%s'", s.facts->file, w->label);
    }
    if (!w->json)
        cli_exceptions_print();
    else if (print_document(s.facts, s.worlds) != CLI_DONE)
        return CLI_SYSTEM;
    return s.broken ? CLI_NO : CLI_DONE;
}

int cli_explain(int argc, char **argv)
{
    wish w;
    int code = read_options(argc, argv, &w);
    if (code != CLI_DONE)
        return code;
    if (w.help) {
        (void)fputs(help, stdout);
        return CLI_DONE;
    }
    if (tacit_service_is_file(w.file)) {
        if (w.changes.runs > 0 || w.changes.episodes > 0)
            return cli_wrong("--runs and --episodes belong to an experiment; %s is a service",
                             w.file);
        return cli_explain_service(w.file, w.label, w.json);
    }
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(w.file, &w.changes, &experiment, &err);
    if (status == TACIT_OK)
        cli_warn(experiment, w.label);
    code = status == TACIT_OK ? explain_all(&w, experiment) : cli_failed(status, &err);
    tacit_experiment_destroy(experiment);
    return code;
}
