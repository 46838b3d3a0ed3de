/* Tools for a store on which no service runs: adoption, keys, moving to a database. */
#include <stdio.h>
#include <sys/stat.h>

#include <tacit/service.h>

#include "base/error.h"
#include "noise/seal.h"
#include "serve/config.h"
#include "serve/key.h"
#include "store/vault/vault.h"
#include "store/vault/vault_maintenance.h"

/* The open store of a service file, and its key. */
typedef struct opened {
    tacit__service_config config;
    tacit__key key;
    tacit__vault *vault;
} opened;

static void close_store(opened *o)
{
    tacit__vault_close(o->vault);
    tacit__service_config_free(&o->config);
    tacit__wipe(o, sizeof *o);
}

static tacit_status open_store(const tacit_service_options *options, tacit__vault_use use,
                               opened *o, tacit_error *err)
{
    *o = (opened){0};
    if (options == NULL || options->file == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = tacit__service_config_read(options->file, &o->config, err);
    if (status == TACIT_OK)
        status =
            tacit__key_open(&o->config, options->credentials, false, use, &o->key, &o->vault, err);
    if (status != TACIT_OK)
        close_store(o);
    return status;
}

/* --- Adoption ------------------------------------------------------------------------------------- */

tacit_status tacit_store_adoption(const tacit_service_options *options, uint64_t *lives,
                                  void (*each)(void *context, const tacit_store_cost *cost),
                                  void *context, tacit_error *err)
{
    opened o;
    TRY(open_store(options, TACIT__VAULT_READ, &o, err));
    tacit_status status = tacit__vault_check_adoptable(o.vault, err);
    if (status == TACIT_OK)
        status = tacit__service_config_open(&o.config, err);
    *lives = tacit__vault_next_forks(o.vault);
    for (size_t i = 0; status == TACIT_OK && i < o.config.n_learners; i++) {
        const tacit__learner_config *l = &o.config.learners[i];
        tacit_store_cost cost = {.learner = l->name, .before = l->together};
        tacit__vault_learner row = {0};
        bool found;
        status = tacit__vault_find_learner(o.vault, cost.learner, &found, &row, NULL, NULL, err);
        cost.users = row.shown;
        if (status == TACIT_OK)
            status = tacit__share_account(&o.config.shares[i], *lives, &cost.after, err);
        if (status == TACIT_OK)
            each(context, &cost);
    }
    close_store(&o);
    return status;
}

tacit_status tacit_store_adopt(const tacit_service_options *options, tacit_error *err)
{
    opened o;
    TRY(open_store(options, TACIT__VAULT_SERVE, &o, err));
    tacit_status status = tacit__vault_adopt(o.vault, err);
    close_store(&o);
    return status;
}

/* --- Keys ----------------------------------------------------------------------------------------- */

/* Gets the new key: the one in the file, if an earlier attempt or the operator has put it there, or a fresh
 * one. */
static tacit_status get_new_key(const char *path, uint8_t key[TACIT__KEY_BYTES], tacit_error *err)
{
    bool there;
    tacit_status status = tacit__key_read_file(path, key, &there, err);
    return there ? status : tacit__key_make(path, key, err);
}

/* Checks that the key in this file opens the store and everything in it. */
static tacit_status prove_key(const opened *o, const char *path, tacit_error *err)
{
    uint8_t key[TACIT__KEY_BYTES];
    tacit__vault *vault = NULL;
    tacit__vault_health health;
    bool there;
    tacit_status status = tacit__key_read_file(path, key, &there, err);
    if (status == TACIT_OK)
        status = tacit__vault_open_at(
            &(tacit__vault_location){o->config.store, o->config.mark, o->config.unsafe, false},
            TACIT__VAULT_READ, key, &vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_check(vault, &health, err);
    tacit__vault_close(vault);
    tacit__wipe(key, sizeof key);
    return status;
}

/* Writes KEY.new to disk before the store uses it. KEY.new replaces KEY after it was read again and has
 * opened everything, so one of the two opens the store at every moment. */
static tacit_status change_in_place(opened *o, tacit_error *err)
{
    char path[TACIT__KEY_PATH + 8];
    uint8_t key[TACIT__KEY_BYTES];
    if (o->key.lent)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "the key is a credential, %.200s; give --new-key FILE, and use the "
                           "contents of that file as the credential afterwards",
                           o->key.path);
    (void)snprintf(path, sizeof path, "%s.new", o->key.path);
    TRY(tacit__key_check_old(o->key.path, o->key.bytes, err));
    tacit_status status = tacit__key_make(path, key, err);
    if (status == TACIT_OK)
        status = tacit__vault_rekey(o->vault, key, err);
    if (status == TACIT_OK)
        status = prove_key(o, path, err);
    if (status == TACIT_OK)
        status = tacit__key_replace(o->key.path, err);
    tacit__wipe(key, sizeof key);
    return status;
}

/* Whether the change was made, and interrupted before it was reported. */
static bool is_done(const tacit_service_options *options, const char *new_key)
{
    tacit__service_config config;
    uint8_t key[TACIT__KEY_BYTES];
    tacit__vault *vault = NULL;
    bool there;
    if (tacit__service_config_read(options->file, &config, NULL) != TACIT_OK)
        return false;
    bool done = tacit__key_read_file(new_key, key, &there, NULL) == TACIT_OK &&
                tacit__vault_open_at(
                    &(tacit__vault_location){config.store, config.mark, config.unsafe, false},
                    TACIT__VAULT_SERVE, key, &vault, NULL) == TACIT_OK;
    tacit__vault_close(vault);
    tacit__service_config_free(&config);
    tacit__wipe(key, sizeof key);
    return done;
}

static bool is_file(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISREG(entry.st_mode);
}

tacit_status tacit_store_rekey(const tacit_service_options *options, const char *new_key,
                               tacit_error *err)
{
    opened o;
    uint8_t key[TACIT__KEY_BYTES];
    tacit_status status = open_store(options, TACIT__VAULT_SERVE, &o, err);
    if (status == TACIT_WRONG_PLAN && new_key != NULL && is_done(options, new_key))
        return TACIT_OK;
    if (status != TACIT_OK)
        return status;
    if (new_key == NULL) {
        status = change_in_place(&o, err);
    } else {
        status = get_new_key(new_key, key, err);
        if (status == TACIT_OK && !tacit__same_bytes(key, o.key.bytes, sizeof key))
            status = tacit__vault_rekey(o.vault, key, err);
        if (status == TACIT_OK && is_file(new_key)) /* what came by a pipe cannot be read again */
            status = prove_key(&o, new_key, err);
        tacit__wipe(key, sizeof key);
    }
    close_store(&o);
    return status;
}

/* --- Databases ------------------------------------------------------------------------------------ */

/* Gets the key of a new store: the one that is there, or a fresh one. */
static tacit_status get_first_key(const tacit__service_config *c, const char *credentials,
                                  tacit__key *key, tacit_error *err)
{
    char path[TACIT__KEY_PATH];
    (void)snprintf(path, sizeof path, "%s%s", c->key != NULL ? c->key : c->beside,
                   c->key != NULL ? "" : ".key");
    if (tacit__key_read(c, credentials, false, key, NULL) == TACIT_OK)
        return TACIT_OK;
    return get_new_key(path, key->bytes, err);
}

tacit_status tacit_store_init(const tacit_service_options *options, const char *as,
                              tacit_error *err)
{
    tacit__service_config config;
    tacit__key key = {0};
    if (options == NULL || options->file == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(tacit__service_config_read(options->file, &config, err));
    tacit_status status = TACIT_OK;
    if (!tacit__vault_is_remote(config.store))
        status = tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: the store is a file, which tacit serve creates; init is for "
                             "store: postgresql://...",
                             config.store);
    if (status == TACIT_OK)
        status = get_first_key(&config, options->credentials, &key, err);
    if (status == TACIT_OK)
        status = tacit__vault_init(&(tacit__vault_location){.path = as != NULL ? as : config.store},
                                   key.bytes, err);
    tacit__wipe(&key, sizeof key);
    tacit__service_config_free(&config);
    return status;
}

/* Copies the key of the source, which the database uses from now on, to the key file of its service file if
 * that names one. */
static tacit_status move_key(const opened *from, const opened *to, tacit_error *err)
{
    char path[TACIT__KEY_PATH + 8];
    if (to->key.lent || tacit__same_bytes(from->key.bytes, to->key.bytes, sizeof from->key.bytes))
        return TACIT_OK;
    (void)snprintf(path, sizeof path, "%s.moved", to->key.path);
    TRY(tacit__key_write(path, from->key.bytes, err));
    return tacit__key_rename(path, to->key.path, err);
}

/* Opens the file that is moved, even if a move of it was interrupted. */
static tacit_status open_source(const char *file, opened *o, tacit_error *err)
{
    *o = (opened){0};
    tacit_status status = tacit__service_config_read(file, &o->config, err);
    if (status == TACIT_OK && tacit__vault_is_remote(o->config.store))
        status = tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: a store is moved from a file into a database, but this "
                             "service file names a database",
                             file);
    if (status == TACIT_OK)
        status = tacit__key_read(&o->config, NULL, false, &o->key, err);
    if (status == TACIT_OK)
        status = tacit__vault_open_at(
            &(tacit__vault_location){.path = o->config.store, .mark = o->config.mark, .gone = true},
            TACIT__VAULT_SERVE, o->key.bytes, &o->vault, err);
    if (status != TACIT_OK)
        close_store(o);
    return status;
}

/* Opens the database with its own key or, if a move was interrupted, with that of the source. */
static tacit_status open_target(const tacit_service_options *options, const char *as,
                                const opened *source, opened *o, tacit_error *err)
{
    *o = (opened){0};
    tacit_status status = tacit__service_config_read(options->file, &o->config, err);
    if (status == TACIT_OK && !tacit__vault_is_remote(o->config.store))
        status = tacit__fail(err, TACIT_BAD_ARGUMENT,
                             "%.200s: a store is moved from a file into a database, but this "
                             "service file names a file",
                             options->file);
    if (status == TACIT_OK)
        status = tacit__key_read(&o->config, options->credentials, false, &o->key, err);
    const tacit__vault_location location = {.path = as != NULL ? as : o->config.store,
                                            .mark = o->config.mark};
    if (status == TACIT_OK)
        status = tacit__vault_open_at(&location, TACIT__VAULT_TOOL, o->key.bytes, &o->vault, err);
    if (status == TACIT_WRONG_PLAN &&
        tacit__vault_open_at(&location, TACIT__VAULT_TOOL, source->key.bytes, &o->vault, NULL) ==
            TACIT_OK)
        status = TACIT_OK;
    if (status != TACIT_OK)
        close_store(o);
    return status;
}

tacit_status tacit_store_move(const tacit_service_options *options, const char *from,
                              const char *as, tacit_error *err)
{
    opened source, target;
    bool before = false;
    if (options == NULL || options->file == NULL || from == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(open_source(from, &source, err));
    tacit_status status = open_target(options, as, &source, &target, err);
    if (status == TACIT_OK) {
        const bool same = tacit__same_bytes(source.key.bytes, target.key.bytes, TACIT__KEY_BYTES);
        status = tacit__vault_move(source.vault, target.vault, &before, err);
        if (status == TACIT_OK && before && same)
            status = tacit__vault_refuse_gone(source.vault, err);
        else if (status == TACIT_OK)
            status = move_key(&source, &target, err);
        close_store(&target);
    }
    close_store(&source);
    return status;
}
