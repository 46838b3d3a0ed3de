#include "support/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "support/cluster.h"
#include "support/scratch.h"

/* How long is waited for what must come. Only a server that hangs is waited for that long, so a slow machine costs nothing. */
enum { PATIENCE_S = 120, ANSWER_MS = 60000 };

double server_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void server_nap(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

bool server_may_wait(double *until)
{
    if (*until == 0)
        *until = server_seconds() + PATIENCE_S;
    server_nap(10);
    return server_seconds() < *until;
}

/* --- Servers that run ---------------------------------------------------------------------------- */

/* A test that fails leaves by a jump, and its servers to this: they end with the program. */
static atomic_int running[8];

static void kill_running(void)
{
    for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
        int pid = atomic_load(&running[i]);
        if (pid > 0)
            (void)kill(pid, SIGKILL);
    }
}

static void note_start(pid_t pid)
{
    static atomic_flag armed = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&armed))
        (void)atexit(kill_running);
    for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
        int nobody = 0;
        if (atomic_compare_exchange_strong(&running[i], &nobody, (int)pid))
            return;
    }
}

static void note_end(pid_t pid)
{
    for (size_t i = 0; i < sizeof running / sizeof *running; i++) {
        int it = (int)pid;
        (void)atomic_compare_exchange_strong(&running[i], &it, 0);
    }
}

/* Whether it has ended; then *code is its exit status, or minus the signal that ended it. */
static bool has_ended(server *s, int *code)
{
    int status;
    if (waitpid(s->pid, &status, WNOHANG) != s->pid)
        return false;
    note_end(s->pid);
    s->pid = 0;
    if (code != NULL)
        *code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return true;
}

/* --- Files and processes ------------------------------------------------------------------------- */

void server_shell(const server *s, const char *command)
{
    assert_shell("cd '%s' && { %s; }", s->directory, command);
}

static FILE *open_file(const server *s, const char *name, const char *mode)
{
    FILE *file = fopen(fmt("%s/%s", s->directory, name), mode);
    assert_non_null(file);
    return file;
}

void server_write(const server *s, const char *name, const char *text)
{
    FILE *file = open_file(s, name, "w");
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void server_read(const server *s, const char *name, char *out, size_t size)
{
    FILE *file = open_file(s, name, "r");
    out[fread(out, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}

/* On PostgreSQL every directory has a database of its own, under the name of the directory. */
void server_rewrite(server *s, const char *yaml)
{
    static const char file[] = "store: service.db";
    const char *at = strstr(yaml, file);
    cluster *c = cluster_of_tests();
    if (c == NULL || at == NULL) {
        server_write(s, "service.yaml", yaml);
        return;
    }
    char uri[300], *text = malloc(strlen(yaml) + sizeof uri + 16);
    const size_t before = (size_t)(at - yaml);
    cluster_uri(c, strrchr(s->directory, '-') + 1, uri, sizeof uri);
    memcpy(text, yaml, before);
    (void)sprintf(text + before, "store: '%s'%s", uri, at + sizeof file - 1);
    server_write(s, "service.yaml", text);
    free(text);
}

void server_open(server *s, const char *command, const char *yaml)
{
    *s = (server){.command = command};
    scratch_make("tacit-service-", s->directory);
    (void)snprintf(s->file, sizeof s->file, "%s/service.yaml", s->directory);
    (void)snprintf(s->store, sizeof s->store, "%s/service.db", s->directory);
    (void)snprintf(s->key, sizeof s->key, "%s.key", s->store);
    server_rewrite(s, yaml);
    cluster *c = cluster_of_tests();
    if (c == NULL)
        return;
    char out[256];
    cluster_uri(c, strrchr(s->directory, '-') + 1, s->store, sizeof s->store);
    (void)snprintf(s->key, sizeof s->key, "%s/tacit.key", s->directory);
    cluster_database(c, strrchr(s->directory, '-') + 1);
    server_write(
        s, "init.yaml", /* service.yaml may be written later */
        fmt("store: '%s'\nlearners: [{name: a, space: {states: 1, actions: 2, horizon: 1}, "
            "users: 1, agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}]\n",
            s->store));
    if (server_tool(s, "store init init.yaml", out, sizeof out) != 0) {
        server_read(s, "tool.err", out, sizeof out);
        fail_msg("no store: %s", out); /* NOLINT: a test ends here */
    }
}

void server_close(server *s)
{
    if (s->pid > 0)
        (void)server_stop(s, SIGKILL);
    scratch_remove(s->directory);
}

static void become(const server *s, const char *out, char *const arguments[])
{
    assert_int_equal(chdir(s->directory), 0);
    int o = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int e = open("err", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (o < 0 || e < 0 || dup2(o, 1) < 0 || dup2(e, 2) < 0)
        _exit(126);
    (void)execv(s->command, arguments);
    _exit(127);
}

/* The port that the server has printed; 0: not yet. */
static unsigned read_port(server *s)
{
    char line[200] = "";
    FILE *file = fopen(fmt("%s/out", s->directory), "r");
    unsigned port = 0;
    if (file != NULL && fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *url = strstr(line, "http"), *colon = strrchr(line, ':');
        if (url != NULL && colon != NULL) {
            (void)snprintf(s->url, sizeof s->url, "%s", url);
            port = (unsigned)strtoul(colon + 1, NULL, 10);
        }
    }
    if (file != NULL)
        (void)fclose(file);
    return port;
}

static bool start_once(server *s, int *code)
{
    (void)unlink(fmt("%s/out", s->directory));
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        static char tacit[] = "tacit", serve[] = "serve", file[] = "service.yaml";
        char *arguments[] = {tacit, serve, file, NULL};
        become(s, "out", arguments);
    }
    note_start(s->pid);
    bool ended = false;
    wait_until((s->port = read_port(s)) > 0 || (ended = has_ended(s, code)));
    if (s->port > 0 || ended)
        return !ended;
    fail_msg("the server neither serves nor ends");
    return false;
}

/* Whether it ended because a database did not answer in time. */
static bool has_lost_patience(const server *s)
{
    return shell("tail -n 1 '%s/err' | grep -q 'cannot reach the database'", s->directory) == 0;
}

bool server_start(server *s, int *code)
{
    const double end = server_seconds() + PATIENCE_S;
    int status = 0;
    bool serves;
    while (!(serves = start_once(s, &status)) && code == NULL && has_lost_patience(s) &&
           server_seconds() < end)
        server_nap(100);
    if (!serves && code != NULL)
        *code = status;
    return serves;
}

void assert_no_start(server *s, int wanted)
{
    int code = 0;
    assert_false(server_start(s, &code));
    assert_int_equal(code, wanted);
}

int server_stop(server *s, int signal)
{
    int code = 0;
    if (s->pid <= 0)
        return 0;
    (void)kill(s->pid, signal);
    bool ended = false;
    wait_until(ended = has_ended(s, &code));
    if (ended)
        return code;
    (void)kill(s->pid, SIGKILL);
    while (!has_ended(s, &code))
        server_nap(10);
    fail_msg("the server does not end");
    return 0;
}

int server_tool(server *s, const char *arguments, char *out, size_t size)
{
    FILE *pipe =
        popen(fmt("cd '%s' && '%s' %s 2>tool.err", s->directory, s->command, arguments), "r");
    assert_non_null(pipe);
    size_t n = fread(out, 1, size - 1, pipe);
    out[n] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void server_token(server *s, const char *name, const char *scopes, char token[128])
{
    assert_int_equal(
        server_tool(s, fmt("token create service.yaml --name '%s' --scopes '%s'", name, scopes),
                    token, 128),
        0);
    token[strcspn(token, "\n")] = '\0';
    assert_true(strlen(token) > 40);
}

int server_connect(const server *s)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
    const char *at = strstr(s->url, "://");
    at = at != NULL ? at + 3 : "127.0.0.1";
    assert_int_equal(inet_pton(AF_INET, fmt("%.*s", (int)strcspn(at, ":"), at), &to.sin_addr), 1);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

void server_say(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* the other side has had enough */
        data += n;
        size -= (size_t)n;
    }
}

size_t server_hear(int fd, char *out, size_t size, int ms)
{
    size_t got = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (got + 1 < size && poll(&p, 1, ms) > 0) {
        ssize_t n = recv(fd, out + got, size - got - 1, 0);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    out[got] = '\0';
    return got;
}

/* The size that an answer will have, or SIZE_MAX as long as its head is not there. */
static size_t whole_size(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
    return end != NULL && length != NULL && length < end
               ? (size_t)(end - text) + 4 + strtoul(length + 16, NULL, 10)
               : SIZE_MAX;
}

int server_ask(const server *s, const char *token, const char *method, const char *path,
               const char *extra, const char *body, char answer[SERVER_ANSWER])
{
    size_t length = body != NULL ? strlen(body) : 0, room = length + 4096;
    SCOPED_FREE char *text = malloc(room);
    int fd = server_connect(s), status = 0;
    answer[0] = '\0';
    if (fd >= 0) {
        int n = snprintf(text, room,
                         "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s%s%s%s"
                         "Content-Length: %zu\r\n\r\n%s",
                         method, path, token[0] != '\0' ? "Authorization: Bearer " : "", token,
                         token[0] != '\0' ? "\r\n" : "", extra != NULL ? extra : "", length,
                         body != NULL ? body : "");
        server_say(fd, text, (size_t)n);
        size_t got = server_hear(fd, answer, SERVER_ANSWER, ANSWER_MS);
        (void)close(fd);
        if (strncmp(answer, "HTTP/1.1 ", 9) == 0)
            status = atoi(answer + 9);
        /* a server that was killed while it answered has not answered */
        if (status != 304 && strcmp(method, "HEAD") != 0 && got + 1 < SERVER_ANSWER &&
            got < whole_size(answer))
            status = 0;
    }
    return status;
}

/* What comes until the body of the stated length is there; 0: the other side has closed before that. */
static size_t hear_answer(int fd, char *out, size_t size)
{
    size_t got = 0;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    out[0] = '\0';
    while (got < whole_size(out)) {
        ssize_t n = got + 1 < size && poll(&p, 1, ANSWER_MS) > 0
                        ? recv(fd, out + got, size - got - 1, 0)
                        : 0;
        if (n <= 0)
            return 0;
        got += (size_t)n;
        out[got] = '\0';
    }
    return got;
}

int server_talk(const server *s, int *fd, const char *method, const char *path, const char *extra,
                const char *body, char answer[SERVER_ANSWER])
{
    size_t length = body != NULL ? strlen(body) : 0, room = length + 4096;
    SCOPED_FREE char *text = malloc(room);
    answer[0] = '\0';
    int n = snprintf(text, room,
                     "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%s"
                     "Content-Length: %zu\r\n\r\n%s",
                     method, path, s->token, extra != NULL ? extra : "", length,
                     body != NULL ? body : "");
    if (*fd < 0)
        *fd = server_connect(s);
    if (*fd >= 0) {
        server_say(*fd, text, (size_t)n);
        if (hear_answer(*fd, answer, SERVER_ANSWER) == 0) {
            (void)close(*fd);
            *fd = -1;
        }
    }
    return *fd >= 0 && strncmp(answer, "HTTP/1.1 ", 9) == 0 ? atoi(answer + 9) : 0;
}

int server_post(const server *s, const char *path, const char *body, char answer[SERVER_ANSWER])
{
    return server_ask(s, s->token, "POST", path, NULL, body, answer);
}

int server_get(const server *s, const char *path, char answer[SERVER_ANSWER])
{
    return server_ask(s, s->token, "GET", path, NULL, NULL, answer);
}

bool json_field(const char *json, const char *key, char *out, size_t size)
{
    const char *wanted = fmt("\"%s\":", key);
    const char *at = strstr(json, wanted);
    if (at == NULL)
        return false;
    at += strlen(wanted);
    bool quoted = *at == '"';
    at += quoted;
    size_t n = strcspn(at, quoted ? "\"" : ",}]");
    if (n >= size)
        return false;
    memcpy(out, at, n);
    out[n] = '\0';
    return true;
}

double json_number(const char *json, const char *key)
{
    char text[64];
    if (!json_field(json, key, text, sizeof text))
        fail_msg("no \"%s\" in %s", key, json);
    return strtod(text, NULL);
}

void server_wait_users(const server *s, const char *learner, unsigned long users)
{
    static char answer[SERVER_ANSWER];
    const char *path = fmt("/v1/ledger?learner=%s", learner);
    bool done = false;
    wait_until(done =
                   server_get(s, path, answer) == 200 &&
                   json_number(answer, "users") + json_number(answer, "refused") >= (double)users);
    if (!done)
        fail_msg("%s has not learned from %lu users: %s", learner, users, answer);
}
