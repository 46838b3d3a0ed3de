/* See serve/keeper.h. */
#include "serve/keeper.h"

#include <math.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"
#include "serve/decide_cache.h"
#include "serve/service_inside.h"

enum {
    LOOK_MS = 500,   /* without news */
    LEAST_MS = 20,   /* between two looks, however much the others write */
    BEAT_MS = 400,   /* between two beats of a lease */
    READ_MS = 100,   /* at a time, of what is to be known: leases go on meanwhile */
    COUNT_MS = 5000, /* between two counts of open episodes */
    SILENT_MS =
        2000 /* of a database that answers looks twice a second, after which it is taken for gone */
};

struct tacit__keeper {
    tacit__vault *vault;
    pthread_t thread;
    bool started, away; /* away: the database could not be reached at the last look */
    bool reading;       /* what was told while this front end was cut off */
    tacit__standing standing;
    double beaten, counted;    /* ms: when it was last done */
    atomic_int_fast64_t heard; /* ms: when the database answered last */
};

tacit_status tacit__keeper_open(tacit_service *s, const uint8_t *key, tacit_error *err)
{
    if (!tacit__vault_is_shared(s->vault))
        return TACIT_OK;
    s->keeper = tacit__alloc(1, sizeof *s->keeper);
    if (s->keeper == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    s->keeper->standing = tacit__vault_standing(s->vault);
    TRY(tacit__vault_open(s->config.store, TACIT__VAULT_READ, key, &s->keeper->vault, err));
    /* listens first, and then reads: nothing that others tell is missed */
    tacit__vault_news news = {.told = tacit__decide_cache_receive, .context = s};
    TRY(tacit__vault_await(s->keeper->vault, s->vault, 0, &news, err));
    bool more = true;
    for (tacit__decide_cache_begin_load(s); more;)
        TRY(tacit__decide_cache_load(s, s->keeper->vault, HUGE_VAL, &more, err));
    return TACIT_OK;
}

static void set_accepted(void *service, int64_t learner, uint64_t accepted)
{
    tacit__learner *l = tacit__service_learner_by_id(service, learner);
    if (l != NULL)
        tacit__learner_set_accepted(l, accepted);
}

/* Tokens, and what waits for learners. */
static void read_news(tacit_service *s)
{
    tacit_error err = {0};
    if (tacit__access_read(s, &err) != TACIT_OK)
        tacit__service_log(s, TACIT__WARNING, "token", "%s", err.message);
    if (tacit__vault_count_accepted(s->keeper->vault, set_accepted, s, &err) != TACIT_OK)
        return; /* the next look says so */
    for (size_t i = 0; i < s->config.n_learners; i++)
        tacit__learner_wake(s->learners[i]);
}

/* Episodes that are open on all front ends. */
static void count_all(tacit_service *s)
{
    uint64_t open = 0;
    bool answers = false;
    if (tacit__vault_count_open(s->keeper->vault, &open, NULL) == TACIT_OK)
        atomic_store(&s->open_episodes, open);
    if (tacit__vault_has_answers(s->keeper->vault, &answers, NULL) == TACIT_OK && answers)
        atomic_store(&s->has_answers, true);
}

/* Tries to get or to keep the leases; without the database there are none. A learner that failed here leaves
 * its lease to others. */
static void step_leases(tacit_service *s, bool reachable)
{
    struct tacit__keeper *k = s->keeper;
    const bool fine = reachable && tacit__vault_standing(s->vault) == TACIT__STANDING_FINE;
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

/* A transaction that does nothing else than to begin: what is wrong is found, and told to the others. */
static bool write_nothing(tacit_service *s)
{
    tacit__job job = {.apply = apply_nothing};
    return tacit__committer_wait(s->committer, &job) == TACIT_OK;
}

/* The standing is another one. */
static void note_standing(tacit_service *s)
{
    const tacit__standing standing = tacit__vault_standing(s->vault);
    if (standing == s->keeper->standing)
        return;
    s->keeper->standing = standing;
    tacit__service_log(s, TACIT__WARNING, "store", "the store is %s: %s",
                       tacit__standing_name(standing), tacit__standing_reason(standing));
    for (size_t i = 0; i < s->config.n_learners; i++)
        tacit__learner_set_standing(s->learners[i], standing);
    if (!write_nothing(s))
        s->keeper->standing = TACIT__STANDING_FINE; /* once more, at the next look */
}

static void note_answer(struct tacit__keeper *k)
{
    atomic_store(&k->heard, (int_fast64_t)tacit__now_ms());
}

bool tacit__keeper_hears(const tacit_service *s)
{
    return s->keeper == NULL ||
           (int_fast64_t)tacit__now_ms() - atomic_load(&s->keeper->heard) < SILENT_MS;
}

static void look(tacit_service *s, int ms)
{
    struct tacit__keeper *k = s->keeper;
    tacit_error err = {0};
    tacit__vault_news news = {.told = tacit__decide_cache_receive, .context = s};
    const bool reachable = tacit__vault_await(k->vault, s->vault, ms, &news, &err) == TACIT_OK;
    const double now = tacit__now_ms();
    if (reachable)
        note_answer(k);
    if (!reachable && !k->away)
        tacit__service_log(s, TACIT__WARNING, "store", "%s", err.message);
    if (reachable && k->away)
        tacit__service_log(s, TACIT__INFO, "store", "the database can be reached again");
    news.any = news.any || (reachable && k->away);
    k->away = !reachable;
    if (news.missed)
        tacit__decide_cache_begin_load(s);
    k->reading = k->reading || news.missed;
    if (now >= k->beaten + BEAT_MS) {
        step_leases(s, reachable);
        k->beaten = now;
    }
    if (news.replaced && !write_nothing(s))
        return;                           /* this process ends, since it has another key */
    if (tacit__vault_is_unsafe(k->vault)) /* by another front end */
        tacit__service_note_unsafe(s);
    if (news.any)
        read_news(s);
    if (reachable && k->reading &&
        tacit__decide_cache_load(s, k->vault, READ_MS, &k->reading, &err) != TACIT_OK)
        k->reading = true; /* from where it was, when the database is there again */
    if (reachable && now >= k->counted + COUNT_MS) {
        count_all(s);
        tacit__decide_cache_expire(s);
        k->counted = now;
    }
}

/* False: it is to stop. */
static bool pause_ms(tacit_service *s, double ms)
{
    pthread_mutex_lock(&s->stop_lock);
    if (!s->stop_keeping && ms > 0)
        (void)tacit__wait_ms(&s->stop_news, &s->stop_lock, ms);
    const bool go_on = !s->stop_keeping;
    pthread_mutex_unlock(&s->stop_lock);
    return go_on;
}

static void *keep(void *context)
{
    tacit_service *s = context;
    for (double start = 0, least = 0; pause_ms(s, least - (tacit__now_ms() - start));) {
        start = tacit__now_ms();
        look(s, s->keeper->reading ? 0 : LOOK_MS);
        note_standing(s);
        least = s->keeper->away ? 5 * LEAST_MS : LEAST_MS;
    }
    return NULL;
}

tacit_status tacit__keeper_start(tacit_service *s, tacit_error *err)
{
    if (s->keeper == NULL) {
        for (size_t i = 0; i < s->config.n_learners; i++)
            tacit__learner_set_lease(s->learners[i], true, 0);
        return TACIT_OK;
    }
    note_answer(s->keeper); /* it did, a moment ago */
    tacit_status status = tacit__thread_start(&s->keeper->thread, keep, s, err);
    s->keeper->started = status == TACIT_OK;
    return status;
}

void tacit__keeper_stop(tacit_service *s)
{
    if (s->keeper == NULL)
        return;
    pthread_mutex_lock(&s->stop_lock);
    s->stop_keeping = true;
    pthread_cond_broadcast(&s->stop_news);
    pthread_mutex_unlock(&s->stop_lock);
    if (s->keeper->started)
        (void)pthread_join(s->keeper->thread, NULL);
    s->keeper->started = false;
}

void tacit__keeper_close(tacit_service *s)
{
    if (s->keeper == NULL)
        return;
    tacit__vault_close(s->keeper->vault);
    tacit__free(s->keeper);
    s->keeper = NULL;
}
