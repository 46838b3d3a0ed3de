/* Where the service clock stands, in the row 'clock' of meta. See store/vault/vault.h and serve/clock.h. */
#include "base/error.h"
#include "store/vault/vault_inside.h"

static tacit_status read_clock(tacit__vault *vault, bool *found, int64_t *seconds, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__connection_prepare(vault->db, SQL_GET_CLOCK,
                                  "SELECT value FROM meta WHERE name='clock'", &s, err));
    TRY(tacit__cursor_next(s, found, err));
    if (!*found)
        return TACIT_OK;
    size_t size;
    const uint8_t *bytes = tacit__cursor_bytes(s, 0, &size);
    *seconds = (int64_t)tacit__vault_read_count(bytes, size);
    tacit__cursor_reset(s);
    return TACIT_OK;
}

tacit_status tacit__vault_get_clock(tacit__vault *vault, int64_t wall, int64_t *seconds,
                                    tacit_error *err)
{
    bool found;
    TRY(read_clock(vault, &found, seconds, err));
    if (!found) /* nothing has been opened yet */
        *seconds = wall;
    return TACIT_OK;
}

tacit_status tacit__vault_save_clock(tacit__vault *vault, int64_t seconds, tacit_error *err)
{
    bool found;
    int64_t now = 0;
    TRY(read_clock(vault, &found, &now, err));
    return found && now >= seconds ? TACIT_OK
                                   : tacit__vault_set_count(vault, "clock", (uint64_t)seconds, err);
}
