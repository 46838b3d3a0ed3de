/* The inside of a running sum, shared by the files that hold its parts. */
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
    uint64_t users, releases; /* declared: people, and steps of the strategy */
    uint64_t people, step;    /* people who came; steps that passed the door */
    uint64_t waiting;         /* people since the last step, */
    int64_t *batch;           /* and their sum; NULL: each of them is a step */
    bool released;
    uint8_t fingerprint[TACIT__KEY_BYTES];
};

/* Only local sums have reports. */
TACIT_MUST_USE tacit_status tacit__sum_check_local(const tacit_sum *sum, tacit_error *err);

/* Returns where the noisy sums are if the sum has them at hand; NULL if it has not. They are all zero
 * before the first user, and a release, which may be published, after tacit__sum_release_in_place,
 * which is tacit_sum_release without the copy. */
const double *tacit__sum_get_released(const tacit_sum *sum);
TACIT_MUST_USE tacit_status tacit__sum_release_in_place(tacit_sum *sum, tacit_error *err);

/* Hash of all that a saved state must agree with. */
void tacit__sum_fingerprint(const tacit_sum *sum, const tacit_release *line, tacit_law law,
                            uint8_t out[TACIT__KEY_BYTES]);

/* The regions of its strategy, and of the people who wait for a step, if they can. Returns the number. */
size_t tacit__sum_regions(const tacit_sum *sum, tacit__region out[TACIT__MAX_REGIONS]);

/* tacit_sum_worst_stddev of the first k steps: the last of them need not be the noisiest. */
double tacit__sum_noisiest(const tacit_sum *sum, uint64_t k);

/* How noisy a sum would be: the column norm of its strategy in the law's norm, and the noisiest step's
 * standard deviation in units of a draw's. Their product compares mechanisms. `bytes` is the size for
 * each coordinate. */
typedef struct tacit__sum_prediction {
    double column, row, bytes;
} tacit__sum_prediction;
TACIT_MUST_USE tacit_status tacit__sum_predict(const tacit_sum_spec *spec,
                                               tacit__sum_prediction *out, tacit_error *err);

/* The same for releases that are fewer than people, or whose people come back: sums/sum_steps.h. */
TACIT_MUST_USE tacit_status tacit__sum_predict_released(const tacit_sum_spec *spec,
                                                        const tacit__batches *releases,
                                                        tacit__sum_prediction *out,
                                                        tacit_error *err);

#endif
