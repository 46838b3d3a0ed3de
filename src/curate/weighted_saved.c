/* The curator of weighted counts as bytes: position, weights, the batch and the last release of
 * each stream, and the sums' own states.
 *
 * The schedule, the lattice, the budget and the noise follow from the options. A state is looked
 * through as a whole before anything is changed. Integrity is the business of the agent's
 * checksum. */
#include <string.h>

#include "base/error.h"
#include "curate/weighted_curator_inside.h"
#include "sums/saved.h"

typedef struct position {
    uint64_t users, next;
} position;

static tacit_status put_sum(tacit__writer *w, const tacit_sum *sum, tacit_error *err)
{
    size_t size;
    tacit_status status = tacit_sum_save(sum, NULL, &size, err);
    if (status != TACIT_OK)
        return status;
    const uint64_t length = size;
    tacit__put(w, &length, sizeof length);
    if (w->at != NULL) {
        status = tacit_sum_save(sum, w->at, &size, err);
        w->at += size;
    }
    w->size += size;
    return status;
}

tacit_status tacit__weighted_save(const tacit__weighted *c, tacit__writer *w, tacit_error *err)
{
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the counts are closed");
    const position p = {.users = c->users, .next = c->next};
    tacit__put(w, &p, sizeof p);
    tacit__put(w, c->weights, c->rows * sizeof *c->weights);
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        const batch_stream *s = &c->streams[i];
        tacit__put(w, s->batch, s->size * sizeof *s->batch);
        tacit__put(w, s->shown, s->size * sizeof *s->shown);
        tacit_status status = s->sum != NULL ? put_sum(w, s->sum, err) : TACIT_OK;
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

/* Where the parts of a saved state are. */
typedef struct parts {
    position p;
    const void *weights;
    const void *batch[WEIGHTED_STREAMS], *shown[WEIGHTED_STREAMS], *sum[WEIGHTED_STREAMS];
    size_t sum_size[WEIGHTED_STREAMS];
} parts;

/* Whether n integers, not aligned, lie between these. */
static bool are_integers(const void *bytes, size_t n, int64_t least, int64_t most)
{
    for (size_t i = 0; i < n; i++) {
        int64_t x;
        memcpy(&x, (const uint8_t *)bytes + i * sizeof x, sizeof x);
        if (x < least || x > most)
            return false;
    }
    return true;
}

/* Users that a batch has had: the last user's data are never used, nor those after the last release. */
static uint64_t in_batch(const tacit__weighted *c, const position *p)
{
    const uint64_t first = p->next > 0 && tacit__weighted_is_private(c) ? c->at[p->next - 1] : 0;
    const uint64_t counted = p->users < c->o.episodes ? p->users : c->o.episodes - 1;
    return counted - first;
}

/* As many releases as there are moments up to now. */
static bool is_position(const tacit__weighted *c, const position *p)
{
    uint64_t next = 0;
    const uint64_t counted = p->users < c->o.episodes ? p->users : c->o.episodes - 1;
    while (next < c->releases && c->at[next] <= counted)
        next++;
    return p->users <= c->o.episodes && p->next == next;
}

/* Whether the state has had a release after so many users; 0: before the first. */
static bool is_release(const tacit__weighted *c, const position *p, uint64_t users)
{
    bool found = users == 0;
    for (uint64_t i = 0; i < p->next; i++)
        found |= c->at[i] == users;
    return found;
}

/* A cell has no more of a user than the whole budget or, without one, than all H steps. */
static bool are_counts(const tacit__weighted *c, const parts *found)
{
    const int64_t one = (int64_t)1 << c->bits;
    const int64_t most = (int64_t)(in_batch(c, &found->p) * c->o.space.horizon) * one;
    for (int i = 0; i < WEIGHTED_STREAMS; i++) {
        const batch_stream *s = &c->streams[i];
        const int64_t least = i == WEIGHTED_REWARDS ? -most : 0;
        if (!are_integers(found->batch[i], s->size, least, most) ||
            !tacit__are_reals(found->shown[i], s->size, TACIT__MOST_SUM) ||
            (s->sum != NULL && tacit__sum_saved_step(found->sum[i]) != found->p.next))
            return false;
    }
    return true;
}

static tacit_status find_parts(tacit__weighted *c, tacit__reader *r, uint64_t planned, parts *out,
                               tacit_error *err)
{
    const int64_t most_weight = (int64_t)1 << 31;
    tacit_status status = TACIT_OK;
    tacit__take_into(r, &out->p, sizeof out->p);
    out->weights = tacit__take_array(r, c->rows, sizeof *c->weights);
    for (int i = 0; i < WEIGHTED_STREAMS && status == TACIT_OK; i++) {
        const batch_stream *s = &c->streams[i];
        out->batch[i] = tacit__take_array(r, s->size, sizeof *s->batch);
        out->shown[i] = tacit__take_array(r, s->size, sizeof *s->shown);
        if (s->sum == NULL)
            continue;
        uint64_t size;
        tacit__take_into(r, &size, sizeof size);
        out->sum_size[i] = (size_t)size;
        out->sum[i] = tacit__take(r, out->sum_size[i]);
        if (out->sum[i] != NULL)
            status = tacit__sum_check_saved(s->sum, out->sum[i], out->sum_size[i], err);
    }
    if (status == TACIT_OK &&
        (r->failed || r->left > 0 || !is_position(c, &out->p) || !is_release(c, &out->p, planned) ||
         !are_integers(out->weights, c->rows, 0, most_weight) || !are_counts(c, out)))
        status = tacit__fail(err, TACIT_CORRUPT, "the saved counts contradict themselves");
    return status;
}

tacit_status tacit__weighted_load(tacit__weighted *c, tacit__reader *r, uint64_t planned,
                                  tacit_error *err)
{
    if (c->users > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a saved learner is loaded into a fresh one");
    parts found = {.weights = NULL};
    tacit_status status = find_parts(c, r, planned, &found, err);
    if (status != TACIT_OK)
        return status;
    for (int i = 0; i < WEIGHTED_STREAMS; i++) { /* nothing fails from here on */
        batch_stream *s = &c->streams[i];
        memcpy(s->batch, found.batch[i], s->size * sizeof *s->batch);
        memcpy(s->shown, found.shown[i], s->size * sizeof *s->shown);
        if (s->sum != NULL) {
            TACIT__REQUIRE(tacit_sum_load(s->sum, found.sum[i], found.sum_size[i], err) ==
                           TACIT_OK);
            if (found.p.next > 0)
                TACIT__REQUIRE(tacit_sum_stddev(s->sum, found.p.next, &s->stddev) == TACIT_OK);
        }
    }
    memcpy(c->weights, found.weights, c->rows * sizeof *c->weights);
    c->users = found.p.users;
    c->next = found.p.next;
    return TACIT_OK;
}
