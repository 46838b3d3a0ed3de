#include "serve/again.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "noise/seal.h"
#include "serve/routes.h"
#include "serve/service.h"

enum { MIN_KEY = 16, MAX_KEY = 128 };

/* What an answer has beyond the request: all of it about the service, and nothing about where the user stood. */
typedef struct note {
    int64_t opened;
    uint32_t step, action;
    uint64_t version;
    double probability;
} note;

bool tacit__again_read(tacit__request *r, bool needed, int64_t learner, const uint8_t *episode)
{
    size_t length = r->idempotency != NULL ? strlen(r->idempotency) : 0;
    r->keyed = r->idempotency != NULL || needed;
    if (!r->keyed)
        return true;
    if (length < MIN_KEY || length > MAX_KEY)
        return !tacit__refuse(
            r, 422, needed && length == 0 ? "missing" : "out_of_range", "Idempotency-Key",
            "the header Idempotency-Key must have %d to %d characters", MIN_KEY, MAX_KEY);
    struct {
        char path[32]; /* of the route */
        int64_t learner;
        uint8_t episode[TACIT__VAULT_KEY];
        char key[MAX_KEY];
    } name = {.learner = learner};
    (void)snprintf(name.path, sizeof name.path, "%s", r->route->path);
    if (episode != NULL)
        memcpy(name.episode, episode, sizeof name.episode);
    memcpy(name.key, r->idempotency, length);
    tacit__keyed_hash(r->service->key_again, &name, sizeof name - MAX_KEY + length, r->key,
                      sizeof r->key);
    tacit__keyed_hash(r->service->key_again, r->body_size > 0 ? r->body : "", r->body_size,
                      r->content, sizeof r->content);
    return true;
}

void tacit__again_episode(const tacit__request *r, uint8_t episode[TACIT__VAULT_KEY])
{
    uint8_t both[2 * TACIT__VAULT_KEY];
    memcpy(both, r->key, sizeof r->key);
    memcpy(both + sizeof r->key, r->content, sizeof r->content);
    tacit__keyed_hash(r->service->key_again, both, sizeof both, episode, TACIT__VAULT_KEY);
}

bool tacit__again_refuse(tacit__request *r)
{
    return tacit__refuse(r, 422, "key_reused", "Idempotency-Key",
                         "this key was used for another request; every request needs one of its "
                         "own");
}

static tacit_status recall(const tacit__request *r, tacit__vault *vault,
                           tacit__vault_memory *memory, tacit__ticket *t, tacit_error *err)
{
    note n;
    int64_t oldest = tacit__service_now() - (int64_t)r->service->config.expire;
    tacit_status status =
        tacit__vault_recall(vault, r->key, r->content, oldest, memory, &n, sizeof n, err);
    if (status == TACIT_OK && *memory == TACIT__VAULT_SAME) {
        t->opened = n.opened;
        t->step = n.step;
        t->action = n.action;
        t->version = n.version;
        t->probability = n.probability;
    }
    return status;
}

bool tacit__again_recall(tacit__request *r, tacit__ticket *t, bool *found)
{
    tacit__vault_memory memory;
    *found = false;
    if (!r->keyed)
        return true;
    pthread_mutex_lock(&r->service->reader_lock);
    tacit_status status = recall(r, r->service->reader, &memory, t, NULL);
    pthread_mutex_unlock(&r->service->reader_lock);
    if (status != TACIT_OK)
        return !tacit__refuse(r, 503, "store", NULL, "the store cannot be read");
    if (memory == TACIT__VAULT_OTHER)
        return !tacit__again_refuse(r);
    *found = memory == TACIT__VAULT_SAME;
    return true;
}

static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    tacit__request *r = tacit__request_of(job);
    const tacit__ticket *t = &r->ticket;
    const note n = {.opened = t->opened,
                    .step = t->step,
                    .action = t->action,
                    .version = t->version,
                    .probability = t->probability};
    tacit__vault_memory memory;
    tacit_status status = recall(r, vault, &memory, &r->ticket, err);
    r->answer_code = (int)memory;
    if (status != TACIT_OK || memory != TACIT__VAULT_NEW)
        return status;
    return tacit__vault_remember(vault, r->key, r->content, n.opened, &n, sizeof n,
                                 r->service->config.limits.keys, err);
}

static void done(tacit__job *job, tacit_status status)
{
    tacit__request *r = tacit__request_of(job);
    if (status != TACIT_OK) {
        (void)tacit__refuse_unwritten(r, status);
    } else if (r->answer_code == TACIT__VAULT_OTHER) {
        (void)tacit__again_refuse(r);
    } else {
        atomic_store(&r->service->has_answers, true);
        r->answer_again(r);
    }
    r->resume(r);
}

void tacit__again_post(tacit__request *r, void (*answer)(tacit__request *r))
{
    r->answer_again = answer;
    r->job = (tacit__job){.apply = apply, .done = done};
    tacit__scribe_post(r->service->scribe, &r->job);
}
