/* The tabular curator as bytes: position, public chance, each stream's counts and sum, and the
 * lists of large spaces.
 *
 * `x` and `before` are scratch. How many users the local levels are computed for is kept, because they were
 * computed ahead, at a moment that does not follow from the rest. The agent's checksum protects the state
 * against damage. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "contribute/user_check.h"
#include "curate/sparse_row.h"
#include "curate/tabular_curator_inside.h"
#include "release/schedule.h"
#include "sums/saved.h"

typedef struct position {
    uint64_t users, drawn, level_users;
    double local_level[STREAMS];
    uint8_t chance[TACIT__KEY_BYTES];
    uint8_t fresh, simulated, padding[6];
} position;

/* Users whose data were counted: the last one's never are. */
static uint64_t counted(const tacit__tabular *c, const position *p)
{
    return p->users < c->o.episodes ? p->users : c->o.episodes - 1;
}

/* Moments of releases up to this many users: how many, the last one, and the one to come. */
static uint64_t find_moments(const tacit__tabular *c, uint64_t users, uint64_t *last, uint64_t *due)
{
    uint64_t n = 0;
    *last = 0;
    for (*due = 1; *due <= users; *due = tacit__schedule_next(*due, c->o.growth), n++)
        *last = *due;
    return n;
}

/* Levels are computed for at most 1 % more users than there are, and follow from how many. */
static bool is_position(const tacit__tabular *c, const position *p)
{
    double levels[STREAMS];
    if (p->users > c->o.episodes || p->drawn > c->o.episodes || p->fresh > 1 || p->simulated > 1 ||
        (double)p->level_users > ceil(1.01 * (double)c->o.episodes))
        return false;
    tacit__tabular_local_levels(c, p->level_users, levels);
    return memcmp((const uint8_t *)levels, (const uint8_t *)p->local_level, sizeof levels) == 0;
}

/* Reports of single steps are those of the users; else there are none. */
static bool are_reports(const tacit__tabular *c, const uint8_t *bytes, uint64_t left)
{
    for (size_t h = 0; h < c->o.space.horizon; h++) {
        uint64_t n;
        memcpy(&n, bytes + h * sizeof n, sizeof n);
        if (n > left)
            return false;
        left -= n;
    }
    return left == 0;
}

static void position_fields(tacit__tabular *c, position *p, tacit__saved *s)
{
    *p = (position){.users = c->users,
                    .drawn = c->drawn,
                    .level_users = c->level_users,
                    .fresh = c->fresh,
                    .simulated = c->chance.simulated};
    memcpy(p->local_level, c->local_level, sizeof p->local_level);
    memcpy(p->chance, c->chance.key, sizeof p->chance);
    tacit__saved_value(s, p, sizeof *p);
    tacit__saved_check(s, is_position(c, p));
    const void *reports = tacit__saved_array(s, c->reports, c->o.space.horizon, sizeof *c->reports);
    tacit__saved_check(s, reports == NULL ||
                              are_reports(c, reports, c->o.one_step ? counted(c, p) : 0));
    if (s->pass != TACIT__APPLY)
        return;
    c->users = p->users;
    c->drawn = p->drawn;
    c->level_users = p->level_users;
    memcpy(c->local_level, p->local_level, sizeof c->local_level);
    c->fresh = p->fresh != 0;
    if (tacit__tabular_is_private(c))
        tacit__site_restore(&c->chance, p->chance, p->simulated != 0);
}

/* Exact counts are no more than there were steps; noisy ones are numbers. Sums are of the users
 * that were counted. */
void tacit__tabular_fields(tacit__tabular *c, tacit__saved *s)
{
    TACIT__REQUIRE(c->users <= c->o.episodes);
    position p;
    tacit__saved_check_curator(s, c->broken, c->users == 0 && c->drawn == 0);
    s->wrong = "the saved counts contradict themselves";
    position_fields(c, &p, s);
    const uint64_t users = counted(c, &p);
    uint64_t last = 0, due = 0, steps_of_sums = users;
    if (tacit__tabular_has_batches(c))
        steps_of_sums = find_moments(c, users, &last, &due);
    const double steps = (double)users * (double)c->o.space.horizon,
                 most = tacit__tabular_is_private(c) ? TACIT__MOST_SUM : steps;
    tacit__wipe(&p, sizeof p);
    for (int i = 0; i < STREAMS; i++) {
        count_stream *stream = &c->streams[i];
        if (stream->counts != NULL)
            tacit__saved_reals(s, stream->counts, stream->size, most);
        if (stream->total != NULL)
            tacit__saved_reals(s, stream->total, stream->report, most);
        if (stream->sum != NULL)
            tacit__saved_check(s, tacit__sum_sized_fields(stream->sum, s) == steps_of_sums);
    }
    if (s->pass == TACIT__APPLY && tacit__tabular_has_batches(c)) {
        c->shown = last;
        c->due = due;
    }
    for (size_t i = 0; i < c->n_rows && c->rows != NULL; i++) {
        uint32_t n;
        const void *count = tacit__row_fields(&c->rows[i], c->o.space.n_states, &n, s);
        tacit__saved_check(s, count == NULL || tacit__are_reals(count, n, steps));
    }
}
