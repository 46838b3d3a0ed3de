/* This file says how far the workers are, and when they will be done.
 *
 * Every agent goes on at its own pace in its own world; pairs not met yet go at the average pace. What is
 * left is divided by the number of threads, and is at least what the job that is farthest behind still
 * needs. */
#include <math.h>

#include "base/error.h"
#include "lab/experiment.h"
#include "lab/runs/workers.h"

bool tacit__slot_read(tacit__worker_slot *slot, tacit__slot_state *out)
{
    out->job = atomic_load(&slot->job);
    out->since = atomic_load(&slot->since);
    out->points = atomic_load_explicit(&slot->points, memory_order_acquire);
    out->episodes = atomic_load(&slot->episodes);
    /* A job comes to a slot once: if it is there before and after, what was read between belongs to it. */
    return out->job != TACIT__NO_JOB && atomic_load(&slot->job) == out->job;
}

/* Baselines are measured, not played, except where there is no model to measure in. */
static bool is_played(const tacit__workers *workers, size_t pair)
{
    TACIT__REQUIRE(pair < workers->experiment->n_pairs);
    const tacit_experiment *e = workers->experiment;
    return !e->agents[e->pairs[pair].agent].baseline ||
           workers->results->worlds[e->pairs[pair].world].family == TACIT_WORLD_BANDIT;
}

typedef struct remaining {
    double left, longest;  /* seconds */
    double paces, unknown; /* sum of the known paces; episodes of unknown pace */
    size_t n_known;
} remaining;

/* The jobs of one pair: finished ones in the pace, running ones in slots. */
static void add_pair(const tacit__workers *workers, size_t pair, const tacit__slot_state *seen,
                     size_t n, double earlier, double time, remaining *sum)
{
    TACIT__REQUIRE(pair < workers->experiment->n_pairs);
    const tacit_experiment_facts *facts = &workers->experiment->facts;
    double spent = workers->paces[pair].seconds, played = workers->paces[pair].episodes,
           farthest = 0;
    double all = (double)facts->episodes * (double)facts->runs - earlier;
    for (size_t i = 0; i < n; i++) {
        if (seen[i].job % workers->results->n_pairs != pair)
            continue;
        spent += time - seen[i].since;
        played += (double)seen[i].episodes;
        farthest = fmax(farthest, (double)facts->episodes - (double)seen[i].episodes);
    }
    if (played > 0) {
        double pace = spent / played;
        sum->left += pace * fmax(all - played, 0);
        sum->longest = fmax(sum->longest, pace * farthest);
        sum->paces += pace;
        sum->n_known++;
    } else {
        sum->unknown += all;
    }
}

static double estimate(const tacit__workers *workers, const tacit__slot_state *seen, size_t n,
                       double time)
{
    remaining sum = {0};
    const double episodes = (double)workers->experiment->facts.episodes;
    for (size_t pair = 0; pair < workers->results->n_pairs; pair++)
        if (is_played(workers, pair))
            add_pair(workers, pair, seen, n, episodes * (double)workers->earlier[pair], time, &sum);
    if (sum.n_known == 0)
        return (double)NAN;
    sum.left += sum.unknown * sum.paces / (double)sum.n_known;
    return fmax(sum.left / (double)workers->n_slots, sum.longest);
}

static int by_start(const tacit__slot_state *a, const tacit__slot_state *b)
{
    return (a->since > b->since) - (a->since < b->since);
}

/* Slots that have a job, in the order in which their jobs began. */
static size_t read_slots(tacit__workers *workers)
{
    size_t n = 0;
    for (size_t i = 0; i < workers->n_slots; i++) {
        tacit__slot_state g;
        if (!tacit__slot_read(&workers->slots[i], &g))
            continue;
        size_t at = n++;
        for (; at > 0 && by_start(&g, &workers->seen[at - 1]) < 0; at--)
            workers->seen[at] = workers->seen[at - 1];
        workers->seen[at] = g;
    }
    return n;
}

void tacit__workers_measure(tacit__workers *workers, double start, tacit_lab_progress *out)
{
    TACIT__REQUIRE(workers != NULL && out != NULL);
    const tacit_experiment *e = workers->experiment;
    const double time = tacit__now_seconds();
    (void)pthread_mutex_lock(&workers->crew.lock);
    size_t n = read_slots(workers);
    tacit_lab_progress p = {.n_jobs = workers->results->n_jobs,
                            .jobs = workers->n_earlier + workers->n_finished,
                            .seconds = time - start,
                            .running = workers->running,
                            .n_running = n};
    for (size_t pair = 0; pair < e->n_pairs; pair++) {
        if (!is_played(workers, pair))
            continue;
        p.n_episodes += e->facts.episodes * e->facts.runs;
        p.earlier += e->facts.episodes * workers->earlier[pair];
        p.episodes += (uint64_t)workers->paces[pair].episodes;
    }
    p.episodes += p.earlier;
    TACIT__REQUIRE(e->n_pairs > 0);
    for (size_t i = 0; i < n; i++) {
        const tacit__slot_state *g = &workers->seen[i];
        const tacit__world_agent *pair = &e->pairs[g->job % e->n_pairs];
        workers->running[i] =
            (tacit_lab_running){pair->world, pair->agent, g->job / e->n_pairs, g->episodes};
        p.episodes += is_played(workers, g->job % e->n_pairs) ? g->episodes : 0;
    }
    p.seconds_left = p.jobs == p.n_jobs ? 0 : estimate(workers, workers->seen, n, time);
    /* A job may be finished between two calls; the reported number does not shrink. */
    workers->reported = p.episodes > workers->reported ? p.episodes : workers->reported;
    p.episodes = workers->reported < p.n_episodes ? workers->reported : p.n_episodes;
    (void)pthread_mutex_unlock(&workers->crew.lock);
    *out = p;
}
