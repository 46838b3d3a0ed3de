/* Requests to a running service, in one process: the first byte chooses the route, the rest is the body; @E
 * and @D stand for the ids of a true episode and a true decision. Handlers only: what comes before them is
 * fuzz_http.c's. Whatever comes, there is one answer, it is JSON, and it is an honest one. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/service.h>

#include "fuzz/fuzz.h"
#include "serve/http/routes.h"
#include "serve/service_inside.h"
#include "text/json.h"

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: fuzz.db\n"
    "limits: {timeout: 1}\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 20000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: walk, space: {states: 3, actions: 2, horizon: 3}, users: 20000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: ours, space: {states: 2, actions: 2, horizon: 2, stationary: yes}, users: 20000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}}\n"
    "  - {name: dose, space: {context: 'age 17..90, gain 0..10 log ?, city {Bonn | K\xc3\xb6ln | "
    "...}',\n     actions: [low, high]}, users: 20000,\n"
    "     agent: {kind: lin-ucb, outside: clip, privacy: {model: joint, epsilon: 1}}}\n";

static tacit_service *service;
static char episode[512], decision[512];
static atomic_bool resumed;

static void resume(tacit__request *r)
{
    (void)r;
    atomic_store(&resumed, true);
}

/* Runs a route; the request is to be cleared. */
static void run(size_t route, const char *id, const char *body, size_t size, tacit__request *r)
{
    *r = (tacit__request){.service = service,
                          .route = &tacit__routes[route],
                          .path_id = id,
                          .path_id_length = id != NULL ? strlen(id) : 0,
                          .learner = size % 3 == 0 ? NULL : "arms",
                          .idempotency = "0123456789abcdef",
                          .body = body,
                          .body_size = size,
                          .resume = resume};
    atomic_store(&resumed, false);
    if (!r->route->handle(r))
        while (!atomic_load(&resumed))
            (void)usleep(50);
    require(r->status >= 200 && r->status < 600);
}

static void cut(const char *answer, const char *key, char out[512])
{
    const char *at = strstr(answer, key);
    require(at != NULL);
    (void)snprintf(out, 512, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
}

static char directory[] = P_tmpdir "/tacit-fuzz-XXXXXX";

static void finish(void)
{
    char command[128];
    tacit_service_close(service);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    (void)!system(command);
}

static void start(void)
{
    char path[128];
    tacit_error err = {0};
    tacit__request r;
    require(mkdtemp(directory) != NULL);
    (void)snprintf(path, sizeof path, "%s/service.yaml", directory);
    FILE *file = fopen(path, "w");
    require(file != NULL && fputs(yaml, file) >= 0 && fclose(file) == 0);
    const tacit_service_options options = {.file = path};
    if (tacit_service_open(&options, &service, &err) != TACIT_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        abort();
    }
    static const char open_body[] = "{\"learner\":\"walk\"}", where[] = "{\"state\":1,\"step\":0}";
    run(0, NULL, open_body, sizeof open_body - 1, &r);
    cut(r.answer.data, "\"episode\":\"", episode);
    tacit__request_clear(&r);
    run(1, episode, where, sizeof where - 1, &r);
    cut(r.answer.data, "\"decision\":\"", decision);
    tacit__request_clear(&r);
    (void)atexit(finish);
}

/* The body with @E and @D filled in. */
static size_t fill(const uint8_t *data, size_t size, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < size && n + 600 < room; i++) {
        const char *text = data[i] == '@' && i + 1 < size ? (data[i + 1] == 'E'   ? episode
                                                             : data[i + 1] == 'D' ? decision
                                                                                  : NULL)
                                                          : NULL;
        if (text != NULL) {
            memcpy(out + n, text, strlen(text));
            n += strlen(text);
            i++;
        } else {
            out[n++] = (char)data[i];
        }
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char body[1 << 16];
    static tacit__json_node nodes[1 << 15];
    if (service == NULL)
        start();
    if (size == 0)
        return 0;
    size_t route = data[0] % tacit__n_routes;
    size_t n = fill(data + 1, size - 1, body, sizeof body);
    char *copy = malloc(n + 1);
    memcpy(copy, body, n);
    tacit__request r;
    const char *why;
    run(route, strchr(tacit__routes[route].path, '{') != NULL ? episode : NULL, copy, n, &r);
    if (r.type == NULL && r.status != 304)
        require(tacit__json_parse(r.answer.data, r.answer.length, nodes,
                                  sizeof nodes / sizeof *nodes, &why) > 0);
    require(r.status < 500 || r.status == 503);
    tacit__request_clear(&r);
    free(copy);
    return 0;
}
