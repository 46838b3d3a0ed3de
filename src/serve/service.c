/* Opening and closing the service. See include/tacit/service.h. */
#include "serve/service_inside.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "noise/seal.h"
#include "serve/http/http.h"
#include "serve/http/routes.h"
#include "serve/key.h"
#include "serve/learner/orphaned_learners.h"
#include "serve/learner/warm.h"
#include "serve/people/decide_cache.h"
#include "serve/read_pool.h"
#include "serve/store_sync.h"
#include "serve/sweeper.h"
#include "store/vault/vault_maintenance.h"

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

bool tacit__service_may_use(tacit__request *r, const tacit__learner *learner)
{
    if (!r->bearer.bound || r->bearer.learner == learner)
        return true;
    tacit__refuse(r, 403, "learner", "learner",
                  "the token is valid for another learner only; use another token");
    return false;
}

/* Names of learners are shown only to those who may see /v1/learners. */
static void refuse_learner(tacit__request *r, const char *wanted)
{
    tacit__name_list list = {.wanted = wanted};
    for (size_t i = 0; r->bearer.reads && i < r->service->config.n_learners; i++)
        if (!r->bearer.bound || r->service->learners[i] == r->bearer.learner)
            tacit__name_list_add(&list, r->service->config.learners[i].name,
                                 strlen(r->service->config.learners[i].name));
    const char *listed = list.used > 0 ? list.text : "GET /v1/learners lists them";
    const bool empty =
        strcmp(r->route->method, "POST") == 0 && r->body_size == 0 && r->nodes == NULL;
    if (wanted == NULL)
        tacit__refuse(r, 404, "no_learner", "learner",
                      "%sthere are several learners, so the request must name one; %s%s",
                      empty ? "the body is empty, and " : "", list.used > 0 ? "there are: " : "",
                      listed);
    else
        tacit__refuse(r, 404, "no_learner", "learner", "there is no such learner%s; %s%s",
                      list.near, list.used > 0 ? "there are: " : "", listed);
}

tacit__learner *tacit__service_choose(tacit__request *r, const char *name)
{
    const char *wanted = name != NULL ? name : r->learner;
    if (name != NULL && r->learner != NULL && strcmp(name, r->learner) != 0) {
        tacit__refuse(r, 422, "out_of_range", "learner",
                      "learner differs between the body and the query: give it once");
        return NULL;
    }
    tacit__learner *l = tacit__service_learner(r->service, wanted);
    for (size_t i = 0; wanted == NULL && i < r->service->config.n_learners; i++)
        if (r->service->learners[i] == r->bearer.learner)
            l = r->service->learners[i];
    if (l == NULL)
        refuse_learner(r, wanted);
    return l != NULL && tacit__service_may_use(r, l) ? l : NULL;
}

/* --- Life --------------------------------------------------------------------------------------- */

/* Starts the service clock at the time in the store, before the committer uses the vault. */
static tacit_status start_clock(tacit_service *s, tacit_error *err)
{
    int64_t seconds = 0;
    TRY(tacit__vault_get_clock(s->vault, (int64_t)time(NULL), &seconds, err));
    TRY(tacit__vault_begin(s->vault, err));
    tacit__clock_start(&s->clock, seconds);
    return tacit__vault_finish_transaction(s->vault,
                                           tacit__vault_save_clock(s->vault, seconds, err), err);
}

/* Called on the committer's thread: another process owns the store. */
static void on_fenced(void *context)
{
    tacit_service *s = context;
    tacit__service_log(s, TACIT__ERROR, "fenced", "another server has taken over the store");
    if (s->fenced != NULL)
        s->fenced(s->log_context);
}

static tacit_status read_counts(tacit_service *s, tacit_error *err)
{
    uint64_t open = 0;
    bool answers = false;
    TRY(tacit__vault_count_open(s->reader, &open, err));
    TRY(tacit__vault_has_answers(s->reader, &answers, err));
    atomic_store(&s->open_episodes, open);
    atomic_store(&s->has_answers, answers);
    return TACIT_OK;
}

static tacit__store_status log_store_status(tacit_service *s)
{
    const tacit__store_status store_status = tacit__vault_store_status(s->vault);
    tacit__vault_when_fenced(s->vault, on_fenced, s);
    if (tacit__vault_is_unsafe(s->vault))
        tacit__service_note_unsafe(s);
    if (store_status != TACIT__STORE_FINE)
        tacit__service_log(s, TACIT__WARNING, "store", "learners decide, but no longer learn: %s",
                           tacit__store_status_reason(store_status));
    return store_status;
}

/* Logs it if people who came pay another sum than was stated to them. */
static tacit_status keep_pledge(tacit_service *s, tacit_error *err)
{
    char changed[200];
    TRY(tacit__pledge_keep(&s->config, s->vault, &s->pledge, changed, err));
    if (changed[0] != '\0')
        tacit__service_log(s, TACIT__WARNING, "learner", "%s", changed);
    return TACIT_OK;
}

/* Opens what needs the key of the store, once the vault is open. */
static tacit_status open_learners(tacit_service *s, const uint8_t key[TACIT__KEY_BYTES],
                                  tacit_error *err)
{
    TRY(tacit__vault_open(s->config.store, TACIT__VAULT_READ, key, &s->reader, err));
    TRY(tacit__read_pool_open(s, key, err));
    TRY(read_counts(s, err));
    TRY(start_clock(s, err));
    const tacit__store_status store_status = log_store_status(s);
    TRY(tacit__pledge_check(&s->config, s->vault, err));
    for (size_t i = 0; i < s->config.n_learners; i++) {
        /* the committer begins after all learners are restored, so the vault is free until then */
        const tacit__learner_setting setting = {.config = &s->config.learners[i],
                                                .store = s->config.store,
                                                .key = key,
                                                .store_status = store_status,
                                                .shared = tacit__vault_is_shared(s->vault),
                                                .log = tacit__service_log_learner,
                                                .log_context = s};
        TRY(tacit__learner_create(&setting, s->vault, &s->learners[i], err));
    }
    TRY(keep_pledge(s, err));
    TRY(tacit__decide_cache_open(s, err));
    TRY(tacit__store_sync_open(s, key, err));
    TRY(tacit__orphaned_learners_log(&s->config, s->reader, s->log, s->log_context, err));
    memcpy(s->key_ticket, tacit__vault_key(s->vault, TACIT__VAULT_TICKETS), TACIT__KEY_BYTES);
    memcpy(s->key_person, tacit__vault_key(s->vault, TACIT__VAULT_PEOPLE), TACIT__KEY_BYTES);
    memcpy(s->key_request, tacit__vault_key(s->vault, TACIT__VAULT_REQUESTS), TACIT__KEY_BYTES);
    memcpy(s->key_digest, tacit__vault_key(s->vault, TACIT__VAULT_DIGESTS), sizeof s->key_digest);
    tacit__random_bytes(s->key_tag, sizeof s->key_tag);
    return TACIT_OK;
}

static tacit_status open_store(tacit_service *s, const char *credentials, tacit_error *err)
{
    tacit__key key;
    tacit_status status =
        tacit__key_open(&s->config, credentials, true, TACIT__VAULT_SERVE, &key, &s->vault, err);
    if (status == TACIT_OK)
        status = open_learners(s, key.bytes, err);
    tacit__wipe(&key, sizeof key);
    return status;
}

void tacit__service_note_unsafe(tacit_service *s)
{
    if (atomic_exchange(&s->unsafe, true))
        return;
    tacit__service_log(s, TACIT__WARNING, "store",
                       "unsafe: the store is, or was, on a database server without fsync or "
                       "full_page_writes, which may lose acknowledged and published data");
    pthread_mutex_lock(&s->guarantee_lock);
    for (size_t i = 0; i < s->config.n_learners; i++)
        s->guarantees[i].length = 0; /* made anew when asked for */
    pthread_mutex_unlock(&s->guarantee_lock);
}

static tacit_status start_threads(tacit_service *s, tacit_error *err)
{
    const tacit__committer_calls calls = {.log = tacit__service_log_store,
                                          .end_snapshots = tacit__read_pool_end_snapshots,
                                          .context = s};
    TRY(tacit__committer_create(s->vault, &calls, &s->committer, err));
    for (size_t i = 0; i < s->config.n_learners; i++)
        TRY(tacit__learner_start(s->learners[i], s->committer, err));
    TRY(tacit__store_sync_start(s, err));
    TRY(tacit__sweeper_start(s, err));
    return tacit__warm_start(s, err);
}

static bool is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

static tacit_status apply_start(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    (void)job;
    return tacit__vault_add_event(vault, err, "service started: tacit %s, process %ld",
                                  tacit_version(), (long)getpid());
}

/* Adds an event. If the store cannot be written, the service continues: the committer logs that, and
 * decisions go on. */
static void note_start(tacit_service *s)
{
    tacit__job job = {.apply = apply_start};
    if (tacit__committer_wait(s->committer, &job) != TACIT_OK)
        return;
}

static void warn_of_listeners(tacit_service *s)
{
    const char *const hosts[] = {s->config.host, s->config.admin_host};
    for (size_t i = 0; i < 2 && s->config.certificate == NULL; i++)
        if (hosts[i] != NULL && !is_loopback(hosts[i]))
            tacit__service_log(s, TACIT__WARNING, "listen",
                               "listening on %s without TLS: anyone on the network path can read "
                               "tokens and the data of users, unless a proxy adds TLS",
                               hosts[i]);
}

/* Starts everything in order. tacit_service_close closes what was opened before a failure. */
static tacit_status start(tacit_service *s, const tacit_service_options *options, tacit_error *err)
{
    TRY(tacit__service_config_read(options->file, &s->config, err));
    TRY(tacit__service_config_open(&s->config, err));
    if (s->config.demo && !tacit__demo_is_built())
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "demo: yes needs the client for browsers, which this tacit was built "
                           "without; run make wasm, then make");
    TRY(tacit__warm_open(s, options->credentials, err));
    TRY(open_store(s, options->credentials, err));
    TRY(tacit__access_read(s, err));
    TRY(start_threads(s, err));
    return tacit__http_start(s, err);
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
    (void)pthread_mutex_init(&s->bearer_lock, NULL);
    (void)pthread_mutex_init(&s->guarantee_lock, NULL);
    (void)pthread_mutex_init(&s->stop_lock, NULL);
    tacit__condition_create(&s->stop_news);
    const tacit_status status = start(s, options, err);
    if (status != TACIT_OK) {
        tacit_service_close(s);
        return status;
    }
    warn_of_listeners(s);
    pthread_mutex_lock(&s->bearer_lock);
    const bool has_guests = s->n_bearers > 0;
    pthread_mutex_unlock(&s->bearer_lock);
    if (!has_guests)
        tacit__service_log(s, TACIT__WARNING, "token",
                           "there is no token yet: tacit token create creates one");
    note_start(s);
    tacit__service_log(s, TACIT__INFO, "start", "serving on %s", s->url);
    if (s->admin != NULL)
        tacit__service_log(s, TACIT__INFO, "start", "health and metrics on %s", s->admin_url);
    *out = s;
    return TACIT_OK;
}

const char *tacit_service_url(const tacit_service *service)
{
    return service->url;
}

tacit_status tacit_service_reload(tacit_service *s, tacit_error *err)
{
    tacit_status status = tacit__access_read(s, err);
    if (status == TACIT_OK)
        status = tacit__http_reload(s, err);
    if (status == TACIT_OK)
        tacit__service_log(s, TACIT__INFO, "reload", "tokens and certificate were read again");
    else
        tacit__service_log(s, TACIT__ERROR, "reload", "%s",
                           err != NULL ? err->message : tacit_status_message(status));
    return status;
}

uint64_t tacit_service_drain(tacit_service *s)
{
    atomic_store(&s->stopping, true);
    if (s->config.drain > 0)
        tacit__service_log(s, TACIT__INFO, "stop", "not ready any more; stopping in %llu s",
                           (unsigned long long)s->config.drain);
    return s->config.drain;
}

void tacit_service_close(tacit_service *s)
{
    if (s == NULL)
        return;
    if (s->http != NULL)
        tacit__service_log(s, TACIT__INFO, "stop", "stopping");
    atomic_store(&s->stopping, true);
    tacit__http_stop(s); /* no new requests; those that wait for the committer get their answers */
    tacit__warm_stop(s);
    tacit__store_sync_stop(s);
    tacit__sweeper_stop(s);
    for (size_t i = 0; i < s->config.n_learners; i++) {
        tacit__learner_destroy(s->learners[i]);
        tacit__text_destroy(&s->guarantees[i]);
    }
    tacit__store_sync_close(s);
    tacit__committer_destroy(s->committer);
    tacit__decide_cache_close(s);
    tacit__vault_close(s->reader);
    tacit__read_pool_close(s);
    tacit__vault_close(s->vault);
    tacit__free(s->bearers);
    (void)pthread_mutex_destroy(&s->reader_lock);
    (void)pthread_mutex_destroy(&s->bearer_lock);
    (void)pthread_mutex_destroy(&s->guarantee_lock);
    (void)pthread_mutex_destroy(&s->stop_lock);
    (void)pthread_cond_destroy(&s->stop_news);
    tacit__warm_close(s);
    tacit__service_config_free(&s->config);
    tacit__free_secret(s, sizeof *s);
}

static char *written(void (*write)(tacit__text *out))
{
    tacit__text out = {0};
    write(&out);
    if (out.failed) {
        tacit__text_destroy(&out);
        return NULL;
    }
    return out.data;
}

char *tacit_service_reference(void)
{
    return written(tacit__routes_reference);
}

char *tacit_service_openapi(void)
{
    return written(tacit__routes_openapi);
}
