/* What one person pays who takes part in everything that a service does. The promise, and why the sum holds,
 * is in docs/why/person.md. */
#ifndef TACIT_SERVE_PEOPLE_PERSON_H
#define TACIT_SERVE_PEOPLE_PERSON_H

#include <tacit/service.h>

#include "text/text.h"

/* What a learner and its monitor cost one person. */
typedef struct tacit__share {
    tacit_model model; /* of both; none: the learner has no guarantee, and the rest is empty */
    double delta;      /* the sum of what they declare */
    double epsilon;    /* what the learner declares, if there is no monitor; else NaN */
    tacit_cost *costs; /* of all releases of both; owned */
    size_t n_costs;
} tacit__share;

/* From their calibrated plans; a plan may be NULL. */
TACIT_MUST_USE tacit_status tacit__share_create(const tacit_guarantee *learner,
                                                const tacit_plan *plan,
                                                const tacit_guarantee *monitor,
                                                const tacit_plan *monitor_plan, tacit__share *out,
                                                tacit_error *err);
void tacit__share_destroy(tacit__share *share);

/* The guarantee of the learner and its monitor together, for a person whose data are in `forks` forks of the
 * store, at the sum of their deltas. */
TACIT_MUST_USE tacit_status tacit__share_account(const tacit__share *share, uint64_t forks,
                                                 tacit_guarantee *out, tacit_error *err);

/* Fills in `all`, `devices` and the counts; `separate` and `budget` are given. */
TACIT_MUST_USE tacit_status tacit__person_account(const tacit__share *shares, size_t n_shares,
                                                  uint64_t forks, tacit_service_person *person,
                                                  tacit_error *err);

/* Whether the person pays no more than the budget, if there is one. Learners without a guarantee do not fit
 * into any. */
bool tacit__person_fits(const tacit_service_person *person);

/* The promise in words, a sentence in each line; the first is "for one person: epsilon 3.1, delta 7e-06".
 * `unknown`: why there is no such number although `person` has one; or NULL. */
void tacit__person_words(const tacit_service_person *person, const char *unknown, tacit__text *out);

#endif
