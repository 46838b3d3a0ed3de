/* The curator of learners in epochs: a sum of vectors for each epoch, shown once, when it is over. */
#ifndef TACIT_CURATE_EPOCHS_H
#define TACIT_CURATE_EPOCHS_H

#include <tacit/ledger.h>

#include "base/bytes.h"
#include "sums/lattice.h"

typedef struct tacit__epochs_options {
    size_t dimension;         /* of the largest vectors */
    uint64_t n_epochs, users; /* epochs that are shown; users in all of them */
    const uint64_t *ends;     /* [n_epochs] users until each is over; may be NULL if visits <= 1 */
    uint64_t visits, apart;   /* of one person (0: 1) */
    tacit_guarantee guarantee;
    double published_scale; /* of every coordinate; 0: calibrated to the guarantee */
    bool with_contexts;     /* vectors tell of contexts, too: the plan says so */
} tacit__epochs_options;

typedef struct tacit__epochs tacit__epochs;

/* How many times the noise of one visit the visits of one person need: the square root of the
 * largest sum over shown epochs of (visits in it)^2, or of the number of visits under local
 * privacy. */
TACIT_MUST_USE tacit_status tacit__epochs_column(const tacit__epochs_options *options, double *out,
                                                 tacit_error *err);

TACIT_MUST_USE tacit_status tacit__epochs_create(const tacit__epochs_options *options,
                                                 tacit_noise *noise, tacit__epochs **out,
                                                 tacit_error *err);
void tacit__epochs_destroy(void *curator);

/* Standard deviation of the noise: in a shown sum (joint), or in every user's vector (local). 0: none. */
double tacit__epochs_scale(const tacit__epochs *curator);

/* One user: y vector, |y| <= 1 and the vector [size] no longer than 1; what is longer by rounding
 * is shortened. */
TACIT_MUST_USE tacit_status tacit__epochs_add(tacit__epochs *curator, size_t size,
                                              const double *vector, double y, tacit_error *err);

/* What a user adds, exactly: integers on the lattice, made of y vector (NULL: 0) and of public knowledge
 * alone. A party that holds no sums can make them. `x` and out are [dimension], x is scratch. */
TACIT_MUST_USE tacit_status tacit__epochs_contribute(const tacit__lattice *lattice,
                                                     size_t dimension, size_t size,
                                                     const double *vector, double y, double *x,
                                                     int64_t *out, tacit_error *err);
/* The lattice; NULL without privacy. */
const tacit__lattice *tacit__epochs_lattice(const tacit__epochs *curator);

/* Privacy: one user whose contribution [dimension] was made elsewhere; what is longer than 1 is OUT_OF_BOUND,
 * and changes nothing. */
TACIT_MUST_USE tacit_status tacit__epochs_add_contribution(tacit__epochs *curator, size_t size,
                                                           const int64_t *contribution,
                                                           tacit_error *err);

/* Local: the two halves of `add`. The user's device makes noisy[size] of its vector, and that is
 * all that leaves it; the server adds what came. What no device can have made is OUT_OF_BOUND, and
 * changes nothing. */
TACIT_MUST_USE tacit_status tacit__epochs_report(tacit__epochs *curator, size_t size,
                                                 const double *vector, double y, double *noisy,
                                                 tacit_error *err);
TACIT_MUST_USE tacit_status tacit__epochs_check_report(const tacit__epochs *curator, size_t size,
                                                       const double *noisy, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__epochs_absorb(tacit__epochs *curator, size_t size,
                                                 const double *noisy, tacit_error *err);

/* The epoch is over: its sum, noisy as the guarantee asks, into sum[size]; the raw one is wiped. */
TACIT_MUST_USE tacit_status tacit__epochs_release(tacit__epochs *curator, size_t size, double *sum,
                                                  tacit_error *err);

/* NULL without privacy. */
tacit_ledger *tacit__epochs_ledger(const void *curator);

/* As part of a saved state (base/bytes.h); loaded into a fresh curator. The size is always the same. */
void tacit__epochs_fields(tacit__epochs *curator, tacit__saved *s);

#endif
