/* What a front end knows without a query to its database: people who have taken part, and the progress of
 * episodes.
 *
 * It is a table in memory with 16 bytes per entry: a short name, a mark, and an expiry time. `decide` uses it
 * for its prediction; the transaction that accepts an observation decides what counts. So if two people have
 * the same short name (2^-64 for each pair), if news are late, or if the table is full, only the prediction
 * changes, never from whom a learner learns.
 *
 * The functions may be called from any thread. */
#ifndef TACIT_SERVE_ROSTER_H
#define TACIT_SERVE_ROSTER_H

#include <tacit/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tacit__roster tacit__roster;

/* How an entry takes the place of the one that is there. */
typedef enum tacit__roster_how {
    TACIT__ROSTER_PUT,   /* unless that one holds for good, and this one does not */
    TACIT__ROSTER_RAISE, /* the larger mark stays */
    TACIT__ROSTER_REMOVE /* unless that one holds for good, or has another mark than this one, if not ~0 */
} tacit__roster_how;

typedef struct tacit__roster_entry {
    uint64_t name;
    uint32_t mark;
    uint32_t until; /* by the service clock, in seconds; 0: for good */
} tacit__roster_entry;

/* With at most so many entries: what comes then is left out. */
TACIT_MUST_USE tacit_status tacit__roster_create(uint64_t most, tacit__roster **out,
                                                 tacit_error *err);
void tacit__roster_destroy(tacit__roster *roster);

/* False: there was no room. */
bool tacit__roster_change(tacit__roster *roster, tacit__roster_how how,
                          const tacit__roster_entry *entry);
/* The mark of an entry that holds at this time; false: there is none. */
bool tacit__roster_find(tacit__roster *roster, uint64_t name, uint32_t now, uint32_t *mark);
/* Removes what no longer holds. */
void tacit__roster_expire(tacit__roster *roster, uint32_t now);

/* Entries, and the bytes that they take. */
void tacit__roster_size(tacit__roster *roster, uint64_t *entries, uint64_t *bytes);

#endif
