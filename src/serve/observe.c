/* Joint privacy: what came of decisions. The curator is here: it sees what users tell, keeps it sealed, and shows none of it.
 * The decision's id is the idempotency key: what is told twice is told once. */
#include <math.h>
#include <string.h>

#include "agents/outside.h"
#include "base/memory.h"
#include "serve/episode.h"
#include "serve/joint.h"
#include "serve/routes.h"
#include "serve/service.h"

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
    bool full = false;
    status = tacit__vault_is_full(vault, t->learner, &full, err);
    if (status != TACIT_OK)
        return status;
    if (full) { /* nobody will learn from it: how far the user is, is all that is needed */
        tacit__episode_count(&e, &told);
    } else if (!tacit__episode_tell(&e, &told, &r->field)) {
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
        status = tacit__vault_take(vault, t->learner, t->episode, person, NULL, r->data, size,
                                   &answer, err);
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
        (void)tacit__refuse_unwritten(r, status);
    } else if (r->answer_code == PERSON) {
        (void)tacit__refuse(r, 409, "taken_part", NULL, "this user has taken part already");
    } else if (r->answer_code == CONTRADICTION) {
        (void)tacit__refuse(r, 409, "contradiction", r->field,
                            "this step was told otherwise before");
    } else if (r->answer_code == CROWDED) {
        (void)tacit__refuse(r, 503, "crowded", NULL, "too many episodes are open");
    } else {
        r->status = 200;
        tacit__text_print(&r->answer, "{\"status\":\"%s\",\"step\":%lu%s}", words[r->answer_code],
                          (unsigned long)r->ticket.step, r->outside ? ",\"outside\":true" : "");
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

/* A reward that is told; *has as in tacit__body_real. False: refused. */
static bool read_reward(tacit__request *r, const tacit__body *b, const tacit__learner_config *c)
{
    const bool clip = c->request.outside == TACIT_OUTSIDE_CLIP;
    if (!tacit__body_real(b, "reward", clip ? -HUGE_VAL : 0, clip ? HUGE_VAL : 1, &r->has_reward,
                          &r->reward))
        return false;
    r->outside = (r->has_reward && tacit__domain_cut_reward(&r->reward)) || r->outside;
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
    if (!read_reward(r, b, c) ||
        !tacit__joint_read_place(b, c, true, &r->has_next, &r->next_state, &next))
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
    r->chosen = tacit__joint_learner(r, &r->ticket);
    const tacit__learner_config *c = r->chosen != NULL ? tacit__learner_config_of(r->chosen) : NULL;
    bool go_on = c != NULL && prepare(r, &b, c, features);
    tacit__free_secret(features, features != NULL ? r->ticket.n_features * sizeof *features : 0);
    if (!go_on)
        return true;
    r->job = (tacit__job){.apply = apply, .done = done};
    tacit__scribe_post(r->service->scribe, &r->job);
    return false;
}
