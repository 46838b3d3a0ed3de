/* Limits on users: reports that are already known, and the quotas of tokens. Both are checked in the
 * transaction that accepts the user, so nothing happens between the check and the count. See
 * store/vault/vault.h. */
#include "base/error.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

tacit_status tacit__vault_find_report(tacit__vault *vault, int64_t learner,
                                      const uint8_t key[TACIT__VAULT_KEY],
                                      const uint8_t content[TACIT__VAULT_KEY],
                                      tacit__vault_answer *answer, tacit_error *err)
{
    TACIT__REQUIRE(answer != NULL);
    tacit__cursor *s;
    bool found, same;
    *answer = TACIT__VAULT_TAKEN;
    TRY(tacit__vault_is_seen(vault, learner, key, &found, content, &same, err));
    if (found) {
        *answer = same ? TACIT__VAULT_SEEN : TACIT__VAULT_CHANGED;
        return TACIT_OK;
    }
    TRY(tacit__connection_prepare(vault->db, SQL_FIND_REPORT, TACIT__SQL_FIND_REPORT, &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_bytes(s, 2, content, TACIT__VAULT_KEY);
    TRY(tacit__cursor_next(s, &found, err));
    if (found)
        *answer = TACIT__VAULT_SEEN;
    tacit__cursor_reset(s);
    return TACIT_OK;
}

tacit_status tacit__vault_get_quota(tacit__vault *vault, int64_t token, int64_t day, uint64_t *used,
                                    tacit_error *err)
{
    TACIT__REQUIRE(used != NULL);
    tacit__cursor *s;
    bool found;
    *used = 0;
    TRY(tacit__connection_prepare(vault->db, SQL_QUOTA, TACIT__SQL_QUOTA, &s, err));
    tacit__cursor_bind_int(s, 1, token);
    tacit__cursor_bind_int(s, 2, day);
    tacit_status status = tacit__cursor_next(s, &found, err);
    if (status == TACIT_OK && found)
        *used = (uint64_t)tacit__cursor_int(s, 0);
    tacit__cursor_reset(s);
    return status;
}

tacit_status tacit__vault_use_quota(tacit__vault *vault, int64_t token, int64_t day,
                                    tacit_error *err)
{
    return tacit__connection_write(
        vault->db, SQL_USE_QUOTA,
        "INSERT INTO quota VALUES(?,?,1) ON CONFLICT(token) DO UPDATE SET"
        " used = CASE WHEN excluded.day > quota.day THEN 1 ELSE quota.used + 1 END,"
        " day = CASE WHEN excluded.day > quota.day THEN excluded.day ELSE quota.day END",
        err, "ii", token, day);
}
