/* The conversation.
 *
 *     HELLO    to 0    who I am: the identity of the experiment, the version, the number of threads
 *     WANT     to 0    a thread here has nothing to do
 *     JOB      from 0  play this one
 *     NO_MORE  from 0  there are no jobs left
 *     NEWS     to 0    how far a seat is, with the points of its curve that are new; also says "I am alive"
 *     DONE     to 0    a job is finished, with the rest of its curve
 *     FAILED   to 0    a job failed, or the process itself cannot go on
 *     STOP     from 0  stop what you do
 *     BYE      to 0    nothing will follow
 *
 * What arrives at process 0 goes to the places where a thread of its own would have put it, so that everything behind
 * (progress, the keeper) does not know the difference, and the bits do not either. Processes have the same architecture:
 * numbers travel as they are in memory.
 *
 * Silence is counted only while we listen: a process that was itself held up (all of a job that a batch system suspends are)
 * blames nobody for the time that it was away. */
#include "lab/ranks.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

enum { HELLO = 0x7ac17001, WANT, JOB, NO_MORE, NEWS, DONE, FAILED, STOP, BYE };

/* Seconds: between news of a seat; until one that was told to stop is given up. */
static const double news_period = 0.5, grace = 3;

static _Atomic double silence = 60; /* seconds until a silent process is given up */

void tacit__ranks_set_silence(double seconds)
{
    atomic_store(&silence, seconds);
}

typedef struct message {
    uint32_t kind, status;
    uint64_t job, seat, episodes, first, n, switches;
    double elapsed, regret, late_regret, seconds;
    uint8_t identity[TACIT__IDENTITY_BYTES];
    char text[sizeof((tacit_error *)0)->message];
    double points[TACIT__MAX_POINTS]; /* [n] are sent */
} message;

static size_t size_of(const message *m)
{
    return offsetof(message, points) + (size_t)m->n * sizeof *m->points;
}

/* Another process, as process 0 sees it. */
typedef struct peer {
    double heard; /* when */
    bool home;    /* said BYE */
    bool lost;
} peer;

struct tacit__ranks {
    tacit__crew *crew;
    const tacit_transport *transport;
    message in, out;
    uint8_t identity[TACIT__IDENTITY_BYTES];
    bool told_stop;
    double stopped_at, polled_at;
    /* Process 0. */
    peer *peers; /* [size] */
    /* Others. */
    size_t n_asked, n_told; /* jobs asked for and not answered; of the crew's finished list */
    size_t *sent;           /* [n_threads] points of the seat's job that were sent */
    size_t *sent_job;       /* [n_threads] */
    double news_at, asked_at;
    bool no_more, failure_told, bye;
};

tacit_status tacit__ranks_create(tacit__crew *crew, const tacit_transport *transport,
                                 tacit__ranks **out, tacit_error *err)
{
    tacit__ranks w = {.crew = crew, .transport = transport};
    tacit__ranks *r = TACIT__WORKSPACE(w, TACIT__PIECE(w.peers, transport->size),
                                       TACIT__PIECE(w.sent, crew->n_threads),
                                       TACIT__PIECE(w.sent_job, crew->n_threads));
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit__experiment_identity(crew->experiment, r->identity, err);
    if (status != TACIT_OK) {
        tacit__ranks_destroy(r);
        return status;
    }
    for (unsigned i = 0; i < transport->size; i++)
        r->peers[i].heard = tacit__now_seconds();
    for (size_t i = 0; i < crew->n_threads; i++)
        r->sent_job[i] = TACIT__NO_JOB;
    if (transport->rank > 0) {
        r->out = (message){.kind = HELLO, .seat = crew->n_threads};
        memcpy(r->out.identity, r->identity, sizeof r->identity);
        status = transport->send(transport->context, 0, &r->out, size_of(&r->out));
    }
    if (status == TACIT_OK)
        *out = r;
    else
        tacit__ranks_destroy(r);
    return status == TACIT_OK ? TACIT_OK : tacit__fail_plain(err, status);
}

void tacit__ranks_destroy(tacit__ranks *ranks)
{
    tacit__workspace_destroy(ranks);
}

static void fail(tacit__ranks *r, tacit_status status, const char *text)
{
    tacit_error failure;
    (void)tacit__fail(&failure, status, "%s", text);
    tacit__crew_fail(r->crew, 0, &failure);
}

static void say(tacit__ranks *r, unsigned to, const message *m)
{
    tacit_status status = r->transport->send(r->transport->context, to, m, size_of(m));
    if (status != TACIT_OK)
        fail(r, status, "cannot send a message to another process");
}

static void say_plain(tacit__ranks *r, unsigned to, uint32_t kind, uint64_t job)
{
    r->out = (message){.kind = kind, .job = job};
    say(r, to, &r->out);
}

/* The next message into r->in; false if there is none, or none that makes sense. */
static bool hear(tacit__ranks *r, unsigned *from)
{
    size_t size = 0;
    tacit_status status =
        r->transport->receive(r->transport->context, from, &r->in, sizeof r->in, &size);
    if (status != TACIT_OK) {
        fail(r, status, "cannot receive a message of another process");
        return false;
    }
    if (size == 0)
        return false;
    if (size < offsetof(message, points) || r->in.n > TACIT__MAX_POINTS ||
        size != size_of(&r->in) || *from >= r->transport->size) {
        fail(r, TACIT_CORRUPT, "another process sent what is no message; is it the same version?");
        return false;
    }
    r->in.text[sizeof r->in.text - 1] = '\0';
    return true;
}

/* --- Process 0 ----------------------------------------------------------------------------------- */

static void greet(tacit__ranks *r, unsigned from)
{
    char text[200];
    const char *what = NULL;
    if (memcmp(r->in.identity, r->identity, sizeof r->identity) != 0)
        what = "reads another experiment, or is of another version";
    else if (r->in.seat != r->crew->n_threads)
        what = "has another number of threads; give the same -j to all";
    if (what == NULL)
        return;
    (void)snprintf(text, sizeof text, "process %u %s", from, what);
    fail(r, TACIT_BAD_ARGUMENT, text);
}

static void answer_want(tacit__ranks *r, unsigned from)
{
    size_t job = atomic_load(&r->crew->stop) ? TACIT__NO_JOB : tacit__crew_take(r->crew);
    say_plain(r, from, job != TACIT__NO_JOB ? JOB : NO_MORE, job);
}

/* Points and place of a job of another process; false if they are nonsense. */
static bool take_points(tacit__ranks *r, unsigned from)
{
    tacit__crew *crew = r->crew;
    tacit_results *results = crew->results;
    const message *m = &r->in;
    if (m->job >= results->n_jobs || m->first > results->n_points ||
        m->n > results->n_points - m->first || m->seat >= crew->n_threads) {
        fail(r, TACIT_CORRUPT, "another process told of a job that does not exist");
        return false;
    }
    tacit__seat *seat = &crew->seats[from * crew->n_threads + m->seat];
    memcpy(results->curves + m->job * results->n_points + m->first, m->points,
           (size_t)m->n * sizeof *m->points);
    if (atomic_load(&seat->job) != m->job) {
        atomic_store(&seat->job, TACIT__NO_JOB);
        atomic_store(&seat->points, 0);
        atomic_store(&seat->episodes, 0);
        atomic_store(&seat->since, tacit__now_seconds() - m->elapsed);
        atomic_store(&seat->job, (size_t)m->job);
    }
    atomic_store(&seat->episodes, m->episodes);
    atomic_store_explicit(&seat->points, (size_t)(m->first + m->n), memory_order_release);
    return true;
}

static void take_done(tacit__ranks *r, unsigned from)
{
    tacit__crew *crew = r->crew;
    const message *m = &r->in;
    if (!take_points(r, from))
        return;
    tacit_job *job = &crew->results->jobs[m->job];
    job->regret = m->regret;
    job->late_regret = m->late_regret;
    job->switches = m->switches;
    job->seconds = m->seconds;
    job->n_points = crew->results->n_points;
    job->done = true;
    atomic_store(&crew->seats[from * crew->n_threads + m->seat].job, TACIT__NO_JOB);
    tacit__crew_finish(crew, (size_t)m->job, m->elapsed);
}

static void take_failure(tacit__ranks *r, unsigned from)
{
    tacit_error failure;
    (void)tacit__fail(&failure, (tacit_status)r->in.status, "process %u: %.400s", from, r->in.text);
    tacit__crew_fail(r->crew, (size_t)r->in.job, &failure);
}

static void answer(tacit__ranks *r, unsigned from)
{
    r->peers[from].heard = tacit__now_seconds();
    switch (r->in.kind) {
    case HELLO:
        greet(r, from);
        break;
    case WANT:
        answer_want(r, from);
        break;
    case NEWS:
        if (r->in.job != UINT64_MAX)
            (void)take_points(r, from);
        break;
    case DONE:
        take_done(r, from);
        break;
    case FAILED:
        take_failure(r, from);
        break;
    case BYE:
        r->peers[from].home = true;
        break;
    default:
        fail(r, TACIT_CORRUPT, "another process sent what is no message; is it the same version?");
    }
}

/* What a lost process was playing is nobody's any more. */
static void empty_seats(tacit__ranks *r, unsigned rank)
{
    for (size_t i = 0; i < r->crew->n_threads; i++)
        atomic_store(&r->crew->seats[rank * r->crew->n_threads + i].job, TACIT__NO_JOB);
}

static bool poll_first(tacit__ranks *r)
{
    bool waiting = false;
    const double time = r->polled_at;
    if (atomic_load(&r->crew->stop) && !r->told_stop) {
        r->told_stop = true;
        r->stopped_at = time;
        for (unsigned i = 1; i < r->transport->size; i++)
            if (!r->peers[i].home)
                say_plain(r, i, STOP, 0);
    }
    for (unsigned i = 1; i < r->transport->size; i++) {
        peer *p = &r->peers[i];
        if (p->home || p->lost)
            continue;
        p->lost = time - p->heard > atomic_load(&silence) ||
                  (r->told_stop && time - r->stopped_at > grace);
        if (p->lost)
            empty_seats(r, i);
        else
            waiting = true;
    }
    return waiting;
}

tacit_status tacit__ranks_check(const tacit__ranks *r, tacit_error *err)
{
    char list[120] = "";
    size_t n = 0, used = 0;
    for (unsigned i = 1; r->transport->rank == 0 && i < r->transport->size; i++) {
        if (!r->peers[i].lost)
            continue;
        n++;
        if (used < sizeof list - 16)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%u", n > 1 ? ", " : "", i);
    }
    if (n == 0 || r->told_stop)
        return TACIT_OK;
    (void)tacit__fail(err, TACIT_SYSTEM, "process%s %s %s not been heard of for %.3g s",
                      n > 1 ? "es" : "", list, n > 1 ? "have" : "has", atomic_load(&silence));
    return tacit__fail_hinted(err, TACIT_SYSTEM, TACIT_HINT_RESUME);
}

/* --- The others ---------------------------------------------------------------------------------- */

static void obey(tacit__ranks *r)
{
    switch (r->in.kind) {
    case JOB:
        r->n_asked -= r->n_asked > 0;
        if (r->in.job < r->crew->results->n_jobs && !r->no_more)
            tacit__crew_add(r->crew, (uint32_t)r->in.job);
        break;
    case NO_MORE:
        r->n_asked -= r->n_asked > 0;
        if (!r->no_more)
            tacit__crew_close(r->crew);
        r->no_more = true;
        break;
    case STOP:
        tacit__crew_stop(r->crew);
        break;
    default:
        fail(r, TACIT_CORRUPT, "process 0 sent what is no message; is it the same version?");
    }
}

/* How many points of this seat's job process 0 has. */
static size_t sent_of(tacit__ranks *r, size_t seat, size_t job)
{
    if (r->sent_job[seat] != job) {
        r->sent_job[seat] = job;
        r->sent[seat] = 0;
    }
    return r->sent[seat];
}

static void add_points(tacit__ranks *r, size_t seat, size_t job, size_t points)
{
    const tacit_results *results = r->crew->results;
    message *m = &r->out;
    m->seat = seat;
    m->job = job;
    m->first = sent_of(r, seat, job);
    m->n = points > m->first ? points - m->first : 0;
    memcpy(m->points, results->curves + job * results->n_points + m->first,
           (size_t)m->n * sizeof *m->points);
    r->sent[seat] = (size_t)(m->first + m->n);
}

static void tell_news(tacit__ranks *r, double time)
{
    bool spoken = false;
    for (size_t i = 0; i < r->crew->n_threads; i++) {
        tacit__glimpse g;
        if (!tacit__seat_look(&r->crew->seats[i], &g))
            continue;
        r->out = (message){.kind = NEWS, .episodes = g.episodes, .elapsed = time - g.since};
        add_points(r, i, g.job, g.points);
        say(r, 0, &r->out);
        spoken = true;
    }
    if (!spoken)
        say_plain(r, 0, NEWS, UINT64_MAX);
    r->news_at = time;
}

/* The seat that told of this job before, or any. */
static size_t seat_of(const tacit__ranks *r, size_t job)
{
    for (size_t i = 0; i < r->crew->n_threads; i++)
        if (r->sent_job[i] == job)
            return i;
    return 0;
}

static void tell_done(tacit__ranks *r, size_t number, double elapsed)
{
    const tacit_job *job = &r->crew->results->jobs[number];
    size_t seat = seat_of(r, number);
    r->out = (message){.kind = DONE,
                       .episodes = r->crew->experiment->facts.episodes,
                       .elapsed = elapsed,
                       .regret = job->regret,
                       .late_regret = job->late_regret,
                       .switches = job->switches,
                       .seconds = job->seconds};
    size_t others = r->sent_job[seat], points = r->sent[seat];
    add_points(r, seat, number, job->n_points);
    if (others != number) { /* borrowed: what this seat plays is told as before */
        r->sent_job[seat] = others;
        r->sent[seat] = points;
    }
    say(r, 0, &r->out);
}

static void tell_failure(tacit__ranks *r, const tacit_error *failure, size_t job)
{
    r->out = (message){.kind = FAILED, .status = (uint32_t)failure->status, .job = job};
    (void)snprintf(r->out.text, sizeof r->out.text, "%s", failure->message);
    say(r, 0, &r->out);
    r->failure_told = true;
}

static bool poll_other(tacit__ranks *r)
{
    tacit__crew *crew = r->crew;
    const double time = r->polled_at;
    (void)pthread_mutex_lock(&crew->lock);
    size_t finished = crew->n_finished, playing = crew->n_jobs - finished;
    bool home = crew->at_work == 0;
    tacit_error failure = crew->failure;
    size_t failed_job = crew->failed_job;
    (void)pthread_mutex_unlock(&crew->lock);
    if (time - r->news_at > news_period)
        tell_news(r, time);
    for (; r->n_told < finished; r->n_told++)
        tell_done(r, crew->finished[r->n_told], crew->lasted[r->n_told]);
    if (failure.status != TACIT_OK && !r->failure_told)
        tell_failure(r, &failure, failed_job);
    bool stopped = atomic_load(&crew->stop);
    while (!r->no_more && !stopped && r->n_asked + playing < crew->n_threads) {
        r->asked_at = time;
        r->n_asked++;
        say_plain(r, 0, WANT, 0);
    }
    if (r->n_asked > 0 && !stopped && time - r->asked_at > atomic_load(&silence))
        fail(r, TACIT_SYSTEM, "process 0 does not answer");
    if (home && !r->bye) {
        say_plain(r, 0, BYE, 0);
        r->bye = true;
    }
    return !r->bye;
}

/* Polls follow each other within milliseconds. If not, we were away, and the others may have been. All that a poll concludes, it
 * concludes for the time at which it began: should we be away during it, the next one knows. */
static void forgive_absence(tacit__ranks *r)
{
    const double time = tacit__now_seconds(), away = r->polled_at > 0 ? time - r->polled_at : 0;
    r->polled_at = time;
    if (away < atomic_load(&silence) / 4)
        return;
    for (unsigned i = 0; i < r->transport->size; i++)
        r->peers[i].heard += away;
    r->asked_at += away;
    r->stopped_at += away;
}

bool tacit__ranks_poll(tacit__ranks *r)
{
    unsigned from;
    forgive_absence(r);
    while (hear(r, &from)) {
        if (r->transport->rank == 0)
            answer(r, from);
        else
            obey(r);
    }
    return r->transport->rank == 0 ? poll_first(r) : poll_other(r);
}

/* --- Without a run ------------------------------------------------------------------------------- */

void tacit_lab_absent(const tacit_transport *transport, const tacit_error *err)
{
    if (transport == NULL || transport->size < 2)
        return;
    message *m = tacit__alloc(1, sizeof *m);
    if (m == NULL)
        return;
    if (transport->rank == 0) {
        m->kind = STOP;
        for (unsigned i = 1; i < transport->size; i++)
            (void)!transport->send(transport->context, i, m, size_of(m));
    } else {
        m->kind = FAILED;
        m->status = err != NULL ? (uint32_t)err->status : TACIT_SYSTEM;
        (void)snprintf(m->text, sizeof m->text, "%s", err != NULL ? err->message : "");
        (void)!transport->send(transport->context, 0, m, size_of(m));
        m->kind = BYE;
        (void)!transport->send(transport->context, 0, m, size_of(m));
    }
    tacit__free(m);
}
