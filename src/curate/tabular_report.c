/* Local privacy in two halves: a user's report, and its addition. See curate/tabular_curator.h.
 *
 * A report is the step that it is about (all ones: every step), then the numbers of visits (if they
 * are a stream), moves and rewards on the lattice, noise included: 64 bits each, low byte first.
 * The step is public chance; everything else has noise. */
#include "base/bytes.h"
#include "base/error.h"
#include "curate/tabular_curator_inside.h"
#include "sums/sum_steps.h"

#define ALL_STEPS UINT64_MAX

static size_t numbers(const tacit__tabular *c)
{
    size_t n = 0;
    for (int i = 0; i < STREAMS; i++)
        n += c->streams[i].report;
    return n;
}

tacit_status tacit__tabular_report(tacit__tabular *c, const tacit_trajectory *u, void *bytes,
                                   size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(c->o.mechanism == TACIT_SUM_LOCAL);
    const size_t needed = 8 * (numbers(c) + 1);
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a report takes %zu bytes, the buffer has %zu",
                           needed, *size);
    TRY(tacit__tabular_check_user(&c->o, u, err));
    TRY(tacit__tabular_check_open(c, err));
    size_t first, last, at = 0;
    tacit__tabular_steps(c, &first, &last);
    tacit_status status = tacit__tabular_contribute(&c->form, u, first, last, c->user, err);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        const count_stream *s = &c->streams[i];
        if (s->sum == NULL)
            continue;
        status = tacit__sum_report_placed(s->sum, &c->user->stream[i], c->scratch + at, err);
        at += s->report;
    }
    if (status != TACIT_OK)
        return status; /* noise of a step that was never shown: nothing is lost by it */
    c->drawn++;
    tacit__writer w = {.at = bytes};
    tacit__write_le64(&w, c->o.one_step ? first : ALL_STEPS);
    for (size_t i = 0; i < at; i++)
        tacit__write_le64(&w, (uint64_t)c->scratch[i]);
    *size = needed;
    return TACIT_OK;
}

/* Reads a report into scratch and finds out whether it fits; *step is the step it is about. */
static tacit_status read_report(const tacit__tabular *c, const void *bytes, size_t size,
                                uint64_t *step, tacit_error *err)
{
    if (size != 8 * (numbers(c) + 1))
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           8 * (numbers(c) + 1), size);
    tacit_status open = tacit__tabular_check_open(c, err);
    if (open != TACIT_OK)
        return open;
    tacit__reader r = {.at = bytes, .left = size};
    *step = tacit__read_le64(&r);
    if (c->o.one_step ? *step >= c->o.space.horizon : *step != ALL_STEPS)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the report is about a step that is not there");
    for (size_t i = 0; i < numbers(c); i++)
        c->scratch[i] = (int64_t)tacit__read_le64(&r);
    const int64_t *report = c->scratch;
    for (int i = 0; i < STREAMS && tacit__tabular_is_needed(c); i++) {
        if (c->streams[i].sum == NULL)
            continue;
        TRY(tacit_sum_check_report(c->streams[i].sum, report, err));
        report += c->streams[i].report;
    }
    return TACIT_OK;
}

tacit_status tacit__tabular_check_report(const void *curator, const void *bytes, size_t size,
                                         tacit_error *err)
{
    const tacit__tabular *c = curator;
    uint64_t step;
    return read_report(c, bytes, size, &step, err);
}

tacit_status tacit__tabular_absorb(void *curator, const void *bytes, size_t size, tacit_error *err)
{
    tacit__tabular *c = curator;
    TACIT__REQUIRE(c->o.mechanism == TACIT_SUM_LOCAL);
    uint64_t step;
    bool needed = tacit__tabular_is_needed(c);
    tacit_status status = read_report(c, bytes, size, &step, err);
    const int64_t *report = c->scratch;
    for (int i = 0; i < STREAMS && needed && status == TACIT_OK; i++) {
        if (c->streams[i].sum == NULL)
            continue;
        status = tacit_sum_absorb(c->streams[i].sum, report, err);
        report += c->streams[i].report;
    }
    if (status == TACIT_OK && needed && c->o.one_step)
        status = tacit__tabular_collect(c, (size_t)step, err);
    if (status != TACIT_OK)
        return status;
    c->users++;
    c->fresh = !needed;
    return TACIT_OK;
}
