/* tacit report: builds the page of an experiment again from what a run has left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/report.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/options.h"

typedef struct report_options {
    const char *directory, *file;
    bool still;
} report_options;

static const tacit__field option_fields[] = {
    {"output", TACIT__FIELD_TEXT, offsetof(report_options, file), .low = 1, .expected = "a file",
     .letter = 'o', .value = "FILE", .help = "where to write (default: DIR/report.html)"},
    {"static", TACIT__FIELD_FLAG, offsetof(report_options, still),
     .help = "drawings instead of interactive plots, and no scripts"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit report DIR [-o FILE] [--static]\n"
    "\n"
    "Builds DIR/report.html again from DIR/results.db, which tacit run wrote: one self-contained\n"
    "page with regret over time, the price of privacy, and what each agent promises. For a run\n"
    "that was stopped, the page says so.\n"
    "\n",
    "\n"
    "example:\n"
    "  tacit report /tmp/river\n",
    option_fields};

char *cli_report_path(const char *directory)
{
    TACIT__REQUIRE(directory != NULL);
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
    report_options o = {0};
    int code = cli_read_options(argc, argv, &form, &o, NULL);
    if (code == CLI_DONE)
        code = cli_read_argument(
            argc, argv, "no results are given, expected the directory that tacit run wrote to",
            "directory", &o.directory);
    if (code != CLI_DONE)
        return code;
    tacit_error err = {0};
    tacit_results *results = NULL;
    char *standard = cli_report_path(o.directory);
    if (standard == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    const char *path = o.file != NULL ? o.file : standard;
    const tacit_report_options wanted = {.still = o.still};
    tacit_status status = tacit_results_open(o.directory, &results, &err);
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
