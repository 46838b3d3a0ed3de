/* See serve/store_sync.h. */
#include "serve/store_sync.h"

#include <math.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"
#include "serve/people/decide_cache.h"
#include "serve/service_inside.h"

enum {
    POLL_MS = 500,   /* the longest wait for announcements */
    LEAST_MS = 20,   /* between two polls, however much the others write */
    RENEW_MS = 400,  /* between two renewals of the leases */
    LOAD_MS = 100,   /* of loading at a time, so that leases are renewed meanwhile */
    COUNT_MS = 5000, /* between two counts of open episodes */
    /* The database answers twice a second. After this long without an answer it counts as disconnected. */
    SILENT_MS = 2000
};

struct tacit__store_sync {
    tacit__vault *vault;
    pthread_t thread;
    bool started;
    bool unreachable; /* the last poll did not reach the database */
    bool loading;     /* announcements were missed, so the cache is being loaded again */
    tacit__store_status store_status;
    double renewed_at, counted_at;   /* ms: when the leases were renewed, and episodes counted */
    atomic_int_fast64_t answered_at; /* ms: when the database last answered */
};

tacit_status tacit__store_sync_open(tacit_service *s, const uint8_t *key, tacit_error *err)
{
    if (!tacit__vault_is_shared(s->vault))
        return TACIT_OK;
    s->store_sync = tacit__alloc(1, sizeof *s->store_sync);
    if (s->store_sync == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    s->store_sync->store_status = tacit__vault_store_status(s->vault);
    TRY(tacit__vault_open(s->config.store, TACIT__VAULT_READ, key, &s->store_sync->vault, err));
    /* It listens before it reads, so that no announcement is missed. */
    tacit__vault_news news = {.receive = tacit__decide_cache_receive, .context = s};
    TRY(tacit__vault_await_news(s->store_sync->vault, s->vault, 0, &news, err));
    bool more = true;
    for (tacit__decide_cache_begin_load(s); more;)
        TRY(tacit__decide_cache_load(s, s->store_sync->vault, HUGE_VAL, &more, err));
    return TACIT_OK;
}

static void set_accepted(void *service, int64_t learner, uint64_t accepted)
{
    tacit__learner *l = tacit__service_learner_by_id(service, learner);
    if (l != NULL)
        tacit__learner_set_accepted(l, accepted);
}

/* Reads the tokens, and wakes the learners if users wait for them. */
static void read_news(tacit_service *s)
{
    tacit_error err = {0};
    if (tacit__access_read(s, &err) != TACIT_OK)
        tacit__service_log(s, TACIT__WARNING, "token", "%s", err.message);
    if (tacit__vault_count_accepted(s->store_sync->vault, set_accepted, s, &err) != TACIT_OK)
        return; /* the next poll reports it */
    for (size_t i = 0; i < s->config.n_learners; i++)
        tacit__learner_wake(s->learners[i]);
}

/* Counts the episodes that are open on all front ends. */
static void count_all(tacit_service *s)
{
    uint64_t open = 0;
    bool answers = false;
    if (tacit__vault_count_open(s->store_sync->vault, &open, NULL) == TACIT_OK)
        atomic_store(&s->open_episodes, open);
    if (tacit__vault_has_answers(s->store_sync->vault, &answers, NULL) == TACIT_OK && answers)
        atomic_store(&s->has_answers, true);
}

/* Acquires or renews the leases. Without the database this process has none. A learner that failed here
 * leaves its lease to other processes. */
static void renew_leases(tacit_service *s, bool reachable)
{
    struct tacit__store_sync *k = s->store_sync;
    const bool fine = reachable && tacit__vault_store_status(s->vault) == TACIT__STORE_FINE;
    for (size_t i = 0; i < s->config.n_learners; i++) {
        const bool wanted = fine && !tacit__learner_figures_of(s->learners[i]).failed;
        bool held = false;
        tacit_status status = reachable
                                  ? tacit__vault_lease(k->vault, tacit__learner_id(s->learners[i]),
                                                       wanted, &held, NULL)
                                  : TACIT_SYSTEM;
        tacit__learner_set_lease(s->learners[i], status == TACIT_OK && held,
                                 held ? tacit__vault_session(k->vault) : 0);
    }
}

static tacit_status apply_nothing(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    (void)job, (void)vault, (void)err;
    return TACIT_OK;
}

/* Commits an empty transaction. It checks the store, and the other processes learn of what it finds. */
static bool write_nothing(tacit_service *s)
{
    tacit__job job = {.apply = apply_nothing};
    return tacit__committer_wait(s->committer, &job) == TACIT_OK;
}

/* Logs a new status of the store and passes it on to the learners. */
static void note_store_status(tacit_service *s)
{
    const tacit__store_status store_status = tacit__vault_store_status(s->vault);
    if (store_status == s->store_sync->store_status)
        return;
    s->store_sync->store_status = store_status;
    tacit__service_log(s, TACIT__WARNING, "store", "the store is %s: %s",
                       tacit__store_status_name(store_status),
                       tacit__store_status_reason(store_status));
    for (size_t i = 0; i < s->config.n_learners; i++)
        tacit__learner_set_store_status(s->learners[i], store_status);
    if (!write_nothing(s))
        s->store_sync->store_status = TACIT__STORE_FINE; /* try again after the next poll */
}

static void note_answer(struct tacit__store_sync *k)
{
    atomic_store(&k->answered_at, (int_fast64_t)tacit__now_ms());
}

bool tacit__store_sync_is_connected(const tacit_service *s)
{
    return s->store_sync == NULL ||
           (int_fast64_t)tacit__now_ms() - atomic_load(&s->store_sync->answered_at) < SILENT_MS;
}

static void poll_store(tacit_service *s, int ms)
{
    struct tacit__store_sync *k = s->store_sync;
    tacit_error err = {0};
    tacit__vault_news news = {.receive = tacit__decide_cache_receive, .context = s};
    const bool reachable = tacit__vault_await_news(k->vault, s->vault, ms, &news, &err) == TACIT_OK;
    const double now = tacit__now_ms();
    if (reachable)
        note_answer(k);
    if (!reachable && !k->unreachable)
        tacit__service_log(s, TACIT__WARNING, "store", "%s", err.message);
    if (reachable && k->unreachable)
        tacit__service_log(s, TACIT__INFO, "store", "the database can be reached again");
    news.any = news.any || (reachable && k->unreachable);
    k->unreachable = !reachable;
    if (news.missed)
        tacit__decide_cache_begin_load(s);
    k->loading = k->loading || news.missed;
    if (now >= k->renewed_at + RENEW_MS) {
        renew_leases(s, reachable);
        k->renewed_at = now;
    }
    if (news.replaced && !write_nothing(s))
        return; /* the process ends: its key is no longer that of the store */
    if (tacit__vault_is_unsafe(k->vault)) /* another front end found that out */
        tacit__service_note_unsafe(s);
    if (news.any)
        read_news(s);
    if (reachable && k->loading &&
        tacit__decide_cache_load(s, k->vault, LOAD_MS, &k->loading, &err) != TACIT_OK)
        k->loading = true; /* it continues there when the database is back */
    if (reachable && now >= k->counted_at + COUNT_MS) {
        count_all(s);
        tacit__decide_cache_expire(s);
        k->counted_at = now;
    }
}

/* Returns false if the thread must stop. */
static bool pause_ms(tacit_service *s, double ms)
{
    pthread_mutex_lock(&s->stop_lock);
    if (!s->stop_sync && ms > 0)
        (void)tacit__wait_ms(&s->stop_news, &s->stop_lock, ms);
    const bool go_on = !s->stop_sync;
    pthread_mutex_unlock(&s->stop_lock);
    return go_on;
}

static void *run(void *context)
{
    tacit_service *s = context;
    for (double start = 0, least = 0; pause_ms(s, least - (tacit__now_ms() - start));) {
        start = tacit__now_ms();
        poll_store(s, s->store_sync->loading ? 0 : POLL_MS);
        note_store_status(s);
        least = s->store_sync->unreachable ? 5 * LEAST_MS : LEAST_MS;
    }
    return NULL;
}

tacit_status tacit__store_sync_start(tacit_service *s, tacit_error *err)
{
    if (s->store_sync == NULL) {
        for (size_t i = 0; i < s->config.n_learners; i++)
            tacit__learner_set_lease(s->learners[i], true, 0);
        return TACIT_OK;
    }
    note_answer(s->store_sync); /* opening the store was an answer */
    tacit_status status = tacit__thread_start(&s->store_sync->thread, run, s, err);
    s->store_sync->started = status == TACIT_OK;
    return status;
}

void tacit__store_sync_stop(tacit_service *s)
{
    if (s->store_sync == NULL)
        return;
    pthread_mutex_lock(&s->stop_lock);
    s->stop_sync = true;
    pthread_cond_broadcast(&s->stop_news);
    pthread_mutex_unlock(&s->stop_lock);
    if (s->store_sync->started)
        (void)pthread_join(s->store_sync->thread, NULL);
    s->store_sync->started = false;
}

void tacit__store_sync_close(tacit_service *s)
{
    if (s->store_sync == NULL)
        return;
    tacit__vault_close(s->store_sync->vault);
    tacit__free(s->store_sync);
    s->store_sync = NULL;
}
