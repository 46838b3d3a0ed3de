/* capri: sums in epochs (curate/epochs.c), and elimination on them (plan/capri.c). Its settings are in
 * capri_settings.c, how it travels in capri_bytes.c.
 *
 * The dimension of the sums follows from the request alone, so that devices and restored learners
 * have the same one: where the points S of the projection are drawn, the rank depends on the draw,
 * and there is room for any; coordinates that no vector uses are noise that nobody looks at. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agents/capri_agent.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

static void draw_words(void *context, uint64_t stream, uint64_t first, size_t n, uint64_t *out)
{
    tacit__site_words(context, stream, first, n, out);
}

/* Points of epochs come from a seed that anybody may know, never from the key of the noise: whoever has the
 * request, a device or an auditor, draws the same ones. */
static tacit_status open_chance(capri_agent *agent, const tacit__reading *r)
{
    tacit_noise *source = NULL;
    tacit_status status = tacit_noise_create_simulated(
        (uint64_t)tacit__value_of(&r->values, "public_seed")->integer, &source);
    if (status == TACIT_OK)
        tacit__site_open(&agent->chance, source, "public: points of epochs");
    tacit_noise_destroy(source);
    return status;
}

static void clear(void *self)
{
    capri_agent *agent = self;
    tacit__capri_destroy(agent->planner);
    tacit__site_wipe(&agent->chance);
    tacit__free(agent->shown);
    tacit__free(agent->followed);
}

static tacit_status make_curator(capri_agent *agent, const tacit__reading *r, tacit_noise *noise,
                                 tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    tacit__capri_epoch now = tacit__capri_get_epoch(agent->planner);
    tacit_error reason = {0};
    const tacit__epochs_options o = {
        .dimension = agent->dimension,
        .n_epochs = now.n_epochs - 1,
        .users = now.n_feeding,
        .guarantee = q->guarantee,
        .published_scale = tacit__capri_published(q),
    };
    agent->guarantee = q->guarantee;
    agent->published = o.published_scale;
    tacit__epochs *made = NULL;
    tacit_status status = tacit__epochs_create(&o, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    tacit__capri_start(agent->planner, tacit__epochs_scale(agent->base.curator));
    agent->shown = tacit__alloc((now.n_epochs - 1) * agent->dimension, sizeof *agent->shown);
    return agent->shown != NULL ? TACIT_OK : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    capri_agent *agent = self;
    tacit__capri_options *o = &agent->options;
    TRY(tacit__capri_read(r, o, err));
    o->words = draw_words;
    o->context = &agent->chance;
    agent->n_users = o->users;
    tacit_status status = open_chance(agent, r);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit__capri_create(o, &agent->planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    size_t pairs = o->pairs.n_contexts * o->pairs.n_actions;
    agent->dimension = !o->sampled       ? tacit__capri_rank(agent->planner)
                       : o->rank < pairs ? o->rank
                                         : pairs;
    tacit__capri_fingerprint(agent, r);
    tacit__capri_write_remark(agent, r);
    status = make_curator(agent, r, noise, err);
    if (status == TACIT_OK)
        tacit__capri_set_mark(agent);
    return status;
}

static tacit_status check(const tacit_agent_request *q, tacit_error *err)
{
    if (q->calibration == TACIT_CALIBRATION_FIGURE)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, q->file, (size_t)q->line,
                              "capri has the calibrations tight and published");
    return TACIT_OK;
}

/* --- The model --------------------------------------------------------------------------------- */

capri_model tacit__capri_model(const capri_agent *agent)
{
    if (agent->followed != NULL)
        return agent->theirs;
    tacit__capri_epoch now = tacit__capri_get_epoch(agent->planner);
    return (capri_model){.version = now.number + 1,
                         .last = now.last,
                         .p = now.last ? 0 : now.estimator->p,
                         .mixed = now.mixed,
                         .v = now.estimator->v,
                         .place = now.estimator->place};
}

/* Only devices and those who take their reports need it. */
void tacit__capri_set_mark(capri_agent *agent)
{
    enum { NUMBERS = 64 };
    uint8_t digest[TACIT__KEY_BYTES] = {0}, bytes[8 * NUMBERS];
    const capri_model m = tacit__capri_model(agent);
    const size_t pairs = agent->options.pairs.n_contexts * agent->options.pairs.n_actions;
    size_t rows = 0;
    if (!agent->options.local)
        return;
    for (size_t w = 0; w < pairs && !m.last; w++)
        rows += m.place[w] != SIZE_MAX;
    const struct {
        const double *from;
        size_t n;
    } parts[] = {{m.mixed, pairs}, {m.v, rows * m.p}};
    memcpy(digest, &m.last, sizeof m.last);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < parts[k].n; i += NUMBERS) {
            tacit__writer w = {.at = bytes};
            for (size_t j = i; j < parts[k].n && j < i + NUMBERS; j++)
                tacit__write_double(&w, parts[k].from[j]);
            tacit__digest((tacit__bytes[]){{digest, sizeof digest}, {bytes, w.size}}, 2, digest);
        }
    memcpy(agent->mark, digest, sizeof agent->mark);
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    const capri_model m = tacit__capri_model(self);
    (void)err;
    *out = (tacit_billboard){.version = m.version, .mixed = m.mixed};
    return TACIT_OK;
}

/* --- Users ------------------------------------------------------------------------------------- */

const double *tacit__capri_vector(const capri_model *m, size_t pair)
{
    return m->last || m->place[pair] == SIZE_MAX ? NULL : m->v + m->place[pair] * m->p;
}

/* The epoch is over: show its sum, go on to the next. */
static tacit_status close_epoch(capri_agent *agent, size_t size, tacit_error *err)
{
    TACIT__REQUIRE(size <= agent->dimension);
    double *sum = agent->shown + agent->n_shown * agent->dimension;
    TRY(tacit__epochs_release(agent->base.curator, size, sum, err));
    tacit__capri_close(agent->planner, sum);
    agent->n_shown++;
    agent->in_epoch = 0;
    tacit__capri_set_mark(agent);
    return TACIT_OK;
}

tacit_status tacit__capri_count(capri_agent *agent, tacit_error *err)
{
    TACIT__REQUIRE(agent->users < agent->n_users);
    tacit__capri_epoch now = tacit__capri_get_epoch(agent->planner);
    agent->users++;
    if (++agent->in_epoch == now.users && !now.last)
        return close_epoch(agent, now.estimator->p, err);
    return TACIT_OK;
}

/* What an earlier billboard allowed and this one does not is of no use to this epoch's sum; the
 * user counts all the same, see curate/epochs.c. Late users whose action is still allowed are used:
 * the estimator divides by the length of the epoch, so every user who adds 0 pulls it towards "no
 * difference", and nobody is left out without need. */
static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    capri_agent *agent = self;
    const capri_model m = tacit__capri_model(agent);
    size_t pair;
    if (agent->followed != NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "this learner follows the model of another one: it makes reports");
    tacit_status status = tacit__pairs_find(&agent->options.pairs, user, &pair, err);
    if (status != TACIT_OK)
        return status;
    if (agent->users == agent->n_users)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu users",
                           (unsigned long long)agent->n_users);
    const tacit__seen seen = {.trajectory = user,
                              .vector = tacit__capri_vector(&m, pair),
                              .size = m.p,
                              .y = 2 * user->rewards[0] - 1};
    if (!m.last)
        status = agent->base.row->curator->add(agent->base.curator, &seen, err);
    return status == TACIT_OK ? tacit__capri_count(agent, err) : status;
}

static const char *remark(const void *self)
{
    return ((const capri_agent *)self)->remark;
}

/* --- Forecast ------------------------------------------------------------------------------------ */

/* Estimates whose predicted error is a sixth of the mean reward's norm were seen to be enough,
 * those with more than a quarter of it not; in between it depends on the function. Squares, so that
 * twice the bound is not quite a quarter. */
static double burden(const void *context, double users, double epsilon)
{
    const capri_agent *agent = context;
    double mu, scale = agent->published * agent->guarantee.epsilon / epsilon;
    if (agent->published <= 0) {
        if (tacit_gdp_mu(epsilon, agent->guarantee.delta, &mu) != TACIT_OK)
            return (double)NAN;
        scale = 2 / mu;
    }
    double error = tacit__capri_predict(agent->planner, users, scale) / agent->options.norm;
    return 36 * error * error;
}

static void describe(const void *self, char *out, size_t size)
{
    const capri_agent *agent = self;
    (void)snprintf(out, size, "%zu contexts, %zu actions, rank %zu",
                   agent->options.pairs.n_contexts, agent->options.pairs.n_actions,
                   tacit__capri_rank(agent->planner));
}

static const tacit__criterion criterion = {burden, describe, "to beat the best constant action"};

const tacit__family tacit__family_capri = {
    .rows = &tacit__capri_rows,
    .create = tacit__curated_create,
    .destroy = tacit__curated_destroy,
    .size = sizeof(capri_agent),
    .check = check,
    .build = build,
    .clear = clear,
    .plan = plan,
    .learn = learn,
    .report = tacit__capri_report,
    .absorb = tacit__capri_absorb,
    .publish = tacit__capri_publish,
    .follow = tacit__capri_follow,
    .check_report = tacit__capri_check_report,
    .fields = tacit__capri_fields,
    .ledger = tacit__curated_ledger,
    .remark = remark,
    .criterion = &criterion,
};
