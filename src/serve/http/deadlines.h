/* Connections, each with a deadline for its next step. libmicrohttpd's own time limit starts again with every
 * byte, so a peer that sends a byte now and then would keep its connection. This limit does not start
 * again. */
#ifndef TACIT_SERVE_HTTP_DEADLINES_H
#define TACIT_SERVE_HTTP_DEADLINES_H

#include <stdint.h>

#include <tacit/status.h>

typedef struct tacit__deadlines tacit__deadlines;
typedef struct tacit__deadline tacit__deadline;

/* A thread looks at them once a second, while there are any. */
TACIT_MUST_USE tacit_status tacit__deadlines_create(tacit__deadlines **out, tacit_error *err);
void tacit__deadlines_destroy(tacit__deadlines *all); /* all must have ended; accepts NULL */

/* A connection on this socket begins; NULL: no memory. `keep` is its owner's. */
tacit__deadline *tacit__deadline_begin(tacit__deadlines *all, int fd, uint64_t seconds, void *keep);
/* Before the socket is closed: from then on it is not touched. Returns `keep`; accepts NULL. */
void *tacit__deadline_end(tacit__deadlines *all, tacit__deadline *a);

/* From now on the connection has this many seconds, and at most two more. Then it is shut down, and the
 * thread that reads from it finds its end. */
void tacit__deadline_allow(tacit__deadlines *all, tacit__deadline *a, uint64_t seconds);
/* It waits for us: any time. */
void tacit__deadline_wait(tacit__deadline *a);

#endif
