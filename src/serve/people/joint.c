/* Joint privacy: opens episodes and decides in them. serve/people/observe.c handles the outcomes.
 *
 * A decision only reads the billboard, so it costs no privacy. Every user gets an action, even one who has
 * already taken part or who comes after the last user; the answer then says that the learner will not learn
 * from the outcome. Whether a person comes back too soon is known only when the episode is finished, since
 * users are counted in that order: see serve/people/observe.c. */
#include <string.h>

#include "base/error.h"
#include "noise/seal.h"
#include "serve/http/batch.h"
#include "serve/http/idempotency.h"
#include "serve/http/routes.h"
#include "serve/learner/action_names.h"
#include "serve/people/decide_cache.h"
#include "serve/people/episode.h"
#include "serve/people/joint.h"
#include "serve/people/situation.h"
#include "serve/service_inside.h"
#include "text/json_text.h"
#include "text/settings.h"

/* A stated choice: somebody has to look after a store that does not learn. */
enum { CLOSED_SECONDS = 60 };

/* --- What requests have in common --------------------------------------------------------------- */

/* Finds the learner that the request means. Returns NULL if the request was refused. Episodes are for
 * learners whose curator is trusted. */
static tacit__learner *choose(const tacit__body *b)
{
    char name[TACIT__MAX_NAME + 1];
    bool has;
    tacit__request *r = b->request;
    if (!tacit__body_read(b, &tacit__field_learner, &has, name))
        return NULL;
    tacit__learner *l = tacit__service_choose(r, has ? name : NULL);
    if (l == NULL)
        return NULL;
    if (tacit__learner_config_of(l)->request.guarantee.model == TACIT_MODEL_LOCAL)
        tacit__refuse(r, 409, "local", "learner",
                      "this learner is local: devices act by the billboard and send reports");
    else
        return l;
    return NULL;
}

bool tacit__joint_read_user(const tacit__body *b, const tacit__learner_config *c, bool *has,
                            char id[TACIT__MAX_USER + 1])
{
    TACIT__REQUIRE(c != NULL && has != NULL);
    const bool required = c->user_required;
    const uint64_t visits = c->request.visits;
    static const tacit__field field = {"user", TACIT__FIELD_TEXT, .low = 1, .high = TACIT__MAX_USER,
                                       .expected = "a string of 1 to 256 bytes"};
    tacit__request *r = b->request;
    if (!tacit__body_read(b, &field, has, id))
        return false;
    if (r->user == NULL && required && !*has && r->body_size == 0 && r->nodes == NULL) {
        tacit__refuse_missing(r, field.name);
        return false;
    }
    if (r->user == NULL && required && !*has) {
        tacit__refuse(r, 422, "missing", "user",
                      visits > 1 ? "user is missing: this learner counts the visits of each "
                                   "person, so it accepts no users without an id"
                                 : "user is missing: this learner accepts no users without an id");
        return false;
    }
    if (r->user == NULL)
        return true;
    const size_t length = strlen(r->user);
    if (*has) {
        tacit__refuse(r, 422, "out_of_range", "user",
                      "user is given twice: in the body and in the header Tacit-User");
        return false;
    }
    if (length == 0 || length > TACIT__MAX_USER) {
        tacit__refuse(r, 422, "out_of_range", "user",
                      "the header Tacit-User must have 1 to %d bytes", TACIT__MAX_USER);
        return false;
    }
    memcpy(id, r->user, length + 1);
    *has = true;
    return true;
}

void tacit__joint_hash_user(const tacit_service *service, int64_t learner, const char *id,
                            uint8_t person[TACIT__VAULT_KEY])
{
    char text[sizeof learner + TACIT__MAX_USER + 1];
    const size_t length = strlen(id);
    TACIT__REQUIRE(length <= TACIT__MAX_USER);
    memcpy(text, &learner, sizeof learner);
    memcpy(text + sizeof learner, id, length + 1);
    tacit__keyed_hash(service->key_person, text, sizeof learner + length, person, TACIT__VAULT_KEY);
    tacit__wipe(text, sizeof text);
}

/* Begins a new episode of this learner, or finds the one that this request has opened before. Returns false
 * if the request was refused. */
static bool begin_episode(const tacit__body *b, tacit__learner *l, tacit__ticket *t)
{
    tacit__request *r = b->request;
    char user[TACIT__MAX_USER + 1];
    bool has;
    if (!tacit__joint_read_user(b, tacit__learner_config_of(l), &has, user) ||
        !tacit__idempotency_read(r, false, tacit__learner_id(l), NULL))
        return false;
    *t = (tacit__ticket){.kind = TACIT__TICKET_EPISODE,
                         .has_person = has,
                         .learner = tacit__learner_id(l),
                         .opened = tacit__clock_now(&r->service->clock)};
    if (r->keyed)
        tacit__idempotency_episode(r, t->episode);
    else
        tacit__random_few(t->episode, sizeof t->episode);
    if (has)
        tacit__joint_hash_user(r->service, t->learner, user, t->person);
    tacit__wipe(user, sizeof user);
    return true;
}

/* Sets in the ticket whether the learner will learn from the episode. How many users came is public; whether
 * this user has taken part is told to nobody else. A user who has come as often as they may stays one who
 * has. Returns false if the request was refused. */
static bool predict_learned(tacit__request *r, tacit__ticket *t)
{
    bool returning = t->unlearned == TACIT__RETURNING;
    const bool several = tacit__learner_config_of(r->chosen)->request.visits > 1;
    if (t->has_person && !returning && !tacit__decide_cache_find_returning(r, t, &returning))
        return false;
    const tacit__learner_figures f = tacit__learner_figures_of(r->chosen);
    const bool full = f.accepted >= f.limit, was_returning = t->unlearned == TACIT__RETURNING;
    t->unlearned = returning && (was_returning || !several || !full) ? TACIT__RETURNING
                   : f.store_status != TACIT__STORE_FINE             ? TACIT__CLOSED
                   : full                                            ? TACIT__FULL
                                                                     : TACIT__LEARNED;
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
        tacit__refuse(r, 404, "no_learner", NULL,
                      "the learner of this episode is no longer served; open another episode");
    else if (is_expired(r, t))
        tacit__refuse(r, 410, "expired", NULL,
                      "the episode is older than %llu seconds; open another one",
                      (unsigned long long)r->service->config.expire);
    else if (tacit__service_may_use(r, l))
        return l;
    return NULL;
}

bool tacit__joint_is_closed(tacit__request *r)
{
    const tacit__store_status store_status = tacit__vault_store_status(r->service->vault);
    if (store_status == TACIT__STORE_FINE || store_status == TACIT__STORE_FENCED)
        /* who is fenced learns it from the transaction: see tacit__refuse_unwritten */
        return false;
    r->retry_after = CLOSED_SECONDS;
    tacit__refuse(r, 503, tacit__store_status_name(store_status), NULL,
                  "%s; nothing was kept: send it again when /readyz is 200",
                  tacit__store_status_reason(store_status));
    return true;
}

/* --- Opening and deciding ----------------------------------------------------------------------- */

const char *tacit__joint_returning(const tacit__learner_config *c)
{
    return c->request.visits > 1 ? "visits_used" : "taken_part";
}

/* Writes why nothing will be learned, if so. */
static void put_unlearned(tacit__request *r)
{
    const uint8_t why = r->ticket.unlearned;
    if (why != TACIT__LEARNED)
        tacit__text_print(&r->answer, ",\"learned\":false,\"reason\":\"%s\"",
                          why == TACIT__RETURNING
                              ? tacit__joint_returning(tacit__learner_config_of(r->chosen))
                          : why == TACIT__FULL ? "full"
                                               : "closed");
}

static void answer_open(tacit__request *r)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    r->status = 201;
    tacit__text_put(&r->answer, "{\"episode\":\"");
    tacit__ticket_write(r->service->key_ticket, &r->ticket, NULL, r->keyed, &r->answer);
    tacit__text_print(&r->answer, "\",\"learner\":\"%s\",\"horizon\":%zu,\"expires\":%lld", c->name,
                      c->request.horizon, (long long)r->expires);
    put_unlearned(r);
    tacit__text_put(&r->answer, "}");
}

bool tacit__handle_open(tacit__request *r)
{
    tacit__body b;
    bool found;
    if (!tacit__body_open(r, &b) || (r->chosen = choose(&b)) == NULL ||
        !begin_episode(&b, r->chosen, &r->ticket))
        return true;
    r->expires = tacit__clock_to_wall(&r->service->clock,
                                      r->ticket.opened + (int64_t)r->service->config.expire);
    if (!tacit__idempotency_recall(r, &r->ticket, &found) ||
        (!found && !predict_learned(r, &r->ticket)))
        return true;
    if (r->keyed && !found)
        return tacit__idempotency_store(r, answer_open);
    answer_open(r);
    return true;
}

/* Chooses the action at the step of r->ticket, and makes the ticket of this decision. r->data are the
 * features. Returns false if the request was refused. */
static bool decide(tacit__request *r)
{
    TACIT__REQUIRE(r->chosen != NULL);
    const double *features = (const double *)(void *)r->data;
    tacit__ticket *t = &r->ticket;
    const tacit_situation here = {.step = t->step, .state = t->state, .features = features};
    tacit__board *board = tacit__learner_acquire_board(r->chosen);
    const tacit_billboard *billboard = tacit__board_view(board);
    double chance = billboard->policy != NULL ? 0
                    : r->keyed                ? tacit__idempotency_chance(r)
                                              : tacit__random_unit();
    tacit_status status = tacit__board_act(board, &here, chance, &t->action, &t->probability, NULL);
    t->version = billboard->version;
    tacit__board_release(board);
    if (status != TACIT_OK) {
        tacit__refuse(r, 500, "internal", NULL, "the learner could not decide");
        return false;
    }
    return true;
}

static void answer_decision(tacit__request *r)
{
    TACIT__REQUIRE(r->chosen != NULL);
    tacit__ticket *t = &r->ticket;
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    uint8_t *situation = NULL;
    t->kind = TACIT__TICKET_DECISION;
    t->packed = c->chosen_only && !c->log_decisions; /* the record has all actions' features */
    t->n_features = (uint32_t)(t->packed ? c->known.features : c->per_user);
    if (c->log_decisions) {
        situation = r->data;
    } else if (c->per_user > 0) {
        situation = r->data + c->per_user * sizeof(double);
        tacit__stored_situation_pack(c, (const double *)(void *)r->data, t->action, situation);
    }
    r->status = 200;
    tacit__text_put(&r->answer, "{\"action\":");
    tacit__action_names_write(c, t->action, &r->answer);
    tacit__text_put(&r->answer, ",\"probability\":");
    tacit__text_number(&r->answer, t->probability);
    tacit__text_put(&r->answer, ",\"version\":");
    tacit__text_count(&r->answer, t->version);
    tacit__text_put(&r->answer, ",\"step\":");
    tacit__text_count(&r->answer, t->step);
    tacit__text_put(&r->answer, ",\"decision\":\"");
    tacit__ticket_write(r->service->key_ticket, t, situation, r->keyed, &r->answer);
    tacit__text_put(&r->answer, "\"");
    put_unlearned(r);
    tacit__text_put(&r->answer, r->outside ? ",\"outside\":true}" : "}");
}

/* Finishes both ways to decide: an answer with a key is stored first. */
static bool answer_or_keep(tacit__request *r, bool found)
{
    if (!found && !decide(r))
        return true;
    if (r->keyed && !found)
        return tacit__idempotency_store(r, answer_decision);
    answer_decision(r);
    return true;
}

/* Reads the situation into r->ticket and r->data. Returns false if the request was refused. */
static bool read_situation(tacit__request *r, const tacit__body *b)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    double *features = NULL;
    if (!tacit__situation_read(b, c, false, NULL, &r->ticket.state, &features))
        return false;
    r->data = (uint8_t *)features;
    r->data_size = features != NULL ? tacit__situation_capacity(c) : 0;
    return true;
}

/* Counts the observed steps of an episode. Returns false if the request was refused. */
static bool count_steps(tacit__request *r, const tacit__ticket *t, size_t *n)
{
    bool over = false;
    if (!tacit__decide_cache_find_steps(r, t, n, &over))
        return false;
    if (over)
        tacit__refuse(r, 409, "finished", NULL,
                      "the episode has no further steps; open another one");
    return !over;
}

/* Reads the step from the body or the query. Returns false if the request was refused. */
static bool read_step(const tacit__body *b, const tacit__learner_config *c, bool *has,
                      uint64_t *step)
{
    const tacit__field field = {"step", TACIT__FIELD_COUNT, .high = c->request.horizon - 1};
    tacit__request *r = b->request;
    if (!tacit__body_read(b, &field, has, step))
        return false;
    if (r->step == NULL)
        return true;
    int64_t number = -1;
    const bool good = tacit__read_integer(r->step, strlen(r->step), &number) && number >= 0 &&
                      (uint64_t)number < c->request.horizon;
    if (good && *has && (uint64_t)number != *step) {
        tacit__refuse(r, 422, "out_of_range", "step",
                      "step differs between the body and the query: give it once");
        return false;
    }
    if (good) {
        *has = true;
        *step = (uint64_t)number;
        return true;
    }
    tacit__refuse(r, 422, "out_of_range", "step", "step must be a whole number from 0 to %zu",
                  c->request.horizon - 1);
    return false;
}

bool tacit__handle_decide(tacit__request *r)
{
    tacit__body b;
    tacit__ticket *t = &r->ticket;
    if (!tacit__ticket_read(r->service->key_ticket, TACIT__TICKET_EPISODE, r->path_id,
                            r->path_id_length, t, NULL)) {
        tacit__refuse(
            r, 404, "no_episode", NULL,
            "there is no such episode: its id must be one that POST /v1/episodes returned");
        return true;
    }
    if (!tacit__body_open(r, &b) || (r->chosen = tacit__joint_learner(r, t)) == NULL)
        return true;
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    uint64_t step = 0;
    bool has_step, found;
    if (!read_step(&b, c, &has_step, &step) || !read_situation(r, &b) ||
        !tacit__idempotency_read(r, false, t->learner, t->episode) ||
        !tacit__idempotency_recall(r, t, &found) || (!found && !predict_learned(r, t)))
        return true;
    size_t steps = (size_t)step;
    if (!found && !has_step && c->request.horizon > 1 && !count_steps(r, t, &steps))
        return true;
    if (!found)
        t->step = (uint32_t)steps;
    return answer_or_keep(r, found);
}

static bool decide_once(tacit__request *r)
{
    tacit__body b;
    bool found;
    if (!tacit__body_open(r, &b) || (r->chosen = choose(&b)) == NULL)
        return true;
    if (tacit__learner_config_of(r->chosen)->request.horizon != 1) {
        tacit__refuse(r, 409, "episodes", "learner",
                      "this learner has episodes of several steps: open one by POST /v1/episodes");
        return true;
    }
    if (!begin_episode(&b, r->chosen, &r->ticket) || !read_situation(r, &b) ||
        !tacit__idempotency_recall(r, &r->ticket, &found) ||
        (!found && !predict_learned(r, &r->ticket)))
        return true;
    return answer_or_keep(r, found);
}

bool tacit__handle_decide_once(tacit__request *r)
{
    return tacit__batch_handle(r, decide_once);
}
