/* Neighbouring sequences of users, and the search for the worst. */
#ifndef TACIT_AUDIT_PAIR_H
#define TACIT_AUDIT_PAIR_H

#include "audit/duel.h"

enum { TACIT__CROWD = 32 }; /* different people among the others, who come round again */

/* Two sequences that differ in user number `position`. */
typedef struct tacit__pair {
    tacit__user *users; /* [0] and [1]: the two; then the crowd */
    size_t position;    /* counted from 0; local: the only user that matters */
} tacit__pair;

TACIT_MUST_USE tacit_status tacit__pair_create(const tacit__subject *subject, tacit__pair *out);
void tacit__pair_destroy(tacit__pair *pair);

/* What a search came to. */
typedef struct tacit__search {
    uint64_t tried, refused; /* neighbours; those whom the curator did not take */
    double measured,
        declared;     /* mu (Gaussian) or epsilon (Laplace) of the worst pair, and of the plan */
    double mu_square; /* of the worst pair, whatever the law */
    bool same_calls, same_view, undeclared;
    char fault[240]; /* what was found, in words; "" if all is as it should be */
} tacit__search;

/* mu or epsilon that the plan's sensitivities and scales add up to. */
double tacit__plan_loss(const tacit_plan *plan);

/* Tries extreme, random and mutated neighbours, early, in the middle and late, and leaves the worst in *pair. Stops when
 * two runs do not make the same calls. `effort`: how many users may come in all, roughly. */
TACIT_MUST_USE tacit_status tacit__pair_search(const tacit__subject *subject, uint64_t seed,
                                               uint64_t effort, tacit__pair *pair,
                                               tacit__search *out, tacit_error *err);

/* One run of a duel over the pair: world 0, the first sequence is the real one; world 1, the second. Joint: all users come.
 * *refused as in tacit__duel_step. */
TACIT_MUST_USE tacit_status tacit__pair_run(const tacit__pair *pair, tacit__duel *duel, int world,
                                            bool *refused, tacit_error *err);

/* The moves of the pair, in units of the noise: n_costs entries of (|move| / scale, how many), for the accountant.
 * *steady: they were the same in runs with other noise, so that the pair is as far apart as that whatever happens; else
 * they depend on what was released before. */
TACIT_MUST_USE tacit_status tacit__pair_costs(const tacit__subject *subject,
                                              const tacit__pair *pair, uint64_t seed,
                                              tacit_cost **costs, size_t *n_costs, bool *steady,
                                              tacit_error *err);

#endif
