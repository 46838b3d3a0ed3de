/* How far a crew is, and when it will be done.
 *
 * Every agent goes on at its own pace in its own world; pairs not met yet go at the average pace. What is left is divided
 * by the number of threads, and is at least what the job that is farthest behind still needs. */
#include <math.h>

#include "lab/crew.h"
#include "lab/experiment.h"

bool tacit__seat_look(tacit__seat *seat, tacit__glimpse *out)
{
    out->job = atomic_load(&seat->job);
    out->since = atomic_load(&seat->since);
    out->points = atomic_load_explicit(&seat->points, memory_order_acquire);
    out->episodes = atomic_load(&seat->episodes);
    /* A job comes to a seat once: if it is there before and after, all between is its own. */
    return out->job != TACIT__NO_JOB && atomic_load(&seat->job) == out->job;
}

/* Yardsticks are measured, not played, except where there is no model to measure in. */
static bool is_played(const tacit__crew *crew, size_t pair)
{
    const tacit_experiment *e = crew->experiment;
    return !e->agents[e->pairs[pair].agent].yardstick ||
           crew->results->worlds[e->pairs[pair].world].family == TACIT_WORLD_BANDIT;
}

typedef struct remaining {
    double left, longest;  /* seconds */
    double paces, unknown; /* sum of the known paces; episodes of unknown pace */
    size_t n_known;
} remaining;

/* The jobs of one pair: finished ones in the pace, running ones in glimpses. */
static void add_pair(const tacit__crew *crew, size_t pair, const tacit__glimpse *seen, size_t n,
                     double earlier, double time, remaining *sum)
{
    const tacit_experiment_facts *facts = &crew->experiment->facts;
    double spent = crew->paces[pair].seconds, played = crew->paces[pair].episodes, farthest = 0;
    double all = (double)facts->episodes * (double)facts->runs - earlier;
    for (size_t i = 0; i < n; i++) {
        if (seen[i].job % crew->results->n_pairs != pair)
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

static double estimate(const tacit__crew *crew, const tacit__glimpse *seen, size_t n, double time)
{
    remaining sum = {0};
    const double episodes = (double)crew->experiment->facts.episodes;
    for (size_t pair = 0; pair < crew->results->n_pairs; pair++)
        if (is_played(crew, pair))
            add_pair(crew, pair, seen, n, episodes * (double)crew->earlier[pair], time, &sum);
    if (sum.n_known == 0)
        return (double)NAN;
    sum.left += sum.unknown * sum.paces / (double)sum.n_known;
    return fmax(sum.left / (double)crew->n_seats, sum.longest);
}

static int by_start(const tacit__glimpse *a, const tacit__glimpse *b)
{
    return (a->since > b->since) - (a->since < b->since);
}

/* Seats that are taken, in the order in which their jobs began. */
static size_t look_around(tacit__crew *crew)
{
    size_t n = 0;
    for (size_t i = 0; i < crew->n_seats; i++) {
        tacit__glimpse g;
        if (!tacit__seat_look(&crew->seats[i], &g))
            continue;
        size_t at = n++;
        for (; at > 0 && by_start(&g, &crew->seen[at - 1]) < 0; at--)
            crew->seen[at] = crew->seen[at - 1];
        crew->seen[at] = g;
    }
    return n;
}

void tacit__crew_measure(tacit__crew *crew, double start, tacit_lab_progress *out)
{
    const tacit_experiment *e = crew->experiment;
    const double time = tacit__now_seconds();
    (void)pthread_mutex_lock(&crew->lock);
    size_t n = look_around(crew);
    tacit_lab_progress p = {.n_jobs = crew->results->n_jobs,
                            .jobs = crew->n_earlier + crew->n_finished,
                            .seconds = time - start,
                            .running = crew->running,
                            .n_running = n};
    for (size_t pair = 0; pair < e->n_pairs; pair++) {
        if (!is_played(crew, pair))
            continue;
        p.n_episodes += e->facts.episodes * e->facts.runs;
        p.earlier += e->facts.episodes * crew->earlier[pair];
        p.episodes += (uint64_t)crew->paces[pair].episodes;
    }
    p.episodes += p.earlier;
    for (size_t i = 0; i < n; i++) {
        const tacit__glimpse *g = &crew->seen[i];
        const tacit__world_agent *pair = &e->pairs[g->job % e->n_pairs];
        crew->running[i] =
            (tacit_lab_running){pair->world, pair->agent, g->job / e->n_pairs, g->episodes};
        p.episodes += is_played(crew, g->job % e->n_pairs) ? g->episodes : 0;
    }
    p.seconds_left = p.jobs == p.n_jobs ? 0 : estimate(crew, crew->seen, n, time);
    /* A job may be finished between two looks; what was told does not shrink. */
    crew->told = p.episodes > crew->told ? p.episodes : crew->told;
    p.episodes = crew->told < p.n_episodes ? crew->told : p.n_episodes;
    (void)pthread_mutex_unlock(&crew->lock);
    *out = p;
}
