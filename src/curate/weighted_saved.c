/* The curator of weighted counts as bytes: position, weights, the last release of each stream, and
 * the exact counts or the sums' own states.
 *
 * The schedule, the lattice, the budget and the noise follow from the options. Integrity is the
 * business of the agent's checksum. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "contribute/user_check.h"
#include "curate/weighted_curator_inside.h"
#include "sums/saved.h"

typedef struct position {
    uint64_t users, next;
} position;

/* Users whose data were used: the last one's never are. */
static uint64_t counted(const tacit__weighted *c, const position *p)
{
    return p->users < c->o.episodes ? p->users : c->o.episodes - 1;
}

/* Users whose answers were added: none after the last release. */
static uint64_t answered(const tacit__weighted *c, const position *p)
{
    const uint64_t last = c->at[c->releases - 1], users = counted(c, p);
    return users < last ? users : last;
}

/* As many releases as there are moments up to now; the planner has seen one of them, or none. */
static bool is_position(const tacit__weighted *c, const position *p, uint64_t planned)
{
    uint64_t next = 0;
    bool seen = planned == 0;
    while (next < c->releases && c->at[next] <= counted(c, p))
        seen |= c->at[next++] == planned;
    return p->users <= c->o.episodes && p->next == next && seen;
}

/* Weights are not negative, and small enough for products of two of them. */
static bool are_weights(const void *bytes, size_t n)
{
    const int64_t most = (int64_t)1 << 31;
    for (size_t i = 0; i < n; i++) {
        int64_t w;
        memcpy(&w, (const uint8_t *)bytes + i * sizeof w, sizeof w);
        if (w < 0 || w > most)
            return false;
    }
    return true;
}

void tacit__weighted_fields(tacit__weighted *c, uint64_t planned, tacit__saved *s)
{
    position p = {.users = c->users, .next = c->next};
    tacit__saved_check_curator(s, c->broken, c->users == 0);
    s->wrong = "the saved counts contradict themselves";
    tacit__saved_value(s, &p, sizeof p);
    tacit__saved_check(s, is_position(c, &p, planned));
    const void *weights = tacit__saved_array(s, c->weights, c->rows, sizeof *c->weights);
    tacit__saved_check(s, weights == NULL || are_weights(weights, c->rows));
    const double most = (double)counted(c, &p) * (double)c->o.space.horizon;
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        counted_stream *stream = &c->streams[i];
        tacit__saved_reals(s, stream->shown, stream->size, TACIT__MOST_SUM);
        if (stream->exact != NULL)
            tacit__saved_integers(s, stream->exact, stream->size, ldexp(most, c->bits));
        if (stream->sum == NULL)
            continue;
        tacit__saved_check(s, tacit__sum_sized_fields(stream->sum, s) == p.next);
        if (s->pass == TACIT__APPLY && p.next > 0)
            TACIT__REQUIRE(tacit_sum_stddev(stream->sum, p.next, &stream->stddev) == TACIT_OK);
    }
    if (c->answers != NULL)
        tacit__answers_fields(c->answers, answered(c, &p), s);
    if (s->pass != TACIT__APPLY)
        return;
    c->users = p.users;
    c->next = p.next;
    tacit__weighted_set_levels(c);
}
