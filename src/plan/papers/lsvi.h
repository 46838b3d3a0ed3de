/* LSVI-UCB: least-squares value iteration with optimism, from released Gram matrices and responses.
 *
 * A switch of policy goes backwards through the steps. For h = H, ..., 1 the planner says V_{h+1},
 * the curator answers with the response u_h = sum phi_h (r_h + V_{h+1}(s')), noisy, and the planner
 * makes w_h, Q_h and V_h of it. */
#ifndef TACIT_PLAN_PAPERS_LSVI_H
#define TACIT_PLAN_PAPERS_LSVI_H

#include <tacit/billboard.h>
#include <tacit/status.h>

#include "base/bytes.h"
#include "board/linear_space.h"
#include "linalg/optimism.h"

typedef struct tacit__lsvi_options {
    tacit__linear_space space; /* its table must outlive the planner */
    tacit__lsvi_schedule schedule;
    uint64_t switches;    /* at most */
    double switch_factor; /* DOUBLING: of the determinant; RAYLEIGH: of the largest eigenvalue */
    bool from_last;    /* DOUBLING: since the last switch; else since the largest at any switch */
    double ridge;      /* added to the diagonals of Gram matrices: lambda and the shift */
    double floor;      /* their eigenvalues are raised to this; 0: they need not be (no noise) */
    double bonus;      /* beta, in units of a target's range */
    const double *cap; /* [H]: largest value of step h; copied */
    double center;     /* of responses: see tacit__target_unit */
} tacit__lsvi_options;

typedef struct tacit__lsvi tacit__lsvi;

TACIT_MUST_USE tacit_status tacit__lsvi_create(const tacit__lsvi_options *options,
                                               tacit__lsvi **out);
void tacit__lsvi_destroy(tacit__lsvi *planner);

/* Returns whether it is time for a new policy, given the released Gram matrices
 * [tacit__gram_count][tacit__gram_size]. A
 * function of releases alone. Never after `switches` of them. */
bool tacit__lsvi_is_due(tacit__lsvi *planner, const double *gram);

/* A switch: the Gram matrices, then for h = H-1, ..., 0 the values that come after step h, and the
 * response. */
void tacit__lsvi_begin(tacit__lsvi *planner, const double *gram);

/* V_{h+1}: [S] if states are numbered, else a function of features, to be maximized over actions;
 * both NULL after the last step, where it is 0. */
typedef struct tacit__lsvi_values {
    const double *table;
    const tacit__optimism *function;
} tacit__lsvi_values;
tacit__lsvi_values tacit__lsvi_next(const tacit__lsvi *planner, size_t h);

void tacit__lsvi_fit(tacit__lsvi *planner, size_t h, const double *response,
                     tacit__target_unit unit);
void tacit__lsvi_end(tacit__lsvi *planner);

/* Replaces `end` if a response did not come: the last policy stays. */
void tacit__lsvi_cancel(tacit__lsvi *planner);

/* The billboard: uniform before the first switch. No table where states are not numbered. */
tacit_billboard tacit__lsvi_board(const tacit__lsvi *planner);

/* The choice at step h among features[A][d] as users know them; chance in [0, 1) decides before the
 * first switch. */
void tacit__lsvi_act(tacit__lsvi *planner, size_t h, const double *features, double chance,
                     uint32_t *action, double *probability);

/* Returns whether there were as many switches as there can be. */
bool tacit__lsvi_is_done(const tacit__lsvi *planner);

/* Returns, for tests, the logarithm of det(Gram + ridge) of Gram matrix g, -HUGE_VAL if that is not
 * positive definite. */
double tacit__lsvi_log_det(tacit__lsvi *planner, const double *gram, size_t g);

/* All that changes, as part of a saved state (base/bytes.h). */
void tacit__lsvi_fields(tacit__lsvi *planner, tacit__saved *s);

#endif
