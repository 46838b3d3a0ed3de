/* A learner's state as bytes, the board made from it, and restoring it after a start. See
 * serve/learner/learner.h; learner_disk.c decides when it is written to disk.
 *
 * A state is the size of the agent's part (64 bits), then the agent, then the monitor, if there is one. A
 * fingerprint of the settings is stored with it: a learner is restored only with the settings that it
 * promised its users.
 *
 * If the billboard of an agent has no table, requests use a second agent while the first one learns: a
 * snapshot or, if the family has none, an agent that is loaded from these bytes. It is made again when the
 * version changes. */
#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "serve/body_limit.h"
#include "serve/learner/action_names.h"
#include "serve/learner/learner_inside.h"
#include "serve/people/episode.h"
#include "text/settings.h"

/* --- The whole state as bytes: sizes, agent, monitor -------------------------------------------- */

static tacit_status measure(const tacit__learner *l, size_t *agent, size_t *monitor,
                            tacit_error *err)
{
    *monitor = 0;
    TRY(tacit_agent_save(l->agent, NULL, agent, err));
    if (l->monitor != NULL)
        return tacit__monitor_save(l->monitor, NULL, monitor, err);
    return TACIT_OK;
}

tacit_status tacit__learner_state_size(const tacit__learner *l, size_t *size, tacit_error *err)
{
    size_t agent = 0, monitor = 0;
    tacit_status status = measure(l, &agent, &monitor, err);
    *size = sizeof(uint64_t) + agent + monitor;
    return status;
}

tacit_status tacit__learner_save(tacit__learner *l, tacit_error *err)
{
    TACIT__REQUIRE(l->agent != NULL);
    size_t agent = 0, monitor = 0;
    TRY(measure(l, &agent, &monitor, err));
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
    tacit_status status = tacit_agent_save(l->agent, l->state + sizeof size, &agent, err);
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
    TRY(split_state(state, size, &agent, err));
    TRY(tacit_agent_load(l->agent, state + sizeof(uint64_t), agent, err));
    if (l->monitor != NULL)
        return tacit__monitor_load(l->monitor, state + sizeof(uint64_t) + agent,
                                   size - sizeof(uint64_t) - agent, err);
    return TACIT_OK;
}

/* --- Agent and monitor -------------------------------------------------------------------------- */

/* Users were checked against the domain, or clipped, when they came. If a curator rounds differently, an
 * accepted user is clipped and not refused. */
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
    status = tacit__monitor_create(
        c->monitor, &(tacit__monitored){c->request.episodes, c->request.visits, c->request.apart},
        noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}

/* --- Publication -------------------------------------------------------------------------------- */

static tacit_status load_second(tacit__learner *l, tacit_agent **out, tacit_error *err)
{
    tacit_agent *second = NULL;
    size_t size = 0;
    tacit_status status = tacit__learner_save(l, err);
    if (status == TACIT_OK)
        status = split_state(l->state, l->state_size, &size, err);
    if (status == TACIT_OK)
        status = create_agent(l->config, &second, err);
    if (status == TACIT_OK)
        status = tacit_agent_load(second, l->state + sizeof(uint64_t), size, err);
    if (status != TACIT_OK) {
        tacit_agent_destroy(second);
        return status;
    }
    *out = second;
    return TACIT_OK;
}

static tacit_status make_shadow(tacit__learner *l, uint64_t version, tacit__shadow **out,
                                tacit_error *err)
{
    TACIT__REQUIRE(l->agent != NULL);
    if (l->board != NULL && tacit__board_view(l->board)->version == version &&
        (*out = tacit__board_acquire_shadow(l->board)) != NULL)
        return TACIT_OK;
    tacit_agent *agent = NULL;
    tacit_status status = tacit__agent_snapshot(l->agent, &agent, err);
    if (status == TACIT_UNSUPPORTED)
        status = load_second(l, &agent, err);
    return status == TACIT_OK ? tacit__shadow_create(agent, out, err) : status;
}

tacit_status tacit__learner_make_board(tacit__learner *l, tacit__board **out, tacit_error *err)
{
    TACIT__REQUIRE(out != NULL);
    tacit_billboard look;
    tacit__shadow *shadow = NULL;
    TRY(tacit_agent_billboard(l->agent, &look, err));
    if (look.policy == NULL && look.mixed == NULL)
        TRY(make_shadow(l, look.version, &shadow, err));
    return tacit__board_create(l->agent, &l->config->request, shadow, l->row.users, out, err);
}

void tacit__learner_publish(tacit__learner *l, tacit__board *board)
{
    TACIT__REQUIRE(board != NULL);
    pthread_mutex_lock(&l->lock);
    tacit__board *old = l->board;
    l->board = board;
    l->figures.users = l->row.users;
    tacit__learner_raise_accepted(l, l->row.users);
    l->figures.version = tacit__board_view(board)->version;
    if (l->monitor != NULL)
        tacit__monitor_read(l->monitor, &l->figures.reward, &l->figures.reward_error);
    pthread_mutex_unlock(&l->lock);
    tacit__board_release(old);
}

/* --- Following ---------------------------------------------------------------------------------- */

/* Replaces the agent and the monitor by those of the state on disk. */
static tacit_status reload(tacit__learner *l, tacit_error *err)
{
    tacit__learner fresh = {.config = l->config};
    uint8_t *state = NULL;
    size_t size = 0;
    bool found = false;
    tacit__vault_learner row = l->row;
    TRY(tacit__vault_find_learner(l->reader, l->config->name, &found, &row, &state, &size, err));
    if (!found)
        return tacit__fail(err, TACIT_CORRUPT, "learner %.80s is gone from the store",
                           l->config->name);
    tacit_status status = create_agent(l->config, &fresh.agent, err);
    if (status == TACIT_OK)
        status = create_monitor(l->config, &fresh.monitor, err);
    if (status == TACIT_OK)
        status = load_state(&fresh, state, size, err);
    tacit__free_secret(state, size);
    if (status == TACIT_OK) {
        pthread_mutex_lock(&l->agent_lock);
        tacit_agent *agent = l->agent;
        tacit__monitor *monitor = l->monitor;
        l->agent = fresh.agent;
        l->monitor = fresh.monitor;
        pthread_mutex_unlock(&l->agent_lock);
        fresh.agent = agent != l->first_agent ? agent : NULL;
        fresh.monitor = monitor != l->first_monitor ? monitor : NULL;
        row.epoch = l->row.epoch;
        row.session = l->row.session;
        l->row = row;
        l->kept = row.users;
        l->ahead = false;
    }
    tacit_agent_destroy(fresh.agent);
    tacit__monitor_destroy(fresh.monitor);
    return status;
}

/* Learns from the users that were published and are not in the state. A user who is missing is in a later
 * state, which the process that learns has written meanwhile. */
static tacit_status follow_inputs(tacit__learner *l, uint64_t shown, tacit_error *err)
{
    bool found = true;
    while (l->row.users < shown) {
        TRY(tacit__learner_next(l, &found, err));
        if (found)
            continue;
        const uint64_t before = l->row.users;
        TRY(reload(l, err));
        if (l->row.users <= before)
            return tacit__fail(err, TACIT_CORRUPT,
                               "the store lacks users that the billboard of learner %.80s depends "
                               "on: something was removed; restore the file",
                               l->config->name);
    }
    return TACIT_OK;
}

tacit_status tacit__learner_refresh(tacit__learner *l, bool *changed, tacit_error *err)
{
    TACIT__REQUIRE(changed != NULL);
    tacit__vault_learner row;
    bool found = false;
    TRY(tacit__vault_find_learner(l->reader, l->config->name, &found, &row, NULL, NULL, err));
    if (!found)
        return tacit__fail(err, TACIT_CORRUPT, "learner %.80s is gone from the store",
                           l->config->name);
    *changed = l->ahead || row.shown != l->row.users || row.version != l->row.version;
    if (l->ahead || row.users > l->row.users)
        TRY(reload(l, err));
    TRY(follow_inputs(l, row.shown, err));
    l->row.accepted = row.accepted;
    l->row.shown = l->row.users;
    l->row.version = row.version;
    l->row.epoch = row.epoch;
    return TACIT_OK;
}

/* --- Restoring ---------------------------------------------------------------------------------- */

/* Another process may have begun the same learner. */
static tacit_status add_new(tacit__learner *l, tacit__vault *vault, tacit_error *err)
{
    tacit__vault_learner other;
    bool found = false;
    TRY(tacit__vault_find_learner(vault, l->config->name, &found, &other, NULL, NULL, err));
    return found ? tacit__fail(err, TACIT_SYSTEM, "another process has begun learner %.80s",
                               l->config->name)
                 : tacit__vault_add_learner(vault, l->config->name, &l->row, l->state,
                                            l->state_size, err);
}

static tacit_status begin_new(tacit__learner *l, tacit__vault *vault, tacit_error *err)
{
    tacit_billboard board;
    TRY(tacit_agent_plan(l->agent, &board, err));
    TRY(tacit__learner_save(l, err));
    const tacit_agent_request *q = &l->config->request;
    l->row.limit = q->episodes;
    l->row.version = board.version;
    l->row.visits = q->visits;
    l->row.apart = q->apart;
    l->row.named = q->visits > 1 && q->guarantee.model != TACIT_MODEL_LOCAL;
    TRY(tacit__vault_begin(vault, err));
    return tacit__vault_finish_transaction(vault, add_new(l, vault, err), err);
}

static uint64_t at_least_1(uint64_t n)
{
    return n > 0 ? n : 1;
}

/* A change of visits or apart has its own message, since it looks harmless. */
static tacit_status fail_changed(const tacit__learner *l, tacit_error *err)
{
    const tacit__learner_config *c = l->config;
    const uint64_t visits = at_least_1(c->request.visits), apart = at_least_1(c->request.apart);
    if (visits != l->row.visits || apart != l->row.apart)
        return tacit__fail_at(
            err, TACIT_WRONG_PLAN, c->request.file, (size_t)c->request.line,
            "visits is %llu and apart %llu, but the store has a learner '%s' with visits %llu and "
            "apart %llu; its promise to its users stays in force: give the changed learner another "
            "name",
            (unsigned long long)visits, (unsigned long long)apart, c->name,
            (unsigned long long)l->row.visits, (unsigned long long)l->row.apart);
    return tacit__fail_at(err, TACIT_WRONG_PLAN, c->request.file, (size_t)c->request.line,
                          "the store has a learner '%s' with other settings; its promise to its "
                          "users stays in force: give the changed learner another name",
                          c->name);
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
                                   {names, tacit__action_names_digest(c, names)}},
                  5, fingerprint);
    TRY(tacit__vault_find_learner(vault, c->name, &found, &l->row, &state, &size, err));
    if (!found) {
        memcpy(l->row.fingerprint, fingerprint, sizeof fingerprint);
        const tacit_status begun = begin_new(l, vault, err);
        if (begun != TACIT_SYSTEM)
            return begun;
        TRY(tacit__vault_find_learner(vault, c->name, &found, &l->row, &state, &size, err));
        if (!found)
            return begun;
    }
    const bool same = memcmp(l->row.fingerprint, fingerprint, sizeof fingerprint) == 0;
    const tacit_status status = same ? load_state(l, state, size, err) : fail_changed(l, err);
    tacit__free_secret(state, size);
    return status;
}

tacit_status tacit__learner_restore(tacit__learner *l, tacit__vault *vault, tacit_error *err)
{
    TACIT__REQUIRE(l->agent == NULL && l->monitor == NULL);
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
        status = tacit__body_limit_check_report(
            l->config, size + (l->monitor != NULL ? TACIT__MONITOR_REPORT : 0), err);
    if (status == TACIT_OK)
        status = find_state(l, vault, err);
    if (status != TACIT_OK)
        return status;
    l->first_agent = l->agent;
    l->first_monitor = l->monitor;
    l->kept = l->row.users;
    l->input_size = tacit__episode_size(l->config);
    l->has_leftover = true; /* a crash may have come between a state and the end of its inputs */
    l->next_point = tacit__learner_point_after(l->row.shown);
    return TACIT_OK;
}
