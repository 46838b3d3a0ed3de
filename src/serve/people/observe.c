/* Joint privacy: receives the outcomes of decisions. This is the curator's side: it sees what users send,
 * keeps it sealed, and publishes none of it. The id of the decision is the idempotency key: an observation
 * that is sent twice counts once.
 *
 * If the learner does not learn from a user (one who has taken part, or comes after the last one), the
 * service acknowledges the observation and stores only the progress of the episode. This is decided here,
 * inside the transaction, whatever the ticket says: of two open episodes of one user, the first one with an
 * observation counts. If the store must not learn, nothing is acknowledged.
 *
 * If people may come back, a visit gets its number among the users when its episode is finished. Only then it
 * counts, or is too soon: of two open episodes, the first one to finish counts. The answer to an episode
 * never changes afterwards. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/domain.h"
#include "base/error.h"
#include "base/memory.h"
#include "serve/http/batch.h"
#include "serve/http/routes.h"
#include "serve/people/decide_cache.h"
#include "serve/people/decision_log.h"
#include "serve/people/episode.h"
#include "serve/people/joint.h"
#include "serve/people/quota.h"
#include "serve/people/situation.h"
#include "serve/service_inside.h"

typedef enum outcome {
    OPEN,
    FINISHED,
    FULL,
    RETURNING,
    TOO_SOON,
    CONTRADICTION,
    CROWDED,
    OVER_QUOTA
} outcome;

enum { CROWDED_SECONDS = 10 }; /* a stated choice: episodes finish, and old ones expire */

static size_t aligned(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* The observation of a request. r->data has the episode, then the situations of the decision and of the
 * outcome, then the features of all actions if the decision log needs them
 * (tacit__decision_log_extra_size). */
static tacit__observation observation_of(const tacit__request *r, const tacit__learner_config *c)
{
    const uint8_t *situation = r->data + aligned(tacit__episode_size(c));
    return (tacit__observation){.step = r->ticket.step,
                                .state = r->ticket.state,
                                .action = r->ticket.action,
                                .situation = situation,
                                .has_reward = r->has_reward,
                                .has_next = r->has_next,
                                .done = r->is_done,
                                .reward = r->reward,
                                .next_state = r->next_state,
                                .next_situation = situation + tacit__stored_situation_size(c),
                                .trail = {r->ticket.probability, r->ticket.version}};
}

static bool may_return(const tacit__request *r)
{
    return tacit__learner_config_of(r->chosen)->request.visits > 1;
}

/* Handles an observation of a finished episode: a repetition, or a contradiction. */
static tacit_status compare(tacit__request *r, tacit__vault *vault,
                            const tacit__observation *observed, tacit_error *err)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    const tacit__digest_key key = {r->service->key_digest, r->ticket.episode};
    const size_t size = tacit__episode_digest_size(c);
    uint8_t *digest = tacit__alloc(size, 1);
    bool known = false;
    if (digest == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = tacit__vault_get_digest(vault, r->ticket.learner, r->ticket.episode,
                                                  digest, size, &known, err);
    r->answer_code = known && !tacit__digest_agrees(c, digest, &key, observed, &r->field)
                         ? CONTRADICTION
                         : FINISHED;
    r->learned = true;
    tacit__free(digest);
    return status;
}

/* Adds the user to those of the learner, with a digest of what was observed. */
static tacit_status add_user(tacit__request *r, tacit__vault *vault, const tacit__episode *e,
                             tacit__vault_answer *answer, tacit_error *err)
{
    const tacit__ticket *t = &r->ticket;
    const tacit__digest_key key = {r->service->key_digest, t->episode};
    const size_t size = tacit__episode_digest_size(e->config);
    bool may = true, returning = false;
    tacit__vault_answer verdict = TACIT__VAULT_TAKEN;
    tacit_status status = tacit__quota_check(r, vault, &may, err);
    if (status == TACIT_OK && may_return(r))
        status =
            tacit__vault_check_visit(vault, t->learner, t->person, &verdict, &r->came_before, err);
    else if (status == TACIT_OK && !may && t->has_person) /* who is not taken uses up nothing */
        status = tacit__vault_has_person(vault, t->learner, t->person, t->episode, &returning, err);
    if (status != TACIT_OK || (!may && verdict == TACIT__VAULT_TAKEN)) {
        *answer = returning ? TACIT__VAULT_PERSON : TACIT__VAULT_SEEN;
        r->answer_code = OVER_QUOTA;
        return status;
    }
    uint8_t *digest = tacit__alloc(size, 1);
    if (digest == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__episode_digest(e, &key, digest);
    const tacit__vault_observed finished = {t->opened, {digest, size}};
    status = tacit__vault_add_user_with_digest(vault, t->learner, t->episode,
                                               t->has_person ? t->person : NULL, &finished, r->data,
                                               tacit__episode_size(e->config), answer, err);
    tacit__free(digest);
    if (status != TACIT_OK || *answer != TACIT__VAULT_TAKEN)
        return status;
    const size_t extra = tacit__decision_log_extra_size(e->config);
    if (status == TACIT_OK && e->config->log_decisions)
        status = tacit__decision_log_save(
            vault, t->learner, e,
            extra > 0 ? (const double *)(const void *)(r->data + r->data_size - extra) : NULL, err);
    return status == TACIT_OK ? tacit__quota_use(r, vault, err) : status;
}

/* Checks whether there is room for one more open episode; if not, that is the answer. */
static bool has_room(tacit__request *r, bool is_new)
{
    if (!is_new || atomic_load(&r->service->open_episodes) < r->service->config.limits.episodes)
        return true;
    r->answer_code = CROWDED;
    return false;
}

/* Handles a user from whom the learner learns. *answer is PERSON, and nothing has changed, if they take part
 * elsewhere. */
static tacit_status learn(tacit__request *r, tacit__vault *vault, tacit__episode *e,
                          const tacit__observation *observed, bool is_new,
                          tacit__vault_answer *answer, tacit_error *err)
{
    const tacit__ticket *t = &r->ticket;
    *answer = TACIT__VAULT_SEEN; /* until it is known otherwise: nothing has changed */
    if (!tacit__episode_add(e, observed, &r->field)) {
        r->answer_code = CONTRADICTION;
        return TACIT_OK;
    }
    const bool finished = tacit__episode_is_finished(e);
    if (!finished && !has_room(r, is_new))
        return TACIT_OK;
    tacit_status status =
        finished ? add_user(r, vault, e, answer, err)
                 : tacit__vault_save_episode(vault, t->learner, t->episode,
                                             t->has_person && !may_return(r) ? t->person : NULL,
                                             t->opened, r->data, tacit__episode_size(e->config),
                                             answer, err);
    if (*answer == TACIT__VAULT_SEEN)
        return status; /* refused: the answer is there */
    const bool soon = *answer == TACIT__VAULT_SOON, taken = *answer == TACIT__VAULT_TAKEN;
    r->learned = !soon;
    r->answer_code = soon ? TOO_SOON : finished ? FINISHED : OPEN;
    r->is_user = finished && taken;
    r->opens = is_new && !finished && taken;
    r->closes = !is_new && finished && (taken || soon);
    if (status == TACIT_OK && soon)
        status = tacit__vault_save_verdict(vault, t->learner, t->episode, t->opened, *answer, err);
    return status;
}

/* Handles a user from whom it does not learn. With one step nothing is stored at all. */
static tacit_status count(tacit__request *r, tacit__vault *vault, tacit__episode *e,
                          const tacit__observation *observed, bool is_new, bool full,
                          tacit_error *err)
{
    const tacit__ticket *t = &r->ticket;
    tacit__vault_answer answer;
    tacit__episode_count(e, observed);
    const bool finished = tacit__episode_is_finished(e);
    if (!finished && !has_room(r, is_new))
        return TACIT_OK;
    r->learned = false;
    r->answer_code = !full ? RETURNING : finished ? FULL : OPEN;
    r->opens = is_new && !finished;
    r->closes = !is_new && finished;
    if (finished && !full && may_return(r))
        TRY(tacit__vault_save_verdict(vault, t->learner, t->episode, t->opened, TACIT__VAULT_USED,
                                      err));
    if (finished)
        return is_new ? TACIT_OK
                      : tacit__vault_end_episode(vault, t->learner, t->episode,
                                                 t->has_person ? t->person : NULL, err);
    return tacit__vault_save_episode(vault, t->learner, t->episode, NULL, t->opened, r->data,
                                     tacit__episode_size(e->config), &answer, err);
}

/* Whether the ticket says, finally, that the learner does not learn from the user. A front end that knows
 * this from memory may be wrong, so there the transaction decides. */
static bool is_final(const tacit__request *r)
{
    return r->ticket.unlearned == TACIT__RETURNING && r->service->decide_cache == NULL;
}

/* Finds out whether the user has taken part as often as they may and, where people come back, whether this
 * episode already got that answer, or that it came too soon; then r has the answer, and *known is set. */
static tacit_status check_returning(tacit__request *r, tacit__vault *vault, bool full,
                                    bool *returning, bool *known, tacit_error *err)
{
    const tacit__ticket *t = &r->ticket;
    tacit__vault_answer verdict = TACIT__VAULT_TAKEN;
    *returning = is_final(r);
    *known = false;
    if (!may_return(r))
        return full && !*returning && t->has_person
                   ? tacit__vault_has_person(vault, t->learner, t->person, t->episode, returning,
                                             err)
                   : TACIT_OK;
    TRY(tacit__vault_find_verdict(vault, t->learner, t->episode, &verdict, err));
    *known = verdict != TACIT__VAULT_TAKEN;
    r->again = *known;
    if (*known) {
        r->answer_code = verdict == TACIT__VAULT_SOON ? TOO_SOON : RETURNING;
        r->learned = false;
    } else if (!full && !*returning) {
        return tacit__vault_has_all_visits(vault, t->learner, t->person, returning, err);
    }
    return TACIT_OK;
}

/* Announces what `decide` can know about the episode from now on. */
static void foretell(tacit__request *r, tacit__vault *vault, const tacit__episode *e)
{
    const bool turned_away =
        r->answer_code == TOO_SOON || (r->answer_code == RETURNING && may_return(r));
    if (r->answer_code == CONTRADICTION || r->answer_code == CROWDED ||
        r->answer_code == OVER_QUOTA)
        return; /* nothing has changed */
    tacit__decide_cache_announce(
        r, vault,
        &(tacit__observed_change){.steps = tacit__episode_length(e),
                                  .finished = tacit__episode_is_finished(e),
                                  .remembered = r->learned || turned_away,
                                  .before = r->came_before});
}

static tacit_status apply(tacit__job *job, tacit__vault *vault, tacit_error *err)
{
    tacit__request *r = tacit__request_of(job);
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    const tacit__ticket *t = &r->ticket;
    const tacit__observation observed = observation_of(r, c);
    size_t held = 0;
    uint8_t *before = NULL;
    bool seen = false, full = false, returning = false, known = false;
    r->is_user = r->again = r->opens = r->closes = false;
    r->came_before = 1; /* a person without an id does not count as new */
    r->n_news = 0;
    TRY(tacit__vault_get_episode(vault, t->learner, t->episode, &before, &held, &seen, err));
    const bool is_new = held == 0;
    if (is_new || !tacit__episode_read(c, before, held, r->data))
        memset(r->data, 0, tacit__episode_size(c));
    tacit__free_secret(before, held);
    if (seen)
        return compare(r, vault, &observed, err);
    TRY(tacit__vault_is_full(vault, t->learner, &full, err));
    TRY(check_returning(r, vault, full, &returning, &known, err));
    if (known)
        return TACIT_OK;
    tacit__episode e = tacit__episode_view(c, r->data);
    tacit__vault_answer answer = TACIT__VAULT_PERSON;
    if (!full && !returning && !tacit__episode_is_counted(&e))
        TRY(learn(r, vault, &e, &observed, is_new, &answer, err));
    if (answer == TACIT__VAULT_PERSON)
        TRY(count(r, vault, &e, &observed, is_new, full && !returning, err));
    foretell(r, vault, &e);
    return r->is_user ? tacit__vault_get_accepted(vault, t->learner, &r->ordinal, err) : TACIT_OK;
}

static void expect(tacit__job *job, tacit__vault *vault)
{
    const tacit__request *r = tacit__request_of(job);
    const tacit__ticket *t = &r->ticket;
    const tacit__vault_expected_user user = {
        .learner = t->learner,
        .key = t->episode,
        .person = t->has_person ? t->person : NULL,
        .returns = may_return(r),
        /* with more steps than one it is not the first time that this episode comes */
        .is_new = t->unlearned == TACIT__LEARNED &&
                  tacit__learner_config_of(r->chosen)->request.horizon == 1};
    tacit__vault_expect_user(vault, &user);
    tacit__quota_expect(r, vault);
}

static void acknowledge(tacit__request *r)
{
    const char *const words[] = {"open", "finished", "full",
                                 tacit__joint_returning(tacit__learner_config_of(r->chosen)),
                                 "too_soon"};
    r->status = 200;
    tacit__text_print(&r->answer, "{\"status\":\"%s\",\"step\":%lu,\"learned\":%s",
                      words[r->answer_code], (unsigned long)r->ticket.step,
                      r->learned ? "true" : "false");
    if (!r->learned) /* an episode that goes on, although it is not learned from, is one after the last */
        tacit__text_print(&r->answer, ",\"reason\":\"%s\"",
                          words[r->answer_code == OPEN ? FULL : r->answer_code]);
    tacit__text_put(&r->answer, r->outside ? ",\"outside\":true}" : "}");
}

/* Updates the figures when the job is on disk. */
static void count_done(tacit__request *r)
{
    if (r->opens)
        atomic_fetch_add(&r->service->open_episodes, 1);
    for (uint_fast64_t n = atomic_load(&r->service->open_episodes);
         r->closes && n > 0 &&
         !atomic_compare_exchange_weak(&r->service->open_episodes, &n, n - 1);)
        ;
    if (!r->again && (r->answer_code == TOO_SOON || (r->answer_code == RETURNING && may_return(r))))
        tacit__learner_count_rejected(r->chosen, r->answer_code == TOO_SOON);
    if (r->is_user) {
        tacit__learner_count_accepted(r->chosen, r->ordinal, r->came_before == 0);
        tacit__learner_wake(r->chosen);
    }
}

static void done(tacit__job *job, tacit_status status)
{
    tacit__request *r = tacit__request_of(job);
    if (status != TACIT_OK) {
        tacit__refuse_unwritten(r, status);
    } else if (r->answer_code == CONTRADICTION) {
        tacit__refuse(r, 409, "contradiction", r->field,
                      "an earlier observation of this step was different; the first one counts");
    } else if (r->answer_code == OVER_QUOTA) {
        tacit__quota_refuse(r);
    } else if (r->answer_code == CROWDED) {
        r->retry_after = CROWDED_SECONDS;
        tacit__refuse(r, 503, "crowded", NULL,
                      "too many episodes are open, %llu (limits.episodes); try again later",
                      (unsigned long long)r->service->config.limits.episodes);
    } else {
        acknowledge(r);
    }
    if (status == TACIT_OK) {
        tacit__decide_cache_apply(r);
        count_done(r);
    }
    r->resume(r);
}

/* Reads the ticket of the decision in the body. Returns false if the request was refused. */
static bool read_decision(const tacit__body *b, tacit__ticket *t, uint8_t **situation)
{
    tacit__request *r = b->request;
    const tacit__json_node *node = tacit__body_get(b, "decision");
    if (node == NULL) {
        tacit__refuse_missing(r, "decision");
        return false;
    }
    if (node->kind != TACIT__JSON_STRING ||
        !tacit__ticket_read(r->service->key_ticket, TACIT__TICKET_DECISION, node->text,
                            node->length, t, situation)) {
        tacit__refuse(r, 422, "out_of_range", "decision",
                      "decision must be an id that decide returned");
        return false;
    }
    if (r->path_id != NULL) {
        tacit__ticket episode;
        if (!tacit__ticket_read(r->service->key_ticket, TACIT__TICKET_EPISODE, r->path_id,
                                r->path_id_length, &episode, NULL)) {
            tacit__refuse(
                r, 404, "no_episode", NULL,
                "there is no such episode: its id must be one that POST /v1/episodes returned");
            return false;
        }
        if (memcmp(episode.episode, t->episode, sizeof t->episode) != 0) {
            tacit__refuse(r, 422, "out_of_range", "decision",
                          "decision belongs to another episode");
            return false;
        }
    }
    return true;
}

/* Reads the reward; *has as in tacit__body_read. Returns false if the request was refused. */
static bool read_reward(tacit__request *r, const tacit__body *b, const tacit__learner_config *c)
{
    const tacit__domain domain = tacit__domain_of(&c->request);
    char expected[80];
    (void)snprintf(expected, sizeof expected, "a number from %.15g to %.15g", domain.reward_low,
                   domain.reward_high);
    static const tacit__range any = {
        .low = -HUGE_VAL, .high = HUGE_VAL, .expected = "a number", .infinite = true};
    const tacit__range within = {.low = domain.reward_low,
                                 .high = nextafter(domain.reward_high, HUGE_VAL),
                                 .expected = expected};
    const tacit__field field = {"reward", TACIT__FIELD_REAL,
                                .range = c->request.outside == TACIT_OUTSIDE_CLIP ? &any : &within};
    if (!tacit__body_read(b, &field, &r->has_reward, &r->reward))
        return false;
    r->outside = (r->has_reward && tacit__domain_clip_reward(&domain, &r->reward)) || r->outside;
    return true;
}

/* Whether the step was the last one. An end before the horizon must be one that the learner can count: users
 * who are acknowledged are learned from. Returns false if the request was refused. */
static bool read_done(tacit__request *r, const tacit__body *b, const tacit__learner_config *c)
{
    static const tacit__field field = {"done", TACIT__FIELD_FLAG, .expected = "true or false"};
    const tacit__domain domain = tacit__domain_of(&c->request);
    bool has;
    r->is_done = false;
    if (!tacit__body_read(b, &field, &has, &r->is_done))
        return false;
    if (r->is_done && r->ticket.step + 1 < c->request.horizon &&
        c->request.outside != TACIT_OUTSIDE_CLIP &&
        !(domain.reward_low <= 0 && domain.reward_high >= 0)) {
        tacit__refuse(r, 422, "out_of_range", "done",
                      "rewards after an early end are 0, but this learner's lie from %g to %g",
                      domain.reward_low, domain.reward_high);
        return false;
    }
    return true;
}

/* Converts the situation of a ticket to this version; an earlier one had the features of all actions. Returns
 * false if it has the shape of another learner. */
static bool unpack_situation(const tacit__request *r, const tacit__learner_config *c,
                             const uint8_t *situation, uint8_t *out)
{
    const tacit__ticket *t = &r->ticket;
    const bool whole = !t->packed && t->n_features == c->per_user;
    if (t->packed ? !c->chosen_only || t->n_features != c->known.features : !whole)
        return false;
    TACIT__REQUIRE(situation != NULL || !t->packed);
    if (t->packed)
        memcpy(out, situation, tacit__stored_situation_size(c));
    else if (c->per_user > 0)
        tacit__stored_situation_pack(c, (const double *)(const void *)situation, t->action, out);
    return true;
}

/* Makes r->data: see observation_of(). `next` may be NULL. */
static bool make_data(tacit__request *r, const tacit__learner_config *c, const uint8_t *situation,
                      const double *next)
{
    const size_t own = aligned(tacit__episode_size(c)), row = tacit__stored_situation_size(c),
                 extra = tacit__decision_log_extra_size(c);
    r->data_size = aligned(own + 2 * row) + extra;
    r->data = tacit__alloc(r->data_size, 1);
    if (r->data == NULL) {
        tacit__refuse(r, 503, "memory", NULL, "out of memory");
        return false;
    }
    if (r->ticket.step >= c->request.horizon || r->ticket.action >= c->request.n_actions ||
        !unpack_situation(r, c, situation, r->data + own)) {
        tacit__refuse(r, 422, "out_of_range", "decision",
                      "decision must be an id that decide returned");
        return false;
    }
    if (next != NULL && !c->chosen_only)
        tacit__stored_situation_pack(c, next, 0, r->data + own + row);
    tacit__decision_log_fill(c, &r->ticket, situation, r->data + r->data_size - extra);
    return true;
}

static bool prepare(tacit__request *r, const tacit__body *b, const tacit__learner_config *c,
                    const uint8_t *situation)
{
    double *next = NULL;
    bool good = false;
    if (!read_reward(r, b, c) || !read_done(r, b, c) ||
        !tacit__situation_read(b, c, true, &r->has_next, &r->next_state, &next))
        return false;
    if (r->has_reward || r->has_next || r->is_done)
        good = make_data(r, c, situation, next);
    else
        tacit__refuse(r, 422, "missing", "reward",
                      c->request.horizon == 1 ? "reward is missing"
                      : c->per_user == 0      ? "reward or next_state must be given"
                                              : "reward or next_context must be given");
    tacit__free_secret(next, next != NULL ? tacit__situation_capacity(c) : 0);
    return good;
}

/* Answers without the store if it can: a returning user with a single step. Returns whether it did. */
static bool is_known(tacit__request *r, const tacit__learner_config *c)
{
    if (!is_final(r) || c->request.horizon > 1)
        return false;
    r->answer_code = RETURNING;
    r->learned = false;
    acknowledge(r);
    if (may_return(r))
        tacit__learner_count_rejected(r->chosen, false);
    return true;
}

static bool observe(tacit__request *r)
{
    tacit__body b;
    uint8_t *situation = NULL;
    bool go_on = tacit__body_open(r, &b) && read_decision(&b, &r->ticket, &situation);
    if (go_on) {
        r->chosen = tacit__joint_learner(r, &r->ticket);
        const tacit__learner_config *c =
            r->chosen != NULL ? tacit__learner_config_of(r->chosen) : NULL;
        go_on = c != NULL && !tacit__joint_is_closed(r) && prepare(r, &b, c, situation) &&
                !is_known(r, c);
    }
    tacit__free_secret(situation, situation != NULL ? tacit__ticket_situation_size(&r->ticket) : 0);
    if (!go_on)
        return true;
    r->job = (tacit__job){.apply = apply, .expect = expect, .done = done};
    tacit__committer_post(r->service->committer, &r->job);
    return false;
}

/* A store that must not learn refuses a batch as a whole, so that a client that checks only the status does
 * not take it for stored. */
bool tacit__handle_observe(tacit__request *r)
{
    if (tacit__batch_is_array(r) && tacit__joint_is_closed(r))
        return true;
    return tacit__batch_handle(r, observe);
}
