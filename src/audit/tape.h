/* Record and replay: the deterministic half of an audit.
 *
 * Record everything that passes the door on one sequence of users; then run a neighboring sequence with the
 * released values frozen to the recorded ones, so that all that follows from them is the same, and add up how
 * far the exact values moved, in units of the noise. It finds wrong bounds, wrong loops, unclipped copies,
 * and calls past the horizon.
 *
 * Either the whole run first and then the replay, or in lockstep: one call of the first instance, the same
 * call of the second, tacit__tape_clear, and so on. Nothing is random here but the recorded noise itself. */
#ifndef TACIT_AUDIT_TAPE_H
#define TACIT_AUDIT_TAPE_H

#include <stdbool.h>

#include "account/door.h"

typedef struct tacit__tape tacit__tape;

enum { TACIT__TAPE_NAME = 64 };

/* One recorded passage. */
typedef struct tacit__entry {
    char name[TACIT__TAPE_NAME];
    uint64_t step;
    size_t offset, n, dimension;
    tacit_law law;
    uint64_t answers; /* of the release; 0: numbers */
    double scale, lattice;
    const int64_t *exact, *released;
} tacit__entry;

/* Returns how far two exact numbers are apart, in lattice steps. Answers are the same or not. */
static inline long double tacit__tape_move(tacit_law law, int64_t a, int64_t b)
{
    if (law == TACIT_LAW_RESPONSE)
        return a != b;
    return a < b ? (long double)b - (long double)a : (long double)a - (long double)b;
}

TACIT_MUST_USE tacit_status tacit__tape_create(tacit__tape **out);
void tacit__tape_destroy(tacit__tape *tape);

/* From now on the ledger's passages are written to the tape. */
void tacit__tape_record(tacit__tape *tape, tacit_ledger *ledger);

/* From now on the ledger's passages are compared with the tape, from its beginning, and their outputs
 * replaced by it. */
void tacit__tape_replay(tacit__tape *tape, tacit_ledger *ledger);

/* Called for each recorded passage before it is written down: it may change `released`. Called for each
 * replayed one with the recorded one it was compared with. NULL: none. */
typedef void tacit__replayed_fn(void *context, const tacit__entry *recorded,
                                const tacit__passage *replayed);
void tacit__tape_on_record(tacit__tape *tape, tacit__recorder_fn *fn, void *context);
void tacit__tape_on_replay(tacit__tape *tape, tacit__replayed_fn *fn, void *context);

/* Forgets the passages, not the sums; notes if some were not replayed. */
void tacit__tape_clear(tacit__tape *tape);

size_t tacit__tape_length(const tacit__tape *tape);

typedef struct tacit__verdict {
    bool same_calls;   /* same releases, steps, sizes and scales, and none missing or added */
    bool no_memory;    /* the tape could not be written: nothing else here counts */
    double mu_square;  /* sum of |difference|^2 / scale^2: the Gaussian loss */
    double epsilon;    /* sum of |difference|_1 / scale: the Laplace loss, and that of answers */
    const char *fault; /* what is not the same, in words; "" if nothing */
} tacit__verdict;

tacit__verdict tacit__tape_verdict(const tacit__tape *tape);

#endif
