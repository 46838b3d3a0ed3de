/* Tickets: facts that the service gives to the client instead of storing them. The id of an episode, or of a
 * decision, contains the facts themselves, sealed with a key that only the service has. So a ticket is valid
 * after a crash, or days later, and an abandoned episode takes no storage. Nobody else can read or make a
 * ticket. */
#ifndef TACIT_SERVE_PEOPLE_TICKET_H
#define TACIT_SERVE_PEOPLE_TICKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "noise/stream.h"
#include "store/vault/vault.h"
#include "text/text.h"

typedef enum tacit__ticket_kind {
    TACIT__TICKET_EPISODE = 1,
    TACIT__TICKET_DECISION = 2
} tacit__ticket_kind;

/* Why the learner will not learn from an episode, as far as that was known when it was opened or decided.
 * RETURNING is final: a user who has taken part as often as they may stays one who has. */
typedef enum tacit__unlearned {
    TACIT__LEARNED,
    TACIT__RETURNING, /* the user has taken part in another episode, or in all that they may */
    TACIT__CLOSED,    /* the store must not learn; in tickets of earlier versions, also FULL */
    TACIT__FULL       /* the learner has had all its users */
} tacit__unlearned;

typedef struct tacit__ticket {
    uint8_t kind;       /* of tacit__ticket_kind */
    uint8_t has_person; /* the user gave an id */
    uint8_t unlearned;  /* of tacit__unlearned */
    uint8_t packed;     /* of decisions: features are integers of 4 bytes, not doubles */
    uint8_t padding[4];
    int64_t learner, opened; /* opened: by the service clock */
    uint8_t episode[TACIT__VAULT_KEY], person[TACIT__VAULT_KEY];
    /* of decisions */
    uint32_t step, state, action, n_features;
    uint64_t version;
    double probability;
} tacit__ticket;

/* Bytes of the situation in the ticket of a decision. */
size_t tacit__ticket_situation_size(const tacit__ticket *ticket);

/* Writes the ticket as text, without quotes; situation[tacit__ticket_situation_size()] is part of it. With
 * `alike`, the same facts give the same text, for answers that are repeated; that costs one more hash. */
void tacit__ticket_write(const uint8_t key[TACIT__KEY_BYTES], const tacit__ticket *ticket,
                         const uint8_t *situation, bool alike, tacit__text *out);

/* Reads a ticket of this kind. *situation, if it is wanted, is freed by the caller with tacit__free_secret,
 * and NULL if there is none. Returns false if the text is not such a ticket. */
bool tacit__ticket_read(const uint8_t key[TACIT__KEY_BYTES], tacit__ticket_kind kind,
                        const char *text, size_t length, tacit__ticket *out, uint8_t **situation);

#endif
