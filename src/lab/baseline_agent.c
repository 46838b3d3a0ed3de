/* `uniform` and `constant` as agents: a program that plays the users itself, as one in Python does, compares
 * its learner with them through the same calls. They count their users, and learn nothing. */
#include <stdint.h>

#include "agents/agent_inside.h"
#include "agents/reading.h"
#include "base/error.h"
#include "base/memory.h"
#include "lab/baseline.h"

typedef struct fixed {
    tacit__agent_base base;
    uint32_t action; /* n_actions: a random one */
    size_t n_actions;
    size_t rows; /* of the tables; 0: states are not numbered */
    uint64_t users, n_users;
    uint32_t *policy; /* this one or, if actions are random, the other one is shown */
    double *mixed;
} fixed;

static void clear(void *self)
{
    fixed *f = self;
    tacit__free(f->policy);
    tacit__free(f->mixed);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    (void)noise;
    fixed *f = self;
    const tacit_agent_request *q = r->request;
    f->n_actions = q->n_actions;
    f->rows = q->horizon * q->n_states;
    f->n_users = q->episodes;
    if (f->rows == 0)
        return TACIT_OK;
    f->policy = tacit__alloc(f->rows, sizeof *f->policy);
    f->mixed = tacit__alloc(f->rows * f->n_actions, sizeof *f->mixed);
    return f->policy != NULL && f->mixed != NULL ? TACIT_OK
                                                 : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

static void choose(fixed *f, uint32_t action)
{
    f->action = action;
    for (size_t i = 0; i < f->rows; i++)
        f->policy[i] = action;
    for (size_t i = 0; i < f->rows * f->n_actions; i++)
        f->mixed[i] = 1 / (double)f->n_actions;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    const fixed *f = self;
    (void)err;
    const bool random = f->action == f->n_actions;
    *out = (tacit_billboard){
        .version = 1, .policy = random ? NULL : f->policy, .mixed = random ? f->mixed : NULL};
    return TACIT_OK;
}

static tacit_status act(void *self, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err)
{
    const fixed *f = self;
    const bool random = f->action == f->n_actions;
    (void)situation;
    (void)err;
    *action = random ? (uint32_t)(chance * (double)f->n_actions) : f->action;
    *probability = random ? 1 / (double)f->n_actions : 1;
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    fixed *f = self;
    (void)user;
    if (f->users == f->n_users)
        return tacit__fail(err, TACIT_EXHAUSTED, "all %llu users have come",
                           (unsigned long long)f->n_users);
    f->users++;
    return TACIT_OK;
}

static const char *remark(const void *self)
{
    (void)self;
    return "a baseline: it learns nothing from anybody, so there is nothing to protect";
}

static const tacit__family family = {.size = sizeof(fixed),
                                     .build = build,
                                     .clear = clear,
                                     .plan = plan,
                                     .learn = learn,
                                     .act = act,
                                     .remark = remark};

tacit_status tacit__baseline_agent_create(const tacit_agent_request *request, uint32_t action,
                                          tacit_agent **out, tacit_error *err)
{
    const tacit__agent_row *row = tacit__baseline_row(request->kind);
    TACIT__REQUIRE(row != NULL && action <= request->n_actions);
    TRY(tacit__agent_create_row(&family, row, request, NULL, out, err));
    choose((fixed *)(void *)(*out)->self, action);
    return TACIT_OK;
}
