/* The billboard: the policy that a planner publishes. S states, A actions, H steps. */
#ifndef TACIT_BOARD_BILLBOARD_H
#define TACIT_BOARD_BILLBOARD_H

#include <stdint.h>

/* What anybody may read. `version` grows when the policy changes. */
typedef struct tacit__billboard {
    uint64_t version;
    const uint32_t *policy; /* [H][S], or NULL */
    const double *mixed;    /* [H][S][A], or NULL */
} tacit__billboard;

#endif
