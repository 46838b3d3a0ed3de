/* A ticket is packed, sealed and written as base64url. Its kind is part of what is sealed, so an
 * episode's id never passes for a decision's. See serve/people/ticket.h. */
#include "serve/people/ticket.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"

enum { SMALL = 1024 }; /* bytes that are on the stack; a body bounds the others */

size_t tacit__ticket_situation_size(const tacit__ticket *t)
{
    return t->n_features * (t->packed ? sizeof(int32_t) : sizeof(double));
}

void tacit__ticket_write(const uint8_t key[TACIT__KEY_BYTES], const tacit__ticket *ticket,
                         const uint8_t *situation, bool alike, tacit__text *out)
{
    TACIT__REQUIRE(situation != NULL || tacit__ticket_situation_size(ticket) == 0);
    size_t more = tacit__ticket_situation_size(ticket), size = sizeof *ticket + more;
    uint8_t small[2 * SMALL + TACIT__SEAL_BYTES];
    char small_text[TACIT__BASE64_SIZE(SMALL + TACIT__SEAL_BYTES)];
    bool large = size > SMALL;
    uint8_t *plain = large ? tacit__alloc_raw(2 * size + TACIT__SEAL_BYTES, 1) : small;
    char *text =
        large ? tacit__alloc_raw(TACIT__BASE64_SIZE(size + TACIT__SEAL_BYTES), 1) : small_text;
    if (plain == NULL || text == NULL) {
        out->failed = true;
    } else {
        uint8_t *sealed = plain + size;
        memcpy(plain, ticket, sizeof *ticket);
        if (more > 0)
            memcpy(plain + sizeof *ticket, situation, more);
        (alike ? tacit__seal_alike : tacit__seal)(key, plain, size, sealed);
        tacit__base64_write(sealed, size + TACIT__SEAL_BYTES, text);
        tacit__text_add(out, text, (4 * (size + TACIT__SEAL_BYTES) + 2) / 3);
    }
    if (large) {
        tacit__free_secret(plain, plain != NULL ? size : 0);
        tacit__free(text);
    } else {
        tacit__wipe(small, size);
    }
}

bool tacit__ticket_read(const uint8_t key[TACIT__KEY_BYTES], tacit__ticket_kind kind,
                        const char *text, size_t length, tacit__ticket *out, uint8_t **situation)
{
    if (situation != NULL)
        *situation = NULL;
    if (length < 4 * (sizeof *out + TACIT__SEAL_BYTES) / 3)
        return false;
    uint8_t small[SMALL];
    size_t capacity = length / 4 * 3 + 3, n = 0;
    bool large = 2 * capacity > sizeof small, good = false;
    uint8_t *sealed = large ? tacit__alloc_raw(2 * capacity, 1) : small;
    uint8_t *plain = sealed != NULL ? sealed + capacity : NULL;
    if (plain != NULL && tacit__base64_read(text, length, sealed, capacity, &n) &&
        n >= sizeof *out + TACIT__SEAL_BYTES && tacit__unseal(key, sealed, n, plain)) {
        memcpy(out, plain, sizeof *out);
        size_t more = n - TACIT__SEAL_BYTES - sizeof *out;
        good = out->kind == kind && more == tacit__ticket_situation_size(out);
        if (good && more > 0 && situation != NULL) {
            *situation = tacit__alloc(more, 1);
            good = *situation != NULL;
            if (good)
                memcpy(*situation, plain + sizeof *out, more);
        }
    }
    if (large)
        tacit__free_secret(sealed, sealed != NULL ? 2 * capacity : 0);
    else
        tacit__wipe(small, sizeof small);
    return good;
}
