/* Joint privacy: episodes are opened, and what to do in them is decided. What comes of it is in serve/observe.c. */
#include <string.h>

#include "agents/outside.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "serve/again.h"
#include "serve/episode.h"
#include "serve/joint.h"
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
    tacit__learner *l = tacit__service_choose(r, has ? name : NULL);
    if (l == NULL)
        return NULL;
    if (tacit__learner_config_of(l)->request.guarantee.model == TACIT_MODEL_LOCAL)
        (void)tacit__refuse(r, 409, "local", "learner",
                            "this learner is local: devices act by the billboard and send reports");
    else
        return l;
    return NULL;
}

/* A new episode of this learner, or the one that this request has opened before. False: refused. */
static bool begin_episode(const tacit__body *b, tacit__learner *l, tacit__ticket *t)
{
    tacit__request *r = b->request;
    char user[MAX_USER + 1 + sizeof(int64_t)];
    bool has;
    if (!tacit__body_text(b, "user", &has, user + sizeof(int64_t), MAX_USER + 1) ||
        !tacit__again_read(r, false, tacit__learner_id(l), NULL))
        return false;
    *t = (tacit__ticket){.kind = TACIT__TICKET_EPISODE,
                         .has_person = has,
                         .learner = tacit__learner_id(l),
                         .opened = tacit__clock_now(&r->service->clock)};
    r->expires =
        tacit__clock_wall(&r->service->clock, t->opened + (int64_t)r->service->config.expire);
    if (r->keyed)
        tacit__again_episode(r, t->episode);
    else
        tacit__random_bytes(t->episode, sizeof t->episode);
    if (!has)
        return true;
    memcpy(user, &t->learner, sizeof t->learner);
    tacit__keyed_hash(r->service->key_person, user,
                      sizeof(int64_t) + strlen(user + sizeof(int64_t)), t->person,
                      sizeof t->person);
    tacit__wipe(user, sizeof user);
    return true;
}

/* Whether the user has not taken part in another episode. False: refused. */
static bool may_take_part(tacit__request *r, const tacit__ticket *t)
{
    bool has = false;
    if (!t->has_person)
        return true;
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
    int64_t now = tacit__clock_now(&r->service->clock); /* a crash may have set it back a little */
    return now > t->opened && (uint64_t)(now - t->opened) > r->service->config.expire;
}

tacit__learner *tacit__joint_learner(tacit__request *r, const tacit__ticket *t)
{
    tacit__learner *l = tacit__service_learner_by_id(r->service, t->learner);
    if (l == NULL)
        (void)tacit__refuse(r, 404, "no_learner", NULL,
                            "the learner of this episode is not served");
    else if (is_expired(r, t))
        (void)tacit__refuse(r, 410, "expired", NULL, "the episode is too old");
    else if (tacit__service_may_use(r, l))
        return l;
    return NULL;
}

bool tacit__joint_read_place(const tacit__body *b, const tacit__learner_config *c, bool next,
                             bool *has, uint32_t *state, double **features)
{
    const char *state_key = next ? "next_state" : "state",
               *context_key = next ? "next_context" : "context";
    tacit__request *r = b->request;
    bool numbered = c->per_user == 0;
    if (tacit__body_get(b, numbered ? context_key : state_key) != NULL)
        return !tacit__refuse(r, 422, "out_of_range", numbered ? context_key : state_key,
                              numbered ? "this learner has numbered states"
                                       : "this learner has contexts, not states");
    const bool clip = c->request.outside == TACIT_OUTSIDE_CLIP;
    if (numbered && clip)
        return tacit__body_index(b, state_key, c->request.n_states, has, state, &r->outside);
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
    if (good && given && clip) {
        const tacit__domain domain = tacit__domain_of(&c->request);
        r->outside = tacit__domain_cut_features(&domain, x) || r->outside;
    } else if (good && given && !tacit__known_allows(&c->known, &c->request, x)) {
        good = !(c->known.simplex
                     ? tacit__refuse(r, 422, "out_of_range", context_key,
                                     "%s must have features that are not negative and sum to 1 "
                                     "for each action",
                                     context_key)
                     : tacit__refuse(r, 422, "out_of_range", context_key,
                                     "%s must have features of norm at most %g for each action",
                                     context_key, c->known.bound));
    }
    if (!good || !given) {
        tacit__free_secret(x, c->per_user * sizeof *x);
        return good;
    }
    *features = x;
    return true;
}

/* --- Opening and deciding ----------------------------------------------------------------------- */

static void answer_open(tacit__request *r)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    r->status = 201;
    tacit__text_put(&r->answer, "{\"episode\":\"");
    tacit__ticket_write(r->service->key_ticket, &r->ticket, NULL, &r->answer);
    tacit__text_print(&r->answer, "\",\"learner\":\"%s\",\"horizon\":%zu,\"expires\":%lld}",
                      c->name, c->request.horizon, (long long)r->expires);
}

bool tacit__handle_open(tacit__request *r)
{
    tacit__body b;
    bool found;
    if (!tacit__body_open(r, &b) || (r->chosen = choose(&b)) == NULL ||
        !begin_episode(&b, r->chosen, &r->ticket) || !tacit__again_recall(r, &r->ticket, &found) ||
        (!found && !may_take_part(r, &r->ticket)))
        return true;
    if (r->keyed && !found) {
        tacit__again_post(r, answer_open);
        return false;
    }
    answer_open(r);
    return true;
}

/* The action at r->ticket's step, and the ticket of this decision; r->data are the features. False: refused. */
static bool decide(tacit__request *r)
{
    const double *features = (const double *)(void *)r->data;
    tacit__ticket *t = &r->ticket;
    const tacit_situation here = {.step = t->step, .state = t->state, .features = features};
    tacit__board *board = tacit__learner_board(r->chosen);
    const tacit_billboard *look = tacit__board_look(board);
    double chance = look->policy != NULL ? 0 : tacit__random_unit();
    tacit_status status = tacit__board_act(board, &here, chance, &t->action, &t->probability, NULL);
    t->version = look->version;
    tacit__board_give(board);
    if (status != TACIT_OK)
        return !tacit__refuse(r, 500, "internal", NULL, "the learner could not decide");
    return true;
}

static void answer_decision(tacit__request *r)
{
    tacit__ticket *t = &r->ticket;
    t->kind = TACIT__TICKET_DECISION;
    t->n_features = (uint32_t)tacit__learner_config_of(r->chosen)->per_user;
    r->status = 200;
    tacit__text_print(&r->answer, "{\"action\":%lu,\"probability\":", (unsigned long)t->action);
    tacit__text_number(&r->answer, t->probability);
    tacit__text_print(&r->answer, ",\"version\":%llu,\"step\":%lu,\"decision\":\"",
                      (unsigned long long)t->version, (unsigned long)t->step);
    tacit__ticket_write(r->service->key_ticket, t, (const double *)(void *)r->data, &r->answer);
    tacit__text_put(&r->answer, r->outside ? "\",\"outside\":true}" : "\"}");
}

/* The end of both ways to decide: what is kept under a key is answered when it is on disk. */
static bool answer_or_keep(tacit__request *r, bool found)
{
    if (!found && !decide(r))
        return true;
    if (r->keyed && !found) {
        tacit__again_post(r, answer_decision);
        return false;
    }
    answer_decision(r);
    return true;
}

/* Where the user stands, into r->ticket and r->data. False: refused. */
static bool take_place(tacit__request *r, const tacit__body *b)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    double *features = NULL;
    if (!tacit__joint_read_place(b, c, false, NULL, &r->ticket.state, &features))
        return false;
    r->data = (uint8_t *)features;
    r->data_size = features != NULL ? c->per_user * sizeof *features : 0;
    return true;
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
    tacit__body b;
    tacit__ticket *t = &r->ticket;
    if (!tacit__ticket_read(r->service->key_ticket, TACIT__TICKET_EPISODE, r->path_id,
                            r->path_id_length, t, NULL))
        return tacit__refuse(r, 404, "no_episode", NULL, "there is no such episode");
    if (!tacit__body_open(r, &b) || (r->chosen = tacit__joint_learner(r, t)) == NULL)
        return true;
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    uint64_t step = 0;
    bool has_step, found;
    if (!tacit__body_count(&b, "step", c->request.horizon, &has_step, &step) ||
        !take_place(r, &b) || !tacit__again_read(r, false, t->learner, t->episode) ||
        !tacit__again_recall(r, t, &found))
        return true;
    size_t steps = (size_t)step;
    if (!found && !has_step && c->request.horizon > 1 && !count_steps(r, t, c, &steps))
        return true;
    if (!found)
        t->step = (uint32_t)steps;
    return answer_or_keep(r, found);
}

bool tacit__handle_decide_once(tacit__request *r)
{
    tacit__body b;
    bool found;
    if (!tacit__body_open(r, &b) || (r->chosen = choose(&b)) == NULL)
        return true;
    if (tacit__learner_config_of(r->chosen)->request.horizon != 1)
        return tacit__refuse(r, 409, "episodes", "learner",
                             "this learner has episodes of several steps: open one first");
    if (!begin_episode(&b, r->chosen, &r->ticket) || !take_place(r, &b) ||
        !tacit__again_recall(r, &r->ticket, &found) || (!found && !may_take_part(r, &r->ticket)))
        return true;
    return answer_or_keep(r, found);
}
