/* Open addressing with linear probing, at most seven eighths full. Names are hashes already, so their low
 * bits are the place; the name 0 marks a free one, and stands for 1. A removed entry leaves no mark: those
 * behind it move up (Knuth, vol. 3, 6.4, algorithm R). See serve/roster.h. */
#include "serve/roster.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"

enum { FIRST_PLACES = 1024 };

struct tacit__roster {
    pthread_mutex_t lock;
    tacit__roster_entry *places;
    uint64_t n_places, n, most; /* n_places: a power of two */
};

tacit_status tacit__roster_create(uint64_t most, tacit__roster **out, tacit_error *err)
{
    TACIT__REQUIRE(most > 0);
    tacit__roster *r = tacit__alloc(1, sizeof *r);
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)pthread_mutex_init(&r->lock, NULL);
    r->most = most;
    r->n_places = FIRST_PLACES;
    r->places = tacit__alloc(r->n_places, sizeof *r->places);
    if (r->places == NULL) {
        tacit__roster_destroy(r);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    *out = r;
    return TACIT_OK;
}

void tacit__roster_destroy(tacit__roster *r)
{
    if (r == NULL)
        return;
    tacit__free_secret(r->places, r->places != NULL ? r->n_places * sizeof *r->places : 0);
    (void)pthread_mutex_destroy(&r->lock);
    tacit__free(r);
}

static uint64_t real_name(uint64_t name)
{
    return name != 0 ? name : 1;
}

/* Where the entry is, or would be. */
static uint64_t place_of(const tacit__roster_entry *places, uint64_t n_places, uint64_t name)
{
    uint64_t i = name & (n_places - 1);
    while (places[i].name != 0 && places[i].name != name)
        i = (i + 1) & (n_places - 1);
    return i;
}

/* Twice as many places. */
static bool grow(tacit__roster *r)
{
    const uint64_t wanted = 2 * r->n_places;
    tacit__roster_entry *places = tacit__alloc(wanted, sizeof *places);
    if (places == NULL)
        return false;
    for (uint64_t i = 0; i < r->n_places; i++)
        if (r->places[i].name != 0)
            places[place_of(places, wanted, r->places[i].name)] = r->places[i];
    tacit__free_secret(r->places, r->n_places * sizeof *r->places);
    r->places = places;
    r->n_places = wanted;
    return true;
}

static void remove_at(tacit__roster *r, uint64_t hole)
{
    const uint64_t last = r->n_places - 1;
    for (uint64_t i = (hole + 1) & last; r->places[i].name != 0; i = (i + 1) & last) {
        const uint64_t home = r->places[i].name & last;
        if (((i - home) & last) < ((i - hole) & last))
            continue; /* it would be before its home there */
        r->places[hole] = r->places[i];
        hole = i;
    }
    r->places[hole] = (tacit__roster_entry){0};
    r->n--;
}

static bool add(tacit__roster *r, const tacit__roster_entry *entry)
{
    if (r->n >= r->most || (r->n >= r->n_places / 8 * 7 && !grow(r)))
        return false;
    r->places[place_of(r->places, r->n_places, entry->name)] = *entry;
    r->n++;
    return true;
}

static void replace(tacit__roster_entry *there, tacit__roster_how how,
                    const tacit__roster_entry *entry)
{
    const bool stays = there->until == 0 && entry->until != 0;
    if (how == TACIT__ROSTER_RAISE ? entry->mark >= there->mark : !stays)
        *there = *entry;
}

bool tacit__roster_change(tacit__roster *r, tacit__roster_how how, const tacit__roster_entry *entry)
{
    tacit__roster_entry e = *entry;
    bool good = true;
    e.name = real_name(e.name);
    pthread_mutex_lock(&r->lock);
    const uint64_t i = place_of(r->places, r->n_places, e.name);
    tacit__roster_entry *there = &r->places[i];
    if (how == TACIT__ROSTER_REMOVE) {
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

bool tacit__roster_find(tacit__roster *r, uint64_t name, uint32_t now, uint32_t *mark)
{
    pthread_mutex_lock(&r->lock);
    const tacit__roster_entry *there =
        &r->places[place_of(r->places, r->n_places, real_name(name))];
    const bool found = there->name != 0 && (there->until == 0 || now <= there->until);
    *mark = there->mark;
    pthread_mutex_unlock(&r->lock);
    return found;
}

void tacit__roster_expire(tacit__roster *r, uint32_t now)
{
    pthread_mutex_lock(&r->lock);
    for (uint64_t i = 0; i < r->n_places; i++)
        while (r->places[i].name != 0 && r->places[i].until != 0 && now > r->places[i].until)
            remove_at(r, i); /* another one may have moved here */
    pthread_mutex_unlock(&r->lock);
}

void tacit__roster_size(tacit__roster *r, uint64_t *entries, uint64_t *bytes)
{
    pthread_mutex_lock(&r->lock);
    *entries = r->n;
    *bytes = r->n_places * sizeof *r->places;
    pthread_mutex_unlock(&r->lock);
}
