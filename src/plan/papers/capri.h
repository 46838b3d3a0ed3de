/* CAPRI: elimination in epochs with a private kernel estimator [PSZ25]. */
#ifndef TACIT_PLAN_PAPERS_CAPRI_H
#define TACIT_PLAN_PAPERS_CAPRI_H

#include "plan/epoch_planner.h"
#include "plan/estimator.h"

typedef enum tacit__capri_width {
    TACIT__WIDTH_PAIRWISE,  /* of differences inside a context */
    TACIT__WIDTH_POINTWISE, /* of each estimate */
    TACIT__WIDTH_MAX4,      /* the paper's shape, with small constants */
    TACIT__WIDTH_THEORY     /* as printed */
} tacit__capri_width;

typedef struct tacit__capri_options {
    tacit__pairs pairs;
    uint64_t users; /* T */
    tacit__capri_width width;
    double bonus_scale; /* omega: multiplies what statistics and bias need */
    double noise_scale; /* zeta: standard deviations of the privacy noise; pairwise only */
    double failure;     /* that the bounds fail */
    double norm;        /* of the mean reward minus 1/2 */
    double tau;         /* 0: chosen in each epoch */
    double copies;      /* of the covariance points; 0: exact expectation */
    bool sampled;       /* S is drawn; else all active pairs */
    double tol;
    size_t rank;   /* largest */
    bool balanced; /* schedule whose last epoch is half of all; else doubling from sqrt(T) */
    /* 0; or this many users in all epochs but the last, whatever `balanced` says */
    uint64_t explore;
    bool greedy;           /* in the last epoch; else uniform */
    bool by_sigma_max;     /* vectors are divided by sigma_max instead of their largest length */
    bool local;            /* every user has that noise */
    double epsilon, delta; /* of the printed width */
    tacit__words_fn *words;
    void *context;
} tacit__capri_options;

typedef struct tacit__capri tacit__capri;

TACIT_MUST_USE tacit_status tacit__capri_create(const tacit__capri_options *options,
                                                tacit__capri **out);
void tacit__capri_destroy(tacit__capri *planner);

/* The epoch that is being played. Users of the last one are not needed: nothing follows it. */
typedef struct tacit__capri_epoch {
    size_t number, n_epochs; /* from 0 */
    uint64_t users;
    const uint64_t *ends; /* [n_epochs] users until each is over */
    bool last;
    const tacit__estimator *estimator; /* of this epoch; of no use in the last */
    const double *mixed;               /* [contexts][actions]: how to play */
} tacit__capri_epoch;
tacit__capri_epoch tacit__capri_get_epoch(const tacit__capri *planner);

/* Prepares the first epoch. `scale` is that of the noise in released sums of unit vectors, which is
 * known only when the rank is; 0: none. */
void tacit__capri_start(tacit__capri *planner, double scale);

/* The epoch is over: `sum` [p] is that of y v / b over its users, noisy or not. Eliminates, and
 * prepares the next. */
void tacit__capri_close(tacit__capri *planner, const double *sum);

/* Lengths of epochs into out (NULL: none); returns how many. */
size_t tacit__capri_schedule(uint64_t users, bool balanced, uint64_t *out);

/* The same with `explore` users in all epochs but the last: a third of them in one, the rest in the
 * next. */
size_t tacit__capri_explore(uint64_t users, uint64_t explore, uint64_t *out);

/* beta and beta_1 of [PSZ25, Lemma 6.6] with this tau, in an epoch of this many users; beta_1 is 0 without
 * epsilon. */
typedef struct tacit__capri_betas {
    double beta, beta_1;
} tacit__capri_betas;
tacit__capri_betas tacit__capri_theory(const tacit__capri_options *options, double tau,
                                       uint64_t users);

/* The same as a planner in epochs; its options are tacit__capri_options. */
extern const tacit__epoch_planner tacit__capri_planner;

/* Return, for tests, the estimates [pairs] of the last closed epoch (of active pairs then), and which
 * pairs are active now. */
const double *tacit__capri_estimates(const tacit__capri *planner);
const bool *tacit__capri_active(const tacit__capri *planner);

#endif
