/* tacit store events: the audit log of a service's store. */
#include <stdio.h>
#include <time.h>

#include <tacit/service.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/events.h"
#include "cli/print_json.h"

/* Text as it may stand on a terminal: control characters are not shown. */
static void print_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        const bool control = (unsigned char)*text < ' ' || *text == 0x7f;
        (void)putchar(control ? '?' : *text);
    }
    (void)putchar('\n');
}

/* `context` is the list that it goes into, or NULL: text. */
static void show(void *context, int64_t at, const char *what)
{
    tacit__json_writer *list = context;
    char when[32] = "?";
    struct tm parts;
    time_t seconds = (time_t)at;
    if (gmtime_r(&seconds, &parts) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (list == NULL) {
        (void)printf("%s  ", when);
        print_plain(what);
        return;
    }
    tacit__json_begin_object(list, NULL);
    tacit__json_put_string(list, "time", when);
    tacit__json_put_string(list, "what", what);
    tacit__json_end(list);
}

int cli_store_events(const tacit_service_options *service, bool json)
{
    TACIT__REQUIRE(service != NULL);
    tacit_error err = {0};
    tacit__json_writer out = {0};
    tacit__json_begin_object(&out, NULL);
    tacit__json_begin_list(&out, "events");
    tacit_status status = tacit_store_events(service, show, json ? &out : NULL, &err);
    tacit__json_end(&out);
    tacit__json_end(&out);
    int code = status == TACIT_OK ? CLI_DONE : cli_failed(status, &err);
    if (json && code == CLI_DONE)
        code = cli_print_json(&out);
    tacit__text_destroy(&out.text);
    return code;
}
