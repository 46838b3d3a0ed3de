/* The inside of the curator of linear bandits, shared by regression.c and regression_bytes.c. */
#ifndef TACIT_CURATE_REGRESSION_INSIDE_H
#define TACIT_CURATE_REGRESSION_INSIDE_H

#include "curate/regression.h"

struct tacit__regression {
    tacit__regression_options o;
    size_t packed, block, size; /* numbers in a Gram matrix, in a block, in all blocks */
    tacit_ledger *ledger;
    tacit_sum *sum;     /* NULL without privacy */
    double scale, step; /* of the noise; of the lattice */
    uint64_t users, version;
    uint64_t episodes;      /* users who may come; `o.users` of them are used */
    size_t n_updates, next; /* releases there will be, and have been */
    uint64_t *update_at;    /* users after which they come */
    double *x;              /* one user, or the batch */
    double *shown;          /* the last release, as it came */
    int64_t *placed;        /* one user's contribution */
    int64_t *report;        /* local: one user, noise included */
    double *gram, *response;
    double gram_stddev, response_stddev;
    double *last; /* exact: the last user's x */
    size_t last_block;
    bool broken; /* a charge was refused */
};

/* One more user may come. */
TACIT_MUST_USE tacit_status tacit__regression_open(const tacit__regression *c, tacit_error *err);

/* The user's contribution into `placed`. */
TACIT_MUST_USE tacit_status tacit__regression_place(tacit__regression *c, const double *x,
                                                    size_t block, double y, tacit_error *err);

/* Adds a contribution to x: the batch, or zeros. */
void tacit__regression_add_placed(tacit__regression *c, size_t block, const int64_t *placed);

/* Wipes the user who was placed: only planners without privacy look at the last one. */
void tacit__regression_wipe_user(tacit__regression *c);

/* The next user is one after whom the sums are shown. */
bool tacit__regression_is_due(const tacit__regression *c);

/* From the release to what planners see. */
TACIT_MUST_USE tacit_status tacit__regression_refresh(tacit__regression *c, tacit_error *err);

#endif
