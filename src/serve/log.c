/* Messages for the operators of the service, as sentences or, with `log: json`, as JSON lines. They never
 * contain data of users. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "serve/service_inside.h"
#include "text/json_text.h"

static const char *const levels[] = {"info", "warning", "error"};

/* Writes the wall-clock time as in RFC 3339. */
static void put_time(tacit__text *out)
{
    struct timespec now;
    struct tm parts;
    char text[32] = "";
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &parts) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    tacit__text_print(out, "{\"time\":\"%s.%03ldZ\"", text, now.tv_nsec / 1000000);
}

void tacit__service_log(tacit_service *s, tacit__level level, const char *event, const char *format,
                        ...)
{
    TACIT__REQUIRE(event != NULL);
    char message[600];
    tacit__text line = {0};
    va_list args;
    if (s->log == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (s->config.log_json) {
        put_time(&line);
        tacit__text_print(&line, ",\"level\":\"%s\",\"event\":\"%s\",\"message\":", levels[level],
                          event);
        tacit__text_json_string(&line, message, strlen(message));
        tacit__text_put(&line, "}");
    } else {
        tacit__text_put(&line, "tacit: ");
        tacit__text_put(&line, message);
    }
    s->log(s->log_context, line.failed ? message : line.data);
    tacit__text_destroy(&line);
}

void tacit__service_log_learner(void *service, const char *line)
{
    tacit__service_log(service, TACIT__ERROR, "learner", "%s", line);
}

void tacit__service_log_store(void *service, const char *line)
{
    tacit_service *s = service;
    bool failing = tacit__committer_figures_of(s->committer).failing;
    tacit__service_log(s, failing ? TACIT__ERROR : TACIT__INFO, "store", "%s", line);
}
