/* docs/reference/http.md, from the table of routes. */
#include <string.h>

#include "serve/http/routes.h"

static bool is_spread(const tacit__member *f)
{
    return strcmp(f->name, "...") == 0;
}

/* A type with links to the objects in it. */
static void put_type(tacit__text *out, const char *type)
{
    while (*type != '\0') {
        size_t n = strcspn(type, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        tacit__text_add(out, type, n);
        type += n;
        n = strspn(type, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        if (n == 0)
            continue;
        tacit__text_put(out, "[");
        tacit__text_add(out, type, n);
        tacit__text_put(out, "](#");
        for (size_t i = 0; i < n; i++) /* anchors are in lowercase letters */
            tacit__text_add(out, (char[]){(char)(type[i] | 0x20)}, 1);
        tacit__text_put(out, ")");
        type += n;
    }
}

static void put_field(tacit__text *out, const tacit__member *f)
{
    if (is_spread(f)) {
        tacit__text_put(out, "- all of ");
        put_type(out, f->type);
        tacit__text_put(out, "\n");
        return;
    }
    tacit__text_print(out, "- %s`%s%s` (", f->how & TACIT__IN_HEADER ? "header " : "",
                      f->how & TACIT__IN_QUERY ? "?" : "", f->name);
    put_type(out, f->type);
    tacit__text_put(out, f->how & TACIT__OPTIONAL ? ", optional): " : "): ");
    tacit__text_put(out, f->help);
    tacit__text_put(out, "\n");
}

static void put_fields(tacit__text *out, const tacit__member *fields)
{
    for (; fields->name != NULL; fields++)
        put_field(out, fields);
}

static void put_asks(tacit__text *out, const tacit__route *route)
{
    if (route->parameters == NULL && route->asks == NULL)
        return;
    tacit__text_put(out, "Request:\n\n");
    if (route->parameters != NULL)
        put_fields(out, route->parameters);
    for (const tacit__content *c = route->asks; c != NULL && (c->shape != NULL || c->media != NULL);
         c++) {
        if (c->batch || c->media != NULL) {
            tacit__text_print(out, "- as `%s`%s%s\n",
                              c->media != NULL ? c->media : "application/json",
                              c->help != NULL ? ": " : "", c->help != NULL ? c->help : "");
            if (c->media != NULL)
                continue;
        }
        put_fields(out, c->shape->fields);
    }
    tacit__text_put(out, "\n");
}

static void put_answers(tacit__text *out, const tacit__route *route)
{
    tacit__text_put(out, "Responses:\n\n");
    for (const tacit__answer *a = route->answers; a->status != 0; a++) {
        tacit__text_print(out, "- %u", a->status);
        if (a->type != NULL) {
            tacit__text_put(out, " ");
            put_type(out, a->type);
        } else if (a->media != NULL) {
            tacit__text_print(out, " `%s`", a->media);
        }
        tacit__text_print(out, ": %s", a->help);
        const char *at = a->headers != NULL ? a->headers : "", *word, *before = "; with ";
        for (size_t n; tacit__next_word(&at, &word, &n); before = ", ")
            tacit__text_print(out, "%s`%.*s`", before, (int)n, word);
        tacit__text_put(out, "\n");
    }
    for (const tacit__error_row *e = tacit__errors; e->status != 0; e++)
        if (e->when == TACIT__WHEN_SAID && tacit__route_has_error(route, e))
            tacit__text_print(out, "- %u `%s`: %s\n", e->status, e->code, e->help);
}

static void put_errors(tacit__text *out)
{
    tacit__text_put(out,
                    "\n## Errors\n"
                    "\n"
                    "Every error has the body [Error](#error). Besides the errors that a route "
                    "names, every route can return those about HTTP, memory and the end of the "
                    "service; a route with a scope those about tokens; a route with a body those "
                    "about bodies.\n"
                    "\n"
                    "| status | code | when |\n"
                    "|---|---|---|\n");
    for (const tacit__error_row *e = tacit__errors; e->status != 0; e++)
        tacit__text_print(out, "| %u | `%s` | %s%s%s%s |\n", e->status, e->code, e->help,
                          e->headers != NULL ? "; with `" : "",
                          e->headers != NULL ? e->headers : "", e->headers != NULL ? "`" : "");
    tacit__text_put(out,
                    "\n"
                    "libmicrohttpd itself answers requests that it cannot read as HTTP/1.0 or "
                    "HTTP/1.1, in HTML: 400, 413, 414, 431, 505. It then closes the connection, or "
                    "closes it without an answer.\n");
}

static void put_pages(tacit__text *out)
{
    tacit__text_put(out, "\n## Pages of other origins\n\n"
                         "A page in a browser may ask for ");
    const char *before = "";
    for (size_t i = 0; i < tacit__n_routes; i++)
        if (tacit__routes[i].pages) {
            tacit__text_print(out, "%s`%s %s`", before, tacit__routes[i].method,
                              tacit__routes[i].path);
            before = " and ";
        }
    tacit__text_put(
        out, " if the service file declares its origin, `origins: [https://shop.example]` (CORS). "
             "Answers to it then have `Access-Control-Allow-Origin`, and `OPTIONS` of these "
             "paths is answered with 204. Every other route, and every other origin, stays "
             "closed to pages: the browser keeps the answer from them. This does not concern "
             "programs other than browsers; they need a token, as pages do.\n");
}

void tacit__routes_reference(tacit__text *out)
{
    tacit__text_put(
        out,
        "# HTTP interface of the decision service\n"
        "\n"
        "<!-- Generated by `tacit serve --reference` from the table of routes; do not edit. -->\n"
        "\n"
        "HTTP/1.1, JSON in both directions, UTF-8. How to set up a service is in "
        "[serve.md](../how-to/serve.md), what it "
        "promises in [service.md](../why/service.md). `tacit serve --openapi` prints this page as "
        "OpenAPI 3.1.\n"
        "\n"
        "## Access\n"
        "\n"
        "Send `Authorization: Bearer TOKEN` with a token from `tacit token create`. Scopes:\n"
        "\n"
        "| scope | permits to |\n"
        "|---|---|\n");
    for (size_t i = 0; i < tacit__n_scopes; i++)
        tacit__text_print(out, "| `%s` | %s |\n", tacit__scopes[i].name, tacit__scopes[i].help);
    put_pages(out);
    tacit__text_put(out, "\n## Routes\n\n| method and path | scope |\n|---|---|\n");
    for (size_t i = 0; i < tacit__n_routes; i++)
        tacit__text_print(out, "| `%s %s` | %s |\n", tacit__routes[i].method, tacit__routes[i].path,
                          tacit__scope_name(tacit__routes[i].scope));
    tacit__text_put(
        out, "\nEvery route with GET also has HEAD. [Objects](#objects) explains the types.\n");
    for (size_t i = 0; i < tacit__n_routes; i++) {
        const tacit__route *route = &tacit__routes[i];
        tacit__text_print(out, "\n### %s %s\n\n", route->method, route->path);
        tacit__text_put(out, route->summary);
        tacit__text_put(out, "\n\n");
        put_asks(out, route);
        put_answers(out, route);
    }
    tacit__text_put(out,
                    "\n## Objects\n"
                    "\n"
                    "A `count` is a nonnegative whole number, a `flag` is true or false, "
                    "`text 1..64` is a string of 1 to 64 bytes, `base64url` has no padding, [T] is "
                    "an array, and a word in quotes is that word. You may omit an optional field. "
                    "The service refuses a body with other fields, and never sends others.\n");
    for (const tacit__object_shape *const *s = tacit__shapes; *s != NULL; s++) {
        tacit__text_print(out, "\n### %s\n\n%s\n\n", (*s)->name, (*s)->help);
        put_fields(out, (*s)->fields);
    }
    put_errors(out);
}
