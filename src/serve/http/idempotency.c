/* Repeated requests. See serve/http/idempotency.h. */
#include "serve/http/idempotency.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "noise/seal.h"
#include "serve/http/routes.h"
#include "serve/people/reply_cache.h"
#include "serve/service_inside.h"
#include "store/vault/vault_maintenance.h"

enum { MIN_KEY = 16, MAX_KEY = 128 };

/* The part of an answer that the request does not have. It is all about the service, and nothing about the
 * situation of the user. */
typedef struct note {
    int64_t opened, expires;
    uint32_t step, action;
    uint64_t unlearned; /* of tacit__unlearned */
    uint64_t version;
    double probability;
} note;

/* Hashes the request: the body, or this element of it, and what the header and the query say. */
static void hash_content(tacit__request *r)
{
    const bool element = r->object != NULL;
    const char *text = element ? r->object->text : r->body_size > 0 ? r->body : "";
    struct {
        uint8_t body[TACIT__VAULT_KEY], user[TACIT__VAULT_KEY], step[TACIT__VAULT_KEY];
    } all = {0};
    const uint8_t *key = r->service->key_request;
    tacit__keyed_hash(key, text, element ? r->object->length : r->body_size, r->content,
                      sizeof r->content);
    if (r->user == NULL && r->step == NULL)
        return;
    memcpy(all.body, r->content, sizeof all.body);
    if (r->user != NULL)
        tacit__keyed_hash(key, r->user, strlen(r->user), all.user, sizeof all.user);
    if (r->step != NULL)
        tacit__keyed_hash(key, r->step, strlen(r->step), all.step, sizeof all.step);
    tacit__keyed_hash(key, &all, sizeof all, r->content, sizeof r->content);
}

bool tacit__idempotency_read(tacit__request *r, bool needed, int64_t learner,
                             const uint8_t *episode)
{
    size_t length = r->idempotency != NULL ? strlen(r->idempotency) : 0;
    r->keyed = r->idempotency != NULL || needed;
    if (!r->keyed)
        return true;
    if (length < MIN_KEY || length > MAX_KEY) {
        tacit__refuse(r, 422, needed && length == 0 ? "missing" : "out_of_range", "Idempotency-Key",
                      "the header Idempotency-Key must have %d to %d characters", MIN_KEY, MAX_KEY);
        return false;
    }
    struct {
        uint8_t token[TACIT__TOKEN_HASH]; /* not its number, which another may have had before */
        char path[32];                    /* of the route, and in a batch #1, #2, ... */
        int64_t learner;
        uint8_t episode[TACIT__VAULT_KEY];
        char key[MAX_KEY];
    } name = {.learner = learner};
    memcpy(name.token, r->bearer.hash, sizeof name.token);
    size_t used = (size_t)snprintf(name.path, sizeof name.path, "%s", r->route->path);
    if (r->number > 0 && used < sizeof name.path)
        (void)snprintf(name.path + used, sizeof name.path - used, "#%lu", (unsigned long)r->number);
    if (episode != NULL)
        memcpy(name.episode, episode, sizeof name.episode);
    memcpy(name.key, r->idempotency, length);
    tacit__keyed_hash(r->service->key_request, &name, sizeof name - MAX_KEY + length, r->key,
                      sizeof r->key);
    hash_content(r);
    return true;
}

void tacit__idempotency_episode(const tacit__request *r, uint8_t episode[TACIT__VAULT_KEY])
{
    uint8_t both[2 * TACIT__VAULT_KEY];
    memcpy(both, r->key, sizeof r->key);
    memcpy(both + sizeof r->key, r->content, sizeof r->content);
    tacit__keyed_hash(r->service->key_request, both, sizeof both, episode, TACIT__VAULT_KEY);
}

void tacit__idempotency_refuse(tacit__request *r)
{
    tacit__refuse(r, 422, "key_reused", "Idempotency-Key",
                  "this key was used for another request; every request needs its own key");
}

tacit_status tacit__idempotency_open(tacit_service *s, tacit_error *err)
{
    return tacit__reply_cache_create(s->config.limits.keys, sizeof(note), &s->reply_cache, err);
}

double tacit__idempotency_chance(const tacit__request *r)
{
    uint8_t all[2 * TACIT__VAULT_KEY + 1] = {0}, hash[TACIT__VAULT_KEY];
    uint64_t bits;
    memcpy(all, r->key, sizeof r->key);
    memcpy(all + sizeof r->key, r->content, sizeof r->content); /* and a byte: no episode's name */
    tacit__keyed_hash(r->service->key_request, all, sizeof all, hash, sizeof hash);
    memcpy(&bits, hash, sizeof bits);
    return (double)(bits >> 11) * 0x1p-53;
}

static int64_t oldest_answer(const tacit__request *r)
{
    return tacit__clock_now(&r->service->clock) - (int64_t)r->service->config.expire;
}

/* Repeats the earlier answer. */
static void fill_in(tacit__request *r, tacit__ticket *t, const note *n)
{
    r->expires = n->expires;
    t->opened = n->opened;
    t->step = n->step;
    t->unlearned = (uint8_t)n->unlearned;
    t->action = n->action;
    t->version = n->version;
    t->probability = n->probability;
}

static note make_note(const tacit__request *r)
{
    const tacit__ticket *t = &r->ticket;
    return (note){.opened = t->opened,
                  .expires = r->expires,
                  .step = t->step,
                  .unlearned = t->unlearned,
                  .action = t->action,
                  .version = t->version,
                  .probability = t->probability};
}

static tacit_status recall(tacit__request *r, tacit__vault *vault,
                           tacit__vault_answer_match *memory, tacit__ticket *t, tacit_error *err)
{
    note n;
    tacit_status status = tacit__vault_find_answer(vault, r->key, r->content, oldest_answer(r),
                                                   memory, &n, sizeof n, err);
    if (status == TACIT_OK && *memory == TACIT__VAULT_SAME)
        fill_in(r, t, &n);
    return status;
}

/* Finds an earlier answer in the store, or in the cache of this front end. */
static tacit_status recall_any(tacit__request *r, tacit__vault_answer_match *memory,
                               tacit__ticket *t)
{
    note n;
    if (r->service->reply_cache == NULL) {
        tacit_status status = recall(r, tacit__service_acquire_reader(r->service), memory, t, NULL);
        tacit__service_release_reader(r->service);
        return status;
    }
    *memory =
        tacit__reply_cache_find(r->service->reply_cache, r->key, r->content, oldest_answer(r), &n);
    if (*memory == TACIT__VAULT_SAME)
        fill_in(r, t, &n);
    return TACIT_OK;
}

bool tacit__idempotency_recall(tacit__request *r, tacit__ticket *t, bool *found)
{
    TACIT__REQUIRE(found != NULL);
    tacit__vault_answer_match memory;
    *found = false;
    if (!r->keyed)
        return true;
    if (recall_any(r, &memory, t) != TACIT_OK) {
        tacit__refuse(r, 503, "store", NULL, "the store cannot be read; try again later");
        return false;
    }
    if (memory == TACIT__VAULT_OTHER) {
        tacit__idempotency_refuse(r);
        return false;
    }
    *found = memory == TACIT__VAULT_SAME;
    return true;
}

static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    tacit__request *r = tacit__request_of(job);
    const note n = make_note(r);
    tacit__vault_answer_match memory;
    tacit_status status = recall(r, vault, &memory, &r->ticket, err);
    r->answer_code = (int)memory;
    if (status != TACIT_OK || memory != TACIT__VAULT_NEW)
        return status;
    return tacit__vault_save_answer(vault, r->key, r->content, n.opened, &n, sizeof n,
                                    r->service->config.limits.keys, err);
}

static void done(tacit__job *job, tacit_status status)
{
    tacit__request *r = tacit__request_of(job);
    if (status != TACIT_OK) {
        tacit__refuse_unwritten(r, status);
    } else if (r->answer_code == TACIT__VAULT_OTHER) {
        tacit__idempotency_refuse(r);
    } else {
        atomic_store(&r->service->has_answers, true);
        r->answer_again(r);
    }
    r->resume(r);
}

static void store_in_memory(tacit__request *r)
{
    note n = make_note(r);
    const tacit__vault_answer_match memory = tacit__reply_cache_add(
        r->service->reply_cache, r->key, r->content, oldest_answer(r), n.opened, &n);
    if (memory == TACIT__VAULT_OTHER) {
        tacit__idempotency_refuse(r);
        return;
    }
    fill_in(r, &r->ticket, &n);
    r->answer_again(r);
}

bool tacit__idempotency_store(tacit__request *r, void (*answer)(tacit__request *r))
{
    TACIT__REQUIRE(r->keyed && answer != NULL);
    r->answer_again = answer;
    if (r->service->reply_cache != NULL) {
        store_in_memory(r);
        return true;
    }
    r->job = (tacit__job){.apply = apply, .done = done};
    tacit__committer_post(r->service->committer, &r->job);
    return false;
}
