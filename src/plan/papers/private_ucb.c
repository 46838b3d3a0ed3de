/* Private-UCB-VI and -PO [CZ22, recalled through its successors].
 *
 * den = max(1, N + e_N), P = M / den, r = R / den; P need not sum to one. With L = sqrt(2 ln(4 S A
 * T / beta)):
 *     VI   b = L / sqrt(den) + (e_R + 2 e_N) / den + H [L / sqrt(den) + (S e_P + 2 e_N) / den]
 *     PO   b = L / sqrt(den) + (e_R + 2 e_N) / den + H [sqrt(4 S ln(6 S A T / beta) / den) + (S e_P + 2 e_N) / den]
 * where e are the curator's error levels. As printed, E1 stands for e_N and e_R and E2 for e_P:
 *     E1 = (3 H / epsilon) sqrt(8 t ln(6 S A T / beta)),   E2 = (3 H / epsilon) sqrt(8 t ln(6 S^2 A T / beta)),
 * with t = log2(K)^3 under joint privacy and K under local privacy. Q is clipped to [0, H - h + 1];
 * the paper's H is equally valid and larger. No running minimum.
 *
 * With a bonus scale below 1 the bonus no longer covers what noise does to these ratios, so there P is that
 * of plan/noisy_rows.h, which sums to one; Q of a pair of which nothing is known is its cap; and Q has
 *     TACIT__NOISE_SCALE sqrt(s_P^2 sum_s' (V(s') - P V)^2 + s_R^2) / (N + s_N)
 * more, where s are standard deviations. Ratios to N err by the value of everything that follows times the
 * noise of a row's sum, which was most of the regret, and noise alone led to rows that nobody had visited
 * (docs/why/tabular.md#rows-that-sum-to-one).
 *
 * PO keeps log-weights; the policy of episode k is the one before the update with episode k's counts:
 * pi <- pi exp(eta Q). Cost H S A (2 S + 12) flops, and H S A exponentials for PO. */
#include "plan/papers/private_ucb.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "plan/induct.h"
#include "plan/noisy_rows.h"

/* Of the theorem's step, which K users are too few for; docs/why/tabular.md. */
#define PRACTICAL_STEP 60

typedef struct private_ucb {
    tacit__induction in;
    double *mixed, *log_weight; /* PO: [H][S][A]; VI: NULL */
    double reward_width, transition_width, eta;
    double printed_visits, printed_moves; /* E1, E2; 0: the curator's levels */
    bool lacks_optimism;                  /* the bonus does not cover the noise */
    double *scratch;                      /* [2 S] */
    const tacit__counts *release;         /* during a plan */
} private_ucb;

static tacit_status create(tacit__space space, const tacit__planner_options *o, bool po,
                           double step_size, void **out)
{
    TACIT__REQUIRE(o->episodes > 0);
    const double h = (double)space.horizon, s = (double)space.n_states, a = (double)space.n_actions;
    const double k = (double)o->episodes, t = h * k, terms = o->joint ? pow(log2(k), 3) : k;
    private_ucb p = {
        .in = tacit__induction_begin(space, o, space.tables, false),
        .reward_width = o->bonus_scale * sqrt(2 * log(4 * s * a * t / o->failure)),
        .printed_visits = o->printed_scale * sqrt(8 * terms * log(6 * s * a * t / o->failure)),
        .printed_moves = o->printed_scale * sqrt(8 * terms * log(6 * s * s * a * t / o->failure)),
        .lacks_optimism = o->bonus_scale < 1 && !o->reproduces};
    p.eta = step_size > 0
                ? step_size
                : (p.lacks_optimism ? PRACTICAL_STEP : 1) * sqrt(2 * log(a) / (h * h * k));
    p.transition_width =
        po ? o->bonus_scale * sqrt(4 * s * log(6 * s * a * t / o->failure)) : p.reward_width;
    const tacit__piece own[] = {TACIT__PIECE(p.scratch, 2 * space.n_states),
                                TACIT__PIECE_IF(po, p.mixed, space.horizon * p.in.pairs),
                                TACIT__PIECE_IF(po, p.log_weight, space.horizon * p.in.pairs)};
    return tacit__induction_allocate(&p, sizeof p, own, 3, out);
}

static tacit_status create_vi(tacit__space space, const tacit__planner_options *options,
                              const tacit__values *own, void **out, tacit_error *err)
{
    (void)own, (void)err;
    return create(space, options, false, 0, out);
}

static tacit_status create_po(tacit__space space, const tacit__planner_options *options,
                              const tacit__values *own, void **out, tacit_error *err)
{
    (void)err;
    return create(space, options, true, tacit__value_real(own, "step_size"), out);
}

static void estimate(private_ucb *p, const tacit__counts *c)
{
    TACIT__REQUIRE(c->moves != NULL && c->visits_error >= 0);
    const tacit__space sp = p->in.space;
    const size_t pairs = p->in.pairs, rows = sp.tables * pairs;
    const size_t with_moves = (sp.tables - c->drop_last) * pairs;
    const double h = (double)sp.horizon, s = (double)sp.n_states, scale = p->in.options.error_scale;
    const bool printed = p->in.options.printed_scale > 0;
    const double e_n = scale * (printed ? p->printed_visits : c->visits_error),
                 e_p = scale * (printed ? p->printed_moves : c->moves_error),
                 e_r = scale * (printed ? p->printed_visits : c->rewards_error);
    for (size_t row = 0; row < rows; row++) {
        double visits = c->visits[row], den = fmax(1, visits + e_n), root = 1 / sqrt(den);
        double *transitions = tacit__induction_row(&p->in, row);
        const double *moves = row < with_moves ? c->moves + row * sp.n_states : NULL;
        if (p->lacks_optimism && moves != NULL)
            tacit__estimate_chances(moves, sp.n_states, visits, p->scratch, transitions);
        else
            for (size_t next = 0; next < sp.n_states && moves != NULL; next++)
                transitions[next * TACIT__BLOCK] = moves[next] / den;
        double reward = (c->rewards[row] + c->center * visits) / den;
        p->in.fixed[row] = reward + p->reward_width * root + (e_r + 2 * e_n) / den +
                           h * (p->transition_width * root + (s * e_p + 2 * e_n) / den);
        if (p->lacks_optimism && visits + e_n < tacit__least_known(c))
            p->in.fixed[row] = 2 * h; /* above every cap: what follows is not below 0 */
    }
}

static void add_noise(void *planner, size_t h, const double *mean, const double *variance,
                      double *q)
{
    const private_ucb *p = planner;
    (void)variance;
    if (p->lacks_optimism && p->release->moves_stddev > 0)
        tacit__add_noise_width(&p->in, p->release, TACIT__NOISE_SCALE, h,
                               p->release->visits + (p->in.space.tables == 1 ? 0 : h) * p->in.pairs,
                               mean, q);
}

/* pi of step h and state s from its log-weights, largest subtracted. */
static void exponentiate(const double *log_weight, size_t n, double *pi)
{
    double most = log_weight[0], total = 0;
    for (size_t a = 1; a < n; a++)
        most = fmax(most, log_weight[a]);
    for (size_t a = 0; a < n; a++)
        total += pi[a] = exp(log_weight[a] - most);
    for (size_t a = 0; a < n; a++)
        pi[a] /= total;
}

static tacit_billboard plan_po(void *planner, const tacit__counts *c)
{
    private_ucb *p = planner;
    const tacit__space sp = p->in.space;
    const size_t pairs = p->in.pairs;
    if (!c->again)
        estimate(p, c);
    p->release = c;
    for (size_t h = sp.horizon; h-- > 0;) {
        double *log_weight = p->log_weight + h * pairs, *pi = p->mixed + h * pairs;
        double *values = p->in.values + h * sp.n_states;
        const double cap = (double)(sp.horizon - h);
        tacit__induction_step(&p->in, h, add_noise, p);
        for (size_t s = 0; s < sp.n_states; s++) {
            double *q = p->in.trial + s * sp.n_actions, *w = log_weight + s * sp.n_actions;
            double *mix = pi + s * sp.n_actions;
            exponentiate(w, sp.n_actions, mix); /* the policy of this episode */
            values[s] = 0;
            for (size_t a = 0; a < sp.n_actions; a++) {
                double clipped = fmin(cap, fmax(0, q[a]));
                values[s] += mix[a] * clipped;
                w[a] += p->eta * clipped; /* for the next one */
            }
        }
    }
    p->release = NULL;
    p->in.version++;
    return (tacit_billboard){.version = p->in.version, .mixed = p->mixed};
}

static tacit_billboard plan_vi(void *planner, const tacit__counts *c)
{
    private_ucb *p = planner;
    if (c->again)
        return tacit__induction_repeat(&p->in);
    estimate(p, c);
    p->release = c;
    tacit_billboard board = tacit__induction_run(&p->in, add_noise, p);
    p->release = NULL;
    return board;
}

static void fields_po(void *planner, tacit__saved *s)
{
    private_ucb *p = planner;
    tacit__saved_reals(s, p->log_weight, p->in.space.horizon * p->in.pairs, TACIT__MOST_SUM);
    tacit__induction_fields(p, s);
}

const tacit__planner tacit__private_ucb_vi = {
    .create = create_vi,
    .destroy = tacit__workspace_destroy,
    .plan = plan_vi,
    .fields = tacit__induction_fields,
};

const tacit__planner tacit__private_ucb_po = {
    .create = create_po,
    .destroy = tacit__workspace_destroy,
    .plan = plan_po,
    .fields = fields_po,
};
