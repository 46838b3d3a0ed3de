/* The small facts of a vault, rows of `meta`, and the keys among them. See store/vault/vault_inside.h.
 *
 *     check       tells whether a master key is the right one
 *     secrets     the data keys, sealed under the master key
 *     identity    16 random bytes, drawn with the store and again when it is adopted
 *     generation  how many transactions the owners have committed
 *     owner       16 random bytes, drawn by the server that owns the store
 *     lives       in how many forks the store may have continued, itself included
 *     copy        made by a backup
 *     gone        moved into a database (vault_move.c)
 *     behind      a database that went back; location: where it is; unsafe: it was served without fsync
 *                 (postgres_fencing.c, postgres_store.c)
 *     unmarked    the mark outside is still to be written
 *     promise     what people who came were promised (serve/people/pledge.c)
 *     warm:ID     how far a learner was warmed up with a log (vault_warm.c)
 *     proof       of all of them, the adoptions and the learners (vault_proof.c)
 *
 * The master key seals only the data keys, so it can be changed. Clients hold tickets and names of
 * requests, and hashes of people cannot be computed again, so their keys stay for the life of the store. */
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/vault/vault_inside.h"

/* The first keys belong to the store alone. */
enum { N_KEYS = TACIT__VAULT_OWN_KEYS + TACIT__N_VAULT_KEYS, SECRETS = N_KEYS * TACIT__KEY_BYTES };

/* The keys in the vault, in the order in which they are sealed. */
static const size_t keys[N_KEYS] = {offsetof(tacit__vault, key_state),
                                    offsetof(tacit__vault, key_input),
                                    offsetof(tacit__vault, key_proof),
                                    offsetof(tacit__vault, key_mark),
                                    offsetof(tacit__vault, key_outside[TACIT__VAULT_TICKETS]),
                                    offsetof(tacit__vault, key_outside[TACIT__VAULT_PEOPLE]),
                                    offsetof(tacit__vault, key_outside[TACIT__VAULT_REQUESTS]),
                                    offsetof(tacit__vault, key_outside[TACIT__VAULT_DIGESTS])};

static uint8_t *key_at(tacit__vault *vault, size_t i)
{
    TACIT__REQUIRE(i < sizeof keys / sizeof *keys);
    return (uint8_t *)vault + keys[i];
}

const uint8_t *tacit__vault_key(const tacit__vault *vault, tacit__vault_purpose purpose)
{
    TACIT__REQUIRE(vault->keyed);
    return vault->key_outside[purpose];
}

void tacit__vault_draw_keys(tacit__vault *vault)
{
    for (size_t i = 0; i < N_KEYS; i++)
        tacit__random_bytes(key_at(vault, i), TACIT__KEY_BYTES);
    vault->keyed = true;
}

void tacit__vault_swap_keys(tacit__vault *vault,
                            uint8_t others[TACIT__VAULT_OWN_KEYS][TACIT__KEY_BYTES])
{
    TACIT__REQUIRE(vault->keyed);
    for (size_t i = 0; i < TACIT__VAULT_OWN_KEYS; i++) {
        uint8_t held[TACIT__KEY_BYTES];
        memcpy(held, key_at(vault, i), sizeof held);
        memcpy(key_at(vault, i), others[i], sizeof held);
        memcpy(others[i], held, sizeof held);
        tacit__wipe(held, sizeof held);
    }
}

/* --- Facts -------------------------------------------------------------------------------------- */

tacit_status tacit__vault_set_fact(tacit__vault *vault, const char *name, const void *what,
                                   size_t size, tacit_error *err)
{
    TACIT__REQUIRE(what != NULL || size == 0);
    tacit__cursor *s;
    if (what != NULL)
        return tacit__connection_write(
            vault->db, SQL_SET_META,
            "INSERT INTO meta VALUES(?,?) ON CONFLICT(name) DO UPDATE SET"
            " value=excluded.value",
            err, "tb", name, what, size);
    TRY(tacit__vault_prepare(vault, "DELETE FROM meta WHERE name=?", &s, err));
    tacit__cursor_bind_text(s, 1, name);
    return tacit__cursor_run_once(s, err);
}

/* Little-endian, as everything that is proved has one form on every machine. */
static void write_count(uint64_t count, uint8_t out[8])
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(count >> 8 * i);
}

uint64_t tacit__vault_read_count(const uint8_t *bytes, size_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; size == 8 && i < 8; i++)
        count |= (uint64_t)bytes[i] << 8 * i;
    return count;
}

tacit_status tacit__vault_set_count(tacit__vault *vault, const char *name, uint64_t count,
                                    tacit_error *err)
{
    uint8_t bytes[8];
    write_count(count, bytes);
    return tacit__vault_set_fact(vault, name, bytes, sizeof bytes, err);
}

static tacit_status refuse_key(const tacit__vault *vault, tacit_error *err)
{
    return tacit__fail(
        err, TACIT_WRONG_PLAN,
        "%.200s: this is not the key of this store; use the key that was created with it",
        vault->path);
}

static tacit_status open_keys(tacit__vault *vault, const uint8_t *key, const void *sealed,
                              size_t size, tacit_error *err)
{
    uint8_t plain[SECRETS], own[TACIT__KEY_BYTES];
    tacit__key_derive(key, "tacit vault: secrets", own);
    bool good = size == SECRETS + TACIT__SEAL_BYTES && tacit__unseal(own, sealed, size, plain);
    for (size_t i = 0; good && i < N_KEYS; i++)
        memcpy(key_at(vault, i), plain + i * TACIT__KEY_BYTES, TACIT__KEY_BYTES);
    vault->keyed = good;
    if (good) { /* the key of people is the store's permanently, and stays secret */
        tacit__key_derive(vault->key_outside[TACIT__VAULT_PEOPLE], "tacit vault: its name", plain);
        memcpy(&vault->origin, plain, sizeof vault->origin);
    }
    tacit__wipe(plain, sizeof plain);
    tacit__wipe(own, sizeof own);
    return good ? TACIT_OK
                : tacit__fail(err, TACIT_CORRUPT,
                              "%.200s: the store's own keys were changed; restore the file or a "
                              "backup",
                              vault->path);
}

tacit_status tacit__vault_seal_keys(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed && key != NULL);
    uint8_t plain[SECRETS], sealed[SECRETS + TACIT__SEAL_BYTES], own[TACIT__KEY_BYTES];
    for (size_t i = 0; i < N_KEYS; i++)
        memcpy(plain + i * TACIT__KEY_BYTES, key_at(vault, i), TACIT__KEY_BYTES);
    tacit__key_derive(key, "tacit vault: secrets", own);
    tacit__seal(own, plain, sizeof plain, sealed);
    tacit__wipe(plain, sizeof plain);
    tacit_status status = tacit__vault_set_fact(vault, "secrets", sealed, sizeof sealed, err);
    tacit__key_derive(key, "tacit vault: check", own);
    if (status == TACIT_OK)
        status = tacit__vault_set_fact(vault, "check", own, sizeof own, err);
    tacit__wipe(own, sizeof own);
    return status;
}

tacit_status tacit__vault_begin_facts(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    TACIT__REQUIRE(vault->keyed);
    tacit__random_bytes(vault->identity, sizeof vault->identity);
    vault->forks = 1;
    vault->generation = 1;
    vault->unmarked = true;
    TRY(tacit__vault_seal_keys(vault, key, err));
    TRY(tacit__vault_set_fact(vault, "identity", vault->identity, sizeof vault->identity, err));
    TRY(tacit__vault_set_count(vault, "generation", vault->generation, err));
    TRY(tacit__vault_set_count(vault, "lives", vault->forks, err));
    return tacit__vault_set_fact(vault, "unmarked", "", 1, err);
}

/* Reads one row. */
static tacit_status parse_fact(tacit__vault *vault, const char *name, const uint8_t *value,
                               size_t size, const uint8_t *key, tacit_error *err)
{
    uint8_t check[TACIT__KEY_BYTES];
    if (strcmp(name, "copy") == 0) {
        vault->copy = true;
    } else if (strcmp(name, "unmarked") == 0) {
        vault->unmarked = true;
    } else if (strcmp(name, "gone") == 0) {
        vault->gone = true;
        if (vault->use == TACIT__VAULT_SERVE && !vault->may_be_gone)
            return tacit__vault_refuse_gone(vault, err);
    } else if (strcmp(name, "behind") == 0) {
        vault->behind = true;
    } else if (strcmp(name, "unsafe") == 0) {
        vault->was_unsafe = true;
    } else if (strcmp(name, "place") == 0 && size < sizeof vault->location) {
        memcpy(vault->location, value, size);
        vault->location[size] = '\0';
    } else if (strcmp(name, "generation") == 0) {
        vault->generation = tacit__vault_read_count(value, size);
    } else if (strcmp(name, "lives") == 0) {
        vault->forks = tacit__vault_read_count(value, size);
    } else if (strcmp(name, "identity") == 0 && size == sizeof vault->identity) {
        memcpy(vault->identity, value, size);
    } else if (strcmp(name, "check") == 0 && key != NULL) {
        tacit__key_derive(key, "tacit vault: check", check);
        if (size != sizeof check || !tacit__same_bytes(value, check, sizeof check))
            return refuse_key(vault, err);
    } else if (strcmp(name, "secrets") == 0) {
        tacit__digest(&(tacit__bytes){value, size}, 1, check);
        memcpy(vault->secrets_tag, check, sizeof vault->secrets_tag);
        if (key != NULL)
            return open_keys(vault, key, value, size, err);
    }
    return TACIT_OK;
}

tacit_status tacit__vault_read_facts(tacit__vault *vault, const uint8_t *key, tacit_error *err)
{
    tacit__cursor *s;
    vault->copy = vault->unmarked = vault->behind = false;
    /* `check` comes before `secrets`: a wrong key is called so */
    TRY(tacit__connection_prepare(vault->db, SQL_FACTS, TACIT__SQL_FACTS, &s, err));
    tacit_status status = TACIT_OK;
    bool more = true;
    while (status == TACIT_OK && (status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more) {
        const char *name = tacit__cursor_text(s, 0);
        size_t size;
        const void *value = tacit__cursor_bytes(s, 1, &size);
        if (name != NULL)
            status = parse_fact(vault, name, value, size, key, err);
    }
    tacit__cursor_reset(s);
    if (status == TACIT_OK && key != NULL && !vault->keyed)
        status = tacit__fail(err, TACIT_CORRUPT,
                             "%.200s: the store's own keys are missing; restore the file or a "
                             "backup",
                             vault->path);
    return status;
}
