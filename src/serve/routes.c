/* The table of routes, and how a request finds its own. How rows are written is in serve/routes.h. */
#include "serve/routes.h"

#include <stdio.h>
#include <string.h>

#define FIELDS(...) ((const tacit__member[]){__VA_ARGS__, {0}})
#define ASKS(...) ((const tacit__content[]){__VA_ARGS__, {0}})
#define ANSWERS(...) ((const tacit__answer[]){__VA_ARGS__, {0}})
#define OPTIONAL TACIT__OPTIONAL
#define REQUIRED 0

#define ID                                                                                         \
    {                                                                                              \
        "id", "text", TACIT__IN_PATH, "of the episode"                                             \
    }
#define LEARNER                                                                                    \
    {                                                                                              \
        "learner", "text 1..64", TACIT__IN_QUERY | OPTIONAL,                                       \
            "its name; may be left out if there is one"                                            \
    }
#define KEY                                                                                        \
    {                                                                                              \
        "Idempotency-Key", "text 16..128", TACIT__IN_HEADER | OPTIONAL,                            \
            "chosen at random. The same request with the same key gets the same answer, also "     \
            "after a crash, until the episode expires or `limits.keys` others came later; it "     \
            "then waits for the disk once"                                                         \
    }

#define STEP                                                                                       \
    {                                                                                              \
        "step", "count", TACIT__IN_QUERY | OPTIONAL, "where the body is bytes: the step, from 0"   \
    }
#define TACIT_USER                                                                                 \
    {                                                                                              \
        "Tacit-User", "text 1..256", TACIT__IN_HEADER | OPTIONAL, "the user, if not in the body"   \
    }
#define BYTES                                                                                      \
    {                                                                                              \
        .media = TACIT__BYTES, .help = "the numbers of `context`, 8 bytes each (IEEE 754, low "    \
                                       "byte first)"                                               \
    }
#define MANY                                                                                       \
    "an array of up to 1000 objects, and of `limits.body` bytes, is a batch, and counts for as "   \
    "many requests in `limits.rate`"
#define WHAT_TO_DO "what to do; to a batch, an answer for each element, in the same order"
#define ON_DISK                                                                                    \
    "it is on disk, or nothing of it is to be kept; to a batch, an answer for each element, in "   \
    "the same order"

const tacit__route tacit__routes[] = {
    {.method = "POST",
     .path = "/v1/episodes",
     .scope = TACIT__SCOPE_DECIDE,
     .handle = tacit__handle_open,
     .name = "openEpisode",
     .summary = "Opens an episode for a user. Nothing is kept until the first observation, but for "
                "the answer to a request with a key.",
     .parameters = FIELDS(KEY, TACIT_USER),
     .asks = ASKS({.shape = &tacit__shape_new_episode}),
     .answers = ANSWERS({.status = 201, .type = "Episode", .help = "it is open"}),
     .errors = "no_learner local key_reused fenced store"},
    {.method = "POST",
     .path = "/v1/episodes/{id}/decide",
     .scope = TACIT__SCOPE_DECIDE,
     .handle = tacit__handle_decide,
     .name = "decide",
     .summary = "The action for the user's present situation, by the current billboard.",
     .parameters = FIELDS(ID, KEY, STEP),
     .asks = ASKS({.shape = &tacit__shape_decide}, BYTES),
     .answers = ANSWERS({.status = 200, .type = "Decision", .help = "what to do"}),
     .errors = "no_episode no_learner finished expired key_reused internal fenced store"},
    {.method = "POST",
     .path = "/v1/episodes/{id}/observe",
     .scope = TACIT__SCOPE_OBSERVE,
     .handle = tacit__handle_observe,
     .name = "observe",
     .summary = "What came of a decision. Rewards may come later than the next decision, and in "
                "any order. A 2xx means that it is on disk.",
     .parameters = FIELDS(ID),
     .asks = ASKS({.shape = &tacit__shape_observe, .batch = true, .help = MANY}),
     .answers = ANSWERS({.status = 200, .type = "Observed | [OneOfMany]", .help = ON_DISK}),
     .errors = "no_episode no_learner contradiction expired crowded quota copy behind unsound "
               "fenced store"},
    {.method = "POST",
     .path = "/v1/decide",
     .scope = TACIT__SCOPE_DECIDE,
     .handle = tacit__handle_decide_once,
     .name = "decideOnce",
     .summary = "Opens an episode of one step and decides in it, for learners with horizon 1.",
     .parameters = FIELDS(KEY, LEARNER, TACIT_USER),
     .asks = ASKS({.shape = &tacit__shape_decide_once,
                   .batch = true,
                   .help = MANY ". Each has the key of the batch, with its place in it"},
                  BYTES),
     .answers = ANSWERS({.status = 200, .type = "Decision | [OneOfMany]", .help = WHAT_TO_DO}),
     .errors = "no_learner local episodes key_reused internal fenced store"},
    {.method = "POST",
     .path = "/v1/observe",
     .scope = TACIT__SCOPE_OBSERVE,
     .handle = tacit__handle_observe,
     .name = "observeOnce",
     .summary = "The same as observe above: the decision's id tells the episode.",
     .asks = ASKS({.shape = &tacit__shape_observe, .batch = true, .help = MANY}),
     .answers = ANSWERS({.status = 200, .type = "Observed | [OneOfMany]", .help = ON_DISK}),
     .errors = "no_learner contradiction expired crowded quota copy behind unsound fenced store"},
    {.method = "GET",
     .path = "/v1/billboard",
     .scope = TACIT__SCOPE_OPEN,
     .handle = tacit__handle_billboard,
     .name = "getBillboard",
     .summary = "What anybody may read and act by: the policy, and under local privacy what a "
                "device needs to make its report. May be cached for 5 seconds.",
     .parameters = FIELDS(LEARNER, {"If-None-Match", "text", TACIT__IN_HEADER | OPTIONAL,
                                    "an `ETag`, or several with commas between them, or `*`"}),
     .answers = ANSWERS({.status = 200,
                         .type = "Billboard",
                         .headers = "ETag Cache-Control",
                         .help = "the billboard"},
                        {.status = 304,
                         .headers = "ETag Cache-Control",
                         .help = "it is the one that `If-None-Match` names"}),
     .errors = "no_learner"},
    {.method = "POST",
     .path = "/v1/reports",
     .scope = TACIT__SCOPE_REPORT,
     .handle = tacit__handle_report,
     .name = "report",
     .summary = "A privatized report, made by the user's own device (local privacy). A 2xx means "
                "that it is on disk.",
     .parameters = FIELDS({"Idempotency-Key", "text 16..128", TACIT__IN_HEADER,
                           "chosen at random; the same key counts once, and so do the same bytes "
                           "under any key"}),
     .asks = ASKS({.shape = &tacit__shape_report}),
     .answers =
         ANSWERS({.status = 202, .type = "Reported", .help = "the device has done its part"}),
     .errors = "no_learner not_local key_reused quota copy behind unsound fenced store"},
    {.method = "GET",
     .path = "/v1/learners",
     .scope = TACIT__SCOPE_READ,
     .handle = tacit__handle_learners,
     .name = "listLearners",
     .summary = "All learners and how far they are.",
     .answers = ANSWERS({.status = 200, .type = "Learners", .help = "all of them"})},
    {.method = "GET",
     .path = "/v1/ledger",
     .scope = TACIT__SCOPE_READ,
     .handle = tacit__handle_ledger,
     .name = "getLedger",
     .summary = "What was released, what it cost, what is left; as it is on disk.",
     .parameters = FIELDS(LEARNER),
     .answers = ANSWERS({.status = 200, .type = "Ledger", .help = "the ledger"}),
     .errors = "no_learner store"},
    {.method = "GET",
     .path = "/v1/guarantee",
     .scope = TACIT__SCOPE_READ,
     .handle = tacit__handle_guarantee,
     .name = "getGuarantee",
     .summary = "What is promised and why: the release plan with sensitivities, reasons, noise "
                "scales, and what the accountant makes of them.",
     .parameters = FIELDS(LEARNER),
     .answers = ANSWERS({.status = 200, .type = "Promise", .help = "the promise"}),
     .errors = "no_learner store"},
    {.method = "GET",
     .path = "/v1/history",
     .scope = TACIT__SCOPE_READ,
     .handle = tacit__handle_history,
     .name = "getHistory",
     .summary = "Curves: version and released mean reward over users.",
     .parameters = FIELDS(LEARNER),
     .answers = ANSWERS({.status = 200, .type = "History", .help = "the curves"}),
     .errors = "no_learner store"},
    {.method = "GET",
     .path = "/healthz",
     .scope = TACIT__SCOPE_OPEN,
     .handle = tacit__handle_health,
     .name = "getHealth",
     .summary = "Whether the service is alive: for what starts it again when it is not.",
     .answers = ANSWERS({.status = 200, .type = "Health", .help = "it is"})},
    {.method = "GET",
     .path = "/readyz",
     .scope = TACIT__SCOPE_OPEN,
     .handle = tacit__handle_ready,
     .name = "getReadiness",
     .summary = "Whether the service can do all its work now: for what sends requests to it. It "
                "recovers by itself.",
     .answers = ANSWERS({.status = 200, .type = "Readiness", .help = "it can"},
                        {.status = 503, .type = "Readiness", .help = "it cannot"})},
    {.method = "GET",
     .path = "/metrics",
     .scope = TACIT__SCOPE_READ,
     .handle = tacit__handle_metrics,
     .name = "getMetrics",
     .summary = "Figures in Prometheus' text format.",
     .answers = ANSWERS({.status = 200, .media = "text/plain", .help = "the figures"})},
    {.method = "GET",
     .path = "/",
     .scope = TACIT__SCOPE_OPEN,
     .handle = tacit__handle_page,
     .name = "getPage",
     .summary = "A page that shows learning and privacy live. It asks for a token with the scope "
                "read.",
     .answers = ANSWERS({.status = 200, .media = "text/html", .help = "the page"})},
    {.method = "GET",
     .path = "/live.css",
     .scope = TACIT__SCOPE_OPEN,
     .handle = tacit__handle_page_style,
     .name = "getPageStyle",
     .summary = "How the page looks.",
     .answers = ANSWERS({.status = 200, .media = "text/css", .help = "the style"})},
    {.method = "GET",
     .path = "/live.js",
     .scope = TACIT__SCOPE_OPEN,
     .handle = tacit__handle_page_script,
     .name = "getPageScript",
     .summary = "What the page does.",
     .answers = ANSWERS({.status = 200, .media = "text/javascript", .help = "the script"})},
};
const size_t tacit__n_routes = sizeof tacit__routes / sizeof *tacit__routes;

/* Whether the path is the pattern's; {id} takes one part, not empty. */
static bool matches(const char *pattern, const char *path, const char **id, size_t *id_length)
{
    *id = NULL;
    *id_length = 0;
    while (*pattern != '\0') {
        if (*pattern == '{') {
            *id = path;
            *id_length = strcspn(path, "/");
            if (*id_length == 0)
                return false;
            path += *id_length;
            pattern = strchr(pattern, '}') + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

const tacit__route *tacit__route_find(const char *method, const char *path, const char **id,
                                      size_t *id_length, const char **allowed)
{
    *allowed = NULL;
    for (size_t i = 0; i < tacit__n_routes; i++) {
        const tacit__route *route = &tacit__routes[i];
        if (!matches(route->path, path, id, id_length))
            continue;
        if (strcmp(route->method, method) == 0 ||
            (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0))
            return route;
        *allowed = strcmp(route->method, "GET") == 0 ? "GET, HEAD" : route->method;
    }
    return NULL;
}

bool tacit__next_word(const char **at, const char **word, size_t *length)
{
    *word = *at + strspn(*at, " ");
    *length = strcspn(*word, " ");
    *at = *word + *length;
    return *length > 0;
}

bool tacit__route_takes_bytes(const tacit__route *route)
{
    for (const tacit__content *c = route->asks; c != NULL && (c->shape != NULL || c->media != NULL);
         c++)
        if (c->media != NULL && strcmp(c->media, TACIT__BYTES) == 0)
            return true;
    return false;
}

bool tacit__route_has_error(const tacit__route *route, const tacit__error_row *error)
{
    const char *at = route->errors != NULL ? route->errors : "", *word;
    switch (error->when) {
    case TACIT__WHEN_ASKED:
        return true;
    case TACIT__WHEN_TOKEN:
        return route->scope != TACIT__SCOPE_OPEN;
    case TACIT__WHEN_BODY:
        return route->asks != NULL;
    case TACIT__WHEN_NOWHERE:
        return false;
    case TACIT__WHEN_SAID:
        break;
    }
    for (size_t length; tacit__next_word(&at, &word, &length);)
        if (strlen(error->code) == length && memcmp(error->code, word, length) == 0)
            return true;
    return false;
}

bool tacit__route_only_reads(const tacit__route *route)
{
    return strcmp(route->method, "GET") == 0;
}

const tacit__scope_row tacit__scopes[] = {
    {"decide", "open episodes and ask for actions", TACIT__SCOPE_DECIDE},
    {"observe", "tell rewards and next states", TACIT__SCOPE_OBSERVE},
    {"report", "send privatized reports", TACIT__SCOPE_REPORT},
    {"read", "look at ledger, guarantee, curves and metrics", TACIT__SCOPE_READ},
    {"admin", "all of these", TACIT__SCOPE_ADMIN}};
enum { N_SCOPES = sizeof tacit__scopes / sizeof *tacit__scopes };
const size_t tacit__n_scopes = N_SCOPES;

const char *tacit__scope_name(unsigned scope)
{
    for (size_t i = 0; i < N_SCOPES; i++)
        if (tacit__scopes[i].bit == scope)
            return tacit__scopes[i].name;
    return "none";
}

bool tacit__scopes_read(const char *text, unsigned *out)
{
    *out = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ","), i = 0;
        while (i < N_SCOPES && (strlen(tacit__scopes[i].name) != length ||
                                memcmp(tacit__scopes[i].name, text, length) != 0))
            i++;
        if (i == N_SCOPES)
            return false;
        *out |= tacit__scopes[i].bit;
        text += length;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    return *out != 0;
}

const char *tacit__scopes_write(unsigned bits, char out[64])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < N_SCOPES; i++)
        if (bits & tacit__scopes[i].bit)
            used += (size_t)snprintf(out + used, 64 - used, "%s%s", used > 0 ? "," : "",
                                     tacit__scopes[i].name);
    return out;
}
