/* Users of a store, for tests that need few of their facts. */
#ifndef TACIT_TESTS_SUPPORT_VISITOR_H
#define TACIT_TESTS_SUPPORT_VISITOR_H

#include <string.h>

#include "store/vault/vault.h"

/* Adds a user who comes as a whole. */
static inline tacit_status visitor_add(tacit__vault *vault, int64_t learner, const uint8_t *key,
                                       const uint8_t *person, const void *data, size_t size,
                                       tacit__vault_answer *answer, tacit_error *err)
{
    const tacit__vault_user user = {.learner = learner, .key = key, .person = person};
    tacit__vault_judgment judgment = {.answer = TACIT__VAULT_TAKEN};
    const tacit_status status = tacit__vault_add_user(vault, &user, data, size, &judgment, err);
    *answer = judgment.answer;
    return status;
}

/* Saves an open episode, if its user may go on. */
static inline tacit_status visitor_open(tacit__vault *vault, int64_t learner, const uint8_t *key,
                                        const uint8_t *person, int64_t opened, const void *data,
                                        size_t size, tacit__vault_answer *answer, tacit_error *err)
{
    const tacit__vault_user user = {
        .learner = learner, .key = key, .person = person, .opened = opened};
    tacit__vault_judgment judgment = {.answer = TACIT__VAULT_TAKEN};
    tacit_status status = tacit__vault_judge(vault, &user, false, &judgment, err);
    const bool full = judgment.answer == TACIT__VAULT_FULL &&
                      tacit__vault_store_status(vault) == TACIT__STORE_FINE;
    *answer = full ? TACIT__VAULT_TAKEN : judgment.answer; /* steps after the last user are kept */
    if (status == TACIT_OK && *answer == TACIT__VAULT_TAKEN)
        status = tacit__vault_save_episode(vault, &user, true, data, size, err);
    return status;
}

#endif
