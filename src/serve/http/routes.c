/* The table of routes, and how a request finds its own. How rows are written is in serve/http/routes.h. */
#include "serve/http/routes.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* The fields that every route has: method, path, scope, handler and name. */
#define ROUTE(m, p, s, h, n) .method = (m), .path = (p), .scope = (s), .handle = (h), .name = (n)
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
            "its name; optional if the service has one learner"                                    \
    }
#define KEY                                                                                        \
    {                                                                                              \
        "Idempotency-Key", "text 16..128", TACIT__IN_HEADER | OPTIONAL,                            \
            "chosen at random. The same request with the same key gets the same answer, even "     \
            "after a crash, until the episode expires or `limits.keys` later keys push it out. "   \
            "A request with a key waits for the disk once. With a database as the store, the "     \
            "front end keeps the answer in memory, until it ends"                                  \
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
    "an array of up to 1000 objects and `limits.body` bytes is a batch; `limits.rate` counts "     \
    "each "                                                                                        \
    "element as a request"
#define THE_ACTION "the action; for a batch, an answer for each element, in the same order"
#define ON_DISK                                                                                    \
    "the observation is on disk, or none of it is kept; for a batch, an answer for each element, " \
    "in the same order"

const tacit__route tacit__routes[] = {
    {ROUTE("POST", "/v1/episodes", TACIT__SCOPE_DECIDE, tacit__handle_open, "openEpisode"),
     .summary =
         "Opens an episode for a user. The service keeps nothing until the first observation, "
         "except the answer to a request with a key.",
     .parameters = FIELDS(KEY, TACIT_USER), .asks = ASKS({.shape = &tacit__shape_new_episode}),
     .answers = ANSWERS({.status = 201, .type = "Episode", .help = "the episode is open"}),
     .errors = "no_learner local key_reused fenced store"},
    {ROUTE("POST", "/v1/episodes/{id}/decide", TACIT__SCOPE_DECIDE, tacit__handle_decide, "decide"),
     .summary = "Returns the action for the user's present situation, by the current billboard.",
     .parameters = FIELDS(ID, KEY, STEP), .asks = ASKS({.shape = &tacit__shape_decide}, BYTES),
     .answers = ANSWERS({.status = 200, .type = "Decision", .help = "the action"}),
     .errors = "no_episode no_learner finished expired key_reused internal fenced store"},
    {ROUTE("POST", "/v1/episodes/{id}/observe", TACIT__SCOPE_OBSERVE, tacit__handle_observe,
           "observe"),
     .summary =
         "Records the outcome of a decision. Rewards may arrive after the next decision, and "
         "in any order. A 2xx means that the outcome is on disk.",
     .parameters = FIELDS(ID),
     .asks = ASKS({.shape = &tacit__shape_observe, .batch = true, .help = MANY}),
     .answers = ANSWERS({.status = 200, .type = "Observed | [OneOfMany]", .help = ON_DISK}),
     .errors = "no_episode no_learner contradiction expired crowded quota copy behind unsound "
               "fenced store"},
    {ROUTE("POST", "/v1/decide", TACIT__SCOPE_DECIDE, tacit__handle_decide_once, "decideOnce"),
     .summary = "Opens an episode of one step and decides in it, for learners with horizon 1.",
     .parameters = FIELDS(KEY, LEARNER, TACIT_USER),
     .asks = ASKS({.shape = &tacit__shape_decide_once,
                   .batch = true,
                   .help = MANY ". Each element has the key of the batch plus its position in it"},
                  BYTES),
     .answers = ANSWERS({.status = 200, .type = "Decision | [OneOfMany]", .help = THE_ACTION}),
     .errors = "no_learner local episodes key_reused internal fenced store"},
    {ROUTE("POST", "/v1/observe", TACIT__SCOPE_OBSERVE, tacit__handle_observe, "observeOnce"),
     .summary = "Same as observe above; the decision's id identifies the episode.",
     .asks = ASKS({.shape = &tacit__shape_observe, .batch = true, .help = MANY}),
     .answers = ANSWERS({.status = 200, .type = "Observed | [OneOfMany]", .help = ON_DISK}),
     .errors = "no_learner contradiction expired crowded quota copy behind unsound fenced store"},
    {ROUTE("GET", "/v1/billboard", TACIT__SCOPE_OPEN, tacit__handle_billboard, "getBillboard"),
     .pages = true,
     .summary =
         "Returns the public policy, and for local privacy what a device needs to make its "
         "report. May be cached for 5 seconds. Pages of the declared `origins` may ask for it.",
     .parameters = FIELDS(LEARNER, {"If-None-Match", "text", TACIT__IN_HEADER | OPTIONAL,
                                    "one `ETag`, several separated by commas, or `*`"}),
     .answers = ANSWERS({.status = 200,
                         .type = "Billboard",
                         .headers = "ETag Cache-Control",
                         .help = "the billboard"},
                        {.status = 304,
                         .headers = "ETag Cache-Control",
                         .help = "the billboard is the one that `If-None-Match` names"}),
     .errors = "no_learner"},
    {ROUTE("POST", "/v1/reports", TACIT__SCOPE_REPORT, tacit__handle_report, "report"),
     .pages = true,
     .summary =
         "Accepts a privatized report that the user's own device made (local privacy). A 2xx "
         "means that the report is on disk. Pages of the declared `origins` may send it.",
     .parameters = FIELDS({"Idempotency-Key", "text 16..128", TACIT__IN_HEADER,
                           "chosen at random; each key counts once, and so do the same bytes under "
                           "any key"}),
     .asks = ASKS({.shape = &tacit__shape_report}),
     .answers = ANSWERS({.status = 202,
                         .type = "Reported",
                         .help = "the service has the report; the device is done"}),
     .errors = "no_learner not_local key_reused quota copy behind unsound fenced store"},
    {ROUTE("GET", "/v1/learners", TACIT__SCOPE_READ, tacit__handle_learners, "listLearners"),
     .summary = "Lists all learners and their progress.",
     .answers = ANSWERS({.status = 200, .type = "Learners", .help = "all of them"})},
    {ROUTE("GET", "/v1/ledger", TACIT__SCOPE_READ, tacit__handle_ledger, "getLedger"),
     .summary = "Shows what was released, what it cost, and what is left, as it is on disk.",
     .parameters = FIELDS(LEARNER),
     .answers = ANSWERS({.status = 200, .type = "Ledger", .help = "the ledger"}),
     .errors = "no_learner store"},
    {ROUTE("GET", "/v1/guarantee", TACIT__SCOPE_READ, tacit__handle_guarantee, "getGuarantee"),
     .summary = "Shows the guarantee and the reasons for it: what a person who takes part in "
                "everything pays; then, of this learner, the release plan with sensitivities, "
                "reasons and noise scales, and what the accountant computes from them.",
     .parameters = FIELDS(LEARNER),
     .answers = ANSWERS({.status = 200, .type = "Promise", .help = "the promise"}),
     .errors = "no_learner store"},
    {ROUTE("GET", "/v1/history", TACIT__SCOPE_READ, tacit__handle_history, "getHistory"),
     .summary = "Returns curves: version and released mean reward over users.",
     .parameters = FIELDS(LEARNER),
     .answers = ANSWERS({.status = 200, .type = "History", .help = "the curves"}),
     .errors = "no_learner store"},
    {ROUTE("GET", "/healthz", TACIT__SCOPE_OPEN, tacit__handle_health, "getHealth"),
     .summary = "Tells whether the service is alive, for a supervisor that restarts it.",
     .answers = ANSWERS({.status = 200, .type = "Health", .help = "the service is alive"})},
    {ROUTE("GET", "/readyz", TACIT__SCOPE_OPEN, tacit__handle_ready, "getReadiness"),
     .summary =
         "Tells whether the service can do all its work now, for a load balancer. The service "
         "recovers by itself.",
     .answers = ANSWERS({.status = 200, .type = "Readiness", .help = "the service can"},
                        {.status = 503, .type = "Readiness", .help = "the service cannot"})},
    {ROUTE("GET", "/metrics", TACIT__SCOPE_READ, tacit__handle_metrics, "getMetrics"),
     .summary = "Returns metrics in the Prometheus text format.",
     .answers = ANSWERS({.status = 200, .media = "text/plain", .help = "the figures"})},
    {ROUTE("GET", "/", TACIT__SCOPE_OPEN, tacit__handle_page, "getPage"),
     .summary =
         "Returns a page that shows learning and privacy live. The page asks for a token with "
         "the scope read.",
     .answers = ANSWERS({.status = 200, .media = "text/html", .help = "the page"})},
    {ROUTE("GET", "/live.css", TACIT__SCOPE_OPEN, tacit__handle_page_style, "getPageStyle"),
     .summary = "Returns the page's style sheet.",
     .answers = ANSWERS({.status = 200, .media = "text/css", .help = "the style"})},
    {ROUTE("GET", "/live.js", TACIT__SCOPE_OPEN, tacit__handle_page_script, "getPageScript"),
     .summary = "Returns the page's script.",
     .answers = ANSWERS({.status = 200, .media = "text/javascript", .help = "the script"})},
    {ROUTE("GET", "/demo", TACIT__SCOPE_OPEN, tacit__handle_demo, "getDemo"),
     .summary = "Returns a demonstration of local privacy in a browser, with `demo: yes` in the "
                "service file.",
     .answers = ANSWERS({.status = 200, .media = "text/html", .help = "the page"}),
     .errors = "no_route"},
    {ROUTE("GET", "/demo/{id}", TACIT__SCOPE_OPEN, tacit__handle_demo_file, "getDemoFile"),
     .summary = "Returns a file of the demonstration: its style, its scripts, the client.",
     .parameters = FIELDS({"id", "text", TACIT__IN_PATH, "the name of the file"}),
     .answers =
         ANSWERS({.status = 200, .media = "text/javascript", .help = "the file, of its own type"}),
     .errors = "no_route"},
};
const size_t tacit__n_routes = sizeof tacit__routes / sizeof *tacit__routes;

/* Whether a path matches a pattern; {id} stands for one part that is not empty. */
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
    TACIT__REQUIRE(allowed != NULL);
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

const tacit__route *tacit__route_for_pages(const char *path)
{
    for (size_t i = 0; i < tacit__n_routes; i++)
        if (tacit__routes[i].pages && strcmp(tacit__routes[i].path, path) == 0)
            return &tacit__routes[i];
    return NULL;
}

bool tacit__next_word(const char **at, const char **word, size_t *length)
{
    TACIT__REQUIRE(at != NULL && *at != NULL && word != NULL);
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
    case TACIT__WHEN_NOWHERE: /* and where a route is there on request */
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
    {"observe", "send rewards and next states", TACIT__SCOPE_OBSERVE},
    {"report", "send privatized reports", TACIT__SCOPE_REPORT},
    {"read", "read ledger, guarantee, curves and metrics", TACIT__SCOPE_READ},
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
