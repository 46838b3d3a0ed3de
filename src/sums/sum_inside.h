/* The inside of a running sum, shared by sum.c and saved.c. */
#ifndef TACIT_SUMS_SUM_INSIDE_H
#define TACIT_SUMS_SUM_INSIDE_H

#include <stdbool.h>

#include <tacit/sum.h>

#include "account/door.h"
#include "sums/lattice.h"
#include "sums/strategy.h"

struct tacit_sum {
    const tacit__strategy *strategy;
    void *state;
    tacit__gate *gate;
    tacit__lattice lattice;
    size_t outer_dimension; /* as the caller sees it */
    size_t dimension;       /* without structural zeros */
    size_t *active; /* outer index of each coordinate; NULL when there are no structural zeros */
    double *packed; /* scratch, with `active` */
    size_t *coordinates; /* scratch, with `active`: coordinates of a sparse contribution */
    int64_t *x;          /* scratch: the contribution on the lattice */
    int64_t *tile;       /* scratch: a tile of a sparse contribution; 0 between users */
    int64_t *encoded;    /* scratch: a tile before the door */
    double scale, draw_stddev;
    uint64_t users, step;
    bool released;
    uint8_t fingerprint[TACIT__KEY_BYTES];
};

/* Only local sums have reports. */
TACIT_MUST_USE tacit_status tacit__sum_check_local(const tacit_sum *sum, tacit_error *err);

/* Where the noisy sums are if the sum has them at hand; NULL if it has not. They are all zero before the
 * first user, and a release, which may be published, after tacit__sum_release_at_hand, which is
 * tacit_sum_release without the copy. */
const double *tacit__sum_at_hand(const tacit_sum *sum);
TACIT_MUST_USE tacit_status tacit__sum_release_at_hand(tacit_sum *sum, tacit_error *err);

/* Hash of all that a saved state must agree with. */
void tacit__sum_fingerprint(const tacit_sum *sum, const tacit_release *line, tacit_law law,
                            uint8_t out[TACIT__KEY_BYTES]);

/* How noisy a sum would be: the column norm of its strategy in the law's norm, and the noisiest step's
 * standard deviation in units of a draw's. Their product compares mechanisms. And how large, in bytes for
 * each coordinate. */
typedef struct tacit__sum_prediction {
    double column, row, bytes;
} tacit__sum_prediction;
TACIT_MUST_USE tacit_status tacit__sum_predict(const tacit_sum_spec *spec,
                                               tacit__sum_prediction *out, tacit_error *err);

#endif
