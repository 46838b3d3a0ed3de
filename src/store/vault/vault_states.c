/* The learners' states in a vault: sealed parts, and a tag that holds them together. See
 * store/vault/vault.h.
 *
 * A state is split into parts of TACIT__VAULT_PART bytes, each sealed separately. There are two editions of a
 * state. The learner's row names the current one, and its tag is a keyed hash of the heads of all parts in
 * order, which contain their authenticators: no part can be exchanged, left out or taken from elsewhere. The
 * tag is part of the proof of the row.
 *
 * A new state is written to the other edition, over the parts of the state before the last one. This may take
 * many transactions: nothing reads these parts until the row names the edition. A crash leaves some new parts
 * among old ones, and the next checkpoint overwrites all of them. Parts of equal size are overwritten in
 * place, so each page of a state is logged once.
 *
 * The difference of two consecutive states would reveal the users between them. So each edition is sealed
 * with its own key, which is in the row and itself sealed. When the row names the new edition, the new key
 * overwrites the old one, and the rest of the old state can no longer be read, not even with the master key.
 * Overwriting the old state as well would write every state twice. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

static tacit_status fail_state(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.200s: the state, the counters and the ledger of a learner do not "
                       "belong together: something was changed",
                       vault->path);
}

/* --- Parts --------------------------------------------------------------------------------------- */

tacit_status tacit__edition_open(tacit__edition *e, const uint8_t *state, size_t size,
                                 tacit_error *err)
{
    TACIT__REQUIRE(state != NULL && size > 0);
    *e = (tacit__edition){.state = state, .state_size = size};
    tacit__random_bytes(e->key, sizeof e->key);
    e->sealed =
        tacit__alloc((size < TACIT__VAULT_PART ? size : TACIT__VAULT_PART) + TACIT__SEAL_BYTES, 1);
    return e->sealed != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

void tacit__edition_close(tacit__edition *e)
{
    tacit__text_destroy(&e->heads);
    tacit__free(e->sealed);
    tacit__wipe(e->key, sizeof e->key);
}

bool tacit__edition_next(tacit__edition *e)
{
    const size_t at = e->parts * TACIT__VAULT_PART;
    if (e->parts > 0 && at >= e->state_size) /* a state of no bytes is one part */
        return false;
    const size_t left = e->state_size - at, n = left < TACIT__VAULT_PART ? left : TACIT__VAULT_PART;
    tacit__seal(e->key, e->state + at, n, e->sealed);
    tacit__text_add(&e->heads, (const char *)e->sealed, TACIT__SEAL_BYTES);
    e->sealed_size = n + TACIT__SEAL_BYTES;
    e->parts++;
    return true;
}

/* --- The row ------------------------------------------------------------------------------------- */

/* What the column `tag` of a learner's row says about its state. */
typedef struct label {
    uint8_t tag[TACIT__PROOF_BYTES];
    uint8_t sealed_key[TACIT__KEY_BYTES + TACIT__SEAL_BYTES];
} label;

static void make_tag(const tacit__vault *vault, const tacit__text *heads,
                     uint8_t tag[TACIT__PROOF_BYTES])
{
    tacit__keyed_hash(vault->key_proof, heads->data, heads->length, tag, TACIT__PROOF_BYTES);
}

/* Finds the edition; *l is all zeros for a learner that is being created. */
static tacit_status find_edition(tacit__vault *vault, int64_t id, int64_t *edition, label *l,
                                 tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(vault->db, SQL_EDITION,
                                  "SELECT edition, tag FROM learner WHERE id=?", &s, err));
    tacit__cursor_bind_int(s, 1, id);
    TRY(tacit__cursor_next(s, &found, err));
    if (!found)
        return fail_state(vault, err);
    size_t size;
    *edition = tacit__cursor_int(s, 0);
    const void *bytes = tacit__cursor_bytes(s, 1, &size);
    *l = (label){0};
    if (size == sizeof *l)
        memcpy(l, bytes, size);
    tacit__cursor_reset(s);
    return *edition == 0 || *edition == 1 ? TACIT_OK : fail_state(vault, err);
}

tacit_status tacit__vault_write_part(tacit__vault *vault, int64_t id, const tacit__edition *e,
                                     tacit_error *err)
{
    TACIT__REQUIRE(e->parts > 0 && e->sealed != NULL);
    int64_t edition = 0;
    label l;
    const int64_t part = (int64_t)e->parts - 1;
    TRY(find_edition(vault, id, &edition, &l, err));
    TRY(tacit__connection_write(vault->db, SQL_PART,
                                "UPDATE state SET data=? WHERE learner=? AND edition=? AND part=?",
                                err, "biii", e->sealed, e->sealed_size, id, 1 - edition, part));
    uint64_t n = 0;
    TRY(tacit__connection_changes(vault->db, &n, err));
    if (n == 0)
        return tacit__connection_write(vault->db, SQL_NEW_PART, "INSERT INTO state VALUES(?,?,?,?)",
                                       err, "iiib", id, 1 - edition, part, e->sealed,
                                       e->sealed_size);
    return TACIT_OK;
}

tacit_status tacit__vault_flip_state(tacit__vault *vault, int64_t id, const tacit__edition *e,
                                     tacit_error *err)
{
    TACIT__REQUIRE(e->parts > 0);
    int64_t edition = 0;
    label l;
    TRY(e->heads.failed ? tacit__fail_plain(err, TACIT_NO_MEMORY)
                        : find_edition(vault, id, &edition, &l, err));
    /* a state may become smaller */
    TRY(tacit__connection_write(vault->db, SQL_DELETE_PARTS,
                                "DELETE FROM state WHERE learner=? AND edition=? AND part>=?", err,
                                "iii", id, 1 - edition, (int64_t)e->parts));
    make_tag(vault, &e->heads, l.tag);
    tacit__seal(vault->key_state, e->key, sizeof e->key, l.sealed_key);
    return tacit__connection_write(vault->db, SQL_STATE,
                                   "UPDATE learner SET edition=?, tag=? WHERE id=?", err, "ibi",
                                   1 - edition, &l, sizeof l, id);
}

tacit_status tacit__vault_write_state(tacit__vault *vault, int64_t id, const uint8_t *state,
                                      size_t size, tacit_error *err)
{
    tacit__edition e;
    tacit_status status = tacit__edition_open(&e, state, size, err);
    while (status == TACIT_OK && tacit__edition_next(&e))
        status = tacit__vault_write_part(vault, id, &e, err);
    if (status == TACIT_OK)
        status = tacit__vault_flip_state(vault, id, &e, err);
    tacit__edition_close(&e);
    return status == TACIT_OK ? tacit__vault_prove(vault, id, err) : status;
}

/* --- Reading ------------------------------------------------------------------------------------- */

/* Allocates room for the parts of an edition, all at once, so that growing leaves no copies behind. */
static tacit_status make_buffer(tacit__vault *vault, int64_t id, int64_t edition, uint8_t **out,
                                size_t *size, tacit_error *err)
{
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(vault->db, SQL_STATE_SIZE,
                                  "SELECT coalesce(sum(length(data)), 0) FROM state"
                                  " WHERE learner=? AND edition=?",
                                  &s, err));
    tacit__cursor_bind_int(s, 1, id);
    tacit__cursor_bind_int(s, 2, edition);
    TRY(tacit__cursor_next(s, &found, err));
    *size = found ? (size_t)tacit__cursor_int(s, 0) : 0;
    tacit__cursor_reset(s);
    *out = tacit__alloc(*size + 1, 1);
    return *out != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

/* Opens the parts of an edition, one after the other, into out[capacity]. */
static tacit_status read_parts(tacit__vault *vault, int64_t id, int64_t edition, const uint8_t *key,
                               tacit__text *heads, uint8_t *out, size_t capacity, size_t *used,
                               tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__connection_prepare(
        vault->db, SQL_READ_PARTS,
        "SELECT data FROM state WHERE learner=? AND edition=? ORDER BY part", &s, err));
    tacit_status status = TACIT_OK;
    tacit__cursor_bind_int(s, 1, id);
    tacit__cursor_bind_int(s, 2, edition);
    *used = 0;
    for (bool more = true; status == TACIT_OK;) {
        status = tacit__cursor_next(s, &more, err);
        if (status != TACIT_OK || !more)
            break;
        size_t size;
        const void *sealed = tacit__cursor_bytes(s, 0, &size);
        if (size < TACIT__SEAL_BYTES || size > capacity - *used ||
            !tacit__unseal(key, sealed, size, out + *used)) {
            status = fail_state(vault, err);
            break;
        }
        tacit__text_add(heads, sealed, TACIT__SEAL_BYTES);
        *used += size - TACIT__SEAL_BYTES;
    }
    tacit__cursor_reset(s);
    return status;
}

tacit_status tacit__vault_open_state(tacit__vault *vault, int64_t id, uint8_t **out,
                                     size_t *out_size, tacit_error *err)
{
    TACIT__REQUIRE(out != NULL);
    int64_t edition = 0;
    uint8_t key[TACIT__KEY_BYTES], found[TACIT__PROOF_BYTES], *state = NULL;
    label l;
    size_t capacity = 0, used = 0;
    tacit__text heads = {0};
    if (!vault->keyed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: this needs the key", vault->path);
    tacit_status status = find_edition(vault, id, &edition, &l, err);
    if (status == TACIT_OK)
        status = tacit__vault_check_proof(vault, id, err);
    if (status == TACIT_OK &&
        !tacit__unseal(vault->key_state, l.sealed_key, sizeof l.sealed_key, key))
        status = fail_state(vault, err);
    if (status == TACIT_OK)
        status = make_buffer(vault, id, edition, &state, &capacity, err);
    if (status == TACIT_OK)
        status = read_parts(vault, id, edition, key, &heads, state, capacity, &used, err);
    if (status == TACIT_OK && heads.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK) {
        make_tag(vault, &heads, found);
        if (!tacit__same_bytes(l.tag, found, sizeof found))
            status = fail_state(vault, err);
    }
    tacit__text_destroy(&heads);
    tacit__wipe(key, sizeof key);
    if (status != TACIT_OK) {
        tacit__free_secret(state, used);
        return status;
    }
    *out = state;
    *out_size = used;
    return TACIT_OK;
}
