/* Deadlines of connections. libmicrohttpd's own time limit starts again with every byte, so a peer that sends
 * a byte now and then would keep its connection. These deadlines do not start again. */
#ifndef TACIT_SERVE_HTTP_DEADLINES_H
#define TACIT_SERVE_HTTP_DEADLINES_H

#include <stdint.h>

#include <tacit/status.h>

typedef struct tacit__deadlines tacit__deadlines;
typedef struct tacit__deadline tacit__deadline;

/* Starts a thread that checks the deadlines once a second while there are any. */
TACIT_MUST_USE tacit_status tacit__deadlines_create(tacit__deadlines **out, tacit_error *err);
void tacit__deadlines_destroy(
    tacit__deadlines *all); /* all deadlines must have ended; accepts NULL */

/* Begins the deadline of a connection on this socket. Returns NULL if there is no memory. `keep` belongs to
 * the caller. */
tacit__deadline *tacit__deadline_begin(tacit__deadlines *all, int fd, uint64_t seconds, void *keep);
/* Called before the socket is closed; afterwards the thread does not touch it. Returns `keep`; accepts
 * NULL. */
void *tacit__deadline_end(tacit__deadlines *all, tacit__deadline *a);

/* Gives the connection this many seconds from now, and at most two more. Then its socket is shut down, and
 * the thread that reads from it finds the end. */
void tacit__deadline_allow(tacit__deadlines *all, tacit__deadline *a, uint64_t seconds);
/* Suspends the deadline, because the client is waiting for the service. */
void tacit__deadline_wait(tacit__deadline *a);

#endif
