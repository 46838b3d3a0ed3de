/* Learners in epochs as bytes: reports, models and saved states. Numbers in reports and models have 64
 * bits, low byte first.
 *
 * A model is the version, whether this is the last epoch, p, the policy [contexts][actions], and the vector
 * of p numbers of each pair with a probability above 0. A device could compute the vectors from the public
 * sums, but pivots and factorizations may come out differently on another machine, and then its sums would
 * be of other vectors.
 *
 * A report is the mark of the model that it was made by, then the noisy y v; in the last epoch the mark
 * alone. A report by an earlier model is late: its vector is of no use to the sum of this epoch.
 * `check_report` says so, and the caller may refuse it. A report that was accepted before it became late
 * counts, and adds nothing.
 *
 * Saved states: see tacit__epoch_fields. */
#include <math.h>
#include <string.h>

#include "agents/epoch_agent.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/envelope.h"

static size_t n_pairs(const tacit__epoch_agent *agent)
{
    return agent->pairs.n_contexts * agent->pairs.n_actions;
}

/* --- Reports ------------------------------------------------------------------------------------- */

tacit_status tacit__epoch_report(void *self, const tacit_trajectory *user, void *bytes,
                                 size_t *size, tacit_error *err)
{
    tacit__epoch_agent *agent = self;
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    const size_t numbers = tacit__epoch_size(agent, &m);
    TACIT__REQUIRE(numbers <= agent->dimension && agent->guarantee.model == TACIT_MODEL_LOCAL);
    tacit__user_view view;
    if (bytes == NULL) { /* the most; models of later epochs may have fewer numbers */
        *size = TACIT__EPOCH_MARK + 8 * agent->dimension;
        return TACIT_OK;
    }
    tacit_status status = tacit__epoch_view_user(agent, &m, user, &view, err);
    if (status != TACIT_OK)
        return status;
    tacit__writer w = {.at = bytes};
    tacit__write_bytes(&w, agent->mark, TACIT__EPOCH_MARK);
    if (!m.last) {
        double *noisy = tacit__alloc(numbers, sizeof *noisy);
        if (noisy == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        status =
            tacit__epochs_report(agent->base.curator, numbers, view.vector, view.y, noisy, err);
        tacit__wipe(agent->user, agent->dimension * sizeof *agent->user);
        for (size_t i = 0; i < numbers && status == TACIT_OK; i++)
            tacit__write_double(&w, noisy[i]);
        tacit__free(noisy);
    }
    *size = w.size;
    return status;
}

/* Whether it is a report at all, by whatever model, and *late: not by the one in use. */
static tacit_status open_report(const tacit__epoch_agent *agent, const void *bytes, size_t size,
                                bool *late, tacit_error *err)
{
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    const size_t expected = TACIT__EPOCH_MARK + 8 * tacit__epoch_size(agent, &m);
    if (agent->users == agent->n_users)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu users",
                           (unsigned long long)agent->n_users);
    if (size < TACIT__EPOCH_MARK)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the report is cut short");
    *late = memcmp(bytes, agent->mark, TACIT__EPOCH_MARK) != 0;
    if (*late ? size % 8 != 0 || size > TACIT__EPOCH_MARK + 8 * agent->dimension : size != expected)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "a report has %zu bytes here, this one has %zu",
                           expected, size);
    return TACIT_OK;
}

/* The numbers of a report by the model in use into `noisy`, to be freed; NULL in the last epoch. */
static tacit_status read_report(const tacit__epoch_agent *agent, const void *bytes, double **noisy,
                                tacit_error *err)
{
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    const size_t n = tacit__epoch_size(agent, &m);
    tacit__reader r = {.at = (const uint8_t *)bytes + TACIT__EPOCH_MARK, .left = 8 * n};
    *noisy = NULL;
    if (n == 0)
        return TACIT_OK;
    double *numbers = tacit__alloc(n, sizeof *numbers);
    if (numbers == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < n; i++)
        numbers[i] = tacit__read_double(&r);
    tacit_status status = tacit__epochs_check_report(agent->base.curator, n, numbers, err);
    if (status == TACIT_OK)
        *noisy = numbers;
    else
        tacit__free(numbers);
    return status;
}

tacit_status tacit__epoch_check_report(const void *self, const void *bytes, size_t size,
                                       tacit_error *err)
{
    double *noisy = NULL;
    bool late = false;
    tacit_status status = open_report(self, bytes, size, &late, err);
    if (status == TACIT_OK && late)
        return tacit__fail(err, TACIT_LATE,
                           "the report was made by another model: that of an earlier epoch, say");
    if (status == TACIT_OK)
        status = read_report(self, bytes, &noisy, err);
    tacit__free(noisy);
    return status;
}

/* A late report takes its place and adds nothing: who was in time when they were accepted counts,
 * however long it took to get here. */
tacit_status tacit__epoch_absorb(void *self, const void *bytes, size_t size, tacit_error *err)
{
    tacit__epoch_agent *agent = self;
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    double *noisy = NULL;
    bool late = false;
    if (agent->followed != NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "this learner follows the model of another one: it accepts no reports");
    tacit_status status = open_report(agent, bytes, size, &late, err);
    if (status == TACIT_OK && !late)
        status = read_report(agent, bytes, &noisy, err);
    if (status == TACIT_OK && !m.last)
        status = tacit__epochs_absorb(agent->base.curator,
                                      noisy != NULL ? tacit__epoch_size(agent, &m) : 0, noisy, err);
    tacit__free(noisy);
    return status == TACIT_OK ? tacit__epoch_count(agent, err) : status;
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
    if (agent->users > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "a learner that has users of its own cannot follow another one");
    TRY(read_model(agent, bytes, size, &model, &memory, err));
    tacit__free(agent->followed);
    agent->followed = memory;
    agent->theirs = model;
    tacit__epoch_set_mark(agent);
    return TACIT_OK;
}

/* --- Saving -------------------------------------------------------------------------------------- */

typedef struct header {
    uint64_t magic, size, users, in_epoch, n_shown, followed;
    uint8_t request[TACIT__KEY_BYTES], chance[TACIT__KEY_BYTES];
} header;

static const tacit__envelope envelope = {.magic = 0x7461636974636170U, /* "tacitcap" */
                                         .header = sizeof(header),
                                         .print_at = offsetof(header, request),
                                         .what = "learner",
                                         .foreign = "the saved learner is another one"};

static size_t n_sums(const tacit__epoch_agent *agent)
{
    return (agent->kind->get(agent->planner).n_epochs - 1) * agent->dimension;
}

/* Plays the epochs that were shown again; false if this many users are not in them and in the one that
 * follows. */
static bool replay(const tacit__epoch_agent *agent, const header *h, void *planner)
{
    uint64_t users = 0;
    for (size_t i = 0; i < h->n_shown; i++) {
        users += agent->kind->get(planner).users;
        agent->kind->close(planner, agent->shown + i * agent->dimension);
    }
    const tacit__epoch now = agent->kind->get(planner);
    return users <= h->users && h->users - users == h->in_epoch &&
           (now.last || h->in_epoch < now.users);
}

/* Points of epochs are drawn by public chance: that of the saved learner, from now on. The planner
 * follows from it and from what was shown. On failure both are as they were. */
static tacit_status remake_planner(tacit__epoch_agent *agent, const header *h, const void *sums,
                                   void **out, tacit_error *err)
{
    tacit__site before = agent->chance;
    void *planner = NULL;
    tacit__site_restore(&agent->chance, h->chance, before.simulated);
    memcpy(agent->shown, sums, n_sums(agent) * sizeof *agent->shown);
    tacit_status status = agent->kind->create(agent->options, &planner);
    if (status != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    if (status == TACIT_OK) {
        agent->kind->start(planner, tacit__epochs_scale(agent->base.curator));
        if (!replay(agent, h, planner))
            status = tacit__fail(err, TACIT_CORRUPT, "the saved learner contradicts itself");
    }
    if (status == TACIT_OK) {
        *out = planner;
    } else {
        agent->kind->destroy(planner);
        agent->chance = before;
        memset(agent->shown, 0, n_sums(agent) * sizeof *agent->shown);
    }
    tacit__site_wipe(&before);
    return status;
}

/* What a load has to make: the model that is followed, and the planner. The last thing that can fail. */
static tacit_status load_planner(tacit__epoch_agent *agent, const header *h, const void *sums,
                                 const void *model, tacit_error *err)
{
    tacit__epoch_model theirs = {0};
    void *followed = NULL;
    void *planner = NULL;
    tacit_status status = TACIT_OK;
    if (h->followed > 0)
        status = read_model(agent, model, (size_t)h->followed, &theirs, &followed, err);
    if (status == TACIT_OK)
        status = remake_planner(agent, h, sums, &planner, err);
    if (status != TACIT_OK) {
        tacit__free(followed);
        return status;
    }
    agent->kind->destroy(agent->planner);
    agent->planner = planner;
    agent->followed = followed;
    agent->theirs = theirs;
    return TACIT_OK;
}

/* In an envelope the public sums, the curator and the model that is followed, as it was published. */
void tacit__epoch_fields(void *self, tacit__saved *s)
{
    tacit__epoch_agent *agent = self;
    TACIT__REQUIRE(agent->users <= agent->n_users && agent->planner != NULL);
    size_t followed = 0;
    if (agent->followed != NULL && !tacit__saved_is_loading(s))
        (void)tacit__epoch_publish(agent, NULL, &followed, NULL);
    header h = {.users = agent->users,
                .in_epoch = agent->in_epoch,
                .n_shown = agent->n_shown,
                .followed = followed};
    memcpy(h.chance, agent->chance.key, sizeof h.chance);
    s->wrong = "the saved learner contradicts itself";
    const size_t start = tacit__envelope_open(&envelope, agent->request, 0, &h, s);
    tacit__saved_check(s, h.users <= agent->n_users &&
                              h.n_shown < agent->kind->get(agent->planner).n_epochs &&
                              (h.followed == 0 || h.users == 0));
    if (s->pass == TACIT__CHECK && (agent->users > 0 || agent->followed != NULL))
        tacit__saved_fail(s, TACIT_BAD_ARGUMENT, "a saved state is loaded into a fresh learner");
    const void *sums = tacit__saved_reals(s, agent->shown, n_sums(agent), TACIT__MOST_SUM);
    tacit__epochs_fields(agent->base.curator, s);
    if (s->pass == TACIT__WRITE && followed > 0)
        (void)tacit__epoch_publish(agent, s->out + s->at, &followed, NULL);
    const void *model = tacit__saved_bytes(s, NULL, (size_t)h.followed);
    tacit__envelope_close(&envelope, start, s);
    if (s->pass == TACIT__CHECK && s->status == TACIT_OK)
        s->status = load_planner(agent, &h, sums, model, s->err);
    if (s->pass != TACIT__APPLY)
        return;
    agent->users = h.users;
    agent->in_epoch = h.in_epoch;
    agent->n_shown = (size_t)h.n_shown;
    tacit__epoch_set_mark(agent);
}
