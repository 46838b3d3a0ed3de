/* A strategy is a causal factorization A = B C of the prefix-sum matrix, run coordinate by coordinate.
 *
 * At each step, for every coordinate: `encode` computes (C x)_t from the raw stream, an integer; the door
 * adds noise to it; `absorb` takes both into the state: x into the secret part, the noisy y into the
 * public part; when all coordinates are through, `advance` closes the step. `read` decodes (B y)_t from
 * the public part alone, so it is post-processing.
 *
 * Coordinates come in tiles: offset is a multiple of TILE and n at most TILE. encode must not change the
 * state: the door may refuse. */
#ifndef TACIT_SUMS_STRATEGY_H
#define TACIT_SUMS_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/plan.h>
#include <tacit/status.h>
#include <tacit/sum.h>

#include "sums/returning.h"

/* The problem to which a strategy is tuned. Norms are in lattice steps and of one person, of whom there
 * may be many in a step. */
typedef struct tacit__shape {
    tacit_law law;
    size_t dimension;
    uint64_t steps;
    tacit__returning visits; /* of one person */
    const uint64_t *ends;    /* [steps] people at each; NULL: each of them is a step */
    double largest;          /* of a coordinate of one contribution */
    double sensitivity;      /* L2, of one contribution; 0 when only L1 is known */
    double differing;        /* coordinates in which two contributions can differ */
    double scale;            /* of the noise; 0 as long as that is not known */
    double unit;             /* the lattice step, a power of 2 */
} tacit__shape;

/* The strategy's column norms: how much more than one contribution a user moves the whole stream, with all
 * visits. */
typedef struct tacit__columns {
    double l1, l2;
} tacit__columns;

/* A piece of memory that a saved state consists of. */
typedef struct tacit__region {
    void *data;
    size_t size;
} tacit__region;

enum {
    TACIT__MAX_REGIONS = 8,
    TACIT__TILE = 2048 /* coordinates that go through a step together: their state fits the cache */
};

typedef struct tacit__strategy {
    const char *name;
    bool needs_noise; /* its steps pass the door */
    bool has_reals;   /* its last region is doubles, and its integers are below 2^60, not 2^62 */
    tacit_status (*columns)(const tacit__shape *shape, tacit__columns *out, tacit_error *err);
    tacit_status (*create)(const tacit__shape *shape, void **state, tacit_error *err);
    void (*destroy)(void *state);
    void (*encode)(const void *state, size_t offset, size_t n, const int64_t *x, int64_t *y);
    void (*absorb)(void *state, size_t offset, size_t n, const int64_t *x, const int64_t *y);
    void (*advance)(void *state);
    /* Returns what `read` would write, where the state has it at hand; it stays until the next step.
     * NULL: it has not. */
    const double *(*get_released)(const void *state);
    void (*read)(const void *state, double *out);
    /* Variance of the release at step k in units of one draw's variance. */
    double (*variance)(const void *state, uint64_t k);
    /* The same at the noisiest of steps 1 .. steps. */
    double (*most)(const void *state, uint64_t steps);
    /* All that changes while running; the first region is small and fixed. Returns the number. */
    size_t (*regions)(void *state, tacit__region out[TACIT__MAX_REGIONS]);
    /* Called when the first region has been loaded: false, and nothing changed, if it cannot be that of a
     * state after `steps` steps; else what follows from it is set. */
    bool (*resume)(void *state, uint64_t steps);
} tacit__strategy;

/* Bits below the lattice step that a blt sum's buffers have. */
int tacit__blt_guard_bits(uint64_t users);

/* Local: a report of at most `limit` can still be added to coordinate i without leaving 62 bits. */
bool tacit__total_has_room(const void *state, size_t i, int64_t limit);

extern const tacit__strategy tacit__strategy_exact, tacit__strategy_local, tacit__strategy_tree,
    tacit__strategy_smooth, tacit__strategy_blt;

/* The strategies by their tacit_sum_mechanism; NULL: this library does not have it. */
enum { TACIT__STRATEGIES = TACIT_SUM_LOCAL + 1 };
extern const tacit__strategy *const tacit__strategies[TACIT__STRATEGIES];

#endif
