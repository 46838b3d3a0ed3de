/* Tokens are compared by their digests, all of them and in constant time. Each has an allowance that is
 * refilled over time (limits.rate), and may have an expiry date and a learner. See serve/http/access.h. */
#include "serve/http/access.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "noise/seal.h"
#include "serve/http/routes.h"
#include "serve/service_inside.h"
#include "store/vault/vault_maintenance.h"

/* A token in use: what it allows, and how much its bearer has asked for lately. */
struct tacit__bearer_row {
    tacit__token token;
    double allowance; /* requests that it may still make at once */
    double seen_ms;   /* when the allowance was last filled up */
};

/* Keeps what the bearer of a known token has asked for so far. The caller holds the lock. */
static void copy_allowance(const tacit_service *s, tacit__bearer_row *row)
{
    for (size_t i = 0; i < s->n_bearers; i++)
        if (tacit__same_bytes(s->bearers[i].token.hash, row->token.hash, sizeof row->token.hash)) {
            row->allowance = s->bearers[i].allowance;
            row->seen_ms = s->bearers[i].seen_ms;
        }
}

tacit_status tacit__access_read(tacit_service *s, tacit_error *err)
{
    tacit__token *tokens = tacit__alloc(TACIT__MAX_TOKENS, sizeof *tokens);
    tacit__bearer_row *bearers = tacit__alloc(TACIT__MAX_TOKENS, sizeof *bearers), *old = bearers;
    size_t n = 0, kept = 0;
    if (tokens == NULL || bearers == NULL) {
        tacit__free(tokens);
        tacit__free(bearers);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    pthread_mutex_lock(&s->reader_lock);
    tacit_status status = tacit__vault_list_tokens(s->reader, tokens, &n, err);
    pthread_mutex_unlock(&s->reader_lock);
    if (status == TACIT_OK) {
        for (size_t i = 0; i < n; i++)
            if (!tokens[i].revoked)
                bearers[kept++] = (tacit__bearer_row){.token = tokens[i],
                                                      .allowance = (double)s->config.limits.rate};
        pthread_mutex_lock(&s->bearer_lock);
        for (size_t i = 0; i < kept; i++)
            copy_allowance(s, &bearers[i]);
        old = s->bearers;
        s->bearers = bearers;
        s->n_bearers = kept;
        pthread_mutex_unlock(&s->bearer_lock);
    }
    tacit__free(tokens);
    tacit__free(old);
    return status;
}

/* A token bucket: it fills at `rate` a second, up to one second's worth. */
static bool may_ask(tacit__bearer_row *g, uint64_t rate, unsigned *wait)
{
    if (rate == 0)
        return true;
    double now = tacit__now_ms();
    g->allowance += (now - g->seen_ms) * (double)rate / 1e3;
    g->seen_ms = now;
    if (g->allowance > (double)rate)
        g->allowance = (double)rate;
    if (g->allowance < 1) {
        *wait =
            1 + (unsigned)((1 - g->allowance) / (double)rate); /* a batch may be owed for long */
        return false;
    }
    g->allowance -= 1;
    return true;
}

typedef enum verdict { UNKNOWN, EXPIRED, NO_SCOPE, TOO_OFTEN, WELCOME } verdict;

/* The caller holds the lock. A token expires by the wall clock, as certificates do, since the date that was
 * given refers to that clock. */
static verdict judge(tacit_service *s, tacit__bearer_row *g, unsigned scope, unsigned *wait)
{
    if (g->token.expires != 0 && (int64_t)time(NULL) >= g->token.expires)
        return EXPIRED;
    if (!(g->token.scopes & (scope | TACIT__SCOPE_ADMIN)))
        return NO_SCOPE;
    return may_ask(g, s->config.limits.rate, wait) ? WELCOME : TOO_OFTEN;
}

/* Computes the digest of a token, as the store has it. Most requests of a thread have the same token as the
 * one before, so a thread keeps the last digest together with a tag of its token under a key of its own; the
 * text of the token is stored nowhere. The digest depends on the text alone, so a token that has expired or
 * was revoked is still refused at once. */
static void hash_token(const char *text, size_t size, uint8_t hash[TACIT__TOKEN_HASH])
{
    TACIT__REQUIRE(text != NULL);
    static _Thread_local struct {
        bool has;
        uint8_t key[TACIT__TAG_KEY], tag[TACIT__TAG], hash[TACIT__TOKEN_HASH];
    } last;
    uint8_t tag[TACIT__TAG];
    if (!last.has)
        tacit__random_few(last.key, sizeof last.key);
    tacit__short_tag(last.key, text, size, tag);
    if (!last.has || !tacit__same_bytes(tag, last.tag, sizeof tag)) {
        tacit__digest(&(tacit__bytes){text, size}, 1, last.hash);
        memcpy(last.tag, tag, sizeof tag);
        last.has = true;
    }
    memcpy(hash, last.hash, TACIT__TOKEN_HASH);
}

/* *wait is set to seconds if the bearer asks too often. */
static verdict find(tacit_service *s, const char *authorization, unsigned scope,
                    tacit__bearer *bearer, unsigned *wait)
{
    static const char prefix[] = "Bearer ";
    if (authorization == NULL || strncasecmp(authorization, prefix, sizeof prefix - 1) != 0)
        return UNKNOWN; /* schemes have no case */
    const char *text = authorization + sizeof prefix - 1;
    uint8_t hash[TACIT__TOKEN_HASH];
    hash_token(text, strlen(text), hash);
    verdict found = UNKNOWN;
    pthread_mutex_lock(&s->bearer_lock);
    for (size_t i = 0; i < s->n_bearers; i++) { /* all of them, so that time tells nothing */
        tacit__bearer_row *g = &s->bearers[i];
        if (!tacit__same_bytes(g->token.hash, hash, sizeof hash))
            continue;
        found = judge(s, g, scope, wait);
        *bearer = (tacit__bearer){
            .token = g->token.id,
            .users_per_day = g->token.users_per_day,
            .reads = (g->token.scopes & (TACIT__SCOPE_READ | TACIT__SCOPE_ADMIN)) != 0,
            .bound = g->token.learner[0] != '\0'};
        memcpy(bearer->hash, hash, sizeof hash);
        if (bearer->bound)
            bearer->learner = tacit__service_learner(s, g->token.learner);
    }
    pthread_mutex_unlock(&s->bearer_lock);
    return found;
}

bool tacit__access_check(tacit__request *r, const char *authorization, unsigned scope)
{
    TACIT__REQUIRE(r->service != NULL);
    unsigned wait = 1;
    if (scope == TACIT__SCOPE_OPEN)
        return true;
    switch (find(r->service, authorization, scope, &r->bearer, &wait)) {
    case WELCOME:
        return true;
    case EXPIRED:
        tacit__refuse(r, 401, "expired_token", NULL, "the token has expired; use a valid one");
        return false;
    case NO_SCOPE:
        tacit__refuse(r, 403, "scope", NULL,
                      "the token does not have the scope %s; use one that has it",
                      tacit__scope_name(scope));
        return false;
    case TOO_OFTEN:
        r->retry_after = wait;
        tacit__refuse(r, 429, "rate", NULL,
                      "this token sends too many requests: limits.rate is %llu per second; try "
                      "again after %u s",
                      (unsigned long long)r->service->config.limits.rate, wait);
        return false;
    case UNKNOWN:
        break;
    }
    tacit__refuse(r, 401, "token", NULL,
                  "a valid token is required: send Authorization: Bearer TOKEN with a token from "
                  "tacit token create");
    return false;
}

void tacit__access_charge(const tacit__request *r, size_t more)
{
    tacit_service *s = r->service;
    pthread_mutex_lock(&s->bearer_lock);
    for (size_t i = 0; i < s->n_bearers; i++)
        if (s->bearers[i].token.id == r->bearer.token)
            s->bearers[i].allowance -= (double)more;
    pthread_mutex_unlock(&s->bearer_lock);
}
