/* The learners' states in a vault: sealed parts, and a tag that holds them together. See store/service_inside.h.
 *
 * A state is cut into parts of PART bytes, each sealed by itself. Two editions may be there at a time; the learner's row says
 * which one is the state, and its tag is a keyed hash of the heads of all parts in order, which have their authenticators: no
 * part can be exchanged, left out or taken from elsewhere. The tag is part of the proof of the row. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/service_inside.h"

enum { PART = 1 << 18 }; /* bytes: a few milliseconds of sealing and writing */

static tacit_status fail_state(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(err, TACIT_CORRUPT,
                       "%.200s: the state, the counters and the ledger of a learner do not "
                       "belong together: something was changed",
                       vault->db.path);
}

static void add_head(tacit__text *heads, const void *sealed)
{
    tacit__text_add(heads, sealed, TACIT__SEAL_BYTES);
}

static void make_tag(const tacit__vault *vault, const tacit__text *heads,
                     uint8_t tag[TACIT__PROOF_BYTES])
{
    tacit__keyed_hash(vault->key_proof, heads->data, heads->length, tag, TACIT__PROOF_BYTES);
}

/* Seals one part and puts it into an edition. */
static tacit_status write_part(tacit__vault *vault, int64_t id, int64_t edition, size_t part,
                               const uint8_t *data, size_t size, tacit__text *heads,
                               tacit_error *err)
{
    uint8_t *sealed = tacit__alloc(size + TACIT__SEAL_BYTES, 1);
    if (sealed == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal(vault->key_state, data, size, sealed);
    add_head(heads, sealed);
    tacit_status status =
        tacit__db_write(&vault->db, SQL_PART, "INSERT INTO state VALUES(?,?,?,?)", err, "iiib", id,
                        edition, (int64_t)part, sealed, size + TACIT__SEAL_BYTES);
    tacit__free(sealed);
    return status;
}

static tacit_status drop_edition(tacit__vault *vault, int64_t id, int64_t edition, tacit_error *err)
{
    return tacit__db_write(&vault->db, SQL_DROP_EDITION,
                           "DELETE FROM state WHERE learner=? AND edition=?", err, "ii", id,
                           edition);
}

static tacit_status find_edition(tacit__vault *vault, int64_t id, int64_t *edition,
                                 uint8_t tag[TACIT__PROOF_BYTES], tacit_error *err)
{
    sqlite3_stmt *s;
    bool found;
    tacit_status status = tacit__db_prepare(&vault->db, SQL_EDITION,
                                            "SELECT edition, tag FROM learner WHERE id=?", &s, err);
    if (status != TACIT_OK)
        return status;
    (void)sqlite3_bind_int64(s, 1, id);
    status = tacit__db_next(&vault->db, s, &found, err);
    if (status != TACIT_OK)
        return status;
    if (!found)
        return fail_state(vault, err);
    size_t size;
    *edition = sqlite3_column_int64(s, 0);
    const void *bytes = tacit__vault_blob(s, 1, &size);
    memset(tag, 0, TACIT__PROOF_BYTES); /* a learner that is being made has none */
    if (size == TACIT__PROOF_BYTES)
        memcpy(tag, bytes, size);
    (void)sqlite3_reset(s);
    return TACIT_OK;
}

tacit_status tacit__vault_write_state(tacit__vault *vault, int64_t id, const uint8_t *state,
                                      size_t size, tacit_error *err)
{
    int64_t edition = 0;
    uint8_t tag[TACIT__PROOF_BYTES];
    tacit__text heads = {0};
    tacit_status status = find_edition(vault, id, &edition, tag, err);
    const int64_t next = 1 - edition;
    if (status == TACIT_OK)
        status = drop_edition(vault, id, next, err);
    for (size_t at = 0, part = 0; status == TACIT_OK && (at < size || part == 0);
         at += PART, part++)
        status = write_part(vault, id, next, part, state + at, size - at < PART ? size - at : PART,
                            &heads, err);
    if (status == TACIT_OK)
        status = drop_edition(vault, id, edition, err);
    if (status == TACIT_OK && heads.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK) {
        make_tag(vault, &heads, tag);
        status =
            tacit__db_write(&vault->db, SQL_STATE, "UPDATE learner SET edition=?, tag=? WHERE id=?",
                            err, "ibi", next, tag, sizeof tag, id);
    }
    tacit__text_destroy(&heads);
    return status == TACIT_OK ? tacit__vault_prove(vault, id, err) : status;
}

/* Room for the parts of an edition; sized at once, so that nothing is left behind by growing. */
static tacit_status make_buffer(tacit__vault *vault, int64_t id, int64_t edition, uint8_t **out,
                                size_t *size, tacit_error *err)
{
    sqlite3_stmt *s;
    bool found;
    tacit_status status = tacit__db_prepare(&vault->db, SQL_STATE_SIZE,
                                            "SELECT coalesce(sum(length(data)), 0) FROM state"
                                            " WHERE learner=? AND edition=?",
                                            &s, err);
    if (status != TACIT_OK)
        return status;
    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_int64(s, 2, edition);
    status = tacit__db_next(&vault->db, s, &found, err);
    if (status != TACIT_OK)
        return status;
    *size = found ? (size_t)sqlite3_column_int64(s, 0) : 0;
    (void)sqlite3_reset(s);
    *out = tacit__alloc(*size + 1, 1);
    return *out != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

/* The parts of an edition, opened, one after the other into out[capacity]. */
static tacit_status read_parts(tacit__vault *vault, int64_t id, int64_t edition, tacit__text *heads,
                               uint8_t *out, size_t capacity, size_t *used, tacit_error *err)
{
    sqlite3_stmt *s;
    tacit_status status = tacit__db_prepare(
        &vault->db, SQL_READ_PARTS,
        "SELECT data FROM state WHERE learner=? AND edition=? ORDER BY part", &s, err);
    if (status != TACIT_OK)
        return status;
    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_int64(s, 2, edition);
    *used = 0;
    for (bool more = true; status == TACIT_OK;) {
        status = tacit__db_next(&vault->db, s, &more, err);
        if (status != TACIT_OK || !more)
            break;
        size_t size;
        const void *sealed = tacit__vault_blob(s, 0, &size);
        if (size < TACIT__SEAL_BYTES || size > capacity - *used ||
            !tacit__unseal(vault->key_state, sealed, size, out + *used)) {
            status = fail_state(vault, err);
            break;
        }
        add_head(heads, sealed);
        *used += size - TACIT__SEAL_BYTES;
    }
    (void)sqlite3_reset(s);
    return status;
}

tacit_status tacit__vault_open_state(tacit__vault *vault, int64_t id, uint8_t **out,
                                     size_t *out_size, tacit_error *err)
{
    int64_t edition = 0;
    uint8_t tag[TACIT__PROOF_BYTES], found[TACIT__PROOF_BYTES], *state = NULL;
    size_t capacity = 0, used = 0;
    tacit__text heads = {0};
    if (!vault->keyed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: this needs the key", vault->db.path);
    tacit_status status = find_edition(vault, id, &edition, tag, err);
    if (status == TACIT_OK)
        status = tacit__vault_check_proof(vault, id, err);
    if (status == TACIT_OK)
        status = make_buffer(vault, id, edition, &state, &capacity, err);
    if (status == TACIT_OK)
        status = read_parts(vault, id, edition, &heads, state, capacity, &used, err);
    if (status == TACIT_OK && heads.failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK) {
        make_tag(vault, &heads, found);
        if (!tacit__same_bytes(tag, found, sizeof tag))
            status = fail_state(vault, err);
    }
    tacit__text_destroy(&heads);
    if (status != TACIT_OK) {
        tacit__free_secret(state, used);
        return status;
    }
    *out = state;
    *out_size = used;
    return TACIT_OK;
}
