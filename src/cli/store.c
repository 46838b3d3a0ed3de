/* tacit store: looks after a service's store, also while the service runs. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/service.h>

#include "cli/cli.h"
#include "cli/events.h"
#include "cli/recorded.h"

static const char help[] =
    "usage: tacit store check FILE.yaml\n"
    "       tacit store backup FILE.yaml COPY\n"
    "       tacit store export FILE.yaml\n"
    "       tacit store decisions FILE.yaml\n"
    "       tacit store events FILE.yaml [--json]\n"
    "\n"
    "check   reads everything, opens what is sealed, and sees that every user is counted once;\n"
    "        exit status 1 if something is wrong\n"
    "backup  makes a consistent copy; a service on the copy decides, but does not learn\n"
    "export  prints what is public as JSON: counts, ledger, curves\n"
    "decisions  prints the decisions of learners with log_decisions: yes, one JSON object in a\n"
    "        line: what users told, in the clear\n"
    "events  prints the audit log: starts, stops, tokens, keys\n"
    "\n"
    "All of them may be used while the service runs.\n"
    "\n"
    "example:\n"
    "  tacit store check service.yaml\n";

enum { JSON = 1 };
static const struct option options[] = {
    {"help", no_argument, NULL, 'h'}, {"json", no_argument, NULL, JSON}, {NULL, 0, NULL, 0}};

static int check(const tacit_service_options *wish)
{
    tacit_error err = {0};
    tacit_store_health h;
    tacit_status status = tacit_store_check(wish, &h, &err);
    if (status == TACIT_CORRUPT) {
        (void)cli_failed(status, &err);
        return CLI_NO;
    }
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    (void)printf("sound: %" PRIu64 " learners, %" PRIu64 " users waiting, %" PRIu64
                 " episodes open, %" PRIu64 " taken, %" PRIu64 " people, %" PRIu64
                 " answers, %" PRIu64 " tokens, %" PRIu64 " bytes\n",
                 h.learners, h.inputs, h.open, h.seen, h.people, h.answers, h.tokens, h.bytes);
    return CLI_DONE;
}

static int export_public(const tacit_service_options *wish)
{
    tacit_error err = {0};
    char *json = NULL;
    tacit_status status = tacit_store_export(wish, &json, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    (void)puts(json);
    free(json);
    return CLI_DONE;
}

int cli_store(int argc, char **argv)
{
    tacit_error err = {0};
    bool json = false;
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        json = json || code == JSON;
        if (code == JSON)
            continue;
        if (code != 'h')
            return cli_bad_option(argv, code, options);
        (void)fputs(help, stdout);
        return CLI_DONE;
    }
    if (argc - optind < 2)
        return cli_wrong("expected check, backup, export or events, and FILE.yaml; see tacit store "
                         "--help");
    const char *verb = argv[optind];
    int given = argc - optind, wanted = strcmp(verb, "backup") == 0 ? 3 : 2;
    const tacit_service_options wish = {.file = argv[optind + 1],
                                        .credentials = getenv("CREDENTIALS_DIRECTORY")};
    if (given != wanted)
        return cli_wrong(wanted == 3 ? "expected a path for the copy; see tacit store --help"
                                     : "too many arguments; see tacit store --help");
    if (strcmp(verb, "events") == 0)
        return cli_store_events(&wish, json);
    if (json)
        return cli_wrong("tacit store %s has no --json; see tacit store --help", verb);
    if (strcmp(verb, "check") == 0)
        return check(&wish);
    if (strcmp(verb, "export") == 0)
        return export_public(&wish);
    if (strcmp(verb, "decisions") == 0)
        return cli_store_decisions(&wish);
    if (strcmp(verb, "backup") != 0)
        return cli_wrong("tacit store has no '%s'; there are check, backup, export, decisions and "
                         "events",
                         verb);
    tacit_status status = tacit_store_backup(&wish, argv[optind + 2], &err);
    return status == TACIT_OK ? CLI_DONE : cli_failed(status, &err);
}
