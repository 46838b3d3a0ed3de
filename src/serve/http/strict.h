/* Refuses ambiguous requests, which libmicrohttpd 0.9.75 accepts in one interpretation. A proxy in front may
 * choose the other and take the rest of one request for a new one (request smuggling). So such requests are
 * refused, and the connection is closed. */
#ifndef TACIT_SERVE_HTTP_STRICT_H
#define TACIT_SERVE_HTTP_STRICT_H

#include <microhttpd.h>

typedef struct tacit__fault {
    const char *code, *message; /* of the answer 400 */
} tacit__fault;

/* Headers that are looked at. Those before TACIT__IF_NONE_MATCH decide something here: given twice,
 * they say two things (RFC 9112, 3.2 and 6.3; RFC 9110, 5.3). */
enum {
    TACIT__HOST,
    TACIT__LENGTH,
    TACIT__ENCODING,
    TACIT__AUTHORIZATION,
    TACIT__IDEMPOTENCY_KEY,
    TACIT__TYPE,
    TACIT__USER,
    TACIT__ORIGIN,
    TACIT__IF_NONE_MATCH,
    TACIT__N_HEADERS
};

/* What handlers look up in a query. */
enum { TACIT__ARGUMENT_LEARNER, TACIT__ARGUMENT_STEP, TACIT__N_ARGUMENTS };

/* What is wrong; NULL: nothing. values[TACIT__N_HEADERS] and asked[TACIT__N_ARGUMENTS] are those of
 * the headers and of the query, valid as long as the request; NULL: it is not there. */
const tacit__fault *tacit__strict_check(struct MHD_Connection *connection, const char *method,
                                        const char *url, const char *version, const char **values,
                                        const char **asked);

/* For MHD_OPTION_UNESCAPE_CALLBACK. The path stays as it is: no route needs escapes, so a path has one
 * spelling, for this service and for a proxy that allows some routes only. In the query a %00, which would
 * end the text, becomes a control character that tacit__strict_check finds. */
size_t tacit__strict_unescape(void *cls, struct MHD_Connection *connection, char *text);

#endif
