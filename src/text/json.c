/* One pass over the text, by recursive descent; its depth is bounded, so the stack is too. See
 * text/json.h for what is refused. Cost: linear in the text, apart from the comparison of an
 * object's keys. */
#include "text/json.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "text/decimal.h"

typedef struct parser {
    const char *at, *end;
    tacit__json_node *nodes;
    size_t n, capacity;
    const char *why;
} parser;

static bool refuse(parser *p, const char *why)
{
    if (p->why == NULL)
        p->why = why;
    return false;
}

static void skip_space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static tacit__json_node *add(parser *p, tacit__json_kind kind)
{
    if (p->n == p->capacity) {
        (void)refuse(p, "it has too many parts");
        return NULL;
    }
    tacit__json_node *node = &p->nodes[p->n++];
    *node = (tacit__json_node){.kind = kind, .text = p->at};
    return node;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static unsigned hex(const char *at)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
        value = 16 * value + digit;
    }
    return value;
}

/* \uXXXX at `at`; a high surrogate must be followed by a low one. Returns the bytes that it takes, or 0. */
static size_t read_escape(const char *at, const char *end, uint32_t *code)
{
    for (int i = 2; i < 6; i++)
        if (end - at < 6 || !is_hex(at[i]))
            return 0;
    *code = hex(at + 2);
    if (*code < 0xd800 || *code > 0xdfff)
        return 6;
    if (*code > 0xdbff || end - at < 12 || at[6] != '\\' || at[7] != 'u')
        return 0;
    for (int i = 8; i < 12; i++)
        if (!is_hex(at[i]))
            return 0;
    uint32_t low = hex(at + 8);
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

static bool read_string(parser *p)
{
    p->at++;
    tacit__json_node *node = add(p, TACIT__JSON_STRING);
    if (node == NULL)
        return false;
    while (p->at < p->end && *p->at != '"') {
        unsigned char c = (unsigned char)*p->at;
        size_t length;
        uint32_t code;
        if (c < ' ')
            return refuse(p, "a string has a control character");
        if (c == '\\' && p->end - p->at >= 2 && p->at[1] == 'u')
            length = read_escape(p->at, p->end, &code);
        else if (c == '\\')
            length =
                p->end - p->at >= 2 && p->at[1] != '\0' && strchr("\"\\/bfnrt", p->at[1]) ? 2 : 0;
        else
            length = tacit__utf8_length(p->at, (size_t)(p->end - p->at));
        if (length == 0)
            return refuse(p, c == '\\' ? "a string has an unknown escape"
                                       : "a string is not valid UTF-8");
        p->at += length;
    }
    if (p->at == p->end)
        return refuse(p, "a string does not end");
    node->length = (uint32_t)(p->at - node->text);
    node->next = (uint32_t)p->n;
    p->at++;
    return true;
}

static bool read_number(parser *p)
{
    tacit__json_node *node = add(p, TACIT__JSON_NUMBER);
    if (node == NULL)
        return false;
    bool in_range;
    const char *start = p->at, *at = tacit__decimal_read(start, p->end, &node->number, &in_range);
    if (at == NULL)
        return refuse(p, "a number is malformed");
    p->at = at;
    node->length = (uint32_t)(at - start);
    node->next = (uint32_t)p->n;
    return in_range || refuse(p, "a number is out of range");
}

static bool read_word(parser *p, const char *word, tacit__json_kind kind)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return refuse(p, "a value is missing or misspelt");
    tacit__json_node *node = add(p, kind);
    if (node == NULL)
        return false;
    p->at += length;
    node->length = (uint32_t)length;
    node->next = (uint32_t)p->n;
    return true;
}

/* The key just read, at index `key`, is none of the object's earlier ones. */
static bool is_new_key(const parser *p, size_t object, size_t key)
{
    const tacit__json_node *k = &p->nodes[key];
    for (size_t i = object + 1; i < key; i = p->nodes[p->nodes[i].next].next)
        if (p->nodes[i].length == k->length && memcmp(p->nodes[i].text, k->text, k->length) == 0)
            return false;
    return true;
}

static bool read_value(parser *p, int depth);

/* The rest of an array, if it has numbers and nothing else: they go where nodes would be. False: it is
 * another, or none, and nothing has changed. */
static bool read_numbers(parser *p, size_t self)
{
    const parser before = *p;
    const size_t room = (p->capacity - p->n) * TACIT__JSON_PACKED;
    size_t n = 0, more;
    for (char *out = (char *)(p->nodes + p->n); n < room; p->at++) {
        bool in_range = false;
        double x;
        skip_space(p);
        p->at = tacit__decimal_run(p->at, p->end, room - n, out + n * sizeof x, &more);
        n += more;
        skip_space(p);
        const char *after = tacit__decimal_read(p->at, p->end, &x, &in_range);
        if (after == NULL || !in_range || n == room)
            break;
        memcpy(out + n++ * sizeof x, &x, sizeof x);
        p->at = after;
        skip_space(p);
        if (p->at < p->end && *p->at == ']') {
            p->at++;
            p->n += (n + TACIT__JSON_PACKED - 1) / TACIT__JSON_PACKED;
            p->nodes[self].kind = TACIT__JSON_NUMBERS;
            p->nodes[self].size = (uint32_t)n;
            return true;
        }
        if (p->at == p->end || *p->at != ',')
            break;
    }
    *p = before;
    return false;
}

static bool read_members(parser *p, int depth, bool object)
{
    if (depth == TACIT__JSON_DEPTH)
        return refuse(p, "it is nested too deeply");
    tacit__json_node *node = add(p, object ? TACIT__JSON_OBJECT : TACIT__JSON_ARRAY);
    if (node == NULL)
        return false;
    const size_t self = p->n - 1;
    const char *start = p->at++, close = object ? '}' : ']';
    skip_space(p);
    if (p->at < p->end && *p->at == close) {
        p->at++;
    } else if (object || !read_numbers(p, self)) {
        for (;;) {
            skip_space(p);
            if (object) {
                if (p->at == p->end || *p->at != '"')
                    return refuse(p, "a key is missing");
                if (p->nodes[self].size == TACIT__JSON_KEYS)
                    return refuse(p, "an object has too many keys");
                size_t key = p->n;
                if (!read_string(p))
                    return false;
                if (!is_new_key(p, self, key))
                    return refuse(p, "a key is given twice");
                skip_space(p);
                if (p->at == p->end || *p->at != ':')
                    return refuse(p, "a colon is missing");
                p->at++;
            }
            if (!read_value(p, depth + 1))
                return false;
            p->nodes[self].size++;
            skip_space(p);
            if (p->at < p->end && *p->at == ',') {
                p->at++;
                continue;
            }
            if (p->at == p->end || *p->at != close)
                return refuse(p, "a comma or a closing bracket is missing");
            p->at++;
            break;
        }
    }
    p->nodes[self].length = (uint32_t)(p->at - start);
    p->nodes[self].next = (uint32_t)p->n;
    return true;
}

static bool read_value(parser *p, int depth)
{
    skip_space(p);
    if (p->at == p->end)
        return refuse(p, "it ends too early");
    switch (*p->at) {
    case '{':
        return read_members(p, depth, true);
    case '[':
        return read_members(p, depth, false);
    case '"':
        return read_string(p);
    case 't':
        return read_word(p, "true", TACIT__JSON_TRUE);
    case 'f':
        return read_word(p, "false", TACIT__JSON_FALSE);
    case 'n':
        return read_word(p, "null", TACIT__JSON_NULL);
    default:
        return *p->at == '-' || isdigit((unsigned char)*p->at)
                   ? read_number(p)
                   : refuse(p, "this is not JSON: no value begins like this");
    }
}

size_t tacit__json_parse(const char *text, size_t size, tacit__json_node *nodes, size_t capacity,
                         const char **why)
{
    TACIT__REQUIRE(why != NULL && (nodes != NULL || capacity == 0));
    parser p = {.at = text, .end = text + size, .nodes = nodes, .capacity = capacity};
    bool good = size < UINT32_MAX ? read_value(&p, 0) : refuse(&p, "it is too long");
    skip_space(&p);
    if (good && p.at < p.end)
        good = refuse(&p, "something follows it");
    *why = p.why;
    return good ? p.n : 0;
}

const tacit__json_node *tacit__json_get(const tacit__json_node *object,
                                        const tacit__json_node *nodes, const char *key)
{
    if (object->kind != TACIT__JSON_OBJECT)
        return NULL;
    const tacit__json_node *at = object + 1;
    const size_t length = strlen(key);
    for (uint32_t i = 0; i < object->size; i++) {
        const tacit__json_node *value = nodes + at->next;
        if (at->length == length && memcmp(at->text, key, at->length) == 0)
            return value;
        at = nodes + value->next;
    }
    return NULL;
}

static size_t put_utf8(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[n] | code);
    return n;
}

static char unescape(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return c;
    }
}

bool tacit__json_string(const tacit__json_node *node, char *out, size_t capacity)
{
    const char *at = node->text, *end = at + node->length;
    size_t size = 0;
    if (memchr(at, '\\', node->length) == NULL) { /* as it stands; it has no control characters */
        if (node->length >= capacity)
            return false;
        memcpy(out, at, node->length);
        out[node->length] = '\0';
        return true;
    }
    while (at < end) {
        char piece[4] = {*at};
        size_t length = 1, taken = 1;
        if (*at == '\\' && at[1] == 'u') {
            uint32_t code;
            taken = read_escape(at, end, &code);
            TACIT__REQUIRE(taken > 0); /* the parser has seen it */
            length = put_utf8(code, piece);
        } else if (*at == '\\') {
            taken = 2;
            piece[0] = unescape(at[1]);
        }
        if (length == 1 && piece[0] == '\0')
            return false;
        if (size + length >= capacity)
            return false;
        memcpy(out + size, piece, length);
        size += length;
        at += taken;
    }
    out[size] = '\0';
    return true;
}

bool tacit__json_count(const tacit__json_node *node, uint64_t high, uint64_t *out)
{
    TACIT__REQUIRE(out != NULL);
    if (node->kind != TACIT__JSON_NUMBER || !(node->number >= 0) || node->number > 0x1p53 ||
        node->number != floor(node->number) || (uint64_t)node->number > high)
        return false;
    *out = (uint64_t)node->number;
    return true;
}
