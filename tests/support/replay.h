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

/* The loss line by line of the plan: mu^2 with Gaussian noise, epsilon with Laplace noise. */
enum { TAPE_LINES = 4 };
typedef struct tape_lines {
    const tacit_plan *plan;
    size_t n;
    double declared[TAPE_LINES], measured[TAPE_LINES];
} tape_lines;

/* Adds up what is replayed from now on; `lines` and the plan must live as long as the replay. */
void tape_watch(tape *t, const tacit_plan *plan, tape_lines *lines);

#endif
