/* Release plans: what will be released, how far one user can move it, and how much noise that takes.
 *
 * Everything that will ever be released is declared before the first user arrives. The calibrator computes
 * one noise scale for each release from the plan and a guarantee; the accountant computes the guarantee from
 * the plan and its scales. Sensitivities are for *replacing* one user by another. */
#ifndef TACIT_PLAN_H
#define TACIT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/account.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacit_model {
    TACIT_MODEL_NONE,  /* no noise, no guarantee */
    TACIT_MODEL_JOINT, /* a trusted curator; what anyone but the user sees is private */
    TACIT_MODEL_LOCAL  /* no trusted party; what leaves the device is private */
} tacit_model;

/* delta = 0 is pure DP and means Laplace noise; delta > 0 means Gaussian noise. Where users give answers
 * instead of numbers, both mean randomized response. */
typedef struct tacit_guarantee {
    tacit_model model;
    double epsilon, delta;
} tacit_guarantee;

typedef enum tacit_calibration {
    TACIT_CALIBRATION_TIGHT, /* sound, and as small as can be proved */
    /* the algorithm as its paper prints it, with its noise, bonus, ridge, schedule and clips, whatever
     * guarantee that gives */
    TACIT_CALIBRATION_PUBLISHED,
    TACIT_CALIBRATION_FIGURE, /* scale 1/epsilon everywhere: the shape of published curves; NOT private */
    TACIT_CALIBRATION_NOISE, /* the noise that the paper prints; everything else as with tight */
    /* the same for a paper whose constants were recalled from later papers and public code */
    TACIT_CALIBRATION_RECALLED
} tacit_calibration;
/* "tight", "published", "figure", "published noise", "recalled noise". */
TACIT_API const char *tacit_calibration_name(tacit_calibration calibration);

/* TACIT_LAW_RESPONSE is randomized response: the release is one of `answers`, and with scale s the true
 * answer is at most e^(1/s) times as likely as any other. Its costs add up like those of Laplace noise, and
 * its delta is 0, whatever was asked for. */
typedef enum tacit_law {
    TACIT_LAW_NONE,
    TACIT_LAW_GAUSSIAN,
    TACIT_LAW_LAPLACE,
    TACIT_LAW_RESPONSE
} tacit_law;

/* One line of a plan: `steps` vectors of `dimension` numbers each are shown under this name.
 *
 * l1, l2       how far one user moves the input of a single step;
 * column_l1/2  how these moves add up over the steps for one user: the largest column norm of a running
 *              sum's strategy, n and sqrt(n) for n fresh releases that all see the user, 1 if a user is
 *              in one of them only. The whole release then moves by l * column;
 * weight       how much the algorithm suffers from a unit of this release's noise (0 means 1);
 * visits, apart  of one person, at most and at least; the column norms are those of all visits (0: 1);
 * mechanism    how the steps share their noise: "tree", "smooth", "blt" (running sums), "local",
 *              "fresh" (none is shared); NULL: not stated;
 * answers      0: noise is added to numbers. Else each of the `dimension` numbers is an answer, 0 ..
 *              answers - 1, to which randomized response is applied, and l1 is how many of a step's
 *              answers one user can change. All lines of a plan have it, or none. */
typedef struct tacit_release {
    const char *name;
    const char *reason; /* one line: why the sensitivities hold */
    size_t dimension;
    uint64_t steps;
    double l1, l2;
    double column_l1, column_l2;
    double weight;
    const char *mechanism;
    uint64_t visits, apart;
    /* visits as close as they may be, from the first user on, are known to be the worst */
    bool packed;
    uint64_t answers;
} tacit_release;

typedef struct tacit_plan tacit_plan;

TACIT_API TACIT_MUST_USE tacit_status tacit_plan_create(tacit_plan **out);
TACIT_API void tacit_plan_destroy(tacit_plan *plan);

/* Adds a line; strings are copied. Refused after calibration. A sensitivity of 0 says "not known in
 * this norm": such a plan cannot be calibrated to the law that needs it. */
TACIT_API TACIT_MUST_USE tacit_status tacit_plan_declare(tacit_plan *plan,
                                                         const tacit_release *release,
                                                         tacit_error *err);

/* Sets every scale to the smallest noise that keeps the guarantee. The budget is split so that the weighted
 * sum of scales is least: s_i ~ (D_i^2 / w_i)^(1/3) for Gaussian noise, sqrt(D_i / w_i) for Laplace, with
 * D = l * column. With model none all scales are 0. */
TACIT_API TACIT_MUST_USE tacit_status tacit_plan_calibrate(tacit_plan *plan, tacit_guarantee target,
                                                           tacit_error *err);

/* Sets one scale by hand (a paper's printed constant). All lines must have the same law. The plan is
 * calibrated once every line has its scale; its guarantee is then what tacit_plan_account computes. */
TACIT_API TACIT_MUST_USE tacit_status tacit_plan_set_scale(tacit_plan *plan, const char *name,
                                                           tacit_law law, double scale,
                                                           tacit_error *err);

/* The guarantee that the scales give, at this delta (0: the pure epsilon). */
TACIT_API TACIT_MUST_USE tacit_status tacit_plan_account(const tacit_plan *plan, double delta,
                                                         tacit_composition *out, tacit_error *err);

/* The same for a person whose data are in `lives` continuations of one saved state (tacit_agent_load, a
 * restored store), each of which runs to its end. It is an upper bound, since the person pays once for what
 * the continuations have in common. */
TACIT_API TACIT_MUST_USE tacit_status tacit_plan_account_lives(const tacit_plan *plan,
                                                               uint64_t lives, double delta,
                                                               tacit_composition *out,
                                                               tacit_error *err);

/* Access. Indices run from 0 to size - 1; the index of an unknown name is size. */
TACIT_API size_t tacit_plan_size(const tacit_plan *plan);
TACIT_API size_t tacit_plan_index(const tacit_plan *plan, const char *name);
TACIT_API const tacit_release *tacit_plan_release(const tacit_plan *plan, size_t index);
TACIT_API double tacit_plan_scale(const tacit_plan *plan, size_t index);
TACIT_API tacit_law tacit_plan_law(const tacit_plan *plan);
TACIT_API tacit_model tacit_plan_model(const tacit_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
