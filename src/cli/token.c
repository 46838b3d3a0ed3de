/* tacit token: who may use a service. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/service.h>

#include "cli/cli.h"

static const char help[] =
    "usage: tacit token create FILE.yaml --name NAME --scopes SCOPE[,SCOPE...]\n"
    "       tacit token list FILE.yaml\n"
    "       tacit token revoke FILE.yaml --name NAME\n"
    "\n"
    "Tokens open a service's routes. `create` prints a new one, once: the store keeps its hash.\n"
    "A running service learns of changes by SIGHUP.\n"
    "\n"
    "scopes: decide, observe, report, read, admin (all of them)\n"
    "\n"
    "example:\n"
    "  tacit token create service.yaml --name web --scopes decide,observe\n";

enum { NAME = 1, SCOPES, HELP };
static const struct option options[] = {{"name", required_argument, NULL, NAME},
                                        {"scopes", required_argument, NULL, SCOPES},
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};

static void show(void *context, const tacit_token_facts *token)
{
    char when[32] = "?";
    struct tm parts;
    time_t created = (time_t)token->created;
    (void)context;
    if (gmtime_r(&created, &parts) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    (void)printf("%-24s %-36s %s%s\n", token->name, token->scopes, when,
                 token->revoked ? "  revoked" : "");
}

/* A token that nobody has seen opens nothing: it is taken back. */
static int tell(const char *token, const tacit_service_options *wish, const char *name)
{
    tacit_error err = {0};
    if (puts(token) >= 0 && fflush(stdout) == 0)
        return CLI_DONE;
    int reason = errno;
    clearerr(stdout); /* said here */
    if (tacit_token_revoke(wish, name, &err) == TACIT_OK)
        (void)cli_wrong("the token could not be written to standard output (%s) and was revoked; "
                        "create it again",
                        strerror(reason));
    else
        (void)cli_wrong("the token could not be written to standard output (%s), and not be "
                        "revoked either (%s); revoke it later: tacit token revoke %s --name %s",
                        strerror(reason), err.message, wish->file, name);
    return CLI_SYSTEM;
}

static int act(const char *verb, const tacit_service_options *wish, const char *name,
               const char *scopes)
{
    tacit_error err = {0};
    tacit_status status;
    char token[TACIT_TOKEN_SIZE];
    bool create = strcmp(verb, "create") == 0, revoke = strcmp(verb, "revoke") == 0;
    if (!create && !revoke && strcmp(verb, "list") != 0)
        return cli_wrong("tacit token has no '%s'; there are create, list and revoke", verb);
    if ((create || revoke) && name == NULL)
        return cli_wrong("--name is missing; see tacit token --help");
    if (create && scopes == NULL)
        return cli_wrong("--scopes is missing; see tacit token --help");
    if (create)
        status = tacit_token_create(wish, name, scopes, token, &err);
    else if (revoke)
        status = tacit_token_revoke(wish, name, &err);
    else
        status = tacit_token_list(wish, show, NULL, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    if (revoke)
        (void)fputs("tacit: revoked; a service that runs goes on taking it until SIGHUP\n", stderr);
    return create ? tell(token, wish, name) : CLI_DONE;
}

int cli_token(int argc, char **argv)
{
    const char *name = NULL, *scopes = NULL;
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, ":h", options, NULL)) != -1;)
        switch (code) {
        case NAME:
            name = optarg;
            break;
        case SCOPES:
            scopes = optarg;
            break;
        case HELP:
        case 'h':
            (void)fputs(help, stdout);
            return CLI_DONE;
        default:
            return cli_bad_option(argv, code, options);
        }
    if (argc - optind != 2)
        return cli_wrong("expected create, list or revoke, and FILE.yaml; see tacit token --help");
    const tacit_service_options wish = {.file = argv[optind + 1],
                                        .credentials = getenv("CREDENTIALS_DIRECTORY")};
    return act(argv[optind], &wish, name, scopes);
}
