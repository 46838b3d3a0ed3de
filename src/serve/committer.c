/* One thread writes the jobs of all others, many in one transaction. See serve/committer.h. */
#include "serve/committer.h"

#include <math.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"

enum {
    MOST =
        1024, /* jobs in one transaction; it bounds the wait, and what a crash leaves unanswered */
    SETTLE_MS = 2000, /* without a job, after which the log is truncated */
    /* The committer copies the log into the file when it has this many pages of 4 KB, which takes about 15 ms
     * per 1000 pages. IDLE_PAGES is for when no request waits, BUSY_PAGES for when one does. A longer log
     * needs fewer syncs of the file, but keeps deleted data for longer. */
    IDLE_PAGES = 1000,
    BUSY_PAGES = 4000
};

typedef struct queue {
    tacit__job *first, *last;
} queue;

struct tacit__committer {
    tacit__vault *vault;
    tacit__committer_calls calls;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    queue jobs_queue, bulk_queue;
    bool had_bulk;        /* the last transaction had a bulk job */
    bool stop, unsettled; /* the log is not empty */
    atomic_uint_fast64_t jobs, commits, failures;
    atomic_int_fast64_t committed; /* time of the last commit, in seconds of CLOCK_MONOTONIC */
    atomic_bool failing;
};

static void append(queue *l, tacit__job *job)
{
    TACIT__REQUIRE(job != NULL && (l->first == NULL) == (l->last == NULL));
    job->next = NULL;
    if (l->last != NULL)
        l->last->next = job;
    else
        l->first = job;
    l->last = job;
}

/* Removes up to `most` jobs from the front of a queue. */
static queue cut(queue *l, int most)
{
    queue out = {l->first, l->first};
    for (int n = 1; out.last != NULL && out.last->next != NULL && n < most; n++)
        out.last = out.last->next;
    if (out.last != NULL) {
        l->first = out.last->next;
        out.last->next = NULL;
    }
    if (l->first == NULL)
        l->last = NULL;
    return out;
}

/* Removes the jobs of the next transaction from the queues, as a list. */
static tacit__job *pop(tacit__committer *c)
{
    queue list = cut(&c->jobs_queue, MOST);
    const bool bulk = c->bulk_queue.first != NULL && (list.first == NULL || !c->had_bulk);
    if (bulk)
        append(&list, cut(&c->bulk_queue, 1).first);
    c->had_bulk = bulk;
    return list.first;
}

static bool is_idle(const tacit__committer *c)
{
    return c->jobs_queue.first == NULL && c->bulk_queue.first == NULL;
}

/* Writes the jobs in the transaction whose begin returned `status`. */
static tacit_status write_once(tacit__committer *c, tacit__job *list, bool one, tacit_status status,
                               tacit_error *err)
{
    for (tacit__job *job = list; job != NULL && status == TACIT_OK; job = one ? NULL : job->next)
        if (job->expect != NULL)
            job->expect(job, c->vault);
    for (tacit__job *job = list; job != NULL && status == TACIT_OK; job = one ? NULL : job->next)
        status = job->apply(job, c->vault, err);
    return tacit__vault_finish_transaction(c->vault, status, err);
}

static tacit_status write_list(tacit__committer *c, tacit__job *list, bool one, tacit_status status,
                               tacit_error *err)
{
    status = write_once(c, list, one, status, err);
    if (status != TACIT_OK &&
        tacit__vault_assumed_wrongly(c->vault)) /* the store itself did not fail */
        status = write_once(c, list, one, tacit__vault_begin(c->vault, err), err);
    atomic_fetch_add_explicit(status == TACIT_OK ? &c->commits : &c->failures, 1,
                              memory_order_release);
    c->unsettled = true;
    if (status == TACIT_FENCED) /* the store works, but another process may write to it */
        return status;
    bool failing = status != TACIT_OK;
    if (!failing)
        atomic_store_explicit(&c->committed, (int64_t)tacit__now_seconds(), memory_order_relaxed);
    bool failed = atomic_exchange_explicit(&c->failing, failing, memory_order_relaxed);
    if (failing != failed &&
        c->calls.log != NULL) /* messages of the store contain no data of users */
        c->calls.log(c->calls.context, failing ? err->message : "the store can be written again");
    return status;
}

/* Writes all waiting jobs together or, if that fails, one by one, so that no job fails because of another. It
 * takes the jobs after the transaction has begun, since more may come while it waits for other writers. */
static void write_all(tacit__committer *c)
{
    tacit_error err = {0};
    tacit_status status = tacit__vault_begin(c->vault, &err);
    pthread_mutex_lock(&c->lock);
    tacit__job *list = pop(c);
    pthread_mutex_unlock(&c->lock);
    const bool single = list->next == NULL;
    status = write_list(c, list, false, status, &err);
    while (list != NULL) {
        tacit__job *job = list, *next = job->next;
        tacit_status own = status;
        if (status != TACIT_OK && !single)
            own = write_list(c, job, true, tacit__vault_begin(c->vault, &err), &err);
        atomic_fetch_add_explicit(&c->jobs, 1, memory_order_relaxed);
        job->done(job, own);
        list = next;
    }
}

static void end_snapshots(const tacit__committer *c)
{
    if (c->calls.end_snapshots != NULL)
        c->calls.end_snapshots(c->calls.context);
}

/* Waits for a job or for the end, and truncates the log meanwhile. The caller holds the lock. */
static void await(tacit__committer *c)
{
    while (is_idle(c) && !c->stop) {
        if (!tacit__wait_ms(&c->news, &c->lock, c->unsettled ? SETTLE_MS : HUGE_VAL)) {
            pthread_mutex_unlock(&c->lock);
            end_snapshots(c);
            c->unsettled = !tacit__vault_truncate_log(c->vault);
            pthread_mutex_lock(&c->lock);
        }
    }
}

static void *work(void *context)
{
    tacit__committer *c = context;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        await(c);
        if (is_idle(c))
            break;
        pthread_mutex_unlock(&c->lock);
        write_all(c);
        pthread_mutex_lock(&c->lock);
        const bool idle = is_idle(c);
        pthread_mutex_unlock(&c->lock);
        if (tacit__vault_log_is_long(c->vault, idle ? IDLE_PAGES : BUSY_PAGES)) {
            end_snapshots(c);
            tacit__vault_empty_log(c->vault);
            end_snapshots(c); /* snapshots from now on are of the file: the log can begin anew */
        }
        pthread_mutex_lock(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

tacit_status tacit__committer_create(tacit__vault *vault, const tacit__committer_calls *calls,
                                     tacit__committer **out, tacit_error *err)
{
    TACIT__REQUIRE(vault != NULL);
    tacit__committer *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    c->vault = vault;
    if (calls != NULL)
        c->calls = *calls;
    tacit__vault_watch_log(vault);
    (void)pthread_mutex_init(&c->lock, NULL);
    tacit__condition_create(&c->news);
    atomic_store(&c->committed, (int64_t)tacit__now_seconds());
    tacit_status status = tacit__thread_start(&c->thread, work, c, err);
    if (status != TACIT_OK) {
        tacit__free(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__committer_destroy(tacit__committer *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->lock);
    (void)pthread_join(c->thread, NULL);
    (void)pthread_cond_destroy(&c->news);
    (void)pthread_mutex_destroy(&c->lock);
    tacit__free(c);
}

void tacit__committer_post(tacit__committer *c, tacit__job *job)
{
    TACIT__REQUIRE(job->apply != NULL && job->done != NULL);
    pthread_mutex_lock(&c->lock);
    append(job->bulk ? &c->bulk_queue : &c->jobs_queue, job);
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->lock);
}

/* A job whose caller waits for it. `outer` is the caller's. */
typedef struct waiting {
    tacit__job job;
    tacit__job *outer;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool done;
    tacit_status status;
} waiting;

static tacit_status apply_outer(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    tacit__job *outer = ((waiting *)job)->outer;
    return outer->apply(outer, vault, err);
}

static void expect_outer(tacit__job *job, tacit__vault *vault)
{
    tacit__job *outer = ((waiting *)job)->outer;
    if (outer->expect != NULL)
        outer->expect(outer, vault);
}

static void wake(tacit__job *job, tacit_status status)
{
    waiting *w = (waiting *)job;
    pthread_mutex_lock(&w->lock);
    w->done = true;
    w->status = status;
    pthread_cond_signal(&w->news);
    pthread_mutex_unlock(&w->lock);
}

tacit_status tacit__committer_wait(tacit__committer *c, tacit__job *job)
{
    TACIT__REQUIRE(job->apply != NULL);
    waiting w = {
        .job = {.apply = apply_outer, .expect = expect_outer, .done = wake, .bulk = job->bulk},
        .outer = job};
    (void)pthread_mutex_init(&w.lock, NULL);
    (void)pthread_cond_init(&w.news, NULL);
    tacit__committer_post(c, &w.job);
    pthread_mutex_lock(&w.lock);
    while (!w.done)
        pthread_cond_wait(&w.news, &w.lock);
    pthread_mutex_unlock(&w.lock);
    (void)pthread_cond_destroy(&w.news);
    (void)pthread_mutex_destroy(&w.lock);
    return w.status;
}

uint64_t tacit__committer_writes(const tacit__committer *c)
{
    return atomic_load_explicit(&c->commits, memory_order_acquire);
}

tacit__committer_figures tacit__committer_figures_of(const tacit__committer *c)
{
    return (tacit__committer_figures){
        .jobs = atomic_load(&c->jobs),
        .commits = atomic_load(&c->commits),
        .failures = atomic_load(&c->failures),
        .commit_age = (uint64_t)((int64_t)tacit__now_seconds() - atomic_load(&c->committed)),
        .failing = atomic_load(&c->failing)};
}
