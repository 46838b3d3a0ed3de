/* All jobs of an experiment on some threads.
 *
 * Jobs are numbered run by run; a thread takes the next number and writes to the places of that job alone, so which
 * thread plays what, and when, leaves no trace in the results. The calling thread watches: it reports progress,
 * and passes on the wish to stop. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "lab/play.h"
#include "lab/results.h"
#include "lab/yardstick.h"

enum { MAX_THREADS = 1024, TICK_MS = 100 };

enum { WAITING, PLAYING, FINISHED };

/* What the watcher sees of a job; a cache line each, since neighbours are played at the same time. */
typedef struct slot {
    alignas(64) atomic_uint_fast64_t episodes;
    atomic_int phase;
    _Atomic double since, seconds; /* when it began; how long it took */
} slot;

typedef struct crew {
    tacit__stage stage;
    tacit_results *results;
    slot *slots;
    size_t n_jobs;
    atomic_size_t next;
    atomic_bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned at_work; /* threads; guarded, like the failure, by `lock` */
    size_t failed_job;
    tacit_error failure; /* status TACIT_OK: none */
} crew;

static double now(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- Workers ------------------------------------------------------------------------------------- */

/* Of several failures the one of the first job is told. */
static void note_failure(crew *c, size_t job, tacit_status status, const tacit_error *err)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(c->stage.experiment);
    const tacit_entry *entry = &facts->agents[job % facts->n_agents];
    atomic_store(&c->stop, true);
    (void)pthread_mutex_lock(&c->lock);
    if (c->failure.status == TACIT_OK || job < c->failed_job) {
        c->failed_job = job;
        (void)tacit__fail(&c->failure, status, "%.200s:%d: agent '%s', run %zu, episode %llu: %s",
                          facts->file, entry->line, entry->label, job / facts->n_agents + 1,
                          (unsigned long long)atomic_load(&c->slots[job].episodes) + 1,
                          err->message);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static void play_job(crew *c, size_t job)
{
    tacit_results *r = c->results;
    slot *s = &c->slots[job];
    tacit_error err = {.message = ""};
    double start = now();
    atomic_store(&s->since, start);
    atomic_store(&s->phase, PLAYING);
    tacit_status status = tacit__play(&c->stage, job % r->n_agents, job / r->n_agents, &s->episodes,
                                      r->curves + job * r->n_points, &r->jobs[job], &err);
    atomic_store(&s->seconds, now() - start);
    if (r->jobs[job].done)
        atomic_store(&s->phase, FINISHED);
    if (status != TACIT_OK)
        note_failure(c, job, status, &err);
}

static void *work(void *context)
{
    crew *c = context;
    size_t job;
    while (!atomic_load(&c->stop) && (job = atomic_fetch_add(&c->next, 1)) < c->n_jobs)
        play_job(c, job);
    (void)pthread_mutex_lock(&c->lock);
    c->at_work--;
    (void)pthread_cond_signal(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* --- The watcher --------------------------------------------------------------------------------- */

/* Seconds left: every agent goes on at its own pace; agents not met yet go at the average one. */
static double estimate(const crew *c, unsigned n_threads, double time)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(c->stage.experiment);
    double left = 0, longest = 0, paces = 0, unknown = 0;
    size_t n_known = 0;
    for (size_t a = 0; a < facts->n_agents; a++) {
        double spent = 0, played = 0, farthest = 0;
        double all = (double)facts->episodes * (double)facts->runs;
        if (facts->agents[a].yardstick)
            continue;
        for (size_t job = a; job < c->n_jobs; job += facts->n_agents) {
            slot *s = &c->slots[job];
            int phase = atomic_load(&s->phase);
            double done = (double)atomic_load_explicit(&s->episodes, memory_order_relaxed);
            if (phase == WAITING)
                break;
            spent += phase == FINISHED ? atomic_load(&s->seconds) : time - atomic_load(&s->since);
            played += done;
            if (phase == PLAYING)
                farthest = fmax(farthest, (double)facts->episodes - done);
        }
        if (played > 0) {
            double pace = spent / played;
            left += pace * (all - played);
            longest = fmax(longest, pace * farthest);
            paces += pace;
            n_known++;
        } else {
            unknown += all;
        }
    }
    if (n_known == 0)
        return (double)NAN;
    left += unknown * paces / (double)n_known;
    return fmax(left / n_threads, longest);
}

static tacit_lab_progress measure(const crew *c, unsigned n_threads, double start)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(c->stage.experiment);
    tacit_lab_progress p = {.n_jobs = c->n_jobs, .seconds = now() - start};
    for (size_t job = 0; job < c->n_jobs; job++) {
        p.jobs += atomic_load(&c->slots[job].phase) == FINISHED;
        p.episodes += atomic_load_explicit(&c->slots[job].episodes, memory_order_relaxed);
        if (!facts->agents[job % facts->n_agents].yardstick)
            p.n_episodes += facts->episodes;
    }
    p.seconds_left = p.jobs == p.n_jobs ? 0 : estimate(c, n_threads, now());
    return p;
}

static void watch(crew *c, const tacit_lab_options *options, unsigned n_threads, double start)
{
    (void)pthread_mutex_lock(&c->lock);
    while (c->at_work > 0) {
        struct timespec until = {0};
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&c->changed, &c->lock, &until);
        if (options->progress == NULL)
            continue;
        (void)pthread_mutex_unlock(&c->lock);
        tacit_lab_progress p = measure(c, n_threads, start);
        if (!options->progress(options->context, &p))
            atomic_store(&c->stop, true);
        (void)pthread_mutex_lock(&c->lock);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

/* --- Everything ---------------------------------------------------------------------------------- */

static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

static tacit_status play_all(crew *c, const tacit_lab_options *options, tacit_error *err)
{
    unsigned wanted = options->n_threads > 0 ? options->n_threads : processors(), n = 0;
    if (wanted > MAX_THREADS)
        wanted = MAX_THREADS;
    if (wanted > c->n_jobs)
        wanted = (unsigned)c->n_jobs;
    pthread_t *threads = tacit__alloc(wanted, sizeof *threads);
    if (threads == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    double start = now();
    c->at_work = wanted;
    for (int refused = 0; n < wanted && refused == 0; n += refused == 0)
        refused = pthread_create(&threads[n], NULL, work, c);
    (void)pthread_mutex_lock(&c->lock);
    c->at_work -= wanted - n; /* fewer threads than wished for do as well */
    (void)pthread_mutex_unlock(&c->lock);
    if (n > 0)
        watch(c, options, n, start);
    for (unsigned i = 0; i < n; i++)
        (void)pthread_join(threads[i], NULL);
    tacit__free(threads);
    if (n == 0)
        return tacit__fail(err, TACIT_SYSTEM, "cannot start a thread");
    if (c->failure.status != TACIT_OK)
        return tacit__fail(err, c->failure.status, "%s", c->failure.message);
    return TACIT_OK;
}

/* Creates every agent once: what is wrong with the last of them should not be found hours later. */
static tacit_status rehearse(const crew *c, tacit_error *err)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(c->stage.experiment);
    for (size_t i = 0; i < facts->n_agents; i++) {
        tacit_agent *agent = NULL;
        if (facts->agents[i].yardstick)
            continue;
        tacit_status status =
            tacit_experiment_agent(c->stage.experiment, c->stage.world, i, 0, &agent, err);
        if (status != TACIT_OK)
            return status;
        (void)snprintf(c->results->remarks[i], sizeof c->results->remarks[i], "%s",
                       tacit_agent_remark(agent));
        tacit_agent_destroy(agent);
    }
    return TACIT_OK;
}

static tacit_status set_stage(crew *c, const tacit_world *world, tacit_error *err)
{
    const tacit_world_facts *space = tacit_world_describe(world);
    c->stage.world = world;
    c->stage.unit = space->reward_high - space->reward_low;
    c->stage.at = c->results->at;
    c->stage.stop = &c->stop;
    tacit_status status = tacit__yardstick_value("optimal", world, &c->stage.optimal, err);
    if (status == TACIT_OK)
        c->results->optimal_value = tacit_world_original_value(world, c->stage.optimal);
    return status;
}

static void start_watch(crew *c)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_init(&c->lock, NULL);
}

tacit_status tacit_lab_run(const tacit_experiment *experiment, const tacit_lab_options *options,
                           tacit_results **out, tacit_error *err)
{
    static const tacit_lab_options defaults;
    if (experiment == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
    tacit_world *world = NULL;
    crew c = {.stage.experiment = experiment, .n_jobs = facts->n_agents * (size_t)facts->runs};
    start_watch(&c);
    tacit_status status = tacit_experiment_world(experiment, &world, err);
    if (status == TACIT_OK)
        status = tacit__results_create(facts, &c.results, err);
    if (status == TACIT_OK)
        status = set_stage(&c, world, err);
    if (status == TACIT_OK)
        status = rehearse(&c, err);
    if (status == TACIT_OK) {
        c.slots = tacit__alloc(c.n_jobs, sizeof *c.slots);
        status = c.slots != NULL ? play_all(&c, options != NULL ? options : &defaults, err)
                                 : tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    if (status == TACIT_OK)
        *out = c.results;
    else
        tacit_results_destroy(c.results);
    tacit__free(c.slots);
    tacit_world_destroy(world);
    (void)pthread_cond_destroy(&c.changed);
    (void)pthread_mutex_destroy(&c.lock);
    return status;
}
