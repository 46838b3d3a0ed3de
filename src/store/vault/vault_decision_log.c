/* The operator's sealed decision log, which the guarantee does not cover. Also lists the learners of a
 * store. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

enum { BATCH = 256 }; /* rows per read: a longer read would keep the write-ahead log in use */

tacit_status tacit__vault_add_decision(tacit__vault *vault, int64_t learner, const void *data,
                                       size_t size, tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed && data != NULL);
    uint8_t *sealed = tacit__alloc(size + TACIT__SEAL_BYTES, 1);
    if (sealed == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__seal(vault->key_input, data, size, sealed);
    tacit_status status = tacit__connection_write(
        vault->db, SQL_ADD_DECISION, "INSERT INTO decision(learner, data) VALUES(?,?)", err, "ib",
        learner, sealed, size + TACIT__SEAL_BYTES);
    tacit__free(sealed);
    return status;
}

/* Opens the sealed row for `each` and sets *number to its number. */
static tacit_status open_decision(tacit__vault *vault, tacit__cursor *row,
                                  tacit__vault_decision_fn *each, void *context, int64_t *number,
                                  tacit_error *err)
{
    size_t n, size = 0;
    uint8_t *data = NULL;
    const void *sealed = tacit__cursor_bytes(row, 2, &n);
    const char *name = tacit__cursor_text(row, 1);
    *number = tacit__cursor_int(row, 0);
    tacit_status status =
        tacit__vault_open_sealed(vault, vault->key_input, sealed, n, &data, &size, err);
    if (status == TACIT_OK)
        status = each(context, *number, name != NULL ? name : "", data, size, err);
    tacit__free_secret(data, size);
    return status;
}

tacit_status tacit__vault_each_decision(tacit__vault *vault, tacit__vault_decision_fn *each,
                                        void *context, tacit_error *err)
{
    TACIT__REQUIRE(each != NULL);
    int64_t number = 0;
    tacit_status status = TACIT_OK;
    for (int n = BATCH; n == BATCH && status == TACIT_OK;) {
        tacit__cursor *s;
        status = tacit__connection_prepare(
            vault->db, SQL_READ_DECISIONS,
            "SELECT d.number, l.name, d.data FROM decision AS d JOIN learner"
            " AS l ON l.id=d.learner WHERE d.number>? ORDER BY d.number"
            " LIMIT ?",
            &s, err);
        if (status != TACIT_OK)
            return status;
        tacit__cursor_bind_int(s, 1, number);
        tacit__cursor_bind_int(s, 2, BATCH);
        bool more = true;
        for (n = 0; status == TACIT_OK; n++) {
            status = tacit__cursor_next(s, &more, err);
            if (status != TACIT_OK || !more)
                break;
            status = open_decision(vault, s, each, context, &number, err);
        }
        tacit__cursor_reset(s);
    }
    return status;
}

tacit_status tacit__vault_list_learners(tacit__vault *vault, tacit__vault_learner_fn *each,
                                        void *context, tacit_error *err)
{
    TACIT__REQUIRE(each != NULL);
    tacit__cursor *s;
    bool more = true;
    tacit_status status = tacit__connection_prepare(
        vault->db, SQL_LEARNERS,
        "SELECT name, accepted, (SELECT count(*) FROM input AS i WHERE i.learner=l.id AND"
        " i.number>l.taken) FROM learner AS l ORDER BY id",
        &s, err);
    while (status == TACIT_OK) {
        status = tacit__cursor_next(s, &more, err);
        if (status != TACIT_OK || !more)
            break;
        const char *name = tacit__cursor_text(s, 0);
        each(context, name != NULL ? name : "", (uint64_t)tacit__cursor_int(s, 1),
             (uint64_t)tacit__cursor_int(s, 2));
    }
    return status;
}
