/* See agents/bandit/epoch_agent.h; how such a learner travels is in epoch_bytes.c.
 *
 * The dimension of the sums follows from the request alone, so that devices and restored learners
 * have the same one; coordinates that no vector uses are noise, and are not read. Where the law of
 * contexts is learned, the planner sees the cells of contexts behind the other numbers of each sum. */
#include "agents/bandit/epoch_agent.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "contribute/epochs.h"
#include "noise/stream.h"

void tacit__epoch_clear(void *self)
{
    tacit__epoch_agent *agent = self;
    if (agent->kind != NULL)
        agent->kind->destroy(agent->planner);
    tacit__free(agent->shown);
    tacit__free(agent->zeros);
    tacit__free(agent->followed);
}

static tacit_status make_curator(tacit__epoch_agent *agent, const tacit__reading *r,
                                 tacit_noise *noise, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const tacit__epoch now = agent->kind->get(agent->planner);
    const tacit__epochs_options o = {.dimension = agent->dimension,
                                     .cells = agent->cells,
                                     .cell = agent->cell,
                                     .users = q->episodes,
                                     .ends = now.ends,
                                     .n_ends = now.n_epochs - 1,
                                     .visits = q->visits,
                                     .apart = q->apart,
                                     .guarantee = q->guarantee,
                                     .published_scale = agent->published_scale};
    tacit_error reason = {0};
    tacit__curator_spec spec;
    tacit__curator *made = NULL;
    tacit_status status = tacit__epochs_describe(&o, &spec, &reason);
    if (status == TACIT_OK)
        status = tacit__curator_create(&spec, noise, &made, &reason);
    agent->base.curator = made;
    return status == TACIT_OK ? status : tacit__reading_fail(r, err, status, "%s", reason.message);
}

tacit_status tacit__epoch_build(tacit__epoch_agent *agent, const tacit__reading *r,
                                tacit_noise *noise, tacit_error *err)
{
    TACIT__REQUIRE(agent->base.curator == NULL);
    tacit_status status = agent->kind->create(agent->options, &agent->planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    const tacit__epoch now = agent->kind->get(agent->planner);
    if (now.most == 0)
        return tacit__reading_fail(r, err, TACIT_UNSUPPORTED,
                                   "the kernel is 0 at all pairs of contexts and actions, so there "
                                   "is nothing to learn");
    agent->local = r->request->guarantee.model == TACIT_MODEL_LOCAL;
    if (agent->dimension == 0)
        agent->dimension = now.most + agent->cells;
    TRY(make_curator(agent, r, noise, err));
    agent->kind->start(agent->planner,
                       tacit__stream_scale(tacit__curator_stream(agent->base.curator, 0)));
    agent->shown = tacit__alloc((now.n_epochs - 1) * agent->dimension, sizeof *agent->shown);
    agent->zeros = tacit__alloc(agent->dimension, sizeof *agent->zeros);
    if (agent->shown == NULL || agent->zeros == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__epoch_set_model(agent);
    return TACIT_OK;
}

tacit_status tacit__epoch_column(const tacit_agent_request *q, size_t n_ends, const uint64_t *ends,
                                 double *out, tacit_error *err)
{
    const tacit__epochs_options o = {.dimension = 1,
                                     .ends = ends,
                                     .n_ends = n_ends,
                                     .visits = q->visits,
                                     .apart = q->apart,
                                     .guarantee = q->guarantee};
    return tacit__epochs_column(&o, out, err);
}

/* Somebody chose how likely contexts are: they are not all alike. */
static bool has_chosen_weights(const tacit_agent_request *q)
{
    for (size_t i = 1; q->bandit->weights != NULL && i < q->n_states; i++)
        if (q->bandit->weights[i] != q->bandit->weights[0])
            return true;
    return false;
}

const char *tacit__epoch_warn_public(const tacit__reading *r)
{
    const bool chosen =
        r->request->guarantee.model != TACIT_MODEL_NONE &&
        (tacit__value_of(&r->values, "kernel")->given ||
         tacit__value_of(&r->values, "norm")->given || has_chosen_weights(r->request));
    return chosen ? "kernel, norm and weights count as public: if they were fitted on the same "
                    "people, "
                    "they tell about them, and no noise covers that"
                  : "";
}

const char *tacit__epoch_remark(const void *self)
{
    return ((const tacit__epoch_agent *)self)->remark;
}

/* --- The model --------------------------------------------------------------------------------- */

tacit__epoch_model tacit__epoch_model_of(const tacit__epoch_agent *agent)
{
    if (agent->followed != NULL)
        return agent->theirs;
    TACIT__REQUIRE(agent->planner != NULL);
    const tacit__epoch now = agent->kind->get(agent->planner);
    return (tacit__epoch_model){.version = now.number + 1,
                                .last = now.last,
                                .p = now.last ? 0 : now.p,
                                .mixed = now.mixed,
                                .v = now.v,
                                .place = now.place};
}

static const double *vector_of(const tacit__epoch_model *m, size_t pair)
{
    TACIT__REQUIRE(m->last || m->mixed != NULL);
    return m->last || m->mixed[pair] <= 0 ? NULL : m->v + m->place[pair] * m->p;
}

/* The mark is a digest of the policy, and of the vectors of all pairs that it may come to. Only devices and
 * those who take their reports need it. */
void tacit__epoch_set_model(tacit__epoch_agent *agent)
{
    enum { NUMBERS = 64 };
    uint8_t digest[TACIT__KEY_BYTES] = {0}, bytes[8 * NUMBERS];
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    const size_t pairs = agent->pairs.n_contexts * agent->pairs.n_actions;
    if (!agent->local)
        return;
    tacit__stream_set_active(tacit__curator_stream(agent->base.curator, 0),
                             m.last ? 0 : m.p + agent->cells);
    memcpy(digest, &m.last, sizeof m.last);
    for (size_t row = 0; row <= pairs; row++) {
        const double *from = row == 0 ? m.mixed : vector_of(&m, row - 1);
        const size_t n = row == 0 ? pairs : m.p;
        for (size_t i = 0; i < n && from != NULL; i += NUMBERS) {
            tacit__writer w = {.at = bytes};
            for (size_t j = i; j < n && j < i + NUMBERS; j++)
                tacit__write_double(&w, from[j]);
            tacit__digest((tacit__bytes[]){{digest, sizeof digest}, {bytes, w.size}}, 2, digest);
        }
    }
    memcpy(agent->mark, digest, sizeof agent->mark);
}

tacit_status tacit__epoch_plan(void *self, tacit_billboard *out, tacit_error *err)
{
    const tacit__epoch_model m = tacit__epoch_model_of(self);
    (void)err;
    *out = (tacit_billboard){.version = m.version, .mixed = m.mixed};
    return TACIT_OK;
}

/* --- Users ------------------------------------------------------------------------------------- */

tacit_status tacit__epoch_view(const tacit__epoch_agent *agent, const tacit_trajectory *user,
                               tacit__user_view *out, tacit_error *err)
{
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    TACIT__REQUIRE(m.p + agent->cells <= agent->dimension);
    size_t pair;
    TRY(tacit__pairs_find(&agent->pairs, user, &pair, err));
    *out = (tacit__user_view){.trajectory = user,
                              .vector = vector_of(&m, pair),
                              .size = m.p,
                              .block = user->states[0],
                              .y = 2 * user->rewards[0] - 1};
    return TACIT_OK;
}

/* What an earlier billboard allowed and this one does not is of no use to this epoch's sum; the
 * user counts all the same, see contribute/epochs.c. Late users whose action is still allowed are used:
 * the estimator divides by the length of the epoch, so every user who adds 0 pulls it toward "no
 * difference", and nobody is left out without need. */
tacit_status tacit__epoch_view_user(void *self, const tacit_trajectory *user, tacit__user_view *out,
                                    tacit_error *err)
{
    const tacit__epoch_agent *agent = self;
    if (agent->followed != NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "this learner follows the model of another one: it makes reports");
    return tacit__epoch_view(agent, user, out, err);
}

void tacit__epoch_close(tacit__epoch_agent *agent)
{
    agent->kind->close(agent->planner, agent->shown + agent->n_shown * agent->dimension);
    agent->n_shown++;
}

/* After each user: if an epoch was over by that, the next one is made of its sum. */
void tacit__epoch_learned(void *self)
{
    tacit__epoch_agent *agent = self;
    const tacit__curator *c = agent->base.curator;
    if (tacit__curator_released(c) == agent->n_shown)
        return;
    const size_t size = agent->kind->get(agent->planner).p + agent->cells;
    TACIT__REQUIRE(size <= agent->dimension);
    memcpy(agent->shown + agent->n_shown * agent->dimension, tacit__curator_sums(c, 0),
           size * sizeof *agent->shown);
    tacit__epoch_close(agent);
    tacit__epoch_set_model(agent);
}
