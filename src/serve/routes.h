/* The table of routes: what exists, who may use it, who answers; and the reference page that is made from it. */
#ifndef TACIT_SERVE_ROUTES_H
#define TACIT_SERVE_ROUTES_H

#include "serve/request.h"

struct tacit__route {
    const char *method, *path; /* {id} stands for one part of a path */
    unsigned scope;            /* of tacit__scope */
    /* True: the answer is there. False: request->resume will be called when it is. */
    bool (*handle)(tacit__request *request);
    const char *summary;
    const char *asks;    /* the body's fields or the query, one line each; "" none */
    const char *answers; /* statuses and fields, one line each */
};

extern const tacit__route tacit__routes[];
extern const size_t tacit__n_routes;

/* The route of a path. NULL: none; *allowed are then the methods that the path has, or NULL. */
const tacit__route *tacit__route_find(const char *method, const char *path, const char **id,
                                      size_t *id_length, const char **allowed);

/* Whether the admin listener has it: health, figures, the page and what the page shows; nothing that decides or learns. */
bool tacit__route_only_reads(const tacit__route *route);

const char *tacit__scope_name(unsigned scope);
/* "decide,observe" as bits; false: one of them does not exist. */
bool tacit__scopes_read(const char *text, unsigned *out);
/* The bits as text, into out[64]. */
const char *tacit__scopes_write(unsigned scopes, char out[64]);

/* The reference page. */
void tacit__routes_reference(tacit__text *out);

/* Handlers: joint.c, local.c, reading.c. */
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

#endif
