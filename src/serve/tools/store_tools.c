/* Tokens, and tools for the store that work while a service runs, and without one. */
#include <string.h>
#include <time.h>

#include <tacit/service.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "serve/config.h"
#include "serve/http/routes.h"
#include "serve/key.h"
#include "store/vault/vault.h"
#include "store/vault/vault_maintenance.h"

/* Opens the store of a service file; with its key if `keyed`. With `may_make`, the store of a service that
 * never ran is created first. */
static tacit_status open_store(const tacit_service_options *options, tacit__vault_use use,
                               bool may_make, tacit__vault **out, tacit_error *err)
{
    tacit__service_config config;
    tacit__key key;
    if (options == NULL || options->file == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(tacit__service_config_read(options->file, &config, err));
    tacit_status status =
        tacit__key_open(&config, options->credentials, may_make, use, &key, out, err);
    /* there is none, or an unfinished one; a server creates it, and this process is one for a moment */
    if ((status == TACIT_BAD_ARGUMENT || status == TACIT_CORRUPT) && may_make) {
        tacit__vault *fresh = NULL;
        status = tacit__key_open(&config, options->credentials, true, TACIT__VAULT_SERVE, &key,
                                 &fresh, err);
        tacit__vault_close(fresh);
        if (status == TACIT_OK)
            status = tacit__key_open(&config, options->credentials, false, use, &key, out, err);
    }
    tacit__wipe(&key, sizeof key);
    tacit__service_config_free(&config);
    return status;
}

/* --- Tokens ------------------------------------------------------------------------------------- */

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

/* Checks that the service file has a learner of this name. */
static tacit_status check_learner(const tacit_service_options *options, const char *name,
                                  tacit_error *err)
{
    tacit__service_config config;
    tacit__text names = {0};
    bool known = false;
    if (options == NULL || options->file == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(tacit__service_config_read(options->file, &config, err));
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < config.n_learners; i++) {
        known = known || strcmp(config.learners[i].name, name) == 0;
        tacit__text_print(&names, "%s%s", i > 0 ? ", " : "", config.learners[i].name);
    }
    if (!known)
        status = tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s has no learner '%.64s', only %.200s",
                             options->file, name, names.data != NULL ? names.data : "");
    tacit__text_destroy(&names);
    tacit__service_config_free(&config);
    return status;
}

static tacit_status check_token(const tacit_service_options *options,
                                const tacit_token_request *request, tacit__token *out,
                                tacit_error *err)
{
    const char *name = request->name != NULL ? request->name : "",
               *scopes = request->scopes != NULL ? request->scopes : "";
    unsigned bits;
    *out = (tacit__token){.created = (int64_t)time(NULL),
                          .expires = request->expires,
                          .users_per_day = request->users_per_day};
    if (name[0] == '\0' || strlen(name) > TACIT__TOKEN_NAME)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a token's name has 1 to %d bytes, '%.80s' has %zu", TACIT__TOKEN_NAME,
                           name, strlen(name));
    if (has_control(name))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a token's name has no control characters");
    if (!tacit__scopes_read(scopes, &bits))
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "scopes are '%.80s', expected some of decide,observe,report,read,admin",
                           scopes);
    if (request->users_per_day > INT64_MAX)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a token brings at most 2^63 - 1 users a day");
    if (request->expires < 0 || (request->expires != 0 && request->expires <= out->created))
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the token would have expired already");
    memcpy(out->name, name, strlen(name) + 1);
    out->scopes = bits;
    if (request->learner == NULL)
        return TACIT_OK;
    TRY(check_learner(options, request->learner, err));
    memcpy(out->learner, request->learner, strlen(request->learner) + 1);
    return TACIT_OK;
}

/* Writes what the event says about a new token. */
static void describe_token(const tacit__token *t, tacit__text *out)
{
    char scopes[64], when[32];
    struct tm parts;
    time_t expires = (time_t)t->expires;
    tacit__text_put(out, tacit__scopes_write(t->scopes, scopes));
    if (t->learner[0] != '\0')
        tacit__text_print(out, ", learner %s", t->learner);
    if (t->users_per_day > 0)
        tacit__text_print(out, ", %llu users a day", (unsigned long long)t->users_per_day);
    if (t->expires != 0 && gmtime_r(&expires, &parts) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
        tacit__text_print(out, ", expires %s", when);
}

tacit_status tacit_token_create(const tacit_service_options *options,
                                const tacit_token_request *request, char token[TACIT_TOKEN_SIZE],
                                tacit_error *err)
{
    static const char prefix[] = "tacit_";
    tacit__vault *vault = NULL;
    tacit__token entry;
    if (request == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(check_token(options, request, &entry, err));
    TRY(open_store(options, TACIT__VAULT_TOOL, true, &vault, err));
    uint8_t secret[TACIT__KEY_BYTES];
    tacit__text what = {0};
    tacit__random_bytes(secret, sizeof secret);
    memcpy(token, prefix, sizeof prefix - 1);
    tacit__base64_write(secret, sizeof secret, token + sizeof prefix - 1);
    tacit__digest(&(tacit__bytes){token, strlen(token)}, 1, entry.hash);
    describe_token(&entry, &what);
    tacit_status status = what.failed ? tacit__fail_plain(err, TACIT_NO_MEMORY)
                                      : tacit__vault_add_token(vault, &entry, what.data, err);
    tacit__text_destroy(&what);
    tacit__wipe(secret, sizeof secret);
    tacit__vault_close(vault);
    return status;
}

tacit_status tacit_token_revoke(const tacit_service_options *options, const char *name,
                                tacit_error *err)
{
    tacit__vault *vault = NULL;
    TRY(open_store(options, TACIT__VAULT_TOOL, false, &vault, err));
    const tacit_status status = tacit__vault_revoke_token(vault, name, err);
    tacit__vault_close(vault);
    return status;
}

tacit_status tacit_token_list(const tacit_service_options *options,
                              void (*each)(void *context, const tacit_token_facts *token),
                              void *context, tacit_error *err)
{
    tacit__vault *vault = NULL;
    tacit__token *tokens = tacit__alloc(TACIT__MAX_TOKENS, sizeof *tokens);
    size_t n = 0;
    if (tokens == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = open_store(options, TACIT__VAULT_TOOL, false, &vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_list_tokens(vault, tokens, &n, err);
    for (size_t i = 0; i < n && status == TACIT_OK; i++) {
        char scopes[64];
        const tacit_token_facts facts = {.name = tokens[i].name,
                                         .scopes = tacit__scopes_write(tokens[i].scopes, scopes),
                                         .created = tokens[i].created,
                                         .revoked = tokens[i].revoked,
                                         .learner = tokens[i].learner[0] != '\0' ? tokens[i].learner
                                                                                 : NULL,
                                         .users_per_day = tokens[i].users_per_day,
                                         .expires = tokens[i].expires};
        each(context, &facts);
    }
    tacit__vault_close(vault);
    tacit__free(tokens);
    return status;
}

/* --- The store ---------------------------------------------------------------------------------- */

tacit_status tacit_store_check(const tacit_service_options *options, tacit_store_health *health,
                               tacit_error *err)
{
    tacit__vault *vault = NULL;
    tacit__vault_health found;
    tacit_status status = open_store(options, TACIT__VAULT_READ, false, &vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_check(vault, &found, err);
    if (status == TACIT_OK)
        *health = (tacit_store_health){.learners = found.learners,
                                       .inputs = found.inputs,
                                       .open = found.open,
                                       .seen = found.seen,
                                       .people = found.people,
                                       .answers = found.answers,
                                       .tokens = found.tokens,
                                       .bytes = found.bytes,
                                       .unsafe = tacit__vault_is_unsafe(vault)};
    tacit__vault_close(vault);
    return status;
}

tacit_status tacit_store_backup(const tacit_service_options *options, const char *path,
                                tacit_error *err)
{
    tacit__vault *vault = NULL;
    TRY(open_store(options, TACIT__VAULT_READ, false, &vault, err));
    const tacit_status status = tacit__vault_backup(vault, path, err);
    tacit__vault_close(vault);
    return status;
}

tacit_status tacit_store_export(const tacit_service_options *options, char **json, tacit_error *err)
{
    tacit__vault *vault = NULL;
    tacit__text out = {0};
    tacit_status status = open_store(options, TACIT__VAULT_READ, false, &vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_write_export(vault, &out, err);
    tacit__vault_close(vault);
    if (status == TACIT_OK)
        *json = out.data;
    else
        tacit__text_destroy(&out);
    return status;
}

tacit_status tacit_store_events(const tacit_service_options *options,
                                void (*each)(void *context, int64_t at, const char *what),
                                void *context, tacit_error *err)
{
    tacit__vault *vault = NULL;
    TRY(open_store(options, TACIT__VAULT_READ, false, &vault, err));
    const tacit_status status = tacit__vault_each_event(vault, each, context, err);
    tacit__vault_close(vault);
    return status;
}
