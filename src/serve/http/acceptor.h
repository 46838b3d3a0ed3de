/* The thread that accepts connections and hands them to libmicrohttpd's workers.
 *
 * In libmicrohttpd all workers of a pool wait for the same listening socket. The first one to wake up accepts
 * all waiting connections, so that one worker may serve all clients while the others idle. Connections that
 * are added from outside are spread over the workers by the numbers of their descriptors.
 *
 * At the limit of connections, new ones wait in the queue of the kernel, as they do if libmicrohttpd accepts
 * connections itself. When there has been no room for a second, those that wait are answered 503 `busy` and
 * closed (closed without a word where TLS is spoken), until there is room again: a client that is told to
 * come back is better off than one that hears nothing. */
#ifndef TACIT_SERVE_HTTP_ACCEPTOR_H
#define TACIT_SERVE_HTTP_ACCEPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>
#include <tacit/status.h>

typedef struct tacit__acceptor tacit__acceptor;

/* What the acceptor needs to know: a listening socket, which is its own from now on, in failure too; how many
 * connections there may be; and whom to tell of each one that was refused. */
typedef struct tacit__acceptor_terms {
    int fd;
    uint64_t limit;
    bool tls;
    void (*refused)(void *context);
    void *context;
} tacit__acceptor_terms;

/* The daemon outlives the acceptor, and calls tacit__acceptor_begun for each connection that begins. */
tacit_status tacit__acceptor_create(const tacit__acceptor_terms *terms, tacit__acceptor **out,
                                    tacit_error *err);
tacit_status tacit__acceptor_start(tacit__acceptor *a, struct MHD_Daemon *daemon, tacit_error *err);
void tacit__acceptor_begun(tacit__acceptor *a);

/* Accepts no more, and closes the socket. May be called again. */
void tacit__acceptor_stop(tacit__acceptor *a);
void tacit__acceptor_destroy(tacit__acceptor *a);

#endif
