/* Opening and closing the service, and who may use it. See include/tacit/service.h. */
#include "serve/service.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "serve/http.h"
#include "serve/key.h"
#include "serve/routes.h"

enum { SWEEP_SECONDS = 10, SWEEP_MOST = 1000 };

void tacit__service_say(tacit_service *s, const char *format, ...)
{
    char line[600];
    va_list args;
    if (s->log == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    s->log(s->log_context, line);
}

int64_t tacit__service_now(void)
{
    return (int64_t)time(NULL);
}

tacit__learner *tacit__service_learner(const tacit_service *s, const char *name)
{
    if (name == NULL)
        return s->config.n_learners == 1 ? s->learners[0] : NULL;
    for (size_t i = 0; i < s->config.n_learners; i++)
        if (strcmp(s->config.learners[i].name, name) == 0)
            return s->learners[i];
    return NULL;
}

tacit__learner *tacit__service_learner_by_id(const tacit_service *s, int64_t id)
{
    for (size_t i = 0; i < s->config.n_learners; i++)
        if (tacit__learner_id(s->learners[i]) == id)
            return s->learners[i];
    return NULL;
}

/* --- Tokens ------------------------------------------------------------------------------------- */

static tacit_status read_tokens(tacit_service *s, tacit_error *err)
{
    tacit__token *tokens = tacit__alloc(TACIT__MAX_TOKENS, sizeof *tokens);
    tacit__guest *guests = tacit__alloc(TACIT__MAX_TOKENS, sizeof *guests), *old = guests;
    size_t n = 0, kept = 0;
    if (tokens == NULL || guests == NULL) {
        tacit__free(tokens);
        tacit__free(guests);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    pthread_mutex_lock(&s->reader_lock);
    tacit_status status = tacit__vault_tokens(s->reader, tokens, &n, err);
    pthread_mutex_unlock(&s->reader_lock);
    if (status == TACIT_OK) {
        for (size_t i = 0; i < n; i++)
            if (!tokens[i].revoked)
                guests[kept++] =
                    (tacit__guest){.token = tokens[i], .allowance = (double)s->config.limits.rate};
        pthread_mutex_lock(&s->guest_lock);
        old = s->guests;
        s->guests = guests;
        s->n_guests = kept;
        pthread_mutex_unlock(&s->guest_lock);
    }
    tacit__free(tokens);
    tacit__free(old);
    return status;
}

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* A bucket that fills at `rate` a second up to one second's worth. */
static bool may_ask(tacit__guest *g, uint64_t rate)
{
    double now = now_ms();
    if (rate == 0)
        return true;
    g->allowance += (now - g->seen_ms) * (double)rate / 1e3;
    g->seen_ms = now;
    if (g->allowance > (double)rate)
        g->allowance = (double)rate;
    if (g->allowance < 1)
        return false;
    g->allowance -= 1;
    return true;
}

unsigned tacit__service_admit(tacit_service *s, const char *bearer, unsigned scope)
{
    static const char prefix[] = "Bearer ";
    if (scope == TACIT__SCOPE_OPEN)
        return 200;
    if (bearer == NULL || strncasecmp(bearer, prefix, sizeof prefix - 1) != 0)
        return 401; /* schemes have no case */
    const char *text = bearer + sizeof prefix - 1;
    uint8_t hash[TACIT__TOKEN_HASH];
    tacit__digest(&(tacit__bytes){text, strlen(text)}, 1, hash);
    unsigned answer = 401;
    pthread_mutex_lock(&s->guest_lock);
    for (size_t i = 0; i < s->n_guests; i++) { /* all of them, so that time tells nothing */
        tacit__guest *g = &s->guests[i];
        if (tacit__same_bytes(g->token.hash, hash, sizeof hash))
            answer = !(g->token.scopes & (scope | TACIT__SCOPE_ADMIN)) ? 403
                     : may_ask(g, s->config.limits.rate)               ? 200
                                                                       : 429;
    }
    pthread_mutex_unlock(&s->guest_lock);
    return answer;
}

/* --- Old episodes ------------------------------------------------------------------------------- */

typedef struct sweeping {
    tacit__job job;
    int64_t before;
    uint64_t n, forgotten;
} sweeping;

static tacit_status apply_sweeping(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    sweeping *w = (sweeping *)job;
    tacit_status status = tacit__vault_expire(vault, w->before, SWEEP_MOST, &w->n, err);
    if (status == TACIT_OK)
        status = tacit__vault_forget(vault, w->before, SWEEP_MOST, &w->forgotten, err);
    return status;
}

static void *sweep(void *context)
{
    tacit_service *s = context;
    pthread_mutex_lock(&s->stop_lock);
    while (!s->stop) {
        pthread_mutex_unlock(&s->stop_lock);
        sweeping w = {.job = {.apply = apply_sweeping},
                      .before = tacit__service_now() - (int64_t)s->config.expire};
        if ((atomic_load(&s->open_episodes) > 0 || atomic_load(&s->has_answers)) &&
            tacit__scribe_wait(s->scribe, &w.job) == TACIT_OK) {
            atomic_fetch_sub(&s->open_episodes, w.n);
            atomic_fetch_add(&s->expired, w.n);
        }
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until); /* whatever time it is said to be */
        until.tv_sec += w.n == SWEEP_MOST || w.forgotten == SWEEP_MOST ? 0
                        : s->config.expire < SWEEP_SECONDS             ? 1
                                                                       : SWEEP_SECONDS;
        pthread_mutex_lock(&s->stop_lock);
        if (!s->stop)
            (void)pthread_cond_timedwait(&s->stop_news, &s->stop_lock, &until);
    }
    pthread_mutex_unlock(&s->stop_lock);
    return NULL;
}

/* --- Life --------------------------------------------------------------------------------------- */

/* From the scribe's thread: the store is somebody else's. */
static void on_fenced(void *context)
{
    tacit_service *s = context;
    if (s->fenced != NULL)
        s->fenced(s->log_context);
}

static tacit_status open_store(tacit_service *s, const char *credentials, tacit_error *err)
{
    tacit__key key;
    uint64_t open = 0;
    tacit_status status =
        tacit__key_open(&s->config, credentials, true, TACIT__VAULT_SERVE, &key, &s->vault, err);
    if (status == TACIT_OK)
        status = tacit__vault_open(s->config.store, TACIT__VAULT_READ, key.bytes, &s->reader, err);
    if (status == TACIT_OK)
        status = tacit__vault_count_open(s->reader, &open, err);
    atomic_store(&s->open_episodes, open);
    bool answers = false;
    if (status == TACIT_OK)
        status = tacit__vault_has_answers(s->reader, &answers, err);
    atomic_store(&s->has_answers, answers);
    const char *closed = NULL;
    if (status == TACIT_OK) {
        const tacit__standing standing = tacit__vault_standing(s->vault);
        tacit__vault_when_fenced(s->vault, on_fenced, s);
        if (standing != TACIT__STANDING_FINE) {
            closed = tacit__standing_reason(standing);
            tacit__service_say(s, "learners decide, but learn no more: %s", closed);
        }
    }
    for (size_t i = 0; i < s->config.n_learners && status == TACIT_OK; i++) {
        /* the scribe begins after all learners are restored, so the vault is free until then */
        tacit__learner_setting setting = {.config = &s->config.learners[i],
                                          .store = s->config.store,
                                          .key = key.bytes,
                                          .closed = closed,
                                          .log = s->log,
                                          .log_context = s->log_context};
        status = tacit__learner_create(&setting, s->vault, &s->learners[i], err);
    }
    if (status == TACIT_OK) {
        memcpy(s->key_ticket, tacit__vault_key(s->vault, TACIT__VAULT_TICKETS), TACIT__KEY_BYTES);
        memcpy(s->key_person, tacit__vault_key(s->vault, TACIT__VAULT_PEOPLE), TACIT__KEY_BYTES);
        memcpy(s->key_again, tacit__vault_key(s->vault, TACIT__VAULT_REQUESTS), TACIT__KEY_BYTES);
        tacit__random_bytes(s->key_tag, sizeof s->key_tag);
    }
    tacit__wipe(&key, sizeof key);
    return status;
}

static tacit_status start_threads(tacit_service *s, tacit_error *err)
{
    tacit_status status = tacit__scribe_create(s->vault, s->log, s->log_context, &s->scribe, err);
    for (size_t i = 0; i < s->config.n_learners && status == TACIT_OK; i++)
        status = tacit__learner_start(s->learners[i], s->scribe, err);
    if (status == TACIT_OK && pthread_create(&s->sweeper, NULL, sweep, s) != 0)
        status = tacit__fail(err, TACIT_SYSTEM, "a thread could not be started");
    s->sweeping = status == TACIT_OK;
    return status;
}

static bool is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

tacit_status tacit_service_open(const tacit_service_options *options, tacit_service **out,
                                tacit_error *err)
{
    if (options == NULL || options->file == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TACIT__REQUIRE(tacit__n_routes <= TACIT__MAX_ROUTES);
    tacit_service *s = tacit__alloc(1, sizeof *s);
    if (s == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    s->log = options->log;
    s->log_context = options->log_context;
    s->fenced = options->fenced;
    s->started = time(NULL);
    (void)pthread_mutex_init(&s->reader_lock, NULL);
    (void)pthread_mutex_init(&s->guest_lock, NULL);
    (void)pthread_mutex_init(&s->guarantee_lock, NULL);
    (void)pthread_mutex_init(&s->stop_lock, NULL);
    pthread_condattr_t steady;
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->stop_news, &steady);
    (void)pthread_condattr_destroy(&steady);
    tacit_status status = tacit__service_config_read(options->file, &s->config, err);
    if (status == TACIT_OK)
        status = tacit__service_config_open(&s->config, err);
    if (status == TACIT_OK)
        status = open_store(s, options->credentials, err);
    if (status == TACIT_OK)
        status = read_tokens(s, err);
    if (status == TACIT_OK)
        status = start_threads(s, err);
    if (status == TACIT_OK)
        status = tacit__http_start(s, err);
    if (status != TACIT_OK) {
        tacit_service_close(s);
        return status;
    }
    if (s->config.certificate == NULL && !is_loopback(s->config.host))
        tacit__service_say(
            s,
            "listening on %s without TLS: whoever is on the way reads tokens and what "
            "users tell, unless a proxy in front sees to it",
            s->config.host);
    if (s->n_guests == 0)
        tacit__service_say(s, "nobody has a token yet: tacit token create");
    *out = s;
    return TACIT_OK;
}

const char *tacit_service_url(const tacit_service *service)
{
    return service->url;
}

tacit_status tacit_service_reload(tacit_service *s, tacit_error *err)
{
    tacit_status status = read_tokens(s, err);
    if (status == TACIT_OK)
        status = tacit__http_reload(s, err);
    return status;
}

void tacit_service_close(tacit_service *s)
{
    if (s == NULL)
        return;
    tacit__http_stop(s); /* no new requests; those that wait for the scribe get their answers */
    if (s->sweeping) {
        pthread_mutex_lock(&s->stop_lock);
        s->stop = true;
        pthread_cond_signal(&s->stop_news);
        pthread_mutex_unlock(&s->stop_lock);
        (void)pthread_join(s->sweeper, NULL);
    }
    for (size_t i = 0; i < s->config.n_learners; i++) {
        tacit__learner_destroy(s->learners[i]);
        tacit__text_destroy(&s->guarantees[i]);
    }
    tacit__scribe_destroy(s->scribe);
    tacit__vault_close(s->reader);
    tacit__vault_close(s->vault);
    tacit__free(s->guests);
    (void)pthread_mutex_destroy(&s->reader_lock);
    (void)pthread_mutex_destroy(&s->guest_lock);
    (void)pthread_mutex_destroy(&s->guarantee_lock);
    (void)pthread_mutex_destroy(&s->stop_lock);
    (void)pthread_cond_destroy(&s->stop_news);
    tacit__service_config_free(&s->config);
    tacit__free_secret(s, sizeof *s);
}

char *tacit_service_reference(void)
{
    tacit__text out = {0};
    tacit__routes_reference(&out);
    if (out.failed) {
        tacit__text_destroy(&out);
        return NULL;
    }
    return out.data;
}
