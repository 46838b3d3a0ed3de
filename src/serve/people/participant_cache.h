/* What a front end knows without a query to its database: people who have taken part, and the progress of
 * episodes.
 *
 * It is a table in memory with 16 bytes per entry: a short name, a mark, and an expiry time. `decide` uses it
 * for its prediction; the transaction that accepts an observation decides what counts. So if two people have
 * the same short name (2^-64 for each pair), if an announcement is late, or if the table is full, only the
 * prediction changes, never from whom a learner learns.
 *
 * The functions may be called from any thread. */
#ifndef TACIT_SERVE_PEOPLE_PARTICIPANT_CACHE_H
#define TACIT_SERVE_PEOPLE_PARTICIPANT_CACHE_H

#include <tacit/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tacit__participant_cache tacit__participant_cache;

/* What a change does to the entry that the cache has under the same name. */
typedef enum tacit__participant_change {
    TACIT__PARTICIPANT_PUT,   /* replaces it, unless it is permanent and the new entry is not */
    TACIT__PARTICIPANT_RAISE, /* replaces it if the new mark is not smaller */
    /* removes it, unless it is permanent or has another mark; the mark ~0 matches every entry */
    TACIT__PARTICIPANT_REMOVE
} tacit__participant_change;

typedef struct tacit__participant_entry {
    uint64_t name;
    uint32_t mark;
    uint32_t until; /* seconds of the service clock; 0: the entry is permanent */
} tacit__participant_entry;

/* The cache has at most `most` entries and leaves out those that come later. */
TACIT_MUST_USE tacit_status tacit__participant_cache_create(uint64_t most,
                                                            tacit__participant_cache **out,
                                                            tacit_error *err);
void tacit__participant_cache_destroy(tacit__participant_cache *r);

/* Returns false if there was no room. */
bool tacit__participant_cache_change(tacit__participant_cache *cache, tacit__participant_change how,
                                     const tacit__participant_entry *entry);
/* Gets the mark of an entry that has not expired. Returns false if there is none. */
bool tacit__participant_cache_find(tacit__participant_cache *cache, uint64_t name, uint32_t now,
                                   uint32_t *mark);
/* Removes expired entries. */
void tacit__participant_cache_expire(tacit__participant_cache *r, uint32_t now);

/* Gets the number of entries and the bytes that they use. */
void tacit__participant_cache_size(tacit__participant_cache *r, uint64_t *entries, uint64_t *bytes);

#endif
