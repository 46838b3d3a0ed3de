/* Record and replay for tests: src/audit/tape.h with out-of-memory as the end of the test. The mechanism that gates
 * changes is the one that `tacit audit` uses. */
#ifndef TACIT_TESTS_REPLAY_H
#define TACIT_TESTS_REPLAY_H

#include <stdbool.h>

#include "audit/tape.h"

typedef tacit__tape tape;

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

/* The loss line by line of a plan: mu^2 with Gaussian noise, epsilon with Laplace noise. */
enum { TAPE_LINES = 4 };
typedef struct tape_lines {
    const tacit_plan *plan;
    size_t n;
    double declared[TAPE_LINES], measured[TAPE_LINES];
} tape_lines;

/* What the plan declares, nothing measured yet; the plan must outlive it. */
tape_lines tape_lines_of(const tacit_plan *plan);

/* From now on what is replayed is added to `lines`, which must outlive the replay. */
void tape_watch(tape *t, tape_lines *lines);

#endif
