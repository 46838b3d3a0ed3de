/* The answers to requests with an idempotency key. See store/vault/vault.h.
 *
 * A row is found by a hash of the key; a second hash identifies the request. A row ends with its episode,
 * or when there are too many rows: then the oldest go first. The rows are counted once and the count is
 * maintained, because SQLite counts them one by one. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

tacit_status tacit__vault_find_answer(tacit__vault *vault, const uint8_t name[TACIT__VAULT_KEY],
                                      const uint8_t content[TACIT__VAULT_KEY], int64_t opened,
                                      tacit__vault_answer_match *memory, void *data, size_t size,
                                      tacit_error *err)
{
    TACIT__REQUIRE(data != NULL && size > 0);
    tacit__cursor *s;
    bool found;
    TRY(tacit__connection_prepare(vault->db, SQL_FIND_ANSWER,
                                  "SELECT content, data FROM answer WHERE name=? AND opened>=?", &s,
                                  err));
    tacit__cursor_bind_bytes(s, 1, name, TACIT__VAULT_KEY);
    tacit__cursor_bind_int(s, 2, opened);
    tacit_status status = tacit__cursor_next(s, &found, err);
    *memory = TACIT__VAULT_NEW;
    if (status != TACIT_OK || !found)
        return status;
    size_t n, opened_size = 0;
    uint8_t *plain = NULL;
    const void *theirs = tacit__cursor_bytes(s, 0, &n);
    bool same = n == TACIT__VAULT_KEY && tacit__same_bytes(theirs, content, n);
    *memory = same ? TACIT__VAULT_SAME : TACIT__VAULT_OTHER;
    if (same) {
        const void *sealed = tacit__cursor_bytes(s, 1, &n);
        status =
            tacit__vault_open_sealed(vault, vault->key_input, sealed, n, &plain, &opened_size, err);
        if (status == TACIT_OK && opened_size != size)
            status =
                tacit__fail(err, TACIT_CORRUPT, "%.200s: a stored answer is damaged", vault->path);
        if (status == TACIT_OK)
            memcpy(data, plain, size);
        tacit__free_secret(plain, opened_size);
    }
    tacit__cursor_reset(s);
    return status;
}

/* Makes room for one more answer, of at most `most`. */
static tacit_status make_room(tacit__vault *vault, uint64_t most, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (!vault->answers_counted) {
        int64_t n = 0;
        status = tacit__vault_query_number(vault, "SELECT count(*) FROM answer", &n, err);
        vault->answers = (uint64_t)n;
        vault->answers_counted = status == TACIT_OK;
    }
    if (status != TACIT_OK || vault->answers < most)
        return status;
    status = tacit__connection_write(vault->db, SQL_MAKE_ROOM,
                                     "DELETE FROM answer WHERE name IN"
                                     " (SELECT name FROM answer ORDER BY opened LIMIT ?)",
                                     err, "i", (int64_t)(vault->answers - most + 1));
    uint64_t gone = 0;
    if (status == TACIT_OK)
        status = tacit__connection_changes(vault->db, &gone, err);
    vault->answers -= gone;
    return status;
}

tacit_status tacit__vault_save_answer(tacit__vault *vault, const uint8_t name[TACIT__VAULT_KEY],
                                      const uint8_t content[TACIT__VAULT_KEY], int64_t opened,
                                      const void *data, size_t size, uint64_t most,
                                      tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed && most > 0);
    TRY(make_room(vault, most, err));
    uint8_t *sealed = tacit__alloc(size + TACIT__SEAL_BYTES, 1);
    if (sealed == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal(vault->key_input, data, size, sealed);
    tacit_status status = tacit__connection_write(
        vault->db, SQL_SAVE_ANSWER,
        "INSERT INTO answer VALUES(?,?,?,?) ON CONFLICT(name) DO UPDATE SET"
        " opened=excluded.opened, content=excluded.content, data=excluded.data",
        err, "bibb", name, (size_t)TACIT__VAULT_KEY, opened, content, (size_t)TACIT__VAULT_KEY,
        sealed, size + TACIT__SEAL_BYTES);
    tacit__free(sealed);
    vault->answers += status == TACIT_OK;
    return status;
}

tacit_status tacit__vault_delete_answers(tacit__vault *vault, int64_t opened, uint64_t most,
                                         uint64_t *n, tacit_error *err)
{
    TACIT__REQUIRE(most > 0);
    tacit_status status = tacit__connection_write(
        vault->db, SQL_DELETE_ANSWERS,
        "DELETE FROM answer WHERE name IN (SELECT name FROM answer WHERE opened<?"
        " ORDER BY opened LIMIT ?)",
        err, "ii", opened, (int64_t)most);
    *n = 0;
    if (status == TACIT_OK)
        status = tacit__connection_changes(vault->db, n, err);
    if (vault->answers_counted)
        vault->answers -= *n;
    return status;
}

tacit_status tacit__vault_has_answers(tacit__vault *vault, bool *has, tacit_error *err)
{
    int64_t n = 0;
    tacit_status status =
        tacit__vault_query_number(vault, "SELECT EXISTS(SELECT 1 FROM answer)", &n, err);
    *has = n != 0;
    return status;
}
