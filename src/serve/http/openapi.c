/* The HTTP interface as OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0), from the table of routes.
 * Schemas are JSON Schema 2020-12. Objects have no fields other than those of the table, so a client notices
 * if a service sends undocumented fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/status.h>

#include "base/error.h"
#include "serve/http/routes.h"
#include "text/json_text.h"

static void put_string(tacit__text *out, const char *text)
{
    tacit__text_json_string(out, text, strlen(text));
}

/* ,"key":"text"; without the comma if it is the first. */
static void put_pair(tacit__text *out, const char *before, const char *key, const char *text)
{
    tacit__text_print(out, "%s\"%s\":", before, key);
    put_string(out, text);
}

/* --- Types -------------------------------------------------------------------------------------- */

static void put_type(tacit__text *out, const char **at);

/* What a basic type is; its bounds are those of `low` and `high`. */
typedef struct basic {
    const char *name, *schema, *low, *high;
} basic;

static const basic basics[] = {
    {"text", "\"type\":\"string\"", "minLength", "maxLength"},
    {"count", "\"type\":\"integer\"", "minimum", "maximum"},
    {"number", "\"type\":\"number\"", "minimum", "maximum"},
    {"flag", "\"type\":\"boolean\"", NULL, NULL},
    {"true", "\"const\":true", NULL, NULL},
    {"false", "\"const\":false", NULL, NULL},
    {"null", "\"type\":\"null\"", NULL, NULL},
    {"base64url",
     "\"type\":\"string\",\"contentEncoding\":\"base64url\",\"pattern\":\"^[A-Za-z0-9_-]*$\"", NULL,
     NULL},
};

static void put_basic(tacit__text *out, const char **at)
{
    const size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyz0123456789");
    const basic *type = NULL;
    for (size_t i = 0; i < sizeof basics / sizeof *basics && type == NULL; i++)
        if (strlen(basics[i].name) == length && memcmp(basics[i].name, *at, length) == 0)
            type = &basics[i];
    TACIT__REQUIRE(type != NULL); /* the table is ours */
    *at += length;
    tacit__text_print(out, "{%s", type->schema);
    char *dots, *end;
    const unsigned long low = strtoul(*at, &dots, 10);
    if (dots > *at && strncmp(dots, "..", 2) == 0) {
        TACIT__REQUIRE(type->low != NULL);
        const unsigned long high = strtoul(dots + 2, &end, 10);
        tacit__text_print(out, ",\"%s\":%lu,\"%s\":%lu", type->low, low, type->high, high);
        *at = end;
    } else if (strcmp(type->name, "count") == 0) {
        tacit__text_put(out, ",\"minimum\":0");
    }
    tacit__text_put(out, "}");
}

/* One type, without `|`. */
static void put_one(tacit__text *out, const char **at)
{
    if (**at == '[' || **at == '{') {
        const char close = **at == '[' ? ']' : '}';
        tacit__text_put(out, close == ']' ? "{\"type\":\"array\",\"items\":"
                                          : "{\"type\":\"object\",\"additionalProperties\":");
        ++*at;
        put_type(out, at);
        TACIT__REQUIRE(**at == close);
        ++*at;
        tacit__text_put(out, "}");
    } else if (**at >= 'A' && **at <= 'Z') {
        const size_t length = strspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        const tacit__object_shape *shape = tacit__shape_find(*at, length);
        TACIT__REQUIRE(shape != NULL);
        tacit__text_print(out, "{\"$ref\":\"#/components/schemas/%s\"}", shape->name);
        *at += length;
    } else {
        put_basic(out, at);
    }
}

/* 'a' | 'b' | 'c' */
static void put_words(tacit__text *out, const char **at)
{
    const char *before = "{\"type\":\"string\",\"enum\":[";
    while (**at == '\'') {
        const size_t length = strcspn(*at + 1, "'");
        tacit__text_put(out, before);
        tacit__text_json_string(out, *at + 1, length);
        before = ",";
        *at += length + 2;
        if (strncmp(*at, " | '", 4) == 0)
            *at += 3;
    }
    tacit__text_put(out, "]}");
}

static void put_type(tacit__text *out, const char **at)
{
    tacit__text one = {0};
    bool several = false;
    for (;;) {
        if (**at == '\'')
            put_words(&one, at);
        else
            put_one(&one, at);
        if (strncmp(*at, " | ", 3) != 0)
            break;
        tacit__text_put(&one, ",");
        several = true;
        *at += 3;
    }
    tacit__text_put(out, several ? "{\"anyOf\":[" : "");
    tacit__text_add(out, one.data != NULL ? one.data : "", one.length);
    tacit__text_put(out, several ? "]}" : "");
    out->failed = out->failed || one.failed;
    tacit__text_destroy(&one);
}

/* The schema of a type, with what it means. */
static void put_schema(tacit__text *out, const char *type, const char *help)
{
    put_type(out, &type);
    TACIT__REQUIRE(*type == '\0');
    if (help[0] == '\0' || out->failed)
        return;
    out->length--; /* the brace */
    put_pair(out, ",", "description", help);
    tacit__text_put(out, "}");
}

/* --- Objects ------------------------------------------------------------------------------------ */

/* The fields of a shape and of those that are spread in it; `all`, or the names of those that must be
 * there. */
static void put_fields(tacit__text *out, const tacit__object_shape *shape, bool all, bool *first)
{
    for (const tacit__member *f = shape->fields; f->name != NULL; f++) {
        if (strcmp(f->name, "...") == 0) {
            const tacit__object_shape *other = tacit__shape_find(f->type, strlen(f->type));
            TACIT__REQUIRE(other != NULL);
            put_fields(out, other, all, first);
            continue;
        }
        if (!all && (f->how & TACIT__OPTIONAL))
            continue;
        tacit__text_put(out, *first ? "" : ",");
        *first = false;
        put_string(out, f->name);
        if (all) {
            tacit__text_put(out, ":");
            put_schema(out, f->type, f->help);
        }
    }
}

static void put_shape(tacit__text *out, const tacit__object_shape *shape)
{
    bool first = true;
    put_string(out, shape->name);
    put_pair(out, ":{\"type\":\"object\",", "description", shape->help);
    tacit__text_put(out, ",\"properties\":{");
    put_fields(out, shape, true, &first);
    tacit__text_put(out, "},\"required\":[");
    first = true;
    put_fields(out, shape, false, &first);
    tacit__text_put(out, "],\"additionalProperties\":false}");
}

/* --- Routes ------------------------------------------------------------------------------------- */

static void put_parameters(tacit__text *out, const tacit__member *f)
{
    const char *before = ",\"parameters\":[";
    for (; f != NULL && f->name != NULL; f++, before = ",") {
        tacit__text_print(out, "%s{\"name\":\"%s\",\"in\":\"%s\",\"required\":%s", before, f->name,
                          f->how & TACIT__IN_PATH    ? "path"
                          : f->how & TACIT__IN_QUERY ? "query"
                                                     : "header",
                          f->how & TACIT__OPTIONAL ? "false" : "true");
        put_pair(out, ",", "description", f->help);
        tacit__text_put(out, ",\"schema\":");
        put_schema(out, f->type, "");
        tacit__text_put(out, "}");
    }
    if (before[1] == '\0')
        tacit__text_put(out, "]");
}

static void put_body(tacit__text *out, const tacit__content *c)
{
    char type[128];
    const char *before = ",\"requestBody\":{\"required\":true,\"content\":{";
    for (; c != NULL && (c->shape != NULL || c->media != NULL); c++, before = ",") {
        tacit__text_print(out, "%s\"%s\":{\"schema\":", before,
                          c->media != NULL ? c->media : "application/json");
        if (c->media != NULL) {
            put_pair(out, "{", "description", c->help);
            tacit__text_put(out, "}");
        } else {
            (void)snprintf(type, sizeof type, c->batch ? "%s | [%s]" : "%s", c->shape->name,
                           c->shape->name);
            put_schema(out, type, c->help != NULL ? c->help : "");
        }
        tacit__text_put(out, "}");
    }
    if (before[1] == '\0')
        tacit__text_put(out, "}}");
}

/* Headers by name, each once, into "headers" that are begun if there is text. */
static void put_headers(tacit__text *out, const char *names)
{
    const char *word;
    char name[64];
    for (size_t n; names != NULL && tacit__next_word(&names, &word, &n);) {
        (void)snprintf(name, sizeof name, "\"%.*s\":", (int)n, word);
        if (out->length > 0 && strstr(out->data, name) != NULL)
            continue;
        tacit__text_print(out, "%s%s{\"$ref\":\"#/components/headers/%.*s\"}",
                          out->length > 0 ? "," : ",\"headers\":{", name, (int)n, word);
    }
}

/* What a route may answer with one status. */
typedef struct outcome {
    tacit__text help, schemas, codes; /* joined with "; " and commas */
    const char *media;
    unsigned n; /* schemas */
} outcome;

static void add_answer(outcome *o, const tacit__answer *a)
{
    tacit__text_put(&o->help, o->help.length > 0 ? "; " : "");
    tacit__text_put(&o->help, a->help);
    o->media = a->media;
    if (a->type == NULL)
        return;
    tacit__text_put(&o->schemas, o->n++ > 0 ? "," : "");
    put_schema(&o->schemas, a->type, "");
}

static void add_error(outcome *o, const tacit__error_row *e)
{
    tacit__text_print(&o->help, "%s`%s`: %s", o->help.length > 0 ? "; " : "", e->code, e->help);
    tacit__text_put(&o->codes, o->codes.length > 0 ? "," : "");
    put_string(&o->codes, e->code);
}

/* The body of all errors, with the codes that there are here. */
static void put_refusal(tacit__text *out, const tacit__text *codes)
{
    tacit__text_put(out, "{\"$ref\":\"#/components/schemas/Error\",\"properties\":{\"error\":{"
                         "\"properties\":{\"code\":{\"enum\":[");
    tacit__text_add(out, codes->data, codes->length);
    tacit__text_put(out, "]}}}}}");
}

static void put_outcome(tacit__text *out, outcome *o)
{
    if (o->codes.length > 0) {
        tacit__text_put(&o->schemas, o->n++ > 0 ? "," : "");
        put_refusal(&o->schemas, &o->codes);
    }
    tacit__text_put(out, "\"description\":");
    tacit__text_json_string(out, o->help.data, o->help.length);
    if (o->n > 0) {
        tacit__text_put(out, ",\"content\":{\"application/json\":{\"schema\":");
        tacit__text_put(out, o->n > 1 ? "{\"anyOf\":[" : "");
        tacit__text_add(out, o->schemas.data, o->schemas.length);
        tacit__text_put(out, o->n > 1 ? "]}}}" : "}}");
    } else if (o->media != NULL) {
        tacit__text_print(out, ",\"content\":{\"%s\":{\"schema\":{\"type\":\"string\"}}}",
                          o->media);
    }
}

/* True: the route has answers of this status. */
static bool put_status(tacit__text *out, const tacit__route *route, unsigned status, bool first)
{
    outcome o = {0};
    bool any = false;
    tacit__text headers = {0};
    for (const tacit__answer *a = route->answers; a->status != 0; a++)
        if (a->status == status) {
            add_answer(&o, a);
            put_headers(&headers, a->headers);
            any = true;
        }
    for (const tacit__error_row *e = tacit__errors; e->status != 0; e++)
        if (e->status == status && tacit__route_has_error(route, e)) {
            add_error(&o, e);
            put_headers(&headers, e->headers);
            any = true;
        }
    if (any && !(o.help.failed || o.schemas.failed || o.codes.failed || headers.failed)) {
        tacit__text_print(out, "%s\"%u\":{", first ? "" : ",", status);
        put_outcome(out, &o);
        tacit__text_add(out, headers.data != NULL ? headers.data : "", headers.length);
        tacit__text_put(out, headers.length > 0 ? "}}" : "}");
    }
    out->failed =
        out->failed || o.help.failed || o.schemas.failed || o.codes.failed || headers.failed;
    tacit__text_destroy(&headers);
    tacit__text_destroy(&o.help);
    tacit__text_destroy(&o.schemas);
    tacit__text_destroy(&o.codes);
    return any;
}

static void put_operation(tacit__text *out, const tacit__route *route)
{
    const bool get = strcmp(route->method, "GET") == 0;
    bool first = true;
    put_pair(out, get ? "\"get\":{" : "\"post\":{", "operationId", route->name);
    put_pair(out, ",", "summary", route->summary);
    if (route->scope == TACIT__SCOPE_OPEN)
        tacit__text_put(out, ",\"security\":[]");
    else
        tacit__text_print(out, ",\"security\":[{\"token\":[\"%s\"]},{\"token\":[\"admin\"]}]",
                          tacit__scope_name(route->scope));
    put_parameters(out, route->parameters);
    put_body(out, route->asks);
    tacit__text_put(out, ",\"responses\":{");
    for (unsigned status = 200; status < 600; status++)
        if (put_status(out, route, status, first))
            first = false;
    tacit__text_put(out, "}}");
}

/* A path is said once, with all its methods. */
static void put_paths(tacit__text *out)
{
    for (size_t i = 0; i < tacit__n_routes; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again = again || strcmp(tacit__routes[i].path, tacit__routes[j].path) == 0;
        if (again)
            continue;
        tacit__text_print(out, "%s\"%s\":{", i > 0 ? "," : "", tacit__routes[i].path);
        for (size_t j = i; j < tacit__n_routes; j++)
            if (strcmp(tacit__routes[i].path, tacit__routes[j].path) == 0) {
                tacit__text_put(out, j > i ? "," : "");
                put_operation(out, &tacit__routes[j]);
            }
        tacit__text_put(out, "}");
    }
}

void tacit__routes_openapi(tacit__text *out)
{
    tacit__text_put(out, "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"tacit decision service\","
                         "\"summary\":\"Learning by doing, with differential privacy\"");
    put_pair(out, ",", "version", tacit_version());
    tacit__text_put(out, ",\"license\":{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}},"
                         "\"servers\":[{\"url\":\"/\"}],\"paths\":{");
    put_paths(out);
    tacit__text_put(out, "},\"components\":{\"securitySchemes\":{\"token\":{\"type\":\"http\","
                         "\"scheme\":\"bearer\",\"description\":\"a token that `tacit token "
                         "create` has shown; its scopes:");
    for (size_t i = 0; i < tacit__n_scopes; i++)
        tacit__text_print(out, "%s %s (%s)", i > 0 ? "," : "", tacit__scopes[i].name,
                          tacit__scopes[i].help);
    tacit__text_put(out, "\"}},\"headers\":{");
    for (const tacit__member *h = tacit__headers; h->name != NULL; h++) {
        tacit__text_print(out, "%s\"%s\":{", h > tacit__headers ? "," : "", h->name);
        put_pair(out, "", "description", h->help);
        tacit__text_put(out, ",\"schema\":");
        put_schema(out, h->type, "");
        tacit__text_put(out, "}");
    }
    tacit__text_put(out, "},\"schemas\":{");
    for (const tacit__object_shape *const *s = tacit__shapes; *s != NULL; s++) {
        tacit__text_put(out, s > tacit__shapes ? "," : "");
        put_shape(out, *s);
    }
    tacit__text_put(out, "}}}\n");
}
