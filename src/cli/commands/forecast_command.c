/* tacit forecast: will the users of an experiment or a service be enough? The learners are played on
 * reference worlds: lab/forecast.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/lab.h>
#include <tacit/service.h>

#include "base/error.h"
#include "cli/agent_labels.h"
#include "cli/cli.h"
#include "cli/experiment_text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plugins.h"
#include "cli/print_json.h"

enum { MAX_JOBS = 1024, BAR = 24, DEFAULT_SECONDS = 20 };

typedef struct forecast_options {
    const char *file, *label;
    tacit_experiment_changes changes;
    uint64_t seconds, jobs, worlds;
    double rewards;
    bool show, quiet, json;
    cli_plugins plugins;
} forecast_options;

static const tacit__field option_fields[] = {
    {"agent", TACIT__FIELD_TEXT, offsetof(forecast_options, label), .value = "LABEL",
     .help = "only this agent or learner"},
    {"episodes", TACIT__FIELD_COUNT, offsetof(forecast_options, changes.episodes), 1,
     TACIT_MAX_EPISODES, .value = "K", .help = "users; overrides the experiment"},
    {"rewards", TACIT__FIELD_REAL, offsetof(forecast_options, rewards), .range = &cli_positive,
     .value = "X",
     .help = "tables: the mean reward is about this share of its range (default 0.5)"},
    {"seconds", TACIT__FIELD_COUNT, offsetof(forecast_options, seconds), 1, 86400, .value = "N",
     .help = "for each agent (default 20): slow learners are played on fewer worlds"},
    {"worlds", TACIT__FIELD_COUNT, offsetof(forecast_options, worlds), 1, 21, .value = "N",
     .help = "reference worlds (default 21), however long they take; without the search"},
    {"jobs", TACIT__FIELD_COUNT, offsetof(forecast_options, jobs), 1, MAX_JOBS, .letter = 'j',
     .value = "N", .help = "threads (default: one per processor)"},
    {"show", TACIT__FIELD_FLAG, offsetof(forecast_options, show),
     .help = "print the experiment that is played, a file for tacit run, and play nothing"},
    CLI_LOAD_OPTION(offsetof(forecast_options, plugins)),
    {"quiet", TACIT__FIELD_FLAG, offsetof(forecast_options, quiet), .letter = 'q',
     .help = "show no progress"},
    {"json", TACIT__FIELD_FLAG, offsetof(forecast_options, json), .help = "one JSON document"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit forecast FILE.yaml [--agent LABEL] [--episodes K] [--rewards X]\n"
    "                      [--seconds N | --worlds N] [-j N] [--show] [--load FILE.so] [-q] "
    "[--json]\n"
    "\n"
    "Says whether the users of an experiment or of a service are enough. Each learner is played "
    "on\n"
    "reference worlds of the size that the file declares, with as many users and the same "
    "privacy,\n"
    "and compared with the best constant action. The world of an experiment is played as well,\n"
    "ten times. Then the command searches for a number of users and an epsilon that would be\n"
    "enough, by doubling or halving, and, where they are enough, for the smallest rewards for\n"
    "which that holds. If rewards are rare, say so: --rewards 0.02.\n"
    "\n",
    "\n"
    "Exits with 1 if the users of some learner are not enough, in the reference worlds or in the\n"
    "world of the experiment, or if it depends on the world.\n"
    "\n"
    "example:\n"
    "  tacit forecast examples/service/service.yaml --agent river\n",
    option_fields};

typedef struct story {
    const forecast_options *o;
    tacit__json_writer document;
    const char *label, *world; /* of the present learner; world NULL: a service, or the only one */
    size_t n_told;
    bool terminal, short_of; /* some learner has not enough */
} story;

static bool show(void *context, double share, uint64_t users, double epsilon)
{
    const story *s = context;
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(share * BAR) ? '#' : '.';
    bar[BAR] = '\0';
    if (s->terminal)
        (void)fprintf(stderr, "\r[%s] %.60s: %llu users, epsilon %g\033[K", bar, s->label,
                      (unsigned long long)users, epsilon);
    return true;
}

static void wipe(const story *s)
{
    if (s->terminal)
        (void)fputs("\r\033[K", stderr);
}

/* --- One learner --------------------------------------------------------------------------------- */

static void put_own(tacit__json_writer *to, const tacit_forecast *f)
{
    if (f->own_words[0] == '\0') {
        tacit__json_put_null(to, "own_world");
        return;
    }
    tacit__json_begin_object(to, "own_world");
    tacit__json_put_count(to, "runs", f->own_runs);
    tacit__json_put_count(to, "beaten", f->own_beaten);
    tacit__json_put_count(to, "learned", f->own_learned);
    tacit__json_put_flag(to, "not_enough", f->own_not_enough);
    tacit__json_put_string(to, "words", f->own_words);
    tacit__json_end(to);
}

static void put_forecast(tacit__json_writer *to, const story *s, const tacit_agent_request *q,
                         const char *written, const tacit_forecast *f)
{
    static const char *const names[] = {"unknown", "enough", "depends", "not enough"};
    const tacit_entry entry = {.guarantee = q->guarantee, .calibration = q->calibration};
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "label", s->label);
    tacit__json_put_string(to, "world", s->world);
    cli_put_kind(to, written, f->kind);
    cli_put_guarantee(to, &entry);
    tacit__json_put_count(to, "users", f->users);
    tacit__json_put_string(to, "outlook", names[f->outlook]);
    tacit__json_put_count(to, "worlds", f->n_worlds);
    tacit__json_put_count(to, "beaten", f->n_beaten);
    tacit__json_put_real(to, "gain", f->gain);
    tacit__json_put_real(to, "users_needed", f->users_needed);
    tacit__json_put_real(to, "epsilon_needed", f->epsilon_needed);
    tacit__json_put_real(to, "rewards", f->rewards > 0 ? f->rewards : (double)NAN);
    tacit__json_put_real(to, "rewards_needed", f->rewards_needed);
    tacit__json_put_string(to, "words", f->words);
    put_own(to, f);
    tacit__json_end(to);
}

static tacit_status print_forecast(story *s, const tacit_agent_request *q, const char *written,
                                   const tacit_world_entry *own, tacit_error *err)
{
    const forecast_options *o = s->o;
    const tacit_forecast_options options = {
        .seconds = o->worlds > 0 ? 0 : (double)(o->seconds > 0 ? o->seconds : DEFAULT_SECONDS),
        .n_threads = (unsigned)o->jobs,
        .n_worlds = (size_t)o->worlds,
        .search = o->worlds == 0,
        .rewards = o->rewards,
        .own = own,
        .progress = show,
        .context = s};
    char kind[CLI_KIND_TEXT], guarantee[80];
    tacit_forecast f;
    if (o->show) {
        char *text = tacit_forecast_experiment(q, &options, err);
        if (text == NULL)
            return TACIT_BAD_ARGUMENT;
        (void)printf("# %s%s%s\n%s", s->label, s->world != NULL ? " in " : "",
                     s->world != NULL ? s->world : "", text);
        free(text);
        s->n_told++;
        return TACIT_OK;
    }
    tacit_status status = tacit_forecast_make(q, &options, &f, err);
    wipe(s);
    if (status != TACIT_OK)
        return status;
    s->n_told++;
    s->short_of |= f.outlook == TACIT_OUTLOOK_DEPENDS || f.outlook == TACIT_OUTLOOK_NOT_ENOUGH ||
                   f.own_not_enough;
    if (o->json) {
        put_forecast(&s->document, s, q, written, &f);
        return TACIT_OK;
    }
    const tacit_entry entry = {.guarantee = q->guarantee, .calibration = q->calibration};
    (void)printf("%s%s%s (%s), %s\n", s->label, s->world != NULL ? " in " : "",
                 s->world != NULL ? s->world : "",
                 cli_kind_text(kind, sizeof kind, written, f.kind),
                 cli_guarantee_text(guarantee, sizeof guarantee, &entry));
    cli_print_wrapped("  ", f.words);
    if (f.own_words[0] != '\0')
        cli_print_wrapped("  ", f.own_words);
    return TACIT_OK;
}

/* --- Files --------------------------------------------------------------------------------------- */

static bool is_named(const story *s, const char *label)
{
    return s->o->label == NULL || strcmp(s->o->label, label) == 0;
}

static tacit_status print_world(story *s, const tacit_experiment *experiment, size_t w,
                                tacit_error *err)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
    TACIT__REQUIRE(w < facts->n_worlds);
    tacit_world *world = NULL;
    tacit_status status = tacit_experiment_world(experiment, w, &world, err);
    for (size_t i = 0; i < facts->n_agents && status == TACIT_OK; i++) {
        const tacit_entry *entry = &facts->agents[i];
        tacit_agent_request q;
        if (entry->baseline || !is_named(s, entry->label) ||
            !tacit_experiment_plays(experiment, w, i))
            continue;
        s->label = entry->label;
        s->world = facts->n_worlds > 1 ? facts->worlds[w].label : NULL;
        status = tacit_experiment_request(experiment, world, i, &q, err);
        if (status == TACIT_OK)
            status = print_forecast(s, &q, entry->kind, &facts->worlds[w], err);
    }
    tacit_world_destroy(world);
    return status;
}

static tacit_status print_experiment(story *s, tacit_error *err)
{
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(s->o->file, &s->o->changes, &experiment, err);
    if (status == TACIT_OK)
        status = cli_check_label(tacit_experiment_describe(experiment), s->o->label, err);
    const size_t n = status == TACIT_OK ? tacit_experiment_describe(experiment)->n_worlds : 0;
    for (size_t w = 0; w < n && status == TACIT_OK; w++)
        status = print_world(s, experiment, w, err);
    tacit_experiment_destroy(experiment);
    return status;
}

static tacit_status print_service(story *s, tacit_error *err)
{
    tacit_service_file *file = NULL;
    tacit_status status = tacit_service_file_read(s->o->file, &file, err);
    if (status == TACIT_OK)
        status = cli_check_learner(s->o->file, file, s->o->label, err);
    const size_t n = status == TACIT_OK ? tacit_service_file_size(file) : 0;
    for (size_t i = 0; i < n && status == TACIT_OK; i++) {
        const tacit_service_learner *l = tacit_service_file_at(file, i);
        s->label = l->name;
        if (is_named(s, l->name))
            status = print_forecast(s, l->request, l->kind, NULL, err);
    }
    tacit_service_file_destroy(file);
    return status;
}

int cli_forecast(int argc, char **argv)
{
    forecast_options o = {0};
    int code = cli_read_file(argc, argv, &form, &o, &o.plugins, &o.file);
    if (code != CLI_DONE)
        return code;
    if (o.seconds > 0 && o.worlds > 0)
        return cli_wrong("--seconds adapts the number of worlds, --worlds fixes it; choose one");
    const bool service = tacit_service_is_file(o.file);
    if (service && o.changes.episodes > 0)
        return cli_wrong("--episodes belongs to an experiment; %s is a service", o.file);
    story s = {
        .o = &o, .document = CLI_JSON_INIT, .terminal = !o.quiet && isatty(STDERR_FILENO) == 1};
    tacit_error err = {0};
    tacit__json_begin_list(&s.document, NULL);
    tacit_status status = service ? print_service(&s, &err) : print_experiment(&s, &err);
    tacit__json_end(&s.document);
    if (status == TACIT_OK && s.n_told > 0 && o.json && !o.show)
        return cli_print_json(&s.document) == CLI_DONE ? (s.short_of ? CLI_NO : CLI_DONE)
                                                       : CLI_SYSTEM;
    tacit__text_destroy(&s.document.text);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    if (s.n_told == 0)
        return o.label != NULL ? cli_wrong("%s: '%s' is not a learner", o.file, o.label)
                               : cli_wrong("%s: it has no learner", o.file);
    return s.short_of ? CLI_NO : CLI_DONE;
}
