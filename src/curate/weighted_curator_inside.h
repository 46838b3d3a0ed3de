/* The inside of the curator of weighted counts, shared by the files that hold its parts. */
#ifndef TACIT_CURATE_WEIGHTED_CURATOR_INSIDE_H
#define TACIT_CURATE_WEIGHTED_CURATOR_INSIDE_H

#include "contribute/user_share.h"
#include "curate/answers.h"
#include "curate/weighted_curator.h"

typedef enum weighted_stream {
    WEIGHTED_VISITS,
    WEIGHTED_MOVES,
    WEIGHTED_REWARDS,
    WEIGHTED_STARTS,
    WEIGHTED_STREAMS
} weighted_stream;

typedef struct counted_stream {
    size_t size; /* cells */
    /* without privacy: all users; else NULL, and the sum or the answers collect them */
    int64_t *exact;
    double *shown;  /* the last release */
    tacit_sum *sum; /* NULL without joint privacy */
    double stddev;  /* of the last release */
    size_t *cell;   /* [H]: the cells of a user that count, ascending, */
    int64_t *x;     /* [H]: what is in them, */
    size_t cells;   /* and how many there are */
} counted_stream;

struct tacit__weighted {
    tacit__weighted_options o;
    tacit_ledger *ledger;
    counted_stream streams[WEIGHTED_STREAMS];
    tacit__share_rule rule;
    int64_t *weights;  /* [rows]: the rule's */
    int bits;          /* weights are in steps of 2^-bits */
    uint64_t *at;      /* [releases]: after this many users */
    uint64_t releases; /* in all */
    uint64_t next;     /* made so far */
    uint64_t users;    /* counted so far, the last one's included, whose data are not used */
    bool broken;       /* a charge was refused halfway: nothing more is released */
    size_t rows;
    tacit__counted_step *steps; /* [H] scratch */
    tacit__answers *answers;    /* local privacy; else NULL */
    uint8_t *report;            /* scratch of a user's */
};

/* Noise is that of running sums. */
static inline bool tacit__weighted_has_sums(const tacit__weighted *c)
{
    return c->o.guarantee.model == TACIT_MODEL_JOINT && !c->o.answers;
}

/* --- weighted_plan.c: what is declared, the sums, and the lattice of the weights */

TACIT_MUST_USE tacit_status tacit__weighted_check_memory(const tacit__weighted *c,
                                                         tacit_error *err);
TACIT_MUST_USE tacit_status tacit__weighted_open(tacit__weighted *c, tacit_noise *noise,
                                                 tacit_error *err);

/* --- weighted_time.c: when releases are made */

/* The options with first and last filled in. */
TACIT_MUST_USE tacit_status tacit__weighted_time(const tacit__weighted_options *options,
                                                 tacit__weighted_options *out, tacit_error *err);

/* --- weighted_curator.c */

/* Local: the noise of the last release, which follows from how many users it is of. */
void tacit__weighted_set_levels(tacit__weighted *curator);

/* --- weighted_plan.c */

/* What the noise of a sum over these moments comes to, in draws, and what one person moves it by, in units of
 * one visit: their product says how much noisier it is than one release of one visit. */
TACIT_MUST_USE tacit_status tacit__weighted_gain(const tacit__weighted_options *options,
                                                 const uint64_t *at, uint64_t releases, double *out,
                                                 tacit_error *err);

#endif
