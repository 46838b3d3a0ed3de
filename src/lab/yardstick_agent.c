/* `uniform` and `constant` as agents: a program that plays the users itself, as one in Python does, compares
 * its learner with them through the same calls. They count their users, and learn nothing. */
#include <stdint.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "lab/yardstick.h"

typedef struct fixed {
    uint32_t action; /* n_actions: a random one */
    size_t n_actions;
    size_t rows; /* of the tables; 0: states are not numbered */
    uint64_t users, n_users;
    uint32_t *policy; /* this one or, if actions are random, the other one is shown */
    double *mixed;
} fixed;

static void destroy(void *self)
{
    fixed *f = self;
    if (f != NULL) {
        tacit__free(f->policy);
        tacit__free(f->mixed);
    }
    tacit__free(f);
}

static tacit_status create(const tacit__family *family, const tacit__agent_row *row,
                           const tacit_agent_request *request, tacit_noise *noise, void **out,
                           tacit_error *err)
{
    (void)family;
    (void)row;
    (void)noise;
    const size_t rows = request->horizon * request->n_states;
    fixed *f = tacit__alloc(1, sizeof *f);
    if (f == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    *f = (fixed){.n_actions = request->n_actions, .rows = rows, .n_users = request->episodes};
    if (rows > 0) {
        f->policy = tacit__alloc(rows, sizeof *f->policy);
        f->mixed = tacit__alloc(rows * f->n_actions, sizeof *f->mixed);
    }
    if (rows > 0 && (f->policy == NULL || f->mixed == NULL)) {
        destroy(f);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    *out = f;
    return TACIT_OK;
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

static tacit_ledger *ledger(const void *self)
{
    (void)self;
    return NULL;
}

static const char *remark(const void *self)
{
    (void)self;
    return "a yardstick: it learns nothing from anybody, so there is nothing to protect";
}

static const tacit__family family = {.create = create,
                                     .destroy = destroy,
                                     .plan = plan,
                                     .learn = learn,
                                     .act = act,
                                     .ledger = ledger,
                                     .remark = remark};

tacit_status tacit__yardstick_agent_create(const tacit_agent_request *request, uint32_t action,
                                           tacit_agent **out, tacit_error *err)
{
    const tacit__agent_row *row = tacit__yardstick_row(request->kind);
    TACIT__REQUIRE(row != NULL && action <= request->n_actions);
    TRY(tacit__agent_create_row(&family, row, request, NULL, out, err));
    choose((*out)->self, action);
    return TACIT_OK;
}
