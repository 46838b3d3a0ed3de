/* gp-ucb and kernel-elimination: what users of kernel bandits compare with; without privacy.
 *
 * Rewards are centered at 1/2, the regularizer is R^2 with R = 1/2, as bounded rewards allow. There
 * is nothing to protect, so the planner's exact posterior is all the state. */
#include <math.h>

#include "agents/agent_base.h"
#include "agents/bandit/context_action_pairs.h"
#include "agents/reading.h"
#include "base/error.h"
#include "noise/envelope.h"
#include "plan/papers/capri.h"
#include "plan/papers/gp_ucb.h"
#include "plan/papers/kernel_elimination.h"

#define SHARED                                                                                     \
    TACIT__PAIRS_PARAMETERS,                                                                       \
        TACIT__REAL("bonus_scale", "0.1", 0, 1e6,                                                  \
                    "omega: multiplies the width; 1 is the theorem"),                              \
        TACIT__REAL("failure", "0.05", 1e-12, 0.5, "probability that the bounds fail"),            \
        TACIT__REAL("tau", "0.25", 1e-9, 1e9, "regularizer")

static const tacit_parameter gp_parameters[] = {SHARED};
static const tacit_parameter elimination_parameters[] = {
    SHARED,
    TACIT__TEXT("sampling", "uniform",
                "within an epoch: uniform, or variance (what is known least)"),
    TACIT__TEXT("last", "greedy", "last epoch: greedy or uniform"),
};

typedef struct gp_parts {
    uint64_t saved_kind; /* in saved states */
    bool in_epochs;      /* elimination; else the best bound of all */
} gp_parts;

static const tacit__agent_row kinds[] = {
    {.kind = {"gp-ucb", "optimism on the exact posterior of a Gaussian process",
              "Srinivas, Krause, Kakade, Seeger 2012; Chowdhury, Gopalan 2017", TACIT_AGENT_NONE,
              gp_parameters, TACIT__COUNT(gp_parameters)},
     .parts = &(const gp_parts){.saved_kind = 0}},
    {.kind = {"kernel-elimination", "elimination in epochs on the exact posterior",
              "phased kernel ridge regression; Li, Scarlett 2022 (sampling: variance)",
              TACIT_AGENT_NONE, elimination_parameters, TACIT__COUNT(elimination_parameters)},
     .parts = &(const gp_parts){.saved_kind = 1, .in_epochs = true}},
};
static const tacit__agent_rows rows = {kinds, TACIT__COUNT(kinds)};

typedef struct gp_agent {
    tacit__agent_base base;
    const gp_parts *parts;
    tacit__pairs pairs;
    tacit__gaussian_process *posterior;
    tacit__gp_ucb_options gp;
    tacit__kernel_elimination *elimination;
    uint64_t users, n_users, version;
    const char *remark;
} gp_agent;

static void clear(void *self)
{
    gp_agent *agent = self;
    tacit__kernel_elimination_destroy(agent->elimination);
    tacit__gaussian_process_destroy(agent->posterior);
}

static tacit_status make_elimination(gp_agent *agent, const tacit__reading *r, tacit_error *err)
{
    static const char *const samplings[] = {"uniform", "variance", NULL};
    static const char *const lasts[] = {"uniform", "greedy", NULL};
    uint64_t lengths[64];
    int sampling = tacit__value_choose(&r->values, "sampling", samplings, err);
    int last = sampling < 0 ? -1 : tacit__value_choose(&r->values, "last", lasts, err);
    if (last < 0)
        return TACIT_BAD_ARGUMENT;
    const tacit__kernel_elimination_options o = {
        .bonus_scale = agent->gp.bonus_scale,
        .failure = agent->gp.failure,
        .norm = agent->gp.norm,
        .by_variance = sampling == 1,
        .greedy = last == 1,
        .lengths = lengths,
        .n_epochs = tacit__capri_schedule(agent->n_users, true, lengths)};
    tacit_status status =
        tacit__kernel_elimination_create(&o, agent->posterior, &agent->elimination);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

static tacit_status build(void *self, const tacit__reading *r, tacit_noise *noise, tacit_error *err)
{
    gp_agent *agent = self;
    (void)noise;
    agent->parts = agent->base.row->parts;
    TRY(tacit__pairs_read(r, &agent->pairs, err));
    double n = (double)agent->pairs.n_contexts * (double)agent->pairs.n_actions;
    if (n > 20000)
        return tacit__reading_fail(r, err, TACIT_TOO_LARGE,
                                   "%s keeps a covariance of all %.0f pairs; 20000 are the most, "
                                   "capri has no such limit",
                                   r->kind->name, n);
    agent->gp = (tacit__gp_ucb_options){.bonus_scale = tacit__value_real(&r->values, "bonus_scale"),
                                        .failure = tacit__value_real(&r->values, "failure"),
                                        .norm = tacit__pairs_norm(r)};
    agent->n_users = r->request->episodes;
    agent->version = 1;
    agent->remark =
        agent->gp.bonus_scale < 1 ? "bonus_scale below 1: the regret theorem does not apply" : "";
    tacit_status status = tacit__gaussian_process_create(
        &agent->pairs, tacit__value_real(&r->values, "tau"), &agent->posterior);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    return agent->parts->in_epochs ? make_elimination(agent, r, err) : TACIT_OK;
}

/* A table where there is one; otherwise `act` tells. */
static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    gp_agent *agent = self;
    const tacit__kernel_elimination *k = agent->elimination;
    (void)err;
    *out = (tacit_billboard){.version = agent->version};
    if (k != NULL && !(k->o.by_variance && k->epoch + 1 < k->o.n_epochs))
        out->mixed = k->mixed;
    return TACIT_OK;
}

static tacit_status act(void *self, const tacit_situation *situation, double chance,
                        uint32_t *action, double *probability, tacit_error *err)
{
    gp_agent *agent = self;
    (void)chance;
    if (situation->features != NULL || situation->state >= agent->pairs.n_contexts)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "the user has no numbered context");
    *action = agent->elimination != NULL
                  ? tacit__kernel_elimination_least_known(agent->elimination, situation->state)
                  : tacit__gp_ucb_act(agent->posterior, &agent->gp, situation->state);
    *probability = 1;
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    gp_agent *agent = self;
    size_t pair;
    TRY(tacit__pairs_find(&agent->pairs, user, &pair, err));
    if (agent->users == agent->n_users)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu users",
                           (unsigned long long)agent->n_users);
    double y = user->rewards[0] - 0.5;
    if (agent->elimination != NULL) {
        agent->version += tacit__kernel_elimination_add(agent->elimination, pair, y);
    } else {
        tacit__gaussian_process_add(agent->posterior, pair, y, false);
        agent->version++;
    }
    agent->users++;
    return TACIT_OK;
}

/* --- Saving: the numbers as they are -------------------------------------------------------------- */

typedef struct header {
    uint64_t magic, size, kind, users, n_users, version, steps, in_epoch, epoch, n;
    double gain, tau;
} header;

static const tacit__envelope envelope = {.magic = 0x7461636974677076U, /* "tacitgpv" */
                                         .header = sizeof(header),
                                         .what = "learner"};

static bool is_position(const gp_agent *agent, const header *h)
{
    const tacit__kernel_elimination *k = agent->elimination;
    return h->users <= h->n_users && h->version <= h->users + 1 && h->steps <= h->users &&
           h->gain >= 0 && h->gain <= TACIT__MOST_SUM &&
           (k != NULL ? h->epoch < k->o.n_epochs && h->in_epoch <= h->users
                      : h->epoch == 0 && h->in_epoch == 0);
}

/* Numbers; counts and sums of rewards of this many users; truth values; chances; numbers. */
static void array_fields(gp_agent *agent, double users, tacit__saved *s)
{
    tacit__gaussian_process *q = agent->posterior;
    tacit__kernel_elimination *k = agent->elimination;
    const size_t n = q->n;
    tacit__saved_reals(s, q->mean, n, TACIT__MOST_SUM);
    tacit__saved_reals(s, q->variance, n, TACIT__MOST_SUM);
    tacit__saved_reals(s, q->covariance, n * n, TACIT__MOST_SUM);
    tacit__saved_reals(s, q->recent, n * TACIT__POSTERIOR_RECENT, TACIT__MOST_SUM);
    tacit__saved_reals(s, q->count, n, users);
    tacit__saved_reals(s, q->sum, n, users);
    if (k == NULL)
        return;
    const uint8_t *active = tacit__saved_array(s, k->active, n, sizeof *k->active);
    for (size_t i = 0; i < n && active != NULL; i++)
        tacit__saved_check(s, active[i] <= 1);
    tacit__saved_reals(s, k->mixed, n, 1);
    tacit__saved_reals(s, k->guess, n, TACIT__MOST_SUM);
}

static void fields(void *self, tacit__saved *s)
{
    gp_agent *agent = self;
    tacit__kernel_elimination *k = agent->elimination;
    const header own = {.kind = agent->parts->saved_kind,
                        .users = agent->users,
                        .n_users = agent->n_users,
                        .version = agent->version,
                        .steps = agent->posterior->steps,
                        .in_epoch = k != NULL ? k->in_epoch : 0,
                        .epoch = k != NULL ? k->epoch : 0,
                        .n = agent->posterior->n,
                        .gain = agent->posterior->gain,
                        .tau = agent->posterior->tau};
    header h = own;
    if (s->pass == TACIT__CHECK && agent->users > 0)
        tacit__saved_fail(s, TACIT_BAD_ARGUMENT, "a saved state is loaded into a fresh learner");
    s->wrong = "the saved learner contradicts itself";
    const size_t start = tacit__envelope_open(&envelope, NULL, 0, &h, s);
    if (h.kind != own.kind || h.n_users != own.n_users || h.n != own.n || h.tau != own.tau)
        tacit__saved_fail(s, TACIT_WRONG_PLAN, "the saved learner is another one");
    tacit__saved_check(s, is_position(agent, &h));
    array_fields(agent, (double)h.users, s);
    tacit__envelope_close(&envelope, start, s);
    if (s->pass != TACIT__APPLY)
        return;
    agent->users = h.users;
    agent->version = h.version;
    agent->posterior->steps = h.steps;
    agent->posterior->gain = h.gain;
    if (k != NULL) {
        k->in_epoch = h.in_epoch;
        k->epoch = h.epoch;
    }
}

static const char *remark(const void *self)
{
    return ((const gp_agent *)self)->remark;
}

const tacit__family tacit__family_gp = {
    .rows = &rows,
    .size = sizeof(gp_agent),
    .build = build,
    .clear = clear,
    .plan = plan,
    .learn = learn,
    .act = act,
    .fields = fields,
    .remark = remark,
};
