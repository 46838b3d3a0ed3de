/* The store in a database, of a library that was built without libpq: there is none. */
#include <stdio.h>

#include "base/error.h"
#include "store/vault/vault_inside.h"

const tacit__backend *const tacit__backend_postgres = NULL;

void tacit__vault_describe(const char *path, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", tacit__vault_is_remote(path) ? "a database" : path);
}

void tacit__vault_get_lineage(const tacit__vault *vault, uint64_t *generation, uint8_t stamp[32])
{
    (void)vault, (void)stamp;
    *generation = 0;
}

int64_t tacit__vault_session(const tacit__vault *vault)
{
    (void)vault;
    return 0;
}

tacit_status tacit__vault_init(const tacit__vault_location *location, const uint8_t *key,
                               tacit_error *err)
{
    (void)location, (void)key;
    return tacit__fail(err, TACIT_UNSUPPORTED,
                       "this build has no PostgreSQL: libpq was not there (libpq-dev)");
}
