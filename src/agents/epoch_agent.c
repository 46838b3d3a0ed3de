/* See agents/epoch_agent.h; how such a learner travels is in epoch_bytes.c.
 *
 * The dimension of the sums follows from the request alone, so that devices and restored learners
 * have the same one; coordinates that no vector uses are noise, and are not read.
 *
 * Where the law of contexts is learned, a user adds (y v, cell e_c): e_c is 1 in the cell of the context.
 * It is no longer than 1, since |v|^2 + cell^2 <= 1, so the curator's bound is what it was, and the planner
 * sees the cells behind the other numbers of each sum. */
#include "agents/epoch_agent.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"

void tacit__epoch_clear(void *self)
{
    tacit__epoch_agent *agent = self;
    if (agent->kind != NULL)
        agent->kind->destroy(agent->planner);
    tacit__site_wipe(&agent->chance);
    tacit__free(agent->shown);
    tacit__free(agent->user);
    tacit__free(agent->followed);
}

static tacit_status make_curator(tacit__epoch_agent *agent, const tacit__reading *r,
                                 tacit_noise *noise, tacit_error *err)
{
    const tacit_agent_request *q = r->request;
    const tacit__epoch now = agent->kind->get(agent->planner);
    tacit_error reason = {0};
    const tacit__epochs_options o = {
        .dimension = agent->dimension,
        .n_epochs = now.n_epochs - 1,
        .users = now.n_feeding,
        .ends = now.ends,
        .visits = q->visits,
        .apart = q->apart,
        .guarantee = q->guarantee,
        .published_scale = agent->published_scale,
        .with_contexts = agent->cells > 0,
    };
    tacit__epochs *made = NULL;
    tacit_status status = tacit__epochs_create(&o, noise, &made, &reason);
    agent->base.curator = made;
    if (status != TACIT_OK)
        return tacit__fail_at(err, status, q->file, (size_t)q->line, "%s", reason.message);
    agent->kind->start(agent->planner, tacit__epochs_scale(agent->base.curator));
    agent->shown = tacit__alloc((now.n_epochs - 1) * agent->dimension, sizeof *agent->shown);
    agent->user = tacit__alloc(agent->dimension, sizeof *agent->user);
    return agent->shown != NULL && agent->user != NULL ? TACIT_OK
                                                       : tacit__fail_plain(err, TACIT_NO_MEMORY);
}

tacit_status tacit__epoch_build(tacit__epoch_agent *agent, const tacit__reading *r,
                                tacit_noise *noise, tacit_error *err)
{
    TACIT__REQUIRE(agent->base.curator == NULL);
    tacit_status status = agent->kind->create(agent->options, &agent->planner);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    agent->guarantee = r->request->guarantee;
    if (agent->dimension == 0)
        agent->dimension = agent->kind->get(agent->planner).most + agent->cells;
    status = make_curator(agent, r, noise, err);
    if (status == TACIT_OK)
        tacit__epoch_set_mark(agent);
    return status;
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

/* Of the policy, and of the vectors of all pairs that it may come to. Only devices and those who take
 * their reports need it. */
void tacit__epoch_set_mark(tacit__epoch_agent *agent)
{
    enum { NUMBERS = 64 };
    uint8_t digest[TACIT__KEY_BYTES] = {0}, bytes[8 * NUMBERS];
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    const size_t pairs = agent->pairs.n_contexts * agent->pairs.n_actions;
    if (agent->guarantee.model != TACIT_MODEL_LOCAL)
        return;
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

size_t tacit__epoch_size(const tacit__epoch_agent *agent, const tacit__epoch_model *m)
{
    return m->last ? 0 : m->p + agent->cells;
}

tacit_status tacit__epoch_view_user(tacit__epoch_agent *agent, const tacit__epoch_model *m,
                                    const tacit_trajectory *user, tacit__user_view *out,
                                    tacit_error *err)
{
    TACIT__REQUIRE(m->p + agent->cells <= agent->dimension);
    size_t pair;
    TRY(tacit__pairs_find(&agent->pairs, user, &pair, err));
    const double *v = vector_of(m, pair);
    *out = (tacit__user_view){.trajectory = user,
                              .vector = v,
                              .size = tacit__epoch_size(agent, m),
                              .y = 2 * user->rewards[0] - 1};
    if (agent->cells == 0 || v == NULL)
        return TACIT_OK;
    for (size_t i = 0; i < m->p; i++)
        agent->user[i] = out->y * v[i];
    memset(agent->user + m->p, 0, agent->cells * sizeof *agent->user);
    agent->user[m->p + user->states[0]] = agent->cell;
    out->vector = agent->user;
    out->y = 1;
    return TACIT_OK;
}

/* The epoch is over: show its sum, go on to the next. */
static tacit_status close_epoch(tacit__epoch_agent *agent, size_t size, tacit_error *err)
{
    TACIT__REQUIRE(size <= agent->dimension);
    double *sum = agent->shown + agent->n_shown * agent->dimension;
    TRY(tacit__epochs_release(agent->base.curator, size, sum, err));
    agent->kind->close(agent->planner, sum);
    agent->n_shown++;
    agent->in_epoch = 0;
    tacit__epoch_set_mark(agent);
    return TACIT_OK;
}

tacit_status tacit__epoch_count(tacit__epoch_agent *agent, tacit_error *err)
{
    TACIT__REQUIRE(agent->users < agent->n_users);
    const tacit__epoch now = agent->kind->get(agent->planner);
    agent->users++;
    if (++agent->in_epoch == now.users && !now.last)
        return close_epoch(agent, now.p + agent->cells, err);
    return TACIT_OK;
}

/* What an earlier billboard allowed and this one does not is of no use to this epoch's sum; the
 * user counts all the same, see curate/epochs.c. Late users whose action is still allowed are used:
 * the estimator divides by the length of the epoch, so every user who adds 0 pulls it toward "no
 * difference", and nobody is left out without need. */
tacit_status tacit__epoch_learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    tacit__epoch_agent *agent = self;
    const tacit__epoch_model m = tacit__epoch_model_of(agent);
    TACIT__REQUIRE(agent->users <= agent->n_users);
    tacit__user_view view;
    if (agent->followed != NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           "this learner follows the model of another one: it makes reports");
    tacit_status status = tacit__epoch_view_user(agent, &m, user, &view, err);
    if (status != TACIT_OK)
        return status;
    if (agent->users == agent->n_users)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu users",
                           (unsigned long long)agent->n_users);
    if (!m.last)
        status = agent->base.row->curator->add(agent->base.curator, &view, err);
    tacit__wipe(agent->user, agent->dimension * sizeof *agent->user);
    return status == TACIT_OK ? tacit__epoch_count(agent, err) : status;
}
