/* What an LSVI learner will release, decided before the first user comes: how often, by which
 * mechanism, with how much noise. Everything here is a function of public numbers. */
#ifndef TACIT_RELEASE_LSVI_SCHEME_H
#define TACIT_RELEASE_LSVI_SCHEME_H

#include <tacit/plan.h>
#include <tacit/sum.h>

#include "board/linear_space.h"

typedef enum tacit__lsvi_gram {
    TACIT__GRAM_AUTO,
    TACIT__GRAM_SUMS,
    TACIT__GRAM_DIRECT
} tacit__lsvi_gram;

#define TACIT__RAYLEIGH_SHIFT                                                                      \
    5 /* times the level of the noise, for a bound on switches: lsvi_schedules.c */

typedef struct tacit__lsvi_scheme_options {
    tacit__linear_space space;
    tacit__lsvi_schedule schedule;
    uint64_t episodes;      /* K */
    uint64_t visits, apart; /* of one person (0: 1) */
    tacit_guarantee guarantee;
    tacit_sum_mechanism mechanism; /* of Gram matrices, unless direct releases are better */
    tacit__lsvi_gram gram;
    bool centered; /* targets from -1/2 to 1/2 (needs simplex or one-hot features) */
    bool theorem;  /* caps and factors of the theorems, not the predicted best */
    double lambda; /* ridge without noise */
    double shift;  /* of Gram matrices, in units of their noise's expected largest eigenvalue */
    double failure;
    /* 0: decide. */
    uint64_t batches, switches, test_every;
    double switch_factor, gram_share;
    /* Printed constants: scales of a draw, 0: calibrate. */
    double printed_gram, printed_response;
} tacit__lsvi_scheme_options;

typedef struct tacit__lsvi_scheme {
    tacit_law law;                 /* NONE: no noise */
    tacit_sum_mechanism mechanism; /* of Gram matrices */
    bool direct;                   /* Gram matrices by fresh releases instead */
    uint64_t leaf, leaves; /* Gram matrices can be shown after every `leaf` users, `leaves` times */
    double unit, rate;     /* GROWTH: of leaf ends; `leaf` is the largest then. Else rate is 0 */
    uint64_t switches;     /* new policies, at most */
    uint64_t bound;        /* on switches, of a schedule that watches; printed, or proved */
    double switch_factor;
    double column;                   /* of the Gram mechanism, in the law's norm */
    double row;                      /* its noisiest step, in draws */
    double gram_l1, gram_l2;         /* how far one user moves one step's exact Gram matrix */
    double response_l1, response_l2; /* and one normalized response */
    /* largest (switches / response_scale^2) / (column / gram_scale)^2 that response_l2 allows */
    double ratio;
    double gram_scale, response_scale;   /* of a draw */
    double gram_stddev, response_stddev; /* of a coordinate, worst step */
    double shift;                        /* to be added to Gram matrices, beside lambda */
    double predicted; /* share of an episode's reward that is lost, as predicted; NaN: was not */
    bool tabled;      /* sensitivities were computed from the table of features */
} tacit__lsvi_scheme;

/* Users of the first n leaves. */
uint64_t tacit__lsvi_leaf_end(const tacit__lsvi_scheme *scheme, uint64_t n);

/* Users at each leaf, and at each switch that is charged, into ends[leaves] and [switches]. A schedule
 * that watches Gram matrices switches at times that are not known beforehand; visits so far only grow, so the
 * last leaves are charged. */
void tacit__lsvi_leaf_ends(const tacit__lsvi_scheme *scheme, uint64_t *ends);
void tacit__lsvi_switch_ends(const tacit__lsvi_scheme *scheme, uint64_t *ends);

TACIT_MUST_USE tacit_status tacit__lsvi_decide(const tacit__lsvi_scheme_options *options,
                                               tacit__lsvi_scheme *out, tacit_error *err);

/* max over two users' (x, a), (y, b) of |x x^T - y y^T|_F^2 + t |x a - y b|^2, for features of
 * length at most 1 and targets in [0, 1], or in [-1/2, 1/2] if centered. */
double tacit__lsvi_reach(const tacit__linear_space *space, bool centered, double t);

/* The same for n values of t, and whether it is found pair by pair in a table. */
void tacit__lsvi_reaches(const tacit__linear_space *space, bool centered, size_t n, const double *t,
                         double *out);
bool tacit__lsvi_is_searched(const tacit__linear_space *space);

/* Bounds on noise, each failing with probability at most alpha: the largest eigenvalue (in absolute
 * value) of a symmetric matrix of order d, and the length of a vector, in units of a coordinate's
 * standard deviation. The matrix is a sum of `draws` draws at each coordinate (not whole: variance
 * in units of a draw's). */
double tacit__lsvi_matrix_level(const tacit__linear_space *space, tacit_law law, double draws,
                                double alpha);
double tacit__lsvi_vector_level(size_t d, tacit_law law, double alpha);

/* The expected size of the largest eigenvalue, roughly. */
double tacit__lsvi_expected_norm(const tacit__linear_space *space);

#endif
