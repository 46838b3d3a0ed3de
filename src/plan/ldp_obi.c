/* LDP-OBI [GPPP21, recalled through its successors].
 *
 * With precision levels c_N, c_P, c_R of visits, moves and rewards (the paper's c2 = c3, c4 and c1; equal for equal
 * noise), k users so far, den = N + alpha c_N:
 *     P = M / den,  r = R / den,  l = ln(4 pi^2 S A H k^3 / (3 beta)),
 *     b_r = sqrt(2 l / den) + ((alpha + 1) c_N + c_R) / den
 *     b_p = sqrt(14 S l / den) + (S c_P + (alpha + 1) c_N) / den,      Q = r + b_r + (H - h + 1) b_p + P V,
 * capped at H - h + 1. Printed levels: c(k) = b sqrt(8 ln(2/eta_k)) max(sqrt k, sqrt(ln(2/eta_k))), b = 6 H / epsilon,
 * eta_k = 6 beta / (pi^2 k^2 4 S A (S + 2)). den is kept at 1 or more: below it the estimate says nothing. */
#include "plan/ldp_obi.h"

#include <math.h>

#include "base/memory.h"
#include "plan/induct.h"

struct tacit__ldp_obi {
    tacit__ldp_obi_options options;
    tacit__induction in;
};

void tacit__ldp_obi_destroy(tacit__ldp_obi *p)
{
    if (p != NULL)
        tacit__induction_destroy(&p->in);
    tacit__free(p);
}

tacit_status tacit__ldp_obi_create(tacit__space space, const tacit__ldp_obi_options *options,
                                   tacit__ldp_obi **out)
{
    tacit__ldp_obi *p = tacit__alloc(1, sizeof *p);
    if (p == NULL)
        return TACIT_NO_MEMORY;
    p->options = *options;
    tacit_status status =
        tacit__induction_create(space, space.tables, false, options->tie_seed, &p->in);
    if (status != TACIT_OK) {
        tacit__ldp_obi_destroy(p);
        return status;
    }
    *out = p;
    return TACIT_OK;
}

static double printed_level(const tacit__ldp_obi *p, double k)
{
    const double s = (double)p->in.space.n_states, a = (double)p->in.space.n_actions;
    double log_term = log(M_PI * M_PI * k * k * 4 * s * a * (s + 2) / (3 * p->options.failure));
    return p->options.printed_scale * sqrt(8 * log_term) * fmax(sqrt(k), sqrt(log_term));
}

tacit_billboard tacit__ldp_obi_plan(tacit__ldp_obi *p, const tacit__counts *c)
{
    const tacit__space sp = p->in.space;
    const size_t pairs = p->in.pairs, rows = sp.tables * pairs;
    const double h = (double)sp.horizon, s = (double)sp.n_states, a = (double)sp.n_actions;
    const double k = fmax(1, (double)c->users), alpha = p->options.alpha,
                 scale = p->options.error_scale;
    double c_n = c->visits_error, c_p = c->moves_error, c_r = c->rewards_error;
    if (p->options.printed_scale > 0)
        c_n = c_p = c_r = printed_level(p, k);
    c_n *= scale;
    c_p *= scale;
    c_r *= scale;
    const double log_term = log(4 * M_PI * M_PI * s * a * h * k * k * k / (3 * p->options.failure));
    const double width_r = p->options.bonus_scale * sqrt(2 * log_term);
    const double width_p = p->options.bonus_scale * sqrt(14 * s * log_term);
    for (size_t row = 0; row < rows; row++) {
        double n = c->visits[row];
        double den = fmax(1, n + alpha * c_n);
        double *transitions = tacit__induction_row(&p->in, row);
        for (size_t next = 0; next < sp.n_states; next++)
            transitions[next * TACIT__BLOCK] = c->moves[row * sp.n_states + next] / den;
        double reward = (c->rewards[row] + c->centre * n) / den;
        double b_r = width_r / sqrt(den) + ((alpha + 1) * c_n + c_r) / den;
        double b_p = width_p / sqrt(den) + (s * c_p + (alpha + 1) * c_n) / den;
        p->in.fixed[row] = reward + b_r + b_p; /* H - h + 1 = (H - h) + 1 */
        p->in.slope[row] = b_p;
    }
    tacit__induction_run(&p->in, NULL, NULL);
    return (tacit_billboard){.version = p->in.version, .policy = p->in.policy};
}

void tacit__ldp_obi_save(const tacit__ldp_obi *p, tacit__writer *w)
{
    tacit__induction_save(&p->in, w);
}

bool tacit__ldp_obi_load(tacit__ldp_obi *p, tacit__reader *r)
{
    return tacit__induction_load(&p->in, r);
}
