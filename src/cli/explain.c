/* tacit explain: what each agent of an experiment promises, through which releases, and what the accountant makes of
 * it. Nothing is played. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/explain.h>
#include <tacit/lab.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/words.h"

static const char help[] =
    "usage: tacit explain FILE.yaml [--runs N] [--episodes K] [--agent LABEL] [--json]\n"
    "\n"
    "For each agent of an experiment: the guarantee that it claims, what it releases and how far\n"
    "one user can move that, the noise, and what the accountant makes of it. Nothing is played.\n"
    "\n"
    "  --agent LABEL     this agent only\n"
    "  --episodes K      users, instead of what the file says\n"
    "  --runs N          repetitions, instead of what the file says (no promise depends on them)\n"
    "  --json            one JSON document\n"
    "\n"
    "Exit status 1 if a claim that should hold (calibration tight) does not.\n"
    "\n"
    "example:\n"
    "  tacit explain examples/riverswim.yaml\n";

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

/* What is found out about an agent. */
typedef struct findings {
    const tacit_entry *entry;
    const tacit_explanation *explanation;
    tacit_forecast forecast;
} findings;

/* --- Text ------------------------------------------------------------------------------------------ */

enum { NAME, DIMENSION, STEPS, SENSITIVITY, MECHANISM, COLUMN, SCALE, COST, N_CELLS, CELL = 48 };

static void fill_cells(const tacit_explained_release *line, char cells[N_CELLS][CELL])
{
    const tacit_release *r = &line->release;
    (void)snprintf(cells[NAME], CELL, "%s", r->name);
    (void)snprintf(cells[DIMENSION], CELL, "%zu", r->dimension);
    (void)snprintf(cells[STEPS], CELL, "%llu", (unsigned long long)r->steps);
    /* a norm in which nothing is declared is no zero */
    if (r->l1 > 0) {
        (void)snprintf(cells[SENSITIVITY], CELL, "%.4g, %.4g", r->l1, r->l2);
        (void)snprintf(cells[COLUMN], CELL, "%.4g, %.4g", r->column_l1, r->column_l2);
    } else {
        (void)snprintf(cells[SENSITIVITY], CELL, "-, %.4g", r->l2);
        (void)snprintf(cells[COLUMN], CELL, "-, %.4g", r->column_l2);
    }
    (void)snprintf(cells[MECHANISM], CELL, "%s", r->mechanism);
    (void)snprintf(cells[SCALE], CELL, "%.5g", line->scale);
    (void)snprintf(cells[COST], CELL, "%.4g", line->cost);
}

static void print_cells(char cells[N_CELLS][CELL], const size_t *widths)
{
    (void)fputs("              ", stdout);
    for (size_t c = 0; c < N_CELLS; c++) {
        int blank = (int)(widths[c] - cli_columns(cells[c]));
        if (c == NAME)
            (void)printf("%s%*s", cells[c], blank, "");
        else
            (void)printf("  %*s%s", blank, "", cells[c]);
    }
    (void)fputc('\n', stdout);
}

static void print_releases(const tacit_explanation *e)
{
    char heads[N_CELLS][CELL] = {"name",      "dimension",      "steps", "l1, l2",
                                 "mechanism", "columns l1, l2", "scale", "mu"};
    char cells[N_CELLS][CELL];
    size_t widths[N_CELLS];
    if (e->law != TACIT_LAW_GAUSSIAN)
        (void)snprintf(heads[COST], CELL, "epsilon");
    for (size_t c = 0; c < N_CELLS; c++)
        widths[c] = strlen(heads[c]);
    for (size_t i = 0; i < e->n_releases; i++) {
        fill_cells(&e->releases[i], cells);
        for (size_t c = 0; c < N_CELLS; c++)
            widths[c] = cli_columns(cells[c]) > widths[c] ? cli_columns(cells[c]) : widths[c];
    }
    (void)printf("  releases    with %s noise:\n", tacit_law_name(e->law));
    print_cells(heads, widths);
    for (size_t i = 0; i < e->n_releases; i++) {
        fill_cells(&e->releases[i], cells);
        print_cells(cells, widths);
    }
    for (size_t i = 0; i < e->n_releases; i++) {
        const tacit_release *r = &e->releases[i].release;
        char head[80];
        (void)snprintf(head, sizeof head, "              %.60s: ", r->name);
        cli_print_wrapped(head, e->releases[i].words);
        if (r->reason[0] != '\0')
            cli_print_wrapped("                because ", r->reason);
    }
}

static void print_findings(const findings *f)
{
    const tacit_explanation *e = f->explanation;
    char epsilon[32];
    (void)printf("%s (%s)\n", f->entry->label, f->entry->kind);
    if (e->verdict == TACIT_VERDICT_NOTHING) {
        (void)printf("  claims      nothing: %s\n", e->words);
    } else {
        (void)printf(
            "  claims      %s differential privacy, epsilon %g, delta %.4g%s; calibration %s\n",
            tacit_model_name(e->claim.model), e->claim.epsilon, e->claim.delta,
            e->claim.delta > 0 ? "" : " (pure)", tacit_calibration_name(e->calibration));
        cli_print_wrapped("  against     ", e->against);
        cli_print_wrapped("  neighbours  ", e->neighbours);
        print_releases(e);
        (void)printf("  accountant  epsilon %s at delta %.4g (method: %s)\n",
                     isinf(e->real.epsilon.high) ? "infinite"
                                                 : cli_rounded_up(epsilon, e->real.epsilon.high),
                     e->claim.delta, e->real.method);
        cli_print_wrapped("              ", e->composition);
        cli_print_wrapped("  so          ", e->words);
        if (e->paper[0] != '\0')
            cli_print_wrapped("  printed     ", e->paper);
        if (e->report[0] != '\0')
            cli_print_wrapped("  report      ", e->report);
    }
    if (f->forecast.outlook != TACIT_OUTLOOK_UNKNOWN)
        cli_print_wrapped("  forecast    ", f->forecast.words);
    if (e->remark[0] != '\0')
        cli_print_wrapped("  note        ", e->remark);
    (void)fputc('\n', stdout);
}

static void print_ending(void)
{
    (void)puts("Sensitivities are for replacing one user by another. l1, l2: how far that moves "
               "one step;\n"
               "columns: how these moves add up over the steps. Not covered by any of this:");
    for (size_t i = 0; tacit_explanation_exception(i) != NULL; i++)
        (void)printf("  - %s\n", tacit_explanation_exception(i));
}

/* --- JSON ------------------------------------------------------------------------------------------ */

static json_t *releases_json(const tacit_explanation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < e->n_releases; i++) {
        const tacit_release *r = &e->releases[i].release;
        json_t *line = json_pack(
            "{s:s, s:I, s:I, s:f, s:f, s:s, s:f, s:f, s:s, s:f, s:s, s:f, s:s}", "name", r->name,
            "dimension", (json_int_t)r->dimension, "steps", (json_int_t)r->steps, "l1", r->l1, "l2",
            r->l2, "mechanism", r->mechanism, "column_l1", r->column_l1, "column_l2", r->column_l2,
            "law", tacit_law_name(e->law), "scale", e->releases[i].scale, "reason", r->reason,
            "cost", e->releases[i].cost, "words", e->releases[i].words);
        if (json_array_append_new(list, line) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *real_json(const tacit_composition *real)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "epsilon",
                     cli_json_number(real->epsilon.high), "epsilon_low",
                     cli_json_number(real->epsilon.low), "delta", cli_json_number(real->delta.high),
                     "mu", cli_json_number(real->mu), "rho", cli_json_number(real->rho), "method",
                     real->method);
}

/* null where none is made */
static json_t *forecast_json(const tacit_forecast *f)
{
    static const char *const names[] = {"unknown", "enough", "borderline", "not enough"};
    if (f->outlook == TACIT_OUTLOOK_UNKNOWN)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:s}", "outlook", names[f->outlook], "users_needed",
                     cli_json_number(f->users_needed), "epsilon_needed",
                     cli_json_number(f->epsilon_needed), "words", f->words);
}

/* epsilon(delta) at a few deltas */
static json_t *curve_json(const tacit_explanation *e)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < e->n_curve; i++)
        (void)json_array_append_new(list,
                                    json_pack("{s:f, s:o}", "delta", e->curve[i].delta, "epsilon",
                                              cli_json_number(e->curve[i].epsilon)));
    return list;
}

/* null unless the model is local */
static json_t *report_json(const tacit_explanation *e)
{
    if (e->report[0] == '\0')
        return json_null();
    return json_pack("{s:I, s:s}", "bytes", (json_int_t)e->report_bytes, "words", e->report);
}

static json_t *findings_json(const findings *f)
{
    const tacit_explanation *e = f->explanation;
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:s, s:o, s:s, s:s, s:s, s:o}",
                     "label", f->entry->label, "kind", f->entry->kind, "guarantee",
                     cli_guarantee_json(f->entry), "releases", releases_json(e), "accountant",
                     e->n_releases > 0 ? real_json(&e->real) : json_null(), "verdict",
                     tacit_verdict_name(e->verdict), "words", e->words, "composition",
                     e->composition, "curve", curve_json(e), "printed", e->paper, "report",
                     report_json(e), "against", e->against, "neighbours", e->neighbours, "remark",
                     e->remark, "forecast", forecast_json(&f->forecast));
}

static json_t *world_json(const tacit_experiment_facts *facts, size_t i, const tacit_world *world)
{
    const tacit_world_facts *space = tacit_world_describe(world);
    return cli_world_json(&facts->worlds[i], space,
                          tacit_world_original_value(world, space->optimal_value));
}

/* `worlds` have their agents with them; one world alone stands beside them. Takes it over. */
static int print_document(const tacit_experiment_facts *facts, json_t *worlds)
{
    json_t *list = json_array(), *document;
    for (size_t i = 0; list != NULL && tacit_explanation_exception(i) != NULL; i++)
        (void)json_array_append_new(list, json_string(tacit_explanation_exception(i)));
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

static int read_options(int argc, char **argv, wish *w)
{
    *w = (wish){0};
    opterr = 0;
    optind = 1;
    int status = CLI_DONE;
    for (int code; (code = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (code == '?' || code == ':')
            return cli_bad_option(argv, code, options);
        if (code == RUNS)
            status = cli_read_count("--runs", optarg, TACIT_MAX_RUNS, &w->changes.runs);
        else if (code == EPISODES)
            status = cli_read_count("--episodes", optarg, TACIT_MAX_EPISODES, &w->changes.episodes);
        else if (code == AGENT)
            w->label = optarg;
        else if (code == JSON)
            w->json = true;
        else
            w->help = true;
        if (status != CLI_DONE)
            return status;
    }
    if (w->help)
        return CLI_DONE;
    if (optind == argc)
        return cli_wrong("no experiment is given, expected FILE.yaml; see tacit explain --help");
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
    tacit_explanation *explanation = NULL;
    if ((s->w->label != NULL && strcmp(s->w->label, entry->label) != 0) ||
        !tacit_experiment_plays(s->experiment, i, agent_number))
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    if (!entry->yardstick)
        status = tacit_experiment_agent(s->experiment, i, world, agent_number, 0, &agent, err);
    if (status == TACIT_OK) {
        size_t report = 0;
        if (agent != NULL && entry->guarantee.model == TACIT_MODEL_LOCAL &&
            tacit_agent_report(agent, &(tacit_trajectory){0}, NULL, &report, NULL) != TACIT_OK)
            report = 0; /* this kind has no reports that travel */
        const tacit_explanation_request request = {
            .claim = entry->guarantee,
            .calibration = entry->calibration,
            .plan = agent != NULL ? tacit_agent_release_plan(agent) : NULL,
            .kind = entry->kind,
            .remark = agent != NULL ? tacit_agent_remark(agent) : "",
            .yardstick = entry->yardstick,
            .report_bytes = report};
        status = tacit_explanation_create(&request, &explanation, err);
    }
    findings f = {.entry = entry, .explanation = explanation};
    if (status == TACIT_OK && explanation->verdict != TACIT_VERDICT_NOTHING)
        tacit_agent_forecast(agent, &f.forecast);
    if (status == TACIT_OK && s->worlds != NULL)
        (void)json_array_append_new(agents, findings_json(&f));
    else if (status == TACIT_OK)
        print_findings(&f);
    if (status == TACIT_OK) {
        s->n_told++;
        s->broken |= explanation->verdict == TACIT_VERDICT_FAILS &&
                     entry->calibration == TACIT_CALIBRATION_TIGHT;
    }
    tacit_explanation_destroy(explanation);
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
        print_ending();
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
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(w.file, &w.changes, &experiment, &err);
    code = status == TACIT_OK ? explain_all(&w, experiment) : cli_failed(status, &err);
    tacit_experiment_destroy(experiment);
    return code;
}
