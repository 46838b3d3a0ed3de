/* tacit store events: the audit log of a service's store. */
#include <stdio.h>
#include <time.h>

#include <tacit/service.h>

#include "cli/cli.h"
#include "cli/events.h"

typedef struct output {
    bool json, begun;
} output;

/* Text as it may stand in JSON and on a terminal: quotes escaped, control characters not shown. */
static void put(const char *text, bool json)
{
    for (; *text != '\0'; text++) {
        const bool control = (unsigned char)*text < ' ' || *text == 0x7f;
        if (json && (*text == '"' || *text == '\\'))
            (void)putchar('\\');
        (void)putchar(control ? '?' : *text);
    }
}

static void show(void *context, int64_t at, const char *what)
{
    output *out = context;
    char when[32] = "?";
    struct tm parts;
    time_t seconds = (time_t)at;
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (out->json) {
        (void)printf("%s{\"time\":\"%s\",\"what\":\"", out->begun ? "," : "", when);
        put(what, true);
        (void)fputs("\"}", stdout);
    } else {
        (void)printf("%s  ", when);
        put(what, false);
        (void)putchar('\n');
    }
    out->begun = true;
}

int cli_store_events(const tacit_service_options *wish, bool json)
{
    tacit_error err = {0};
    output out = {.json = json};
    if (json)
        (void)fputs("{\"events\":[", stdout);
    tacit_status status = tacit_store_events(wish, show, &out, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    if (json)
        (void)puts("]}");
    return CLI_DONE;
}
