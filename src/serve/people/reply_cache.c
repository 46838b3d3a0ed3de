/* A ring of answers with hash chains by name. The ring grows up to its limit; then a new answer replaces the
 * oldest one. See serve/people/reply_cache.h. */
#include "serve/people/reply_cache.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { FIRST_CAPACITY = 256 };

typedef struct reply {
    uint8_t name[TACIT__VAULT_KEY], content[TACIT__VAULT_KEY];
    int64_t opened;
    uint64_t next; /* in its chain: 1 more than its index; 0: none */
} reply;

struct tacit__reply_cache {
    pthread_mutex_t lock;
    size_t size;
    uint64_t most, capacity, n, first; /* capacity: a power of two, of slots and of chains */
    reply *ring;
    uint8_t *data; /* [capacity][size] */
    uint64_t *chains;
};

static void free_arrays(tacit__reply_cache *r)
{
    tacit__free(r->ring);
    tacit__free_secret(r->data, r->data != NULL ? r->capacity * r->size : 0);
    tacit__free(r->chains);
}

/* The chain that a name belongs to: names are keyed hashes. */
static uint64_t *chain_of(const tacit__reply_cache *r, const uint8_t *name)
{
    uint64_t h;
    memcpy(&h, name, sizeof h);
    return &r->chains[h & (r->capacity - 1)];
}

static void link_reply(tacit__reply_cache *r, uint64_t i)
{
    uint64_t *chain = chain_of(r, r->ring[i].name);
    r->ring[i].next = *chain;
    *chain = i + 1;
}

static bool grow_to(tacit__reply_cache *r, uint64_t capacity)
{
    tacit__reply_cache larger = *r;
    larger.capacity = capacity;
    larger.ring = tacit__alloc(capacity, sizeof *larger.ring);
    larger.data = tacit__alloc(capacity, r->size);
    larger.chains = tacit__alloc(capacity, sizeof *larger.chains);
    if (larger.ring == NULL || larger.data == NULL || larger.chains == NULL) {
        free_arrays(&larger);
        return false;
    }
    for (uint64_t i = 0; i < r->n; i++) { /* in the order of their age, from the beginning */
        const uint64_t from = (r->first + i) & (r->capacity - 1);
        larger.ring[i] = r->ring[from];
        memcpy(larger.data + i * r->size, r->data + from * r->size, r->size);
        link_reply(&larger, i);
    }
    larger.first = 0;
    free_arrays(r);
    r->capacity = capacity;
    r->ring = larger.ring;
    r->data = larger.data;
    r->chains = larger.chains;
    r->first = 0;
    return true;
}

tacit_status tacit__reply_cache_create(uint64_t most, size_t size, tacit__reply_cache **out,
                                       tacit_error *err)
{
    TACIT__REQUIRE(most > 0 && size > 0);
    tacit__reply_cache *r = tacit__alloc(1, sizeof *r);
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)pthread_mutex_init(&r->lock, NULL);
    r->most = most;
    r->size = size;
    if (!grow_to(r, FIRST_CAPACITY)) {
        tacit__reply_cache_destroy(r);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    *out = r;
    return TACIT_OK;
}

void tacit__reply_cache_destroy(tacit__reply_cache *r)
{
    if (r == NULL)
        return;
    free_arrays(r);
    (void)pthread_mutex_destroy(&r->lock);
    tacit__free(r);
}

static void forget_oldest(tacit__reply_cache *r)
{
    const uint64_t i = r->first;
    uint64_t *at = chain_of(r, r->ring[i].name);
    while (*at != i + 1)
        at = &r->ring[*at - 1].next;
    *at = r->ring[i].next;
    r->first = (r->first + 1) & (r->capacity - 1);
    r->n--;
}

/* Its index plus 1; 0: none. */
static uint64_t find(const tacit__reply_cache *r, const uint8_t *name)
{
    uint64_t i = *chain_of(r, name);
    while (i != 0 && memcmp(r->ring[i - 1].name, name, TACIT__VAULT_KEY) != 0)
        i = r->ring[i - 1].next;
    return i;
}

static tacit__vault_answer_match match(const tacit__reply_cache *r, const uint8_t *name,
                                       const uint8_t *content, int64_t oldest, void *data)
{
    const uint64_t i = find(r, name);
    if (i == 0 || r->ring[i - 1].opened < oldest)
        return TACIT__VAULT_NEW;
    if (memcmp(r->ring[i - 1].content, content, TACIT__VAULT_KEY) != 0)
        return TACIT__VAULT_OTHER;
    memcpy(data, r->data + (i - 1) * r->size, r->size);
    return TACIT__VAULT_SAME;
}

tacit__vault_answer_match tacit__reply_cache_find(tacit__reply_cache *r,
                                                  const uint8_t name[TACIT__VAULT_KEY],
                                                  const uint8_t content[TACIT__VAULT_KEY],
                                                  int64_t opened, void *data)
{
    pthread_mutex_lock(&r->lock);
    const tacit__vault_answer_match found = match(r, name, content, opened, data);
    pthread_mutex_unlock(&r->lock);
    return found;
}

tacit__vault_answer_match tacit__reply_cache_add(tacit__reply_cache *r,
                                                 const uint8_t name[TACIT__VAULT_KEY],
                                                 const uint8_t content[TACIT__VAULT_KEY],
                                                 int64_t oldest, int64_t opened, void *data)
{
    pthread_mutex_lock(&r->lock);
    const tacit__vault_answer_match found = match(r, name, content, oldest, data);
    while (found == TACIT__VAULT_NEW && r->n >= r->most)
        forget_oldest(r);
    if (found == TACIT__VAULT_NEW && (r->n < r->capacity || grow_to(r, 2 * r->capacity))) {
        const uint64_t i = (r->first + r->n++) & (r->capacity - 1);
        r->ring[i] = (reply){.opened = opened};
        memcpy(r->ring[i].name, name, TACIT__VAULT_KEY);
        memcpy(r->ring[i].content, content, TACIT__VAULT_KEY);
        memcpy(r->data + i * r->size, data, r->size);
        link_reply(r, i); /* before one of this name that is too old */
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}
