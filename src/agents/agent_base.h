/* The one base of all learners: a row's curator, and everything that concerns the curator alone. A family
 * adds its planner behind it (agents/family.h). */
#ifndef TACIT_AGENTS_AGENT_BASE_H
#define TACIT_AGENTS_AGENT_BASE_H

#include "agents/family.h"

/* The beginning of every learner. */
typedef struct tacit__agent_base {
    const tacit__family *family;
    const tacit__agent_row *row;
    void *curator;        /* of row->curator; NULL: it is not made yet, or the learner has none */
    tacit_ledger *ledger; /* of a learner without a curator; NULL: it has none */
    tacit__plays plays;   /* `build` fills it where a paper prints the algorithm */
} tacit__agent_base;

TACIT_MUST_USE tacit_status tacit__base_create(const tacit__family *family,
                                               const tacit__agent_row *row,
                                               const tacit_agent_request *request,
                                               tacit_noise *noise, tacit__agent_base **out,
                                               tacit_error *err);
void tacit__base_destroy(tacit__agent_base *learner); /* accepts NULL */

/* One user, through the curator, or by the family's own function. */
TACIT_MUST_USE tacit_status tacit__base_learn(tacit__agent_base *learner,
                                              const tacit_trajectory *user, tacit_error *err);

/* Local privacy: both halves of `learn`; bytes = NULL gives the size. */
bool tacit__base_has_reports(const tacit__agent_base *learner);
TACIT_MUST_USE tacit_status tacit__base_report(tacit__agent_base *learner,
                                               const tacit_trajectory *user, void *bytes,
                                               size_t *size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__base_check_report(const tacit__agent_base *learner,
                                                     const void *bytes, size_t size,
                                                     tacit_error *err);
TACIT_MUST_USE tacit_status tacit__base_absorb(tacit__agent_base *learner, const void *bytes,
                                               size_t size, tacit_error *err);

/* NULL without privacy. */
tacit_ledger *tacit__base_ledger(const tacit__agent_base *learner);

/* Returns what its user must know about it; "": nothing. */
const char *tacit__base_remark(const tacit__agent_base *learner);

#endif
