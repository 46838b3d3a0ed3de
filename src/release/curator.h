/* The curator: people in, releases out.
 *
 * A statistic makes bounded integers of a person's trajectory (contribute/statistic.h); streams sum them
 * (sums/sum_stream.h); the schedule, a list of public numbers, says after how many people the sums are shown.
 * That is all there is to a private learner beside its planner, so there is one curator for all of them, with
 * one form of reports and one of saved states. */
#ifndef TACIT_RELEASE_CURATOR_H
#define TACIT_RELEASE_CURATOR_H

#include <tacit/ledger.h>

#include "base/bytes.h"
#include "contribute/statistic.h"

typedef struct tacit__curator tacit__curator;

/* Takes over the form and the responder of the spec, also if it fails. */
TACIT_MUST_USE tacit_status tacit__curator_create(const tacit__curator_spec *spec,
                                                  tacit_noise *noise, tacit__curator **out,
                                                  tacit_error *err);
void tacit__curator_destroy(void *curator);

/* One person. Who does not fit is refused, and nothing has changed. */
TACIT_MUST_USE tacit_status tacit__curator_add(void *curator, const tacit__user_view *user,
                                               tacit_error *err);

/* Local privacy: both halves of `add`. `report` draws the person's noise and adds nothing; bytes = NULL gives
 * the size, of no person. `check_report` says what `absorb` would say. */
TACIT_MUST_USE tacit_status tacit__curator_report(void *curator, const tacit__user_view *user,
                                                  void *bytes, size_t *size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__curator_check_report(const void *curator, const void *bytes,
                                                        size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__curator_absorb(void *curator, const void *bytes, size_t size,
                                                  tacit_error *err);

/* Without a list of ends: shows the sums of all people so far, unless they are shown already. */
TACIT_MUST_USE tacit_status tacit__curator_refresh(tacit__curator *curator, tacit_error *err);

/* The line that a stream would have in the plan. */
TACIT_MUST_USE tacit_status tacit__curator_predict(const tacit__stream_spec *stream,
                                                   const uint64_t *ends, size_t n_ends,
                                                   tacit_release *out, tacit_error *err);

tacit_ledger *tacit__curator_ledger(const void *curator); /* NULL without privacy */
uint64_t tacit__curator_users(const tacit__curator *curator);
uint64_t tacit__curator_shown(const tacit__curator *curator);    /* people in the last release */
uint64_t tacit__curator_released(const tacit__curator *curator); /* releases so far */
/* With a list of ends: people when the batch that has begun will be over; the last one ends with K. */
uint64_t tacit__curator_batch_end(const tacit__curator *curator);
size_t tacit__curator_n_ends(const tacit__curator *curator);
const uint64_t *tacit__curator_ends(const tacit__curator *curator);
tacit__stream *tacit__curator_stream(const tacit__curator *curator, size_t i);
/* Zeros before the first release. */
const double *tacit__curator_sums(const tacit__curator *curator, size_t stream);
void *tacit__curator_form(const tacit__curator *curator);
void *tacit__curator_responder(const tacit__curator *curator); /* NULL: people add numbers */

/* Everything that the future depends on, as part of a saved state (base/bytes.h); loaded into a fresh curator
 * of the same spec. Returns the releases in what is saved or loaded. */
uint64_t tacit__curator_fields(tacit__curator *curator, tacit__saved *s);

#endif
