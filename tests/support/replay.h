/* Record and replay: the first gate.
 *
 * Record everything that passes the door on one sequence of users; then run a neighbouring sequence with the
 * released values frozen to the recorded ones, so that all that follows from them is the same, and add up how
 * far the exact values moved, in units of the noise. Deterministic; it finds wrong bounds, wrong loops,
 * unclipped copies, and calls past the horizon. */
#ifndef TACIT_TESTS_REPLAY_H
#define TACIT_TESTS_REPLAY_H

#include <stdbool.h>

#include "account/door.h"

typedef struct tape tape;

tape *tape_create(void);
void tape_destroy(tape *t);

/* From now on the ledger's passages are written to the tape. */
void tape_record(tape *t, tacit_ledger *ledger);

/* From now on the ledger's passages are compared with the tape and their outputs replaced by it. */
void tape_replay(tape *t, tacit_ledger *ledger);

size_t tape_length(const tape *t);

typedef struct tape_verdict {
    bool same_calls;  /* same releases, steps, sizes and scales, and none missing or added */
    double mu_square; /* sum of |difference|^2 / scale^2: the Gaussian loss */
    double epsilon;   /* sum of |difference|_1 / scale: the Laplace loss */
} tape_verdict;

tape_verdict tape_compare(const tape *t);

#endif
