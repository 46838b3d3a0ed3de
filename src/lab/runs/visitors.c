/* See lab/runs/visitors.h. Users are dealt in rounds: in each, every person comes once.
 *
 * `rounds`: person i is number i of each round, so visits are exactly `people` apart. `random`: every round
 * has an order of its own. The person who was number i of a round may be number p of the next if
 * people + p - i >= apart, that is, i <= p + people - apart. So p + people - apart + 1 persons may come at
 * number p, and p of them have come already. One of the others, at least people - apart + 1, is drawn; there
 * is always one, since `people` is at least `apart`.
 *
 * So no order ever gets stuck, and what is refused is refused when the file is read. */
#include "lab/runs/visitors.h"

#include "base/error.h"
#include "base/int128.h"
#include "base/workspace.h"
#include "noise/stream.h"

enum { WORDS = 64 }; /* drawn together: 512 bytes, the widest piece of libsodium's ChaCha20 */

/* --- Reading --------------------------------------------------------------------------------------- */

static const char *const orders[] = {"rounds", "random", NULL};

typedef struct written {
    uint64_t people, visits, apart;
    bool random;
} written;

#define AT(member) offsetof(written, member)
const tacit__field tacit__visitors_fields[] = {
    {"people", TACIT__FIELD_COUNT, AT(people), 1, TACIT_MAX_EPISODES, .example = "people: 10000"},
    {"visits", TACIT__FIELD_COUNT, AT(visits), 1, TACIT_MAX_EPISODES, .example = "visits: 5"},
    {"apart", TACIT__FIELD_COUNT, AT(apart), 1, TACIT_MAX_EPISODES, .fallback = "1"},
    {"order", TACIT__FIELD_FLAG, AT(random), .words = orders, .fallback = "rounds"},
    {.name = NULL}};

/* Returns how many rounds this many users take: the visits of the first person. */
static uint64_t rounds_of(uint64_t users, uint64_t people)
{
    return users / people + (users % people != 0);
}

static tacit_status check(const tacit__node *map, const tacit_visitors *v, uint64_t users,
                          tacit_error *err)
{
    const unsigned long long n = v->people, k = v->visits, b = v->apart, all = users;
    if (v->visits > users / v->apart)
        return tacit__node_fail(tacit__node_get(map, "visits"), err,
                                "visitors: %llu visits, %llu users apart, do not fit into %llu "
                                "episodes; ask for fewer visits, a smaller distance, or more "
                                "episodes",
                                k, b, all);
    if (rounds_of(users, v->people) > v->visits)
        return tacit__node_fail(tacit__node_get(map, "people"), err,
                                "visitors: %llu people who come %llu times are fewer than %llu "
                                "episodes; ask for at least %llu people, or %llu visits",
                                n, k, all, (unsigned long long)rounds_of(users, v->visits),
                                (unsigned long long)rounds_of(users, v->people));
    if (users > v->people && v->people < v->apart)
        return tacit__node_fail(tacit__node_get(map, "apart"), err,
                                "visitors: apart is %llu, but with %llu people a person comes back "
                                "after %llu users; ask for at least %llu people, or a smaller "
                                "distance",
                                b, n, n, b);
    if (v->order == TACIT_ORDER_RANDOM && v->people > UINT32_MAX)
        return tacit__node_fail(tacit__node_get(map, "order"), err,
                                "visitors: %llu people are too many for a random order; write "
                                "order: rounds",
                                n);
    return TACIT_OK;
}

tacit_status tacit__visitors_read(const tacit__node *node, uint64_t users, tacit_visitors *out,
                                  tacit_error *err)
{
    written w = {0};
    TRY(tacit__map_read(node, "visitors", tacit__visitors_fields, &w, err));
    *out = (tacit_visitors){w.people, w.visits, w.apart,
                            w.random ? TACIT_ORDER_RANDOM : TACIT_ORDER_ROUNDS};
    return check(node, out, users, err);
}

tacit_visitors tacit__visitors_kept(const tacit_visitors *v, uint64_t users)
{
    tacit_visitors kept = *v;
    kept.visits = rounds_of(users, v->people);
    if (v->order == TACIT_ORDER_ROUNDS)
        kept.apart = v->people;
    return kept;
}

/* --- Dealing --------------------------------------------------------------------------------------- */

struct tacit__people_order {
    tacit_visitors v;
    tacit__site site;
    uint64_t next;         /* user */
    uint64_t words[WORDS]; /* of the users next / WORDS * WORDS and following */
    uint32_t *last,
        *may; /* [people] the round before, as far as it was not overwritten; who may come */
    size_t n_may;
};

tacit_status tacit__people_order_create(const tacit_visitors *visitors, tacit_noise *root,
                                        tacit__people_order **out, tacit_error *err)
{
    TACIT__REQUIRE(visitors->people > 0 && root != NULL);
    const bool random = visitors->order == TACIT_ORDER_RANDOM;
    const size_t n = random ? (size_t)visitors->people : 0;
    tacit__people_order w = {.v = *visitors};
    tacit__people_order *order =
        TACIT__WORKSPACE(w, TACIT__PIECE_IF(random, w.last, n), TACIT__PIECE_IF(random, w.may, n));
    if (order == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__site_open(&order->site, root, "visitors");
    *out = order;
    return TACIT_OK;
}

void tacit__people_order_destroy(tacit__people_order *order)
{
    if (order != NULL)
        tacit__site_wipe(&order->site);
    tacit__workspace_destroy(order);
}

/* Those who may be number `place` of this round and could not be the one before. */
static void admit(tacit__people_order *o, uint64_t place, bool first_round)
{
    TACIT__REQUIRE(place < o->v.people);
    const uint64_t n = o->v.people, free = n > o->v.apart ? n - o->v.apart : 0;
    if (first_round && place == 0)
        for (o->n_may = 0; o->n_may < n; o->n_may++)
            o->may[o->n_may] = (uint32_t)o->n_may;
    else if (!first_round && place == 0)
        for (o->n_may = 0; o->n_may <= free; o->n_may++)
            o->may[o->n_may] = o->last[o->n_may];
    else if (!first_round && place + free < n)
        o->may[o->n_may++] = o->last[place + free];
}

static uint32_t draw(tacit__people_order *o, uint64_t user)
{
    const uint64_t n = o->v.people, place = user % n;
    admit(o, place, user < n);
    if (user % WORDS == 0)
        tacit__site_words(&o->site, user / WORDS, 0, WORDS, o->words);
    TACIT__REQUIRE(o->n_may > 0);
    const size_t i = (size_t)(((tacit__u128)o->words[user % WORDS] * o->n_may) >> 64);
    const uint32_t who = o->may[i];
    o->may[i] = o->may[--o->n_may];
    o->last[place] = who; /* who was there before has been admitted: free >= 0 */
    return who;
}

uint64_t tacit__people_order_at(tacit__people_order *o, uint64_t user)
{
    TACIT__REQUIRE(user == 0 || user == o->next);
    o->next = user + 1;
    return o->v.order == TACIT_ORDER_ROUNDS ? user % o->v.people : draw(o, user);
}
