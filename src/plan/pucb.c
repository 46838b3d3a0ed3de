/* PUCB [VBKW20, recalled through its successors].
 *
 * With E the error level, beta' = beta / 9: where N >= 2 E,
 *     Q = (R + sum V M) / N + (H + 1) sqrt(2 ln(K / beta') / max(N - E, 1)) + (1 + S H) (3 E / N + 2 E^2 / N^2),
 * capped; elsewhere Q is its cap. The threshold reads a noisy count, so it is private. E is the largest of the curator's
 * levels, or as printed E = (3 H / epsilon) ln((2 S A H + S^2 A H) / beta') ln(K)^(5/2), which exceeds K for epsilon <= 1,
 * K = 50,000, H = 20, so that Q never leaves its cap: error_scale is there for that. */
#include "plan/pucb.h"

#include <math.h>

#include "base/memory.h"
#include "plan/induct.h"

struct tacit__pucb {
    tacit__pucb_options options;
    tacit__induction in;
};

void tacit__pucb_destroy(tacit__pucb *p)
{
    if (p != NULL)
        tacit__induction_destroy(&p->in);
    tacit__free(p);
}

tacit_status tacit__pucb_create(tacit__space space, const tacit__pucb_options *options,
                                tacit__pucb **out)
{
    tacit__pucb *p = tacit__alloc(1, sizeof *p);
    if (p == NULL)
        return TACIT_NO_MEMORY;
    p->options = *options;
    tacit_status status =
        tacit__induction_create(space, space.tables, false, options->tie_seed, &p->in);
    if (status != TACIT_OK) {
        tacit__pucb_destroy(p);
        return status;
    }
    *out = p;
    return TACIT_OK;
}

static double printed_level(const tacit__pucb *p)
{
    const tacit__space sp = p->in.space;
    const double h = (double)sp.horizon, s = (double)sp.n_states, a = (double)sp.n_actions;
    return p->options.printed_scale *
           log((2 * s * a * h + s * s * a * h) * 9 / p->options.failure) *
           pow(log((double)p->options.episodes), 2.5);
}

tacit_billboard tacit__pucb_plan(tacit__pucb *p, const tacit__counts *c)
{
    const tacit__space sp = p->in.space;
    const size_t pairs = p->in.pairs, rows = sp.tables * pairs;
    const size_t with_moves = (sp.tables - c->drop_last) * pairs;
    const double h = (double)sp.horizon, s = (double)sp.n_states;
    double level = p->options.printed_scale > 0
                       ? printed_level(p)
                       : fmax(c->visits_error, fmax(c->moves_error, c->rewards_error));
    level *= p->options.error_scale;
    const double log_term = 2 * log((double)p->options.episodes * 9 / p->options.failure);
    for (size_t row = 0; row < rows; row++) {
        double n = c->visits[row];
        bool known = n >= 2 * level && n > 0;
        double *transitions = tacit__induction_row(&p->in, row);
        for (size_t next = 0; next < sp.n_states && row < with_moves; next++)
            transitions[next * TACIT__BLOCK] = known ? c->moves[row * sp.n_states + next] / n : 0;
        p->in.fixed[row] =
            known ? c->centre + c->rewards[row] / n +
                        p->options.bonus_scale * (h + 1) * sqrt(log_term / fmax(n - level, 1)) +
                        (1 + s * h) * (3 * level / n + 2 * level * level / (n * n))
                  : HUGE_VAL;
    }
    tacit__induction_run(&p->in, NULL, NULL);
    return (tacit_billboard){.version = p->in.version, .policy = p->in.policy};
}

void tacit__pucb_save(const tacit__pucb *p, tacit__writer *w)
{
    tacit__induction_save(&p->in, w);
}

bool tacit__pucb_load(tacit__pucb *p, tacit__reader *r)
{
    return tacit__induction_load(&p->in, r);
}
