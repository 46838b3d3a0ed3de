/* Requests that can be read in two ways, which libmicrohttpd 0.9.75 reads in one. Whoever stands in front may read the other, and
 * take the rest of one request for another one; so they are refused, and the connection is closed. */
#ifndef TACIT_SERVE_STRICT_H
#define TACIT_SERVE_STRICT_H

#include <microhttpd.h>

typedef struct tacit__fault {
    const char *code, *message; /* of the answer 400 */
} tacit__fault;

/* What is wrong; NULL: nothing. */
const tacit__fault *tacit__strict_look(struct MHD_Connection *connection, const char *url,
                                       const char *version);

/* For MHD_OPTION_UNESCAPE_CALLBACK: a %00, which would end the text, becomes a control character that tacit__strict_look finds. */
size_t tacit__strict_unescape(void *cls, struct MHD_Connection *connection, char *text);

#endif
