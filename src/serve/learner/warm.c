/* See serve/learner/warm.h. */
#include "serve/learner/warm.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/wait.h"
#include "serve/key.h"
#include "serve/people/decide_cache.h"
#include "serve/people/decision_log.h"
#include "serve/people/episode.h"
#include "serve/people/joint.h"
#include "serve/service_inside.h"
#include "store/vault/vault_maintenance.h"
#include "store/vault/vault_warm.h"

enum {
    PORTION = 256,           /* rows in one transaction, */
    PORTION_BYTES = 1 << 20, /* unless they are large: requests wait for one portion at most */
    FOLLOW_MS = 100,         /* between two looks at what another process feeds */
    STALLED_MS = 3000, /* without a row from it, after which this one feeds: a stated choice */
    RETRY_MS = 500
};

/* The log of one learner. */
typedef struct warming {
    bool wanted; /* there are, or may be, rows to come */
    tacit__warm_log log;
    tacit_service_log counts;
    uint8_t digest[TACIT__KEY_BYTES];
} warming;

struct tacit__warm {
    pthread_t thread;
    bool started;
    atomic_bool stop, going_on;
    warming learners[TACIT__MAX_LEARNERS];
};

/* --- Before the store is opened ------------------------------------------------------------------- */

tacit_status tacit__warm_check_budget(const tacit__learner_config *c, const tacit_service_log *log,
                                      uint64_t accepted, tacit_error *err)
{
    const uint64_t limit = c->request.episodes, left = limit > accepted ? limit - accepted : 0;
    if (log->users <= left)
        return TACIT_OK;
    return tacit__fail_at(
        err, TACIT_TOO_LARGE, c->request.file, (size_t)c->warm.line,
        "%.200s has %llu users to learn from, but there is room for %llu of the %llu users of "
        "learner '%s'; shorten the log, or declare a new learner with more users",
        c->warm.file, (unsigned long long)log->users, (unsigned long long)left,
        (unsigned long long)limit, c->name);
}

/* Reads the progress of a learner's log from the store; *accepted is its number of users. */
static tacit_status find_past(tacit__vault *vault, const char *name, bool *found,
                              tacit__vault_warm *warm, uint64_t *accepted, tacit_error *err)
{
    tacit__vault_learner row;
    *accepted = 0;
    TRY(tacit__vault_find_learner(vault, name, found, &row, NULL, NULL, err));
    if (!*found)
        return TACIT_OK;
    *accepted = row.accepted;
    return tacit__vault_find_warm(vault, row.id, found, warm, err);
}

/* A learner that had all of its log does not need it any more: the file may be gone, and changes in it are
 * not learned. */
static void note_past(tacit_service *s, const tacit__learner_config *c,
                      const tacit__vault_warm *past, bool there, bool same)
{
    if (there && !same)
        tacit__service_log(
            s, TACIT__WARNING, "learner",
            "learner %s was warmed up with %llu rows of a log that differs from %.200s; the "
            "difference is ignored: send new users by observe, or to a learner of another name",
            c->name, (unsigned long long)past->rows, c->warm.file);
}

static tacit_status prepare(tacit_service *s, tacit__vault *vault, const tacit__learner_config *c,
                            warming *w, tacit_error *err)
{
    tacit__vault_warm past = {0};
    bool found = false, there = false, same = false;
    uint64_t accepted = 0;
    if (vault != NULL)
        TRY(find_past(vault, c->name, &found, &past, &accepted, err));
    tacit_status status = tacit__warm_log_open(&w->log, c, &there, err);
    if (found && there && status == TACIT_OK) {
        tacit__warm_log_digest(&w->log, tacit__vault_key(vault, TACIT__VAULT_PEOPLE), w->digest);
        same = tacit__same_bytes(w->digest, past.digest, sizeof past.digest);
    }
    if (found && past.taken == past.rows) {
        note_past(s, c, &past, there, same);
        tacit__warm_log_close(&w->log);
        return TACIT_OK;
    }
    if (status == TACIT_OK && found && !same)
        status = tacit__fail_at(err, TACIT_WRONG_PLAN, c->request.file, (size_t)c->warm.line,
                                "%.200s is not the log with which learner '%s' was being warmed up "
                                "when it stopped after %llu of %llu rows; restore that log, or "
                                "remove warm_start to continue without the rest of it",
                                c->warm.file, c->name, (unsigned long long)past.taken,
                                (unsigned long long)past.rows);
    if (status == TACIT_OK)
        status = tacit__warm_log_count(&w->log, &w->counts, err);
    if (status == TACIT_OK && !found)
        status = tacit__warm_check_budget(c, &w->counts, accepted, err);
    w->wanted = status == TACIT_OK;
    return status;
}

/* Opens the store. Returns NULL if there is none yet, or none that can be read; what is wrong is found when
 * it is opened to serve. */
static tacit__vault *open_store(tacit_service *s, const char *credentials)
{
    tacit__key key;
    tacit__vault *vault = NULL;
    if (tacit__key_open(&s->config, credentials, false, TACIT__VAULT_READ, &key, &vault, NULL) !=
        TACIT_OK)
        vault = NULL;
    tacit__wipe(&key, sizeof key);
    return vault;
}

tacit_status tacit__warm_open(tacit_service *s, const char *credentials, tacit_error *err)
{
    bool wanted = false;
    for (size_t i = 0; i < s->config.n_learners; i++)
        wanted = wanted || s->config.learners[i].warm.file != NULL;
    if (!wanted)
        return TACIT_OK;
    s->warm = tacit__alloc(1, sizeof *s->warm);
    if (s->warm == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__vault *vault = open_store(s, credentials);
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < s->config.n_learners && status == TACIT_OK; i++)
        if (s->config.learners[i].warm.file != NULL)
            status = prepare(s, vault, &s->config.learners[i], &s->warm->learners[i], err);
    tacit__vault_close(vault);
    return status;
}

/* --- Some rows ------------------------------------------------------------------------------------ */

typedef struct row {
    uint8_t key[TACIT__VAULT_KEY], person[TACIT__VAULT_KEY];
    bool has_person, is_over; /* over: they have had all visits, and the others are told */
    uint8_t news[TACIT__NEWS_BYTES];
} row;

/* Rows that one transaction takes. */
typedef struct portion {
    tacit__job job;
    const tacit_service *service;
    const tacit__learner_config *config;
    int64_t learner;
    const warming *of;
    uint64_t first, n; /* rows of the log */
    row rows[PORTION];
    size_t episode, extra; /* bytes of each: as stored, and all actions' features for the record */
    uint8_t *episodes;     /* [n][episode + extra], aligned */
    /* what came of it */
    tacit__vault_warm after;
    uint64_t learned, newcomers, accepted; /* accepted: of all users */
    bool closed, changed;
} portion;

static size_t stride(const portion *p)
{
    return (p->episode + 7) / 8 * 8 + p->extra;
}

static void name_row(const warming *w, const uint8_t *key, int64_t learner, uint64_t number,
                     uint8_t out[TACIT__VAULT_KEY])
{
    struct {
        char what[16];
        int64_t learner;
        uint64_t number;
        uint8_t digest[TACIT__KEY_BYTES];
    } all = {.what = "warm start", .learner = learner, .number = number};
    memcpy(all.digest, w->digest, sizeof all.digest);
    tacit__keyed_hash(key, &all, sizeof all, out, TACIT__VAULT_KEY);
}

/* Writes a user of the log as an observed user. */
static void fill_row(portion *p, size_t i, const tacit__warm_log *log,
                     const tacit__logged_user *user)
{
    const tacit__learner_config *c = p->config;
    const uint8_t *key = p->service->key_person;
    uint8_t *bytes = p->episodes + i * stride(p), situation[1] = {0}, *packed = situation;
    tacit__episode e = tacit__episode_view(c, bytes);
    const char *field;
    /* the situation is packed where it will stand: with one step it is the first */
    if (c->per_user > 0) {
        packed = e.situations;
        tacit__stored_situation_pack(c, log->features, user->action, packed);
    }
    if (p->extra > 0)
        memcpy(bytes + stride(p) - p->extra, log->features, p->extra);
    const tacit__observation observed = {.state = user->state,
                                         .action = user->action,
                                         .situation = packed,
                                         .has_reward = true,
                                         .reward = user->reward,
                                         .trail = {.probability = user->propensity}};
    TACIT__REQUIRE(tacit__episode_add(&e, &observed, &field) && tacit__episode_is_finished(&e));
    name_row(p->of, key, p->learner, p->first + i, p->rows[i].key);
    p->rows[i].has_person = user->id.size > 0;
    if (p->rows[i].has_person) {
        char id[TACIT__MAX_USER + 1] = {0};
        memcpy(id, user->id.text, user->id.size);
        tacit__joint_hash_user(p->service, p->learner, id, p->rows[i].person);
        tacit__wipe(id, sizeof id);
    }
}

static void expect(tacit__job *job, tacit__vault *vault)
{
    const portion *p = (const portion *)job;
    for (size_t i = 0; i < p->n; i++)
        tacit__vault_expect_user(vault,
                                 &(tacit__vault_expected_user){
                                     .learner = p->learner,
                                     .key = p->rows[i].key,
                                     .person = p->rows[i].has_person ? p->rows[i].person : NULL,
                                     .returns = p->config->request.visits > 1,
                                     .is_new = true});
}

static tacit_status add_row(portion *p, size_t i, tacit__vault *vault, tacit_error *err)
{
    TACIT__REQUIRE(i < p->n);
    row *r = &p->rows[i];
    uint8_t *bytes = p->episodes + i * stride(p);
    const uint64_t visits = p->config->request.visits;
    tacit__vault_answer verdict = TACIT__VAULT_TAKEN, answer;
    uint64_t before = 0;
    r->is_over = false;
    if (visits > 1)
        TRY(tacit__vault_check_visit(vault, p->learner, r->person, &verdict, &before, err));
    TRY(tacit__vault_add_user(vault, p->learner, r->key, r->has_person ? r->person : NULL, NULL,
                              bytes, p->episode, &answer, err));
    if (answer != TACIT__VAULT_TAKEN)
        return TACIT_OK;
    p->learned++;
    p->newcomers += visits > 1 && before == 0;
    r->is_over = r->has_person && before + 1 >= visits;
    if (r->is_over)
        tacit__decide_cache_announce_logged(r->person, r->key, vault, r->news);
    if (!p->config->log_decisions)
        return TACIT_OK;
    const tacit__episode e = tacit__episode_view(p->config, bytes);
    return tacit__decision_log_save(
        vault, p->learner, &e,
        p->extra > 0 ? (const double *)(const void *)(bytes + stride(p) - p->extra) : NULL, err);
}

static tacit_status note(const portion *p, tacit__vault *vault, tacit_error *err)
{
    const tacit__vault_warm *w = &p->after;
    if (p->first == 0)
        TRY(tacit__vault_add_event(vault, err, "warm start of learner %s: a log of %llu rows",
                                   p->config->name, (unsigned long long)w->rows));
    if (w->taken < w->rows)
        return TACIT_OK;
    return tacit__vault_add_event(
        vault, err, "learner %s is warmed up: %llu users of a log of %llu", p->config->name,
        (unsigned long long)w->learned, (unsigned long long)w->rows);
}

/* Takes the rows if they are the next ones, and otherwise says which ones are. */
static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    portion *p = (portion *)job;
    tacit__vault_warm now = {.rows = p->of->counts.rows};
    bool found = false;
    p->learned = p->newcomers = 0;
    p->closed = tacit__vault_store_status(vault) != TACIT__STORE_FINE;
    memcpy(now.digest, p->of->digest, sizeof now.digest);
    TRY(tacit__vault_find_warm(vault, p->learner, &found, &now, err));
    p->after = now;
    p->changed = !tacit__same_bytes(now.digest, p->of->digest, sizeof now.digest);
    if (p->closed || p->changed || now.taken != p->first)
        return TACIT_OK;
    for (size_t i = 0; i < p->n; i++)
        TRY(add_row(p, i, vault, err));
    TRY(tacit__vault_get_accepted(vault, p->learner, &p->accepted, err));
    p->after.taken += p->n;
    p->after.learned += p->learned;
    TRY(tacit__vault_save_warm(vault, p->learner, &p->after, err));
    return note(p, vault, err);
}

/* --- The thread ----------------------------------------------------------------------------------- */

/* Returns false if the thread must stop. */
static bool pause_ms(tacit_service *s, double ms)
{
    pthread_mutex_lock(&s->stop_lock);
    if (!atomic_load(&s->warm->stop))
        (void)tacit__wait_ms(&s->stop_news, &s->stop_lock, ms);
    pthread_mutex_unlock(&s->stop_lock);
    return !atomic_load(&s->warm->stop);
}

static tacit_status read_rows(portion *p, tacit__warm_log *log, tacit_error *err)
{
    size_t most = PORTION_BYTES / stride(p);
    most = most < 1 ? 1 : most > PORTION ? PORTION : most;
    tacit__logged_user user;
    bool more = true;
    memset(p->episodes, 0, most * stride(p));
    p->first = log->row;
    for (p->n = 0; p->n < most; p->n++) {
        TRY(tacit__warm_log_next(log, &more, &user, err));
        if (!more)
            break;
        fill_row(p, p->n, log, &user);
    }
    return TACIT_OK;
}

/* How far the log is, as far as this process knows. */
typedef struct progress {
    uint64_t next; /* row */
    double since;  /* ms: when that was first seen; 0: never */
    bool feeds;    /* though another process learns */
} progress;

typedef enum turn { FEED, WAIT, END } turn;

/* The process that learns feeds. It may have no log, since files can differ between front ends, or may be
 * unable to read it; so another one feeds if no row has come for a while. The transaction takes rows only if
 * they are the next ones, so it does no harm if two processes feed. */
static turn choose_turn(tacit_service *s, size_t i, progress *g)
{
    TACIT__REQUIRE(i < s->config.n_learners);
    const warming *w = &s->warm->learners[i];
    tacit__vault_warm now = {0};
    bool found = false;
    if (g->feeds || tacit__learner_figures_of(s->learners[i]).leads)
        return FEED;
    pthread_mutex_lock(&s->reader_lock);
    const tacit_status status =
        tacit__vault_find_warm(s->reader, tacit__learner_id(s->learners[i]), &found, &now, NULL);
    pthread_mutex_unlock(&s->reader_lock);
    const double at = tacit__now_ms();
    if (status != TACIT_OK || g->since == 0 || now.taken != g->next)
        g->since = at;
    if (status != TACIT_OK)
        return WAIT;
    g->next = now.taken;
    if (found && !tacit__same_bytes(now.digest, w->digest, sizeof now.digest))
        return FEED; /* which says that it is another log */
    if (found && now.taken == now.rows)
        return END;
    g->feeds = at >= g->since + STALLED_MS;
    if (g->feeds)
        tacit__service_log(s, TACIT__INFO, "learner",
                           "another front end learns learner %s, but takes no rows of a log: this "
                           "one does, from row %llu; warm_start should be the same on all",
                           s->config.learners[i].name, (unsigned long long)g->next + 1);
    return g->feeds ? FEED : WAIT;
}

static void count_taken(tacit_service *s, size_t i, const portion *p)
{
    TACIT__REQUIRE(i < s->config.n_learners);
    for (uint64_t n = 0; n < p->learned; n++)
        tacit__learner_count_accepted(s->learners[i], p->accepted, n < p->newcomers);
    for (size_t j = 0; p->learned > 0 && j < p->n; j++)
        if (p->rows[j].is_over)
            tacit__decide_cache_receive(s, p->rows[j].news);
    if (p->learned > 0)
        tacit__learner_wake(s->learners[i]);
}

static void log_end(tacit_service *s, const portion *p)
{
    const tacit__vault_warm *w = &p->after;
    if (p->changed)
        tacit__service_log(s, TACIT__ERROR, "learner",
                           "learner %s was warmed up with another log; this one is ignored",
                           p->config->name);
    else
        tacit__service_log(
            s, TACIT__INFO, "learner", "learner %s is warmed up: %llu users of a log of %llu rows",
            p->config->name, (unsigned long long)w->learned, (unsigned long long)w->rows);
}

/* Passes one portion, the rows after g->next, to the committer, and reads the progress afterwards. END: no
 * more rows will come. Returns false if it cannot continue. */
static bool feed_one(tacit_service *s, size_t i, portion *p, progress *g, turn *then)
{
    tacit__warm_log *log = &s->warm->learners[i].log;
    tacit_error err = {0};
    if (log->row != g->next && tacit__warm_log_seek(log, (size_t)g->next, &err) != TACIT_OK)
        return false;
    tacit_status status = read_rows(p, log, &err);
    if (status == TACIT_OK)
        status = tacit__committer_wait(s->committer, &p->job);
    if (status == TACIT_FENCED)
        return false;
    *then = WAIT;
    if (status != TACIT_OK || p->closed)
        return true;
    count_taken(s, i, p);
    *then = FEED;
    if (p->changed || p->after.taken == p->after.rows) {
        log_end(s, p);
        *then = END;
    }
    g->feeds = g->feeds && p->after.taken == p->first + p->n; /* else another process feeds, too */
    g->next = p->after.taken;
    g->since = tacit__now_ms();
    return true;
}

/* Feeds one portion after the other. Returns false if it cannot continue, or must stop. */
static bool feed_all(tacit_service *s, size_t i, portion *p)
{
    progress g = {0};
    while (!atomic_load(&s->warm->stop)) {
        turn now = choose_turn(s, i, &g);
        const double ms = now == FEED ? RETRY_MS : FOLLOW_MS;
        if (now == FEED && !feed_one(s, i, p, &g, &now))
            return false;
        if (now == END)
            return true;
        if (now == WAIT)
            (void)pause_ms(s, ms);
    }
    return false;
}

static bool feed(tacit_service *s, size_t i)
{
    TACIT__REQUIRE(i < s->config.n_learners);
    warming *w = &s->warm->learners[i];
    const tacit__learner_config *c = &s->config.learners[i];
    portion *p = tacit__alloc(1, sizeof *p);
    bool fed = false;
    if (p != NULL) {
        *p = (portion){.job = {.apply = apply, .expect = expect, .bulk = true},
                       .service = s,
                       .config = c,
                       .learner = tacit__learner_id(s->learners[i]),
                       .of = w,
                       .episode = tacit__episode_size(c),
                       .extra = tacit__decision_log_extra_size(c)};
        const size_t room = stride(p) * PORTION;
        p->episodes = tacit__alloc(room, 1);
        fed = p->episodes != NULL && tacit__warm_log_seek(&w->log, 0, NULL) == TACIT_OK &&
              feed_all(s, i, p);
        tacit__free_secret(p->episodes, p->episodes != NULL ? room : 0);
        tacit__free_secret(p, sizeof *p);
    }
    tacit__warm_log_close(&w->log);
    if (!fed && !atomic_load(&s->warm->stop))
        tacit__service_log(
            s, TACIT__ERROR, "learner",
            "the rest of the log of learner %s could not be read; it is read after the next start",
            c->name);
    return fed;
}

/* Gets the number of users in the store. Returns false if the store cannot be read. */
static bool count_accepted(tacit_service *s, size_t i, uint64_t *out)
{
    TACIT__REQUIRE(i < s->config.n_learners);
    tacit__vault_learner found;
    bool is_there = false;
    pthread_mutex_lock(&s->reader_lock);
    tacit_status status = tacit__vault_find_learner(s->reader, s->config.learners[i].name,
                                                    &is_there, &found, NULL, NULL, NULL);
    pthread_mutex_unlock(&s->reader_lock);
    *out = status == TACIT_OK && is_there ? found.accepted - found.refused : 0;
    return status == TACIT_OK;
}

/* Waits until the learner has learned from all users that are there now, or has failed. */
static void await_learned(tacit_service *s, size_t i)
{
    TACIT__REQUIRE(i < s->config.n_learners);
    uint64_t wanted = 0;
    while (!count_accepted(s, i, &wanted) && pause_ms(s, RETRY_MS))
        ;
    for (bool go_on = true; go_on;) {
        const tacit__learner_figures f = tacit__learner_figures_of(s->learners[i]);
        go_on =
            f.users < wanted && !f.failed && f.store_status == TACIT__STORE_FINE && pause_ms(s, 20);
    }
}

static void *warm_up(void *context)
{
    tacit_service *s = context;
    bool fed = true; /* else there are users to come, at the next start */
    for (size_t i = 0; i < s->config.n_learners; i++)
        if (s->warm->learners[i].wanted) {
            fed = feed(s, i) && fed;
            await_learned(s, i);
        }
    if (fed && !atomic_load(&s->warm->stop))
        atomic_store(&s->warm->going_on, false);
    return NULL;
}

tacit_status tacit__warm_start(tacit_service *s, tacit_error *err)
{
    bool wanted = false;
    for (size_t i = 0; s->warm != NULL && i < s->config.n_learners; i++) {
        warming *w = &s->warm->learners[i];
        wanted = wanted || w->wanted;
        if (w->wanted)
            tacit__warm_log_digest(&w->log, s->key_person, w->digest);
    }
    if (!wanted)
        return TACIT_OK;
    atomic_store(&s->warm->going_on, true);
    tacit_status status = tacit__thread_start(&s->warm->thread, warm_up, s, err);
    s->warm->started = status == TACIT_OK;
    return status;
}

void tacit__warm_stop(tacit_service *s)
{
    if (s->warm == NULL || !s->warm->started)
        return;
    pthread_mutex_lock(&s->stop_lock);
    atomic_store(&s->warm->stop, true);
    pthread_cond_broadcast(&s->stop_news);
    pthread_mutex_unlock(&s->stop_lock);
    (void)pthread_join(s->warm->thread, NULL);
    s->warm->started = false;
}

void tacit__warm_close(tacit_service *s)
{
    for (size_t i = 0; s->warm != NULL && i < s->config.n_learners; i++)
        if (s->warm->learners[i].log.config != NULL)
            tacit__warm_log_close(&s->warm->learners[i].log);
    tacit__free(s->warm);
    s->warm = NULL;
}

bool tacit__warm_is_going_on(const tacit_service *s)
{
    return s->warm != NULL && atomic_load(&s->warm->going_on);
}
