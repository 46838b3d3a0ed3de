/* The inside of the curator of regressions, shared by gram.c, gram_plan.c and gram_bytes.c. */
#ifndef TACIT_CURATE_GRAM_INSIDE_H
#define TACIT_CURATE_GRAM_INSIDE_H

#include "curate/gram.h"

typedef struct gram_stream {
    tacit__gram_form form;
    tacit_sum_spec spec;
    size_t size;     /* numbers in the sum */
    double reach;    /* the largest squared L2 movement of a step with radius 1 */
    double scale;    /* of the noise on the Gram matrix, 0 without */
    double *x;       /* [size] scratch: a user's numbers; zero between users */
    int64_t *placed; /* a user's contribution */
    double *sums;    /* the last release, c divided out */
    double *step;    /* [width] scratch */
    tacit_sum *sum;
    int64_t *report;      /* local: scratch of a report */
    uint64_t level_until; /* the levels below hold for this many users */
    double gram_level, response_level;
} gram_stream;

/* Of releases that are rare. */
typedef struct gram_moments {
    uint64_t released; /* how many */
    uint64_t shown;    /* users in the last one */
    uint64_t due;      /* users at the next one */
} gram_moments;

struct tacit__gram {
    tacit__gram_options o;
    tacit_ledger *ledger;
    gram_stream streams[TACIT__MAX_GRAM_STREAMS];
    uint64_t users;
    uint64_t releases; /* of the whole run */
    gram_moments at;   /* `growth` */
    bool fresh;        /* `sums` is the release of `users` users */
    bool broken;       /* a charge was refused halfway through a user: nothing more is released */
};

static inline bool tacit__gram_is_private(const tacit__gram *c)
{
    return c->o.guarantee.model != TACIT_MODEL_NONE;
}

/* Users are released in batches that grow. */
static inline bool tacit__gram_has_batches(const tacit__gram *c)
{
    return tacit__gram_is_private(c) && c->o.growth > 1;
}

static inline bool tacit__gram_is_laplace(const tacit__gram *c)
{
    return c->o.guarantee.delta == 0;
}

static inline double tacit__gram_radius(const tacit__gram_stream *o, size_t h)
{
    return o->radius != NULL ? o->radius[h] : 1;
}

/* That a level of a block fails. */
static inline double tacit__gram_failure(const tacit__gram *c, const gram_stream *s)
{
    return c->o.failure / (double)s->form.o.frame.blocks;
}

/* Ratios, bounds, plan, ledger and sums of all streams. */
TACIT_MUST_USE tacit_status tacit__gram_open_sums(tacit__gram *c, tacit_noise *noise,
                                                  tacit_error *err);

/* A user fits; one more is welcome. */
TACIT_MUST_USE tacit_status tacit__gram_check(const tacit__gram *c, const tacit_trajectory *user,
                                              tacit_error *err);
TACIT_MUST_USE tacit_status tacit__gram_open(const tacit__gram *c, tacit_error *err);

/* When this many users have come. */
gram_moments tacit__gram_find_moments(const tacit__gram *c, uint64_t users);

/* The user's contribution into s->placed. */
TACIT_MUST_USE tacit_status tacit__gram_place(gram_stream *s, const tacit_trajectory *user,
                                              const tacit__lens *lens, tacit_error *err);

#endif
