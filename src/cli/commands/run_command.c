/* tacit run: plays an experiment and writes the results. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/report.h>

#include "cli/cli.h"
#include "cli/mpi_ranks.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plugins.h"
#include "cli/print_json.h"
#include "cli/progress_bars.h"
#include "cli/summary.h"
#include "cli/warn.h"

#define MAX_JOBS 1024

typedef struct run_options {
    const char *file, *directory;
    tacit_experiment_changes changes;
    uint64_t jobs;
    bool resume, force, yes, quiet, json;
    cli_plugins plugins;
} run_options;

static const tacit__field option_fields[] = {
    {"output", TACIT__FIELD_TEXT, offsetof(run_options, directory), .low = 1,
     .expected = "a directory", .letter = 'o', .value = "DIR",
     .help = "where to write (default: FILE's name without .yaml, in this directory)"},
    {"jobs", TACIT__FIELD_COUNT, offsetof(run_options, jobs), 1, MAX_JOBS, .letter = 'j',
     .value = "N", .help = "threads (default: one per processor); results do not depend on it"},
    {"runs", TACIT__FIELD_COUNT, offsetof(run_options, changes.runs), 1, TACIT_MAX_RUNS,
     .value = "N", .help = "repetitions; overrides the file"},
    {"episodes", TACIT__FIELD_COUNT, offsetof(run_options, changes.episodes), 1, TACIT_MAX_EPISODES,
     .value = "K", .help = "users; overrides the file"},
    {"seed", TACIT__FIELD_COUNT, offsetof(run_options, changes.seed), 1, CLI_MAX_COUNT,
     .value = "N", .help = "of the people and of the noise; overrides the file"},
    {"resume", TACIT__FIELD_FLAG, offsetof(run_options, resume),
     .help =
         "play only the jobs that are missing from DIR, also those of more runs, agents or worlds"},
    {"force", TACIT__FIELD_FLAG, offsetof(run_options, force),
     .help = "delete the results that are in DIR first"},
    {"yes", TACIT__FIELD_FLAG, offsetof(run_options, yes),
     .help = "run even if there are more than 10000 jobs"},
    CLI_LOAD_OPTION(offsetof(run_options, plugins)),
    {"quiet", TACIT__FIELD_FLAG, offsetof(run_options, quiet), .letter = 'q',
     .help = "show no progress"},
    {"json", TACIT__FIELD_FLAG, offsetof(run_options, json),
     .help = "print summary.json instead of a table"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit run FILE.yaml [-o DIR] [-j N] [--runs N] [--episodes K] [--seed N]\n"
    "                 [--resume | --force] [--yes] [--load FILE.so] [-q] [--json]\n"
    "\n"
    "Plays every agent of an experiment in every world, for every run. Writes DIR/results.db as\n"
    "it goes, then DIR/summary.json, DIR/curves.csv and DIR/report.html, a page to read. Regret\n"
    "is exact: policies are evaluated, not sampled.\n"
    "\n",
    "\n"
    "Ctrl-C stops the run: finished jobs stay in DIR/results.db, and the exit status is 130.\n"
    "--resume then produces the results of an uninterrupted run. The noise comes from the seed, "
    "so\n"
    "a run is a simulation and protects no data.\n"
    "\n"
    "example:\n"
    "  tacit run examples/riverswim.yaml --episodes 5000 -o /tmp/river\n",
    option_fields};

static int read_options(int argc, char **argv, run_options *o)
{
    *o = (run_options){0};
    int status = cli_read_options(argc, argv, &form, o, NULL);
    if (status != CLI_DONE)
        return status;
    if (o->resume && o->force)
        return cli_wrong("--resume keeps results and --force discards them; choose one");
    o->changes.max_jobs = o->yes ? TACIT_MAX_JOBS : TACIT_MANY_JOBS;
    status = cli_read_argument(argc, argv, "no experiment is given, expected FILE.yaml",
                               "experiment", &o->file);
    return status == CLI_DONE ? cli_load_plugins(&o->plugins) : status;
}

/* FILE's name without .yaml; FILE itself must not be in the way. To be freed. */
static char *default_directory(const char *file)
{
    static const char other[] = "-results";
    const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
    const char *dot = strrchr(name, '.');
    bool yaml =
        dot != NULL && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
    size_t length = yaml ? (size_t)(dot - name) : strlen(name), size = length + sizeof other;
    char *directory = malloc(size);
    if (directory != NULL)
        (void)snprintf(directory, size, "%.*s%s", (int)length, name, yaml ? "" : other);
    return directory;
}

/* --- Stopping ------------------------------------------------------------------------------------ */

static volatile sig_atomic_t caught;
static volatile sig_atomic_t caught_at; /* seconds of the monotonic clock, low bits */

/* The first signal asks to stop. One that comes a while later stops at once; a while, because some
 * programs send the same signal twice, to a process and to its group. */
static void on_signal(int signal_number)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    sig_atomic_t second = (sig_atomic_t)(now.tv_sec & 0xffffff);
    if (caught == 0) {
        caught_at = second;
        caught = signal_number;
    } else if (second - caught_at > 1) {
        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number);
    }
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static const char *duration_text(char out[32], double seconds)
{
    if (seconds < 7200)
        (void)snprintf(out, 32, "%.0f minutes", fmax(2, round(seconds / 60)));
    else if (seconds < 48 * 3600)
        (void)snprintf(out, 32, "%.0f hours", round(seconds / 3600));
    else
        (void)snprintf(out, 32, "%.3g days", round(seconds / 86400));
    return out;
}

/* There are no results before this, so that signals end the program at once, however long a world takes to
 * build. From here on they stop the run. */
static void begin(void *context, double seconds)
{
    char text[32];
    catch_signals();
    if (!((const cli_progress *)context)->quiet && seconds > 60)
        (void)fprintf(stderr, "tacit: this will take %s or longer\n", duration_text(text, seconds));
}

static bool report(void *context, const tacit_lab_progress *now)
{
    cli_progress_show(context, now);
    return caught == 0;
}

/* --- The command --------------------------------------------------------------------------------- */

/* The library's message, and what can be done about it here. */
static int explain_failure(const run_options *o, tacit_status status, const tacit_error *err)
{
    switch (status) {
    case TACIT_EXISTS:
        return cli_wrong("%s; --resume plays the missing jobs, --force discards these results, -o "
                         "DIR writes elsewhere",
                         err->message);
    case TACIT_WRONG_PLAN:
    case TACIT_WRONG_VERSION:
        return cli_wrong("%s; -o DIR writes elsewhere, --force discards them", err->message);
    default:
        break;
    }
    if (err->hint == TACIT_HINT_RAISE_JOBS && !o->yes)
        return cli_wrong("%s; --yes plays them anyway", err->message);
    if (err->hint != TACIT_HINT_RESUME)
        return cli_failed(status, err);
    (void)cli_wrong("%s; the results so far are safe, and --resume plays the missing jobs",
                    err->message);
    return CLI_SYSTEM;
}

static int write_report(const cli_output *output, const tacit_results *results)
{
    tacit_error err = {0};
    char *path = cli_report_path(output->path, "report.html");
    tacit_status status =
        path != NULL ? tacit_report_write(results, NULL, path, &err) : TACIT_NO_MEMORY;
    free(path);
    return status == TACIT_OK ? CLI_DONE : cli_failed(status, &err);
}

static int write_files(const cli_output *output, const tacit_results *results, const char *text)
{
    int status = cli_output_write(output, "curves.csv", cli_curves_write, results);
    if (status == CLI_DONE)
        status = cli_output_write(output, "summary.json", cli_summary_write, text);
    return status == CLI_DONE ? write_report(output, results) : status;
}

static int print_results(const run_options *o, const cli_output *output,
                         const tacit_results *results)
{
    tacit__json_writer summary = CLI_JSON_INIT;
    cli_put_summary(&summary, results);
    int status = summary.text.failed ? cli_failed(TACIT_NO_MEMORY, NULL)
                                     : write_files(output, results, summary.text.data);
    if (o->json && !summary.text.failed) {
        (void)puts(summary.text.data);
    } else {
        cli_summary_print(results);
        if (status == CLI_DONE)
            (void)printf("written: %s/results.db, summary.json, curves.csv, report.html\n",
                         output->path);
    }
    tacit__text_destroy(&summary.text);
    return status;
}

/* Stopped by a signal. */
static int print_stop(const cli_output *output, const tacit_results *results)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    uint64_t n = 0;
    for (size_t world = 0; world < facts->n_worlds; world++)
        for (size_t agent = 0; agent < facts->n_agents; agent++)
            n += tacit_results_summary(results, world, agent).runs;
    (void)cli_wrong("stopped; %llu of %llu jobs are finished and kept in %s/results.db; --resume "
                    "plays the others",
                    (unsigned long long)n, (unsigned long long)facts->n_jobs, output->path);
    return 128 + caught;
}

/* All processes but the first play, and leave talking and writing to it. */
static bool is_silent(const cli_ranks *ranks)
{
    return ranks->several && ranks->transport.rank > 0;
}

static int play(const run_options *o, const tacit_experiment *experiment, const cli_output *output,
                const cli_ranks *ranks)
{
    tacit_error err = {0};
    tacit_results *results = NULL;
    cli_progress progress;
    cli_progress_open(&progress, o->quiet || is_silent(ranks),
                      tacit_experiment_describe(experiment));
    const tacit_lab_options lab = {.n_threads = (unsigned)o->jobs,
                                   .directory = output->path,
                                   .mode = o->resume  ? TACIT_LAB_RESUME
                                           : o->force ? TACIT_LAB_REPLACE
                                                      : TACIT_LAB_NEW,
                                   .transport = ranks->several ? &ranks->transport : NULL,
                                   .begin = begin,
                                   .progress = report,
                                   .context = &progress};
    tacit_status status = tacit_lab_run(experiment, &lab, &results, &err);
    cli_progress_close(&progress);
    int code;
    if (is_silent(ranks))
        code = CLI_DONE; /* what went wrong has been told to the first */
    else if (status != TACIT_OK)
        code = explain_failure(o, status, &err);
    else if (!tacit_results_complete(results))
        code = print_stop(output, results);
    else
        code = print_results(o, output, results);
    tacit_results_destroy(results);
    return code;
}

static int play_into(const run_options *o, const tacit_experiment *experiment,
                     const cli_ranks *ranks)
{
    char *standard = default_directory(o->file);
    cli_output output = {0};
    int code = CLI_DONE;
    if (standard == NULL)
        code = cli_failed(TACIT_NO_MEMORY, NULL);
    else if (!is_silent(ranks))
        code = cli_output_open(&output, o->directory != NULL ? o->directory : standard);
    if (code == CLI_DONE) {
        code = play(o, experiment, &output, ranks);
        if (code != CLI_DONE)
            cli_output_undo(&output); /* as far as they are empty */
    } else if (ranks->several) {
        tacit_lab_absent(&ranks->transport, NULL);
    }
    free(standard);
    cli_output_close(&output);
    return code;
}

int cli_run(int argc, char **argv)
{
    run_options o;
    int code = read_options(argc, argv, &o);
    if (code != CLI_DONE)
        return code;
    cli_ranks ranks;
    code = cli_ranks_open(&ranks);
    if (code != CLI_DONE)
        return code;
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(o.file, &o.changes, &experiment, &err);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write, not a death */
    if (status == TACIT_OK) {
        if (!is_silent(&ranks))
            cli_warn(experiment, NULL);
        code = play_into(&o, experiment, &ranks);
    } else {
        tacit_lab_absent(&ranks.transport, &err);
        code = is_silent(&ranks) ? CLI_DONE : explain_failure(&o, status, &err);
    }
    /* The system failed: another process may be dead, and would be waited for in vain. */
    (void)fflush(stdout);
    cli_ranks_close(&ranks, code == CLI_SYSTEM);
    tacit_experiment_destroy(experiment);
    return code;
}
