#include "serve/strict.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Headers that decide something here: given twice, they say two things (RFC 9112, 3.2 and 6.3; RFC 9110, 5.3). */
#define NAMED(name)                                                                                \
    {                                                                                              \
        name, sizeof name - 1                                                                      \
    }
static const struct {
    const char *name;
    size_t size;
} once[] = {NAMED("Host"),          NAMED("Content-Length"),  NAMED("Transfer-Encoding"),
            NAMED("Authorization"), NAMED("Idempotency-Key"), NAMED("Content-Type"),
            NAMED("Tacit-User")};
enum { HOST, LENGTH, ENCODING, N_ONCE = sizeof once / sizeof *once };

static const tacit__fault faults[] = {
    {"host", "HTTP/1.1 needs a header Host"},
    {"length", "Content-Length and Transfer-Encoding contradict each other"},
    {"encoding", "Transfer-Encoding must be chunked"},
    {"header", "Host, Content-Length, Transfer-Encoding, Authorization, Idempotency-Key, "
               "Content-Type and Tacit-User must not be given twice"},
    {"header", "the name of a header has a character that names do not have"},
    {"path", "the path and the query must not have control characters"}};
enum { NO_HOST, BOTH, NOT_CHUNKED, TWICE, BAD_NAME, CONTROL };

typedef struct headers {
    unsigned seen[N_ONCE];
    bool chunked, bad_name, control;
} headers;

/* The characters of a token (RFC 9110, 5.6.2). */
static bool is_token(const char *text, size_t size)
{
    static const char more[] = "!#$%&'*+.^_`|~";
    bool good = size > 0;
    for (size_t i = 0; i < size && good; i++) {
        const char c = text[i], small = (char)(c | 0x20);
        good = (small >= 'a' && small <= 'z') || c == '-' || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr(more, c) != NULL);
    }
    return good;
}

static bool has_control(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return true;
    return false;
}

static enum MHD_Result look_at_header(void *cls, enum MHD_ValueKind kind, const char *key,
                                      size_t key_size, const char *value, size_t value_size)
{
    headers *h = cls;
    (void)kind, (void)value_size;
    h->bad_name = h->bad_name || !is_token(key, key_size);
    for (int i = 0; i < N_ONCE; i++) {
        if (key_size != once[i].size || strcasecmp(key, once[i].name) != 0)
            continue;
        h->seen[i]++;
        if (i == ENCODING)
            h->chunked = value != NULL && strcasecmp(value, "chunked") == 0;
    }
    return MHD_YES;
}

static enum MHD_Result look_at_argument(void *cls, enum MHD_ValueKind kind, const char *key,
                                        size_t key_size, const char *value, size_t value_size)
{
    headers *h = cls;
    (void)kind;
    h->control = h->control || has_control(key, key_size) ||
                 (value != NULL && has_control(value, value_size));
    return MHD_YES;
}

const tacit__fault *tacit__strict_look(struct MHD_Connection *connection, const char *url,
                                       const char *version)
{
    headers h = {.control = has_control(url, strlen(url))};
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, look_at_header, &h);
    (void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, look_at_argument, &h);
    if (h.bad_name)
        return &faults[BAD_NAME];
    for (int i = 0; i < N_ONCE; i++)
        if (h.seen[i] > 1)
            return &faults[TWICE];
    if (strcmp(version, MHD_HTTP_VERSION_1_1) == 0 && h.seen[HOST] == 0)
        return &faults[NO_HOST];
    if (h.seen[LENGTH] > 0 && h.seen[ENCODING] > 0)
        return &faults[BOTH];
    if (h.seen[ENCODING] > 0 && !h.chunked)
        return &faults[NOT_CHUNKED];
    return h.control ? &faults[CONTROL] : NULL;
}

size_t tacit__strict_unescape(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls, (void)connection;
    for (char *at = text; (at = strstr(at, "%00")) != NULL; at += 3)
        at[2] = '1';
    return MHD_http_unescape(text);
}
