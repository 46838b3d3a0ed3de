/* This file explains what a service file promises, before it is served: first to one person who takes
 * part in everything, then learner by learner: the agent, the monitor where there is one, and both
 * together. */
#include "cli/commands/explain_service.h"

#include <stdio.h>
#include <string.h>

#include <tacit/service.h>

#include "base/error.h"
#include "cli/agent_labels.h"
#include "cli/cli.h"
#include "cli/commands/print_space.h"
#include "cli/experiment_text.h"
#include "cli/findings.h"
#include "cli/print_json.h"

/* The findings about one learner. */
typedef struct learner {
    const tacit_service_learner *facts;
    tacit_entry agent_entry, monitor_entry;
    cli_findings agent, monitor; /* the second without explanation: there is no monitor */
    char space[CLI_SPACE_TEXT], names[CLI_SPACE_TEXT];
} learner;

static tacit_status explain_agent(learner *l, tacit_error *err)
{
    const tacit_agent_request *q = l->facts->request;
    tacit_noise *noise = NULL;
    tacit_agent *agent = NULL;
    l->agent_entry = (tacit_entry){.label = l->facts->name,
                                   .kind = l->facts->kind,
                                   .guarantee = q->guarantee,
                                   .calibration = q->calibration,
                                   .sums = q->sums,
                                   .outside = q->outside,
                                   .settings = q->settings,
                                   .n_settings = q->n_settings,
                                   .line = q->line};
    tacit_status status = tacit_noise_create_from_os(&noise);
    if (status == TACIT_OK)
        status = tacit_agent_create(q, noise, &agent, err);
    tacit_noise_destroy(noise);
    if (status == TACIT_OK)
        status = cli_findings_make(
            &l->agent_entry, tacit_agent_release_plan(agent), agent,
            l->facts->monitor.model == TACIT_MODEL_LOCAL ? "beside it only the mean reward" : NULL,
            &l->agent, err);
    tacit_agent_destroy(agent);
    l->agent.space = cli_space_text(q, l->space);
    l->agent.names = cli_names_text(l->facts, l->names);
    l->agent.log = l->facts->warm_start;
    l->agent.record = l->facts->log_decisions
                          ? "every decision and its outcome are kept, sealed, for the operator "
                            "(log_decisions); the guarantee below does not cover this record"
                          : NULL;
    return status;
}

static tacit_status explain_monitor(const tacit_service_file *file, size_t i, learner *l,
                                    tacit_error *err)
{
    tacit_plan *plan = NULL;
    l->monitor_entry =
        (tacit_entry){.label = "mean reward", .kind = "monitor", .guarantee = l->facts->monitor};
    tacit_status status = tacit_service_file_monitor(file, i, &plan, err);
    if (status == TACIT_OK && plan != NULL)
        status = cli_findings_make(&l->monitor_entry, plan, NULL,
                                   "beside it only the learner's report", &l->monitor, err);
    tacit_plan_destroy(plan);
    return status;
}

/* The first line stands at the margin, where it is seen; the others explain it. */
static void print_promise(const char *promise)
{
    char line[512];
    for (const char *at = promise; at[0] != '\0';) {
        const size_t n = strcspn(at, "\n");
        (void)snprintf(line, sizeof line, "%.*s", (int)n, at);
        cli_print_wrapped(at == promise ? "" : "  ", line);
        at += n + (at[n] != '\0');
    }
    (void)fputc('\n', stdout);
}

static void put_cost(tacit__json_writer *to, const char *key, const tacit_guarantee *g)
{
    if (g->model == TACIT_MODEL_NONE) {
        tacit__json_put_null(to, key);
        return;
    }
    tacit__json_begin_object(to, key);
    tacit__json_put_string(to, "model", tacit_model_name(g->model));
    tacit__json_put_real(to, "epsilon", g->epsilon);
    tacit__json_put_real(to, "delta", g->delta);
    tacit__json_end(to);
}

static void put_person(tacit__json_writer *to, const tacit_service_file *file)
{
    const tacit_service_person *p = tacit_service_file_person(file);
    const tacit_guarantee none = {.model = TACIT_MODEL_NONE};
    tacit__json_begin_object(to, "person");
    put_cost(to, "guarantee", p->exact > 0 ? &none : &p->all);
    put_cost(to, "composed", &p->all);
    put_cost(to, "devices", &p->devices);
    put_cost(to, "budget", &p->budget);
    tacit__json_put_string(to, "people", p->separate ? "separate" : "shared");
    tacit__json_put_count(to, "exact", p->exact);
    tacit__json_put_string(to, "words", tacit_service_file_promise(file));
    tacit__json_end(to);
}

static void print_learner(const learner *l)
{
    const tacit_guarantee *all = &l->facts->together;
    char epsilon[32], delta[32];
    cli_findings_print(&l->agent);
    if (l->monitor.explanation == NULL)
        return;
    cli_findings_print(&l->monitor);
    if (all->model != TACIT_MODEL_NONE)
        (void)printf("%s and its mean reward together cost a user epsilon %s, delta %s at most\n\n",
                     l->facts->name, tacit__round_up(epsilon, 4, all->epsilon),
                     tacit__round_up(delta, 4, all->delta));
}

static void put_learner(tacit__json_writer *to, const learner *l)
{
    tacit__json_begin_object(to, NULL);
    cli_put_findings(to, &l->agent);
    cli_put_space(to, l->facts);
    tacit__json_put_count(to, "users", l->facts->request->episodes);
    if (l->facts->log_decisions)
        tacit__json_put_flag(to, "log_decisions", true);
    if (l->facts->warm_start != NULL)
        tacit__json_put_string(to, "warm_start", l->facts->warm_start);
    if (l->monitor.explanation != NULL) {
        tacit__json_begin_object(to, "monitor");
        cli_put_findings(to, &l->monitor);
        tacit__json_end(to);
    } else {
        tacit__json_put_null(to, "monitor");
    }
    put_cost(to, "together", &l->facts->together);
    tacit__json_end(to);
}

static bool is_broken(const cli_findings *f)
{
    return f->explanation != NULL && f->explanation->verdict == TACIT_VERDICT_FAILS;
}

static tacit_status explain_learner(const tacit_service_file *file, size_t i,
                                    tacit__json_writer *document, bool *broken, tacit_error *err)
{
    learner l = {.facts = tacit_service_file_at(file, i)};
    tacit_status status = explain_agent(&l, err);
    if (status == TACIT_OK)
        status = explain_monitor(file, i, &l, err);
    if (status == TACIT_OK && document != NULL)
        put_learner(document, &l);
    else if (status == TACIT_OK)
        print_learner(&l);
    *broken = *broken || is_broken(&l.agent) || is_broken(&l.monitor);
    tacit_explanation_destroy(l.agent.explanation);
    tacit_explanation_destroy(l.monitor.explanation);
    return status;
}

int cli_explain_service(const char *path, const char *name, bool json)
{
    TACIT__REQUIRE(path != NULL);
    tacit_error err = {0};
    tacit_service_file *file = NULL;
    tacit__json_writer document = CLI_JSON_INIT;
    bool broken = false;
    tacit__json_begin_object(&document, NULL);
    tacit__json_put_string(&document, "file", path);
    tacit_status status = tacit_service_file_read(path, &file, &err);
    if (status == TACIT_OK)
        status = cli_check_learner(path, file, name, &err);
    if (status == TACIT_OK && json)
        put_person(&document, file);
    else if (status == TACIT_OK)
        print_promise(tacit_service_file_promise(file));
    tacit__json_begin_list(&document, "learners");
    for (size_t i = 0; status == TACIT_OK && i < tacit_service_file_size(file); i++) {
        if (name != NULL && strcmp(name, tacit_service_file_at(file, i)->name) != 0)
            continue;
        status = explain_learner(file, i, json ? &document : NULL, &broken, &err);
    }
    tacit_service_file_destroy(file);
    tacit__json_end(&document);
    cli_put_exceptions(&document);
    tacit__json_end(&document);
    int code = broken ? CLI_NO : CLI_DONE;
    if (status != TACIT_OK)
        code = cli_failed(status, &err);
    else if (!json)
        cli_exceptions_print();
    else if (cli_print_json(&document) != CLI_DONE)
        code = CLI_SYSTEM;
    tacit__text_destroy(&document.text);
    return code;
}
