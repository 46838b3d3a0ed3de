/* tacit report: builds the page of an experiment again from what a run has left. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/report.h>

#include "cli/cli.h"

static const char help[] =
    "usage: tacit report DIR [-o FILE] [--static]\n"
    "\n"
    "Builds DIR/report.html again from DIR/results.db, which tacit run has written: one page that\n"
    "needs nothing else, with regret over time, the price of privacy, and what each agent "
    "promises.\n"
    "Results of a run that was stopped give a page that says so.\n"
    "\n"
    "  -o, --output FILE  where to write (default: DIR/report.html)\n"
    "  --static           drawings instead of interactive plots, and no scripts\n"
    "\n"
    "example:\n"
    "  tacit report /tmp/river\n";

enum { OUTPUT = 'o', STATIC = 1, HELP };

static const struct option options[] = {{"output", required_argument, NULL, OUTPUT},
                                        {"static", no_argument, NULL, STATIC},
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};

typedef struct wish {
    const char *directory, *file;
    bool still, help;
} wish;

static int read_option(void *wishes, int code)
{
    wish *w = wishes;
    if (code == OUTPUT)
        w->file = optarg;
    w->still = w->still || code == STATIC;
    w->help = w->help || code == HELP || code == 'h';
    return code == OUTPUT && optarg[0] == '\0' ? cli_wrong("-o is '', expected a file") : CLI_DONE;
}

static int read_options(int argc, char **argv, wish *w)
{
    *w = (wish){0};
    int status = cli_take_options(argc, argv, ":ho:", options, read_option, w);
    if (status != CLI_DONE || w->help)
        return status;
    if (optind == argc)
        return cli_wrong("no results are given, expected the directory that tacit run wrote to; "
                         "see tacit report --help");
    if (optind + 1 < argc)
        return cli_wrong("unexpected argument '%s' after '%s', expected one directory",
                         argv[optind + 1], argv[optind]);
    w->directory = argv[optind];
    return CLI_DONE;
}

char *cli_report_path(const char *directory)
{
    static const char name[] = "report.html";
    size_t n = strlen(directory), size = n + sizeof name + 1;
    char *path = malloc(size);
    if (path != NULL)
        (void)snprintf(path, size, "%s%s%s", directory, n > 0 && directory[n - 1] == '/' ? "" : "/",
                       name);
    return path;
}

int cli_report(int argc, char **argv)
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
    tacit_results *results = NULL;
    char *standard = cli_report_path(w.directory);
    if (standard == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    const char *path = w.file != NULL ? w.file : standard;
    const tacit_report_options wanted = {.still = w.still};
    tacit_status status = tacit_results_open(w.directory, &results, &err);
    if (status == TACIT_OK)
        status = tacit_report_write(results, &wanted, path, &err);
    if (status != TACIT_OK)
        code = cli_failed(status, &err);
    else
        (void)printf("written: %s\n", path);
    tacit_results_destroy(results);
    free(standard);
    return code;
}
