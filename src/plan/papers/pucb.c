/* PUCB [VBKW20, recalled through its successors].
 *
 * With E the error level, beta' = beta / 9: where N >= 2 E,
 *     Q = (R + sum V M) / N + (H + 1) sqrt(2 ln(K / beta') / max(N - E, 1)) + (1 + S H) (3 E / N + 2 E^2 / N^2),
 * capped; elsewhere Q is its cap. The threshold reads a noisy count, so it is private. E is the
 * largest of the curator's levels, or as printed E = (3 H / epsilon) ln((2 S A H + S^2 A H) /
 * beta') ln(K)^(5/2), which exceeds K for epsilon <= 1, K = 50,000, H = 20, so that Q never leaves
 * its cap: error_scale is there for that. */
#include "plan/papers/pucb.h"

#include <math.h>

#include "base/error.h"
#include "plan/induct.h"

static double printed_level(const tacit__induction *in)
{
    const tacit__space sp = in->space;
    const double h = (double)sp.horizon, s = (double)sp.n_states, a = (double)sp.n_actions;
    return in->options.printed_scale *
           log((2 * s * a * h + s * s * a * h) * 9 / in->options.failure) *
           pow(log((double)in->options.episodes), 2.5);
}

static tacit_billboard plan(void *planner, const tacit__counts *c)
{
    TACIT__REQUIRE(c->moves != NULL && c->visits_error >= 0);
    tacit__induction *in = planner;
    if (c->again)
        return tacit__induction_repeat(in);
    const tacit__space sp = in->space;
    const size_t pairs = in->pairs, rows = sp.tables * pairs;
    const size_t with_moves = (sp.tables - c->drop_last) * pairs;
    const double h = (double)sp.horizon, s = (double)sp.n_states;
    double level = in->options.printed_scale > 0
                       ? printed_level(in)
                       : fmax(c->visits_error, fmax(c->moves_error, c->rewards_error));
    level *= in->options.error_scale;
    const double log_term = 2 * log((double)in->options.episodes * 9 / in->options.failure);
    for (size_t row = 0; row < rows; row++) {
        double n = c->visits[row];
        bool known = n >= 2 * level && n > 0;
        double *transitions = tacit__induction_row(in, row);
        for (size_t next = 0; next < sp.n_states && row < with_moves; next++)
            transitions[next * TACIT__BLOCK] = known ? c->moves[row * sp.n_states + next] / n : 0;
        in->fixed[row] =
            known ? c->center + c->rewards[row] / n +
                        in->options.bonus_scale * (h + 1) * sqrt(log_term / fmax(n - level, 1)) +
                        (1 + s * h) * (3 * level / n + 2 * level * level / (n * n))
                  : HUGE_VAL;
    }
    return tacit__induction_run(in, NULL, NULL);
}

const tacit__planner tacit__pucb = {
    .create = tacit__induction_create,
    .destroy = tacit__workspace_destroy,
    .plan = plan,
    .fields = tacit__induction_fields,
};
