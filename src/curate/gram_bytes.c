/* The curator of regressions as bytes: reports of single users, and the whole state. See curate/gram.h.
 *
 * A report is the numbers of all streams on their lattices, noise included: 64 bits each, low byte
 * first. A state is the position, then each stream's last release and sum; levels follow from the
 * position. The agent's checksum protects it against damage. */
#include <string.h>

#include "base/error.h"
#include "contribute/user_check.h"
#include "curate/gram_inside.h"
#include "sums/saved.h"
#include "sums/sum_steps.h"

/* --- Reports ------------------------------------------------------------------------------------- */

static size_t report_bytes(const tacit__gram *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->o.n_streams; i++)
        n += c->streams[i].size;
    return 8 * n;
}

tacit_status tacit__gram_report(tacit__gram *c, const tacit_trajectory *u,
                                const tacit__lens *lenses, void *bytes, size_t *size,
                                tacit_error *err)
{
    TACIT__REQUIRE(bytes == NULL || lenses != NULL);
    const size_t needed = report_bytes(c);
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a report takes %zu bytes, the buffer has %zu",
                           needed, *size);
    tacit_status status = tacit__gram_check(c, u, err);
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        gram_stream *s = &c->streams[i];
        const tacit__input input = {.n = s->size, .value = s->placed};
        status = tacit__gram_place(s, u, &lenses[i], err);
        if (status == TACIT_OK)
            status = tacit__sum_report_placed(s->sum, &input, s->report, err);
    }
    if (status != TACIT_OK)
        return status; /* noise of a step that was never shown: nothing is lost by it */
    tacit__writer w = {.at = bytes};
    for (size_t i = 0; i < c->o.n_streams; i++)
        for (size_t j = 0; j < c->streams[i].size; j++)
            tacit__write_le64(&w, (uint64_t)c->streams[i].report[j]);
    *size = needed;
    return TACIT_OK;
}

/* The last user's data are never used. */
static bool is_needed(const tacit__gram *c)
{
    return c->users + 1 < c->o.episodes;
}

/* Reads a report into the streams' scratch and finds out whether it fits. */
tacit_status tacit__gram_check_report(const void *curator, const void *bytes, size_t size,
                                      tacit_error *err)
{
    const tacit__gram *c = curator;
    TACIT__REQUIRE(c->o.guarantee.model == TACIT_MODEL_LOCAL);
    if (size != report_bytes(c))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           report_bytes(c), size);
    tacit_status status = tacit__gram_open(c, err);
    tacit__reader r = {.at = bytes, .left = size};
    for (size_t i = 0; i < c->o.n_streams && is_needed(c) && status == TACIT_OK; i++) {
        const gram_stream *s = &c->streams[i];
        for (size_t j = 0; j < s->size; j++)
            s->report[j] = (int64_t)tacit__read_le64(&r);
        status = tacit_sum_check_report(s->sum, s->report, err);
    }
    return status;
}

tacit_status tacit__gram_absorb(void *curator, const void *bytes, size_t size, tacit_error *err)
{
    tacit__gram *c = curator;
    bool needed = is_needed(c);
    tacit_status status = tacit__gram_check_report(c, bytes, size, err);
    for (size_t i = 0; i < c->o.n_streams && needed && status == TACIT_OK; i++)
        status = tacit_sum_absorb(c->streams[i].sum, c->streams[i].report, err);
    if (status != TACIT_OK)
        return status;
    c->users++;
    c->fresh = !needed;
    return TACIT_OK;
}

/* --- States -------------------------------------------------------------------------------------- */

uint64_t tacit__gram_fields(tacit__gram *c, tacit__saved *s)
{
    TACIT__REQUIRE(c->users <= c->o.episodes);
    uint64_t users = c->users, fresh = c->fresh;
    tacit__saved_check_curator(s, c->broken, c->users == 0);
    s->wrong = "the saved sums contradict themselves";
    tacit__saved_value(s, &users, sizeof users);
    tacit__saved_value(s, &fresh, sizeof fresh);
    const uint64_t needed = users < c->o.episodes ? users : c->o.episodes - 1;
    gram_moments at = {.released = needed};
    if (tacit__gram_has_batches(c))
        at = tacit__gram_find_moments(c, needed);
    for (size_t i = 0; i < c->o.n_streams; i++) {
        gram_stream *g = &c->streams[i];
        tacit__saved_reals(s, g->sums, g->size, TACIT__MOST_SUM);
        tacit__saved_check(s, tacit__sum_sized_fields(g->sum, s) == at.released);
    }
    tacit__saved_check(s, users <= c->o.episodes && fresh <= 1);
    if (s->pass == TACIT__APPLY) {
        c->users = users;
        c->fresh = fresh != 0;
        c->at = at;
    }
    return users;
}
