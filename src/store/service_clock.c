/* Where the service clock stands, in the row 'clock' of meta. See store/service_store.h and serve/clock.h. */
#include "store/service_store_inside.h"

tacit_status tacit__vault_clock(tacit__vault *vault, int64_t wall, int64_t *seconds,
                                tacit_error *err)
{
    /* Without a row, what is in the store was opened by the clock on the wall. That may be wrong now, or
     * may have been wrong then: the smaller of the two ages nothing that it should not. */
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(
        vault->db.handle,
        "SELECT coalesce((SELECT value FROM meta WHERE name='clock'), min(?1, coalesce("
        "(SELECT max(opened) FROM (SELECT max(opened) AS opened FROM open UNION ALL"
        " SELECT max(opened) FROM answer)), ?1)))",
        -1, &s, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_bind_int64(s, 1, wall);
        code = sqlite3_step(s);
    }
    if (code == SQLITE_ROW)
        *seconds = sqlite3_column_int64(s, 0);
    (void)sqlite3_finalize(s);
    return code == SQLITE_ROW ? TACIT_OK : tacit__db_fail(&vault->db, code, "read", err);
}

tacit_status tacit__vault_save_clock(tacit__vault *vault, int64_t seconds, tacit_error *err)
{
    return tacit__db_write(&vault->db, SQL_CLOCK,
                           "INSERT INTO meta VALUES('clock', ?) ON CONFLICT(name) DO UPDATE SET"
                           " value=excluded.value WHERE excluded.value > value",
                           err, "i", seconds);
}
