/* tacit audit: attacks on what the agents of an experiment promise. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/audit.h>
#include <tacit/lab.h>

#include "base/error.h"
#include "cli/agent_labels.h"
#include "cli/cli.h"
#include "cli/commands/print_audit.h"
#include "cli/experiment_text.h"
#include "cli/options.h"
#include "cli/plugins.h"
#include "cli/print_json.h"
#include "cli/warn.h"

#define MAX_JOBS 1024
#define MAX_AUDITS 100000

typedef struct audit_options {
    const char *file, *label;
    tacit_experiment_changes changes;
    uint64_t trials, seed, jobs, audits;
    double confidence;
    bool self_test, quiet, json;
    cli_plugins plugins;
} audit_options;

static const tacit__range probability = {0, 1, .open = true,
                                         .expected = "a number between 0 and 1"};

static const tacit__field option_fields[] = {
    {"agent", TACIT__FIELD_TEXT, offsetof(audit_options, label), .value = "LABEL",
     .help = "audit this agent only"},
    {"trials", TACIT__FIELD_COUNT, offsetof(audit_options, trials), TACIT_MIN_TRIALS,
     TACIT_MAX_TRIALS, .value = "N",
     .help = "runs (joint) or reports (local) in each world (default: enough to find a\n"
             "loss of 1.5 times the claim, or what a minute allows)"},
    {"confidence", TACIT__FIELD_REAL, offsetof(audit_options, confidence), .range = &probability,
     .value = "C", .help = "probability that a refutation is right (default: 0.99)"},
    {"episodes", TACIT__FIELD_COUNT, offsetof(audit_options, changes.episodes), 1,
     TACIT_MAX_EPISODES, .value = "K",
     .help = "users; overrides the file: short runs allow many trials"},
    {"seed", TACIT__FIELD_COUNT, offsetof(audit_options, seed), 1, CLI_MAX_COUNT, .value = "N",
     .help = "seed of the audit (default: the file's)"},
    {"jobs", TACIT__FIELD_COUNT, offsetof(audit_options, jobs), 1, MAX_JOBS, .letter = 'j',
     .value = "N", .help = "threads (default: one per processor); results do not depend on it"},
    CLI_LOAD_OPTION(offsetof(audit_options, plugins)),
    {"quiet", TACIT__FIELD_FLAG, offsetof(audit_options, quiet), .letter = 'q',
     .help = "show no progress"},
    {"json", TACIT__FIELD_FLAG, offsetof(audit_options, json), .help = "one JSON document"},
    {"self-test", TACIT__FIELD_FLAG, offsetof(audit_options, self_test),
     .help = "audit mechanisms that are broken on purpose, and sound ones"},
    {"audits", TACIT__FIELD_COUNT, offsetof(audit_options, audits), 1, MAX_AUDITS, .value = "N",
     .help = "audits of each sound mechanism in the self-test (default: 20)"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit audit FILE.yaml [--agent LABEL] [--trials N] [--confidence C] [--episodes K]\n"
    "                   [--seed N] [-j N] [--load FILE.so] [-q] [--json]\n"
    "       tacit audit --self-test [--audits N] [--trials N] [--confidence C] [--json]\n"
    "\n"
    "Attacks the guarantee of each agent through the code that serves people. It replays frozen\n"
    "releases on neighboring users and compares how far they moved with what was declared; some\n"
    "users come late, and some models are such as no honest server sends. It examines the noise.\n"
    "It runs two worlds that differ in one user, many times, to prove as large an epsilon as it\n"
    "can. A pass is evidence, not proof. If the search for the worst users reaches less than 0.8\n"
    "of the declared loss, the audit is inconclusive.\n"
    "\n",
    "\n"
    "Exits with 1 if a claim was refuted or the self-test failed; with 4 if no claim was refuted\n"
    "and an audit was inconclusive. Noise comes from seeds, a different one for each trial, so "
    "the\n"
    "same seed gives the same result.\n"
    "\n"
    "example:\n"
    "  tacit audit examples/riverswim.yaml --episodes 16 --agent 'joint eps 1'\n",
    option_fields};

static int read_options(int argc, char **argv, audit_options *o)
{
    *o = (audit_options){0};
    int status = cli_read_options(argc, argv, &form, o, NULL);
    if (status != CLI_DONE)
        return status;
    status = cli_load_plugins(&o->plugins);
    if (status != CLI_DONE)
        return status;
    if (!o->self_test && o->audits > 0)
        return cli_wrong("--audits belongs to --self-test");
    if (!o->self_test)
        return cli_read_argument(argc, argv, "no experiment is given, expected FILE.yaml",
                                 "experiment", &o->file);
    if (optind < argc)
        return cli_wrong("unexpected argument '%s': --self-test needs no experiment", argv[optind]);
    if (o->label != NULL || o->changes.episodes > 0)
        return cli_wrong("--agent and --episodes belong to an experiment, not to --self-test");
    return CLI_DONE;
}

/* --- Progress ------------------------------------------------------------------------------------ */

static volatile sig_atomic_t caught;

static void catch (int signal_number)
{
    caught = signal_number;
}

/* The first signal asks to stop, the second stops. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = catch, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

typedef struct audit_progress {
    bool quiet, terminal;
    const char *label;
    double next; /* plain lines: when the next one is due */
    int width;   /* of the text on the terminal */
} audit_progress;

enum { FIRST_LINE = 5, NEXT_LINE = 10 }; /* seconds */

static void wipe(audit_progress *progress)
{
    if (progress->width > 0)
        (void)fprintf(stderr, "\r%*s\r", progress->width, "");
    progress->width = 0;
    progress->next = FIRST_LINE;
}

static bool report(void *context, const tacit_audit_progress *p)
{
    audit_progress *progress = context;
    if (progress->quiet || p->n_trials == 0 || caught != 0)
        return caught == 0;
    double share = (double)p->trials / (double)p->n_trials,
           left = share > 0 ? p->seconds * (1 - share) / share : 0;
    if (progress->terminal) {
        int width = fprintf(stderr, "\r%.40s: %3.0f %% of %llu trials, %.0f s left  ",
                            progress->label, 100 * share, (unsigned long long)p->n_trials, left);
        progress->width = width > progress->width ? width : progress->width;
        (void)fflush(stderr);
    } else if (p->seconds >= progress->next && share < 1) {
        progress->next = p->seconds + NEXT_LINE;
        (void)fprintf(stderr, "tacit: %s: %.0f %% of %llu trials, %.0f s left\n", progress->label,
                      100 * share, (unsigned long long)p->n_trials, left);
    }
    return true;
}

static void start_progress(const audit_options *o, audit_progress *progress)
{
    const char *term = getenv("TERM");
    *progress = (audit_progress){.quiet = o->quiet, .next = FIRST_LINE};
    progress->terminal =
        isatty(STDERR_FILENO) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

static int stopped(void)
{
    (void)cli_wrong("stopped");
    return 128 + caught;
}

/* --- The command --------------------------------------------------------------------------------- */

typedef struct story {
    const audit_options *o;
    const tacit_experiment *experiment;
    const tacit_experiment_facts *facts;
    tacit__json_writer document; /* with --json */
    audit_progress progress;
    bool violated, inconclusive, stopped;
} story;

static tacit_status audit_agent(story *s, const tacit_world *world, const char *world_label,
                                size_t i, tacit_error *err)
{
    TACIT__REQUIRE(i < s->facts->n_agents);
    const tacit_entry *entry = &s->facts->agents[i];
    tacit_agent_request request;
    tacit_audit *audit = NULL;
    s->progress.label = entry->label;
    const tacit_audit_options options = {.trials = s->o->trials,
                                         .confidence = s->o->confidence,
                                         .seed = s->o->seed > 0 ? s->o->seed : s->facts->seed,
                                         .n_threads = (unsigned)s->o->jobs,
                                         .progress = report,
                                         .context = &s->progress};
    tacit_status status = tacit_experiment_request(s->experiment, world, i, &request, err);
    if (status == TACIT_OK)
        status = tacit_audit_agent(&request, &options, &audit, err);
    wipe(&s->progress);
    if (status != TACIT_OK)
        return status;
    s->stopped = audit->verdict == TACIT_AUDIT_STOPPED;
    s->violated = s->violated || audit->verdict == TACIT_AUDIT_VIOLATED;
    s->inconclusive = s->inconclusive || audit->verdict == TACIT_AUDIT_INCONCLUSIVE;
    if (s->o->json)
        cli_put_audit(&s->document, world_label, entry, request.kind, audit);
    else if (!s->stopped)
        cli_audit_print(entry, request.kind, audit);
    (void)fflush(stdout);
    tacit_audit_destroy(audit);
    return TACIT_OK;
}

static bool is_named(const story *s, size_t world, size_t i)
{
    return tacit_experiment_plays(s->experiment, world, i) &&
           (s->o->label == NULL || strcmp(s->o->label, s->facts->agents[i].label) == 0);
}

/* True if there is anything to audit, else a message. */
static bool has_work(const story *s)
{
    const tacit_experiment_facts *facts = s->facts;
    tacit_error err = {0};
    for (size_t w = 0; w < facts->n_worlds; w++)
        for (size_t a = 0; a < facts->n_agents; a++) {
            if (is_named(s, w, a) && facts->agents[a].guarantee.model != TACIT_MODEL_NONE)
                return true;
        }
    const tacit_status known = cli_check_label(facts, s->o->label, &err);
    if (s->o->label == NULL)
        (void)cli_wrong("%s: no agent has a guarantee, so there is nothing to audit", facts->file);
    else if (known != TACIT_OK)
        (void)cli_failed(known, &err);
    else
        (void)cli_wrong(
            "%s: agent '%s' has model none: it has no guarantee, so there is nothing to audit",
            facts->file, s->o->label);
    return false;
}

static tacit_status audit_world(story *s, size_t i, tacit_error *err)
{
    TACIT__REQUIRE(i < s->facts->n_worlds);
    tacit_world *world = NULL;
    tacit_status status = tacit_experiment_world(s->experiment, i, &world, err);
    if (status == TACIT_OK && !s->o->json)
        (void)printf("%llu users in %s\n\n", (unsigned long long)s->facts->episodes,
                     s->facts->worlds[i].label);
    for (size_t a = 0; a < s->facts->n_agents && status == TACIT_OK && !s->stopped; a++) {
        const tacit_entry *entry = &s->facts->agents[a];
        if (!is_named(s, i, a))
            continue;
        if (entry->guarantee.model != TACIT_MODEL_NONE)
            status = audit_agent(s, world, s->facts->worlds[i].label, a, err);
        else if (!s->o->json)
            (void)printf("%s (%s)\n  claims      nothing, so there is nothing to audit\n\n",
                         entry->label, entry->kind);
    }
    tacit_world_destroy(world);
    return status;
}

static int finish(story *s, tacit_status status, const tacit_error *err)
{
    if (status != TACIT_OK)
        return cli_failed(status, err);
    if (s->stopped)
        return stopped();
    if (s->o->json) {
        tacit__json_end(&s->document);
        tacit__json_end(&s->document);
        if (cli_print_json(&s->document) != CLI_DONE)
            return CLI_SYSTEM;
    }
    return s->violated ? CLI_NO : s->inconclusive ? CLI_UNSURE : CLI_DONE;
}

static int audit_all(const audit_options *o, const tacit_experiment *experiment)
{
    story s = {.o = o,
               .experiment = experiment,
               .facts = tacit_experiment_describe(experiment),
               .document = CLI_JSON_INIT};
    tacit_error err = {0};
    tacit_status status = TACIT_OK;
    if (!has_work(&s))
        return CLI_WRONG;
    start_progress(o, &s.progress);
    if (o->json) {
        tacit__json_begin_object(&s.document, NULL);
        tacit__json_put_string(&s.document, "title", s.facts->title);
        tacit__json_put_count(&s.document, "episodes", s.facts->episodes);
        tacit__json_begin_list(&s.document, "agents");
    } else {
        (void)printf("%s\n", s.facts->title);
    }
    for (size_t i = 0; i < s.facts->n_worlds && status == TACIT_OK && !s.stopped; i++)
        status = audit_world(&s, i, &err);
    int code = finish(&s, status, &err);
    tacit__text_destroy(&s.document.text);
    return code;
}

static int self_test(const audit_options *o)
{
    audit_progress progress;
    tacit_error err = {0};
    tacit_self_test *test = NULL;
    start_progress(o, &progress);
    progress.label = "self-test";
    const tacit_audit_options request = {.trials = o->trials,
                                         .confidence = o->confidence,
                                         .seed = o->seed > 0 ? o->seed : 1,
                                         .n_threads = (unsigned)o->jobs,
                                         .progress = report,
                                         .context = &progress};
    tacit_status status = tacit_audit_self_test(&request, o->audits, &test, &err);
    wipe(&progress);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    int code = test->right ? CLI_DONE : CLI_NO;
    if (test->stopped) {
        code = stopped();
    } else if (o->json) {
        tacit__json_writer out = CLI_JSON_INIT;
        cli_put_self_test(&out, test);
        code = cli_print_json(&out) == CLI_DONE ? code : CLI_SYSTEM;
    } else {
        cli_self_test_print(test);
    }
    tacit_self_test_destroy(test);
    return code;
}

int cli_audit(int argc, char **argv)
{
    audit_options o;
    int code = read_options(argc, argv, &o);
    if (code != CLI_DONE)
        return code;
    catch_signals();
    if (o.self_test)
        return self_test(&o);
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(o.file, &o.changes, &experiment, &err);
    if (status == TACIT_OK)
        cli_warn(experiment, o.label);
    code = status == TACIT_OK ? audit_all(&o, experiment) : cli_failed(status, &err);
    tacit_experiment_destroy(experiment);
    return code;
}
