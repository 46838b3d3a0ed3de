/* Maintenance of a vault: tokens and their quotas, events, the service clock, checks and copies, adoption, a
 * new key, and the operator's decision log. */
#ifndef TACIT_STORE_VAULT_VAULT_MAINTENANCE_H
#define TACIT_STORE_VAULT_VAULT_MAINTENANCE_H

#include "store/vault/vault.h"

/* --- Tokens ----------------------------------------------------------------------------------- */

enum { TACIT__TOKEN_HASH = 32, TACIT__TOKEN_NAME = 64, TACIT__MAX_TOKENS = 256 };

typedef struct tacit__token {
    int64_t id;
    char name[TACIT__TOKEN_NAME + 1];
    uint8_t hash[TACIT__TOKEN_HASH];
    uint32_t scopes;
    int64_t created; /* seconds since 1970 */
    bool revoked;
    int64_t expires;                     /* seconds since 1970; 0: never */
    uint64_t users_per_day;              /* 0: any number */
    char learner[TACIT__TOKEN_NAME + 1]; /* "": any */
} tacit__token;

/* Adds a token. BAD_ARGUMENT: a valid token has this name. TOO_LARGE: there are MAX_TOKENS valid ones. A
 * revoked token of this name is deleted, and so is the oldest revoked one if there are MAX_TOKENS in all. The
 * event says `what` about it. */
TACIT_MUST_USE tacit_status tacit__vault_add_token(tacit__vault *vault, const tacit__token *token,
                                                   const char *what, tacit_error *err);
/* Revokes a token. BAD_ARGUMENT: no valid token has this name. */
TACIT_MUST_USE tacit_status tacit__vault_revoke_token(tacit__vault *vault, const char *name,
                                                      tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_list_tokens(tacit__vault *vault,
                                                     tacit__token out[TACIT__MAX_TOKENS], size_t *n,
                                                     tacit_error *err);

/* Gets how many users a token has sent on this day, or on a later day if the clock went back. Days are those
 * of the service clock. */
TACIT_MUST_USE tacit_status tacit__vault_get_quota(tacit__vault *vault, int64_t token, int64_t day,
                                                   uint64_t *used, tacit_error *err);
/* Counts one more user. */
TACIT_MUST_USE tacit_status tacit__vault_use_quota(tacit__vault *vault, int64_t token, int64_t day,
                                                   tacit_error *err);

/* --- Events ------------------------------------------------------------------------------------- */

/* Records what was done, with the wall-clock time and the number of the system user who did it, in the
 * transaction that does it. The text never contains data of users of the service. */
__attribute__((format(printf, 3, 4))) TACIT_MUST_USE tacit_status
tacit__vault_add_event(tacit__vault *vault, tacit_error *err, const char *format, ...);
/* Reports all events, the oldest first. */
TACIT_MUST_USE tacit_status tacit__vault_each_event(tacit__vault *vault,
                                                    void (*each)(void *context, int64_t at,
                                                                 const char *what),
                                                    void *context, tacit_error *err);

/* --- The service clock (serve/clock.h) ---------------------------------------------------------- */

/* Gets the service clock. A store without one begins with `wall`, the wall-clock time, or with the time of
 * the latest episode, whichever is earlier. */
TACIT_MUST_USE tacit_status tacit__vault_get_clock(tacit__vault *vault, int64_t wall,
                                                   int64_t *seconds, tacit_error *err);
/* Saves the service clock. A time that is earlier than the saved one changes nothing. */
TACIT_MUST_USE tacit_status tacit__vault_save_clock(tacit__vault *vault, int64_t seconds,
                                                    tacit_error *err);

/* --- Care ------------------------------------------------------------------------------------- */

typedef struct tacit__vault_health {
    uint64_t learners, inputs, open, seen, people, answers, tokens;
    uint64_t bytes;
} tacit__vault_health;

/* Checks the whole store, in pieces, so that the log does not grow meanwhile. With a key it also checks that
 * everything sealed can be opened, and whether the store may be learned from. The message of CORRUPT says
 * what is wrong. */
TACIT_MUST_USE tacit_status tacit__vault_check(tacit__vault *vault, tacit__vault_health *health,
                                               tacit_error *err);
/* Makes a consistent copy at `path`, which must not exist, while others continue to write. The copy is marked
 * as one. Needs the key. */
TACIT_MUST_USE tacit_status tacit__vault_backup(tacit__vault *vault, const char *path,
                                                tacit_error *err);
/* --- Going on after a loss ---------------------------------------------------------------------- */

/* Gets two public names, from which monitoring can tell whether a store is continued twice. They reveal
 * nothing else. `store` is the same for all copies, and neither a new key nor an adoption changes it. `start`
 * differs between all continuations: for a file it is drawn when the service starts, and for a database it
 * depends on the run of its server, so that all front ends show the same. */
enum { TACIT__STORE_NAME = 17 };
void tacit__vault_get_names(const tacit__vault *vault, char store[TACIT__STORE_NAME],
                            char start[TACIT__STORE_NAME]);
/* In how many forks the store may have continued, itself included. */
uint64_t tacit__vault_forks(const tacit__vault *vault);
/* The number of forks after an adoption. Call `check_adoptable` first, which reads the mark. */
uint64_t tacit__vault_next_forks(const tacit__vault *vault);
/* Writes the adoptions as JSON, [{"at":...,"users":...,"lives":...}, ...], with the number of users that this
 * learner had learned from. */
TACIT_MUST_USE tacit_status tacit__vault_write_adoptions(tacit__vault *vault, int64_t learner,
                                                         tacit__text *out, tacit_error *err);
/* Checks whether the store can be adopted. BAD_ARGUMENT: there is nothing to adopt. CORRUPT: it must not be
 * adopted. Needs the key. */
TACIT_MUST_USE tacit_status tacit__vault_check_adoptable(tacit__vault *vault, tacit_error *err);
/* Makes a copy, or a store that went back, learn again, with another identity and mark and one more fork.
 * Fails as `check_adoptable` does. The vault was opened to serve. */
TACIT_MUST_USE tacit_status tacit__vault_adopt(tacit__vault *vault, tacit_error *err);
/* Moves a store with everything in it into one that was just created and opened as a tool. The source was
 * opened to serve and is gone afterwards. Finishes a move that was interrupted. *before: it was already
 * finished, and nothing changed. */
TACIT_MUST_USE tacit_status tacit__vault_move(tacit__vault *from, tacit__vault *to, bool *before,
                                              tacit_error *err);
/* Fails with the sentence about a store that was moved. */
TACIT_MUST_USE tacit_status tacit__vault_refuse_gone(const tacit__vault *vault, tacit_error *err);
/* Seals everything again under another master key. The vault was opened to serve. */
TACIT_MUST_USE tacit_status tacit__vault_rekey(tacit__vault *vault, const uint8_t *key,
                                               tacit_error *err);

/* Writes the public part of the vault as JSON: learners, ledger, history. It has no data of users. */
TACIT_MUST_USE tacit_status tacit__vault_write_export(tacit__vault *vault, tacit__text *out,
                                                      tacit_error *err);

/* --- The operator's decision log: vault_decision_log.c ------------------------------------------- */

/* Adds the decisions of one user, sealed, in the current transaction. */
TACIT_MUST_USE tacit_status tacit__vault_add_decision(tacit__vault *vault, int64_t learner,
                                                      const void *data, size_t size,
                                                      tacit_error *err);
/* Calls `each` for all entries, the oldest first, until it fails. Writers do not wait for this. */
typedef tacit_status tacit__vault_decision_fn(void *context, int64_t number, const char *learner,
                                              const uint8_t *data, size_t size, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__vault_each_decision(tacit__vault *vault,
                                                       tacit__vault_decision_fn *each,
                                                       void *context, tacit_error *err);

/* Reports every learner of the store, how many users it has accepted, and how many of them wait to be learned
 * from. */
typedef void tacit__vault_learner_fn(void *context, const char *name, uint64_t accepted,
                                     uint64_t waiting);
TACIT_MUST_USE tacit_status tacit__vault_list_learners(tacit__vault *vault,
                                                       tacit__vault_learner_fn *each, void *context,
                                                       tacit_error *err);

#endif
