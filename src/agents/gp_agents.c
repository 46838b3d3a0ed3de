/* gp-ucb and kernel-elimination: what users of kernel bandits compare with; without privacy.
 *
 * Rewards are centred at 1/2, the regularizer is R^2 with R = 1/2, as bounded rewards allow. There
 * is nothing to protect, so the planner's exact posterior is all the state. */
#include <math.h>
#include <string.h>

#include "agents/family.h"
#include "agents/pairs.h"
#include "agents/reading.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/stream.h"
#include "plan/capri.h"
#include "plan/gp_ucb.h"
#include "plan/kernel_elimination.h"

#define SHARED                                                                                     \
    TACIT__TEXT("kernel", "",                                                                      \
                "se(0.2), matern-2.5(0.2 0.5), linear, poly-2(1), or two with * or +; default: "   \
                "the world's"),                                                                    \
        TACIT__REAL("norm", "", 1e-9, 1e9,                                                         \
                    "of the mean reward minus 1/2, in the kernel's space; default: the world's, "  \
                    "or 1/2"),                                                                     \
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
    const gp_parts *parts;
    tacit__pairs pairs;
    tacit__posterior *posterior;
    tacit__gp_ucb_options gp;
    tacit__kernel_elimination *elimination;
    uint64_t users, n_users, version;
    const char *remark;
} gp_agent;

static void destroy(void *self)
{
    gp_agent *agent = self;
    if (agent == NULL)
        return;
    tacit__kernel_elimination_destroy(agent->elimination);
    tacit__posterior_destroy(agent->posterior);
    tacit__free(agent);
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

static tacit_status build(gp_agent *agent, const tacit__reading *r, tacit_error *err)
{
    tacit_status status = tacit__pairs_read(r, &agent->pairs, err);
    if (status != TACIT_OK)
        return status;
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
    status = tacit__posterior_create(&agent->pairs, tacit__value_real(&r->values, "tau"),
                                     &agent->posterior);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    return agent->parts->in_epochs ? make_elimination(agent, r, err) : TACIT_OK;
}

static tacit_status create(const tacit__agent_row *row, const tacit_agent_request *request,
                           tacit_noise *noise, void **out, tacit_error *err)
{
    tacit__reading r;
    (void)noise;
    tacit_status status = tacit__reading_open(request, &row->kind, &r, err);
    if (status != TACIT_OK)
        return status;
    gp_agent *agent = tacit__alloc(1, sizeof *agent);
    if (agent == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    agent->parts = row->parts;
    status = build(agent, &r, err);
    if (status != TACIT_OK) {
        destroy(agent);
        return status;
    }
    *out = agent;
    return TACIT_OK;
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
    tacit_status status = tacit__pairs_find(&agent->pairs, user, &pair, err);
    if (status != TACIT_OK)
        return status;
    if (agent->users == agent->n_users)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu users",
                           (unsigned long long)agent->n_users);
    double y = user->rewards[0] - 0.5;
    if (agent->elimination != NULL) {
        agent->version += tacit__kernel_elimination_add(agent->elimination, pair, y);
    } else {
        tacit__posterior_add(agent->posterior, pair, y, false);
        agent->version++;
    }
    agent->users++;
    return TACIT_OK;
}

/* --- Saving: the numbers as they are -------------------------------------------------------------- */

#define MAGIC 0x7461636974677075U /* "tacitgpu" */

typedef struct header {
    uint64_t magic, size, kind, users, n_users, version, steps, in_epoch, epoch, n;
    double gain, tau;
} header;

typedef struct piece {
    void *data;
    size_t size;
} piece;

/* All arrays that change; returns how many. */
static size_t pieces(const gp_agent *agent, piece out[8])
{
    tacit__posterior *q = agent->posterior;
    tacit__kernel_elimination *k = agent->elimination;
    size_t n = q->n, i = 0;
    out[i++] = (piece){q->mean, n * sizeof *q->mean};
    out[i++] = (piece){q->covariance, n * n * sizeof *q->covariance};
    out[i++] = (piece){q->count, n * sizeof *q->count};
    out[i++] = (piece){q->sum, n * sizeof *q->sum};
    if (k != NULL) {
        out[i++] = (piece){k->active, n * sizeof *k->active};
        out[i++] = (piece){k->mixed, n * sizeof *k->mixed};
        out[i++] = (piece){k->guess, n * sizeof *k->guess};
    }
    return i;
}

static size_t saved_size(const gp_agent *agent)
{
    piece p[8];
    size_t n = pieces(agent, p), size = sizeof(header) + TACIT__KEY_BYTES;
    for (size_t i = 0; i < n; i++)
        size += p[i].size;
    return size;
}

static tacit_status save(const void *self, void *bytes, size_t *size, tacit_error *err)
{
    const gp_agent *agent = self;
    const tacit__kernel_elimination *k = agent->elimination;
    size_t needed = saved_size(agent);
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    header h = {.magic = MAGIC,
                .size = needed,
                .kind = agent->parts->saved_kind,
                .users = agent->users,
                .n_users = agent->n_users,
                .version = agent->version,
                .steps = agent->posterior->steps,
                .in_epoch = k != NULL ? k->in_epoch : 0,
                .epoch = k != NULL ? k->epoch : 0,
                .n = agent->posterior->n,
                .gain = agent->posterior->gain,
                .tau = agent->posterior->tau};
    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    piece p[8];
    size_t n = pieces(agent, p);
    for (size_t i = 0; i < n; at += p[i].size, i++)
        memcpy(at, p[i].data, p[i].size);
    tacit__digest(&(tacit__bytes){bytes, needed - TACIT__KEY_BYTES}, 1, at);
    *size = needed;
    return TACIT_OK;
}

static bool is_position(const gp_agent *agent, const header *h)
{
    const tacit__kernel_elimination *k = agent->elimination;
    return h->users <= h->n_users && h->version <= h->users + 1 && h->steps <= h->users &&
           h->gain >= 0 && h->gain <= TACIT__MOST_SUM &&
           (k != NULL ? h->epoch < k->o.n_epochs && h->in_epoch <= h->users
                      : h->epoch == 0 && h->in_epoch == 0);
}

/* In the order of `pieces`: numbers; counts and sums of rewards of so many users; truth values;
 * chances; numbers. */
static bool are_pieces(const gp_agent *agent, const uint8_t *at, double users)
{
    const size_t n = agent->posterior->n;
    bool fits = tacit__are_reals(at, n + n * n, TACIT__MOST_SUM);
    at += (n + n * n) * sizeof(double);
    fits = fits && tacit__are_reals(at, 2 * n, users);
    at += 2 * n * sizeof(double);
    if (agent->elimination == NULL)
        return fits;
    for (size_t i = 0; i < n; i++)
        fits = fits && at[i] <= 1;
    at += n;
    return fits && tacit__are_reals(at, n, 1) &&
           tacit__are_reals(at + n * sizeof(double), n, TACIT__MOST_SUM);
}

static tacit_status load(void *self, const void *bytes, size_t size, tacit_error *err)
{
    gp_agent *agent = self;
    tacit__kernel_elimination *k = agent->elimination;
    header h;
    uint8_t digest[TACIT__KEY_BYTES];
    if (agent->users > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "a saved state is loaded into a fresh learner");
    if (size < sizeof h + sizeof digest)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few for a saved learner", size);
    memcpy(&h, bytes, sizeof h);
    tacit__digest(&(tacit__bytes){bytes, size - sizeof digest}, 1, digest);
    if (h.magic != MAGIC || h.size != size ||
        memcmp(digest, (const uint8_t *)bytes + size - sizeof digest, sizeof digest) != 0)
        return tacit__fail(err, TACIT_CORRUPT,
                           "this is no saved learner, or a damaged one: its checksum does not "
                           "match");
    if (size != saved_size(agent) || h.kind != agent->parts->saved_kind ||
        h.n_users != agent->n_users || h.n != agent->posterior->n || h.tau != agent->posterior->tau)
        return tacit__fail(err, TACIT_WRONG_PLAN, "the saved learner is another one");
    const uint8_t *at = (const uint8_t *)bytes + sizeof h;
    piece p[8];
    size_t n = pieces(agent, p);
    if (!is_position(agent, &h) || !are_pieces(agent, at, (double)h.users))
        return tacit__fail(err, TACIT_CORRUPT, "the saved learner contradicts itself");
    for (size_t i = 0; i < n; at += p[i].size, i++)
        memcpy(p[i].data, at, p[i].size);
    agent->users = h.users;
    agent->version = h.version;
    agent->posterior->steps = h.steps;
    agent->posterior->gain = h.gain;
    if (k != NULL) {
        k->in_epoch = h.in_epoch;
        k->epoch = h.epoch;
    }
    return TACIT_OK;
}

static tacit_ledger *ledger(const void *self)
{
    (void)self;
    return NULL;
}

static const char *remark(const void *self)
{
    return ((const gp_agent *)self)->remark;
}

const tacit__family tacit__family_gp = {
    .rows = &rows,
    .create = create,
    .destroy = destroy,
    .plan = plan,
    .learn = learn,
    .act = act,
    .save = save,
    .load = load,
    .ledger = ledger,
    .remark = remark,
};
