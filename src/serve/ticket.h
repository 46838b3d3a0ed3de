/* Tickets: what the service hands out instead of keeping it. An episode's id and a decision's id are the facts themselves, sealed
 * with a key that only the service has: it can be asked about them after a crash, or days later, and an episode of which nothing
 * more is heard has cost nothing. Nobody else can read or make one. The same facts are the same id. */
#ifndef TACIT_SERVE_TICKET_H
#define TACIT_SERVE_TICKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "noise/stream.h"
#include "store/service.h"

typedef enum tacit__ticket_kind {
    TACIT__TICKET_EPISODE = 1,
    TACIT__TICKET_DECISION = 2
} tacit__ticket_kind;

typedef struct tacit__ticket {
    uint8_t kind;       /* of tacit__ticket_kind */
    uint8_t has_person; /* the user gave an id */
    uint8_t padding[6];
    int64_t learner, opened; /* opened: by the service clock */
    uint8_t episode[TACIT__VAULT_KEY], person[TACIT__VAULT_KEY];
    /* of decisions */
    uint32_t step, state, action, n_features;
    uint64_t version;
    double probability;
} tacit__ticket;

/* Adds the ticket as text, features[n_features] included, without quotes. */
void tacit__ticket_write(const uint8_t key[TACIT__KEY_BYTES], const tacit__ticket *ticket,
                         const double *features, tacit__text *out);

/* Reads one of this kind. *features, if wanted, is to be freed; NULL if there are none. False: it is none. */
bool tacit__ticket_read(const uint8_t key[TACIT__KEY_BYTES], tacit__ticket_kind kind,
                        const char *text, size_t length, tacit__ticket *out, double **features);

#endif
