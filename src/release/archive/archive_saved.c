/* The LSVI curator as bytes: position, the leaf and the total of Gram matrices, their sum or its
 * fresh releases, the responses' releases, then users' data. A closed curator has no users' data,
 * and zeros for the rest of what it knew.
 *
 * The last release and scratch are not kept. The agent's checksum protects it against damage. */
#include <math.h>

#include "base/error.h"
#include "release/archive/archive_inside.h"
#include "sums/saved.h"

typedef struct header {
    uint64_t users, leaves;
    uint64_t ready, closed;
    uint64_t sum_size, memory_size;
} header;

/* Users of whom something is kept. */
static uint64_t kept_users(const tacit__archive *c, const header *h)
{
    return h->leaves < c->o.scheme.leaves ? h->users
                                          : tacit__lsvi_leaf_end(&c->o.scheme, h->leaves);
}

static void sum_fields(tacit__archive *c, const header *h, tacit__saved *s)
{
    if (c->sum != NULL)
        tacit__saved_check(s, tacit__sum_fields(c->sum, s) == h->leaves);
    else if (c->fresh != NULL)
        tacit__fresh_fields(c->fresh, s);
}

static void memory_fields(tacit__archive *c, const header *h, tacit__saved *s)
{
    const tacit__feature_log_limits limits = {ldexp(1, c->o.space.feature_bits), c->o.space.simplex,
                                              c->most_rewards};
    if (c->visits != NULL)
        tacit__visits_fields(c->visits, kept_users(c, h), c->most_rewards, s);
    else if (c->archive != NULL)
        tacit__feature_log_fields(c->archive, kept_users(c, h), &limits, s);
}

static size_t count(tacit__archive *c,
                    void (*fields)(tacit__archive *, const header *, tacit__saved *))
{
    tacit__saved s = {.pass = TACIT__COUNT};
    fields(c, &(header){0}, &s);
    return s.at;
}

static bool is_header(const tacit__archive *c, const header *h, size_t sum_size)
{
    const tacit__lsvi_scheme *m = &c->o.scheme;
    return h->sum_size == sum_size && h->users <= c->o.episodes && h->leaves <= m->leaves &&
           tacit__lsvi_leaf_end(m, h->leaves) <= h->users && h->ready <= (h->leaves > 0) &&
           h->closed <= 1 &&
           (h->closed
                ? !h->ready && h->memory_size == 0
                : h->users < tacit__lsvi_leaf_end(m, h->leaves + 1) || h->leaves == m->leaves);
}

/* Gram entries: each user adds at most 1, and half a step of rounding, for each step that is in one. */
static void grams(tacit__archive *c, const header *h, tacit__saved *s)
{
    const double each = (double)tacit__gram_steps(&c->o.space) * (ldexp(1, c->gram_bits) + 1);
    const uint64_t whole = tacit__lsvi_leaf_end(&c->o.scheme, h->leaves),
                   of_leaf = kept_users(c, h) - whole;
    tacit__saved_integers(s, c->leaf, c->size, h->closed ? 0 : (double)of_leaf * each);
    tacit__saved_integers(s, c->total, c->size,
                          h->closed || c->sum != NULL ? 0 : (double)whole * each);
}

void tacit__archive_fields(tacit__archive *c, tacit__saved *s)
{
    TACIT__REQUIRE(c->users <= c->o.episodes && c->leaves <= c->o.scheme.leaves);
    const size_t sum_size = count(c, sum_fields);
    header h = {.users = c->users,
                .leaves = c->leaves,
                .ready = c->ready,
                .closed = c->closed,
                .sum_size = sum_size,
                .memory_size = count(c, memory_fields)};
    if (s->status == TACIT_OK)
        s->status = tacit__archive_check_whole(c, s->err);
    if (s->pass == TACIT__CHECK && c->users > 0)
        tacit__saved_fail(s, TACIT_BAD_ARGUMENT, "saved statistics are loaded into fresh ones");
    s->wrong = "the saved statistics contradict themselves";
    tacit__saved_value(s, &h, sizeof h);
    tacit__saved_check(s, is_header(c, &h, sum_size));
    grams(c, &h, s);
    size_t end = tacit__saved_enter(s, sum_size);
    sum_fields(c, &h, s);
    tacit__saved_leave(s, end);
    if (c->responses != NULL)
        tacit__fresh_fields(c->responses, s);
    end = tacit__saved_enter(s, (size_t)h.memory_size);
    if (!h.closed)
        memory_fields(c, &h, s);
    tacit__saved_leave(s, end);
    if (s->pass != TACIT__APPLY)
        return;
    c->users = h.users;
    c->leaves = h.leaves;
    c->ready = h.ready != 0;
    if (h.closed)
        tacit__archive_close(c);
}
