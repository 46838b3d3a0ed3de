/* The progress of a learner's warm start. See store/vault/vault_warm.h.
 *
 * It is a row 'warm:ID' of `meta`, covered by the proof of the whole store: the log's digest, how many rows
 * the log has, how many were accepted, and from how many of these the learner learns. The transaction that
 * accepts the rows writes it, so after a crash there are both or neither. */
#include "store/vault/vault_warm.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "store/vault/vault_inside.h"

enum { NUMBERS = 3, SIZE = TACIT__KEY_BYTES + NUMBERS * 8 };

static void name_of(int64_t learner, char out[32])
{
    (void)snprintf(out, 32, "warm:%lld", (long long)learner);
}

tacit_status tacit__vault_find_warm(tacit__vault *vault, int64_t learner, bool *found,
                                    tacit__vault_warm *out, tacit_error *err)
{
    TACIT__REQUIRE(found != NULL && out != NULL);
    tacit__cursor *s;
    char name[32];
    size_t size = 0;
    name_of(learner, name);
    TRY(tacit__vault_prepare(vault, "SELECT value FROM meta WHERE name=?", &s, err));
    tacit__cursor_bind_text(s, 1, name);
    tacit_status status = tacit__cursor_next(s, found, err);
    const uint8_t *bytes =
        status == TACIT_OK && *found ? tacit__cursor_bytes(s, 0, &size) : (const uint8_t *)NULL;
    if (bytes != NULL && size == SIZE) {
        uint64_t *numbers[NUMBERS] = {&out->rows, &out->taken, &out->learned};
        memcpy(out->digest, bytes, sizeof out->digest);
        for (size_t i = 0; i < NUMBERS; i++)
            *numbers[i] = tacit__vault_read_count(bytes + TACIT__KEY_BYTES + 8 * i, 8);
    } else if (status == TACIT_OK && *found) {
        status = tacit__fail(
            err, TACIT_CORRUPT,
            "%.200s: how far a learner was warmed up was changed; restore the file", vault->path);
    }
    tacit__cursor_close(s);
    return status;
}

tacit_status tacit__vault_save_warm(tacit__vault *vault, int64_t learner,
                                    const tacit__vault_warm *warm, tacit_error *err)
{
    TACIT__REQUIRE(warm->taken <= warm->rows && warm->learned <= warm->taken);
    uint8_t bytes[SIZE];
    char name[32];
    const uint64_t numbers[NUMBERS] = {warm->rows, warm->taken, warm->learned};
    tacit__writer w = {.at = bytes};
    name_of(learner, name);
    tacit__write_bytes(&w, warm->digest, sizeof warm->digest);
    for (size_t i = 0; i < NUMBERS; i++)
        tacit__write_le64(&w, numbers[i]);
    TRY(tacit__vault_set_fact(vault, name, bytes, sizeof bytes, err));
    return tacit__vault_prove(vault, learner, err);
}
