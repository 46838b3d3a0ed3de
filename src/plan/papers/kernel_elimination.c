/* See kernel_elimination.h. Epochs as in CAPRI; the posterior is of the epoch's own data
 * (docs/why/kernel.md#the-posterior-without-privacy):
 *     width(w) = omega sigma(w) (B + (R / sqrt(tau)) z),  R = 1/2,  z = sqrt(2 ln(2 N epochs / p)),
 * and actions whose upper end is below the context's largest lower end are dropped. Playing the
 * action of largest variance instead of a uniform one is BPE [LS22]: variances do not depend on
 * rewards, so the epoch's choices stay independent of its noise. It costs n^2 a step, uniform play
 * n^3 an epoch. */
#include "plan/papers/kernel_elimination.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

tacit_status tacit__kernel_elimination_create(const tacit__kernel_elimination_options *options,
                                              tacit__gaussian_process *posterior,
                                              tacit__kernel_elimination **out)
{
    const size_t n = posterior->n;
    tacit__kernel_elimination w = {.o = *options, .posterior = posterior};
    TACIT__REQUIRE(options->n_epochs > 0 &&
                   options->n_epochs <= sizeof w.length / sizeof *w.length);
    memcpy(w.length, options->lengths, options->n_epochs * sizeof *w.length);
    tacit__kernel_elimination *p = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.active, n), TACIT__PIECE(w.mixed, n), TACIT__PIECE(w.guess, n));
    if (p == NULL)
        return TACIT_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        p->active[i] = true;
        p->mixed[i] = 1 / (double)posterior->pairs.n_actions;
    }
    *out = p;
    return TACIT_OK;
}

void tacit__kernel_elimination_destroy(tacit__kernel_elimination *p)
{
    tacit__workspace_destroy(p);
}

uint32_t tacit__kernel_elimination_least_known(const tacit__kernel_elimination *p, size_t state)
{
    TACIT__REQUIRE(state < p->posterior->pairs.n_contexts);
    const tacit__gaussian_process *q = p->posterior;
    double most = -1;
    uint32_t action = 0;
    for (uint32_t a = 0; a < q->pairs.n_actions; a++) {
        size_t w = state * q->pairs.n_actions + a;
        double variance = q->variance[w];
        if (p->active[w] && variance > most) {
            most = variance;
            action = a;
        }
    }
    return action;
}

static void eliminate(tacit__kernel_elimination *p)
{
    const tacit__gaussian_process *q = p->posterior;
    const size_t A = q->pairs.n_actions;
    double n = 0;
    for (size_t w = 0; w < q->n; w++)
        n += p->active[w];
    double z = sqrt(2 * log(2 * n * (double)p->o.n_epochs / p->o.failure));
    double factor = p->o.bonus_scale * (p->o.norm + 0.5 / sqrt(q->tau) * z);
    for (size_t c = 0; c < q->pairs.n_contexts; c++) {
        double highest = -HUGE_VAL;
        for (size_t w = c * A; w < (c + 1) * A; w++)
            if (p->active[w])
                highest = fmax(highest, q->mean[w] - factor * sqrt(fmax(0, q->variance[w])));
        for (size_t w = c * A; w < (c + 1) * A; w++)
            p->active[w] =
                p->active[w] && q->mean[w] + factor * sqrt(fmax(0, q->variance[w])) >= highest;
    }
}

static void set_policy(tacit__kernel_elimination *p)
{
    const size_t A = p->posterior->pairs.n_actions;
    bool greedy = p->o.greedy && p->epoch + 1 == p->o.n_epochs;
    for (size_t c = 0; c < p->posterior->pairs.n_contexts; c++) {
        size_t m = 0, best = c * A;
        for (size_t w = c * A; w < (c + 1) * A; w++) {
            m += p->active[w];
            if (p->active[w] && (!p->active[best] || p->guess[w] > p->guess[best]))
                best = w;
        }
        for (size_t w = c * A; w < (c + 1) * A; w++)
            p->mixed[w] = greedy ? w == best : p->active[w] ? 1 / (double)m : 0;
    }
}

bool tacit__kernel_elimination_add(tacit__kernel_elimination *p, size_t pair, double y)
{
    TACIT__REQUIRE(pair < p->posterior->n);
    bool last = p->epoch + 1 == p->o.n_epochs;
    if (!last)
        tacit__gaussian_process_add(p->posterior, pair, y, !p->o.by_variance);
    if (++p->in_epoch < p->length[p->epoch] || last)
        return !last && p->o.by_variance;
    if (!p->o.by_variance)
        tacit__gaussian_process_solve(p->posterior);
    memcpy(p->guess, p->posterior->mean, p->posterior->n * sizeof *p->guess);
    eliminate(p);
    p->epoch++;
    p->in_epoch = 0;
    set_policy(p);
    tacit__gaussian_process_clear(p->posterior);
    return true;
}
