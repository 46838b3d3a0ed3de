/* The table of routes: each route with its scope, its handler, its request and its answers. The same
 * table finds a handler, refuses fields that do not exist (serve/http/request.c), and is printed as
 * docs/reference/http.md (serve/http/reference.c) and as OpenAPI (serve/http/openapi.c).
 *
 * A new route is a row in serve/http/routes.c:
 *
 *     {ROUTE("POST", "/v1/things/{id}", TACIT__SCOPE_READ, tacit__handle_thing, "makeThing"),
 *      .summary = "Makes a thing.",
 *      .parameters = FIELDS(ID, {"color", "'red' | 'blue'", TACIT__IN_QUERY | OPTIONAL, "of the thing"}),
 *      .asks = ASKS({.shape = &tacit__shape_new_thing}),
 *      .answers = ANSWERS({.status = 201, .type = "Thing", .help = "it is made"}),
 *      .errors = "no_learner store"},
 *
 * A new field is a row of a shape, and an object that is new is a shape, in serve/http/shapes.c. A new error
 * is a row of tacit__errors there, and its code a word in the `errors` of the routes that answer it.
 *
 * Types are written so: `text`, `text 1..256` (bytes), `count`, `count 1..8`, `number`, `number 0..1`,
 * `flag`, `true`, `false`, `null`, `base64url`, 'word', [T] (an array), {T} (an object whose values are
 * T), Shape (by the name of tacit__shapes), and T | T. */
#ifndef TACIT_SERVE_HTTP_ROUTES_H
#define TACIT_SERVE_HTTP_ROUTES_H

#include "serve/http/request.h"

/* Of a field. Those with a place are parameters of a route, not fields of a body. */
enum {
    TACIT__OPTIONAL = 1, /* it may be left out; null is the same */
    TACIT__IN_PATH = 2,
    TACIT__IN_QUERY = 4,
    TACIT__IN_HEADER = 8
};

typedef struct tacit__member {
    /* "...": all fields of the shape that is the type. NULL: the end of an array */
    const char *name;
    const char *type;
    unsigned how;
    const char *help;
} tacit__member;

/* An object by name. */
typedef struct tacit__object_shape {
    const char *name, *help;
    const tacit__member *fields;
} tacit__object_shape;

/* What a body may be. */
typedef struct tacit__content {
    const tacit__object_shape *shape; /* NULL: the end of an array, or bytes of `media` */
    bool batch;                       /* an array of such objects is welcome, too */
    const char *media;                /* NULL: application/json */
    const char *help;                 /* or NULL */
} tacit__content;

/* An answer that is no error. */
typedef struct tacit__answer {
    unsigned status;     /* 0: the end of an array */
    const char *type;    /* NULL: no body, or bytes of `media` */
    const char *media;   /* NULL: application/json */
    const char *headers; /* names from tacit__headers, with spaces between them; or NULL */
    const char *help;
} tacit__answer;

/* Which routes answer an error without saying so in their row. */
typedef enum tacit__when {
    TACIT__WHEN_SAID,   /* none */
    TACIT__WHEN_ASKED,  /* all */
    TACIT__WHEN_TOKEN,  /* those that need a token */
    TACIT__WHEN_BODY,   /* those that take a body */
    TACIT__WHEN_NOWHERE /* it is the answer where there is no route, and of routes that say so */
} tacit__when;

typedef struct tacit__error_row {
    unsigned status; /* 0: the end */
    const char *code;
    tacit__when when;
    const char *headers; /* as of an answer */
    const char *help;
} tacit__error_row;

struct tacit__route {
    const char *method, *path; /* {id} stands for one part of a path */
    unsigned scope;            /* of tacit__scope */
    bool pages;                /* pages of the declared origins may ask from a browser */
    /* True: the answer is there. False: request->resume will be called when it is. */
    bool (*handle)(tacit__request *request);
    const char *name; /* of the operation, for clients that are made from OpenAPI */
    const char *summary;
    const tacit__member *parameters; /* or NULL */
    const tacit__content *asks;      /* or NULL: it takes no body */
    const tacit__answer *answers;
    const char *errors; /* codes, with spaces between them; or NULL */
};

extern const tacit__route tacit__routes[];
extern const size_t tacit__n_routes;

/* The route of a path. NULL: none; *allowed are then the methods that the path has, or NULL. */
const tacit__route *tacit__route_find(const char *method, const char *path, const char **id,
                                      size_t *id_length, const char **allowed);
/* The route of a path that pages of other origins may ask, whatever the method; NULL: none. */
const tacit__route *tacit__route_for_pages(const char *path);
/* Whether a route takes a body that is bytes, of this media type. */
#define TACIT__BYTES "application/octet-stream"
bool tacit__route_takes_bytes(const tacit__route *route);
/* Whether a route may answer this error. */
bool tacit__route_has_error(const tacit__route *route, const tacit__error_row *error);

/* A word of a list with spaces, by its place: advances *at; false: there is none left. */
bool tacit__next_word(const char **at, const char **word, size_t *length);

typedef struct tacit__scope_row {
    const char *name, *help;
    unsigned bit;
} tacit__scope_row;

extern const tacit__scope_row tacit__scopes[];
extern const size_t tacit__n_scopes;

/* Whether the admin listener has it: health, figures, the page and what the page shows; nothing that
 * decides or learns. */
bool tacit__route_only_reads(const tacit__route *route);

const char *tacit__scope_name(unsigned scope);
/* "decide,observe" as bits; false: one of them does not exist. */
bool tacit__scopes_read(const char *text, unsigned *out);
/* The bits as text, into out[64]. */
const char *tacit__scopes_write(unsigned bits, char out[64]);

/* The reference page. */
void tacit__routes_reference(tacit__text *out);
/* OpenAPI 3.1, as JSON. */
void tacit__routes_openapi(tacit__text *out);

/* --- Objects: shapes.c -------------------------------------------------------------------------- */

extern const tacit__object_shape tacit__shape_new_episode, tacit__shape_decide,
    tacit__shape_decide_once, tacit__shape_observe, tacit__shape_report;

extern const tacit__object_shape *const tacit__shapes[]; /* all, NULL at the end */
extern const tacit__error_row tacit__errors[];
extern const tacit__member tacit__headers[];

/* NULL: there is none. */
const tacit__object_shape *tacit__shape_find(const char *name, size_t length);
/* Whether objects of this shape have the field. */
bool tacit__shape_has(const tacit__object_shape *shape, const char *field, size_t length);

/* Handlers: joint.c, local.c, public_routes.c. */
bool tacit__handle_open(tacit__request *r);
bool tacit__handle_decide(tacit__request *r);
bool tacit__handle_decide_once(tacit__request *r);
bool tacit__handle_observe(tacit__request *r);
bool tacit__handle_billboard(tacit__request *r);
bool tacit__handle_report(tacit__request *r);
bool tacit__handle_learners(tacit__request *r);
bool tacit__handle_ledger(tacit__request *r);
bool tacit__handle_guarantee(tacit__request *r);
bool tacit__handle_history(tacit__request *r);
bool tacit__handle_health(tacit__request *r);
bool tacit__handle_ready(tacit__request *r);
bool tacit__handle_metrics(tacit__request *r);
bool tacit__handle_page(tacit__request *r);
bool tacit__handle_page_style(tacit__request *r);
bool tacit__handle_page_script(tacit__request *r);
bool tacit__handle_demo(tacit__request *r);
bool tacit__handle_demo_file(tacit__request *r);
/* Whether this library has what the demonstration needs. */
bool tacit__demo_is_built(void);

#endif
