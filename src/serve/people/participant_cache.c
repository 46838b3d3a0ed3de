/* Open addressing with linear probing, at most seven eighths full. Names are hashes already, so their low
 * bits are the slot; the name 0 marks a free one, and stands for 1. A removed entry leaves no mark: those
 * behind it move up (Knuth, vol. 3, 6.4, algorithm R). See serve/people/participant_cache.h. */
#include "serve/people/participant_cache.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"

enum { FIRST_SLOTS = 1024 };

struct tacit__participant_cache {
    pthread_mutex_t lock;
    tacit__participant_entry *slots;
    uint64_t n_slots, n, most; /* n_slots: a power of two */
};

tacit_status tacit__participant_cache_create(uint64_t most, tacit__participant_cache **out,
                                             tacit_error *err)
{
    TACIT__REQUIRE(most > 0);
    tacit__participant_cache *r = tacit__alloc(1, sizeof *r);
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)pthread_mutex_init(&r->lock, NULL);
    r->most = most;
    r->n_slots = FIRST_SLOTS;
    r->slots = tacit__alloc(r->n_slots, sizeof *r->slots);
    if (r->slots == NULL) {
        tacit__participant_cache_destroy(r);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    *out = r;
    return TACIT_OK;
}

void tacit__participant_cache_destroy(tacit__participant_cache *r)
{
    if (r == NULL)
        return;
    tacit__free_secret(r->slots, r->slots != NULL ? r->n_slots * sizeof *r->slots : 0);
    (void)pthread_mutex_destroy(&r->lock);
    tacit__free(r);
}

static uint64_t real_name(uint64_t name)
{
    return name != 0 ? name : 1;
}

/* The slot of an entry, or the one where it would be. */
static uint64_t slot_of(const tacit__participant_entry *slots, uint64_t n_slots, uint64_t name)
{
    uint64_t i = name & (n_slots - 1);
    while (slots[i].name != 0 && slots[i].name != name)
        i = (i + 1) & (n_slots - 1);
    return i;
}

/* Doubles the number of slots. */
static bool grow(tacit__participant_cache *r)
{
    const uint64_t wanted = 2 * r->n_slots;
    tacit__participant_entry *slots = tacit__alloc(wanted, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint64_t i = 0; i < r->n_slots; i++)
        if (r->slots[i].name != 0)
            slots[slot_of(slots, wanted, r->slots[i].name)] = r->slots[i];
    tacit__free_secret(r->slots, r->n_slots * sizeof *r->slots);
    r->slots = slots;
    r->n_slots = wanted;
    return true;
}

static void remove_at(tacit__participant_cache *r, uint64_t hole)
{
    const uint64_t last = r->n_slots - 1;
    for (uint64_t i = (hole + 1) & last; r->slots[i].name != 0; i = (i + 1) & last) {
        const uint64_t home = r->slots[i].name & last;
        if (((i - home) & last) < ((i - hole) & last))
            continue; /* it would be before its home there */
        r->slots[hole] = r->slots[i];
        hole = i;
    }
    r->slots[hole] = (tacit__participant_entry){0};
    r->n--;
}

static bool add(tacit__participant_cache *r, const tacit__participant_entry *entry)
{
    if (r->n >= r->most || (r->n >= r->n_slots / 8 * 7 && !grow(r)))
        return false;
    r->slots[slot_of(r->slots, r->n_slots, entry->name)] = *entry;
    r->n++;
    return true;
}

static void replace(tacit__participant_entry *there, tacit__participant_change how,
                    const tacit__participant_entry *entry)
{
    const bool stays = there->until == 0 && entry->until != 0;
    if (how == TACIT__PARTICIPANT_RAISE ? entry->mark >= there->mark : !stays)
        *there = *entry;
}

bool tacit__participant_cache_change(tacit__participant_cache *r, tacit__participant_change how,
                                     const tacit__participant_entry *entry)
{
    tacit__participant_entry e = *entry;
    bool good = true;
    e.name = real_name(e.name);
    pthread_mutex_lock(&r->lock);
    const uint64_t i = slot_of(r->slots, r->n_slots, e.name);
    tacit__participant_entry *there = &r->slots[i];
    if (how == TACIT__PARTICIPANT_REMOVE) {
        if (there->name != 0 && there->until != 0 &&
            (e.mark == UINT32_MAX || there->mark == e.mark))
            remove_at(r, i);
    } else if (there->name != 0) {
        replace(there, how, &e);
    } else {
        good = add(r, &e);
    }
    pthread_mutex_unlock(&r->lock);
    return good;
}

bool tacit__participant_cache_find(tacit__participant_cache *r, uint64_t name, uint32_t now,
                                   uint32_t *mark)
{
    pthread_mutex_lock(&r->lock);
    const tacit__participant_entry *there =
        &r->slots[slot_of(r->slots, r->n_slots, real_name(name))];
    const bool found = there->name != 0 && (there->until == 0 || now <= there->until);
    *mark = there->mark;
    pthread_mutex_unlock(&r->lock);
    return found;
}

void tacit__participant_cache_expire(tacit__participant_cache *r, uint32_t now)
{
    pthread_mutex_lock(&r->lock);
    for (uint64_t i = 0; i < r->n_slots; i++)
        while (r->slots[i].name != 0 && r->slots[i].until != 0 && now > r->slots[i].until)
            remove_at(r, i); /* another one may have moved here */
    pthread_mutex_unlock(&r->lock);
}

void tacit__participant_cache_size(tacit__participant_cache *r, uint64_t *entries, uint64_t *bytes)
{
    pthread_mutex_lock(&r->lock);
    *entries = r->n;
    *bytes = r->n_slots * sizeof *r->slots;
    pthread_mutex_unlock(&r->lock);
}
