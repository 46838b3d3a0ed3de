/* The noise that a learner draws, from what passes the door: a guarantee recomputed from noise, not from what is declared of it. */
#ifndef TACIT_TESTS_DRAWN_H
#define TACIT_TESTS_DRAWN_H

#include <math.h>

#include "agents/agent_inside.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/neighbors.h"

/* Squares of released minus exact, and products of the same number's in two releases that follow each other. */
typedef struct drawn_noise {
    double sizes, squares, products, last[64];
    uint64_t n, pairs;
    bool again;
} drawn_noise;

static inline void drawn_add(void *context, const tacit__passage *p)
{
    drawn_noise *d = context;
    for (size_t i = 0; i < p->n; i++) {
        const double noise = (double)(p->released[i] - p->exact[i]) * p->lattice;
        d->sizes += fabs(noise);
        d->squares += noise * noise;
        d->products += d->again ? noise * d->last[p->offset + i] : 0;
        d->pairs += d->again;
        d->last[p->offset + i] = noise;
    }
    d->n += p->n;
    d->again = true;
}

/* So many agents learn from the crowd: a user who moves a release by `moved` loses what the guarantee allows, and hardly less, and
 * releases have noise of their own. Gaussian noise is measured by its standard deviation; Laplace noise, with delta 0, by its scale,
 * which is its mean size. */
static inline void drawn_assert(const crowd *c, uint64_t agents, double moved)
{
    drawn_noise d = {.n = 0};
    const bool pure = c->request.guarantee.delta == 0;
    double most = c->request.guarantee.epsilon;
    if (!pure)
        assert_ok(tacit_gdp_mu(c->request.guarantee.epsilon, c->request.guarantee.delta, &most));
    for (uint64_t seed = 1; seed <= agents; seed++) {
        tacit_agent *agent = agent_of(&c->request, seed);
        d.again = false;
        tacit__ledger_set_recorder(tacit__agent_ledger(agent), drawn_add, &d);
        for (size_t k = 0; k < c->n; k++) {
            const person *p = &c->people[k];
            const tacit_trajectory t = {STEPS_OF(p->states, p->actions, p->rewards)};
            assert_ok(tacit_agent_learn(agent, &t, NULL));
        }
        tacit_agent_destroy(agent);
    }
    assert_true(d.n > (pure ? 150000 : 75000)); /* 4 / sqrt(2 n) and 4 / sqrt(n) < 0.0104 */
    const double stddev = sqrt(d.squares / (double)d.n), error = 4 / sqrt((double)d.pairs);
    const double scale = pure ? d.sizes / (double)d.n : stddev;
    assert_within(moved / scale, 0.98 * most, 1.0105 * most);
    assert_within(d.products / (double)d.pairs / (stddev * stddev), -error, error);
}

#endif
