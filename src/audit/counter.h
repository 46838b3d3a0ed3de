/* A subject for the self-test: a private running sum and nothing else, whole or broken.
 *
 * A user's rewards r are its vector 2r - 1, so that users inside the bounds reach exactly the declared
 * sensitivity and the mechanism has exactly the claimed loss: nothing is left over that could hide a
 * mistake of the audit. */
#ifndef TACIT_AUDIT_COUNTER_H
#define TACIT_AUDIT_COUNTER_H

#include <tacit/sum.h>

#include "audit/subject.h"

enum { TACIT__OVERRUN = 16 };

typedef struct tacit__counter {
    tacit_sum_mechanism mechanism;
    tacit_guarantee guarantee;
    size_t dimension;
    uint64_t users;
    bool clip; /* outliers are clipped; else refused */
    /* There are two actions, and the second is out of date after half of the users: a late user with it
     * counts as 0. */
    bool epochs;
    /* The flaws that a broken counter has. */
    bool one_side;        /* the sensitivity is that of one user's vector, not of two */
    bool unclipped;       /* outliers are neither clipped nor refused */
    bool overrun;         /* TACIT__OVERRUN times as many users come as were declared */
    bool fixed_seed;      /* the noise does not depend on the seed */
    bool half_noise;      /* half of it is taken off again */
    bool reused_noise;    /* each step has the noise of the first */
    bool bare_coordinate; /* the first coordinate has none */
    bool refuses_late;    /* epochs: a late user is refused, and does not count */
    tacit_plan *plan;     /* declared; made by tacit__counter_open */
} tacit__counter;

/* A subject that refers to *counter, whose plan it makes; the caller destroys that. */
TACIT_MUST_USE tacit_status tacit__counter_open(tacit__counter *counter, tacit__subject *out,
                                                tacit_error *err);

/* Tampers with noise at the door: for agents as well. `memory` holds a passage of
 * TACIT__TAMPER_NUMBERS draws at most, of one release. */
enum { TACIT__TAMPER_NUMBERS = 64 };
void tacit__tamper_half(const tacit__subject *subject, void *memory, const tacit__passage *passage);
void tacit__tamper_bare(const tacit__subject *subject, void *memory, const tacit__passage *passage);

#endif
