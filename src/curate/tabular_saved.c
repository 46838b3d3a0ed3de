/* The tabular curator as bytes: position, public chance, each stream's counts and sum, and the
 * lists of large spaces.
 *
 * `x` and `before` are scratch, levels that do not follow from the options are kept, because they
 * were computed ahead at a moment that the rest does not tell. A state is looked through as a whole
 * before anything is changed. Integrity is the business of the agent's checksum. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "curate/tabular_curator_inside.h"
#include "sums/saved.h"

typedef struct position {
    uint64_t users, drawn, level_users;
    double local_level[STREAMS];
    uint8_t chance[TACIT__KEY_BYTES];
    uint8_t fresh, simulated, padding[6];
} position;

static tacit_status put_sum(tacit__writer *w, const tacit_sum *sum, tacit_error *err)
{
    size_t size;
    tacit_status status = tacit_sum_save(sum, NULL, &size, err);
    if (status == TACIT_OK) {
        uint64_t length = size;
        tacit__put(w, &length, sizeof length);
        if (w->at != NULL)
            status = tacit_sum_save(sum, w->at, &size, err);
        if (w->at != NULL)
            w->at += size;
        w->size += size;
    }
    return status;
}

tacit_status tacit__tabular_save(const tacit__tabular *c, tacit__writer *w, tacit_error *err)
{
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the counts are closed");
    position p = {.users = c->users,
                  .drawn = c->drawn,
                  .level_users = c->level_users,
                  .fresh = c->fresh,
                  .simulated = c->chance.simulated};
    memcpy(p.local_level, c->local_level, sizeof p.local_level);
    memcpy(p.chance, c->chance.key, sizeof p.chance);
    tacit__put(w, &p, sizeof p);
    tacit__wipe(&p, sizeof p);
    tacit__put(w, c->reports, c->o.space.horizon * sizeof *c->reports);
    for (int i = 0; i < STREAMS; i++) {
        const count_stream *s = &c->streams[i];
        if (s->counts != NULL)
            tacit__put(w, s->counts, s->size * sizeof *s->counts);
        if (s->total != NULL)
            tacit__put(w, s->total, s->report * sizeof *s->total);
        tacit_status status = s->sum != NULL ? put_sum(w, s->sum, err) : TACIT_OK;
        if (status != TACIT_OK)
            return status;
    }
    for (size_t i = 0; i < c->n_rows && c->rows != NULL; i++) {
        const tacit__sparse_row *row = &c->rows[i];
        tacit__put(w, &row->length, sizeof row->length);
        tacit__put(w, row->next, row->length * sizeof *row->next);
        tacit__put(w, row->count, row->length * sizeof *row->count);
    }
    return TACIT_OK;
}

/* Where the parts of a saved state are. */
typedef struct parts {
    position p;
    const void *reports;
    const void *counts[STREAMS], *total[STREAMS], *sum[STREAMS];
    size_t sum_size[STREAMS];
    tacit__sparse_row *rows; /* copies */
} parts;

static tacit_status find_rows(const tacit__tabular *c, tacit__reader *r, parts *out,
                              tacit_error *err)
{
    out->rows = tacit__alloc(c->n_rows, sizeof *out->rows);
    if (out->rows == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < c->n_rows; i++) {
        uint32_t n;
        tacit__take_into(r, &n, sizeof n);
        const uint8_t *next = tacit__take_array(r, n, sizeof(uint32_t));
        const void *count = tacit__take_array(r, n, sizeof(double));
        if (r->failed || n > c->o.space.n_states)
            return tacit__fail(err, TACIT_CORRUPT, "the saved counts contradict themselves");
        if (n == 0)
            continue;
        tacit__sparse_row *row = &out->rows[i];
        if (TACIT__PIECES(TACIT__PIECE(row->next, n), TACIT__PIECE(row->count, n)) == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        row->length = row->capacity = n;
        memcpy(row->next, next, n * sizeof *row->next);
        memcpy(row->count, count, n * sizeof *row->count);
        for (uint32_t j = 0; j < n; j++)
            if (row->next[j] >= c->o.space.n_states)
                return tacit__fail(err, TACIT_CORRUPT, "the saved counts contradict themselves");
    }
    return TACIT_OK;
}

/* Users whose data were counted: the last one's never are. */
static uint64_t counted(const tacit__tabular *c, const position *p)
{
    return p->users < c->o.episodes ? p->users : c->o.episodes - 1;
}

/* Levels are computed for at most 1 % more users than there are; reports of single steps are those
 * of the users. */
static bool is_position(const tacit__tabular *c, const parts *found)
{
    const position *p = &found->p;
    uint64_t sum = 0, left = c->o.one_step ? counted(c, p) : 0;
    if (p->users > c->o.episodes || p->drawn > c->o.episodes || p->fresh > 1 || p->simulated > 1 ||
        (double)p->level_users > ceil(1.01 * (double)c->o.episodes) ||
        !tacit__are_reals(p->local_level, STREAMS, TACIT__MOST_SUM))
        return false;
    for (size_t h = 0; h < c->o.space.horizon; h++) {
        uint64_t n;
        memcpy(&n, (const uint8_t *)found->reports + h * sizeof n, sizeof n);
        if (n > left - sum)
            return false;
        sum += n;
    }
    return sum == left;
}

/* Exact counts are no more than there were steps; noisy ones are numbers. Sums are of the users
 * that were counted. */
static bool are_counts(const tacit__tabular *c, const parts *found)
{
    const double steps = (double)counted(c, &found->p) * (double)c->o.space.horizon,
                 most = tacit__tabular_is_private(c) ? TACIT__MOST_SUM : steps;
    for (int i = 0; i < STREAMS; i++) {
        const count_stream *s = &c->streams[i];
        if ((s->counts != NULL && !tacit__are_reals(found->counts[i], s->size, most)) ||
            (s->total != NULL && !tacit__are_reals(found->total[i], s->report, most)) ||
            (s->sum != NULL && tacit__sum_saved_step(found->sum[i]) != counted(c, &found->p)))
            return false;
    }
    for (size_t i = 0; found->rows != NULL && i < c->n_rows; i++)
        if (!tacit__are_reals(found->rows[i].count, found->rows[i].length, steps))
            return false;
    return true;
}

static tacit_status find_parts(tacit__tabular *c, tacit__reader *r, parts *out, tacit_error *err)
{
    tacit__take_into(r, &out->p, sizeof out->p);
    out->reports = tacit__take_array(r, c->o.space.horizon, sizeof *c->reports);
    tacit_status status = TACIT_OK;
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        const count_stream *s = &c->streams[i];
        if (s->counts != NULL)
            out->counts[i] = tacit__take_array(r, s->size, sizeof *s->counts);
        if (s->total != NULL)
            out->total[i] = tacit__take_array(r, s->report, sizeof *s->total);
        if (s->sum == NULL)
            continue;
        uint64_t size;
        tacit__take_into(r, &size, sizeof size);
        out->sum_size[i] = (size_t)size;
        out->sum[i] = tacit__take(r, out->sum_size[i]);
        if (out->sum[i] != NULL)
            status = tacit__sum_check_saved(s->sum, out->sum[i], out->sum_size[i], err);
    }
    if (status == TACIT_OK && c->rows != NULL)
        status = find_rows(c, r, out, err);
    if (status == TACIT_OK &&
        (r->failed || r->left > 0 || !is_position(c, out) || !are_counts(c, out)))
        status = tacit__fail(err, TACIT_CORRUPT, "the saved counts contradict themselves");
    return status;
}

tacit_status tacit__tabular_load(tacit__tabular *c, tacit__reader *r, tacit_error *err)
{
    if (c->users > 0 || c->drawn > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a saved learner is loaded into a fresh one");
    parts found = {0};
    tacit_status status = find_parts(c, r, &found, err);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) { /* nothing fails from here on */
        count_stream *s = &c->streams[i];
        if (s->counts != NULL)
            memcpy(s->counts, found.counts[i], s->size * sizeof *s->counts);
        if (s->total != NULL)
            memcpy(s->total, found.total[i], s->report * sizeof *s->total);
        if (s->sum != NULL)
            TACIT__REQUIRE(tacit_sum_load(s->sum, found.sum[i], found.sum_size[i], err) ==
                           TACIT_OK);
    }
    if (status == TACIT_OK) {
        memcpy(c->reports, found.reports, c->o.space.horizon * sizeof *c->reports);
        c->users = found.p.users;
        c->drawn = found.p.drawn;
        c->level_users = found.p.level_users;
        memcpy(c->local_level, found.p.local_level, sizeof c->local_level);
        c->fresh = found.p.fresh != 0;
        if (tacit__tabular_is_private(c))
            tacit__site_restore(&c->chance, found.p.chance, found.p.simulated != 0);
        if (c->rows != NULL) {
            tacit__sparse_row *empty = c->rows;
            c->rows = found.rows;
            found.rows = empty;
        }
    }
    tacit__tabular_free_rows(found.rows, c->n_rows);
    tacit__wipe(&found.p, sizeof found.p);
    return status;
}
