/* Optimistic planning by regression: the skeleton that UCRL-VTR, UCRL-VTR+, LinOpt-VI and LinOpt-PO share.
 *
 * A plan has two halves. `fit` makes a model of a release: estimates, factors and radii, which is
 * what a server sends to users. `induct` makes values, features and the policy of a model. Everyone
 * with the model, and the public structure of the world, gets the same ones. What differs
 * between algorithms is how wide the radii are (ucrl_vtr.c, linopt.c), and how Q becomes a policy:
 * greedily, or as linopt_po.c says. */
#ifndef TACIT_PLAN_OPTIMIST_H
#define TACIT_PLAN_OPTIMIST_H

#include <tacit/billboard.h>
#include <tacit/features.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "board/gram_sums.h"
#include "plan/pair_features.h"
#include "plan/ridge.h"

/* The kinds of streams. The first stream is always the transitions. */
enum { TACIT__TRANSITIONS, TACIT__OTHER, TACIT__REGRESSIONS };

typedef enum tacit__optimist_form {
    TACIT__PLAIN,    /* rewards are known */
    TACIT__VARIANCE, /* and a second regression, of squared values, tells variances */
    TACIT__REWARDS   /* the second regression is that of the rewards */
} tacit__optimist_form;

/* A policy that is random: exponential weights, kept as logits. */
typedef struct tacit__soft_policy {
    /* The theorem's step. */
    double (*step_size)(size_t n_actions, size_t horizon, uint64_t episodes);
    /* logits[n] after a step eta along q[n]. */
    void (*update)(double eta, const double *q, size_t n, double *logits);
    /* For one step of the horizon: probabilities of the actions, and with q at most `most` the
     * values, of every state. */
    void (*mix)(size_t n_states, size_t n_actions, const double *logits, const double *q,
                double most, double *mixed, double *values);
} tacit__soft_policy;

/* The places where Q = r + P V is clipped. Every choice has 0 as its lower end, which privacy rests on. */
typedef enum tacit__optimist_clip {
    TACIT__CLIP_PARTS,  /* r to 1, P V to H - h: what each can be */
    TACIT__CLIP_SUM,    /* Q to H - h + 1 [Z22, Alg. 1] */
    TACIT__CLIP_HORIZON /* Q to H at every step [LGLP21, Alg. 1 and 3] */
} tacit__optimist_clip;

typedef struct tacit__optimist_options {
    size_t n_states, n_actions, horizon;
    tacit__optimist_form form;
    const tacit_mixture *mixture; /* NULL: one-hot */
    const tacit_linear *linear;   /* of rewards; NULL: one-hot */
    const double *rewards;        /* known ones, [horizon or 1][pair]; copied */
    bool stationary;              /* rewards is [1][pair] */
    bool centered;                /* values are measured from the middle of their range */
    bool centered_rewards;        /* and rewards */
    bool whole_range; /* the unit of values is H at all steps, as in the papers, not H - h */
    tacit__optimist_clip clip;      /* HORIZON needs whole_range */
    const tacit__soft_policy *soft; /* in the place of the greedy policy; NULL: greedy */
    double step_size;               /* of soft, for one user */
} tacit__optimist_options;

/* The way in which a regression is used. In units in which features and targets are at most 1. */
typedef struct tacit__confidence {
    double add;    /* to the diagonal of the Gram matrix */
    double floor;  /* of its eigenvalues */
    double radius; /* the truth is within  radius * spread  of the estimate */
    double crude;  /* VARIANCE, transitions: the same if variances were as large as can be */
} tacit__confidence;

typedef struct tacit__optimist tacit__optimist;

TACIT_MUST_USE tacit_status tacit__optimist_create(const tacit__optimist_options *options,
                                                   tacit__optimist **out, tacit_error *err);
void tacit__optimist_destroy(tacit__optimist *planner);

/* Streams that it needs, and for each its shape, how long the true parameter of a block may be, and
 * what the features and targets of a step are bounded by, [steps]. */
size_t tacit__optimist_streams(const tacit__optimist *planner);
tacit__frame tacit__optimist_frame(const tacit__optimist *planner, size_t stream);
double tacit__optimist_parameter_norm(const tacit__optimist *planner, size_t stream);
const double *tacit__optimist_radius(const tacit__optimist *planner, size_t stream);
/* The public table that makes features of targets, [next state][width][pair]; NULL: none does, or
 * that of the one-hot embedding. */
const double *tacit__optimist_table(const tacit__optimist *planner, size_t stream);

/* A new model. moments and confidence are [streams]. */
void tacit__optimist_fit(tacit__optimist *planner, const tacit__gram_sums *moments,
                         const tacit__confidence *confidence);
/* The plan of the model. */
tacit_billboard tacit__optimist_induct(tacit__optimist *planner);

/* Writes how the next users' steps are to be seen, by the last plan. */
void tacit__optimist_lenses(const tacit__optimist *planner, tacit__lens out[TACIT__REGRESSIONS]);

/* Matrices so far, and how many of them needed the floor. */
typedef struct tacit__repairs {
    uint64_t matrices, repaired;
} tacit__repairs;
tacit__repairs tacit__optimist_repairs(const tacit__optimist *planner);

/* The model, numbers of 64 bits only, as part of a saved state (base/bytes.h) and as what is sent to
 * users: the next induct is that of the planner whose model is loaded. `planned`: it must be a model, not
 * the lack of one. */
void tacit__optimist_fields(tacit__optimist *planner, bool planned, tacit__saved *s);

/* The last Q [H][pair], values [H + 1][S], probabilities [H][pair] of soft. */
typedef struct tacit__optimist_view {
    const double *q, *values, *mixed;
    const double *weights; /* of transitions, [step][block][width] */
} tacit__optimist_view;
tacit__optimist_view tacit__optimist_get(const tacit__optimist *planner);

#endif
