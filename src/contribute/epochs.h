/* The statistic of learners in epochs: a public vector of each user, times the reward. */
#ifndef TACIT_CONTRIBUTE_EPOCHS_H
#define TACIT_CONTRIBUTE_EPOCHS_H

#include "contribute/statistic.h"

typedef struct tacit__epochs_options {
    size_t dimension; /* of the largest vectors, and the cells behind them */
    size_t cells;     /* a user adds `cell` in the cell of the context, too; 0: there are none */
    double cell;      /* |v|^2 + cell^2 <= 1 */
    uint64_t users;   /* K */
    const uint64_t *ends;   /* [n_ends] users until each of the epochs that are shown is over */
    size_t n_ends;          /* below the number of epochs: the last one is not shown */
    uint64_t visits, apart; /* of one person (0: 1) */
    tacit_guarantee guarantee;
    double published_scale; /* of every coordinate; 0: calibrated to the guarantee */
} tacit__epochs_options;

/* How many times the noise of one visit the visits of one person need: the square root of the
 * largest sum over shown epochs of (visits in it)^2, or of the number of visits under local
 * privacy. */
TACIT_MUST_USE tacit_status tacit__epochs_column(const tacit__epochs_options *options, double *out,
                                                 tacit_error *err);

/* What a curator is made of. A user is a vector (NULL: there is none), its size, the context as the block,
 * and y; what is longer than 1 is shortened. */
TACIT_MUST_USE tacit_status tacit__epochs_describe(const tacit__epochs_options *options,
                                                   tacit__curator_spec *out, tacit_error *err);

#endif
