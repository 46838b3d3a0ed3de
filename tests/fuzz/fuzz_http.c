/* Bytes on the wire to a running service: through libmicrohttpd's parser, over a real socket.
 *
 * Byte 0 says how the connection is used (below), the rest is what is sent: as it is, or as a recipe whose
 * bytes choose from a grammar of requests, sound and broken (fuzz/http_grammar.h). @T stands for a token that
 * may do everything, @E and @D for a true episode and a true decision, @S for a secret.
 *
 *     bit 0   the rest is a recipe        bit 1   sent in two pieces, cut in the middle
 *     bit 2   not read: the connection is broken off as soon as all is sent
 *
 * Whatever comes: the service lives and answers others; what it answers is HTTP, and where it says JSON it is
 * JSON; no status but those that the reference page promises; no secret and no token comes back; nobody is
 * counted who was not acknowledged, and nobody at all without a token. When it is over, the store is sound.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <tacit/service.h>

#include "fuzz/http_grammar.h"
#include "serve/http/routes.h"
#include "serve/service_inside.h"
#include "text/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECIPE = 1, TWO_PIECES = 2, BREAK_OFF = 4 };
enum { MAX_SENT = 1 << 18, MAX_ANSWER = 1 << 22, PROBE_EVERY = 64 };
enum { QUIET_MS = 4, PATIENCE_MS = 60000, TRIES = 10 };
enum { LATE = 100 }; /* inputs until a request that was broken off has surely been handled */

static const char secret[] = "zanzibar-4711";

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: fuzz.db\n"
    "threads: 2\n"
    "limits: {body: 16384, header: 16384, timeout: 1, connections: 64, per_address: 64}\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 20000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: walk, space: {states: 3, actions: 2, horizon: 3}, users: 20000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: lin, space: {features: 2, actions: 2}, users: 20000,\n"
    "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: ours, space: {states: 2, actions: 2, horizon: 2, stationary: yes}, users: "
    "1000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}}\n";

static char directory[] = P_tmpdir "/tacit-fuzz-XXXXXX", file_path[128];
static tacit_service *service;
static char token[TACIT_TOKEN_SIZE], episode[512], decision[1024];
static char sent[MAX_SENT], answer[MAX_ANSWER];

static void require_at(bool condition, const char *what, int line, size_t n)
{
    if (condition)
        return;
    (void)fprintf(stderr, "fuzz_http.c:%d: %s\nanswer (%zu bytes): %.2000s\n", line, what, n,
                  answer);
    abort();
}
#define require(condition, n) require_at(condition, #condition, __LINE__, n)

/* --- The connection ----------------------------------------------------------------------------- */

static int open_connection(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *port = strrchr(tacit_service_url(service), ':') + 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    struct timeval limit = {.tv_sec = PATIENCE_MS / 1000};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(fd >= 0, 0);
    int connected;
    do
        connected = connect(fd, (struct sockaddr *)&to, sizeof to);
    while (connected != 0 && errno == EINTR);
    require(connected == 0, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

static void say(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* the other side has had enough */
        data += n;
        size -= (size_t)n;
    }
}

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Whether something has come within so long. The fuzzing engine has an alarm every few minutes, which ends a
 * poll early: that is no quiet. */
static bool comes(int fd, int quiet_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t end = now_ms() + quiet_ms, left = quiet_ms;
    int n;
    while ((n = poll(&p, 1, (int)left)) < 0 && errno == EINTR) {
        left = end - now_ms();
        if (left < 0)
            left = 0;
    }
    return n > 0;
}

/* Hears what comes until it has been quiet for so long, or to the end; *n as recv says. */
static size_t hear(int fd, size_t got, int quiet_ms, ssize_t *n)
{
    *n = 1;
    while (got + 1 < sizeof answer && comes(fd, quiet_ms)) {
        *n = recv(fd, answer + got, sizeof answer - got - 1, MSG_DONTWAIT);
        if (*n < 0 && (errno == EINTR || errno == EAGAIN))
            *n = 1;
        else if (*n > 0)
            got += (size_t)*n;
        else
            break;
    }
    return got;
}

/* Says it, hangs up on our side when it has become quiet, and hears the rest: the service ends it, at the
 * latest after the time limit. (With edge-triggered epoll libmicrohttpd 0.9.75 does not see an end that comes
 * with the data: who hangs up at once waits for the limit.) *whole is false if the connection was broken off.
 */
static size_t exchange(const char *data, size_t size, unsigned how, bool *whole)
{
    int fd = open_connection();
    size_t got = 0, first = how & TWO_PIECES ? size / 2 : size;
    ssize_t n = 1;
    struct linger hard = {.l_onoff = 1};
    say(fd, data, first);
    if (first < size)
        say(fd, data + first, size - first);
    if (how & BREAK_OFF) {
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    } else {
        got = hear(fd, 0, QUIET_MS, &n);
        (void)shutdown(fd, SHUT_WR);
        if (n > 0)
            got = hear(fd, got, PATIENCE_MS, &n);
        require(n <= 0 || got + 1 == sizeof answer, got); /* it ends */
    }
    (void)close(fd);
    answer[got] = '\0';
    *whole = n == 0 && !(how & BREAK_OFF);
    return got;
}

/* --- Answers ------------------------------------------------------------------------------------ */

static bool has(const char *text, size_t size, const char *what)
{
    return memmem(text, size, what, strlen(what)) != NULL;
}

static bool is_promised(unsigned status)
{
    static const unsigned all[] = {100, 200, 201, 202, 304, 400, 401, 403, 404, 405,
                                   409, 410, 413, 414, 422, 429, 431, 503, 505};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == status)
            return true;
    return false;
}

/* The value of a header among [at, end), up to its line's end; NULL: not there. */
static const char *find_header(const char *at, const char *end, const char *name)
{
    for (; at < end; at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1)
        if (strncasecmp(at, name, strlen(name)) == 0)
            return at + strlen(name);
    return NULL;
}

/* Every line of a head ends with CRLF and has a name, a colon and a value of visible characters. */
static void check_head(const char *at, const char *end, size_t n)
{
    while (at < end) {
        const char *stop = memmem(at, (size_t)(end - at), "\r\n", 2),
                   *colon = memchr(at, ':', (size_t)(end - at));
        require(stop != NULL && colon != NULL && colon > at && colon < stop, n);
        for (; at < stop; at++)
            require(*at >= ' ' && *at <= '~', n);
        at = stop + 2;
    }
}

/* One answer at `at`: HTTP, promised, and what it says it is. Returns its end, or NULL: it is cut short. */
static const char *check_answer(const char *at, const char *end, bool heads, size_t n)
{
    static tacit__json_node nodes[1 << 15];
    const char *blank = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
    unsigned status;
    if (blank == NULL)
        return NULL;
    require(strncmp(at, "HTTP/1.1 ", 9) == 0 || strncmp(at, "HTTP/1.0 ", 9) == 0, n);
    require(sscanf(at + 9, "%3u ", &status) == 1 && at[12] == ' ', n);
    require(is_promised(status), n);
    const char *line = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    const char *body = blank + 4, *type, *length, *why;
    check_head(line, blank + 2, n);
    if (status == 100)
        return body;
    type = find_header(line, blank + 2, "Content-Type: ");
    length = find_header(line, blank + 2, "Content-Length: ");
    if (status == 304)
        return body;
    require(length != NULL, n);
    /* libmicrohttpd 0.9.75 sends the head of an error twice that it found among the headers itself */
    if (status >= 400 && end - body >= body - at && memcmp(at, body, (size_t)(body - at)) == 0)
        return body;
    size_t size = strtoul(length, NULL, 10), left = (size_t)(end - body);
    if (heads && size > 0 && (left == 0 || strncmp(body, "HTTP/1.", left < 7 ? left : 7) == 0))
        return body;
    if (size > left)
        return NULL;
    if (type != NULL && strncmp(type, "application/json", 16) == 0)
        require(tacit__json_parse(body, size, nodes, sizeof nodes / sizeof *nodes, &why) > 0, n);
    return body + size;
}

static size_t count(const char *text, size_t size, const char *what)
{
    size_t n = 0;
    for (const char *at = text;
         (at = memmem(at, (size_t)(text + size - at), what, strlen(what))) != NULL; at++)
        n++;
    return n;
}

/* --- The service -------------------------------------------------------------------------------- */

static uint64_t accepted(void)
{
    uint64_t n = 0;
    for (size_t i = 0; i < service->config.n_learners; i++)
        n += tacit__learner_figures_of(service->learners[i]).accepted;
    return n;
}

static void cut(const char *key, char *out, size_t room)
{
    const char *at = strstr(answer, key);
    require(at != NULL, strlen(answer));
    (void)snprintf(out, room, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
}

/* Asks until it is answered: a connection on which nothing happens for a second is given up by the service,
 * and on a machine that stands still for a second nothing does. */
static size_t insist(const char *question, size_t size)
{
    bool whole;
    size_t n = 0;
    for (int i = 0; i < TRIES && n == 0; i++)
        n = exchange(question, size, 0, &whole);
    return n;
}

static void probe(const char *wanted)
{
    static const char question[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    size_t n = insist(question, sizeof question - 1);
    require(strncmp(answer, wanted, strlen(wanted)) == 0, n);
}

static void finish(void)
{
    char command[160];
    tacit_store_health health;
    tacit_error err = {0};
    const tacit_service_options options = {.file = file_path};
    tacit_service_close(service);
    if (tacit_store_check(&options, &health, &err) != TACIT_OK) {
        (void)fprintf(stderr, "the store is damaged: %s\n", err.message);
        abort();
    }
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    (void)!system(command);
}

static void ask(const char *path, const char *body)
{
    int n = snprintf(sent, sizeof sent,
                     "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                     "Content-Length: %zu\r\n\r\n%s",
                     path, token, strlen(body), body);
    (void)insist(sent, (size_t)n);
}

static void start(void)
{
    char path[700];
    tacit_error err = {0};
    require(mkdtemp(directory) != NULL, 0);
    (void)snprintf(file_path, sizeof file_path, "%s/service.yaml", directory);
    FILE *file = fopen(file_path, "w");
    require(file != NULL && fputs(yaml, file) >= 0 && fclose(file) == 0, 0);
    const tacit_service_options options = {.file = file_path};
    if (tacit_token_create(&options, &(tacit_token_request){.name = "all", .scopes = "admin"},
                           token, &err) != TACIT_OK ||
        tacit_service_open(&options, &service, &err) != TACIT_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        abort();
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)atexit(finish);
    ask("/v1/episodes", "{\"learner\":\"walk\"}");
    cut("\"episode\":\"", episode, sizeof episode);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", episode);
    ask(path, "{\"state\":1,\"step\":0}");
    cut("\"decision\":\"", decision, sizeof decision);
}

/* The input with what @T, @E, @D and @S stand for. */
static size_t fill(const char *data, size_t size, char *out, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < size && n + sizeof decision < room; i++) {
        char next = data[i] == '@' && i + 1 < size ? data[i + 1] : '\0';
        const char *text = next == 'T'   ? token
                           : next == 'E' ? episode
                           : next == 'D' ? decision
                           : next == 'S' ? secret
                                         : NULL;
        if (text == NULL) {
            out[n++] = data[i];
            continue;
        }
        memcpy(out + n, text, strlen(text));
        n += strlen(text);
        i++;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char grown[MAX_SENT];
    static uint64_t inputs, late;
    bool whole;
    if (service == NULL)
        start();
    if (size < 2)
        return 0;
    const char *raw = (const char *)data + 1;
    size_t raw_size = size - 1;
    if (data[0] & RECIPE) {
        raw_size = http_grammar(data + 1, size - 1, grown, sizeof grown);
        raw = grown;
    }
    size_t n_sent = fill(raw, raw_size, sent, sizeof sent);
    uint64_t before = accepted();
    size_t n = exchange(sent, n_sent, data[0], &whole);

    bool heads = has(sent, n_sent, "HEAD ");
    const char *at = answer, *end = answer + n;
    while (at != NULL && at < end)
        at = check_answer(at, end, heads, n);
    require(at != NULL || !whole, n); /* cut short only if it was broken off */
    require(!has(answer, n, secret) && !has(answer, n, token) && !has(answer, n, directory), n);
    uint64_t after = accepted();
    bool may = has(sent, n_sent, token);
    late = may && !whole ? LATE : late > 0 ? late - 1 : 0;
    if (late == 0)
        require(after - before <=
                    (may ? count(answer, n, "\"finished\"") + count(answer, n, "\"taken\"") : 0),
                n);
    if (++inputs % PROBE_EVERY == 0 || n == 0)
        probe("HTTP/1.1 200 ");
    return 0;
}
