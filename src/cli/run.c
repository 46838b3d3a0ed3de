/* tacit run: plays an experiment and writes what came of it. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/summary.h"
#include "cli/words.h"

static const char help[] =
    "usage: tacit run FILE.yaml [-o DIR] [-j N] [--runs N] [--episodes K] [-q] [--json]\n"
    "\n"
    "Plays every agent of an experiment in every run, and writes DIR/summary.json and\n"
    "DIR/curves.csv. Regret is exact: policies are evaluated, not sampled.\n"
    "\n"
    "  -o, --output DIR  where to write (default: FILE's name without .yaml, in this directory)\n"
    "  -j, --jobs N      threads (default: one for each processor); results do not depend on it\n"
    "  --runs N          repetitions, instead of what the file says\n"
    "  --episodes K      users, instead of what the file says\n"
    "  -q, --quiet       no progress\n"
    "  --json            print summary.json instead of a table\n"
    "\n"
    "Ctrl-C stops: nothing is written, and the exit status is 130. The noise comes from the seed,\n"
    "so everything here is a simulation and protects nobody.\n"
    "\n"
    "example:\n"
    "  tacit run examples/riverswim.yaml --episodes 5000 -o /tmp/river\n";

enum { OUTPUT = 'o', JOBS = 'j', QUIET = 'q', RUNS = 1, EPISODES, JSON, HELP };
#define MAX_JOBS 1024

static const struct option options[] = {
    {"output", required_argument, NULL, OUTPUT}, {"jobs", required_argument, NULL, JOBS},
    {"runs", required_argument, NULL, RUNS},     {"episodes", required_argument, NULL, EPISODES},
    {"quiet", no_argument, NULL, QUIET},         {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, HELP},           {NULL, 0, NULL, 0}};

typedef struct wish {
    const char *file, *directory;
    tacit_experiment_changes changes;
    uint64_t jobs;
    bool quiet, json, help;
} wish;

static int read_option(int code, wish *w)
{
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
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, ":ho:j:q", options, NULL)) != -1;) {
        if (code == '?' || code == ':')
            return cli_bad_option(argv, code, options);
        int status = read_option(code, w);
        if (status != CLI_DONE)
            return status;
    }
    if (w->help)
        return CLI_DONE;
    if (optind == argc)
        return cli_wrong("no experiment is given, expected FILE.yaml; see tacit run --help");
    if (optind + 1 < argc)
        return cli_wrong("unexpected argument '%s' after '%s', expected one experiment",
                         argv[optind + 1], argv[optind]);
    w->file = argv[optind];
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

static void catch (int signal)
{
    caught = signal;
}

/* The first signal asks to stop, the second stops. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = catch, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static bool report(void *context, const tacit_lab_progress *now)
{
    cli_progress_show(context, now);
    return caught == 0;
}

/* --- The command --------------------------------------------------------------------------------- */

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
    return status;
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
            (void)printf("written: %s/summary.json, %s/curves.csv\n", output->path, output->path);
    }
    free(text);
    return status;
}

static int play(const wish *w, const tacit_experiment *experiment, const cli_output *output)
{
    tacit_error err = {0};
    tacit_results *results = NULL;
    cli_progress progress;
    cli_progress_open(&progress, w->quiet);
    const tacit_lab_options lab = {
        .n_threads = (unsigned)w->jobs, .progress = report, .context = &progress};
    tacit_status status = tacit_lab_run(experiment, &lab, &results, &err);
    cli_progress_close(&progress);
    int code;
    if (status != TACIT_OK) {
        code = cli_failed(status, &err);
    } else if (!tacit_results_complete(results)) {
        (void)cli_wrong("stopped; nothing was written");
        code = 128 + caught;
    } else {
        code = tell(w, output, results);
    }
    tacit_results_destroy(results);
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
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_status status = tacit_experiment_read(w.file, &w.changes, &experiment, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    catch_signals();
    char *standard = default_directory(w.file);
    cli_output output = {0};
    if (standard == NULL)
        code = cli_failed(TACIT_NO_MEMORY, NULL);
    else
        code = cli_output_open(&output, w.directory != NULL ? w.directory : standard);
    if (code == CLI_DONE) {
        code = play(&w, experiment, &output);
        if (code != CLI_DONE)
            cli_output_undo(&output);
    }
    free(standard);
    cli_output_close(&output);
    tacit_experiment_destroy(experiment);
    return code;
}
