/* Continuing after a loss: a copy, or a store that went back, becomes an original. See
 * store/vault/vault.h.
 *
 * The line from which it came may have continued, with users who are missing here and may come again. So the
 * store permanently counts one more fork: `forks` is the number of continuations that may have a person's
 * data, as far as the store or its mark knows. Every adoption is recorded with the number of users of each
 * learner. The new line has its own identity and mark, so neither the file before the adoption nor another
 * adoption of the same backup can be mistaken for it. */
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"
#include "text/json_text.h"

uint64_t tacit__vault_next_forks(const tacit__vault *vault)
{
    return (vault->forks > vault->marked_forks ? vault->forks : vault->marked_forks) + 1;
}

tacit_status tacit__vault_write_adoptions(tacit__vault *vault, int64_t learner, tacit__text *out,
                                          tacit_error *err)
{
    tacit__cursor *s;
    /* the row of learner 0 is the store's own: a learner that was created later had no users then */
    TRY(tacit__vault_prepare(
        vault,
        "SELECT a.at, coalesce(b.users, 0), a.lives FROM adoption AS a LEFT JOIN adoption AS b"
        " ON b.lives=a.lives AND b.learner=? WHERE a.learner=0 ORDER BY a.number",
        &s, err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit_status status = TACIT_OK;
    tacit__text_put(out, "[");
    for (bool first = true, more; (status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more;
         first = false)
        tacit__text_print(out, "%s{\"at\":%lld,\"users\":%lld,\"lives\":%lld}", first ? "" : ",",
                          (long long)tacit__cursor_int(s, 0), (long long)tacit__cursor_int(s, 1),
                          (long long)tacit__cursor_int(s, 2));
    tacit__text_put(out, "]");
    tacit__cursor_close(s);
    return status;
}

/* Writes the rows of one adoption. */
static tacit_status write_adoption_rows(tacit__vault *vault, uint64_t forks, tacit_error *err)
{
    static const char *const rows[] = {
        "INSERT INTO adoption(at, learner, users, lives) VALUES(?1, 0, 0, ?2)",
        "INSERT INTO adoption(at, learner, users, lives) SELECT ?1, id, shown, ?2 FROM learner"};
    tacit_status status = TACIT_OK;
    const int64_t now = (int64_t)time(NULL);
    for (size_t i = 0; i < 2 && status == TACIT_OK; i++) {
        tacit__cursor *s;
        status = tacit__vault_prepare(vault, rows[i], &s, err);
        if (status != TACIT_OK)
            break;
        tacit__cursor_bind_int(s, 1, now);
        tacit__cursor_bind_int(s, 2, (int64_t)forks);
        status = tacit__cursor_run_once(s, err);
    }
    return status;
}

static tacit_status change_identity(tacit__vault *vault, tacit_error *err)
{
    uint8_t identity[TACIT__OWNER_BYTES];
    tacit__random_bytes(identity, sizeof identity);
    TRY(tacit__vault_set_fact(vault, "identity", identity, sizeof identity, err));
    TRY(tacit__vault_set_count(vault, "lives", tacit__vault_next_forks(vault), err));
    TRY(tacit__vault_set_count(vault, "generation", vault->generation + 1, err));
    TRY(tacit__vault_set_fact(vault, "copy", NULL, 0, err));
    TRY(tacit__vault_set_fact(vault, "behind", NULL, 0, err));
    return vault->backend->settle(vault, err);
}

tacit_status tacit__vault_check_adoptable(tacit__vault *vault, tacit_error *err)
{
    const char *why = NULL;
    tacit__store_status store_status;
    TRY(vault->backend->check_status(vault, &store_status, err));
    TRY(tacit__vault_check_facts(vault, err));
    TRY(tacit__vault_check_sums(vault, &why, err));
    if (why == NULL)
        TRY(tacit__vault_check_people(vault, &why, err));
    if (store_status == TACIT__STORE_FINE)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "%.200s: there is nothing to adopt: the store is not a copy and did not "
                           "go back",
                           vault->path);
    return why == NULL
               ? TACIT_OK
               : tacit__fail(err, TACIT_CORRUPT, "%.200s: cannot be adopted: %s", vault->path, why);
}

/* Makes all changes of an adoption, in the transaction that its caller began. */
static tacit_status write_adoption(tacit__vault *vault, tacit_error *err)
{
    TRY(change_identity(vault, err));
    TRY(write_adoption_rows(vault, tacit__vault_next_forks(vault), err));
    return tacit__vault_add_event(vault, err, "adopted: %s learns again",
                                  vault->copy ? "a copy" : "a store that went back");
}

tacit_status tacit__vault_adopt(tacit__vault *vault, tacit_error *err)
{
    TACIT__REQUIRE(vault->use == TACIT__VAULT_SERVE);
    TRY(tacit__vault_check_adoptable(vault, err));
    TRY(tacit__vault_begin(vault, err));
    TRY(tacit__vault_finish_transaction(vault, write_adoption(vault, err), err));
    /* the adoption is on disk: after a crash, the next start finishes the rest */
    return vault->backend->adopted(vault, err);
}
