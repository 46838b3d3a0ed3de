/* See score_planner.h. Plans are made by backward induction, with one xi for all steps: independent
 * draws for each step never explore far. Ties are broken by chance: before there are data nearly everything
 * ties.
 *
 * Of a batch, the first users, `quota` of them, take turns with the exploring plans, the others with the
 * steady ones, whose xi is smaller or 0. The last batch, of which nothing is released, acts greedily. A
 * learner that explores and then commits acts at random in the first batch, and greedily after it. */
#include "plan/posterior/score_planner.h"

#include "base/error.h"
#include "base/workspace.h"
#include "plan/public_chance.h"

struct tacit__score_planner {
    const tacit__score_belief *kind;
    void *posterior;
    tacit__batch_plans *batches;
    size_t n_states, n_actions, horizon;
    double *q;      /* [horizon][state][action] */
    double *values; /* [2][state] */
};

static void make_plan(void *self, double xi, uint64_t *chance, uint32_t *policy)
{
    tacit__score_planner *p = self;
    const size_t S = p->n_states, A = p->n_actions, H = p->horizon;
    double *after = p->values, *here = p->values + S;
    for (size_t h = H; h-- > 0;) {
        double *q = p->q + h * S * A;
        p->kind->write_q(p->posterior, h, xi, h + 1 < H ? after : NULL, q);
        for (size_t s = 0; s < S; s++) {
            const uint32_t action = tacit__chance_best_near(q + s * A, A, chance);
            policy[h * S + s] = action;
            here[s] = q[s * A + action];
        }
        double *swapped = after;
        after = here;
        here = swapped;
    }
}

tacit_status tacit__score_planner_create(const tacit__score_belief *kind, void *posterior,
                                         const tacit__batch_plans_options *o,
                                         tacit__score_planner **out)
{
    TACIT__REQUIRE(posterior != NULL && o->n_states > 0 && o->n_actions > 0 && o->horizon > 0);
    tacit__score_planner w = {.kind = kind,
                              .posterior = posterior,
                              .n_states = o->n_states,
                              .n_actions = o->n_actions,
                              .horizon = o->horizon};
    tacit__score_planner *p =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.q, o->horizon * o->n_states * o->n_actions),
                         TACIT__PIECE(w.values, 2 * o->n_states));
    if (p == NULL) {
        kind->destroy(posterior);
        return TACIT_NO_MEMORY;
    }
    tacit_status status = tacit__batch_plans_create(o, &p->batches);
    if (status != TACIT_OK) {
        tacit__score_planner_destroy(p);
        return status;
    }
    tacit__batch_plans_make(p->batches, make_plan, p);
    *out = p;
    return TACIT_OK;
}

void tacit__score_planner_destroy(tacit__score_planner *p)
{
    if (p != NULL) {
        tacit__batch_plans_destroy(p->batches);
        p->kind->destroy(p->posterior);
    }
    tacit__workspace_destroy(p);
}

void tacit__score_planner_absorb(tacit__score_planner *p, const tacit__score_sums *shown)
{
    size_t n;
    tacit__batch_plans_end(p->batches, shown);
    const tacit__played_batch *over = tacit__batch_plans_finished(p->batches, &n);
    p->kind->fit(p->posterior, over, n);
    tacit__batch_plans_make(p->batches, make_plan, p);
}

tacit__batch_plans *tacit__score_planner_batches(const tacit__score_planner *p)
{
    return p->batches;
}

/* Of the posterior only what the next fit begins with: the rest is made anew with the next release, and no
 * plan is made before it. */
size_t tacit__score_planner_fields(tacit__score_planner *p, tacit__saved *s)
{
    p->kind->fields(p->posterior, s);
    return tacit__batch_plans_fields(p->batches, s);
}

void tacit__score_planner_plan(tacit__score_planner *p, double xi, uint32_t *policy)
{
    TACIT__REQUIRE(xi >= 0);
    make_plan(p, xi, tacit__batch_plans_chance(p->batches), policy);
}

const double *tacit__score_planner_q(const tacit__score_planner *p)
{
    return p->q;
}

const void *tacit__score_planner_belief(const tacit__score_planner *p)
{
    return p->posterior;
}
