/* See kernel_planner.h. A learner of our own; docs/why/posterior-kernel.md derives it, says which
 * functions its constants were chosen on, and what each of them is worth.
 *
 * A bold user plays argmax mean + xi sd with xi = boldness |N(0, 1)|. In a bandit it does not matter who
 * draws xi: the users of a batch may as well act by the policy that draws for each of them, so a batch has
 * one mixed table, and no chance is drawn here. For a context the best action as a function of xi is the
 * upper envelope of the lines mean + xi sd, and the probability of an action that of xi between two
 * corners.
 *
 * A batch has the share quota / users of bold users, at most 1; the others are milder (`rest` in the place
 * of boldness). The first batch plays uniformly, and the last one, of which nothing is released, greedily.
 *
 * How likely contexts are, if that is not declared: each user adds `cell` in the cell of the context, and the
 * shares are those that the noisy counts say, drawn toward equal ones by what noise and chance leave open.
 * All batches are then added anew with each release, since the law of the earlier ones is known better. */
#include "plan/posterior/kernel_planner.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

#define LEAST_REST 0.3   /* of a batch: a shorter last one is joined to it */
#define LEAST_SHARE 1e-6 /* of an action in a context: a smaller one is not played */
enum {
    LEAST_FIRST = 16,
    MOST_PARTS = 16
};                         /* users of the first batch: from 16 to K / 16, of few K / 3 */
enum { LOCAL_PARTS = 10 }; /* of the quota that the first batch is under local privacy */

typedef struct planner {
    tacit__kernel_planner_options o;
    tacit__kernel_features *features;
    tacit__kernel_belief *posterior;
    size_t n_epochs, epoch, cells, dimension;
    uint64_t quota;
    uint64_t *ends; /* [epochs] */
    double scale;   /* of the noise */
    double length;  /* of the longest vector */
    size_t p;       /* of this epoch's vectors */
    double *v;      /* [pairs][p] */
    size_t *place;  /* [pairs] */
    double *mixed;  /* [pairs] */
    double *play;   /* [pairs] scratch */
    double *law;    /* [contexts] */
    double *sums;   /* [epochs - 1][dimension] */
    /* of the epochs that are over, if the law is learned */
    size_t *old_p;     /* [epochs - 1] */
    double *old_mixed; /* [epochs - 1][pairs] */
    double *old_v;     /* [epochs - 1][pairs][p], with room for `dimension` */
} planner;

static uint64_t users_of(const planner *p, size_t epoch)
{
    return p->ends[epoch] - (epoch > 0 ? p->ends[epoch - 1] : 0);
}

/* --- Batches ------------------------------------------------------------------------------------- */

size_t tacit__kernel_planner_schedule(const tacit__kernel_planner_options *o, uint64_t first,
                                      uint64_t *ends)
{
    const double K = (double)o->users;
    size_t n = 0;
    for (double users = 0; users < K; n++) {
        double size = users > 0 ? ceil((o->growth - 1) * users) : (double)first;
        const bool late = o->last > 0 && users > 0 && users + size > (double)o->last;
        if (o->commits ? users > 0 || size >= K : late || K - users < (1 + LEAST_REST) * size)
            size = K - users;
        users += size;
        if (ends != NULL)
            ends[n] = (uint64_t)users;
    }
    return n;
}

/* Users of the first batch; and the quota, which are the same. Under local privacy it does not matter to
 * the noise how users are cut into batches, and the first one is a tenth of the quota. */
static uint64_t first_of(planner *p)
{
    const tacit__kernel_planner_options *o = &p->o;
    const uint64_t parts = o->noise.local && !o->commits ? LOCAL_PARTS : 1;
    const double users = (double)o->users, most = fmax(1, floor(users / MOST_PARTS));
    if (o->first == 0 && o->commits)
        return tacit__kernel_features_explore(p->features, &o->noise, users);
    p->quota = o->first * parts;
    if (o->first == 0)
        p->quota = tacit__kernel_features_users(p->features, &o->noise, most);
    const uint64_t least = o->first > 0                      ? 1
                           : users < 3 * (double)LEAST_FIRST ? (uint64_t)ceil(users / 3)
                                                             : LEAST_FIRST;
    p->quota = p->quota > least ? p->quota : least;
    const uint64_t first = (p->quota + parts - 1) / parts;
    return first > least ? first : least;
}

/* --- The policy ---------------------------------------------------------------------------------- */

/* P(|N(0, 1)| < x) */
static double half_normal(double x)
{
    return erf(x * M_SQRT1_2);
}

/* Adds `share` times the policy of context c with this boldness. */
static void add_policy(planner *p, size_t c, double boldness, double share)
{
    const size_t A = p->o.pairs.n_actions;
    const double *mean = p->posterior->mean + c * A, *sd = p->posterior->sd + c * A;
    double *mixed = p->mixed + c * A;
    size_t at = 0;
    for (size_t a = 1; a < A; a++)
        if (mean[a] > mean[at] || (mean[a] == mean[at] && sd[a] > sd[at]))
            at = a;
    for (double xi = 0; xi < HUGE_VAL;) {
        size_t next = at;
        double corner = HUGE_VAL;
        for (size_t a = 0; a < A && boldness > 0; a++) {
            if (sd[a] <= sd[at])
                continue;
            const double meet = fmax(xi, (mean[at] - mean[a]) / (sd[a] - sd[at]));
            if (meet < corner || (meet == corner && sd[a] > sd[next])) {
                corner = meet;
                next = a;
            }
        }
        const double from = boldness > 0 ? half_normal(xi / boldness) : 0;
        const double to = corner < HUGE_VAL ? half_normal(corner / boldness) : 1;
        mixed[at] += share * (to - from);
        at = next;
        xi = corner;
    }
}

/* Shares that are next to nothing are left out. */
static void round_policy(double *mixed, size_t n_actions)
{
    double sum = 0;
    for (size_t a = 0; a < n_actions; a++) {
        mixed[a] = mixed[a] < LEAST_SHARE ? 0 : mixed[a];
        sum += mixed[a];
    }
    for (size_t a = 0; a < n_actions; a++)
        mixed[a] = fmin(1, mixed[a] / sum);
}

static void set_policy(planner *p)
{
    const size_t A = p->o.pairs.n_actions, n = p->features->n;
    const double users = (double)users_of(p, p->epoch);
    const bool greedy =
        p->o.commits || p->epoch + 1 == p->n_epochs; /* nothing is learned from the last */
    const double bold = greedy ? 0 : fmin(1, (double)p->quota / users);
    for (size_t w = 0; w < n; w++)
        p->mixed[w] = p->epoch == 0 ? 1 / (double)A : 0;
    for (size_t c = 0; c < p->o.pairs.n_contexts && p->epoch > 0; c++) {
        add_policy(p, c, p->o.boldness, bold);
        add_policy(p, c, greedy ? 0 : p->o.rest, 1 - bold);
        round_policy(p->mixed + c * A, A);
    }
}

/* How likely pairs are, by the law of contexts and this policy. */
static void set_play(planner *p, const double *mixed)
{
    for (size_t w = 0; w < p->features->n; w++)
        p->play[w] = p->law[w / p->o.pairs.n_actions] * mixed[w];
}

static double variance_of(const planner *p, double users)
{
    const tacit__kernel_noise noise = {.scale = p->scale, .local = p->o.noise.local};
    return tacit__kernel_noise_variance(&noise, users);
}

/* Policy and vectors of the epoch that begins. */
static void prepare(planner *p)
{
    set_policy(p);
    if (p->epoch + 1 == p->n_epochs)
        return;
    set_play(p, p->mixed);
    const double users = (double)users_of(p, p->epoch);
    p->p = tacit__kernel_belief_design(p->posterior, p->play, users, variance_of(p, users),
                                       p->length, p->dimension - p->cells, p->v);
}

/* --- Releases ------------------------------------------------------------------------------------ */

/* The counts of contexts say, over n users, shares of variance noise + share / n; equal ones were expected,
 * each with a standard deviation of its own size. */
static void learn_law(planner *p)
{
    const size_t C = p->o.pairs.n_contexts;
    const tacit__kernel_noise noise = {.scale = p->scale, .local = p->o.noise.local};
    const double even = 1 / (double)C, unit = TACIT__KERNEL_BOUND * p->o.cell;
    double users = 0, variance = 0, total = 0;
    for (size_t k = 0; k <= p->epoch; k++) {
        users += (double)users_of(p, k);
        variance += tacit__kernel_noise_variance(&noise, (double)users_of(p, k)) / (unit * unit);
    }
    const double chance = variance / (users * users) + even / users;
    const double trust = even * even / (even * even + chance);
    for (size_t c = 0; c < C; c++) {
        double count = 0;
        for (size_t k = 0; k <= p->epoch; k++)
            count += p->sums[k * p->dimension + p->dimension - C + c] / unit;
        p->law[c] = fmax(1e-3 * even, even + trust * (count / users - even));
        total += p->law[c];
    }
    for (size_t c = 0; c < C; c++)
        p->law[c] /= total;
}

static void add_batch(planner *p, size_t k, size_t m, const double *mixed, const double *v)
{
    const double users = (double)users_of(p, k);
    set_play(p, mixed);
    const tacit__kernel_batch batch = {.users = users,
                                       .variance = variance_of(p, users),
                                       .m = m,
                                       .v = v,
                                       .play = p->play,
                                       .sum = p->sums + k * p->dimension};
    tacit__kernel_belief_add(p->posterior, &batch);
}

/* Cells are kept in the last places, whatever p was. */
static void store_sum(planner *p, const double *sum)
{
    const size_t n = p->features->n;
    double *own = p->sums + p->epoch * p->dimension;
    for (size_t j = 0; j < p->p; j++)
        own[j] = TACIT__KERNEL_BOUND * sum[j];
    for (size_t c = 0; c < p->cells; c++)
        own[p->dimension - p->cells + c] = TACIT__KERNEL_BOUND * sum[p->p + c];
    if (p->cells == 0)
        return;
    p->old_p[p->epoch] = p->p;
    memcpy(p->old_mixed + p->epoch * n, p->mixed, n * sizeof *p->mixed);
    memcpy(p->old_v + p->epoch * n * p->dimension, p->v, n * p->p * sizeof *p->v);
}

static void close_epoch(void *self, const double *sum)
{
    planner *p = self;
    const size_t n = p->features->n;
    TACIT__REQUIRE(sum != NULL && p->epoch + 1 < p->n_epochs);
    store_sum(p, sum);
    if (p->cells > 0) {
        learn_law(p);
        tacit__kernel_belief_clear(p->posterior);
        for (size_t k = 0; k <= p->epoch; k++)
            add_batch(p, k, p->old_p[k], p->old_mixed + k * n, p->old_v + k * n * p->dimension);
    } else {
        add_batch(p, p->epoch, p->p, p->mixed, p->v);
    }
    tacit__kernel_belief_solve(p->posterior);
    p->epoch++;
    prepare(p);
}

/* --- The table ----------------------------------------------------------------------------------- */

static void destroy_planner(void *self)
{
    planner *p = self;
    if (p == NULL)
        return;
    tacit__kernel_belief_destroy(p->posterior);
    tacit__kernel_features_destroy(p->features);
    tacit__workspace_destroy(p);
}

/* As many as a sum over all users would have of uniform play: no batch is told more than that. At least
 * one. */
static size_t most_directions(const planner *p)
{
    const tacit__kernel_features *f = p->features;
    const double users = (double)p->o.users;
    for (size_t j = 0; j < f->p; j++)
        f->spectrum[j] = f->prior * f->lambda[j];
    const size_t m = tacit__kernel_fill(
        f->p, f->spectrum, users, tacit__kernel_noise_variance(&p->o.noise, users), f->weight);
    return m > 0 ? m : 1;
}

/* Everything whose size is known: the features are there, and so are the batches. */
static planner *make(planner w, uint64_t first)
{
    const size_t n = w.features->n, C = w.o.pairs.n_contexts, shown = w.n_epochs - 1;
    const bool learned = w.cells > 0;
    planner *p = TACIT__WORKSPACE(
        w, TACIT__PIECE(w.ends, w.n_epochs), {&w.v, n, w.dimension * sizeof *w.v},
        TACIT__PIECE(w.place, n), TACIT__PIECE(w.mixed, n), TACIT__PIECE(w.play, n),
        TACIT__PIECE(w.law, C), TACIT__PIECE(w.sums, shown * w.dimension),
        TACIT__PIECE_IF(learned, w.old_p, shown), TACIT__PIECE_IF(learned, w.old_mixed, shown * n),
        {&w.old_v, learned ? shown * n : 0, w.dimension * sizeof *w.v});
    if (p == NULL)
        return NULL;
    (void)tacit__kernel_planner_schedule(&p->o, first, p->ends);
    for (size_t i = 0; i < n; i++)
        p->place[i] = i;
    for (size_t c = 0; c < C; c++)
        p->law[c] =
            p->cells == 0 && p->o.pairs.weights != NULL ? p->o.pairs.weights[c] : 1 / (double)C;
    return p;
}

static tacit_status create_planner(const void *options, void **out)
{
    planner w = {.o = *(const tacit__kernel_planner_options *)options};
    TACIT__REQUIRE(w.o.users > 0 && (w.o.growth > 1 || w.o.commits) && w.o.cell < 1);
    w.length = sqrt(1 - w.o.cell * w.o.cell);
    if (w.o.cell > 0)
        w.o.pairs.weights = NULL;
    TRY(tacit__kernel_features_create(&w.o.pairs, w.o.rank, w.o.norm, &w.features));
    tacit_status status = tacit__kernel_belief_create(w.features, !w.o.commits, &w.posterior);
    planner *p = NULL;
    if (status == TACIT_OK) {
        const uint64_t first = first_of(&w);
        w.n_epochs = tacit__kernel_planner_schedule(&w.o, first, NULL);
        w.cells = w.o.cell > 0 ? w.o.pairs.n_contexts : 0;
        w.dimension = w.cells + most_directions(&w);
        p = make(w, first);
    }
    *out = p;
    if (p != NULL)
        return TACIT_OK;
    tacit__kernel_belief_destroy(w.posterior);
    tacit__kernel_features_destroy(w.features);
    return TACIT_NO_MEMORY;
}

static void start(void *self, double scale)
{
    planner *p = self;
    TACIT__REQUIRE(scale >= 0 && p->epoch == 0);
    p->scale = scale;
    prepare(p);
}

static tacit__epoch get_epoch(const void *self)
{
    const planner *p = self;
    return (tacit__epoch){.number = p->epoch,
                          .n_epochs = p->n_epochs,
                          .users = users_of(p, p->epoch),
                          .ends = p->ends,
                          .last = p->epoch + 1 == p->n_epochs,
                          .mixed = p->mixed,
                          .p = p->p,
                          .most = p->dimension - p->cells,
                          .v = p->v,
                          .place = p->place};
}

const tacit__epoch_planner tacit__kernel_planner = {.create = create_planner,
                                                    .destroy = destroy_planner,
                                                    .start = start,
                                                    .get = get_epoch,
                                                    .close = close_epoch};

uint64_t tacit__kernel_planner_quota(const void *self)
{
    return ((const planner *)self)->quota;
}

const tacit__kernel_belief *tacit__kernel_planner_belief(const void *self)
{
    return ((const planner *)self)->posterior;
}

const double *tacit__kernel_planner_law(const void *self)
{
    return ((const planner *)self)->law;
}
