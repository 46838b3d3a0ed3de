/* See lab/runs/ranks.h. The messages:
 *
 *     HELLO    to 0    the identity of the experiment, the version, the number of threads
 *     WANT     to 0    a thread here has nothing to do
 *     JOB      from 0  play this one
 *     NO_MORE  from 0  there are no jobs left
 *     PROGRESS to 0    how far a slot is, with the new points of its curve; also says "I am alive"
 *     DONE     to 0    a job is finished, with the rest of its curve
 *     FAILED   to 0    a job failed, or the process itself cannot go on
 *     STOP     from 0  stop what you do
 *     BYE      to 0    nothing will follow
 *
 * Process 0 puts what arrives where a thread of its own would have put it, so progress, the writer and the
 * results are the same as in one process. All processes have the same architecture: numbers travel as they
 * are in memory.
 *
 * Silence counts only while this process listens. A process that was itself suspended, as a batch system
 * suspends all processes of a job, does not count the time it was away. */
#include "lab/runs/ranks.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"

enum { HELLO = 0x7ac17001, WANT, JOB, NO_MORE, PROGRESS, DONE, FAILED, STOP, BYE };

/* Seconds: between progress messages; until a process that was told to stop is given up. */
static const double progress_period = 0.5, grace = 3;

static _Atomic double silence = 60; /* seconds until a silent process is given up */

void tacit__ranks_set_silence(double seconds)
{
    TACIT__REQUIRE(seconds > 0);
    atomic_store(&silence, seconds);
}

typedef struct message {
    uint32_t kind, status;
    uint64_t job, slot, episodes, first, n, switches;
    double elapsed, regret, late_regret, seconds;
    tacit_estimate estimate;
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
    bool left;    /* said BYE */
    bool lost;
} peer;

struct tacit__ranks {
    tacit__workers *workers;
    const tacit_transport *transport;
    message in, out;
    uint8_t identity[TACIT__IDENTITY_BYTES];
    bool sent_stop;
    double stopped_at, polled_at;
    /* Process 0. */
    peer *peers; /* [size] */
    /* Others. */
    size_t n_asked, n_sent; /* jobs asked for and not answered; of the workers' finished list */
    size_t *sent;           /* [n_threads] points of the slot's job that were sent */
    size_t *sent_job;       /* [n_threads] */
    double progress_at, asked_at;
    bool no_more, failure_sent, bye;
};

tacit_status tacit__ranks_create(tacit__workers *workers, const tacit_transport *transport,
                                 tacit__ranks **out, tacit_error *err)
{
    TACIT__REQUIRE(transport != NULL && workers != NULL);
    tacit__ranks w = {.workers = workers, .transport = transport};
    tacit__ranks *r = TACIT__WORKSPACE(w, TACIT__PIECE(w.peers, transport->size),
                                       TACIT__PIECE(w.sent, workers->crew.n_threads),
                                       TACIT__PIECE(w.sent_job, workers->crew.n_threads));
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit__experiment_identity(workers->experiment, r->identity, err);
    if (status != TACIT_OK) {
        tacit__ranks_destroy(r);
        return status;
    }
    for (unsigned i = 0; i < transport->size; i++)
        r->peers[i].heard = tacit__now_seconds();
    for (size_t i = 0; i < workers->crew.n_threads; i++)
        r->sent_job[i] = TACIT__NO_JOB;
    if (transport->rank > 0) {
        r->out = (message){.kind = HELLO, .slot = workers->crew.n_threads};
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
    tacit__crew_fail(&r->workers->crew, 0, &failure);
}

static void send_message(tacit__ranks *r, unsigned to, const message *m)
{
    tacit_status status = r->transport->send(r->transport->context, to, m, size_of(m));
    if (status != TACIT_OK)
        fail(r, status, "cannot send a message to another process");
}

static void send_plain(tacit__ranks *r, unsigned to, uint32_t kind, uint64_t job)
{
    r->out = (message){.kind = kind, .job = job};
    send_message(r, to, &r->out);
}

/* The next message into r->in; false if there is none, or if it is malformed. */
static bool receive_message(tacit__ranks *r, unsigned *from)
{
    size_t size = 0;
    tacit_status status =
        r->transport->receive(r->transport->context, from, &r->in, sizeof r->in, &size);
    if (status != TACIT_OK) {
        fail(r, status, "cannot receive a message from another process");
        return false;
    }
    if (size == 0)
        return false;
    if (size < offsetof(message, points) || r->in.n > TACIT__MAX_POINTS ||
        size != size_of(&r->in) || *from >= r->transport->size) {
        fail(r, TACIT_CORRUPT, "another process sent an invalid message; is it the same version?");
        return false;
    }
    r->in.text[sizeof r->in.text - 1] = '\0';
    return true;
}

/* --- Process 0 ----------------------------------------------------------------------------------- */

static void check_hello(tacit__ranks *r, unsigned from)
{
    char text[200];
    const char *what = NULL;
    if (memcmp(r->in.identity, r->identity, sizeof r->identity) != 0)
        what = "reads another experiment, or is of another version";
    else if (r->in.slot != r->workers->crew.n_threads)
        what = "has another number of threads; give the same -j to all";
    if (what == NULL)
        return;
    (void)snprintf(text, sizeof text, "process %u %s", from, what);
    fail(r, TACIT_BAD_ARGUMENT, text);
}

static void answer_want(tacit__ranks *r, unsigned from)
{
    size_t job =
        atomic_load(&r->workers->crew.stop) ? TACIT__NO_JOB : tacit__crew_next(&r->workers->crew);
    send_plain(r, from, job != TACIT__NO_JOB ? JOB : NO_MORE, job);
}

/* Stores points and progress of another process's job; false if they are out of range. */
static bool store_points(tacit__ranks *r, unsigned from)
{
    tacit__workers *workers = r->workers;
    tacit_results *results = workers->results;
    const message *m = &r->in;
    if (m->job >= results->n_jobs || m->first > results->n_points ||
        m->n > results->n_points - m->first || m->slot >= workers->crew.n_threads) {
        fail(r, TACIT_CORRUPT, "another process reported a job that does not exist");
        return false;
    }
    tacit__worker_slot *slot = &workers->slots[from * workers->crew.n_threads + m->slot];
    memcpy(results->curves + m->job * results->n_points + m->first, m->points,
           (size_t)m->n * sizeof *m->points);
    if (atomic_load(&slot->job) != m->job) {
        atomic_store(&slot->job, TACIT__NO_JOB);
        atomic_store(&slot->points, 0);
        atomic_store(&slot->episodes, 0);
        atomic_store(&slot->since, tacit__now_seconds() - m->elapsed);
        atomic_store(&slot->job, (size_t)m->job);
    }
    atomic_store(&slot->episodes, m->episodes);
    atomic_store_explicit(&slot->points, (size_t)(m->first + m->n), memory_order_release);
    return true;
}

static void store_result(tacit__ranks *r, unsigned from)
{
    tacit__workers *workers = r->workers;
    const message *m = &r->in;
    if (!store_points(r, from))
        return;
    tacit_job *job = &workers->results->jobs[m->job];
    job->regret = m->regret;
    job->late_regret = m->late_regret;
    job->switches = m->switches;
    job->seconds = m->seconds;
    job->estimate = m->estimate;
    job->n_points = workers->results->n_points;
    job->done = true;
    atomic_store(&workers->slots[from * workers->crew.n_threads + m->slot].job, TACIT__NO_JOB);
    tacit__workers_finish_job(workers, (size_t)m->job, m->elapsed);
}

static void store_failure(tacit__ranks *r, unsigned from)
{
    const tacit_status told = (tacit_status)r->in.status;
    tacit_error failure;
    (void)tacit__fail(&failure, told != TACIT_OK ? told : TACIT_CORRUPT, "process %u: %.400s", from,
                      r->in.text);
    tacit__crew_fail(&r->workers->crew, (size_t)r->in.job, &failure);
}

static void handle_report(tacit__ranks *r, unsigned from)
{
    r->peers[from].heard = tacit__now_seconds();
    switch (r->in.kind) {
    case HELLO:
        check_hello(r, from);
        break;
    case WANT:
        answer_want(r, from);
        break;
    case PROGRESS:
        if (r->in.job != UINT64_MAX)
            (void)store_points(r, from);
        break;
    case DONE:
        store_result(r, from);
        break;
    case FAILED:
        store_failure(r, from);
        break;
    case BYE:
        r->peers[from].left = true;
        break;
    default:
        fail(r, TACIT_CORRUPT, "another process sent an invalid message; is it the same version?");
    }
}

/* Frees the slots of a lost process. */
static void clear_slots(tacit__ranks *r, unsigned rank)
{
    for (size_t i = 0; i < r->workers->crew.n_threads; i++)
        atomic_store(&r->workers->slots[rank * r->workers->crew.n_threads + i].job, TACIT__NO_JOB);
}

static bool poll_first(tacit__ranks *r)
{
    bool waiting = false;
    const double time = r->polled_at;
    if (atomic_load(&r->workers->crew.stop) && !r->sent_stop) {
        r->sent_stop = true;
        r->stopped_at = time;
        for (unsigned i = 1; i < r->transport->size; i++)
            if (!r->peers[i].left)
                send_plain(r, i, STOP, 0);
    }
    for (unsigned i = 1; i < r->transport->size; i++) {
        peer *p = &r->peers[i];
        if (p->left || p->lost)
            continue;
        p->lost = time - p->heard > atomic_load(&silence) ||
                  (r->sent_stop && time - r->stopped_at > grace);
        if (p->lost)
            clear_slots(r, i);
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
    if (n == 0 || r->sent_stop)
        return TACIT_OK;
    (void)tacit__fail(err, TACIT_SYSTEM, "process%s %s %s not been heard from for %.3g s",
                      n > 1 ? "es" : "", list, n > 1 ? "have" : "has", atomic_load(&silence));
    return tacit__fail_hinted(err, TACIT_SYSTEM, TACIT_HINT_RESUME);
}

/* --- The others ---------------------------------------------------------------------------------- */

static void handle_order(tacit__ranks *r)
{
    switch (r->in.kind) {
    case JOB:
        r->n_asked -= r->n_asked > 0;
        if (r->in.job < r->workers->results->n_jobs && !r->no_more &&
            !tacit__crew_add(&r->workers->crew, (uint32_t)r->in.job))
            fail(r, TACIT_CORRUPT, "process 0 sent more jobs than there are");
        break;
    case NO_MORE:
        r->n_asked -= r->n_asked > 0;
        if (!r->no_more)
            tacit__crew_close(&r->workers->crew);
        r->no_more = true;
        break;
    case STOP:
        tacit__crew_stop(&r->workers->crew);
        break;
    default:
        fail(r, TACIT_CORRUPT, "process 0 sent an invalid message; is it the same version?");
    }
}

/* Returns how many points of this slot's job process 0 has. */
static size_t sent_of(tacit__ranks *r, size_t slot, size_t job)
{
    TACIT__REQUIRE(slot < r->workers->crew.n_threads);
    if (r->sent_job[slot] != job) {
        r->sent_job[slot] = job;
        r->sent[slot] = 0;
    }
    return r->sent[slot];
}

static void add_points(tacit__ranks *r, size_t slot, size_t job, size_t points)
{
    const tacit_results *results = r->workers->results;
    message *m = &r->out;
    m->slot = slot;
    m->job = job;
    m->first = sent_of(r, slot, job);
    m->n = points > m->first ? points - m->first : 0;
    memcpy(m->points, results->curves + job * results->n_points + m->first,
           (size_t)m->n * sizeof *m->points);
    r->sent[slot] = (size_t)(m->first + m->n);
}

static void send_progress(tacit__ranks *r, double time)
{
    bool sent = false;
    for (size_t i = 0; i < r->workers->crew.n_threads; i++) {
        tacit__slot_state g;
        if (!tacit__slot_read(&r->workers->slots[i], &g))
            continue;
        r->out = (message){.kind = PROGRESS, .episodes = g.episodes, .elapsed = time - g.since};
        add_points(r, i, g.job, g.points);
        send_message(r, 0, &r->out);
        sent = true;
    }
    if (!sent)
        send_plain(r, 0, PROGRESS, UINT64_MAX);
    r->progress_at = time;
}

/* The slot that reported this job before, or any. */
static size_t slot_of(const tacit__ranks *r, size_t job)
{
    for (size_t i = 0; i < r->workers->crew.n_threads; i++)
        if (r->sent_job[i] == job)
            return i;
    return 0;
}

static void send_result(tacit__ranks *r, size_t number, double elapsed)
{
    TACIT__REQUIRE(number < r->workers->results->n_jobs);
    const tacit_job *job = &r->workers->results->jobs[number];
    size_t slot = slot_of(r, number);
    r->out = (message){.kind = DONE,
                       .episodes = r->workers->experiment->facts.episodes,
                       .elapsed = elapsed,
                       .regret = job->regret,
                       .late_regret = job->late_regret,
                       .switches = job->switches,
                       .seconds = job->seconds,
                       .estimate = job->estimate};
    size_t others = r->sent_job[slot], points = r->sent[slot];
    add_points(r, slot, number, job->n_points);
    if (others != number) { /* the slot was borrowed: restore its own job */
        r->sent_job[slot] = others;
        r->sent[slot] = points;
    }
    send_message(r, 0, &r->out);
}

static void send_failure(tacit__ranks *r, const tacit_error *failure, size_t job)
{
    r->out = (message){.kind = FAILED, .status = (uint32_t)failure->status, .job = job};
    (void)snprintf(r->out.text, sizeof r->out.text, "%s", failure->message);
    send_message(r, 0, &r->out);
    r->failure_sent = true;
}

static bool poll_other(tacit__ranks *r)
{
    tacit__workers *workers = r->workers;
    const double time = r->polled_at;
    (void)pthread_mutex_lock(&workers->crew.lock);
    size_t finished = workers->n_finished, playing = workers->crew.n_jobs - finished;
    bool left = workers->crew.n_running == 0;
    tacit_error failure = workers->crew.failure;
    size_t failed_job = workers->crew.failed_job;
    (void)pthread_mutex_unlock(&workers->crew.lock);
    if (time - r->progress_at > progress_period)
        send_progress(r, time);
    for (; r->n_sent < finished; r->n_sent++)
        send_result(r, workers->finished[r->n_sent], workers->lasted[r->n_sent]);
    if (failure.status != TACIT_OK && !r->failure_sent)
        send_failure(r, &failure, failed_job);
    bool stopped = atomic_load(&workers->crew.stop);
    while (!r->no_more && !stopped && r->n_asked + playing < workers->crew.n_threads) {
        r->asked_at = time;
        r->n_asked++;
        send_plain(r, 0, WANT, 0);
    }
    if (r->n_asked > 0 && !stopped && time - r->asked_at > atomic_load(&silence))
        fail(r, TACIT_SYSTEM, "process 0 does not answer");
    if (left && !r->bye) {
        send_plain(r, 0, BYE, 0);
        r->bye = true;
    }
    return !r->bye;
}

/* Polls follow each other within milliseconds. A longer gap means that this process was suspended, and
 * perhaps the others too. A poll decides by the time at which it began; the next one notices a pause
 * during it. */
static void allow_for_pause(tacit__ranks *r)
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
    allow_for_pause(r);
    while (receive_message(r, &from)) {
        if (r->transport->rank == 0)
            handle_report(r, from);
        else
            handle_order(r);
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
