/* Finished episodes: what is stored of those from which a learner learns, and the expiry of the others. See
 * store/vault/vault.h.
 *
 * For an episode, seen.content begins with the time when the episode was opened, high byte first, so that
 * the index by content is in the order of age. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/vault/vault_inside.h"

enum { TIME_BYTES = 8 };

static void write_time(int64_t time, uint8_t out[TIME_BYTES])
{
    for (int i = 0; i < TIME_BYTES; i++)
        out[i] = (uint8_t)((uint64_t)time >> (8 * (TIME_BYTES - 1 - i)));
}

tacit_status tacit__vault_end_episode(tacit__vault *vault, int64_t learner,
                                      const uint8_t key[TACIT__VAULT_KEY], const uint8_t *person,
                                      tacit_error *err)
{
    TRY(tacit__connection_write(vault->db, SQL_DELETE_EPISODE,
                                "DELETE FROM open WHERE learner=? AND key=?", err, "ib", learner,
                                key, (size_t)TACIT__VAULT_KEY));
    if (person != NULL)
        return tacit__connection_write(
            vault->db, SQL_END_CLAIM, "DELETE FROM person WHERE learner=? AND hash=? AND key=?",
            err, "ibb", learner, person, (size_t)TACIT__VAULT_KEY, key, (size_t)TACIT__VAULT_KEY);
    return TACIT_OK;
}

tacit_status tacit__vault_make_content(const tacit__vault_observed *observed, uint8_t **out,
                                       size_t *size, tacit_error *err)
{
    *size = TIME_BYTES + observed->digest.size;
    *out = tacit__alloc(*size, 1);
    if (*out == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    write_time(observed->opened, *out);
    memcpy(*out + TIME_BYTES, observed->digest.data, observed->digest.size);
    return TACIT_OK;
}

tacit_status tacit__vault_get_digest(tacit__vault *vault, int64_t learner,
                                     const uint8_t key[TACIT__VAULT_KEY], void *digest, size_t size,
                                     bool *known, tacit_error *err)
{
    TACIT__REQUIRE(digest != NULL && size > 0);
    tacit__cursor *s;
    bool found = false;
    *known = false;
    TRY(tacit__connection_prepare(vault->db, SQL_IS_SEEN, TACIT__SQL_IS_SEEN, &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_bytes(s, 2, key, TACIT__VAULT_KEY);
    TRY(tacit__cursor_next(s, &found, err));
    if (!found)
        return TACIT_OK;
    size_t n = 0;
    const uint8_t *content = tacit__cursor_bytes(s, 0, &n);
    *known = n == TIME_BYTES + size; /* one that was taken by an earlier version has none */
    if (*known)
        memcpy(digest, content + TIME_BYTES, size);
    tacit__cursor_reset(s);
    return TACIT_OK;
}

tacit_status tacit__vault_has_digests(tacit__vault *vault, int64_t learner, int64_t opened,
                                      bool *has, tacit_error *err)
{
    tacit__cursor *s;
    uint8_t before[TIME_BYTES];
    write_time(opened, before);
    *has = false;
    TRY(tacit__connection_prepare(vault->db, SQL_HAS_DIGESTS,
                                  "SELECT 1 FROM seen WHERE learner=? AND content<? LIMIT 1", &s,
                                  err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_bytes(s, 2, before, sizeof before);
    tacit_status status = tacit__cursor_next(s, has, err);
    tacit__cursor_reset(s);
    return status;
}

tacit_status tacit__vault_delete_digests(tacit__vault *vault, int64_t learner, int64_t opened,
                                         uint64_t most, uint64_t *n, tacit_error *err)
{
    TACIT__REQUIRE(most > 0);
    uint8_t before[TIME_BYTES];
    write_time(opened, before);
    tacit_status status = tacit__connection_write(
        vault->db, SQL_DELETE_DIGESTS,
        "UPDATE seen SET content=NULL WHERE (learner, key) IN (SELECT learner, key"
        " FROM seen WHERE learner=? AND content<? ORDER BY content LIMIT ?)",
        err, "ibi", learner, before, sizeof before, (int64_t)most);
    *n = 0;
    return status == TACIT_OK ? tacit__connection_changes(vault->db, n, err) : status;
}
