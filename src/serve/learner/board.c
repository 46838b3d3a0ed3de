/* Boards are reference-counted. A board whose policy is not a table has a copy of the learner that can
 * only act. If a learner offers no such copy, requests take turns using a complete copy, its shadow. See
 * serve/learner/board.h. */
#include "serve/learner/board.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"

struct tacit__shadow {
    atomic_uint owners;
    tacit_agent *agent;
    pthread_mutex_t lock; /* unless it is a snapshot: it may use scratch of its own */
};

struct tacit__board {
    atomic_uint owners;
    uint64_t users;
    size_t n_states, n_actions;
    tacit_billboard billboard;
    void *table, *model;
    size_t model_size;
    tacit__shadow *shadow; /* or NULL */
};

tacit_status tacit__shadow_create(tacit_agent *agent, tacit__shadow **out, tacit_error *err)
{
    TACIT__REQUIRE(agent != NULL);
    tacit__shadow *s = tacit__alloc(1, sizeof *s);
    if (s == NULL) {
        tacit_agent_destroy(agent);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    atomic_init(&s->owners, 1);
    (void)pthread_mutex_init(&s->lock, NULL);
    s->agent = agent;
    *out = s;
    return TACIT_OK;
}

static void release_shadow(tacit__shadow *s) /* or NULL */
{
    if (s == NULL || atomic_fetch_sub_explicit(&s->owners, 1, memory_order_acq_rel) != 1)
        return;
    tacit_agent_destroy(s->agent);
    (void)pthread_mutex_destroy(&s->lock);
    tacit__free(s);
}

tacit__shadow *tacit__board_acquire_shadow(tacit__board *b)
{
    if (b->shadow != NULL)
        atomic_fetch_add_explicit(&b->shadow->owners, 1, memory_order_relaxed);
    return b->shadow;
}

static tacit_status act_in_turn(tacit__shadow *s, const tacit_situation *situation, double chance,
                                uint32_t *action, double *probability, tacit_error *err)
{
    if (s->agent->is_snapshot)
        return tacit_agent_act(s->agent, situation, chance, action, probability, err);
    pthread_mutex_lock(&s->lock);
    tacit_status status = tacit_agent_act(s->agent, situation, chance, action, probability, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Copies the model behind the plan, for kinds that publish one. */
static tacit_status copy_model(tacit__board *b, const tacit_agent *agent, tacit_error *err)
{
    if (tacit_agent_publish(agent, NULL, &b->model_size, NULL) != TACIT_OK)
        return TACIT_OK;
    b->model = tacit__alloc(b->model_size, 1);
    if (b->model == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    return tacit_agent_publish(agent, b->model, &b->model_size, err);
}

tacit_status tacit__board_create(const tacit_agent *agent, const tacit_agent_request *request,
                                 tacit__shadow *shadow, uint64_t users, tacit__board **out,
                                 tacit_error *err)
{
    TACIT__REQUIRE(request->horizon > 0 && request->n_actions > 0);
    tacit__board *b = tacit__alloc(1, sizeof *b);
    if (b == NULL) {
        release_shadow(shadow);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    atomic_init(&b->owners, 1);
    b->users = users;
    b->shadow = shadow;
    b->n_states = request->n_states;
    b->n_actions = request->n_actions;
    tacit_status status = tacit_agent_billboard(agent, &b->billboard, err);
    size_t cells = request->horizon * request->n_states;
    const void *from = b->billboard.policy;
    size_t size = cells * sizeof *b->billboard.policy;
    if (b->billboard.mixed != NULL) {
        from = b->billboard.mixed;
        size = cells * request->n_actions * sizeof *b->billboard.mixed;
    }
    if (status == TACIT_OK && from != NULL) {
        b->table = tacit__alloc(size, 1);
        if (b->table == NULL)
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
        else
            memcpy(b->table, from, size);
    }
    if (status == TACIT_OK && request->guarantee.model == TACIT_MODEL_LOCAL)
        status = copy_model(b, agent, err);
    if (status != TACIT_OK) {
        tacit__board_release(b);
        return status;
    }
    b->billboard.policy = b->billboard.policy != NULL ? b->table : NULL;
    b->billboard.mixed = b->billboard.mixed != NULL ? b->table : NULL;
    *out = b;
    return TACIT_OK;
}

tacit__board *tacit__board_acquire(tacit__board *b)
{
    atomic_fetch_add_explicit(&b->owners, 1, memory_order_relaxed);
    return b;
}

void tacit__board_release(tacit__board *b)
{
    if (b == NULL || atomic_fetch_sub_explicit(&b->owners, 1, memory_order_acq_rel) != 1)
        return;
    release_shadow(b->shadow);
    tacit__free(b->table);
    tacit__free(b->model);
    tacit__free(b);
}

tacit_status tacit__board_act(tacit__board *b, const tacit_situation *situation, double chance,
                              uint32_t *action, double *probability, tacit_error *err)
{
    TACIT__REQUIRE(b->table != NULL || b->shadow != NULL);
    if (b->table != NULL) {
        tacit__billboard_act(&b->billboard, situation->step * b->n_states + situation->state,
                             b->n_actions, chance, action, probability);
        return TACIT_OK;
    }
    return act_in_turn(b->shadow, situation, chance, action, probability, err);
}

uint64_t tacit__board_users(const tacit__board *b)
{
    return b->users;
}

const void *tacit__board_model(const tacit__board *b, size_t *size)
{
    *size = b->model_size;
    return b->model;
}

const tacit_billboard *tacit__board_view(const tacit__board *b)
{
    return &b->billboard;
}
