/* Origins whose pages may send requests from a browser (CORS): `origins` of a service file. A browser does
 * not let a page read the answer of another origin, or send it a header such as Authorization, unless that
 * origin allows it. Only the routes that a device needs can be allowed: GET /v1/billboard and
 * POST /v1/reports. */
#ifndef TACIT_SERVE_HTTP_ORIGINS_H
#define TACIT_SERVE_HTTP_ORIGINS_H

#include "lab/files/yaml.h"

enum { TACIT__MAX_ORIGINS = 64 }; /* a stated choice: each is compared with each request */

typedef struct tacit__origins {
    const char **at; /* [n]; owned by the file */
    size_t n;
} tacit__origins;

/* A list such as [https://shop.example, http://127.0.0.1:8000]. An origin is compared byte by byte with what
 * a browser sends, so a spelling that no browser sends is refused. */
TACIT_MUST_USE tacit_status tacit__origins_read(const tacit__node *list, tacit__origins *out,
                                                tacit_error *err);

/* Whether pages of this origin may ask; NULL: the request has none, and no. */
bool tacit__origins_have(const tacit__origins *origins, const char *origin);

#endif
