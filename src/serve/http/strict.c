/* Heads are checked as RFC 9112 asks: one Content-Length or one known Transfer-Encoding, no control
 * characters, no NUL in the path or the query, no header twice that must come once. See
 * serve/http/strict.h.
 *
 * libmicrohttpd 0.9.75 takes a NUL for the end of a value, or of the whole head if a line begins with one, a
 * bare LF for the end of a line, and folded lines for one. What it passes on shows none of this, so the
 * bytes of the head are walked again. They are where they were received; it has put NULs for the colon after
 * a name and for CR and LF. Version 1.0 and later pass a value with its real length. */
#include "serve/http/strict.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NAMED(name)                                                                                \
    {                                                                                              \
        (name), sizeof(name) - 1                                                                   \
    }
static const struct {
    const char *name;
    size_t size;
} names[TACIT__N_HEADERS] = {
    [TACIT__HOST] = NAMED("Host"),
    [TACIT__LENGTH] = NAMED("Content-Length"),
    [TACIT__ENCODING] = NAMED("Transfer-Encoding"),
    [TACIT__AUTHORIZATION] = NAMED("Authorization"),
    [TACIT__IDEMPOTENCY_KEY] = NAMED("Idempotency-Key"),
    [TACIT__TYPE] = NAMED("Content-Type"),
    [TACIT__USER] = NAMED("Tacit-User"),
    [TACIT__ORIGIN] = NAMED("Origin"),
    [TACIT__IF_NONE_MATCH] = NAMED("If-None-Match"),
};

static const tacit__fault faults[] = {
    {"host", "HTTP/1.1 needs a header Host"},
    {"length", "Content-Length and Transfer-Encoding contradict each other"},
    {"encoding", "Transfer-Encoding must be chunked"},
    {"header", "Host, Content-Length, Transfer-Encoding, Authorization, Idempotency-Key, "
               "Content-Type, Tacit-User and Origin must not be given twice"},
    {"header", "the name of a header has an invalid character"},
    {"header", "a header has a control character, is folded, or does not end with CR and LF"},
    {"path", "the path and the query must not have control characters"},
    {"path", "learner and step must not be given twice in the query"}};
enum { NO_HOST, BOTH, NOT_CHUNKED, TWICE, BAD_NAME, BAD_VALUE, CONTROL, ASKED_TWICE };

typedef struct headers {
    const char **values, **asked;
    bool twice, bad_name, bad_value, control, asked_twice;
    unsigned seen; /* bits of `arguments` */
} headers;

static const char *const arguments[TACIT__N_ARGUMENTS] = {
    [TACIT__ARGUMENT_LEARNER] = "learner", [TACIT__ARGUMENT_STEP] = "step"};

/* The characters of a token (RFC 9110, 5.6.2). */
static bool is_token(const char *text, size_t size)
{
    /* a bit for each of the first 128 characters: !#$%&'*+-.^_`|~, digits, letters */
    static const uint32_t good[4] = {0, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff};
    uint32_t all = size > 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        all &= good[c >> 5 & 3] >> (c & 31) & (c < 128);
    }
    return all != 0;
}

static bool has_control(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return true;
    return false;
}

/* Whether a value has a forbidden character; tabs are allowed. */
static bool is_bad_value(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return true;
    return false;
}

#if MHD_VERSION < 0x01000000
/* Whether the lines from the end of the first one, `at`, to the end of the head are a name, a value and CR LF
 * each, and after them an empty one. */
static bool is_clean_head(const char *at, const char *end)
{
    while (end - at >= 4 && at[0] == '\0' && at[1] == '\0') {
        at += 2;
        if (end - at == 2)
            return at[0] == '\0' && at[1] == '\0';
        const size_t name = strnlen(at, (size_t)(end - at));
        if (name == 0 || at + name == end)
            return false;
        for (at += name + 1; at < end && (*at == ' ' || *at == '\t');)
            at++;
        at += strnlen(at, (size_t)(end - at));
    }
    return false;
}
#endif

/* The method is at the beginning of the head, and the version at the end of its first line. */
static bool is_clean(struct MHD_Connection *connection, const char *method, const char *version)
{
#if MHD_VERSION < 0x01000000
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info != NULL && is_clean_head(version + strlen(version), method + info->header_size);
#else
    (void)connection, (void)method, (void)version;
    return true;
#endif
}

static enum MHD_Result check_header(void *cls, enum MHD_ValueKind kind, const char *key,
                                    size_t key_size, const char *value, size_t value_size)
{
    headers *h = cls;
    bool known = false;
    (void)kind;
    h->bad_value = h->bad_value || (value != NULL && is_bad_value(value, value_size));
    for (int i = 0; i < TACIT__N_HEADERS; i++) {
        /* the last character first: strcasecmp is called for hardly any but the one that it is */
        if (key_size != names[i].size ||
            (key[key_size - 1] | 0x20) != names[i].name[key_size - 1] ||
            strcasecmp(key, names[i].name) != 0)
            continue;
        known = true;
        if (h->values[i] == NULL)
            h->values[i] = value != NULL ? value : "";
        else
            h->twice = h->twice || i < TACIT__IF_NONE_MATCH;
    }
    h->bad_name = h->bad_name || (!known && !is_token(key, key_size));
    return MHD_YES;
}

static enum MHD_Result check_argument(void *cls, enum MHD_ValueKind kind, const char *key,
                                      size_t key_size, const char *value, size_t value_size)
{
    headers *h = cls;
    (void)kind;
    h->control = h->control || has_control(key, key_size) ||
                 (value != NULL && has_control(value, value_size));
    for (unsigned i = 0; i < TACIT__N_ARGUMENTS; i++) {
        if (strcasecmp(key, arguments[i]) != 0) /* as libmicrohttpd looks them up */
            continue;
        h->asked_twice = h->asked_twice || (h->seen >> i & 1) != 0;
        h->seen |= 1u << i;
        h->asked[i] = value;
    }
    return MHD_YES;
}

const tacit__fault *tacit__strict_check(struct MHD_Connection *connection, const char *method,
                                        const char *url, const char *version, const char **values,
                                        const char **asked)
{
    headers h = {.values = values, .asked = asked, .control = has_control(url, strlen(url))};
    for (int i = 0; i < TACIT__N_HEADERS; i++)
        values[i] = NULL;
    for (int i = 0; i < TACIT__N_ARGUMENTS; i++)
        asked[i] = NULL;
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, check_header, &h);
    (void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, check_argument, &h);
    if (h.bad_name)
        return &faults[BAD_NAME];
    if (h.bad_value || !is_clean(connection, method, version))
        return &faults[BAD_VALUE];
    if (h.twice)
        return &faults[TWICE];
    if (strcmp(version, MHD_HTTP_VERSION_1_1) == 0 && values[TACIT__HOST] == NULL)
        return &faults[NO_HOST];
    const char *encoding = values[TACIT__ENCODING];
    if (values[TACIT__LENGTH] != NULL && encoding != NULL)
        return &faults[BOTH];
    if (encoding != NULL && strcasecmp(encoding, "chunked") != 0)
        return &faults[NOT_CHUNKED];
    return h.control ? &faults[CONTROL] : h.asked_twice ? &faults[ASKED_TWICE] : NULL;
}

size_t tacit__strict_unescape(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls, (void)connection;
    if (text[0] == '/') /* no name or value of a query begins so */
        return strlen(text);
    for (char *at = text; (at = strstr(at, "%00")) != NULL; at += 3)
        at[2] = '1';
    return MHD_http_unescape(text);
}
