/* The inside of the HTTP side, shared by http.c, which has the daemon, and exchange.c, which has
 * the requests. */
#ifndef TACIT_SERVE_HTTP_HTTP_INSIDE_H
#define TACIT_SERVE_HTTP_HTTP_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <microhttpd.h>

#include "serve/http/acceptor.h"
#include "serve/http/certificate.h"
#include "serve/http/deadlines.h"
#include "serve/service_inside.h"

struct tacit__http {
    struct MHD_Daemon *daemon;
    tacit__acceptor *acceptor;
    bool admin;       /* it serves what only reads, and health */
    uint64_t timeout; /* seconds */
    tacit_service *service;
    tacit__deadlines *deadlines;
    atomic_uint requests; /* begun and not answered */
    atomic_uint waiting;  /* of them, those that are with the committer, or may be */
    atomic_int stage;
    pthread_mutex_t lock;            /* of the certificate, which a reload changes */
    tacit__certificate *certificate; /* NULL: no TLS */
};

/* The end of a daemon. LAST: what is asked on connections that are there is answered, and closes
 * them. OVER: nothing is begun. libmicrohttpd ends the program if it is stopped while a connection
 * is suspended, so that must be certain, not likely. */
enum { SERVING, LAST, OVER };

static inline uint64_t tacit__http_timeout(const struct tacit__http *http)
{
    return http->timeout;
}

/* As libmicrohttpd calls them; cls is the struct tacit__http. */
enum MHD_Result tacit__exchange_continue(void *cls, struct MHD_Connection *connection,
                                         const char *url, const char *method, const char *version,
                                         const char *data, size_t *size, void **context);
void tacit__exchange_end(void *cls, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code);

#endif
