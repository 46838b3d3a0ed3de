/* What a learner has on disk, and what it shows of it: the state as bytes, the board made of it, the transaction that keeps
 * the two in step, and the way back after a start. See serve/learner.h.
 *
 * A state is the size of the agent's part, 64 bits, then the agent, then the monitor, if there is one. Beside it is a
 * fingerprint of the settings: a learner is restored only with those that it promised its users.
 *
 * An agent whose billboard has no table is shown by a second one, loaded from these very bytes: requests ask it while the
 * first one learns. */
#include <math.h>
#include <string.h>

#include "agents/agent.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/settings.h"
#include "serve/learner_inside.h"
#include "serve/names.h"
#include "serve/room.h"

enum { MAX_LINES = 64 };

/* --- The whole state as bytes: sizes, agent, monitor -------------------------------------------- */

static tacit_status save_state(tacit__learner *l, tacit_error *err)
{
    size_t agent = 0, monitor = 0;
    tacit_status status = tacit_agent_save(l->agent, NULL, &agent, err);
    if (status == TACIT_OK && l->monitor != NULL)
        status = tacit__monitor_save(l->monitor, NULL, &monitor, err);
    if (status != TACIT_OK)
        return status;
    size_t needed = sizeof(uint64_t) + agent + monitor;
    if (needed > l->state_capacity) {
        uint8_t *larger = tacit__alloc(needed + needed / 4, 1);
        if (larger == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        tacit__free_secret(l->state, l->state_capacity);
        l->state = larger;
        l->state_capacity = needed + needed / 4;
    }
    uint64_t size = agent;
    memcpy(l->state, &size, sizeof size);
    status = tacit_agent_save(l->agent, l->state + sizeof size, &agent, err);
    if (status == TACIT_OK && l->monitor != NULL)
        status = tacit__monitor_save(l->monitor, l->state + sizeof size + agent, &monitor, err);
    l->state_size = needed;
    return status;
}

static tacit_status split_state(const uint8_t *state, size_t size, size_t *agent, tacit_error *err)
{
    uint64_t n = 0;
    if (size >= sizeof n)
        memcpy(&n, state, sizeof n);
    if (size < sizeof n || n > size - sizeof n)
        return tacit__fail(err, TACIT_CORRUPT, "a learner's state is damaged");
    *agent = (size_t)n;
    return TACIT_OK;
}

static tacit_status load_state(tacit__learner *l, const uint8_t *state, size_t size,
                               tacit_error *err)
{
    size_t agent = 0;
    tacit_status status = split_state(state, size, &agent, err);
    if (status == TACIT_OK)
        status = tacit_agent_load(l->agent, state + sizeof(uint64_t), agent, err);
    if (status == TACIT_OK && l->monitor != NULL)
        status = tacit__monitor_load(l->monitor, state + sizeof(uint64_t) + agent,
                                     size - sizeof(uint64_t) - agent, err);
    return status;
}

/* --- Agent and monitor -------------------------------------------------------------------------- */

/* Users were held to the domain, or cut, when they came. Who was accepted takes their place in line: should a curator round
 * otherwise than the door, the user is cut and not refused. */
static tacit_status create_agent(const tacit__learner_config *c, tacit_agent **out,
                                 tacit_error *err)
{
    tacit_noise *noise;
    tacit_agent_request request = c->request;
    request.outside = TACIT_OUTSIDE_CLIP;
    tacit_status status = tacit_noise_create_from_os(&noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit_agent_create(&request, noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}

static tacit_status create_monitor(const tacit__learner_config *c, tacit__monitor **out,
                                   tacit_error *err)
{
    tacit_noise *noise;
    if (c->monitor.model == TACIT_MODEL_NONE)
        return TACIT_OK;
    tacit_status status = tacit_noise_create_from_os(&noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit__monitor_create(c->monitor, c->request.episodes, noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}

/* --- Publication -------------------------------------------------------------------------------- */

tacit_status tacit__learner_make_board(tacit__learner *l, tacit__board **out, tacit_error *err)
{
    tacit_billboard look;
    tacit_agent *shadow = NULL;
    tacit_status status = tacit_agent_billboard(l->agent, &look, err);
    if (status == TACIT_OK && look.policy == NULL && look.mixed == NULL) {
        size_t size = 0;
        status = split_state(l->state, l->state_size, &size, err);
        if (status == TACIT_OK)
            status = create_agent(l->config, &shadow, err);
        if (status == TACIT_OK)
            status = tacit_agent_load(shadow, l->state + sizeof(uint64_t), size, err);
        if (status != TACIT_OK) {
            tacit_agent_destroy(shadow);
            return status;
        }
    }
    if (status == TACIT_OK)
        status = tacit__board_create(l->agent, &l->config->request, shadow, l->row.users, out, err);
    return status;
}

void tacit__learner_publish(tacit__learner *l, tacit__board *board)
{
    pthread_mutex_lock(&l->lock);
    tacit__board *old = l->board;
    l->board = board;
    l->figures.users = l->row.users;
    l->figures.version = tacit__board_look(board)->version;
    if (l->monitor != NULL)
        tacit__monitor_read(l->monitor, &l->figures.reward, &l->figures.reward_error);
    pthread_mutex_unlock(&l->lock);
    tacit__board_give(old);
}

/* --- Transactions ------------------------------------------------------------------------------- */

typedef struct keeping {
    tacit__job job;
    tacit__learner *learner;
    tacit__vault_line lines[MAX_LINES];
    size_t n_lines;
} keeping;

static void add_lines(keeping *k, const tacit_ledger *ledger)
{
    if (ledger == NULL)
        return;
    const tacit_plan *plan = tacit_ledger_plan(ledger);
    for (size_t i = 0; i < tacit_plan_size(plan) && k->n_lines < MAX_LINES; i++)
        k->lines[k->n_lines++] = (tacit__vault_line){.release = tacit_plan_release(plan, i)->name,
                                                     .declared = tacit_plan_release(plan, i)->steps,
                                                     .passed = tacit_ledger_passed(ledger, i)};
}

static tacit_status apply_keeping(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    keeping *k = (keeping *)job;
    tacit__learner *l = k->learner;
    tacit_status status =
        tacit__vault_keep(vault, &l->row, l->state, l->state_size, k->lines, k->n_lines, err);
    for (size_t i = 0; status == TACIT_OK && i < l->n_points; i++)
        status = tacit__vault_note(vault, l->row.id, &l->points[i], err);
    return status;
}

/* Every user at first, then in steps of 2 %. */
static uint64_t point_after(uint64_t users)
{
    uint64_t point = 1;
    while (point <= users && point <= UINT64_MAX / 2) /* users may be anything in a damaged store */
        point += point / 50 + 1;
    return point;
}

tacit_status tacit__learner_note(tacit__learner *l, tacit_error *err)
{
    if (l->row.users < l->next_point && l->row.users < l->row.limit)
        return TACIT_OK;
    tacit_billboard board;
    tacit_status status = tacit_agent_billboard(l->agent, &board, err);
    if (status != TACIT_OK)
        return status;
    tacit__vault_point *point = &l->points[l->n_points++];
    *point = (tacit__vault_point){l->row.users, board.version, (double)NAN, (double)NAN};
    if (l->monitor != NULL)
        tacit__monitor_read(l->monitor, &point->reward, &point->error);
    l->next_point = point_after(l->row.users);
    return TACIT_OK;
}

tacit_status tacit__learner_keep(tacit__learner *l, tacit_error *err)
{
    tacit__board *board = NULL;
    keeping k = {.job = {.apply = apply_keeping}, .learner = l};
    tacit_status status = save_state(l, err);
    if (status == TACIT_OK)
        status = tacit__learner_make_board(l, &board, err);
    if (status != TACIT_OK)
        return status;
    l->row.version = tacit__board_look(board)->version;
    add_lines(&k, tacit__agent_ledger(l->agent));
    if (l->monitor != NULL)
        add_lines(&k, tacit__monitor_ledger(l->monitor));
    status = tacit__scribe_wait(l->scribe, &k.job);
    if (status != TACIT_OK) {
        tacit__board_give(board);
        return tacit__fail(err, status, "the store could not be written");
    }
    l->n_points = 0;
    l->dirty = false;
    tacit__learner_publish(l, board);
    return TACIT_OK;
}

/* --- Restoring ---------------------------------------------------------------------------------- */

static tacit_status begin_new(tacit__learner *l, tacit__vault *vault, tacit_error *err)
{
    tacit_billboard board;
    tacit_status status = tacit_agent_plan(l->agent, &board, err);
    if (status == TACIT_OK)
        status = save_state(l, err);
    if (status != TACIT_OK)
        return status;
    l->row.limit = l->config->request.episodes;
    l->row.version = board.version;
    status = tacit__vault_begin(vault, err);
    if (status == TACIT_OK) {
        status = tacit__vault_add(vault, l->config->name, &l->row, l->state, l->state_size, err);
        if (status == TACIT_OK)
            status = tacit__vault_commit(vault, err);
        else
            tacit__vault_undo(vault);
    }
    return status;
}

static tacit_status find_state(tacit__learner *l, tacit__vault *vault, tacit_error *err)
{
    const tacit__learner_config *c = l->config;
    uint8_t fingerprint[TACIT__KEY_BYTES], names[TACIT__KEY_BYTES] = {0}, *state = NULL;
    size_t size = 0;
    bool found = false;
    tacit__digest((tacit__bytes[]){{l->agent->fingerprint, sizeof l->agent->fingerprint},
                                   {&c->plan_every, sizeof c->plan_every},
                                   {&c->monitor.epsilon, sizeof c->monitor.epsilon},
                                   {&c->monitor.delta, sizeof c->monitor.delta},
                                   {names, tacit__names_digest(c, names)}},
                  5, fingerprint);
    tacit_status status = tacit__vault_find(vault, c->name, &found, &l->row, &state, &size, err);
    if (status != TACIT_OK)
        return status;
    if (!found) {
        memcpy(l->row.fingerprint, fingerprint, sizeof fingerprint);
        return begin_new(l, vault, err);
    }
    if (memcmp(l->row.fingerprint, fingerprint, sizeof fingerprint) != 0)
        status =
            tacit__fail_at(err, TACIT_WRONG_PLAN, c->request.file, (size_t)c->request.line,
                           "the store has a learner '%s' with other settings; what it promised "
                           "its users stays: give a changed learner another name",
                           c->name);
    else
        status = load_state(l, state, size, err);
    tacit__free_secret(state, size);
    if (status == TACIT_OK)
        status = save_state(l, err);
    return status;
}

tacit_status tacit__learner_restore(tacit__learner *l, tacit__vault *vault, tacit_error *err)
{
    tacit_status status = create_agent(l->config, &l->agent, err);
    size_t size = 0;
    if (status == TACIT_OK && l->config->request.guarantee.model == TACIT_MODEL_LOCAL &&
        (status = tacit_agent_report(l->agent, NULL, NULL, &size, err)) != TACIT_OK)
        status =
            tacit__fail_at(err, status, l->config->request.file, (size_t)l->config->request.line,
                           "%s cannot be served with model local: its devices would have no "
                           "reports to send",
                           l->config->request.kind);
    if (status == TACIT_OK)
        status = create_monitor(l->config, &l->monitor, err);
    if (status == TACIT_OK && size > 0)
        status = tacit__room_check_report(
            l->config, size + (l->monitor != NULL ? TACIT__MONITOR_REPORT : 0), err);
    if (status == TACIT_OK)
        status = find_state(l, vault, err);
    if (status == TACIT_OK)
        l->next_point = point_after(l->row.users);
    return status;
}
