/* See lsvi.h; sensitivities in lsvi_scheme.c.
 *
 * Everything is an integer before it is added. Features are multiples of 2^-f, cut towards 0, so that their length does not
 * grow; a Gram entry is rounded once for each user to the lattice of the sum, and sqrt(n) lattice steps for n coordinates are added to the
 * declared sensitivity for that; one-hot entries need no rounding. Targets (r + V) / range are multiples of 2^-t, rounded
 * down, which keeps them within [0, 1]; with f + t + 1 + log2(K) <= 53 every sum of products is an exact integer in doubles,
 * in whatever order BLAS or the cache wants it.
 *
 * A response is shown on a lattice of its own, which is as coarse as its noise allows: rounding moves each coordinate of two
 * neighbours' responses apart by at most a step more, and with U the largest |x a - y b|^2 of the pair, (sqrt(U) + s)^2 <= U + 2 s
 * sqrt(4) + s^2 for s = sqrt(d) steps. That is added to the declared sensitivity.
 *
 * The response of the curator to a value function is a function of it and of users' data alone; V is cut here, so the
 * sensitivity does not depend on who asks. */
#include "curate/lsvi.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "curate/archive.h"
#include "curate/visits.h"
#include "linalg/symmetric.h"
#include "sums/lattice.h"
#include "sums/once.h"
#include "sums/saved.h"

enum {
    EXACT_BITS = 53,
    MOST_FEATURE_BITS = 18, /* 4e-6: far below any noise, and exact in float32 */
    MOST_TARGET_BITS = 22,
    SHOWN_BITS = 32,     /* lattice steps in a scale: finer ones cost the sampler its fast path */
    EXACT_GRAM_BITS = 26 /* without noise; as many as sums take */
};

#define DENSE_CELLS 0x1p23 /* next-state counts as a table: 64 MB */
#define LEAF_SLACK                                                                                 \
    1.1 /* room for rounding in the bound of a leaf; checked. It costs resolution, no noise */
#define SLACK 1e-9      /* relative excess of a feature's length that is taken for rounding */
#define STEP (1 + 1e-6) /* a lattice step, and what doubles lose before they are rounded to it */

static const char gram_name[] = "gram", response_name[] = "responses";

struct tacit__lsvi_data {
    tacit__lsvi_data_options o;
    double *range; /* [H] */
    size_t size;   /* coordinates of all Gram matrices */
    size_t packed; /* of one */
    size_t
        *active; /* packed index of each coordinate that is not 0 by public knowledge; NULL: all */
    size_t n_active; /* of one matrix */
    int gram_bits, target_bits, response_bits;
    int shown_bits; /* of a noisy response; at most response_bits */
    tacit_ledger *ledger;
    tacit_sum *sum;     /* of Gram matrices */
    tacit__once *fresh; /* of Gram matrices, instead */
    tacit__once *responses;
    tacit__visits *visits;
    tacit__archive *archive;
    int64_t *leaf;          /* [H][n_active]: what the current leaf adds up to */
    int64_t *total;         /* the same for all users: without noise, or for fresh releases */
    double *gram;           /* [H][packed]: the last release */
    double *shown;          /* [H][n_active] scratch */
    double *placed;         /* [H][A][d], or [d], scratch: a user's features */
    double *outer;          /* [packed] scratch */
    double *next, *sums;    /* [S], [S A] scratch */
    double *rewards;        /* [H] scratch */
    double *exact_double;   /* [d] scratch */
    int64_t *exact;         /* [d] scratch */
    uint64_t users, leaves; /* complete ones */
    bool ready;
    bool closed; /* nothing more will be asked */
    bool
        broken; /* a charge was refused halfway through a switch or a user: nothing more is released */
};

static bool is_private(const tacit__lsvi_data *c)
{
    return c->o.scheme.law != TACIT_LAW_NONE;
}

bool tacit__lsvi_place(size_t d, double bound, int bits, const double *phi, double *out)
{
    double steps = ldexp(1 / bound, bits), most = ldexp(1, 2 * bits), square = 0, length = 0;
    for (size_t j = 0; j < d; j++) {
        out[j] = trunc(phi[j] * steps);
        square += out[j] * out[j]; /* integers below 2^53 */
        length += phi[j] * phi[j];
    }
    if (!(sqrt(length) <= bound * (1 + SLACK)))
        return false;
    while (square > most) { /* by rounding alone: a step off the largest coordinate until it fits */
        size_t largest = 0;
        for (size_t j = 1; j < d; j++)
            largest = fabs(out[j]) > fabs(out[largest]) ? j : largest;
        double x = fabs(out[largest]);
        square -= 2 * x - 1;
        out[largest] = copysign(x - 1, out[largest]);
    }
    return true;
}

int tacit__lsvi_feature_bits(uint64_t episodes)
{
    int room = (EXACT_BITS - 1 - (int)ceil(log2((double)episodes + 1))) / 2;
    return room < MOST_FEATURE_BITS ? room : MOST_FEATURE_BITS;
}

/* --- Building ------------------------------------------------------------------------------------ */

/* Coordinates of a Gram matrix that some pair of the public table can make other than 0. */
static tacit_status list_active(tacit__lsvi_data *c)
{
    const tacit__linear_space *sp = &c->o.space;
    c->n_active = c->packed;
    if (sp->form != TACIT__TABLE)
        return TACIT_OK;
    bool *seen = tacit__alloc(c->packed, sizeof *seen);
    c->active = tacit__alloc(c->packed, sizeof *c->active);
    if (seen == NULL || c->active == NULL) {
        tacit__free(seen);
        return TACIT_NO_MEMORY;
    }
    for (size_t row = 0; row < sp->n_states * sp->n_actions; row++) {
        const double *phi = sp->table + row * sp->dimension;
        for (size_t j = 0, at = 0; j < sp->dimension; j++)
            for (size_t i = 0; i <= j; i++, at++)
                seen[at] = seen[at] || (phi[i] != 0 && phi[j] != 0);
    }
    c->n_active = 0;
    for (size_t at = 0; at < c->packed; at++)
        if (seen[at])
            c->active[c->n_active++] = at;
    tacit__free(seen);
    if (c->n_active == 0) /* all features are 0: one coordinate keeps the plan well-formed */
        c->active[c->n_active++] = 0;
    if (c->n_active == c->packed) {
        tacit__free(c->active);
        c->active = NULL;
    }
    return TACIT_OK;
}

/* The running sum of Gram matrices, with its lattice. */
static tacit_status gram_spec(const tacit__lsvi_data *c, tacit_sum_spec *spec, int *bits,
                              tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    double H = (double)c->o.space.horizon, leaf = (double)s->leaf, n = (double)c->size;
    *spec = (tacit_sum_spec){
        .mechanism = s->mechanism,
        .law = s->law,
        .dimension = c->size,
        .users = s->leaves,
        .bound = {.l1 = LEAF_SLACK * leaf * H * s->gram_l1 / 2, .l2 = LEAF_SLACK * leaf * sqrt(H)},
        .sensitivity_l1 = H * s->gram_l1,
        .sensitivity_l2 = sqrt(H) * s->gram_l2,
        .reason = "to be given"};
    tacit__lattice lattice;
    tacit_status status = tacit__lattice_choose(spec, c->size, &lattice, err);
    if (status != TACIT_OK)
        return status;
    bool rounds = c->o.space.form != TACIT__ONE_HOT;
    double step = ldexp(STEP, -lattice.bits), l1 = rounds ? n * step : 0,
           l2 = rounds ? sqrt(n) * step : 0;
    if (l2 > (LEAF_SLACK - 1) * sqrt(H) || l1 > (LEAF_SLACK - 1) * H * s->gram_l1 / 2)
        return tacit__fail(err, TACIT_NO_ROOM,
                           "Gram matrices of %zu numbers and %llu users in a leaf do not fit the "
                           "lattice; use fewer features or more batches",
                           c->size, (unsigned long long)s->leaf);
    spec->sensitivity_l1 += l1;
    spec->sensitivity_l2 += l2;
    spec->reason = s->tabled ? "|xx'-yy'|_F at its largest over all pairs of the public feature "
                               "table, at each of H steps"
                             : "|xx'-yy'|_F^2 = |x|^4+|y|^4-2(x.y)^2 <= 2 at each of H steps";
    *bits = lattice.bits;
    return TACIT_OK;
}

static tacit__once_spec fresh_gram_spec(const tacit__lsvi_data *c)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    double H = (double)c->o.space.horizon, n = (double)c->size,
           step = ldexp(STEP, -EXACT_GRAM_BITS);
    bool rounds = c->o.space.form != TACIT__ONE_HOT;
    return (tacit__once_spec){
        .law = s->law,
        .dimension = c->size,
        .releases = s->leaves,
        .bits = EXACT_GRAM_BITS,
        .l1 = H * s->gram_l1 + (rounds ? n * step : 0),
        .l2 = sqrt(H) * s->gram_l2 + (rounds ? sqrt(n) * step : 0),
        .reason = "fresh releases: for so few less noisy than a running sum; |xx'-yy'|_F^2 <= 2 at "
                  "each of H steps"};
}

static tacit__once_spec response_spec(const tacit__lsvi_data *c)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    const char *reason =
        c->o.printed ? "|xa-yb| <= 2 for targets in [0, 1]; every switch asks each of H steps once"
        : s->law == TACIT_LAW_LAPLACE
            ? "|xa-yb|_1 <= |x|_1|a| + |y|_1|b|; every switch asks each of H steps once"
            : "|xx'-yy'|^2 + t|xa-yb|^2 is never larger than both declared moves together; every "
              "switch asks each of H steps once";
    double d = (double)c->o.space.dimension,
           step = c->shown_bits < c->response_bits ? ldexp(1, -c->shown_bits) : 0,
           move = sqrt(d) * step, l1 = s->response_l1 + d * step,
           l2 = sqrt(s->response_l2 * s->response_l2 + 4 * move + move * move);
    return (tacit__once_spec){.law = s->law,
                              .dimension = c->o.space.dimension,
                              .releases = s->switches * c->o.space.horizon,
                              .bits = c->shown_bits,
                              .l1 = l1,
                              .l2 = step == 0                     ? s->response_l2
                                    : s->law == TACIT_LAW_LAPLACE ? fmin(l1, l2)
                                                                  : l2,
                              .reason = reason};
}

/* Scales: as the scheme found them best, for the sensitivities as they are now declared; or as printed. The weight
 * makes the plan's own split come out at the scheme's ratio. */
static tacit_status calibrate(const tacit__lsvi_data *c, tacit_plan *plan, tacit_release *gram,
                              tacit_release *response, tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    double ratio = s->response_scale / s->gram_scale, dg, du;
    if (s->law == TACIT_LAW_GAUSSIAN) {
        dg = gram->l2 * gram->column_l2;
        du = response->l2 * response->column_l2;
        response->weight = du * du / (ratio * ratio * ratio * dg * dg);
    } else {
        dg = gram->l1 * gram->column_l1;
        du = response->l1 * response->column_l1;
        response->weight = du / (ratio * ratio * dg);
    }
    tacit_status status = tacit_plan_declare(plan, gram, err);
    if (status == TACIT_OK)
        status = tacit_plan_declare(plan, response, err);
    if (status != TACIT_OK)
        return status;
    if (!c->o.printed)
        return tacit_plan_calibrate(plan, c->o.guarantee, err);
    status = tacit_plan_set_scale(plan, gram_name, s->law, s->gram_scale, err);
    return status == TACIT_OK
               ? tacit_plan_set_scale(plan, response_name, s->law, s->response_scale, err)
               : status;
}

/* The condition under which response_l2 was computed; see lsvi_scheme.c. */
static tacit_status check_ratio(const tacit__lsvi_data *c, const tacit_plan *plan,
                                const tacit_release *gram, tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    if (c->o.printed || s->law != TACIT_LAW_GAUSSIAN)
        return TACIT_OK;
    double g = tacit_plan_scale(plan, tacit_plan_index(plan, gram_name)) / gram->column_l2,
           u = tacit_plan_scale(plan, tacit_plan_index(plan, response_name));
    if ((double)s->switches * g * g / (u * u) <= s->ratio)
        return TACIT_OK;
    return tacit__fail(err, TACIT_BAD_PLAN,
                       "the split between Gram matrices and responses misses its condition");
}

/* Bits of targets: exact sums. Features have taken at most half of them. */
static void choose_bits(tacit__lsvi_data *c)
{
    int centred = c->o.centred ? 1 : 0, f = c->o.space.feature_bits;
    int room = EXACT_BITS - f - centred - (int)ceil(log2((double)c->o.episodes + 1));
    c->target_bits = room < MOST_TARGET_BITS ? room : MOST_TARGET_BITS;
    c->response_bits = c->shown_bits = c->target_bits + f + centred;
    if (!is_private(c))
        return;
    int coarse = SHOWN_BITS - (int)ceil(log2(c->o.scheme.response_scale));
    c->shown_bits = coarse < c->response_bits ? coarse : c->response_bits;
}

/* Plan, ledger and mechanisms of the private curator. */
static tacit_status open_releases(tacit__lsvi_data *c, tacit_noise *noise, tacit_error *err)
{
    const tacit__lsvi_scheme *s = &c->o.scheme;
    tacit_plan *plan = NULL;
    tacit_sum_spec sums;
    tacit__once_spec fresh = fresh_gram_spec(c), responses = response_spec(c);
    tacit_release gram, response;
    tacit_status status = tacit_plan_create(&plan);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    if (s->direct) {
        c->gram_bits = EXACT_GRAM_BITS;
        status = tacit__once_declare(&fresh, gram_name, &gram, err);
    } else {
        status = gram_spec(c, &sums, &c->gram_bits, err);
        if (status == TACIT_OK)
            status = tacit_sum_declare(&sums, gram_name, &gram, err);
    }
    if (status == TACIT_OK)
        status = tacit__once_declare(&responses, response_name, &response, err);
    if (status == TACIT_OK)
        status = calibrate(c, plan, &gram, &response, err);
    if (status == TACIT_OK)
        status = check_ratio(c, plan, &gram, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    if (status == TACIT_OK)
        status = s->direct ? tacit__once_create(&fresh, c->ledger, gram_name, &c->fresh, err)
                           : tacit_sum_create(&sums, c->ledger, gram_name, &c->sum, err);
    if (status == TACIT_OK)
        status = tacit__once_create(&responses, c->ledger, response_name, &c->responses, err);
    tacit_plan_destroy(plan);
    return status;
}

static tacit_status open_memory(tacit__lsvi_data *c, tacit_error *err)
{
    const tacit__linear_space *sp = &c->o.space;
    if (sp->form != TACIT__CARRIED) {
        tacit_status status =
            tacit__visits_create(sp->n_states, sp->n_actions, sp->horizon, DENSE_CELLS, &c->visits);
        return status == TACIT_OK ? status : tacit__fail_plain(err, status);
    }
    uint64_t users = c->o.scheme.leaf * c->o.scheme.leaves;
    double needed =
        tacit__archive_bytes(sp->n_actions, sp->horizon, sp->dimension, c->o.wide, users);
    if (needed > c->o.archive_bytes)
        return tacit__fail(err, TACIT_TOO_LARGE,
                           "the features of %llu users take %.0f MB, but archive_mb allows %.0f; "
                           "raise it, or store them as float32, or declare fewer episodes",
                           (unsigned long long)users, ceil(needed / 1e6), c->o.archive_bytes / 1e6);
    tacit_status status =
        tacit__archive_create(sp->n_actions, sp->horizon, sp->dimension, c->o.wide, &c->archive);
    return status == TACIT_OK ? status : tacit__fail_plain(err, status);
}

static bool allocate(tacit__lsvi_data *c)
{
    const tacit__linear_space *sp = &c->o.space;
    size_t d = sp->dimension, H = sp->horizon, S = sp->n_states, A = sp->n_actions;
    c->range = tacit__alloc(H, sizeof *c->range);
    c->leaf = tacit__alloc(c->size, sizeof *c->leaf);
    c->total = tacit__alloc(c->size, sizeof *c->total);
    c->gram = tacit__alloc(H * c->packed, sizeof *c->gram);
    c->shown = tacit__alloc(c->size, sizeof *c->shown);
    c->placed = tacit__alloc(sp->form == TACIT__CARRIED ? H * A * d : d, sizeof *c->placed);
    c->outer = tacit__alloc(c->packed, sizeof *c->outer);
    c->next = tacit__alloc(S, sizeof *c->next);
    c->sums = tacit__alloc(sp->form == TACIT__CARRIED ? 1 : S * A, sizeof *c->sums);
    c->rewards = tacit__alloc(H, sizeof *c->rewards);
    c->exact_double = tacit__alloc(d, sizeof *c->exact_double);
    c->exact = tacit__alloc(d, sizeof *c->exact);
    return c->range != NULL && c->leaf != NULL && c->total != NULL && c->gram != NULL &&
           c->shown != NULL && c->placed != NULL && c->outer != NULL && c->next != NULL &&
           c->sums != NULL && c->rewards != NULL && c->exact_double != NULL && c->exact != NULL;
}

tacit_status tacit__lsvi_data_create(const tacit__lsvi_data_options *options, tacit_noise *noise,
                                     tacit__lsvi_data **out, tacit_error *err)
{
    tacit__lsvi_data *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    c->o = *options;
    c->packed = tacit__gram_size(&c->o.space);
    c->gram_bits = EXACT_GRAM_BITS;
    tacit_status status = list_active(c);
    c->size = c->o.space.horizon * c->n_active;
    if (status == TACIT_OK && !allocate(c))
        status = TACIT_NO_MEMORY;
    if (status != TACIT_OK) {
        tacit__lsvi_data_destroy(c);
        return tacit__fail_plain(err, status);
    }
    memcpy(c->range, options->range, c->o.space.horizon * sizeof *c->range);
    choose_bits(c);
    status = open_memory(c, err);
    if (status == TACIT_OK && is_private(c))
        status = open_releases(c, noise, err);
    if (status != TACIT_OK) {
        tacit__lsvi_data_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__lsvi_data_destroy(tacit__lsvi_data *c)
{
    if (c == NULL)
        return;
    const tacit__linear_space *sp = &c->o.space;
    size_t d = sp->dimension, H = sp->horizon, S = sp->n_states, A = sp->n_actions;
    tacit_sum_destroy(c->sum);
    tacit__once_destroy(c->fresh);
    tacit__once_destroy(c->responses);
    tacit_ledger_destroy(c->ledger);
    tacit__visits_destroy(c->visits);
    tacit__archive_destroy(c->archive);
    tacit__free(c->active);
    tacit__free(c->range);
    tacit__free_secret(c->leaf, c->size * sizeof *c->leaf);
    tacit__free_secret(c->total, c->size * sizeof *c->total);
    tacit__free(c->gram);
    tacit__free_secret(c->shown, c->size * sizeof *c->shown);
    tacit__free_secret(c->placed, (sp->form == TACIT__CARRIED ? H * A * d : d) * sizeof *c->placed);
    tacit__free_secret(c->outer, c->packed * sizeof *c->outer);
    tacit__free(c->next);
    tacit__free_secret(c->sums, (sp->form == TACIT__CARRIED ? 1 : S * A) * sizeof *c->sums);
    tacit__free_secret(c->rewards, H * sizeof *c->rewards);
    tacit__free_secret(c->exact_double, d * sizeof *c->exact_double);
    tacit__free_secret(c->exact, d * sizeof *c->exact);
    tacit__free(c);
}

tacit_ledger *tacit__lsvi_data_ledger(const tacit__lsvi_data *c)
{
    return c->ledger;
}

uint64_t tacit__lsvi_data_users(const tacit__lsvi_data *c)
{
    return c->users;
}

/* --- Users ---------------------------------------------------------------------------------------- */

static tacit_status check_user(tacit__lsvi_data *c, const tacit__lsvi_user *u, tacit_error *err)
{
    const tacit__linear_space *sp = &c->o.space;
    bool carried = sp->form == TACIT__CARRIED;
    if (u->actions == NULL || u->rewards == NULL ||
        (carried ? u->features : (const void *)u->states) == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT,
                           carried ? "a user has actions, rewards and features"
                                   : "a user has states, actions and rewards");
    for (size_t h = 0; h <= sp->horizon && !carried; h++)
        if (u->states[h] >= sp->n_states)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the state is not below %zu", h,
                               sp->n_states);
    for (size_t h = 0; h < sp->horizon; h++) {
        if (u->actions[h] >= sp->n_actions || !(u->rewards[h] >= 0 && u->rewards[h] <= 1))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "step %zu: the action is not below %zu, or the reward not in [0, 1]",
                               h, sp->n_actions);
        for (size_t a = 0; carried && a < sp->n_actions; a++) {
            size_t at = (h * sp->n_actions + a) * sp->dimension;
            if (!tacit__lsvi_place(sp->dimension, sp->bound, sp->feature_bits, u->features + at,
                                   c->placed + at))
                return tacit__fail(err, TACIT_OUT_OF_BOUND,
                                   "step %zu: a feature vector is longer than its bound %g, or "
                                   "not of finite numbers",
                                   h, sp->bound);
        }
    }
    return TACIT_OK;
}

/* The features of the action taken at step h, in lattice steps. */
static const double *chosen(const tacit__lsvi_data *c, const tacit__lsvi_user *u, size_t h)
{
    const tacit__linear_space *sp = &c->o.space;
    if (sp->form == TACIT__TABLE)
        return sp->table + (u->states[h] * sp->n_actions + u->actions[h]) * sp->dimension;
    return c->placed + (h * sp->n_actions + u->actions[h]) * sp->dimension;
}

/* Adds a user's Gram matrices to the leaf: rounded to the lattice, one user at a time. */
static void add_gram(tacit__lsvi_data *c, const tacit__lsvi_user *u)
{
    const tacit__linear_space *sp = &c->o.space;
    for (size_t h = 0; h < sp->horizon; h++) {
        int64_t *leaf = c->leaf + h * c->n_active;
        if (sp->form == TACIT__ONE_HOT) {
            leaf[u->states[h] * sp->n_actions + u->actions[h]] += (int64_t)1 << c->gram_bits;
            continue;
        }
        tacit__packed_outer(sp->dimension, ldexp(1, c->gram_bits - 2 * sp->feature_bits),
                            chosen(c, u, h), c->outer);
        if (c->active == NULL)
            for (size_t i = 0; i < c->n_active; i++)
                leaf[i] += llrint(c->outer[i]);
        else
            for (size_t i = 0; i < c->n_active; i++)
                leaf[i] += llrint(c->outer[c->active[i]]);
    }
}

/* Passes a complete leaf on. Only a journal can refuse here, and then the leaf is closed for good. */
static tacit_status end_leaf(tacit__lsvi_data *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (c->sum != NULL) {
        double unit = ldexp(1, -c->gram_bits);
        for (size_t i = 0; i < c->size; i++)
            c->shown[i] = (double)c->leaf[i] * unit;
        status = tacit_sum_add(c->sum, c->shown, err);
    } else {
        for (size_t i = 0; i < c->size; i++)
            c->total[i] += c->leaf[i];
    }
    memset(c->leaf, 0, c->size * sizeof *c->leaf);
    c->broken = status != TACIT_OK;
    c->leaves++;
    c->ready = !c->broken;
    return status;
}

tacit_status tacit__lsvi_data_add(tacit__lsvi_data *c, const tacit__lsvi_user *u, tacit_error *err)
{
    const tacit__linear_space *sp = &c->o.space;
    tacit_status status = check_user(c, u, err);
    if (status != TACIT_OK)
        return status;
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the statistics are closed");
    if (c->users == c->o.episodes)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu episodes",
                           (unsigned long long)c->o.episodes);
    if (c->closed || c->leaves == c->o.scheme.leaves) { /* nothing will be asked about this user */
        c->users++;
        return TACIT_OK;
    }
    for (size_t h = 0; h < sp->horizon; h++)
        c->rewards[h] = floor(ldexp(u->rewards[h] / c->range[h], c->target_bits));
    status = c->visits != NULL ? tacit__visits_add(c->visits, u->states, u->actions, c->rewards)
                               : tacit__archive_add(c->archive, c->placed, u->actions, c->rewards);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    add_gram(c, u);
    c->users++;
    return c->users % c->o.scheme.leaf == 0 ? end_leaf(c, err) : TACIT_OK;
}

void tacit__lsvi_data_close(tacit__lsvi_data *c)
{
    c->closed = true;
    c->ready = false;
}

/* --- Releases ------------------------------------------------------------------------------------- */

bool tacit__lsvi_data_ready(const tacit__lsvi_data *c)
{
    return c->ready;
}

tacit_status tacit__lsvi_data_gram(tacit__lsvi_data *c, const double **gram, tacit_error *err)
{
    if (!c->ready)
        return tacit__fail_plain(err, TACIT_NOTHING_TO_RELEASE);
    double *to = c->active == NULL ? c->gram : c->shown;
    tacit_status status = TACIT_OK;
    if (c->sum != NULL) {
        status = tacit_sum_release(c->sum, to, err);
    } else if (c->fresh != NULL) {
        status = tacit__once_release(c->fresh, c->total, to, err);
    } else {
        double unit = ldexp(1, -c->gram_bits);
        for (size_t i = 0; i < c->size; i++)
            to[i] = (double)c->total[i] * unit;
    }
    if (status != TACIT_OK)
        return status;
    for (size_t h = 0; c->active != NULL && h < c->o.space.horizon; h++)
        for (size_t i = 0; i < c->n_active; i++)
            c->gram[h * c->packed + c->active[i]] = to[h * c->n_active + i];
    c->ready = false;
    *gram = c->gram;
    return TACIT_OK;
}

/* exact[d] = sum over users of phi_h target_h, from the counts. */
static void respond_from_visits(tacit__lsvi_data *c, size_t h, const double *table,
                                const tacit__target *target)
{
    const tacit__linear_space *sp = &c->o.space;
    size_t d = sp->dimension, pairs = sp->n_states * sp->n_actions;
    for (size_t s = 0; table != NULL && s < sp->n_states; s++)
        c->next[s] = tacit__target_place(target, table[s]);
    tacit__visits_sums(c->visits, h, table != NULL ? c->next : NULL, c->sums);
    const double *counts = tacit__visits_counts(c->visits, h);
    double one = ldexp(1, sp->feature_bits);
    memset(c->exact_double, 0, d * sizeof *c->exact_double);
    for (size_t i = 0; i < pairs; i++) {
        if (counts[i] == 0)
            continue;
        double y = target->times * c->sums[i] - target->centre * counts[i];
        if (sp->form == TACIT__ONE_HOT) {
            c->exact_double[i] = one * y;
            continue;
        }
        const double *phi = sp->table + i * d;
        for (size_t j = 0; j < d; j++)
            c->exact_double[j] += y * phi[j];
    }
}

tacit_status tacit__lsvi_data_respond(tacit__lsvi_data *c, size_t h, const double *table,
                                      const tacit__optimism *function, double *response,
                                      tacit_error *err)
{
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the statistics are closed");
    size_t d = c->o.space.dimension;
    double per_value = ldexp(1 / c->range[h], c->target_bits);
    const tacit__target target = {.per_value = per_value,
                                  .most = floor((c->range[h] - 1) * per_value),
                                  .times = c->o.centred ? 2 : 1,
                                  .centre = c->o.centred ? ldexp(1, c->target_bits) : 0};
    if (c->visits != NULL)
        respond_from_visits(c, h, table, &target);
    else
        tacit__archive_respond(c->archive, h, function, &target, c->exact_double);
    if (!is_private(c)) {
        for (size_t j = 0; j < d; j++)
            response[j] = ldexp(c->exact_double[j], -c->response_bits);
        return TACIT_OK;
    }
    for (size_t j = 0; j < d; j++) {
        TACIT__REQUIRE(fabs(c->exact_double[j]) <= 0x1p53);
        c->exact[j] = llrint(ldexp(c->exact_double[j], c->shown_bits - c->response_bits));
    }
    tacit_status status = tacit__once_release(c->responses, c->exact, response, err);
    c->broken = status != TACIT_OK && status != TACIT_EXHAUSTED;
    return status;
}

/* --- Saved states ---------------------------------------------------------------------------------- */

typedef struct header {
    uint64_t users, leaves;
    uint64_t ready, closed;
    uint64_t sum_size, memory_size;
} header;

static tacit_status sum_size(const tacit__lsvi_data *c, size_t *size, tacit_error *err)
{
    *size = 0;
    if (c->sum != NULL)
        return tacit_sum_save(c->sum, NULL, size, err);
    *size = c->fresh != NULL ? tacit__once_saved_size() : 0;
    return TACIT_OK;
}

tacit_status tacit__lsvi_data_save(const tacit__lsvi_data *c, void *bytes, size_t *size,
                                   tacit_error *err)
{
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the statistics are closed");
    size_t grams = c->size * sizeof *c->leaf, sums;
    size_t memory = c->visits != NULL ? tacit__visits_saved_size(c->visits)
                                      : tacit__archive_saved_size(c->archive);
    size_t once = c->responses != NULL ? tacit__once_saved_size() : 0;
    tacit_status status = sum_size(c, &sums, err);
    if (status != TACIT_OK)
        return status;
    size_t needed = sizeof(header) + 2 * grams + sums + once + memory;
    if (bytes == NULL) {
        *size = needed;
        return TACIT_OK;
    }
    if (*size < needed)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "the state takes %zu bytes, the buffer has %zu",
                           needed, *size);
    const header h = {c->users, c->leaves, c->ready, c->closed, sums, memory};
    uint8_t *at = bytes;
    memcpy(at, &h, sizeof h);
    at += sizeof h;
    memcpy(at, c->leaf, grams);
    memcpy(at + grams, c->total, grams);
    at += 2 * grams;
    if (c->sum != NULL)
        status = tacit_sum_save(c->sum, at, &sums, err);
    else if (c->fresh != NULL)
        tacit__once_save(c->fresh, at);
    if (status != TACIT_OK)
        return status;
    at += sums;
    if (c->responses != NULL)
        tacit__once_save(c->responses, at);
    at += once;
    if (c->visits != NULL)
        tacit__visits_save(c->visits, at);
    else
        tacit__archive_save(c->archive, at);
    *size = needed;
    return TACIT_OK;
}

static tacit_status check_header(const tacit__lsvi_data *c, const header *h, size_t size,
                                 tacit_error *err)
{
    size_t grams = c->size * sizeof *c->leaf, sums;
    size_t once = c->responses != NULL ? tacit__once_saved_size() : 0;
    tacit_status status = sum_size(c, &sums, err);
    if (status != TACIT_OK)
        return status;
    if (h->sum_size != sums || h->memory_size > size ||
        size != sizeof *h + 2 * grams + sums + once + h->memory_size || h->users > c->o.episodes ||
        h->leaves > c->o.scheme.leaves || h->ready > 1 || h->closed > 1)
        return tacit__fail(err, TACIT_CORRUPT, "the saved statistics contradict themselves");
    return TACIT_OK;
}

tacit_status tacit__lsvi_data_load(tacit__lsvi_data *c, const void *bytes, size_t size,
                                   tacit_error *err)
{
    size_t grams = c->size * sizeof *c->leaf;
    size_t once = c->responses != NULL ? tacit__once_saved_size() : 0;
    header h;
    if (c->users > 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "saved statistics are loaded into fresh ones");
    if (size < sizeof h)
        return tacit__fail(err, TACIT_CORRUPT, "%zu bytes are too few", size);
    memcpy(&h, bytes, sizeof h);
    tacit_status status = check_header(c, &h, size, err);
    if (status != TACIT_OK)
        return status;
    const uint8_t *leaf = (const uint8_t *)bytes + sizeof h, *sums = leaf + 2 * grams,
                  *responses = sums + h.sum_size, *memory = responses + once;
    if (c->sum != NULL)
        status = tacit__sum_check_saved(c->sum, sums, (size_t)h.sum_size, err);
    else if (c->fresh != NULL)
        status = tacit__once_check(c->fresh, sums, err);
    if (status == TACIT_OK && c->responses != NULL)
        status = tacit__once_check(c->responses, responses, err);
    if (status != TACIT_OK)
        return status;
    status = c->visits != NULL ? tacit__visits_load(c->visits, memory, (size_t)h.memory_size)
                               : tacit__archive_load(c->archive, memory, (size_t)h.memory_size);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    if (c->sum != NULL)
        status = tacit_sum_load(c->sum, sums, (size_t)h.sum_size, err);
    else if (c->fresh != NULL)
        status = tacit__once_load(c->fresh, sums, err);
    if (status == TACIT_OK && c->responses != NULL)
        status = tacit__once_load(c->responses, responses, err);
    c->broken = status != TACIT_OK; /* what was loaded before it is raw data without its noise */
    if (status != TACIT_OK)
        return status;
    memcpy(c->leaf, leaf, grams);
    memcpy(c->total, leaf + grams, grams);
    c->users = h.users;
    c->leaves = h.leaves;
    c->ready = h.ready != 0;
    c->closed = h.closed != 0;
    return TACIT_OK;
}
