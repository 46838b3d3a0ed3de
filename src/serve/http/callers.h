/* Connections, each with a deadline for its next step. libmicrohttpd's own time limit starts again with every
 * byte, so a peer that sends a byte now and then would keep its connection. This limit does not start
 * again. */
#ifndef TACIT_SERVE_HTTP_CALLERS_H
#define TACIT_SERVE_HTTP_CALLERS_H

#include <stdint.h>

#include <tacit/status.h>

typedef struct tacit__callers tacit__callers;
typedef struct tacit__caller tacit__caller;

/* A thread looks at them once a second, while there are any. */
TACIT_MUST_USE tacit_status tacit__callers_create(tacit__callers **out, tacit_error *err);
void tacit__callers_destroy(tacit__callers *all); /* all must have ended; accepts NULL */

/* A connection on this socket begins; NULL: no memory. `keep` is its owner's. */
tacit__caller *tacit__caller_begin(tacit__callers *all, int fd, uint64_t seconds, void *keep);
/* Before the socket is closed: from then on it is not touched. Returns `keep`; accepts NULL. */
void *tacit__caller_end(tacit__callers *all, tacit__caller *a);

/* From now on the connection has this many seconds, and at most two more. Then it is shut down, and the
 * thread that reads from it finds its end. */
void tacit__caller_allow(tacit__callers *all, tacit__caller *a, uint64_t seconds);
/* It waits for us: any time. */
void tacit__caller_wait(tacit__caller *a);

#endif
