/* LDP-OBI [GPPP21, recalled through its successors].
 *
 * With precision levels c_N, c_P, c_R of visits, moves and rewards (the paper's c2 = c3, c4 and c1;
 * equal for equal noise), k users so far, den = N + alpha c_N:
 *     P = M / den,  r = R / den,  l = ln(4 pi^2 S A H k^3 / (3 beta)),
 *     b_r = sqrt(2 l / den) + ((alpha + 1) c_N + c_R) / den
 *     b_p = sqrt(14 S l / den) + (S c_P + (alpha + 1) c_N) / den,      Q = r + b_r + (H - h + 1) b_p + P V,
 * capped at H - h + 1. Printed levels: c(k) = b sqrt(8 ln(2/eta_k)) max(sqrt k, sqrt(ln(2/eta_k))),
 * b = 6 H / epsilon, eta_k = 6 beta / (pi^2 k^2 4 S A (S + 2)). den is kept at 1 or more: below it
 * the estimate says nothing.
 *
 * With a bonus scale below 1 the bonus does not cover the noise, so there P, the value of unknown pairs and a
 * width of the noise are those of plan/noisy_rows.h, as in private_ucb.c. */
#include "plan/papers/ldp_obi.h"

#include <math.h>

#include "base/error.h"
#include "plan/induct.h"
#include "plan/noisy_rows.h"

typedef struct ldp_obi {
    tacit__induction in;
    double alpha;
    bool lacks_optimism;          /* the bonus does not cover the noise */
    double *scratch;              /* [2 S] */
    const tacit__counts *release; /* during a plan */
} ldp_obi;

static tacit_status create(tacit__space space, const tacit__planner_options *options,
                           const tacit__values *own, void **out, tacit_error *err)
{
    TACIT__REQUIRE(space.tables == 1);
    (void)err;
    ldp_obi p = {.in = tacit__induction_begin(space, options, space.tables, false),
                 .alpha = tacit__value_real(own, "alpha"),
                 .lacks_optimism = options->bonus_scale < 1 && !options->reproduces};
    const tacit__piece arrays[] = {TACIT__PIECE(p.scratch, 2 * space.n_states)};
    return tacit__induction_allocate(&p, sizeof p, arrays, 1, out);
}

static double printed_level(const tacit__induction *in, double k)
{
    const double s = (double)in->space.n_states, a = (double)in->space.n_actions;
    double log_term = log(M_PI * M_PI * k * k * 4 * s * a * (s + 2) / (3 * in->options.failure));
    return in->options.printed_scale * sqrt(8 * log_term) * fmax(sqrt(k), sqrt(log_term));
}

static void add_noise(void *planner, size_t h, const double *mean, const double *variance,
                      double *q)
{
    const ldp_obi *p = planner;
    (void)variance;
    if (p->lacks_optimism && p->release->moves_stddev > 0)
        tacit__add_noise_width(&p->in, p->release, TACIT__NOISE_SCALE, h, p->release->visits, mean,
                               q);
}

static void set_chances(ldp_obi *p, const tacit__counts *c, size_t row, double den)
{
    const size_t n_states = p->in.space.n_states;
    const double *moves = c->moves + row * n_states;
    double *transitions = tacit__induction_row(&p->in, row);
    if (p->lacks_optimism)
        tacit__estimate_chances(moves, n_states, c->visits[row], p->scratch, transitions);
    else
        for (size_t next = 0; next < n_states; next++)
            transitions[next * TACIT__BLOCK] = moves[next] / den;
}

static void estimate(ldp_obi *p, const tacit__counts *c)
{
    tacit__induction *in = &p->in;
    const tacit__space sp = in->space;
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
    for (size_t row = 0; row < in->pairs; row++) {
        double n = c->visits[row], den = fmax(1, n + alpha * c_n);
        double reward = (c->rewards[row] + c->center * n) / den;
        double b_r = width_r / sqrt(den) + ((alpha + 1) * c_n + c_r) / den;
        double b_p = width_p / sqrt(den) + (s * c_p + (alpha + 1) * c_n) / den;
        set_chances(p, c, row, den);
        in->fixed[row] = reward + b_r + b_p; /* H - h + 1 = (H - h) + 1 */
        in->slope[row] = b_p;
        if (p->lacks_optimism && n + alpha * c_n < tacit__least_known(c))
            in->fixed[row] = 2 * h; /* above every cap: what follows is not below 0 */
    }
}

static tacit_billboard plan(void *planner, const tacit__counts *c)
{
    TACIT__REQUIRE(c->moves != NULL && c->visits_error >= 0);
    ldp_obi *p = planner;
    if (c->again)
        return tacit__induction_repeat(&p->in);
    estimate(p, c);
    p->release = c;
    tacit_billboard board = tacit__induction_run(&p->in, add_noise, p);
    p->release = NULL;
    return board;
}

const tacit__planner tacit__ldp_obi = {
    .create = create,
    .destroy = tacit__workspace_destroy,
    .plan = plan,
    .fields = tacit__induction_fields,
};
