/* How many connections the limit of open files leaves room for. */
#ifndef TACIT_SERVE_HTTP_DESCRIPTORS_H
#define TACIT_SERVE_HTTP_DESCRIPTORS_H

#include <stdint.h>

/* Files, sockets and the like that this process may open in all (RLIMIT_NOFILE), and of these how many it may
 * still open. */
typedef struct tacit__descriptors {
    uint64_t limit, left;
} tacit__descriptors;
tacit__descriptors tacit__descriptors_count(void);

#endif
