/* A trajectory: what one user went through. H steps. */
#ifndef TACIT_BOARD_TRAJECTORY_H
#define TACIT_BOARD_TRAJECTORY_H

#include <stdint.h>

/* One user: states[H + 1], actions[H], rewards[H]. */
typedef struct tacit__trajectory {
    const uint32_t *states, *actions;
    const double *rewards;
} tacit__trajectory;

#endif
