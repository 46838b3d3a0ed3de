/* See serve/people/decide_cache.h. */
#include "serve/people/decide_cache.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"
#include "serve/http/idempotency.h"
#include "serve/people/episode.h"
#include "serve/people/participant_cache.h"
#include "serve/people/reply_cache.h"
#include "serve/service_inside.h"

struct tacit__decide_cache {
    tacit__participant_cache *participants;
    tacit__user_scan scan;
    uint32_t expired_at;
    atomic_bool crowded; /* some people did not fit */
};

#define OVER UINT32_MAX /* the mark of an episode that has no further steps */

tacit_status tacit__decide_cache_open(tacit_service *s, tacit_error *err)
{
    if (!tacit__vault_is_shared(s->vault))
        return TACIT_OK;
    s->decide_cache = tacit__alloc(1, sizeof *s->decide_cache);
    if (s->decide_cache == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    TRY(tacit__participant_cache_create(s->config.limits.people, &s->decide_cache->participants,
                                        err));
    return tacit__idempotency_open(s, err);
}

void tacit__decide_cache_close(tacit_service *s)
{
    if (s->decide_cache == NULL)
        return;
    tacit__participant_cache_destroy(s->decide_cache->participants);
    tacit__reply_cache_destroy(s->reply_cache);
    tacit__free(s->decide_cache);
    s->decide_cache = NULL;
}

/* --- Names ----------------------------------------------------------------------------------------- */

static uint64_t person_name(const uint8_t person[TACIT__VAULT_KEY])
{
    uint64_t name;
    memcpy(&name, person, sizeof name);
    return name;
}

/* The names of people and of episodes share a table. Inverting the bits keeps them apart. */
static uint64_t episode_name(const uint8_t episode[TACIT__VAULT_KEY])
{
    return ~person_name(episode);
}

/* The mark of a person is the rest of the name of the episode that they take part in. */
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

/* --- Changes --------------------------------------------------------------------------------------- */

typedef struct change {
    uint32_t how; /* of tacit__participant_change */
    tacit__participant_entry entry;
} change;

static void apply_change(tacit_service *s, const change *c)
{
    if (tacit__participant_cache_change(s->decide_cache->participants,
                                        (tacit__participant_change)c->how, &c->entry) ||
        atomic_exchange(&s->decide_cache->crowded, true))
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
    if (c.how <= TACIT__PARTICIPANT_REMOVE)
        apply_change(s, &c);
}

void tacit__decide_cache_receive(void *service, const uint8_t news[TACIT__NEWS_BYTES])
{
    if (((const tacit_service *)service)->decide_cache != NULL)
        unpack_and_apply(service, news);
}

/* --- Loading from the database --------------------------------------------------------------------- */

static void load_open_episode(tacit_service *s, const tacit__learner_config *c,
                              const tacit__user_fact *k)
{
    const size_t own = tacit__episode_size(c);
    uint8_t *bytes = tacit__alloc(own, 1);
    if (bytes != NULL && tacit__episode_read(c, k->data, k->size, bytes)) {
        const tacit__episode e = tacit__episode_view(c, bytes);
        apply_change(s, &(change){TACIT__PARTICIPANT_RAISE,
                                  {episode_name(k->name), (uint32_t)tacit__episode_length(&e),
                                   until(s, k->opened)}});
    }
    tacit__free_secret(bytes, bytes != NULL ? own : 0);
}

static void load_fact(void *service, const tacit__user_fact *k)
{
    tacit_service *s = service;
    const tacit__learner *l = tacit__service_learner_by_id(s, k->learner);
    if (l == NULL)
        return;
    const tacit__learner_config *c = tacit__learner_config_of(l);
    if (k->kind == TACIT__FACT_PERSON)
        apply_change(
            s, &(change){TACIT__PARTICIPANT_PUT,
                         {person_name(k->name), k->episode != NULL ? episode_mark(k->episode) : 0,
                          k->is_open ? until(s, k->opened) : 0}});
    else if (c->request.horizon > 1 && k->kind == TACIT__FACT_OPEN)
        load_open_episode(s, c, k);
    else if (c->request.horizon > 1 && until(s, k->opened) >= now(s))
        apply_change(s, &(change){TACIT__PARTICIPANT_RAISE,
                                  {episode_name(k->name), OVER, until(s, k->opened)}});
}

void tacit__decide_cache_begin_load(tacit_service *s)
{
    s->decide_cache->scan = (tacit__user_scan){.people_only = true};
    for (size_t i = 0; i < s->config.n_learners; i++)
        if (s->config.learners[i].request.horizon > 1)
            s->decide_cache->scan.people_only = false;
}

void tacit__decide_cache_expire(tacit_service *s)
{
    TACIT__REQUIRE(s->decide_cache != NULL);
    const uint64_t every = s->config.expire / 16;
    if (now(s) < s->decide_cache->expired_at + (every < 600 ? every : 600))
        return;
    s->decide_cache->expired_at = now(s);
    tacit__participant_cache_expire(s->decide_cache->participants, now(s));
}

tacit_status tacit__decide_cache_load(tacit_service *s, tacit__vault *vault, double ms, bool *more,
                                      tacit_error *err)
{
    TACIT__REQUIRE(s->decide_cache != NULL && more != NULL);
    const double end = tacit__now_ms() + ms;
    *more = true;
    while (*more && tacit__now_ms() < end)
        TRY(tacit__vault_scan_users(vault, &s->decide_cache->scan, load_fact, s, more, err));
    return TACIT_OK;
}

/* --- Queries --------------------------------------------------------------------------------------- */

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

bool tacit__decide_cache_find_returning(tacit__request *r, const tacit__ticket *t, bool *returning)
{
    TACIT__REQUIRE(returning != NULL);
    tacit_service *s = r->service;
    const bool several = tacit__learner_config_of(r->chosen)->request.visits > 1;
    uint32_t mark;
    if (s->decide_cache != NULL) {
        *returning = tacit__participant_cache_find(s->decide_cache->participants,
                                                   person_name(t->person), now(s), &mark) &&
                     (several || mark != episode_mark(t->episode));
        return true;
    }
    tacit__vault *reader = tacit__service_acquire_reader(s);
    const tacit_status status =
        several
            ? tacit__vault_has_all_visits(reader, t->learner, t->person, returning, NULL)
            : tacit__vault_has_person(reader, t->learner, t->person, t->episode, returning, NULL);
    tacit__service_release_reader(s);
    return refuse_unread(r, status);
}

/* Counts the steps of an open episode that the store has. */
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

static bool read_steps(tacit__request *r, const tacit__ticket *t, size_t *steps, bool *over)
{
    const tacit__learner_config *c = tacit__learner_config_of(r->chosen);
    uint8_t *data = NULL;
    size_t size = 0;
    bool seen = false;
    tacit__vault_answer verdict =
        TACIT__VAULT_TAKEN; /* a visit that did not count has another verdict */
    tacit__vault *reader = tacit__service_acquire_reader(r->service);
    tacit_status status =
        tacit__vault_get_episode(reader, t->learner, t->episode, &data, &size, &seen, NULL);
    if (status == TACIT_OK && size == 0 && c->request.visits > 1)
        status = tacit__vault_find_verdict(reader, t->learner, t->episode, &verdict, NULL);
    tacit__service_release_reader(r->service);
    if (status == TACIT_OK && size > 0)
        status = count_steps(c, data, size, steps);
    tacit__free_secret(data, size);
    *over = seen || verdict != TACIT__VAULT_TAKEN;
    return refuse_unread(r, status);
}

bool tacit__decide_cache_find_steps(tacit__request *r, const tacit__ticket *t, size_t *steps,
                                    bool *over)
{
    TACIT__REQUIRE(steps != NULL && over != NULL);
    tacit_service *s = r->service;
    uint32_t mark = 0;
    *steps = 0;
    *over = false;
    if (s->decide_cache == NULL && !read_steps(r, t, steps, over))
        return false;
    if (s->decide_cache != NULL &&
        tacit__participant_cache_find(s->decide_cache->participants, episode_name(t->episode),
                                      now(s), &mark)) {
        *over = mark == OVER;
        *steps = *over ? 0 : mark;
    }
    *over = *over || *steps >= tacit__learner_config_of(r->chosen)->request.horizon;
    return true;
}

/* --- Announcements --------------------------------------------------------------------------------- */

static void announce(tacit__request *r, tacit__vault *vault, change c)
{
    TACIT__REQUIRE(r->n_news < sizeof r->news / sizeof *r->news);
    pack(&c, r->news[r->n_news]);
    tacit__vault_announce(vault, r->news[r->n_news++]);
}

/* A person from whom the learner learns takes part in this episode, permanently once it is over. A person
 * from whom it does not learn takes no part in it. A person who has had all visits has had them
 * permanently. */
static void announce_person(tacit__request *r, tacit__vault *vault,
                            const tacit__observed_change *seen)
{
    const tacit__ticket *t = &r->ticket;
    const uint64_t visits = tacit__learner_config_of(r->chosen)->request.visits;
    const uint64_t name = person_name(t->person);
    const uint32_t mark = episode_mark(t->episode);
    if (visits > 1) {
        if (r->is_user && seen->before + 1 >= visits)
            announce(r, vault, (change){TACIT__PARTICIPANT_PUT, {name, 0, 0}});
    } else if (r->learned) {
        announce(r, vault,
                 (change){TACIT__PARTICIPANT_PUT,
                          {name, mark, seen->finished ? 0 : until(r->service, t->opened)}});
    } else if (seen->finished) {
        announce(r, vault, (change){TACIT__PARTICIPANT_REMOVE, {name, mark, 0}});
    }
}

void tacit__decide_cache_announce(tacit__request *r, tacit__vault *vault,
                                  const tacit__observed_change *seen)
{
    const tacit__ticket *t = &r->ticket;
    r->n_news = 0;
    if (r->service->decide_cache == NULL)
        return;
    if (t->has_person)
        announce_person(r, vault, seen);
    if (tacit__learner_config_of(r->chosen)->request.horizon == 1)
        return; /* no request asks for the step of such an episode */
    const uint64_t name = episode_name(t->episode);
    const uint32_t end = until(r->service, t->opened);
    if (seen->finished && !seen->remembered)
        announce(r, vault, (change){TACIT__PARTICIPANT_REMOVE, {name, OVER, end}});
    else
        announce(r, vault,
                 (change){TACIT__PARTICIPANT_RAISE,
                          {name, seen->finished ? OVER : (uint32_t)seen->steps, end}});
}

void tacit__decide_cache_apply(tacit__request *r)
{
    for (size_t i = 0; i < r->n_news; i++)
        unpack_and_apply(r->service, r->news[i]);
}

void tacit__decide_cache_announce_logged(const uint8_t person[TACIT__VAULT_KEY],
                                         const uint8_t key[TACIT__VAULT_KEY], tacit__vault *vault,
                                         uint8_t news[TACIT__NEWS_BYTES])
{
    const change c = {TACIT__PARTICIPANT_PUT, {person_name(person), episode_mark(key), 0}};
    pack(&c, news);
    tacit__vault_announce(vault, news);
}
