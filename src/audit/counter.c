/* See audit/counter.h. What is broken is broken here, around the sums and the door that everybody uses:
 * none of their checks is switched off. Sensitivities that are too small are declared as the caller's own
 * (which the interface allows, since a caller may know better), and noise is tampered with where audits
 * listen. */
#include "audit/counter.h"

#include <math.h>

#include "base/error.h"
#include "base/workspace.h"

typedef struct instance {
    const tacit__counter *counter;
    uint64_t users;
    tacit_plan *plan;
    tacit_ledger *ledger;
    tacit_sum *sum;
    double *x;
    size_t dimension;
} instance;

static tacit_sum_spec spec_of(const tacit__counter *c, uint64_t users)
{
    bool gaussian = c->guarantee.delta > 0;
    double norm = gaussian ? sqrt((double)c->dimension) : (double)c->dimension;
    tacit_sum_spec spec = {.mechanism = c->mechanism,
                           .law = gaussian ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE,
                           .dimension = c->dimension,
                           .users = users,
                           .bound = {.clip = c->clip}};
    double sensitivity = c->one_side ? norm : 2 * norm;
    double bound = c->unclipped ? 8 * norm : norm;
    if (c->one_side || c->unclipped) {
        spec.reason = "not true: this is a control";
        spec.sensitivity_on_lattice = true;
    }
    *(gaussian ? &spec.bound.l2 : &spec.bound.l1) = bound;
    if (gaussian)
        spec.sensitivity_l2 = c->one_side || c->unclipped ? sensitivity : 0;
    else
        spec.sensitivity_l1 = c->one_side || c->unclipped ? sensitivity : 0;
    return spec;
}

static tacit_status make_plan(const tacit__counter *c, uint64_t users, tacit_plan **out,
                              tacit_error *err)
{
    tacit_sum_spec spec = spec_of(c, users);
    tacit_release line;
    tacit_status status = tacit_plan_create(out);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit_sum_declare(&spec, "sum", &line, err);
    if (status == TACIT_OK)
        status = tacit_plan_declare(*out, &line, err);
    return status;
}

static void close(void *self)
{
    instance *i = self;
    if (i == NULL)
        return;
    tacit_sum_destroy(i->sum);
    tacit_ledger_destroy(i->ledger);
    tacit_plan_destroy(i->plan);
    tacit__workspace_destroy(i);
}

static tacit_status open(const tacit__subject *subject, uint64_t seed, void **out, tacit_error *err)
{
    const tacit__counter *c = subject->self;
    tacit_noise *noise = NULL;
    instance w = {.counter = c, .dimension = c->dimension};
    instance *i = TACIT__WORKSPACE(w, TACIT__PIECE(w.x, c->dimension));
    if (i == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit_noise_create_simulated(c->fixed_seed ? 7 : seed, &noise);
    if (status != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    /* the noise of what was declared, whatever the data */
    uint64_t users = c->overrun ? TACIT__OVERRUN * c->users : c->users;
    tacit_sum_spec spec = spec_of(c, users);
    if (status == TACIT_OK)
        status = make_plan(c, users, &i->plan, err);
    if (status == TACIT_OK)
        status = tacit_plan_set_scale(i->plan, "sum", spec.law, tacit_plan_scale(c->plan, 0), err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(i->plan, noise, &i->ledger, err);
    if (status == TACIT_OK)
        status = tacit_sum_create(&spec, i->ledger, "sum", &i->sum, err);
    tacit_noise_destroy(noise);
    if (status != TACIT_OK) {
        close(i);
        return status;
    }
    *out = i;
    return TACIT_OK;
}

static tacit_ledger *ledger(void *self)
{
    return ((instance *)self)->ledger;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    instance *i = self;
    const tacit__counter *c = i->counter;
    bool late = c->epochs && i->users >= c->users / 2 && user->actions[0] == 1;
    if (late && c->refuses_late)
        return tacit__fail(err, TACIT_LATE, "the action is out of date");
    for (size_t j = 0; j < i->dimension; j++)
        i->x[j] = late ? 0 : 2 * user->rewards[j] - 1;
    tacit_status status = tacit_sum_add(i->sum, i->x, err);
    i->users += status == TACIT_OK;
    return status;
}

void tacit__tamper_half(const tacit__subject *subject, void *memory, const tacit__passage *p)
{
    (void)subject;
    (void)memory;
    for (size_t i = 0; i < p->n; i++)
        p->released[i] = p->exact[i] + (p->released[i] - p->exact[i]) / 2;
}

void tacit__tamper_bare(const tacit__subject *subject, void *memory, const tacit__passage *p)
{
    (void)subject;
    (void)memory;
    if (p->offset == 0)
        p->released[0] = p->exact[0];
}

static void reuse(const tacit__subject *subject, void *memory, const tacit__passage *p)
{
    int64_t *draws = memory;
    (void)subject;
    for (size_t i = 0; i < p->n && p->offset + i < TACIT__TAMPER_NUMBERS; i++) {
        if (p->step == 0)
            draws[p->offset + i] = p->released[i] - p->exact[i];
        p->released[i] = p->exact[i] + draws[p->offset + i];
    }
}

tacit_status tacit__counter_open(tacit__counter *c, tacit__subject *out, tacit_error *err)
{
    TACIT__REQUIRE(c != NULL && out != NULL);
    TRY(make_plan(c, c->users, &c->plan, err));
    TRY(tacit_plan_calibrate(c->plan, c->guarantee, err));
    *out = (tacit__subject){.self = c,
                            .form = {.n_states = 1,
                                     .n_actions = c->epochs ? 2 : 1,
                                     .horizon = c->dimension,
                                     .vectors = 1},
                            .claim = c->guarantee,
                            .users = c->overrun ? TACIT__OVERRUN * c->users : c->users,
                            .declared = c->plan,
                            .open = open,
                            .close = close,
                            .ledger = ledger,
                            .learn = learn,
                            .tamper = c->half_noise        ? tacit__tamper_half
                                      : c->bare_coordinate ? tacit__tamper_bare
                                      : c->reused_noise    ? reuse
                                                           : NULL,
                            .tamper_bytes = TACIT__TAMPER_NUMBERS * sizeof(int64_t)};
    return TACIT_OK;
}
