/* A learner at work: its thread, and its life. See serve/learner/learner.h; what it has on disk is in
 * learner_disk.c.
 *
 * Batches. The thread takes inputs until there are none, or until it has been at it for a while; then it
 * shows what it has. So while one transaction is being synced, the next users gather, and a busy learner
 * syncs rarely. What is computed depends on the order of the inputs only, never on where batches end:
 * `plan` follows after every plan_every users, not after every batch. */
#include "serve/learner/learner.h"

#include <math.h>
#include <stdio.h>

#include "account/door.h"
#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "serve/learner/learner_inside.h"
#include "serve/people/episode.h"

_Static_assert((int)TACIT__LABEL_BYTES == (int)TACIT__VAULT_KEY, "a label is a key");

enum { BATCH_USERS = 2048, BATCH_MS = 50, RETRY_MS = 500 };

/* --- Learning ----------------------------------------------------------------------------------- */

/* A report consists of the agent's part and, with a monitor, the monitor's part after it. */
static tacit_status absorb(tacit__learner *l, const uint8_t *data, size_t size, tacit_error *err)
{
    size_t tail = l->monitor != NULL ? TACIT__MONITOR_REPORT : 0;
    if (size < tail)
        return tacit__fail(err, TACIT_CORRUPT, "an input is damaged");
    TRY(tacit_agent_absorb(l->agent, data, size - tail, err));
    if (tail > 0)
        return tacit__monitor_absorb(l->monitor, data + size - tail, err);
    return TACIT_OK;
}

/* Labels the noise of the next user by the key under which the user was accepted. If this store should ever
 * be continued twice, from a copy, a lost log or by two servers, users of the two forks have independent
 * noise, even those with equal data and equal numbers. */
static void label(tacit__learner *l, const uint8_t key[TACIT__LABEL_BYTES])
{
    tacit_ledger *ledgers[] = {tacit__agent_ledger(l->agent),
                               l->monitor != NULL ? tacit__monitor_ledger(l->monitor) : NULL};
    for (size_t i = 0; i < sizeof ledgers / sizeof ledgers[0]; i++)
        if (ledgers[i] != NULL)
            tacit__ledger_label(ledgers[i], key);
}

static tacit_status learn_episode(tacit__learner *l, const uint8_t *data, size_t size,
                                  tacit_error *err)
{
    const tacit__learner_config *c = l->config;
    const size_t own = (tacit__episode_size(c) + 7) / 8, room = c->chosen_only ? c->per_user : 0;
    double *bytes = tacit__alloc(own + room, sizeof *bytes);
    tacit_status status = TACIT_OK;
    if (bytes == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (!tacit__episode_read(c, data, size, bytes)) {
        status = tacit__fail(err, TACIT_CORRUPT, "an input is damaged");
    } else {
        tacit__episode e = tacit__episode_view(c, bytes);
        tacit_trajectory t = tacit__episode_trajectory(&e, bytes + own);
        status = tacit_agent_learn(l->agent, &t, err);
        if (status == TACIT_OK && l->monitor != NULL)
            status = tacit__monitor_add(l->monitor, tacit__episode_mean(&e), err);
    }
    tacit__free_secret(bytes, (own + room) * sizeof *bytes);
    return status;
}

static tacit_status learn_user(tacit__learner *l, const uint8_t key[TACIT__LABEL_BYTES],
                               uint8_t *data, size_t size, tacit_error *err)
{
    const tacit__learner_config *c = l->config;
    tacit_status status;
    pthread_mutex_lock(&l->agent_lock);
    if (c->request.guarantee.model == TACIT_MODEL_LOCAL) {
        status = absorb(l, data, size, err);
    } else {
        label(l, key);
        status = learn_episode(l, data, size, err);
    }
    pthread_mutex_unlock(&l->agent_lock);
    return status;
}

/* Learns from the next input, if there is one. The learner learns from every acknowledged user in the order
 * of acceptance and skips none, since otherwise one user's data would decide the number of all who come
 * later. An agent that clips cannot refuse any data (docs/why/counting.md); what can fail is memory, the
 * store, damage to it, or a budget that was spent elsewhere. Then the learner stops before this user,
 * whatever the data are. */
tacit_status tacit__learner_next(tacit__learner *l, bool *found, tacit_error *err)
{
    uint8_t *data, key[TACIT__VAULT_KEY];
    size_t size;
    int64_t number;
    l->has_gap = false;
    tacit_status status = tacit__vault_next_input(l->reader, l->row.id, l->row.taken, &number, key,
                                                  &data, &size, err);
    *found = status == TACIT_OK && size > 0;
    if (!*found)
        return status;
    /* numbers are dense: what is missing is in a later state, or was removed */
    l->has_gap = number != l->row.taken + 1;
    if (l->has_gap) {
        tacit__free_secret(data, size);
        *found = false;
        return TACIT_OK;
    }
    status = learn_user(l, key, data, size, err);
    tacit__free_secret(data, size);
    if (status != TACIT_OK)
        return status;
    if (l->row.users == l->kept)
        l->unkept_since = tacit__now_ms();
    l->input_size = size;
    l->row.taken = number;
    l->row.users++;
    tacit_billboard board;
    return l->row.users % l->config->plan_every == 0 ? tacit_agent_plan(l->agent, &board, err)
                                                     : TACIT_OK;
}

typedef struct checking {
    tacit__job job;
    const tacit__learner *learner;
} checking;

static tacit_status apply_checking(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    return tacit__vault_check_lease(vault, &((const checking *)job)->learner->row, err);
}

/* Another process may have acquired the lease and deleted the users that it learned from, before this process
 * knows. Otherwise the store is damaged. */
static tacit_status explain_gap(const tacit__learner *l, tacit_error *err)
{
    checking c = {.job = {.apply = apply_checking}, .learner = l};
    tacit_status status = tacit__committer_wait(l->committer, &c.job);
    return status == TACIT_OK ? tacit__fail(err, TACIT_CORRUPT, "a user is missing from the store")
                              : tacit__fail(err, status, "the lease could not be confirmed");
}

/* Learns from some inputs; *n is how many. */
static tacit_status learn_batch(tacit__learner *l, size_t *n, tacit_error *err)
{
    const double start = tacit__now_ms();
    tacit_status status = TACIT_OK;
    for (*n = 0; *n < BATCH_USERS && l->n_points < TACIT__LEARNER_POINTS &&
                 tacit__now_ms() - start < BATCH_MS;
         ++*n) {
        bool found = false;
        status = tacit__learner_next(l, &found, err);
        if (status == TACIT_OK && l->has_gap)
            status = explain_gap(l, err);
        if (status != TACIT_OK || !found)
            break;
        l->news = true;
        status = tacit__learner_record_history(l, err);
        if (status != TACIT_OK)
            break;
    }
    return status;
}

/* Returns false if the learner must stop. */
static bool wait_ms(tacit__learner *l, double ms)
{
    pthread_mutex_lock(&l->lock);
    if (!l->stop)
        (void)tacit__wait_ms(&l->news_came, &l->lock, ms);
    bool go_on = !l->stop;
    pthread_mutex_unlock(&l->lock);
    return go_on;
}

static bool may_lead(tacit__learner *l)
{
    pthread_mutex_lock(&l->lock);
    bool may = l->may_lead;
    pthread_mutex_unlock(&l->lock);
    return may;
}

/* It does not log err->message, which may be about a user's data. */
static void log_failed(const tacit__learner *l, tacit_status status)
{
    char line[300];
    (void)snprintf(line, sizeof line, "learner %.80s decides, but no longer learns: %s",
                   l->config->name, tacit_status_message(status));
    if (l->log != NULL)
        l->log(l->log_context, line);
}

/* Publishes what was learned. After a failure it stays learned, since a store that is full now may have room
 * later, and noise is not drawn again. */
static tacit_status publish(tacit__learner *l, tacit_error *err)
{
    tacit_status status;
    while ((status = tacit__learner_save_and_publish(l, err)) == TACIT_SYSTEM && may_lead(l) &&
           wait_ms(l, RETRY_MS))
        ;
    return status;
}

/* Learns from a batch, then publishes and saves what is due. */
static tacit_status work(tacit__learner *l, size_t *n, tacit_error *err)
{
    TRY(learn_batch(l, n, err));
    if (l->news)
        TRY(publish(l, err));
    if (tacit__learner_checkpoint_due(l) <= tacit__now_ms())
        TRY(tacit__learner_checkpoint(l, err));
    if (l->has_leftover)
        return tacit__learner_drop_inputs(l, err);
    return TACIT_OK;
}

/* Waits until there are inputs, or a checkpoint is due. Returns false if the learner must stop. */
static bool await_inputs(tacit__learner *l)
{
    const double due = tacit__learner_checkpoint_due(l);
    pthread_mutex_lock(&l->lock);
    while (!l->more && !l->stop && tacit__wait_until(&l->news_came, &l->lock, due))
        ;
    l->more = false;
    bool go_on = !l->stop;
    pthread_mutex_unlock(&l->lock);
    return go_on;
}

static bool is_stopped(tacit__learner *l)
{
    pthread_mutex_lock(&l->lock);
    bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    return stop;
}

/* --- Leading and following ----------------------------------------------------------------------- */

typedef struct taking {
    tacit__job job;
    tacit__vault_learner row;
} taking;

static tacit_status apply_taking(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    return tacit__vault_take_over(vault, &((taking *)job)->row, err);
}

static void set_leads(tacit__learner *l, bool leads)
{
    l->leads = leads;
    pthread_mutex_lock(&l->lock);
    l->figures.leads = leads;
    pthread_mutex_unlock(&l->lock);
}

/* Publishes what was last published, by whichever process. */
static tacit_status follow(tacit__learner *l, tacit_error *err)
{
    bool changed = false;
    tacit__board *board = NULL;
    TRY(tacit__learner_refresh(l, &changed, err));
    if (!changed)
        return TACIT_OK;
    TRY(tacit__learner_make_board(l, &board, err));
    tacit__learner_publish(l, board);
    return TACIT_OK;
}

/* Begins a new epoch first. Afterwards no other process writes, so what it then reads is final. */
static tacit_status lead(tacit__learner *l, tacit_error *err)
{
    taking t = {.job = {.apply = apply_taking}, .row = l->row};
    pthread_mutex_lock(&l->lock);
    t.row.session = l->session;
    pthread_mutex_unlock(&l->lock);
    tacit_status status = tacit__committer_wait(l->committer, &t.job);
    if (status != TACIT_OK)
        return tacit__fail(err, status, "the store could not be written");
    l->row.session = t.row.session;
    TRY(follow(l, err));
    if (l->row.epoch != t.row.epoch)
        return tacit__fail(err, TACIT_FENCED, "another process learns now");
    l->has_leftover = true;
    l->row.dropped = l->kept_input = 0;
    l->news = false;
    l->n_points = 0;
    l->next_point = tacit__learner_point_after(l->row.shown);
    set_leads(l, true);
    return TACIT_OK;
}

/* Forgets what was learned and not published. */
static void step_down(tacit__learner *l)
{
    set_leads(l, false);
    l->ahead = true;
    l->news = false;
    l->n_points = 0;
}

/* Waits until this process has the lease, or another process has published something. *again: this process
 * leads now. */
static tacit_status wait_or_lead(tacit__learner *l, bool *go_on, tacit_error *err)
{
    tacit_status status = may_lead(l) ? lead(l, err) : follow(l, err);
    if (status != TACIT_OK && status != TACIT_SYSTEM && status != TACIT_FENCED)
        return status;
    if (status != TACIT_OK)
        l->ahead = l->ahead || l->row.users != l->row.shown;
    pthread_mutex_lock(&l->lock);
    if (!l->leads && !l->stop && !l->more && (status != TACIT_OK || !l->may_lead))
        (void)tacit__wait_ms(&l->news_came, &l->lock, RETRY_MS);
    l->more = false;
    *go_on = !l->stop;
    pthread_mutex_unlock(&l->lock);
    return TACIT_OK;
}

/* Writes the last checkpoint. If that fails, the next start learns again from the users that are not in the
 * previous one. */
static bool finish(tacit__learner *l, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (l->kept < l->row.users)
        status = tacit__learner_checkpoint(l, err);
    if (status == TACIT_OK && l->has_leftover)
        status = tacit__learner_drop_inputs(l, err);
    return status == TACIT_OK;
}

/* One turn of the thread. */
static tacit_status run_turn(tacit__learner *l, bool *go_on, tacit_error *err)
{
    size_t n = 0;
    if (!l->leads)
        return wait_or_lead(l, go_on, err);
    tacit_status status =
        may_lead(l) ? work(l, &n, err) : tacit__fail(err, TACIT_FENCED, "the lease is gone");
    if (status == TACIT_FENCED && l->shared) {
        step_down(l);
        *go_on = !is_stopped(l);
        return TACIT_OK;
    }
    if (status == TACIT_OK || status == TACIT_SYSTEM)
        *go_on = status == TACIT_SYSTEM ? wait_ms(l, RETRY_MS)
                 : n > 0                ? !is_stopped(l)
                                        : await_inputs(l);
    return status == TACIT_SYSTEM ? TACIT_OK : status;
}

static void *learn(void *context)
{
    tacit__learner *l = context;
    tacit_error err = {0};
    tacit__thread_set_background(); /* requests go first: a learner that is behind loses nothing */
    for (bool go_on = true; go_on;) {
        tacit_status status = run_turn(l, &go_on, &err);
        if (status != TACIT_OK) { /* e.g. no memory: it decides, but learns no more */
            pthread_mutex_lock(&l->lock);
            l->figures.failed = true;
            l->figures.leads = false;
            pthread_mutex_unlock(&l->lock);
            log_failed(l, status);
            return NULL;
        }
    }
    if (l->leads && !l->news && !finish(l, &err) && l->log != NULL)
        l->log(l->log_context, err.message);
    return NULL;
}

/* --- Life --------------------------------------------------------------------------------------- */

tacit_status tacit__learner_create(const tacit__learner_setting *setting, tacit__vault *vault,
                                   tacit__learner **out, tacit_error *err)
{
    TACIT__REQUIRE(setting->config != NULL && setting->key != NULL && vault != NULL);
    tacit__learner *l = tacit__alloc(1, sizeof *l);
    if (l == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    l->config = setting->config;
    l->log = setting->log;
    l->log_context = setting->log_context;
    l->shared = setting->shared;
    l->may_lead = !setting->shared; /* a store of its own has no other that could */
    (void)pthread_mutex_init(&l->lock, NULL);
    (void)pthread_mutex_init(&l->agent_lock, NULL);
    tacit__condition_create(&l->news_came);
    uint64_t people = 0;
    tacit_status status = tacit__learner_restore(l, vault, err);
    l->id = l->row.id;
    if (status == TACIT_OK && l->row.visits > 1)
        status = tacit__vault_count_people(vault, l->id, &people, err);
    if (status == TACIT_OK)
        status =
            tacit__vault_open(setting->store, TACIT__VAULT_READ, setting->key, &l->reader, err);
    if (status == TACIT_OK)
        status = tacit__learner_make_board(l, &l->board, err);
    if (status != TACIT_OK) {
        tacit__learner_destroy(l);
        return status;
    }
    l->more = true;
    l->figures = (tacit__learner_figures){.limit = l->row.limit,
                                          .accepted = l->row.accepted,
                                          .people = people,
                                          .store_status = setting->store_status,
                                          .reward = (double)NAN,
                                          .reward_error = (double)NAN};
    tacit__learner_publish(l, tacit__board_acquire(l->board));
    *out = l;
    return TACIT_OK;
}

tacit_status tacit__learner_start(tacit__learner *l, tacit__committer *committer, tacit_error *err)
{
    TACIT__REQUIRE(!l->started && committer != NULL);
    l->committer = committer;
    TRY(follow(l, err));
    if (l->figures.store_status != TACIT__STORE_FINE && !l->shared)
        return TACIT_OK;
    tacit_status status = tacit__thread_start(&l->thread, learn, l, err);
    l->started = status == TACIT_OK;
    return status;
}

void tacit__learner_destroy(tacit__learner *l)
{
    if (l == NULL)
        return;
    if (l->started) {
        pthread_mutex_lock(&l->lock);
        l->stop = true;
        pthread_cond_signal(&l->news_came);
        pthread_mutex_unlock(&l->lock);
        (void)pthread_join(l->thread, NULL);
    }
    tacit__board_release(l->board);
    tacit__vault_close(l->reader);
    if (l->first_agent != l->agent)
        tacit_agent_destroy(l->first_agent);
    if (l->first_monitor != l->monitor)
        tacit__monitor_destroy(l->first_monitor);
    tacit_agent_destroy(l->agent);
    tacit__monitor_destroy(l->monitor);
    tacit__free_secret(l->state, l->state_capacity);
    (void)pthread_cond_destroy(&l->news_came);
    (void)pthread_mutex_destroy(&l->lock);
    (void)pthread_mutex_destroy(&l->agent_lock);
    tacit__free(l);
}

void tacit__learner_wake(tacit__learner *l)
{
    pthread_mutex_lock(&l->lock);
    l->more = true;
    pthread_cond_signal(&l->news_came);
    pthread_mutex_unlock(&l->lock);
}

void tacit__learner_set_lease(tacit__learner *l, bool held, int64_t session)
{
    pthread_mutex_lock(&l->lock);
    const bool changed = l->may_lead != held || l->session != session;
    l->may_lead = held;
    l->session = session;
    l->more = l->more || changed;
    if (changed)
        pthread_cond_signal(&l->news_came);
    pthread_mutex_unlock(&l->lock);
}

void tacit__learner_set_accepted(tacit__learner *l, uint64_t accepted)
{
    pthread_mutex_lock(&l->lock);
    tacit__learner_raise_accepted(l, accepted);
    pthread_mutex_unlock(&l->lock);
}

void tacit__learner_set_store_status(tacit__learner *l, tacit__store_status store_status)
{
    pthread_mutex_lock(&l->lock);
    l->figures.store_status = store_status;
    pthread_mutex_unlock(&l->lock);
}

void tacit__learner_count_accepted(tacit__learner *l, uint64_t ordinal, bool first)
{
    pthread_mutex_lock(&l->lock);
    tacit__learner_raise_accepted(l, ordinal);
    l->figures.people += first;
    pthread_mutex_unlock(&l->lock);
}

void tacit__learner_count_rejected(tacit__learner *l, bool too_soon)
{
    pthread_mutex_lock(&l->lock);
    l->figures.too_soon += too_soon;
    l->figures.visits_used += !too_soon;
    pthread_mutex_unlock(&l->lock);
}

tacit__board *tacit__learner_acquire_board(tacit__learner *l)
{
    pthread_mutex_lock(&l->lock);
    tacit__board *board = tacit__board_acquire(l->board);
    pthread_mutex_unlock(&l->lock);
    return board;
}

int64_t tacit__learner_id(const tacit__learner *l)
{
    return l->id;
}

const tacit__learner_config *tacit__learner_config_of(const tacit__learner *l)
{
    return l->config;
}

tacit_status tacit__learner_check_report(tacit__learner *l, const void *bytes, size_t size,
                                         tacit_error *err)
{
    size_t tail = l->monitor != NULL ? TACIT__MONITOR_REPORT : 0;
    if (size < tail)
        return tacit__fail(err, TACIT_CORRUPT, "a report is cut short");
    pthread_mutex_lock(&l->agent_lock);
    tacit_status status = tacit_agent_check_report(l->agent, bytes, size - tail, err);
    if (status == TACIT_OK && tail > 0)
        status = tacit__monitor_check(l->monitor, (const uint8_t *)bytes + size - tail, err);
    pthread_mutex_unlock(&l->agent_lock);
    return status;
}

tacit__learner_figures tacit__learner_figures_of(tacit__learner *l)
{
    pthread_mutex_lock(&l->lock);
    tacit__learner_figures figures = l->figures;
    pthread_mutex_unlock(&l->lock);
    return figures;
}

const tacit_plan *tacit__learner_plan(const tacit__learner *l)
{
    return tacit_agent_release_plan(l->first_agent);
}

tacit_ledger *tacit__learner_ledger(const tacit__learner *l)
{
    return tacit__agent_ledger(l->agent);
}

const tacit_plan *tacit__learner_monitor_plan(const tacit__learner *l)
{
    return l->first_monitor != NULL ? tacit_ledger_plan(tacit__monitor_ledger(l->first_monitor))
                                    : NULL;
}

const char *tacit__learner_remark(const tacit__learner *l)
{
    return tacit_agent_remark(l->first_agent);
}
