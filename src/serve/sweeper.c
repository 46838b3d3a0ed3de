/* See serve/sweeper.h. */
#include "serve/sweeper.h"

#include "base/error.h"
#include "base/thread.h"
#include "base/wait.h"
#include "serve/service_inside.h"
#include "store/vault/vault_maintenance.h"

/* CLOCK_SECONDS is how much time a crash may take from the clock. The write also notices that an idle store
 * cannot be written. */
enum { SWEEP_SECONDS = 10, SWEEP_MOST = 1000, CLOCK_SECONDS = 60 };

typedef struct sweeping {
    tacit__job job;
    const tacit_service *service;
    int64_t now, before; /* by the service clock; before: what was opened earlier is too old */
    uint64_t expired, forgotten, verdicts;
    uint64_t digests; /* deleted of the learner with the most */
} sweeping;

/* Whether the learner gets reports rather than episodes. */
static bool is_local(const tacit_service *s, size_t i)
{
    TACIT__REQUIRE(i < s->config.n_learners);
    return s->config.learners[i].request.guarantee.model == TACIT_MODEL_LOCAL;
}

/* Digests of finished episodes are deleted when no repetition can come any longer. */
static tacit_status forget_digests(sweeping *w, tacit__vault *vault, tacit_error *err)
{
    const tacit_service *s = w->service;
    tacit_status status = TACIT_OK;
    w->digests = 0;
    for (size_t i = 0; i < s->config.n_learners && status == TACIT_OK; i++) {
        uint64_t n = 0;
        if (!is_local(s, i))
            status = tacit__vault_delete_digests(vault, tacit__learner_id(s->learners[i]),
                                                 w->before, SWEEP_MOST, &n, err);
        w->digests = n > w->digests ? n : w->digests;
    }
    return status;
}

/* Whether there are digests to delete. The sweeper asks first, so that an idle service writes nothing. */
static bool knows_old(tacit_service *s, int64_t before)
{
    bool has = false;
    pthread_mutex_lock(&s->reader_lock);
    if (tacit__vault_has_verdicts(s->reader, before, &has, NULL) != TACIT_OK)
        has = false;
    for (size_t i = 0; i < s->config.n_learners && !has; i++)
        if (!is_local(s, i) &&
            tacit__vault_has_digests(s->reader, tacit__learner_id(s->learners[i]), before, &has,
                                     NULL) != TACIT_OK)
            break;
    pthread_mutex_unlock(&s->reader_lock);
    return has;
}

static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    sweeping *w = (sweeping *)job;
    TRY(tacit__vault_save_clock(vault, w->now, err));
    TRY(tacit__vault_expire_episodes(vault, w->before, SWEEP_MOST, &w->expired, err));
    TRY(tacit__vault_delete_answers(vault, w->before, SWEEP_MOST, &w->forgotten, err));
    TRY(tacit__vault_delete_verdicts(vault, w->before, SWEEP_MOST, &w->verdicts, err));
    return forget_digests(w, vault, err);
}

/* Sweeps once. Returns true if more is left. */
static bool sweep_once(tacit_service *s, int64_t now)
{
    sweeping w = {.job = {.apply = apply},
                  .service = s,
                  .now = now,
                  .before = now - (int64_t)s->config.expire};
    if (tacit__committer_wait(s->committer, &w.job) != TACIT_OK)
        return false;
    /* other front ends may have counted meanwhile */
    for (uint_fast64_t n = atomic_load(&s->open_episodes);
         !atomic_compare_exchange_weak(&s->open_episodes, &n, n > w.expired ? n - w.expired : 0);)
        ;
    atomic_fetch_add(&s->expired, w.expired);
    return w.expired == SWEEP_MOST || w.forgotten == SWEEP_MOST || w.digests == SWEEP_MOST ||
           w.verdicts == SWEEP_MOST;
}

static bool is_due(tacit_service *s, int64_t now, int64_t since)
{
    const int64_t every = s->config.expire < SWEEP_SECONDS ? 1 : SWEEP_SECONDS;
    if (tacit__committer_figures_of(s->committer).failing || since >= CLOCK_SECONDS)
        return true;
    return since >= every && (atomic_load(&s->open_episodes) > 0 || atomic_load(&s->has_answers) ||
                              knows_old(s, now - (int64_t)s->config.expire));
}

static void *sweep(void *context)
{
    tacit_service *s = context;
    int64_t last = tacit__clock_now(&s->clock) - SWEEP_SECONDS;
    pthread_mutex_lock(&s->stop_lock);
    while (!s->stop) {
        pthread_mutex_unlock(&s->stop_lock);
        int64_t now = tacit__clock_now(&s->clock);
        bool more = false;
        if (is_due(s, now, now - last)) {
            more = sweep_once(s, now);
            last = more ? now - SWEEP_SECONDS : now;
        }
        pthread_mutex_lock(&s->stop_lock);
        if (!s->stop)
            (void)tacit__wait_ms(&s->stop_news, &s->stop_lock, more ? 0 : 1000);
    }
    pthread_mutex_unlock(&s->stop_lock);
    return NULL;
}

tacit_status tacit__sweeper_start(tacit_service *s, tacit_error *err)
{
    TACIT__REQUIRE(!s->sweeping);
    tacit_status status = tacit__thread_start(&s->sweeper, sweep, s, err);
    s->sweeping = status == TACIT_OK;
    return status;
}

static tacit_status apply_last(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    TRY(tacit__vault_save_clock(vault, ((sweeping *)job)->now, err));
    return tacit__vault_add_event(vault, err, "service stopped");
}

void tacit__sweeper_stop(tacit_service *s)
{
    if (!s->sweeping)
        return;
    pthread_mutex_lock(&s->stop_lock);
    s->stop = true;
    pthread_cond_broadcast(&s->stop_news);
    pthread_mutex_unlock(&s->stop_lock);
    (void)pthread_join(s->sweeper, NULL);
    s->sweeping = false;
    sweeping w = {.job = {.apply = apply_last}, .now = tacit__clock_now(&s->clock)};
    if (tacit__committer_wait(s->committer, &w.job) != TACIT_OK)
        return; /* the committer has said why; the clock will go on from where it was */
}
