/* Joint privacy: episodes, decisions, observations. The curator is here: it sees what users tell, keeps it sealed, and shows
 * none of it. */
#include <math.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "serve/episode.h"
#include "serve/routes.h"
#include "serve/service.h"

enum { MAX_USER = 256 };

/* --- What requests have in common --------------------------------------------------------------- */

/* The learner that is meant; NULL: refused. Episodes are for learners whose curator is trusted. */
static tacit__learner *choose(const tacit__body *b)
{
    char name[TACIT__MAX_NAME + 1];
    bool has;
    tacit__request *r = b->request;
    if (!tacit__body_text(b, "learner", &has, name, sizeof name))
        return NULL;
    tacit__learner *l = tacit__service_learner(r->service, has ? name : r->learner);
    if (l == NULL)
        (void)tacit__refuse(r, 404, "no_learner", "learner",
                            has ? "there is no such learner" : "which learner is meant?");
    else if (tacit__learner_config_of(l)->request.guarantee.model == TACIT_MODEL_LOCAL)
        (void)tacit__refuse(r, 409, "local", "learner",
                            "this learner is local: devices act by the billboard and send reports");
    else
        return l;
    return NULL;
}

/* A new episode of this learner. False: refused. */
static bool begin_episode(const tacit__body *b, tacit__learner *l, tacit__ticket *t)
{
    tacit__request *r = b->request;
    char user[MAX_USER + 1 + sizeof(int64_t)];
    bool has;
    if (!tacit__body_text(b, "user", &has, user + sizeof(int64_t), MAX_USER + 1))
        return false;
    *t = (tacit__ticket){.kind = TACIT__TICKET_EPISODE,
                         .has_person = has,
                         .learner = tacit__learner_id(l),
                         .opened = tacit__service_now()};
    tacit__random_bytes(t->episode, sizeof t->episode);
    if (!has)
        return true;
    memcpy(user, &t->learner, sizeof t->learner);
    tacit__keyed_hash(r->service->key_person, user,
                      sizeof(int64_t) + strlen(user + sizeof(int64_t)), t->person,
                      sizeof t->person);
    tacit__wipe(user, sizeof user);
    pthread_mutex_lock(&r->service->reader_lock);
    tacit_status status =
        tacit__vault_has_person(r->service->reader, t->learner, t->person, t->episode, &has, NULL);
    pthread_mutex_unlock(&r->service->reader_lock);
    if (status != TACIT_OK)
        return !tacit__refuse(r, 503, "store", NULL, "the store cannot be read");
    if (has)
        return !tacit__refuse(r, 409, "taken_part", "user", "this user has taken part already");
    return true;
}

static bool is_expired(const tacit__request *r, const tacit__ticket *t)
{
    int64_t now = tacit__service_now(); /* a clock that went backwards makes nothing older */
    return now > t->opened && (uint64_t)(now - t->opened) > r->service->config.expire;
}

/* The learner of a ticket; NULL: refused. */
static tacit__learner *learner_of(tacit__request *r, const tacit__ticket *t)
{
    tacit__learner *l = tacit__service_learner_by_id(r->service, t->learner);
    if (l == NULL)
        (void)tacit__refuse(r, 404, "no_learner", NULL,
                            "the learner of this episode is not served");
    else if (is_expired(r, t))
        (void)tacit__refuse(r, 410, "expired", NULL, "the episode is too old");
    else
        return l;
    return NULL;
}

static bool is_within(const double *x, size_t n_vectors, size_t n, double bound)
{
    for (size_t i = 0; i < n_vectors; i++) {
        double square = 0;
        for (size_t j = 0; j < n; j++)
            square += x[i * n + j] * x[i * n + j];
        if (!(square <= bound * bound * (1 + 1e-9))) /* the caller's rounding */
            return false;
    }
    return true;
}

/* A state, or features for each action, into `state` or `features` (to be freed). False: refused. *has: it was given; a NULL
 * `has` means that it must be. */
static bool read_place(const tacit__body *b, const tacit__learner_config *c, bool next, bool *has,
                       uint32_t *state, double **features)
{
    const char *state_key = next ? "next_state" : "state",
               *context_key = next ? "next_context" : "context";
    tacit__request *r = b->request;
    bool numbered = c->per_user == 0;
    if (tacit__body_get(b, numbered ? context_key : state_key) != NULL)
        return !tacit__refuse(r, 422, "out_of_range", numbered ? context_key : state_key,
                              numbered ? "this learner has numbered states"
                                       : "this learner has contexts, not states");
    if (numbered) {
        uint64_t number = 0;
        if (!tacit__body_count(b, state_key, c->request.n_states, has, &number))
            return false;
        *state = (uint32_t)number;
        return true;
    }
    double *x = tacit__alloc(c->per_user, sizeof *x);
    if (x == NULL)
        return !tacit__refuse(r, 503, "memory", NULL, "out of memory");
    bool given = true;
    bool good = tacit__body_reals(b, context_key, c->per_user, has, x);
    if (has != NULL)
        given = *has;
    if (good && given &&
        !is_within(x, c->per_user / c->linear.dimension, c->linear.dimension, c->linear.bound))
        good = !tacit__refuse(r, 422, "out_of_range", context_key,
                              "%s must have features of norm at most %g for each action",
                              context_key, c->linear.bound);
    if (!good || !given) {
        tacit__free_secret(x, c->per_user * sizeof *x);
        return good;
    }
    *features = x;
    return true;
}

/* --- Opening and deciding ----------------------------------------------------------------------- */

bool tacit__handle_open(tacit__request *r)
{
    static const char *const keys[] = {"learner", "user", NULL};
    tacit__body b;
    tacit__ticket t;
    tacit__learner *l;
    if (!tacit__body_open(r, keys, &b) || (l = choose(&b)) == NULL || !begin_episode(&b, l, &t))
        return true;
    r->status = 201;
    tacit__text_put(&r->answer, "{\"episode\":\"");
    tacit__ticket_write(r->service->key_ticket, &t, NULL, &r->answer);
    tacit__text_print(&r->answer, "\",\"learner\":\"%s\",\"horizon\":%zu,\"expires\":%lld}",
                      tacit__learner_config_of(l)->name,
                      tacit__learner_config_of(l)->request.horizon,
                      (long long)t.opened + (long long)r->service->config.expire);
    return true;
}

/* The action at the ticket's step, and the ticket of this decision. */
static void decide(tacit__request *r, tacit__learner *l, tacit__ticket *t, const double *features)
{
    const tacit__learner_config *c = tacit__learner_config_of(l);
    const tacit_situation here = {.step = t->step, .state = t->state, .features = features};
    tacit__board *board = tacit__learner_board(l);
    const tacit_billboard *look = tacit__board_look(board);
    double chance = look->policy != NULL ? 0 : tacit__random_unit();
    tacit_status status = tacit__board_act(board, &here, chance, &t->action, &t->probability, NULL);
    t->version = look->version;
    tacit__board_give(board);
    if (status != TACIT_OK) {
        (void)tacit__refuse(r, 500, "internal", NULL, "the learner could not decide");
        return;
    }
    t->kind = TACIT__TICKET_DECISION;
    t->n_features = (uint32_t)c->per_user;
    r->status = 200;
    tacit__text_print(&r->answer, "{\"action\":%lu,\"probability\":", (unsigned long)t->action);
    tacit__text_number(&r->answer, t->probability);
    tacit__text_print(&r->answer, ",\"version\":%llu,\"step\":%lu,\"decision\":\"",
                      (unsigned long long)t->version, (unsigned long)t->step);
    tacit__ticket_write(r->service->key_ticket, t, features, &r->answer);
    tacit__text_put(&r->answer, "\"}");
}

/* How many steps of an episode have been observed. False: refused. */
static bool count_steps(tacit__request *r, const tacit__ticket *t, const tacit__learner_config *c,
                        size_t *n)
{
    uint8_t *data = NULL;
    size_t size = 0;
    bool seen = false;
    pthread_mutex_lock(&r->service->reader_lock);
    tacit_status status =
        tacit__vault_held(r->service->reader, t->learner, t->episode, &data, &size, &seen, NULL);
    pthread_mutex_unlock(&r->service->reader_lock);
    *n = 0;
    if (status == TACIT_OK && size == tacit__episode_size(c)) {
        tacit__episode e = tacit__episode_view(c, data);
        *n = tacit__episode_length(&e);
    }
    tacit__free_secret(data, size);
    if (status != TACIT_OK)
        return !tacit__refuse(r, 503, "store", NULL, "the store cannot be read");
    if (seen || *n == c->request.horizon)
        return !tacit__refuse(r, 409, "finished", NULL, "the episode has no further steps");
    return true;
}

bool tacit__handle_decide(tacit__request *r)
{
    static const char *const keys[] = {"state", "context", "step", NULL};
    tacit__body b;
    tacit__ticket t;
    tacit__learner *l;
    if (!tacit__ticket_read(r->service->key_ticket, TACIT__TICKET_EPISODE, r->path_id,
                            r->path_id_length, &t, NULL))
        return tacit__refuse(r, 404, "no_episode", NULL, "there is no such episode");
    if (!tacit__body_open(r, keys, &b) || (l = learner_of(r, &t)) == NULL)
        return true;
    const tacit__learner_config *c = tacit__learner_config_of(l);
    double *features = NULL;
    uint64_t step = 0;
    bool has_step;
    if (!tacit__body_count(&b, "step", c->request.horizon, &has_step, &step) ||
        !read_place(&b, c, false, NULL, &t.state, &features))
        return true;
    size_t steps = (size_t)step;
    if (has_step || c->request.horizon == 1 || count_steps(r, &t, c, &steps)) {
        t.step = (uint32_t)steps;
        decide(r, l, &t, features);
    }
    tacit__free_secret(features, features != NULL ? c->per_user * sizeof *features : 0);
    return true;
}

bool tacit__handle_decide_once(tacit__request *r)
{
    static const char *const keys[] = {"learner", "user", "state", "context", NULL};
    tacit__body b;
    tacit__ticket t;
    tacit__learner *l;
    if (!tacit__body_open(r, keys, &b) || (l = choose(&b)) == NULL)
        return true;
    const tacit__learner_config *c = tacit__learner_config_of(l);
    if (c->request.horizon != 1)
        return tacit__refuse(r, 409, "episodes", "learner",
                             "this learner has episodes of several steps: open one first");
    double *features = NULL;
    uint32_t state = 0;
    if (!read_place(&b, c, false, NULL, &state, &features))
        return true;
    if (begin_episode(&b, l, &t)) {
        t.state = state;
        decide(r, l, &t, features);
    }
    tacit__free_secret(features, features != NULL ? c->per_user * sizeof *features : 0);
    return true;
}

/* --- Observing ---------------------------------------------------------------------------------- */

typedef enum outcome { OPEN, FINISHED, FULL, PERSON, CONTRADICTION, CROWDED } outcome;

/* r->data: the episode, then the features of the decision and of what follows. */
static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    tacit__request *r = tacit__request_of(job);
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    const tacit__ticket *t = &r->ticket;
    size_t size = tacit__episode_size(c), held = 0;
    uint8_t *before = NULL;
    bool seen = false;
    tacit_status status =
        tacit__vault_held(vault, t->learner, t->episode, &before, &held, &seen, err);
    if (status != TACIT_OK)
        return status;
    memset(r->data, 0, size);
    if (held == size)
        memcpy(r->data, before, size);
    tacit__free_secret(before, held);
    r->is_user = r->opens = r->closes = false;
    r->answer_code = FINISHED;
    if (seen)
        return TACIT_OK;
    bool is_new = held == 0;
    const double *features = (const double *)(void *)(r->data + (size + 7) / 8 * 8);
    tacit__told told = {.step = t->step,
                        .state = t->state,
                        .action = t->action,
                        .features = features,
                        .has_reward = r->has_reward,
                        .has_next = r->has_next,
                        .reward = r->reward,
                        .next_state = r->next_state,
                        .next_features = features + c->per_user};
    tacit__episode e = tacit__episode_view(c, r->data);
    if (!tacit__episode_tell(&e, &told, &r->field)) {
        r->answer_code = CONTRADICTION;
        return TACIT_OK;
    }
    const uint8_t *person = t->has_person ? t->person : NULL;
    tacit__vault_answer answer;
    bool finished = tacit__episode_is_finished(&e);
    if (!finished && is_new &&
        atomic_load(&r->service->open_episodes) >= r->service->config.limits.episodes) {
        r->answer_code = CROWDED;
        return TACIT_OK;
    }
    if (finished)
        status =
            tacit__vault_take(vault, t->learner, t->episode, person, r->data, size, &answer, err);
    else
        status = tacit__vault_hold(vault, t->learner, t->episode, person, t->opened, r->data, size,
                                   &answer, err);
    r->answer_code = answer == TACIT__VAULT_PERSON ? PERSON
                     : answer == TACIT__VAULT_FULL ? FULL
                     : finished                    ? FINISHED
                                                   : OPEN;
    r->is_user = finished && answer == TACIT__VAULT_TAKEN;
    r->opens = is_new && !finished && answer == TACIT__VAULT_TAKEN;
    r->closes = !is_new && finished && answer != TACIT__VAULT_PERSON;
    return status;
}

static void done(tacit__job *job, tacit_status status)
{
    tacit__request *r = tacit__request_of(job);
    static const char *const words[] = {"open", "finished", "full"};
    if (status != TACIT_OK) {
        (void)tacit__refuse(r, 503, "store", NULL,
                            "the store could not be written; nothing was kept");
    } else if (r->answer_code == PERSON) {
        (void)tacit__refuse(r, 409, "taken_part", NULL, "this user has taken part already");
    } else if (r->answer_code == CONTRADICTION) {
        (void)tacit__refuse(r, 409, "contradiction", r->field,
                            "this step was told otherwise before");
    } else if (r->answer_code == CROWDED) {
        (void)tacit__refuse(r, 503, "crowded", NULL, "too many episodes are open");
    } else {
        r->status = 200;
        tacit__text_print(&r->answer, "{\"status\":\"%s\",\"step\":%lu}", words[r->answer_code],
                          (unsigned long)r->ticket.step);
    }
    if (status == TACIT_OK) {
        if (r->opens)
            atomic_fetch_add(&r->service->open_episodes, 1);
        if (r->closes)
            atomic_fetch_sub(&r->service->open_episodes, 1);
        if (r->is_user) {
            tacit__learner_accepted(r->chosen);
            tacit__learner_wake(r->chosen);
        }
    }
    r->resume(r);
}

/* The ticket of a body's decision. False: refused. */
static bool read_decision(const tacit__body *b, tacit__ticket *t, double **features)
{
    tacit__request *r = b->request;
    const tacit__json_node *node = tacit__body_get(b, "decision");
    if (node == NULL)
        return !tacit__refuse(r, 422, "missing", "decision", "decision is missing");
    if (node->kind != TACIT__JSON_STRING ||
        !tacit__ticket_read(r->service->key_ticket, TACIT__TICKET_DECISION, node->text,
                            node->length, t, features))
        return !tacit__refuse(r, 422, "out_of_range", "decision",
                              "decision must be what decide has given");
    if (r->path_id != NULL) {
        tacit__ticket episode;
        if (!tacit__ticket_read(r->service->key_ticket, TACIT__TICKET_EPISODE, r->path_id,
                                r->path_id_length, &episode, NULL))
            return !tacit__refuse(r, 404, "no_episode", NULL, "there is no such episode");
        if (memcmp(episode.episode, t->episode, sizeof t->episode) != 0)
            return !tacit__refuse(r, 422, "out_of_range", "decision",
                                  "decision is one of another episode");
    }
    return true;
}

static bool prepare(tacit__request *r, const tacit__body *b, const tacit__learner_config *c,
                    const double *features)
{
    double *next = NULL;
    bool last = r->ticket.step + 1 == c->request.horizon;
    if (r->ticket.n_features != c->per_user || r->ticket.step >= c->request.horizon)
        return !tacit__refuse(r, 422, "out_of_range", "decision",
                              "decision must be what decide has given");
    if (!tacit__body_real(b, "reward", 0, 1, &r->has_reward, &r->reward) ||
        !read_place(b, c, true, &r->has_next, &r->next_state, &next))
        return false;
    size_t size = (tacit__episode_size(c) + 7) / 8 * 8, row = c->per_user * sizeof *next;
    bool good = r->has_reward || r->has_next;
    if (!good)
        (void)tacit__refuse(r, 422, "missing", "reward",
                            last ? "reward or next_state must be given" : "reward is missing");
    r->data_size = size + 2 * row;
    r->data = good ? tacit__alloc(r->data_size, 1) : NULL;
    if (good && r->data == NULL)
        good = !tacit__refuse(r, 503, "memory", NULL, "out of memory");
    if (good && row > 0) {
        memcpy(r->data + size, features, row);
        if (next != NULL)
            memcpy(r->data + size + row, next, row);
    }
    tacit__free_secret(next, next != NULL ? row : 0);
    return good;
}

bool tacit__handle_observe(tacit__request *r)
{
    static const char *const keys[] = {"decision", "reward", "next_state", "next_context", NULL};
    tacit__body b;
    double *features = NULL;
    if (!tacit__body_open(r, keys, &b) || !read_decision(&b, &r->ticket, &features)) {
        tacit__free(features);
        return true;
    }
    r->chosen = learner_of(r, &r->ticket);
    const tacit__learner_config *c = r->chosen != NULL ? tacit__learner_config_of(r->chosen) : NULL;
    bool go_on = c != NULL && prepare(r, &b, c, features);
    tacit__free_secret(features, features != NULL ? r->ticket.n_features * sizeof *features : 0);
    if (!go_on)
        return true;
    r->job = (tacit__job){.apply = apply, .done = done};
    tacit__scribe_post(r->service->scribe, &r->job);
    return false;
}
