/* One request and its answer. See serve/http/http.h.
 *
 * A request that waits for the disk is suspended; the committer resumes it. A request without the right
 * token is refused before its body is read.
 *
 * The time limit of libmicrohttpd only ends connections that are silent. serve/http/deadlines.h limits the
 * time for a head, a body and sending an answer: limits.timeout for each, and a second more for every SLOWEST
 * bytes of a body or an answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "noise/stream.h"
#include "serve/http/http_inside.h"
#include "serve/http/routes.h"
#include "serve/http/strict.h"

/* SLOWEST is in bytes a second, a stated choice: a poor mobile connection. */
enum { OVERFLOW_TIMES = 4, SLOWEST = 1 << 14 };

/* A request that is being received or answered. */
typedef enum phase { RUNNING, SUSPENDED, DONE } phase;

typedef struct exchange {
    tacit__request request;
    struct tacit__http *http;
    struct MHD_Connection *connection;
    tacit__deadline *caller;
    double start; /* seconds */
    const char *headers[TACIT__N_HEADERS], *arguments[TACIT__N_ARGUMENTS];
    char *body;
    size_t size, capacity, expected; /* expected: as the head says, or 0 */
    bool prepared, handled, overflow, waits;
    bool hangs_up; /* after the answer: where the next request begins is unknown */
    atomic_int phase;
} exchange;

/* Sets the deadline for receiving or sending this many bytes. */
static void allow(exchange *e, uint64_t bytes)
{
    tacit__deadline_allow(e->http->deadlines, e->caller,
                          tacit__http_timeout(e->http) + bytes / SLOWEST);
}

/* --- Answers ------------------------------------------------------------------------------------ */

/* Adds the headers that keep an answer out of caches, and browsers from misinterpreting it. They are only for
 * what can be fetched by a link: no cache stores an answer to POST unless it says for how long (RFC 9110,
 * 9.3.3), and no page can load one as a script, a style or an image. A header costs three allocations. */
static void add_headers(struct MHD_Response *response, const tacit__request *r)
{
    if (r->status == 204)
        return;
    const bool posted =
        r->route != NULL && strcmp(r->route->method, "POST") == 0 && r->status == 200;
    char text[64];
    (void)MHD_add_response_header(response, "Content-Type",
                                  r->type != NULL ? r->type : "application/json");
    if (!posted) {
        (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
        (void)snprintf(text, sizeof text, "public, max-age=%u", r->max_age);
        const bool kept = r->max_age > 0 && (r->status == 200 || r->status == 304);
        (void)MHD_add_response_header(response, "Cache-Control", kept ? text : "no-store");
    }
    if (r->etag[0] != '\0')
        (void)MHD_add_response_header(response, "ETag", r->etag);
    if (r->retry_after > 0) {
        (void)snprintf(text, sizeof text, "%u", r->retry_after);
        (void)MHD_add_response_header(response, "Retry-After", text);
    }
    if (r->status == 405)
        (void)MHD_add_response_header(response, "Allow", r->allow);
    if (r->status == 401)
        (void)MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (r->type != NULL && (r->compiles || strncmp(r->type, "text/html", 9) == 0)) {
#define POLICY(scripts)                                                                            \
    "default-src 'none'; style-src 'self'; script-src 'self'" scripts "; connect-src 'self'; "     \
    "img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
        (void)MHD_add_response_header(response, "Content-Security-Policy",
                                      r->compiles ? POLICY(" 'wasm-unsafe-eval'; worker-src 'self'")
                                                  : POLICY(""));
        (void)MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    }
}

/* Adds the headers that allow a page of a declared origin to read the answer, or to send the request at all
 * (OPTIONS, 204). Without `origins` in the file there is nothing to add. Vary keeps caches from giving one
 * origin's answer to another. */
static void allow_page(struct MHD_Response *response, const exchange *e)
{
    const tacit__request *r = &e->request;
    const tacit__origins *origins = &r->service->config.origins;
    if (r->route == NULL || !r->route->pages || origins->n == 0 || e->http->admin)
        return;
    (void)MHD_add_response_header(response, "Vary", "Origin");
    if (!tacit__origins_have(origins, e->headers[TACIT__ORIGIN]))
        return;
    (void)MHD_add_response_header(response, "Access-Control-Allow-Origin",
                                  e->headers[TACIT__ORIGIN]);
    if (r->status != 204) {
        (void)MHD_add_response_header(response, "Access-Control-Expose-Headers",
                                      "ETag, Retry-After");
        return;
    }
    (void)MHD_add_response_header(response, "Access-Control-Allow-Methods", r->route->method);
    (void)MHD_add_response_header(response, "Access-Control-Allow-Headers",
                                  "Authorization, Content-Type, Idempotency-Key");
    (void)MHD_add_response_header(response, "Access-Control-Max-Age", "600");
}

static enum MHD_Result answer(exchange *e)
{
    tacit__request *r = &e->request;
    if (r->answer.failed) {
        r->answer.failed = false;
        r->type = NULL;
        tacit__refuse(r, 503, "memory", NULL, "out of memory");
    }
    struct MHD_Response *response = MHD_create_response_from_buffer(
        r->answer.length, r->answer.data != NULL ? r->answer.data : (void *)(uintptr_t) "",
        /* until tacit__exchange_end, which is told when it has been sent */
        MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    add_headers(response, r);
    allow_page(response, e);
    if (atomic_load(&e->http->stage) != SERVING || e->hangs_up)
        (void)MHD_add_response_header(response, "Connection", "close");
    allow(e, r->answer.length);
    enum MHD_Result result = MHD_queue_response(e->connection, r->status, response);
    MHD_destroy_response(response);
    const size_t index = r->route != NULL ? (size_t)(r->route - tacit__routes) : tacit__n_routes;
    tacit__figures_add(&r->service->figures[index], r->status, tacit__now_seconds() - e->start);
    return result;
}

/* --- Requests ----------------------------------------------------------------------------------- */

/* Answers a browser that asks whether a page may send a request. Returns false if this is not such a request,
 * or not for an allowed page. */
static bool may_page_ask(exchange *e, const char *url, const char *method)
{
    tacit__request *r = &e->request;
    const tacit__route *route =
        strcmp(method, "OPTIONS") == 0 && !e->http->admin ? tacit__route_for_pages(url) : NULL;
    if (route == NULL ||
        !tacit__origins_have(&r->service->config.origins, e->headers[TACIT__ORIGIN]))
        return false;
    r->route = route;
    r->status = 204;
    return true;
}

/* Finds the route and checks the bearer. Returns false if the request was refused or answered. */
static bool admit(exchange *e, const char *url, const char *method, const char *version)
{
    TACIT__REQUIRE(e->request.service != NULL);
    tacit__request *r = &e->request;
    const tacit__service_config *c = &r->service->config;
    const char *known;
    const tacit__fault *fault =
        tacit__strict_check(e->connection, method, url, version, e->headers, e->arguments);
    if (fault != NULL) {
        e->hangs_up = true;
        tacit__refuse(r, 400, fault->code, NULL, "%s", fault->message);
        return false;
    }
    if (may_page_ask(e, url, method))
        return false;
    r->route = tacit__route_find(method, url, &r->path_id, &r->path_id_length, &known);
    r->allow = known;
    if (r->route != NULL && e->http->admin && !tacit__route_only_reads(r->route))
        r->route = NULL;
    if (r->route == NULL && known != NULL)
        tacit__refuse(r, 405, "method", NULL, "this route does not have this method; it has %s",
                      known);
    else if (r->route == NULL)
        tacit__refuse(r, 404, "no_route", NULL,
                      "there is no such route; tacit serve --reference lists them");
    if (r->route == NULL)
        return false;
    if (!tacit__access_check(r, e->headers[TACIT__AUTHORIZATION], r->route->scope))
        return false;
    const char *length = e->headers[TACIT__LENGTH];
    const unsigned long long size = length != NULL ? strtoull(length, NULL, 10) : 0;
    if (size > c->limits.body) {
        tacit__refuse(r, 413, "too_large", NULL,
                      "the body has more than %llu bytes (limits.body); send less at once",
                      (unsigned long long)c->limits.body);
        return false;
    }
    e->expected = (size_t)size;
    allow(e, length != NULL ? size : c->limits.body);
    return true;
}

static bool store_body(exchange *e, const char *data, size_t size)
{
    uint64_t limit = e->request.service->config.limits.body;
    if (e->size + size > limit || e->overflow) {
        e->overflow = true;
        e->size += size; /* counted, not kept */
        return e->size < OVERFLOW_TIMES * limit;
    }
    if (e->size + size > e->capacity) {
        size_t capacity = e->capacity > 0 ? e->capacity : e->expected;
        capacity = capacity < 64 ? 64 : capacity;
        while (capacity < e->size + size)
            capacity *= 2;
        char *larger = tacit__alloc_raw(capacity, 1);
        if (larger == NULL)
            return false;
        if (e->size > 0)
            memcpy(larger, e->body, e->size);
        tacit__free_secret(e->body, e->capacity);
        e->body = larger;
        e->capacity = capacity;
    }
    memcpy(e->body + e->size, data, size);
    e->size += size;
    return true;
}

/* Whether the handler may pass the request to the committer. */
static bool may_wait(const exchange *e)
{
    const unsigned written = TACIT__SCOPE_OBSERVE | TACIT__SCOPE_REPORT;
    return (e->request.route->scope & written) != 0 || e->headers[TACIT__IDEMPOTENCY_KEY] != NULL;
}

/* Whether it will be suspended, and has to be made ready for that: the next call is to handle it.
 *
 * libmicrohttpd 0.9.75 reads from a resumed connection before it asks for the answer, if reading
 * was what it did last; and a client that has hung up on its side is then sent away without the
 * answer to what has been written. Only if the oldest connection of a thread is the one resumed
 * does it ask first. A request that is whole and is looked at once more without an answer is no
 * longer read from, so that is waited for; it costs one turn of the loop. */
static bool prepare(exchange *e)
{
    bool first = !e->prepared && !e->overflow && may_wait(e);
    e->prepared = true;
    return first;
}

/* Called by the committer. */
static void resume(tacit__request *r)
{
    exchange *e = (exchange *)(void *)((char *)r - offsetof(exchange, request));
    struct MHD_Connection *connection = e->connection;
    if (atomic_exchange(&e->phase, DONE) == SUSPENDED)
        MHD_resume_connection(connection);
}

/* Called by the thread of the connection when the committer is done with the request. */
static void end_wait(exchange *e)
{
    if (e->waits)
        atomic_fetch_sub(&e->http->waiting, 1);
    e->waits = false;
}

static enum MHD_Result end_wait_and_answer(exchange *e)
{
    end_wait(e);
    return answer(e);
}

/* Whether the body is features as bytes. Every other body is taken for JSON, whatever its media type. */
static bool is_binary(const char *type)
{
    static const char name[] = TACIT__BYTES;
    return type != NULL && strncasecmp(type, name, sizeof name - 1) == 0 &&
           strchr("; \t", type[sizeof name - 1]) != NULL;
}

static enum MHD_Result handle(exchange *e)
{
    tacit__request *r = &e->request;
    tacit__deadline_wait(e->caller);
    e->handled = true;
    e->waits = may_wait(e);
    if (e->waits)
        atomic_fetch_add(&e->http->waiting, 1); /* before the look at the stage: see finish() */
    if (atomic_load(&e->http->stage) == OVER) {
        r->retry_after = 1;
        tacit__refuse(r, 503, "stopping", NULL, "the service is stopping");
        return end_wait_and_answer(e);
    }
    if (e->overflow) {
        tacit__refuse(r, 413, "too_large", NULL,
                      "the body has more than %llu bytes (limits.body); send less at once",
                      (unsigned long long)r->service->config.limits.body);
        return end_wait_and_answer(e);
    }
    r->learner = e->arguments[TACIT__ARGUMENT_LEARNER];
    r->idempotency = e->headers[TACIT__IDEMPOTENCY_KEY];
    r->if_none_match = e->headers[TACIT__IF_NONE_MATCH];
    r->step = e->arguments[TACIT__ARGUMENT_STEP];
    r->user = e->headers[TACIT__USER];
    r->binary = tacit__route_takes_bytes(r->route) && is_binary(e->headers[TACIT__TYPE]);
    r->body = e->body;
    r->body_size = e->size;
    r->resume = resume;
    if (r->route->handle(r))
        return end_wait_and_answer(e);
    TACIT__REQUIRE(e->waits);
    MHD_suspend_connection(e->connection);
    int running = RUNNING;
    if (!atomic_compare_exchange_strong(&e->phase, &running, SUSPENDED))
        MHD_resume_connection(e->connection); /* the committer was faster */
    return MHD_YES;
}

static enum MHD_Result begin(struct tacit__http *http, struct MHD_Connection *connection,
                             const char *url, const char *method, const char *version,
                             void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info->socket_context == NULL) /* it could not be begun, and is shut down */
        return MHD_NO;
    exchange *e = tacit__alloc_brief(1, sizeof *e);
    if (e == NULL)
        return MHD_NO;
    *context = e;
    e->http = http;
    e->connection = connection;
    e->caller = info->socket_context;
    e->request.service = http->service;
    e->start = tacit__now_seconds();
    atomic_fetch_add(&http->requests, 1);
    if (admit(e, url, method, version))
        return MHD_YES;
    e->handled = true;
    return answer(e);
}

enum MHD_Result tacit__exchange_continue(void *cls, struct MHD_Connection *connection,
                                         const char *url, const char *method, const char *version,
                                         const char *data, size_t *size, void **context)
{
    exchange *e = *context;
    if (e == NULL)
        return begin(cls, connection, url, method, version, context);
    if (*size > 0) {
        bool good = e->handled || store_body(e, data, *size);
        *size = 0;
        return good ? MHD_YES : MHD_NO;
    }
    if (!e->handled && prepare(e))
        return MHD_YES;
    if (!e->handled) {
        /* the path is kept by the connection, but not permanently: look it up again */
        const char *known;
        if (e->request.path_id != NULL)
            (void)tacit__route_find(method, url, &e->request.path_id, &e->request.path_id_length,
                                    &known);
        return handle(e);
    }
    return atomic_load(&e->phase) == DONE ? end_wait_and_answer(e) : MHD_YES;
}

void tacit__exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)connection, (void)code;
    exchange *e = *context;
    *context = NULL;
    if (e == NULL)
        return;
    struct tacit__http *http = e->http;
    /* silent until the next request for as long as one may be, and then its head */
    tacit__deadline_allow(http->deadlines, e->caller, 2 * tacit__http_timeout(http));
    end_wait(e);
    tacit__free_secret(e->body, e->capacity);
    tacit__request_clear(&e->request);
    tacit__free_secret(e, sizeof *e);
    atomic_fetch_sub(&http->requests, 1);
}
