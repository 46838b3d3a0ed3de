/* tacit run: plays an experiment and writes what came of it. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/report.h>

#include "cli/cli.h"
#include "cli/mpi_ranks.h"
#include "cli/output.h"
#include "cli/print_forecast.h"
#include "cli/print_json.h"
#include "cli/progress_bars.h"
#include "cli/summary.h"
#include "cli/warn.h"
#include "cli/words.h"

static const char help[] =
    "usage: tacit run FILE.yaml [-o DIR] [-j N] [--runs N] [--episodes K] [--resume | --force]\n"
    "                 [--yes] [-q] [--json]\n"
    "\n"
    "Plays every agent of an experiment in every world and run, and writes DIR/results.db as it\n"
    "goes, then DIR/summary.json, DIR/curves.csv and DIR/report.html, a page for people. Regret "
    "is\n"
    "exact: policies are evaluated, not sampled.\n"
    "\n"
    "  -o, --output DIR  where to write (default: FILE's name without .yaml, in this directory)\n"
    "  -j, --jobs N      threads (default: one for each processor); results do not depend on it\n"
    "  --runs N          repetitions, instead of what the file says\n"
    "  --episodes K      users, instead of what the file says\n"
    "  --resume          play what is missing in DIR, and nothing else\n"
    "  --force           forget the results that are in DIR\n"
    "  --yes             also if there are more than 10000 jobs\n"
    "  -q, --quiet       no progress\n"
    "  --json            print summary.json instead of a table\n"
    "\n"
    "Ctrl-C stops: what is finished stays in DIR/results.db, and the exit status is 130. --resume\n"
    "then ends with the same results as if nothing had happened. The noise comes from the seed, "
    "so\n"
    "everything here is a simulation and protects nobody.\n"
    "\n"
    "example:\n"
    "  tacit run examples/riverswim.yaml --episodes 5000 -o /tmp/river\n";

enum { OUTPUT = 'o', JOBS = 'j', QUIET = 'q', RUNS = 1, EPISODES, RESUME, FORCE, YES, JSON, HELP };
#define MAX_JOBS 1024

static const struct option options[] = {{"output", required_argument, NULL, OUTPUT},
                                        {"jobs", required_argument, NULL, JOBS},
                                        {"runs", required_argument, NULL, RUNS},
                                        {"episodes", required_argument, NULL, EPISODES},
                                        {"resume", no_argument, NULL, RESUME},
                                        {"force", no_argument, NULL, FORCE},
                                        {"yes", no_argument, NULL, YES},
                                        {"quiet", no_argument, NULL, QUIET},
                                        {"json", no_argument, NULL, JSON},
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};

typedef struct wish {
    const char *file, *directory;
    tacit_experiment_changes changes;
    uint64_t jobs;
    bool resume, force, yes, quiet, json, help;
} wish;

static int read_option(void *wishes, int code)
{
    wish *w = wishes;
    switch (code) {
    case OUTPUT:
        w->directory = optarg;
        return optarg[0] != '\0' ? CLI_DONE : cli_wrong("-o is '', expected a directory");
    case JOBS:
        return cli_read_count("-j", optarg, MAX_JOBS, &w->jobs);
    case RUNS:
        return cli_read_count("--runs", optarg, TACIT_MAX_RUNS, &w->changes.runs);
    case EPISODES:
        return cli_read_count("--episodes", optarg, TACIT_MAX_EPISODES, &w->changes.episodes);
    case RESUME:
        w->resume = true;
        return CLI_DONE;
    case FORCE:
        w->force = true;
        return CLI_DONE;
    case YES:
        w->yes = true;
        return CLI_DONE;
    case QUIET:
        w->quiet = true;
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
    int status = cli_take_options(argc, argv, ":ho:j:q", options, read_option, w);
    if (status != CLI_DONE || w->help)
        return status;
    if (w->resume && w->force)
        return cli_wrong("--resume keeps results and --force forgets them; choose one");
    if (optind == argc)
        return cli_wrong("no experiment is given, expected FILE.yaml; see tacit run --help");
    if (optind + 1 < argc)
        return cli_wrong("unexpected argument '%s' after '%s', expected one experiment",
                         argv[optind + 1], argv[optind]);
    w->file = argv[optind];
    w->changes.max_jobs = w->yes ? TACIT_MAX_JOBS : TACIT_MANY_JOBS;
    return CLI_DONE;
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

/* The first signal asks to stop. One that comes a while later stops at once; a while, because some programs send the same
 * signal twice, to a process and to its group. */
static void catch (int signal_number)
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
    struct sigaction action = {.sa_handler = catch, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write, not a death */
}

static bool report(void *context, const tacit_lab_progress *now)
{
    cli_progress_show(context, now);
    return caught == 0;
}

/* --- The command --------------------------------------------------------------------------------- */

/* The library's message, and what can be done about it here. */
static int explain_failure(const wish *w, tacit_status status, const tacit_error *err)
{
    switch (status) {
    case TACIT_EXISTS:
        return cli_wrong("%s; --resume plays what is missing, --force begins anew, -o DIR writes "
                         "elsewhere",
                         err->message);
    case TACIT_WRONG_PLAN:
    case TACIT_WRONG_VERSION:
        return cli_wrong("%s; -o DIR writes elsewhere, --force forgets them", err->message);
    case TACIT_TOO_LARGE:
        if (!w->yes && strstr(err->message, " jobs: ") != NULL)
            return cli_wrong("%s; --yes plays them all the same", err->message);
        return cli_failed(status, err);
    case TACIT_SYSTEM:
        if (strstr(err->message, "not been heard of") != NULL ||
            strstr(err->message, "/results.db: cannot write") != NULL)
            (void)cli_wrong("%s; what was written is safe, and --resume plays what is missing",
                            err->message);
        else
            (void)cli_failed(status, err);
        return CLI_SYSTEM;
    default:
        return cli_failed(status, err);
    }
}

static int write_report(const cli_output *output, const tacit_results *results)
{
    tacit_error err = {0};
    char *path = cli_report_path(output->path);
    tacit_status status =
        path != NULL ? tacit_report_write(results, NULL, path, &err) : TACIT_NO_MEMORY;
    free(path);
    return status == TACIT_OK ? CLI_DONE : cli_failed(status, &err);
}

static int write_files(const cli_output *output, const tacit_results *results, const char *text)
{
    /* jansson and fputs take const, cli_output_write hands its context on as it is. */
    union {
        const char *in;
        char *out;
    } context = {.in = text};
    int status = cli_output_write(output, "curves.csv", cli_curves_write, &results);
    if (status == CLI_DONE)
        status = cli_output_write(output, "summary.json", cli_summary_write, context.out);
    return status == CLI_DONE ? write_report(output, results) : status;
}

static int tell(const wish *w, const cli_output *output, const tacit_results *results)
{
    char *text = cli_json_text(cli_summary_json(results));
    if (text == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    int status = write_files(output, results, text);
    if (w->json) {
        (void)puts(text);
    } else {
        cli_summary_print(results);
        if (status == CLI_DONE)
            (void)printf("written: %s/results.db, summary.json, curves.csv, report.html\n",
                         output->path);
    }
    free(text);
    return status;
}

/* Stopped by a signal. */
static int tell_stop(const cli_output *output, const tacit_results *results)
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

static int play(const wish *w, const tacit_experiment *experiment, const cli_output *output,
                const cli_ranks *ranks)
{
    tacit_error err = {0};
    tacit_results *results = NULL;
    cli_progress progress;
    if (!w->quiet && !is_silent(ranks))
        cli_forecast_tell(experiment);
    cli_progress_open(&progress, w->quiet || is_silent(ranks),
                      tacit_experiment_describe(experiment));
    const tacit_lab_options lab = {.n_threads = (unsigned)w->jobs,
                                   .directory = output->path,
                                   .mode = w->resume  ? TACIT_LAB_RESUME
                                           : w->force ? TACIT_LAB_REPLACE
                                                      : TACIT_LAB_NEW,
                                   .transport = ranks->several ? &ranks->transport : NULL,
                                   .progress = report,
                                   .context = &progress};
    tacit_status status = tacit_lab_run(experiment, &lab, &results, &err);
    cli_progress_close(&progress);
    int code;
    if (is_silent(ranks))
        code = CLI_DONE; /* what went wrong has been told to the first */
    else if (status != TACIT_OK)
        code = explain_failure(w, status, &err);
    else if (!tacit_results_complete(results))
        code = tell_stop(output, results);
    else
        code = tell(w, output, results);
    tacit_results_destroy(results);
    return code;
}

static int play_into(const wish *w, const tacit_experiment *experiment, const cli_ranks *ranks)
{
    char *standard = default_directory(w->file);
    cli_output output = {0};
    int code = CLI_DONE;
    if (standard == NULL)
        code = cli_failed(TACIT_NO_MEMORY, NULL);
    else if (!is_silent(ranks))
        code = cli_output_open(&output, w->directory != NULL ? w->directory : standard);
    if (code == CLI_DONE) {
        code = play(w, experiment, &output, ranks);
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
    wish w;
    int code = read_options(argc, argv, &w);
    if (code != CLI_DONE)
        return code;
    if (w.help) {
        (void)fputs(help, stdout);
        return CLI_DONE;
    }
    cli_ranks ranks;
    code = cli_ranks_open(&ranks);
    if (code != CLI_DONE)
        return code;
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(w.file, &w.changes, &experiment, &err);
    catch_signals();
    if (status == TACIT_OK) {
        if (!is_silent(&ranks))
            cli_warn(experiment, NULL);
        code = play_into(&w, experiment, &ranks);
    } else {
        tacit_lab_absent(&ranks.transport, &err);
        code = is_silent(&ranks) ? CLI_DONE : explain_failure(&w, status, &err);
    }
    /* The system failed: another process may be dead, and would be waited for in vain. */
    (void)fflush(stdout);
    cli_ranks_close(&ranks, code == CLI_SYSTEM);
    tacit_experiment_destroy(experiment);
    return code;
}
