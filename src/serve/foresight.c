/* See serve/foresight.h. */
#include "serve/foresight.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "serve/episode.h"
#include "serve/idempotency.h"
#include "serve/replies.h"
#include "serve/roster.h"
#include "serve/service_inside.h"

struct tacit__foresight {
    tacit__roster *roster;
    tacit__user_walk walk;
    uint32_t expired_at;
    atomic_bool crowded; /* there were more people than it may keep */
};

#define OVER UINT32_MAX /* the mark of an episode that has no further steps */

tacit_status tacit__foresight_open(tacit_service *s, tacit_error *err)
{
    if (!tacit__vault_is_shared(s->vault))
        return TACIT_OK;
    s->foresight = tacit__alloc(1, sizeof *s->foresight);
    if (s->foresight == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    TRY(tacit__roster_create(s->config.limits.people, &s->foresight->roster, err));
    return tacit__idempotency_open(s, err);
}

void tacit__foresight_close(tacit_service *s)
{
    if (s->foresight == NULL)
        return;
    tacit__roster_destroy(s->foresight->roster);
    tacit__replies_destroy(s->replies);
    tacit__free(s->foresight);
    s->foresight = NULL;
}

/* --- Names ---------------------------------------------------------------------------------------- */

static uint64_t person_name(const uint8_t person[TACIT__VAULT_KEY])
{
    uint64_t name;
    memcpy(&name, person, sizeof name);
    return name;
}

/* Keys of episodes are random, or hashes: a turned bit keeps them apart from people. */
static uint64_t episode_name(const uint8_t episode[TACIT__VAULT_KEY])
{
    return ~person_name(episode);
}

/* The rest of an episode's name, by which a person who takes part in it is marked. */
static uint32_t episode_mark(const uint8_t episode[TACIT__VAULT_KEY])
{
    uint32_t mark;
    memcpy(&mark, episode + sizeof(uint64_t), sizeof mark);
    return mark;
}

static uint32_t until(const tacit_service *s, int64_t opened)
{
    const uint64_t end = (uint64_t)opened + s->config.expire;
    return end == 0 ? 1 : end < UINT32_MAX ? (uint32_t)end : UINT32_MAX;
}

static uint32_t now(const tacit_service *s)
{
    return (uint32_t)tacit__clock_now(&s->clock);
}

/* --- What changes --------------------------------------------------------------------------------- */

typedef struct change {
    uint32_t how; /* of tacit__roster_how */
    tacit__roster_entry entry;
} change;

static void apply_change(tacit_service *s, const change *c)
{
    if (tacit__roster_change(s->foresight->roster, (tacit__roster_how)c->how, &c->entry) ||
        atomic_exchange(&s->foresight->crowded, true))
        return;
    tacit__service_log(s, TACIT__WARNING, "memory",
                       "more people have taken part than limits.people (%llu), or than fit into "
                       "memory: those after them are not told in advance that they have taken part",
                       (unsigned long long)s->config.limits.people);
}

static void pack(const change *c, uint8_t out[TACIT__NEWS_BYTES])
{
    memcpy(out, &c->entry.name, 8);
    memcpy(out + 8, &c->entry.mark, 4);
    memcpy(out + 12, &c->entry.until, 4);
    memcpy(out + 16, &c->how, 4);
}

static void unpack_and_apply(tacit_service *s, const uint8_t news[TACIT__NEWS_BYTES])
{
    change c;
    memcpy(&c.entry.name, news, 8);
    memcpy(&c.entry.mark, news + 8, 4);
    memcpy(&c.entry.until, news + 12, 4);
    memcpy(&c.how, news + 16, 4);
    if (c.how <= TACIT__ROSTER_REMOVE)
        apply_change(s, &c);
}

void tacit__foresight_hear(void *service, const uint8_t news[TACIT__NEWS_BYTES])
{
    if (((const tacit_service *)service)->foresight != NULL)
        unpack_and_apply(service, news);
}

/* --- What the database has ------------------------------------------------------------------------ */

static void remember_open(tacit_service *s, const tacit__learner_config *c,
                          const tacit__user_fact *k)
{
    const size_t own = tacit__episode_size(c);
    uint8_t *bytes = tacit__alloc(own, 1);
    if (bytes != NULL && tacit__episode_read(c, k->data, k->size, bytes)) {
        const tacit__episode e = tacit__episode_view(c, bytes);
        apply_change(s, &(change){TACIT__ROSTER_RAISE,
                                  {episode_name(k->name), (uint32_t)tacit__episode_length(&e),
                                   until(s, k->opened)}});
    }
    tacit__free_secret(bytes, bytes != NULL ? own : 0);
}

static void remember_known(void *service, const tacit__user_fact *k)
{
    tacit_service *s = service;
    const tacit__learner *l = tacit__service_learner_by_id(s, k->learner);
    if (l == NULL)
        return;
    const tacit__learner_config *c = tacit__learner_config_of(l);
    if (k->kind == TACIT__FACT_PERSON)
        apply_change(
            s, &(change){TACIT__ROSTER_PUT,
                         {person_name(k->name), k->episode != NULL ? episode_mark(k->episode) : 0,
                          k->is_open ? until(s, k->opened) : 0}});
    else if (c->request.horizon > 1 && k->kind == TACIT__FACT_OPEN)
        remember_open(s, c, k);
    else if (c->request.horizon > 1 && until(s, k->opened) >= now(s))
        apply_change(
            s, &(change){TACIT__ROSTER_RAISE, {episode_name(k->name), OVER, until(s, k->opened)}});
}

void tacit__foresight_begin_reading(tacit_service *s)
{
    s->foresight->walk = (tacit__user_walk){.people_only = true};
    for (size_t i = 0; i < s->config.n_learners; i++)
        if (s->config.learners[i].request.horizon > 1)
            s->foresight->walk.people_only = false;
}

void tacit__foresight_expire(tacit_service *s)
{
    TACIT__REQUIRE(s->foresight != NULL);
    const uint64_t every = s->config.expire / 16;
    if (now(s) < s->foresight->expired_at + (every < 600 ? every : 600))
        return;
    s->foresight->expired_at = now(s);
    tacit__roster_expire(s->foresight->roster, now(s));
}

tacit_status tacit__foresight_read(tacit_service *s, tacit__vault *vault, double ms, bool *more,
                                   tacit_error *err)
{
    TACIT__REQUIRE(s->foresight != NULL && more != NULL);
    const double end = tacit__now_ms() + ms;
    *more = true;
    while (*more && tacit__now_ms() < end)
        TRY(tacit__vault_walk_users(vault, &s->foresight->walk, remember_known, s, more, err));
    return TACIT_OK;
}

/* --- What is asked -------------------------------------------------------------------------------- */

static bool refuse_unread(tacit__request *r, tacit_status status)
{
    if (status == TACIT_OK)
        return true;
    if (status == TACIT_NO_MEMORY)
        tacit__refuse(r, 503, "memory", NULL, "out of memory");
    else
        tacit__refuse(r, 503, "store", NULL, "the store cannot be read; try again later");
    return false;
}

bool tacit__foresight_returning(tacit__request *r, const tacit__ticket *t, bool *returning)
{
    TACIT__REQUIRE(returning != NULL);
    tacit_service *s = r->service;
    const bool several = tacit__learner_config_of(r->chosen)->request.visits > 1;
    uint32_t mark;
    if (s->foresight != NULL) {
        *returning =
            tacit__roster_find(s->foresight->roster, person_name(t->person), now(s), &mark) &&
            (several || mark != episode_mark(t->episode));
        return true;
    }
    tacit__vault *reader = tacit__service_read(s);
    const tacit_status status =
        several
            ? tacit__vault_has_used(reader, t->learner, t->person, returning, NULL)
            : tacit__vault_has_person(reader, t->learner, t->person, t->episode, returning, NULL);
    tacit__service_read_end(s);
    return refuse_unread(r, status);
}

/* The steps of an open episode, as the store has it. */
static tacit_status count_steps(const tacit__learner_config *c, const uint8_t *data, size_t size,
                                size_t *steps)
{
    const size_t own = tacit__episode_size(c);
    uint8_t *bytes = tacit__alloc(own, 1);
    if (bytes == NULL)
        return TACIT_NO_MEMORY;
    if (tacit__episode_read(c, data, size, bytes)) {
        const tacit__episode e = tacit__episode_view(c, bytes);
        *steps = tacit__episode_length(&e);
    }
    tacit__free_secret(bytes, own);
    return TACIT_OK;
}

static bool ask_store(tacit__request *r, const tacit__ticket *t, size_t *steps, bool *over)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    uint8_t *data = NULL;
    size_t size = 0;
    bool seen = false;
    tacit__vault_answer verdict =
        TACIT__VAULT_TAKEN; /* of a visit that is over and did not count */
    tacit__vault *reader = tacit__service_read(r->service);
    tacit_status status =
        tacit__vault_held(reader, t->learner, t->episode, &data, &size, &seen, NULL);
    if (status == TACIT_OK && size == 0 && c->request.visits > 1)
        status = tacit__vault_find_verdict(reader, t->learner, t->episode, &verdict, NULL);
    tacit__service_read_end(r->service);
    if (status == TACIT_OK && size > 0)
        status = count_steps(c, data, size, steps);
    tacit__free_secret(data, size);
    *over = seen || verdict != TACIT__VAULT_TAKEN;
    return refuse_unread(r, status);
}

bool tacit__foresight_steps(tacit__request *r, const tacit__ticket *t, size_t *steps, bool *over)
{
    TACIT__REQUIRE(steps != NULL && over != NULL);
    tacit_service *s = r->service;
    uint32_t mark = 0;
    *steps = 0;
    *over = false;
    if (s->foresight == NULL && !ask_store(r, t, steps, over))
        return false;
    if (s->foresight != NULL &&
        tacit__roster_find(s->foresight->roster, episode_name(t->episode), now(s), &mark)) {
        *over = mark == OVER;
        *steps = *over ? 0 : mark;
    }
    *over = *over || *steps >= tacit__learner_config_of(r->chosen)->request.horizon;
    return true;
}

/* --- What an observation changes ------------------------------------------------------------------ */

static void tell(tacit__request *r, tacit__vault *vault, change c)
{
    TACIT__REQUIRE(r->n_news < sizeof r->news / sizeof *r->news);
    pack(&c, r->news[r->n_news]);
    tacit__vault_announce(vault, r->news[r->n_news++]);
}

/* Learned from: they take part in this episode, for good when it is over. Not learned from: they take no
 * part in it; and who has had all visits has had them for good. */
static void note_person(tacit__request *r, tacit__vault *vault, const tacit__stage *stage)
{
    const tacit__ticket *t = &r->ticket;
    const uint64_t visits = tacit__learner_config_of(r->chosen)->request.visits;
    const uint64_t name = person_name(t->person);
    const uint32_t mark = episode_mark(t->episode);
    if (visits > 1) {
        if (r->is_user && stage->before + 1 >= visits)
            tell(r, vault, (change){TACIT__ROSTER_PUT, {name, 0, 0}});
    } else if (r->learned) {
        tell(r, vault,
             (change){TACIT__ROSTER_PUT,
                      {name, mark, stage->finished ? 0 : until(r->service, t->opened)}});
    } else if (stage->finished) {
        tell(r, vault, (change){TACIT__ROSTER_REMOVE, {name, mark, 0}});
    }
}

void tacit__foresight_note(tacit__request *r, tacit__vault *vault, const tacit__stage *stage)
{
    const tacit__ticket *t = &r->ticket;
    r->n_news = 0;
    if (r->service->foresight == NULL)
        return;
    if (t->has_person)
        note_person(r, vault, stage);
    if (tacit__learner_config_of(r->chosen)->request.horizon == 1)
        return; /* nobody asks for its step */
    const uint64_t name = episode_name(t->episode);
    const uint32_t end = until(r->service, t->opened);
    if (stage->finished && !stage->remembered)
        tell(r, vault, (change){TACIT__ROSTER_REMOVE, {name, OVER, end}});
    else
        tell(r, vault,
             (change){TACIT__ROSTER_RAISE,
                      {name, stage->finished ? OVER : (uint32_t)stage->steps, end}});
}

void tacit__foresight_done(tacit__request *r)
{
    for (size_t i = 0; i < r->n_news; i++)
        unpack_and_apply(r->service, r->news[i]);
}

void tacit__foresight_note_logged(const uint8_t person[TACIT__VAULT_KEY],
                                  const uint8_t key[TACIT__VAULT_KEY], tacit__vault *vault,
                                  uint8_t news[TACIT__NEWS_BYTES])
{
    const change c = {TACIT__ROSTER_PUT, {person_name(person), episode_mark(key), 0}};
    pack(&c, news);
    tacit__vault_announce(vault, news);
}
