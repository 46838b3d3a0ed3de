/* See cli/commands/wire.h. */
#include "cli/commands/wire.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"

enum { TIMEOUT_SECONDS = 30, FIRST = 16384, MOST = 1 << 26 };

int cli_wire_token(const char *path, char out[CLI_TOKEN_TEXT])
{
    TACIT__REQUIRE(path != NULL);
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    FILE *file = fopen(path, "r");
    bool read = file != NULL && fgets(out, CLI_TOKEN_TEXT, file) != NULL;
    const char *why = NULL;
    if (file == NULL || (!read && ferror(file)))
        why = strerror(errno);
    else if (!read)
        why = "the file is empty";
    if (file != NULL)
        (void)fclose(file);
    if (why == NULL) {
        out[strcspn(out, "\r\n")] = '\0';
        if (strncmp(out, "tacit_", 6) != 0 || out[strspn(out, letters)] != '\0')
            why = "its first line is not a token; tokens begin with tacit_";
    }
    return why == NULL ? CLI_DONE
                       : cli_wrong("%s: no token could be read: %s; create one: tacit token create "
                                   "SERVICE.yaml --name NAME --scopes "
                                   "decide,observe,report >FILE, then SIGHUP to the service",
                                   path, why);
}

bool cli_wire_open(cli_wire *w, const char *url, const char *token)
{
    TACIT__REQUIRE(url != NULL);
    static const char scheme[] = "http://";
    *w = (cli_wire){.fd = -1};
    if (strncmp(url, scheme, sizeof scheme - 1) != 0 || strlen(token) >= sizeof w->token)
        return false;
    const char *host = url + sizeof scheme - 1;
    size_t n = strcspn(host, "/"), colon = n;
    while (colon > 0 && host[colon] != ':' && host[colon] != ']')
        colon--;
    bool has_port = host[colon] == ':';
    size_t length = has_port ? colon : n;
    const char *port = has_port ? host + colon + 1 : "80";
    size_t port_length = has_port ? n - colon - 1 : 2;
    if (host[0] == '[' && length > 2 && host[length - 1] == ']') {
        host++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof w->host || port_length == 0 ||
        port_length >= sizeof w->port)
        return false;
    memcpy(w->host, host, length);
    memcpy(w->port, port, port_length);
    memcpy(w->token, token, strlen(token) + 1);
    return true;
}

void cli_wire_close(cli_wire *w)
{
    if (w->fd >= 0)
        (void)close(w->fd);
    free(w->buffer);
    free(w->nodes);
    *w = (cli_wire){.fd = -1};
}

static bool connect_to(cli_wire *w)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
    int code = getaddrinfo(w->host, w->port, &hints, &list);
    if (code != 0) {
        w->why = gai_strerror(code);
        return false;
    }
    for (struct addrinfo *a = list; a != NULL && w->fd < 0; a = a->ai_next) {
        int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol), one = 1;
        struct timeval limit = {.tv_sec = TIMEOUT_SECONDS};
        if (fd < 0)
            continue;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (connect(fd, a->ai_addr, a->ai_addrlen) == 0) {
            w->fd = fd;
        } else {
            w->why = strerrordesc_np(errno);
            (void)close(fd);
        }
    }
    freeaddrinfo(list);
    return w->fd >= 0;
}

static bool send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n <= 0 && errno != EINTR)
            return false;
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static bool make_room(cli_wire *w, size_t needed)
{
    if (needed <= w->capacity)
        return true;
    size_t capacity = w->capacity < FIRST ? FIRST : w->capacity;
    while (capacity < needed)
        capacity *= 2;
    char *larger = capacity <= MOST ? realloc(w->buffer, capacity) : NULL;
    if (larger == NULL)
        return false;
    w->buffer = larger;
    w->capacity = capacity;
    return true;
}

/* Content-Length in the head; false: there is none. */
static bool find_length(const char *head, size_t *length)
{
    for (const char *line = strchr(head, '\n'); line != NULL; line = strchr(line + 1, '\n'))
        if (strncasecmp(line + 1, "content-length:", 15) == 0) {
            *length = (size_t)strtoul(line + 16, NULL, 10);
            return true;
        }
    return false;
}

static int read_answer(cli_wire *w, const char **body, size_t *size)
{
    size_t got = 0, head = 0, length = 0;
    while (head == 0 || got < head + length) {
        if (!make_room(w, got + 4096)) {
            w->why = "the answer is too large";
            return 0;
        }
        ssize_t n = recv(w->fd, w->buffer + got, w->capacity - got - 1, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            w->why = n == 0 ? "the connection was closed" : strerrordesc_np(errno);
            return 0;
        }
        got += (size_t)n;
        w->buffer[got] = '\0';
        char *end = head == 0 ? strstr(w->buffer, "\r\n\r\n") : NULL;
        if (end != NULL) {
            *end = '\0';
            head = (size_t)(end - w->buffer) + 4;
            if (!find_length(w->buffer, &length))
                length = 0;
        }
    }
    int status = 0;
    if (strncmp(w->buffer, "HTTP/1.1 ", 9) == 0)
        status = (int)strtol(w->buffer + 9, NULL, 10);
    else
        w->why = "the answer is not HTTP";
    *body = w->buffer + head;
    *size = length;
    w->buffer[head + length] = '\0';
    return status;
}

int cli_wire_ask(cli_wire *w, const char *method, const char *path, const char *key,
                 const char *json, const char **body, size_t *size)
{
    TACIT__REQUIRE(method != NULL && path != NULL && body != NULL && size != NULL);
    size_t length = json != NULL ? strlen(json) : 0, room = length + strlen(path) + 1024;
    char *request = malloc(room);
    int status = 0;
    if (request == NULL)
        return 0;
    int n = snprintf(
        request, room, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s%s%s%s%sContent-Length: %zu\r\n\r\n%s",
        method, path, w->host, w->token[0] != '\0' ? "Authorization: Bearer " : "", w->token,
        w->token[0] != '\0' ? "\r\n" : "", key != NULL ? "Idempotency-Key: " : "",
        key != NULL ? key : "", key != NULL ? "\r\n" : "", length, json != NULL ? json : "");
    /* a kept connection may have been closed by the other side: once more on a new one */
    for (int round = 0; round < 2 && status == 0 && n > 0 && (size_t)n < room; round++) {
        if (w->fd < 0 && !connect_to(w))
            break;
        if (send_all(w->fd, request, (size_t)n))
            status = read_answer(w, body, size);
        if (status == 0) {
            (void)close(w->fd);
            w->fd = -1;
        }
    }
    free(request);
    return status;
}

const tacit__json_node *cli_wire_json(cli_wire *w, const char *body, size_t size)
{
    const size_t most = size / 2 + 2; /* a value takes two bytes at least, but for the first */
    const char *why;
    if (most > w->n_nodes) {
        free(w->nodes);
        w->nodes = calloc(most, sizeof *w->nodes);
        w->n_nodes = w->nodes != NULL ? most : 0;
    }
    return tacit__json_parse(body, size, w->nodes, w->n_nodes, &why) > 0 ? w->nodes : NULL;
}
