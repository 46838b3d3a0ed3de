/* Hill climbing: the largest value of a function of a point that is changed a little at a time.
 *
 * A point is a block of bytes that only the problem understands. Every restart begins at a point of the problem's choice and
 * keeps each random change that does not lower the value, so that plateaus are crossed. Everything follows from the seed:
 * the same search gives the same result on every machine and in every build. */
#ifndef TACIT_TESTS_CLIMB_H
#define TACIT_TESTS_CLIMB_H

#include <stddef.h>
#include <stdint.h>

typedef struct climb_problem {
    void *context;
    size_t size; /* of a point, in bytes */
    /* Where the climb numbered `restart` begins. */
    void (*begin)(void *context, size_t restart, uint64_t *seed, void *point);
    /* Changes the point a little. */
    void (*move)(void *context, uint64_t *seed, void *point);
    double (*value)(void *context, const void *point);
} climb_problem;

typedef struct climb_effort {
    size_t restarts, moves; /* moves of each restart */
    double enough;          /* the search ends when the value gets there */
    uint64_t seed;
} climb_effort;

/* The largest value that was found, and its point. */
double climb(const climb_problem *problem, const climb_effort *effort, void *best);

/* The share of the moves that a build under a sanitizer, which is many times slower, can afford. What a search must reach is
 * asserted only where this is 1; that it never passes its bound is asserted everywhere. */
double climb_patience(void);

#endif
