/* Learners in epochs as bytes: reports, models and saved states. Numbers in reports and models have 64
 * bits, low byte first.
 *
 * A model is the version, whether this is the last epoch, p, the policy [contexts][actions], and the vector
 * of p numbers of each pair with a probability above 0. A device could compute the vectors from the public
 * sums, but pivots and factorizations may come out differently on another machine, and then its sums would
 * be of other vectors.
 *
 * A report is the mark of the model that it was made by, then the curator's report, the noisy y v; in the
 * last epoch the mark alone. A report by an earlier model is late: its vector is of no use to the sum of
 * this epoch. `check_report` says so, and the caller may refuse it. A report that was accepted before it
 * became late counts, and adds nothing. */
#include <math.h>
#include <string.h>

#include "agents/bandit/epoch_agent.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

static size_t n_pairs(const tacit__epoch_agent *agent)
{
    return agent->pairs.n_contexts * agent->pairs.n_actions;
}

/* --- Reports ------------------------------------------------------------------------------------- */

/* Numbers of a report by the model in use; none in the last epoch. */
static size_t numbers_bytes(const tacit__epoch_agent *agent)
{
    return tacit__stream_report_bytes(tacit__curator_stream(agent->base.curator, 0));
}

tacit_status tacit__epoch_report(void *self, const tacit_trajectory *user, void *bytes,
                                 size_t *size, tacit_error *err)
{
    tacit__epoch_agent *agent = self;
    tacit__user_view view;
    if (bytes == NULL) { /* the most; models of later epochs may have fewer numbers */
        *size = TACIT__EPOCH_MARK + 8 * agent->dimension;
        return TACIT_OK;
    }
    TACIT__REQUIRE(*size >= TACIT__EPOCH_MARK);
    size_t numbers = *size - TACIT__EPOCH_MARK;
    TRY(tacit__epoch_view(agent, user, &view, err));
    if (numbers_bytes(agent) > 0)
        TRY(tacit__curator_report(agent->base.curator, &view, (uint8_t *)bytes + TACIT__EPOCH_MARK,
                                  &numbers, err));
    memcpy(bytes, agent->mark, TACIT__EPOCH_MARK);
    *size = TACIT__EPOCH_MARK + numbers_bytes(agent);
    return TACIT_OK;
}

/* Whether it can be a report, by whatever model, and the numbers that the curator gets of it: those behind
 * the mark, or zeros if it is late. The curator takes zeros as long as it takes anything. */
static tacit_status open_report(const tacit__epoch_agent *agent, const void *bytes, size_t size,
                                const void **numbers, tacit_error *err)
{
    const size_t expected = TACIT__EPOCH_MARK + numbers_bytes(agent);
    *numbers = agent->zeros;
    TRY(tacit__curator_check_report(agent->base.curator, *numbers, numbers_bytes(agent), err));
    if (size < TACIT__EPOCH_MARK)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the report is cut short");
    const bool late = memcmp(bytes, agent->mark, TACIT__EPOCH_MARK) != 0;
    if (late ? size % 8 != 0 || size > TACIT__EPOCH_MARK + 8 * agent->dimension : size != expected)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           expected, size);
    if (!late)
        *numbers = (const uint8_t *)bytes + TACIT__EPOCH_MARK;
    return TACIT_OK;
}

tacit_status tacit__epoch_check_report(const void *self, const void *bytes, size_t size,
                                       tacit_error *err)
{
    const tacit__epoch_agent *agent = self;
    const void *numbers;
    TRY(open_report(agent, bytes, size, &numbers, err));
    if (numbers == agent->zeros)
        return tacit__fail(err, TACIT_LATE,
                           "the report was made by another model: that of an earlier epoch, say");
    return tacit__curator_check_report(agent->base.curator, numbers, numbers_bytes(agent), err);
}

/* A late report takes its place and adds nothing: who was in time when they were accepted counts,
 * however long it took to get here. */
tacit_status tacit__epoch_absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    tacit__epoch_agent *agent = self;
    const void *numbers;
    if (agent->followed != NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "this learner follows the model of another one: it accepts no reports");
    TRY(open_report(agent, bytes, size, &numbers, err));
    TRY(tacit__curator_absorb(agent->base.curator, numbers, numbers_bytes(agent), err));
    tacit__epoch_learned(agent);
    return TACIT_OK;
}

/* --- Models -------------------------------------------------------------------------------------- */

tacit_status tacit__epoch_publish(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    TACIT__REQUIRE(size != NULL);
    const tacit__epoch_agent *agent = self;
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    tacit__writer w = {.at = bytes};
    (void)err;
    tacit__write_le64(&w, m.version);
    tacit__write_le64(&w, m.last);
    tacit__write_le64(&w, m.p);
    for (size_t i = 0; i < n_pairs(agent); i++)
        tacit__write_double(&w, m.mixed[i]);
    for (size_t i = 0; i < n_pairs(agent) && !m.last; i++)
        for (size_t j = 0; j < m.p && m.mixed[i] > 0; j++)
            tacit__write_double(&w, m.v[m.place[i] * m.p + j]);
    *size = w.size;
    return TACIT_OK;
}

/* Probabilities of each context, and places for the rows that follow; returns how many these are,
 * or SIZE_MAX. */
static size_t read_policy(const tacit__epoch_agent *agent, tacit__reader *r, double *mixed,
                          size_t *place)
{
    const tacit__pairs *q = &agent->pairs;
    size_t rows = 0;
    for (size_t c = 0; c < q->n_contexts; c++) {
        double sum = 0;
        for (size_t w = c * q->n_actions; w < (c + 1) * q->n_actions; w++) {
            mixed[w] = tacit__read_double(r);
            if (!(mixed[w] >= 0 && mixed[w] <= 1))
                return SIZE_MAX;
            sum += mixed[w];
            place[w] = mixed[w] > 0 ? rows++ : SIZE_MAX;
        }
        if (!(fabs(sum - 1) <= 1e-9))
            return SIZE_MAX;
    }
    return rows;
}

/* A model as bytes: its numbers, in one piece of memory that is to be freed. */
static tacit_status read_model(const tacit__epoch_agent *agent, const void *bytes, size_t size,
                               tacit__epoch_model *out, void **memory, tacit_error *err)
{
    tacit__reader r = {.at = bytes, .left = size};
    const size_t pairs = n_pairs(agent);
    uint64_t version = tacit__read_le64(&r), last = tacit__read_le64(&r), p = tacit__read_le64(&r);
    bool fits = !r.failed && last <= 1 && p <= agent->dimension - agent->cells &&
                (p == 0) == (last == 1) && r.left / 8 >= pairs && r.left % 8 == 0;
    size_t numbers = r.left / 8;
    uint8_t *room =
        fits ? tacit__alloc(numbers * sizeof(double) + pairs * sizeof(size_t), 1) : NULL;
    if (fits && room == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    double *mixed = (double *)(void *)room, *v = NULL;
    size_t *place = NULL;
    if (fits) {
        v = mixed + pairs;
        place = (size_t *)(void *)(mixed + numbers);
        size_t rows = read_policy(agent, &r, mixed, place);
        fits = rows != SIZE_MAX && numbers - pairs == rows * (size_t)p;
    }
    for (size_t i = 0; fits && i < numbers - pairs; i++) {
        v[i] = tacit__read_double(&r);
        fits = isfinite(v[i]);
    }
    if (!fits) {
        tacit__free(room);
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "this is no model of such a learner");
    }
    *out = (tacit__epoch_model){.version = version,
                                .last = last == 1,
                                .p = (size_t)p,
                                .mixed = mixed,
                                .v = v,
                                .place = place};
    *memory = room;
    return TACIT_OK;
}

tacit_status tacit__epoch_follow(void *self, const void *bytes, size_t size, tacit_error *err)
{
    tacit__epoch_agent *agent = self;
    tacit__epoch_model model;
    void *memory;
    if (tacit__curator_users(agent->base.curator) > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a learner that has users of its own cannot follow another one");
    TRY(read_model(agent, bytes, size, &model, &memory, err));
    tacit__free(agent->followed);
    agent->followed = memory;
    agent->theirs = model;
    tacit__epoch_set_model(agent);
    return TACIT_OK;
}

/* --- Saving -------------------------------------------------------------------------------------- */

/* The public sums, of which a planner is made again; the curator; and the model that is followed, as it was
 * published. */
void tacit__epoch_fields(void *self, tacit__saved *s)
{
    tacit__epoch_agent *agent = self;
    TACIT__REQUIRE(agent->planner != NULL);
    const size_t n_sums = (agent->kind->get(agent->planner).n_epochs - 1) * agent->dimension;
    const bool fresh = agent->followed == NULL;
    size_t size = 0;
    if (!fresh && !tacit__saved_is_loading(s))
        (void)tacit__epoch_publish(agent, NULL, &size, NULL);
    uint64_t followed = size;
    s->wrong = "the saved learner contradicts itself";
    tacit__saved_value(s, &followed, sizeof followed);
    if (s->pass == TACIT__CHECK && !fresh)
        tacit__saved_fail(s, TACIT_BAD_ARGUMENT, "a saved state is loaded into a fresh learner");
    (void)tacit__saved_reals(s, agent->shown, n_sums, TACIT__MOST_SUM);
    const uint64_t released = tacit__curator_fields(agent->base.curator, s);
    tacit__saved_check(s, followed == 0 || released == 0);
    if (s->pass == TACIT__WRITE && followed > 0)
        (void)tacit__epoch_publish(agent, s->out + s->at, &size, NULL);
    const void *model = tacit__saved_bytes(s, NULL, (size_t)followed);
    tacit__saved_check(s, s->at == s->end); /* it is the last, so nothing else can fail */
    if (s->pass == TACIT__CHECK && s->status == TACIT_OK && followed > 0)
        s->status =
            read_model(agent, model, (size_t)followed, &agent->theirs, &agent->followed, s->err);
    if (s->pass != TACIT__APPLY)
        return;
    while (agent->n_shown < released)
        tacit__epoch_close(agent);
    tacit__epoch_set_model(agent);
}
