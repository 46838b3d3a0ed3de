/* The ledger: every number that leaves a curator through the door is charged here, and anything that was
 * not declared is refused. */
#ifndef TACIT_LEDGER_H
#define TACIT_LEDGER_H

#include <tacit/noise.h>
#include <tacit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_ledger tacit_ledger;

/* A ledger for a calibrated plan (copied) that takes its noise from `noise` (used during creation only).
 * With model none, noise may be NULL. */
TACIT_API TACIT_MUST_USE tacit_status tacit_ledger_create(const tacit_plan *plan,
                                                          tacit_noise *noise, tacit_ledger **out,
                                                          tacit_error *err);
TACIT_API void tacit_ledger_destroy(tacit_ledger *ledger);

TACIT_API const tacit_plan *tacit_ledger_plan(const tacit_ledger *ledger);

/* How many steps of a release have passed. After plan.steps of them, the next one is EXHAUSTED. */
TACIT_API uint64_t tacit_ledger_passed(const tacit_ledger *ledger, size_t index);

/* The most that everything that has passed so far costs one person, at this delta (0: the pure epsilon). It
 * is 0 before the first step, and never more than tacit_plan_account gives for the whole plan. Fresh releases
 * are charged one by one; the steps of a running sum share their noise, and the first one charges them all.
 * BAD_PLAN: there is no noise to account for. */
TACIT_API TACIT_MUST_USE tacit_status tacit_ledger_spent(const tacit_ledger *ledger, double delta,
                                                         tacit_composition *out, tacit_error *err);

/* True if the noise is seeded: reproducible and not private. */
TACIT_API bool tacit_ledger_is_simulated(const tacit_ledger *ledger);

/* Called before the noise of a step is drawn, so that the charge can be made durable first. If it does not
 * return TACIT_OK, the step is refused with that status and nothing has changed. */
typedef tacit_status tacit_journal_fn(void *context, const tacit_release *release, uint64_t step);
TACIT_API void tacit_ledger_set_journal(tacit_ledger *ledger, tacit_journal_fn *journal,
                                        void *context);

#ifdef __cplusplus
}
#endif

#endif
