/* tacit token: creates, lists and revokes the access tokens of a service. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/service.h>

#include "cli/cli.h"
#include "cli/options.h"

/* --- Times -------------------------------------------------------------------------------------- */

/* Parses a date or time into seconds since 1970; a day counts to its end. False: it is neither. */
static bool read_date(const char *text, int64_t *out)
{
    struct tm parts = {0};
    const char *end = strptime(text, "%Y-%m-%d", &parts);
    bool day = end != NULL && *end == '\0';
    if (!day) {
        parts = (struct tm){0};
        end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    if (end == NULL || *end != '\0')
        return false;
    const struct tm written = parts;
    time_t at = timegm(&parts); /* which makes the first of March of the 31st of February */
    *out = (int64_t)at + (day ? 86400 : 0);
    return at > 0 && parts.tm_mday == written.tm_mday && parts.tm_mon == written.tm_mon;
}

/* 90d or 12h from now. */
static bool read_while(const char *text, int64_t *out)
{
    enum { DIGITS = 6 }; /* 2,700 years of days are no mistake of ours */
    const size_t n = strspn(text, "0123456789");
    const char unit = text[n];
    if (n == 0 || n > DIGITS || (unit != 'd' && unit != 'h') || text[n + 1] != '\0')
        return false;
    const int64_t number = strtoll(text, NULL, 10);
    *out = (int64_t)time(NULL) + number * (unit == 'd' ? 86400 : 3600);
    return number > 0;
}

static const char *show_time(int64_t seconds, char text[32])
{
    struct tm parts;
    time_t at = (time_t)seconds;
    if (gmtime_r(&at, &parts) == NULL || strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        (void)snprintf(text, 32, "?");
    return text;
}

/* --- What is done ------------------------------------------------------------------------------- */

static void show(void *context, const tacit_token_facts *token)
{
    char when[32];
    (void)context;
    (void)printf("%-24s %-36s %s", token->name, token->scopes, show_time(token->created, when));
    if (token->learner != NULL)
        (void)printf("  learner %s", token->learner);
    if (token->users_per_day > 0)
        (void)printf("  %llu users a day", (unsigned long long)token->users_per_day);
    if (token->expires != 0)
        (void)printf("  %s %s", token->expires <= (int64_t)time(NULL) ? "expired" : "expires",
                     show_time(token->expires, when));
    (void)puts(token->revoked ? "  revoked" : "");
}

/* A token that could not be printed is of no use: revoke it. */
static int print_token(const char *token, const tacit_service_options *service, const char *name)
{
    tacit_error err = {0};
    if (puts(token) >= 0 && fflush(stdout) == 0)
        return CLI_DONE;
    int reason = errno;
    clearerr(stdout); /* said here */
    if (tacit_token_revoke(service, name, &err) == TACIT_OK)
        (void)cli_wrong("the token could not be written to standard output (%s) and was revoked; "
                        "create it again",
                        strerror(reason));
    else
        (void)cli_wrong("the token could not be written to standard output (%s), and could not be "
                        "revoked either (%s); revoke it later: tacit token revoke %s --name %s",
                        strerror(reason), err.message, service->file, name);
    return CLI_SYSTEM;
}

static int act(const char *verb, const tacit_service_options *service,
               const tacit_token_request *request)
{
    tacit_error err = {0};
    tacit_status status;
    char token[TACIT_TOKEN_SIZE];
    bool create = strcmp(verb, "create") == 0, revoke = strcmp(verb, "revoke") == 0;
    if (!create && !revoke && strcmp(verb, "list") != 0)
        return cli_wrong(
            "tacit token has no command '%s'; its commands are create, list and revoke", verb);
    if ((create || revoke) && request->name == NULL)
        return cli_wrong("--name is missing; see tacit token --help");
    if (create && request->scopes == NULL)
        return cli_wrong("--scopes is missing; see tacit token --help");
    if (!create && (request->scopes != NULL || request->learner != NULL ||
                    request->users_per_day != 0 || request->expires != 0))
        return cli_wrong("tacit token %s takes --name alone; see tacit token --help", verb);
    if (create)
        status = tacit_token_create(service, request, token, &err);
    else if (revoke)
        status = tacit_token_revoke(service, request->name, &err);
    else
        status = tacit_token_list(service, show, NULL, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    if (revoke)
        (void)fputs("tacit: revoked; a running service accepts it until SIGHUP\n", stderr);
    return create ? print_token(token, service, request->name) : CLI_DONE;
}

/* --- Arguments ---------------------------------------------------------------------------------- */

static bool read_expiry(const char *text, void *out)
{
    return read_date(text, out) || read_while(text, out);
}

#define AT(member) offsetof(tacit_token_request, member)
static const tacit__field options[] = {
    {"name", TACIT__FIELD_TEXT, AT(name), .value = "NAME", .help = "the token's name"},
    {"scopes", TACIT__FIELD_TEXT, AT(scopes), .value = "LIST",
     .help = "what it permits: decide, observe, report, read, admin (everything)"},
    {"learner", TACIT__FIELD_TEXT, AT(learner), .value = "NAME",
     .help = "the token is valid for this learner only"},
    {"users-per-day", TACIT__FIELD_COUNT, AT(users_per_day), 1, CLI_MAX_COUNT - 1,
     .expected = "a whole number >= 1", .value = "N",
     .help = "at most N users a day, by observations or reports"},
    {"expires", TACIT__FIELD_OTHER, AT(expires), .parse = read_expiry,
     .expected = "a day such as 2030-12-31, a time such as 2030-12-31T18:00:00Z, or a duration "
                 "such as 90d or 12h",
     .value = "DATE",
     .help = "last day, UTC: 2030-12-31; or a time:\n"
             "2030-12-31T18:00:00Z; or a duration: 90d, 12h"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit token create FILE.yaml --name NAME --scopes SCOPE[,SCOPE...]\n"
    "                    [--learner NAME] [--users-per-day N] [--expires DATE|TIME]\n"
    "       tacit token list FILE.yaml\n"
    "       tacit token revoke FILE.yaml --name NAME\n"
    "\n"
    "Tokens give access to a service. `create` prints a new token once; the store keeps only its\n"
    "hash. Send SIGHUP to a running service to make it read changed tokens.\n"
    "\n",
    "\n"
    "example:\n"
    "  tacit token create service.yaml --name web --scopes decide,observe\n",
    options};

int cli_token(int argc, char **argv)
{
    tacit_token_request request = {0};
    cli_keep_memory_private();
    int code = cli_read_options(argc, argv, &form, &request, NULL);
    if (code != CLI_DONE)
        return code;
    if (argc - optind != 2)
        return cli_wrong("expected create, list or revoke, and FILE.yaml; see tacit token --help");
    const tacit_service_options service = {.file = argv[optind + 1],
                                           .credentials = getenv("CREDENTIALS_DIRECTORY")};
    return act(argv[optind], &service, &request);
}
