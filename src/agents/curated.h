/* What agents with a curator have in common: everything that concerns the curator alone, and creating and
 * destroying an agent. */
#ifndef TACIT_AGENTS_CURATED_H
#define TACIT_AGENTS_CURATED_H

#include "agents/family.h"

/* The beginning of every such agent. */
typedef struct tacit__curated {
    const tacit__family *family;
    const tacit__agent_row *row;
    void *curator;      /* of row->curator; NULL: it is not made yet, or the learner has none */
    tacit__plays plays; /* `build` fills it where a paper prints the algorithm */
} tacit__curated;

/* What goes into the table of a family that has `size`, `build` and `clear`; see agents/family.h. The
 * functions that tell of a user need `see`, unless the trajectory alone is what the curator sees. */
tacit_status tacit__curated_create(const tacit__family *family, const tacit__agent_row *row,
                                   const tacit_agent_request *request, tacit_noise *noise,
                                   void **out, tacit_error *err);
void tacit__curated_destroy(void *self);
tacit_status tacit__curated_learn(void *self, const tacit_trajectory *user, tacit_error *err);
tacit_status tacit__curated_report(void *self, const tacit_trajectory *user, void *bytes,
                                   size_t *size, tacit_error *err);
tacit_status tacit__curated_check_report(const void *self, const void *bytes, size_t size,
                                         tacit_error *err);
tacit_status tacit__curated_absorb(void *self, const void *bytes, size_t size, tacit_error *err);
tacit_ledger *tacit__curated_ledger(const void *self);
const tacit__plays *tacit__curated_plays(const void *self);

#endif
