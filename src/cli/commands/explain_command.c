/* tacit explain: what each agent of an experiment promises, through which releases, and what the
 * accountant makes of it. Nothing is played. Service files are explained by explain_service.c. */
#include <stdio.h>
#include <string.h>

#include <tacit/explain.h>
#include <tacit/lab.h>
#include <tacit/service.h>

#include "base/error.h"
#include "cli/agent_labels.h"
#include "cli/cli.h"
#include "cli/commands/explain_service.h"
#include "cli/experiment_text.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "cli/plugins.h"
#include "cli/print_json.h"
#include "cli/warn.h"

typedef struct explain_options {
    const char *file, *label;
    tacit_experiment_changes changes;
    bool json;
    cli_plugins plugins;
} explain_options;

static const tacit__field option_fields[] = {
    {"agent", TACIT__FIELD_TEXT, offsetof(explain_options, label), .value = "LABEL",
     .help = "explain this agent or learner only"},
    {"episodes", TACIT__FIELD_COUNT, offsetof(explain_options, changes.episodes), 1,
     TACIT_MAX_EPISODES, .value = "K", .help = "users; overrides the file"},
    {"runs", TACIT__FIELD_COUNT, offsetof(explain_options, changes.runs), 1, TACIT_MAX_RUNS,
     .value = "N", .help = "repetitions; overrides the file (no guarantee depends on them)"},
    CLI_LOAD_OPTION(offsetof(explain_options, plugins)),
    {"json", TACIT__FIELD_FLAG, offsetof(explain_options, json), .help = "one JSON document"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit explain FILE.yaml [--runs N] [--episodes K] [--agent LABEL]\n"
    "                     [--load FILE.so] [--json]\n"
    "\n"
    "Shows, for each agent of an experiment or each learner of a service file: the guarantee that\n"
    "it claims, what it releases, how far one user can move that, the noise, and the guarantee\n"
    "that the accountant computes. Of a service it says first what one person pays who takes part\n"
    "in everything. Plays, serves and writes nothing.\n"
    "\n",
    "\n"
    "Exits with 1 if a claim that should hold (calibration tight) does not.\n"
    "\n"
    "example:\n"
    "  tacit explain examples/riverswim.yaml\n"
    "  tacit explain examples/service/service.yaml --agent river\n",
    option_fields};

/* The findings so far. */
typedef struct story {
    const explain_options *o;
    const tacit_experiment *experiment;
    const tacit_experiment_facts *facts;
    tacit__json_writer document; /* with --json */
    bool broken;                 /* a claim that should hold does not */
} story;

static tacit_status explain_agent(story *s, size_t i, const tacit_world *world, size_t agent_number,
                                  tacit_error *err)
{
    TACIT__REQUIRE(agent_number < s->facts->n_agents);
    const tacit_entry *entry = &s->facts->agents[agent_number];
    tacit_agent *agent = NULL;
    if ((s->o->label != NULL && strcmp(s->o->label, entry->label) != 0) ||
        !tacit_experiment_plays(s->experiment, i, agent_number))
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    if (!entry->baseline)
        status = tacit_experiment_agent(s->experiment, i, world, agent_number, 0, &agent, err);
    cli_findings f = {0};
    if (status == TACIT_OK)
        status = cli_findings_make(entry, agent != NULL ? tacit_agent_release_plan(agent) : NULL,
                                   agent, NULL, &f, err);
    if (status == TACIT_OK && s->o->json) {
        tacit__json_begin_object(&s->document, NULL);
        cli_put_findings(&s->document, &f);
        tacit__json_end(&s->document);
    } else if (status == TACIT_OK) {
        cli_findings_print(&f);
    }
    if (status == TACIT_OK) {
        s->broken |= f.explanation->verdict == TACIT_VERDICT_FAILS &&
                     entry->calibration == TACIT_CALIBRATION_TIGHT;
    }
    tacit_explanation_destroy(f.explanation);
    tacit_agent_destroy(agent);
    return status;
}

/* Up to the list of its agents, which stay in the world where there are several, and stand beside it where
 * there is one. */
static void begin_world(story *s, size_t i, const tacit_world *world)
{
    TACIT__REQUIRE(i < s->facts->n_worlds);
    const tacit_world_facts *space = tacit_world_describe(world);
    const bool several = s->facts->n_worlds > 1;
    tacit__json_begin_object(&s->document, several ? NULL : "world");
    cli_put_world(&s->document, &s->facts->worlds[i], space,
                  tacit_world_original_value(world, space->optimal_value));
    if (!several) {
        tacit__json_end(&s->document);
        tacit__json_put_count(&s->document, "episodes", s->facts->episodes);
    }
    tacit__json_begin_list(&s->document, "agents");
}

static void end_world(story *s)
{
    tacit__json_end(&s->document);
    if (s->facts->n_worlds > 1)
        tacit__json_end(&s->document);
}

static tacit_status explain_world(story *s, size_t i, tacit_error *err)
{
    TACIT__REQUIRE(i < s->facts->n_worlds);
    tacit_world *world = NULL;
    tacit_status status = tacit_experiment_world(s->experiment, i, &world, err);
    if (status == TACIT_OK && s->o->json)
        begin_world(s, i, world);
    else if (status == TACIT_OK)
        (void)printf("%llu users in %s\n\n", (unsigned long long)s->facts->episodes,
                     s->facts->worlds[i].label);
    for (size_t a = 0; a < s->facts->n_agents && status == TACIT_OK; a++)
        status = explain_agent(s, i, world, a, err);
    if (status == TACIT_OK && s->o->json)
        end_world(s);
    tacit_world_destroy(world);
    return status;
}

static void begin_document(story *s)
{
    tacit__json_begin_object(&s->document, NULL);
    tacit__json_put_string(&s->document, "title", s->facts->title);
    if (s->facts->n_worlds > 1)
        tacit__json_begin_list(&s->document, "worlds");
}

static int print_document(story *s)
{
    if (s->facts->n_worlds > 1) {
        tacit__json_end(&s->document);
        tacit__json_put_count(&s->document, "episodes", s->facts->episodes);
    }
    cli_put_exceptions(&s->document);
    tacit__json_end(&s->document);
    return cli_print_json(&s->document);
}

static int explain_all(const explain_options *o, const tacit_experiment *experiment)
{
    story s = {.o = o,
               .experiment = experiment,
               .facts = tacit_experiment_describe(experiment),
               .document = CLI_JSON_INIT};
    tacit_error err = {0};
    tacit_status status = cli_check_label(s.facts, o->label, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    if (o->json)
        begin_document(&s);
    else
        (void)printf("%s\n", s.facts->title);
    for (size_t i = 0; i < s.facts->n_worlds && status == TACIT_OK; i++)
        status = explain_world(&s, i, &err);
    if (status != TACIT_OK) {
        tacit__text_destroy(&s.document.text);
        return cli_failed(status, &err);
    }
    if (!o->json)
        cli_exceptions_print();
    else if (print_document(&s) != CLI_DONE)
        return CLI_SYSTEM;
    return s.broken ? CLI_NO : CLI_DONE;
}

int cli_explain(int argc, char **argv)
{
    explain_options o = {0};
    int code = cli_read_file(argc, argv, &form, &o, &o.plugins, &o.file);
    if (code != CLI_DONE)
        return code;
    if (tacit_service_is_file(o.file)) {
        if (o.changes.runs > 0 || o.changes.episodes > 0)
            return cli_wrong("--runs and --episodes belong to an experiment; %s is a service",
                             o.file);
        return cli_explain_service(o.file, o.label, o.json);
    }
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(o.file, &o.changes, &experiment, &err);
    if (status == TACIT_OK)
        cli_warn(experiment, o.label);
    code = status == TACIT_OK ? explain_all(&o, experiment) : cli_failed(status, &err);
    tacit_experiment_destroy(experiment);
    return code;
}
