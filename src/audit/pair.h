/* Neighboring sequences of users, and runs over them. */
#ifndef TACIT_AUDIT_PAIR_H
#define TACIT_AUDIT_PAIR_H

#include "audit/lockstep.h"

enum { TACIT__CROWD = 32 }; /* different people among the others, who come again and again */

/* Two sequences that differ in user number `position` and, if people come back, in all that person's later
 * visits, which are as many and as close to each other as was declared; and the circumstances in which that
 * is worst. */
typedef struct tacit__pair {
    tacit__user *users; /* [0] and [1]: the two; then the crowd */
    size_t position;    /* of the first visit, counted from 0; local: there is but one user */
    uint64_t seed;      /* of the noise, in the search */
    /* Noise of the releases in the search, see tacit__lockstep; trials have the noise that there is. */
    double magnified, growth;
    tacit__message model; /* local: what a dishonest server sends to the device; size 0: nothing */
} tacit__pair;

/* `model_room` is the size of a model in bytes; 0: there is none. */
TACIT_MUST_USE tacit_status tacit__pair_create(const tacit__subject *subject, size_t model_room,
                                               tacit__pair *out);
void tacit__pair_destroy(tacit__pair *pair);
/* Copies everything but the crowd. */
void tacit__pair_copy(const tacit__form *form, tacit__pair *to, const tacit__pair *from);

/* The number of visits of one person: at least 1, and at most the number of users. */
uint64_t tacit__pair_visits(const tacit__subject *subject);

/* Under local privacy, shows both instances a billboard, and the model if there is one, which they may
 * decline. */
TACIT_MUST_USE tacit_status tacit__pair_prepare(const tacit__pair *pair, tacit__lockstep *lockstep,
                                                bool *followed, tacit_error *err);

/* Runs a lockstep over the pair: in world 0 the first sequence is the real one, in world 1 the second. Under
 * joint privacy all users come; under local privacy the one user makes all reports. *outcome is that of the
 * planted user's first visit, or of the user with whom the lockstep ended. */
TACIT_MUST_USE tacit_status tacit__pair_run(const tacit__pair *pair, tacit__lockstep *lockstep,
                                            int world, tacit__lockstep_outcome *outcome,
                                            tacit_error *err);

/* The moves of the pair, in units of the noise: n_costs entries of (|move| / scale, how many), for the
 * accountant. *steady: they were the same in runs with other noise, so that the pair is as far apart as
 * that whatever happens; else they depend on what was released before. */
TACIT_MUST_USE tacit_status tacit__pair_costs(const tacit__subject *subject,
                                              const tacit__pair *pair, uint64_t seed,
                                              tacit_cost **costs, size_t *n_costs, bool *steady,
                                              tacit_error *err);

#endif
