/* LDP-OBI [GPPP21, recalled through its successors].
 *
 * With precision levels c_N, c_P, c_R of visits, moves and rewards (the paper's c2 = c3, c4 and c1;
 * equal for equal noise), k users so far, den = N + alpha c_N:
 *     P = M / den,  r = R / den,  l = ln(4 pi^2 S A H k^3 / (3 beta)),
 *     b_r = sqrt(2 l / den) + ((alpha + 1) c_N + c_R) / den
 *     b_p = sqrt(14 S l / den) + (S c_P + (alpha + 1) c_N) / den,      Q = r + b_r + (H - h + 1) b_p + P V,
 * capped at H - h + 1. Printed levels: c(k) = b sqrt(8 ln(2/eta_k)) max(sqrt k, sqrt(ln(2/eta_k))),
 * b = 6 H / epsilon, eta_k = 6 beta / (pi^2 k^2 4 S A (S + 2)). den is kept at 1 or more: below it
 * the estimate says nothing. */
#include "plan/ldp_obi.h"

#include <math.h>

#include "base/error.h"
#include "plan/induct.h"

typedef struct ldp_obi {
    tacit__induction in;
    double alpha;
} ldp_obi;

static tacit_status create(tacit__space space, const tacit__planner_options *options,
                           const tacit__values *own, void **out, tacit_error *err)
{
    TACIT__REQUIRE(space.tables == 1);
    (void)err;
    ldp_obi p = {.in = tacit__induction_begin(space, options, space.tables, false),
                 .alpha = tacit__value_real(own, "alpha")};
    return tacit__induction_allocate(&p, sizeof p, NULL, 0, out);
}

static double printed_level(const tacit__induction *in, double k)
{
    const double s = (double)in->space.n_states, a = (double)in->space.n_actions;
    double log_term = log(M_PI * M_PI * k * k * 4 * s * a * (s + 2) / (3 * in->options.failure));
    return in->options.printed_scale * sqrt(8 * log_term) * fmax(sqrt(k), sqrt(log_term));
}

static tacit_billboard plan(void *planner, const tacit__counts *c)
{
    TACIT__REQUIRE(c->moves != NULL && c->visits_error >= 0);
    ldp_obi *p = planner;
    tacit__induction *in = &p->in;
    if (c->again)
        return tacit__induction_repeat(in);
    const tacit__space sp = in->space;
    const size_t pairs = in->pairs, rows = sp.tables * pairs;
    const double h = (double)sp.horizon, s = (double)sp.n_states, a = (double)sp.n_actions;
    const double k = fmax(1, (double)c->users), alpha = p->alpha, scale = in->options.error_scale;
    double c_n = c->visits_error, c_p = c->moves_error, c_r = c->rewards_error;
    if (in->options.printed_scale > 0)
        c_n = c_p = c_r = printed_level(in, k);
    c_n *= scale;
    c_p *= scale;
    c_r *= scale;
    const double log_term =
        log(4 * M_PI * M_PI * s * a * h * k * k * k / (3 * in->options.failure));
    const double width_r = in->options.bonus_scale * sqrt(2 * log_term);
    const double width_p = in->options.bonus_scale * sqrt(14 * s * log_term);
    for (size_t row = 0; row < rows; row++) {
        double n = c->visits[row];
        double den = fmax(1, n + alpha * c_n);
        double *transitions = tacit__induction_row(in, row);
        for (size_t next = 0; next < sp.n_states; next++)
            transitions[next * TACIT__BLOCK] = c->moves[row * sp.n_states + next] / den;
        double reward = (c->rewards[row] + c->center * n) / den;
        double b_r = width_r / sqrt(den) + ((alpha + 1) * c_n + c_r) / den;
        double b_p = width_p / sqrt(den) + (s * c_p + (alpha + 1) * c_n) / den;
        in->fixed[row] = reward + b_r + b_p; /* H - h + 1 = (H - h) + 1 */
        in->slope[row] = b_p;
    }
    return tacit__induction_run(in, NULL, NULL);
}

const tacit__planner tacit__ldp_obi = {
    .create = create,
    .destroy = tacit__workspace_destroy,
    .plan = plan,
    .fields = tacit__induction_fields,
};
