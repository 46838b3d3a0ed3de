/* Maintenance of a vault: expiry, tokens, export. None of it is urgent, so statements are compiled where
 * they are used. See store/vault/vault.h. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/vault/vault_inside.h"
#include "text/json_text.h"

tacit_status tacit__vault_expire_episodes(tacit__vault *vault, int64_t opened, uint64_t most,
                                          uint64_t *n, tacit_error *err)
{
    TACIT__REQUIRE(most > 0);
    tacit__cursor *s;
    /* a person whose episode was not finished has not taken part */
    static const char *const sql[] = {
        "DELETE FROM person WHERE visits IS NULL AND (learner, key) IN"
        " (SELECT learner, key FROM open WHERE opened<? ORDER BY opened LIMIT ?)",
        "DELETE FROM open WHERE (learner, key) IN"
        " (SELECT learner, key FROM open WHERE opened<? ORDER BY opened LIMIT ?)"};
    tacit_status status = TACIT_OK;
    for (int i = 0; i < 2 && status == TACIT_OK; i++) {
        status = tacit__vault_prepare(vault, sql[i], &s, err);
        if (status != TACIT_OK)
            return status;
        tacit__cursor_bind_int(s, 1, opened);
        tacit__cursor_bind_int(s, 2, (int64_t)most);
        status = tacit__cursor_run_once(s, err);
    }
    *n = 0;
    return status == TACIT_OK ? tacit__connection_changes(vault->db, n, err) : status;
}

static tacit_status count(tacit__vault *vault, const char *sql, uint64_t *out, tacit_error *err)
{
    int64_t n = 0;
    tacit_status status = tacit__vault_query_number(vault, sql, &n, err);
    *out = (uint64_t)n;
    return status;
}

tacit_status tacit__vault_count_open(tacit__vault *vault, uint64_t *n, tacit_error *err)
{
    return count(vault, "SELECT count(*) FROM open", n, err);
}

tacit_status tacit__vault_get_steps_passed(tacit__vault *vault, int64_t learner,
                                           const char *release, uint64_t *passed, tacit_error *err)
{
    TACIT__REQUIRE(release != NULL);
    tacit__cursor *s;
    TRY(tacit__vault_prepare(vault, "SELECT passed FROM ledger WHERE learner=? AND release=?", &s,
                             err));
    bool found;
    tacit__cursor_bind_int(s, 1, learner);
    tacit__cursor_bind_text(s, 2, release);
    tacit_status status = tacit__cursor_next(s, &found, err);
    *passed = found ? (uint64_t)tacit__cursor_int(s, 0) : 0;
    tacit__cursor_close(s);
    return status;
}

static void append_real(tacit__text *out, tacit__cursor *s, int column)
{
    if (tacit__cursor_type(s, column) == TACIT__COLUMN_NULL)
        tacit__text_put(out, "null");
    else
        tacit__text_number(out, tacit__cursor_real(s, column));
}

tacit_status tacit__vault_write_history(tacit__vault *vault, int64_t learner, uint64_t most,
                                        tacit__text *out, tacit_error *err)
{
    tacit__cursor *s;
    uint64_t n = 0, row = 0;
    tacit_status status =
        tacit__vault_prepare(vault, "SELECT count(*) FROM history WHERE learner=?", &s, err);
    if (status == TACIT_OK) {
        tacit__cursor_bind_int(s, 1, learner);
        bool found;
        status = tacit__cursor_next(s, &found, err);
        n = found ? (uint64_t)tacit__cursor_int(s, 0) : 0;
        tacit__cursor_close(s);
    }
    if (status == TACIT_OK)
        status = tacit__vault_prepare(
            vault,
            "SELECT users, at, version, reward, error FROM history WHERE learner=?"
            " ORDER BY users",
            &s, err);
    if (status != TACIT_OK)
        return status;
    tacit__cursor_bind_int(s, 1, learner);
    const uint64_t hop = most > 0 && n > most ? (n + most - 1) / most : 1;
    bool first = true, more;
    tacit__text_put(out, "[");
    while ((status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more) {
        bool wanted = row % hop == 0 || row + 1 == n;
        row++;
        if (!wanted)
            continue;
        tacit__text_print(out, "%s{\"users\":%lld,\"at\":%lld,\"version\":%lld,\"reward\":",
                          first ? "" : ",", (long long)tacit__cursor_int(s, 0),
                          (long long)tacit__cursor_int(s, 1), (long long)tacit__cursor_int(s, 2));
        append_real(out, s, 3);
        tacit__text_put(out, ",\"error\":");
        append_real(out, s, 4);
        tacit__text_put(out, "}");
        first = false;
    }
    tacit__text_put(out, "]");
    tacit__cursor_close(s);
    return status;
}

/* --- Tokens ------------------------------------------------------------------------------------ */

/* Runs a statement whose only parameter, if any, is a name. */
static tacit_status run_with_name(tacit__vault *vault, const char *sql, const char *name,
                                  tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__vault_prepare(vault, sql, &s, err));
    if (name != NULL)
        tacit__cursor_bind_text(s, 1, name);
    return tacit__cursor_run_once(s, err);
}

/* Deletes a revoked token of the same name and, if the table is full, the oldest revoked one. */
static tacit_status make_room(tacit__vault *vault, const char *name, tacit_error *err)
{
    uint64_t n = 0;
    TRY(run_with_name(vault, "DELETE FROM token WHERE name=? AND revoked=1", name, err));
    TRY(count(vault, "SELECT count(*) FROM token", &n, err));
    if (n < TACIT__MAX_TOKENS)
        return TACIT_OK;
    TRY(run_with_name(
        vault,
        "DELETE FROM token WHERE id=(SELECT id FROM token WHERE revoked=1 ORDER BY id LIMIT 1)",
        NULL, err));
    TRY(tacit__connection_changes(vault->db, &n, err));
    if (n == 0)
        return tacit__fail(err, TACIT_TOO_LARGE,
                           "%.200s: a store has at most %d valid tokens; revoke an unused one: "
                           "tacit token list shows all",
                           vault->path, TACIT__MAX_TOKENS);
    return TACIT_OK;
}

static tacit_status insert_token(tacit__vault *vault, const tacit__token *token, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__vault_prepare(vault,
                             "INSERT INTO token(name, hash, scopes, created, revoked, expires,"
                             " users_per_day, learner) VALUES(?,?,?,?,0,?,?,?)",
                             &s, err));
    tacit__cursor_bind_text(s, 1, token->name);
    tacit__cursor_bind_bytes(s, 2, token->hash, sizeof token->hash);
    tacit__cursor_bind_int(s, 3, token->scopes);
    tacit__cursor_bind_int(s, 4, token->created);
    tacit__cursor_bind_int(s, 5, token->expires);
    tacit__cursor_bind_int(s, 6, (int64_t)token->users_per_day);
    if (token->learner[0] != '\0') /* else NULL */
        tacit__cursor_bind_text(s, 7, token->learner);
    TRY(tacit__cursor_run_once(s, err));
    /* the number may have been another token's */
    return run_with_name(vault, "DELETE FROM quota WHERE token=(SELECT id FROM token WHERE name=?)",
                         token->name, err);
}

static tacit_status check_name_is_free(tacit__vault *vault, const char *name, tacit_error *err)
{
    tacit__token *all = tacit__alloc(TACIT__MAX_TOKENS, sizeof *all);
    if (all == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    size_t n = 0;
    tacit_status status = tacit__vault_list_tokens(vault, all, &n, err);
    for (size_t i = 0; i < n && status == TACIT_OK; i++)
        if (!all[i].revoked && strcmp(all[i].name, name) == 0)
            status =
                tacit__fail(err, TACIT_BAD_ARGUMENT,
                            "there is a token '%s'; choose another name, or revoke it first", name);
    tacit__free(all);
    return status;
}

static tacit_status add_token(tacit__vault *vault, const tacit__token *token, const char *what,
                              tacit_error *err)
{
    TRY(check_name_is_free(vault, token->name, err));
    TRY(make_room(vault, token->name, err));
    TRY(insert_token(vault, token, err));
    return tacit__vault_add_event(vault, err, "token '%s' created: %s", token->name, what);
}

static tacit_status revoke_token(tacit__vault *vault, const char *name, tacit_error *err)
{
    uint64_t n = 0;
    TRY(run_with_name(vault, "UPDATE token SET revoked=1 WHERE name=? AND revoked=0", name, err));
    TRY(tacit__connection_changes(vault->db, &n, err));
    if (n == 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "no valid token is called '%.64s'; tacit token list shows all", name);
    return tacit__vault_add_event(vault, err, "token '%s' revoked", name);
}

tacit_status tacit__vault_add_token(tacit__vault *vault, const tacit__token *token,
                                    const char *what, tacit_error *err)
{
    TACIT__REQUIRE(token->name[0] != '\0');
    TRY(tacit__vault_begin(vault, err));
    return tacit__vault_finish_transaction(vault, add_token(vault, token, what, err), err);
}

tacit_status tacit__vault_revoke_token(tacit__vault *vault, const char *name, tacit_error *err)
{
    TRY(tacit__vault_begin(vault, err));
    return tacit__vault_finish_transaction(vault, revoke_token(vault, name, err), err);
}

tacit_status tacit__vault_list_tokens(tacit__vault *vault, tacit__token out[TACIT__MAX_TOKENS],
                                      size_t *n, tacit_error *err)
{
    tacit__cursor *s;
    TRY(tacit__vault_prepare(
        vault,
        "SELECT id, name, hash, scopes, created, revoked, expires, users_per_day, learner"
        " FROM token ORDER BY id",
        &s, err));
    tacit_status status;
    bool more;
    *n = 0;
    while ((status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more &&
           *n < TACIT__MAX_TOKENS) {
        tacit__token *t = &out[*n];
        size_t size;
        const char *name = tacit__cursor_text(s, 1);
        const char *learner = tacit__cursor_text(s, 8);
        const void *hash = tacit__cursor_bytes(s, 2, &size);
        *t = (tacit__token){.id = tacit__cursor_int(s, 0),
                            .scopes = (uint32_t)tacit__cursor_int(s, 3),
                            .created = tacit__cursor_int(s, 4),
                            .revoked = tacit__cursor_int(s, 5) != 0,
                            .expires = tacit__cursor_int(s, 6),
                            .users_per_day = (uint64_t)tacit__cursor_int(s, 7)};
        learner = learner != NULL ? learner : "";
        if (name == NULL || strlen(name) > TACIT__TOKEN_NAME ||
            strlen(learner) > TACIT__TOKEN_NAME || size != sizeof t->hash)
            continue; /* no such token was ever issued */
        memcpy(t->name, name, strlen(name) + 1);
        memcpy(t->learner, learner, strlen(learner) + 1);
        memcpy(t->hash, hash, size);
        ++*n;
    }
    tacit__cursor_close(s);
    return status;
}

/* --- Export ------------------------------------------------------------------------------------ */

static tacit_status export_ledger(tacit__vault *vault, int64_t learner, tacit__text *out,
                                  tacit_error *err)
{
    tacit__cursor *s;
    bool first = true;
    TRY(tacit__vault_prepare(
        vault, "SELECT release, declared, passed FROM ledger WHERE learner=? ORDER BY release", &s,
        err));
    tacit__cursor_bind_int(s, 1, learner);
    tacit_status status;
    bool more;
    tacit__text_put(out, "[");
    while ((status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more) {
        const char *release = tacit__cursor_text(s, 0);
        tacit__text_put(out, first ? "{\"release\":" : ",{\"release\":");
        tacit__text_json_string(out, release, release != NULL ? strlen(release) : 0);
        tacit__text_print(out, ",\"declared\":%lld,\"passed\":%lld}",
                          (long long)tacit__cursor_int(s, 1), (long long)tacit__cursor_int(s, 2));
        first = false;
    }
    tacit__text_put(out, "]");
    tacit__cursor_close(s);
    return status;
}

tacit_status tacit__vault_write_export(tacit__vault *vault, tacit__text *out, tacit_error *err)
{
    tacit__cursor *s;
    bool first = true, more = true;
    TRY(tacit__vault_prepare(vault,
                             "SELECT id, name, users_limit, accepted, shown, refused, version,"
                             " visits, apart FROM learner ORDER BY id",
                             &s, err));
    tacit_status status = TACIT_OK;
    tacit__text_put(out, "{\"learners\":[");
    while (status == TACIT_OK && (status = tacit__cursor_next(s, &more, err)) == TACIT_OK && more) {
        const char *name = tacit__cursor_text(s, 1);
        tacit__text_put(out, first ? "{\"name\":" : ",{\"name\":");
        tacit__text_json_string(out, name, name != NULL ? strlen(name) : 0);
        tacit__text_print(out,
                          ",\"limit\":%lld,\"accepted\":%lld,\"users\":%lld,\"refused\":%lld,"
                          "\"version\":%lld",
                          (long long)tacit__cursor_int(s, 2), (long long)tacit__cursor_int(s, 3),
                          (long long)tacit__cursor_int(s, 4), (long long)tacit__cursor_int(s, 5),
                          (long long)tacit__cursor_int(s, 6));
        if (tacit__cursor_int(s, 7) > 1)
            tacit__text_print(out, ",\"visits\":%lld,\"apart\":%lld",
                              (long long)tacit__cursor_int(s, 7),
                              (long long)tacit__cursor_int(s, 8));
        tacit__text_put(out, ",\"ledger\":");
        status = export_ledger(vault, tacit__cursor_int(s, 0), out, err);
        tacit__text_put(out, ",\"history\":");
        if (status == TACIT_OK)
            status = tacit__vault_write_history(vault, tacit__cursor_int(s, 0), 0, out, err);
        tacit__text_put(out, "}");
        first = false;
    }
    tacit__cursor_close(s);
    tacit__text_put(out, "]}");
    if (status == TACIT_OK && out->failed)
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    return status;
}
