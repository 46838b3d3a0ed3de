/* Running sums as curators use them: beyond include/tacit/sum.h, contributions as integers, and
 * releases that are fewer than people.
 *
 * A sum of R releases and K people, R < K, collects people until it is released: tacit_sum_add adds a person
 * and passes nothing, tacit_sum_release passes all people since the last release through the door, as one
 * step, and shows the sum. Its noise is that of R steps, however many people there are between them. A person
 * is in one step and moves it by what one person's vector can move; so neither the bound nor the cost of a
 * person depends on who else is in the step. When releases are made must be public: fixed beforehand, or a
 * function of earlier releases. */
#ifndef TACIT_SUMS_SUM_STEPS_H
#define TACIT_SUMS_SUM_STEPS_H

#include <tacit/sum.h>

#include "noise/tag.h"
#include "sums/lattice.h"
#include "sums/returning.h"

/* These do what tacit_sum_declare and tacit_sum_create do, for releases->n of spec->users people. Local
 * sums have as many releases as people. tacit_sum_step and tacit_sum_stddev count releases. If people
 * come back, their ends, the number of people at each release, must be declared with them; what one
 * person moves rests on them. */
TACIT_MUST_USE tacit_status tacit__sum_declare_released(const tacit_sum_spec *spec,
                                                        const tacit__batches *releases,
                                                        const char *name, tacit_release *release,
                                                        tacit_error *err);
TACIT_MUST_USE tacit_status tacit__sum_create_released(const tacit_sum_spec *spec,
                                                       const tacit__batches *releases,
                                                       tacit_ledger *ledger, const char *name,
                                                       tacit_sum **out, tacit_error *err);

/* Returns the lattice on which a contribution is put (tacit__lattice_quantize). It is public: it
 * follows from the spec. */
const tacit__lattice *tacit__sum_lattice(const tacit_sum *sum);

/* These do what tacit_sum_add and tacit_sum_report do, for a contribution on the lattice already. The sum
 * has no structural zeros. The integers come from tacit__lattice_quantize with its lattice, or the
 * statistic that made them has proved that they keep the bound, so nothing is checked. */
TACIT_MUST_USE tacit_status tacit__sum_add_placed(tacit_sum *sum, const tacit__input *x,
                                                  tacit_error *err);
TACIT_MUST_USE tacit_status tacit__sum_report_placed(tacit_sum *sum, const tacit__input *x,
                                                     int64_t *report, tacit_error *err);

#endif
