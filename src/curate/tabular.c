/* Tabular counts. See curate/tabular.h.
 *
 * One user's contribution to a stream, over H steps, and how far a replaced user moves it [D: tabular
 * sensitivities; all for replacement]:
 *
 *     stream              bound on a contribution            move: L1, L2
 *     N, P per step       H ones in H tables                 2H, sqrt(2H)    (no coordinate is negative)
 *     N, P pooled         H ones, perhaps in one cell        2H, sqrt(2) H
 *     R raw               as N                               as N
 *     R centred, alone    |r - 1/2| <= 1/2 at each step      H, sqrt(H); pooled H, H
 *     R centred, with N   where cells agree N stands still   H, sqrt(H/2); pooled H, H / sqrt(2)
 *
 * The last line: at each step either the cells differ, and then N moves by 2 (squared) and R by 1/4 + 1/4, or they
 * agree, and then N does not move and R by at most 1. The squared loss is max{2/sN^2 + (1/2)/sR^2, 1/sR^2}, which is
 * the first if sR >= sN / 2; that is required of the scales after calibration. Pooled: H times the moves of one
 * step, by the triangle inequality.
 *
 * With `user_norm` u < 1 a pooled contribution whose L2 norm exceeds u H is scaled down to it as a whole. The moves
 * are then u times those above. Ratios of counts keep their meaning up to how often such users differ from
 * others; what is lost is a little bias, what is gained is 1/u in noise. (A trajectory of H steps has a norm of H only
 * if it repeats one transition H times; sqrt(H) if it never repeats one.)
 *
 * With `one_step` a user contributes a single step, to the table of that step: the moves are those of H = 1, only that
 * table gets noise, and the sums, which stand for 1/H of the visits, are multiplied by H. The step is public chance,
 * independent of data. docs/why/tabular.md has the proof and the gain. */
#include "curate/tabular.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "curate/levels.h"
#include "curate/tabular_inside.h"
#include "sums/sum.h"

static const char *const names[STREAMS] = {"visits", "moves", "rewards"};

/* The most users that any cell's noise comes from. */
static uint64_t most_reports(const tacit__tabular *c)
{
    uint64_t most = 0;
    if (!c->o.one_step)
        return c->users;
    for (size_t h = 0; h < c->o.space.horizon; h++)
        most = c->reports[h] > most ? c->reports[h] : most;
    return most;
}

/* Why a replaced user moves a stream no farther, with the formula that the bound's value comes from. */
static const char *reason_of(const tacit__tabular_options *o, bool centred, bool pooled)
{
    if (o->one_step)
        return centred ? "one step; where two users' cells agree the visits stand still: L1 1, "
                         "L2 sqrt(1/2)"
                       : "one step, one number of at most 1 moved from one cell to another: L1 2, "
                         "L2 sqrt(2)";
    if (centred && o->user_norm == 1)
        return "where two users' cells agree the visits stand still: 2/sN^2 + (1/2)/sR^2 a step, "
               "so L2 sqrt(H/2) (pooled: H/sqrt(2)); L1 H";
    if (centred)
        return "H numbers r - 1/2, clipped to length u H/2: L1 H, L2 u H";
    if (!pooled)
        return "H numbers of at most 1, one for each step, moved to other cells: L1 2H, "
               "L2 sqrt(2H)";
    return o->user_norm < 1 ? "H numbers of at most 1, clipped to length u H, moved to other "
                              "cells: L1 2H, L2 sqrt(2) u H"
                            : "H numbers of at most 1, perhaps all in one cell, moved to another: "
                              "L1 2H, L2 sqrt(2) H";
}

static tacit_sum_spec spec_of(const tacit__tabular *c, stream_name which)
{
    const tacit__tabular_options *o = &c->o;
    double steps = o->one_step ? 1 : (double)o->space.horizon;
    bool pooled = o->space.tables == 1 && !o->one_step;
    bool centred = which == REWARDS && o->centred;
    double unit = centred ? 0.5 : 1;
    /* upwards, so that H ones on the lattice are within the bound */
    double l2 = unit * (pooled ? steps * o->user_norm : nextafter(sqrt(steps), HUGE_VAL));
    tacit_sum_spec spec = {.mechanism = o->mechanism,
                           .law = o->guarantee.delta > 0 ? TACIT_LAW_GAUSSIAN : TACIT_LAW_LAPLACE,
                           .dimension = c->streams[which].report,
                           .users = o->episodes > 1 ? o->episodes - 1 : 1,
                           .bound = {.l1 = unit * steps,
                                     .l2 = l2,
                                     .nonnegative = !centred,
                                     .nonzeros = (uint64_t)steps,
                                     .clip = o->user_norm < 1},
                           .reason = reason_of(o, centred, pooled)};
    if (centred && o->user_norm == 1)
        spec.sensitivity_l2 = M_SQRT2 * l2;
    return spec;
}

static double weight_of(const tacit__tabular_options *o, stream_name which)
{
    return which == VISITS  ? o->weight_visits
           : which == MOVES ? o->weight_moves
                            : o->weight_rewards;
}

/* Error level of all releases of a stream: its noisiest prefix is a sum of so many draws. */
static double joint_level(const tacit__tabular *c, const stream *s)
{
    bool laplace = c->o.guarantee.delta == 0;
    double ratio = tacit_sum_worst_stddev(s->sum) / (s->scale * (laplace ? M_SQRT2 : 1));
    double draws = ratio * ratio;
    return s->scale * (laplace ? tacit__level_laplace(ceil(draws * (1 - 1e-9)), c->eta)
                               : tacit__level_gaussian(draws, c->eta));
}

static tacit_status calibrate(tacit__tabular *c, tacit_plan *plan, tacit_error *err)
{
    const tacit__tabular_options *o = &c->o;
    if (o->calibration == TACIT__TIGHT)
        return tacit_plan_calibrate(plan, o->guarantee, err);
    double scale = o->calibration == TACIT__FIGURE ? 1 / o->guarantee.epsilon : o->published_scale;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < tacit_plan_size(plan) && status == TACIT_OK; i++)
        status = tacit_plan_set_scale(plan, tacit_plan_release(plan, i)->name, TACIT_LAW_LAPLACE,
                                      scale, err);
    return status;
}

/* Plan, ledger and sums of the private curator. */
static tacit_status open_sums(tacit__tabular *c, tacit_noise *noise, tacit_error *err)
{
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        tacit_sum_spec spec = spec_of(c, (stream_name)i);
        tacit_release line;
        status = tacit_sum_declare(&spec, names[i], &line, err);
        line.weight = weight_of(&c->o, (stream_name)i);
        if (status == TACIT_OK)
            status = tacit_plan_declare(plan, &line, err);
    }
    if (status == TACIT_OK)
        status = calibrate(c, plan, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        stream *s = &c->streams[i];
        tacit_sum_spec spec = spec_of(c, (stream_name)i);
        s->scale = tacit_plan_scale(plan, tacit_plan_index(plan, names[i]));
        status = tacit_sum_create(&spec, c->ledger, names[i], &s->sum, err);
        if (status == TACIT_OK && c->o.mechanism != TACIT_SUM_LOCAL)
            s->level = joint_level(c, s);
    }
    /* the condition of the centred rewards' sensitivity; see the head */
    if (status == TACIT_OK && c->o.centred && c->o.guarantee.delta > 0 &&
        !(c->streams[REWARDS].scale >= c->streams[VISITS].scale / 2))
        status = tacit__fail(
            err, TACIT_BAD_PLAN,
            "the rewards' noise is less than half of the visits'; give rewards less weight");
    tacit_plan_destroy(plan);
    return status;
}

/* Exact moves are kept as lists from this many cells on: 32 MB. */
#define DENSE_CELLS 0x1p22

static double cells_of(const tacit__tabular_options *o)
{
    return (double)o->space.tables * (double)o->space.n_states * (double)o->space.n_actions *
           (double)(o->space.n_states + 2);
}

static tacit_status check_options(const tacit__tabular_options *o, tacit_error *err)
{
    if (o->space.n_states == 0 || o->space.n_actions == 0 || o->space.horizon == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "states, actions and horizon must be at least 1");
    if (o->episodes == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "episodes is 0, expected at least 1");
    if (o->one_step && (o->guarantee.model != TACIT_MODEL_LOCAL || o->space.tables == 1))
        return tacit__fail(
            err, TACIT_UNSUPPORTED,
            "reports of a single step are for the local model with a table for each step "
            "(pooled: no); with one table they would gain nothing");
    return TACIT_OK;
}

/* Dense private counts must fit into half of the machine's memory: the sums, and releases where the sums have none at hand. */
static tacit_status check_memory(const tacit__tabular *c, tacit_error *err)
{
    tacit_sum_spec spec = spec_of(c, MOVES);
    tacit__sum_gain gain;
    tacit_status status = tacit__sum_predict(&spec, &gain, err);
    if (status != TACIT_OK)
        return status;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double cells = cells_of(&c->o), needed = cells * (gain.bytes + sizeof(double));
    if (needed <= memory / 2)
        return TACIT_OK;
    return tacit__fail(
        err, TACIT_TOO_LARGE,
        "private counts have noise in all of their %.3g cells and would need about %.3g GB; pool "
        "the steps, use fewer states, or run without privacy",
        cells, needed / 1e9);
}

/* What is as large as the counts. */
static tacit_status place_counts(tacit__tabular *c, tacit_error *err)
{
    if (c->o.mechanism == TACIT_SUM_LOCAL) {
        c->scratch = tacit__alloc(c->streams[VISITS].report + c->streams[MOVES].report +
                                      c->streams[REWARDS].report,
                                  sizeof *c->scratch);
        if (c->scratch == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    for (int i = 0; i < STREAMS; i++) {
        stream *s = &c->streams[i];
        if (s->sum != NULL && !c->o.one_step)
            s->shown = tacit__sum_at_hand(s->sum);
        if (s->shown != NULL || s->size == 0)
            continue;
        s->shown = s->counts = tacit__alloc(s->size, sizeof *s->counts);
        if (s->counts == NULL)
            return tacit__fail(err, TACIT_NO_MEMORY, "counts of %zu cells do not fit into memory",
                               s->size);
    }
    return TACIT_OK;
}

tacit_status tacit__tabular_create(const tacit__tabular_options *options, tacit_noise *noise,
                                   tacit__tabular **out, tacit_error *err)
{
    tacit_status status = check_options(options, err);
    if (status != TACIT_OK)
        return status;
    tacit__tabular *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    c->o = *options;
    const tacit__space *sp = &c->o.space;
    size_t rows = sp->tables * sp->n_states * sp->n_actions;
    c->eta = c->o.failure / (3 * (double)rows * (double)(sp->n_states + 2) * (double)c->o.episodes);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        stream *s = &c->streams[i];
        s->size = i == MOVES ? rows * sp->n_states : rows;
        if (i == MOVES && !tacit__tabular_is_private(c) && cells_of(&c->o) > DENSE_CELLS) {
            c->rows = tacit__alloc(rows, sizeof *c->rows);
            c->n_rows = rows;
            s->size = 0;
            if (c->rows == NULL)
                status = tacit__fail_plain(err, TACIT_NO_MEMORY);
            continue;
        }
        s->report = c->o.one_step ? s->size / sp->tables : s->size;
        s->cell = tacit__alloc(sp->horizon, sizeof *s->cell);
        s->x = tacit__alloc(sp->horizon, sizeof *s->x);
        s->total = c->o.one_step ? tacit__alloc(s->report, sizeof *s->total) : NULL;
        s->before = c->o.one_step ? tacit__alloc(s->report, sizeof *s->before) : NULL;
        if (s->cell == NULL || s->x == NULL ||
            (c->o.one_step && (s->total == NULL || s->before == NULL)))
            status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    c->reports = tacit__alloc(sp->horizon, sizeof *c->reports);
    c->order = tacit__alloc(sp->horizon, sizeof *c->order);
    if (status == TACIT_OK && (c->reports == NULL || c->order == NULL))
        status = tacit__fail_plain(err, TACIT_NO_MEMORY);
    if (status == TACIT_OK && tacit__tabular_is_private(c)) {
        tacit__site_open(&c->chance, noise, "public: the step that a user reports");
        status = check_memory(c, err);
        if (status == TACIT_OK)
            status = open_sums(c, noise, err);
    }
    if (status == TACIT_OK)
        status = place_counts(c, err);
    if (status != TACIT_OK) {
        tacit__tabular_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__tabular_destroy(tacit__tabular *c)
{
    if (c == NULL)
        return;
    for (int i = 0; i < STREAMS; i++) {
        stream *s = &c->streams[i];
        tacit_sum_destroy(s->sum);
        tacit__free_secret(s->counts, s->size * sizeof *s->counts);
        tacit__free_secret(s->cell, c->o.space.horizon * sizeof *s->cell);
        tacit__free_secret(s->x, c->o.space.horizon * sizeof *s->x);
        tacit__free(s->total);
        tacit__free(s->before);
    }
    tacit_ledger_destroy(c->ledger);
    for (size_t i = 0; i < c->n_rows && c->rows != NULL; i++) {
        tacit__free(c->rows[i].next);
        tacit__free(c->rows[i].count);
    }
    tacit__free(c->rows);
    tacit__free(c->reports);
    tacit__free(c->scratch);
    tacit__free_secret(c->order, c->o.space.horizon * sizeof *c->order);
    tacit__free(c);
}

tacit_ledger *tacit__tabular_ledger(const tacit__tabular *c)
{
    return c->ledger;
}

/* Local levels grow with the number of users. They are computed for a number up to 1 % ahead, which is an upper
 * bound until it is reached. */
static double level(tacit__tabular *c, stream_name which)
{
    if (c->o.mechanism != TACIT_SUM_LOCAL)
        return c->streams[which].level;
    uint64_t reports = most_reports(c);
    if (reports > c->level_users) {
        double draws = ceil(1.01 * (double)reports),
               times = c->o.one_step ? (double)c->o.space.horizon : 1;
        bool laplace = c->o.guarantee.delta == 0;
        double unit =
            laplace ? tacit__level_laplace(draws, c->eta) : tacit__level_gaussian(draws, c->eta);
        for (int i = 0; i < STREAMS; i++)
            c->local_level[i] = times * c->streams[i].scale * unit;
        c->level_users = (uint64_t)draws;
    }
    return reports > 0 ? c->local_level[which] : 0;
}

tacit_status tacit__tabular_release(tacit__tabular *c, tacit__counts *out, tacit_error *err)
{
    for (int i = 0;
         i < STREAMS && tacit__tabular_is_private(c) && !c->o.one_step && c->users > 0 && !c->fresh;
         i++) {
        stream *s = &c->streams[i];
        if (s->sum == NULL)
            continue;
        tacit_status status = s->counts == NULL ? tacit__sum_release_at_hand(s->sum, err)
                                                : tacit_sum_release(s->sum, s->counts, err);
        if (status != TACIT_OK)
            return status;
    }
    c->fresh = true;
    *out = (tacit__counts){.users = c->users,
                           .visits = c->streams[VISITS].shown,
                           .moves = c->streams[MOVES].shown,
                           .rows = c->rows,
                           .rewards = c->streams[REWARDS].shown,
                           .centre = c->o.centred ? 0.5 : 0};
    if (tacit__tabular_is_private(c)) {
        out->moves_error = level(c, MOVES);
        out->rewards_error = level(c, REWARDS);
        out->visits_error = level(c, VISITS);
    }
    return TACIT_OK;
}

static tacit_status check_user(const tacit__tabular *c, const tacit__trajectory *u,
                               tacit_error *err)
{
    const tacit__space *sp = &c->o.space;
    for (size_t h = 0; h <= sp->horizon; h++)
        if (u->states[h] >= sp->n_states)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the state is not below %zu", h,
                               sp->n_states);
    for (size_t h = 0; h < sp->horizon; h++)
        if (u->actions[h] >= sp->n_actions || !(u->rewards[h] >= 0 && u->rewards[h] <= 1))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "step %zu: the action is not below %zu, or the reward not in [0, 1]",
                               h, sp->n_actions);
    return TACIT_OK;
}

/* Room for one more next state in a row. */
static bool grow_row(tacit__sparse_row *row)
{
    uint32_t capacity = row->capacity == 0 ? 4 : 2 * row->capacity;
    uint32_t *next = tacit__alloc(capacity, sizeof *next);
    double *count = tacit__alloc(capacity, sizeof *count);
    if (next == NULL || count == NULL) {
        tacit__free(next);
        tacit__free(count);
        return false;
    }
    if (row->length > 0) {
        memcpy(next, row->next, row->length * sizeof *next);
        memcpy(count, row->count, row->length * sizeof *count);
    }
    tacit__free(row->next);
    tacit__free(row->count);
    *row = (tacit__sparse_row){next, count, row->length, capacity};
    return true;
}

/* One user's moves into the lists. On failure the lists count as before, with some room more. */
static tacit_status list_moves(tacit__tabular *c, const tacit__trajectory *u, tacit_error *err)
{
    const tacit__space *sp = &c->o.space;
    for (int round = 0; round < 2; round++) /* make room for all, then count */
        for (size_t h = 0; h < sp->horizon; h++) {
            size_t table = sp->tables == 1 ? 0 : h;
            tacit__sparse_row *row =
                &c->rows[(table * sp->n_states + u->states[h]) * sp->n_actions + u->actions[h]];
            uint32_t i = 0;
            while (i < row->length && row->next[i] != u->states[h + 1])
                i++;
            if (round == 0) {
                while (i == row->length && row->capacity - row->length < sp->horizon &&
                       row->capacity < 2 * sp->n_states)
                    if (!grow_row(row))
                        return tacit__fail_plain(err, TACIT_NO_MEMORY);
                continue;
            }
            if (i == row->length) {
                row->next[i] = u->states[h + 1];
                row->count[i] = 0;
                row->length++;
            }
            row->count[i] += 1;
        }
    return TACIT_OK;
}

/* Adds a user to the exact counts. */
static void count(tacit__tabular *c, const tacit__trajectory *u)
{
    const tacit__space *sp = &c->o.space;
    double centre = c->o.centred ? 0.5 : 0;
    for (size_t h = 0; h < sp->horizon; h++) {
        size_t table = sp->tables == 1 ? 0 : h;
        size_t row = (table * sp->n_states + u->states[h]) * sp->n_actions + u->actions[h];
        c->streams[VISITS].counts[row] += 1;
        c->streams[REWARDS].counts[row] += u->rewards[h] - centre;
        if (c->rows == NULL)
            c->streams[MOVES].counts[row * sp->n_states + u->states[h + 1]] += 1;
    }
}

static int by_move(const void *a, const void *b)
{
    const visit *x = a, *y = b;
    return x->move != y->move ? (x->move > y->move) - (x->move < y->move)
                              : (x->h > y->h) - (x->h < y->h);
}

/* Ascending. Tables for each step come sorted; a trajectory of some dozens of steps is sorted by insertion. */
static void sort_visits(visit *order, size_t n)
{
    enum { SHORT = 64 };
    if (n > SHORT) {
        qsort(order, n, sizeof *order, by_move);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        visit v = order[i];
        size_t j = i;
        for (; j > 0 && order[j - 1].move > v.move; j--)
            order[j] = order[j - 1];
        order[j] = v;
    }
}

static void put(stream *s, size_t cell, double value)
{
    if (s->cells == 0 || s->cell[s->cells - 1] != cell) {
        s->cell[s->cells] = cell;
        s->x[s->cells++] = 0;
    }
    s->x[s->cells - 1] += value;
}

void tacit__tabular_contribute(tacit__tabular *c, const tacit__trajectory *u, size_t first,
                               size_t last)
{
    const tacit__space *sp = &c->o.space;
    double centre = c->o.centred ? 0.5 : 0;
    for (size_t h = first; h < last; h++) {
        size_t table = sp->tables == 1 || c->o.one_step ? 0 : h;
        size_t row = (table * sp->n_states + u->states[h]) * sp->n_actions + u->actions[h];
        c->order[h - first] = (visit){row * sp->n_states + u->states[h + 1], h};
    }
    sort_visits(c->order, last - first);
    for (int i = 0; i < STREAMS; i++)
        c->streams[i].cells = 0;
    for (size_t i = 0; i < last - first; i++) {
        visit v = c->order[i];
        put(&c->streams[MOVES], v.move, 1);
        put(&c->streams[VISITS], v.move / sp->n_states, 1);
        put(&c->streams[REWARDS], v.move / sp->n_states, u->rewards[v.h] - centre);
    }
}

tacit_status tacit__tabular_collect(tacit__tabular *c, size_t h, tacit_error *err)
{
    for (int i = 0; i < STREAMS; i++) {
        stream *s = &c->streams[i];
        if (s->sum == NULL)
            continue;
        double *kept = s->before, *table = s->counts + h * s->report;
        s->before = s->total;
        s->total = kept;
        tacit_status status = tacit_sum_release(s->sum, s->total, err);
        if (status != TACIT_OK)
            return status;
        for (size_t j = 0; j < s->report; j++)
            table[j] += (double)c->o.space.horizon * (s->total[j] - s->before[j]);
    }
    c->reports[h]++;
    return TACIT_OK;
}

/* Passes a user's steps first .. last-1 through the door. Only a journal can refuse here, and if it does so
 * halfway, nothing more is released. */
static tacit_status pass(tacit__tabular *c, const tacit__trajectory *u, size_t first, size_t last,
                         tacit_error *err)
{
    tacit_status status = TACIT_OK;
    tacit__tabular_contribute(c, u, first, last);
    for (int i = 0; i < STREAMS && status == TACIT_OK; i++) {
        const stream *s = &c->streams[i];
        if (s->sum != NULL)
            status = tacit_sum_add_sparse(s->sum, s->cells, s->cell, s->x, err);
    }
    if (status == TACIT_OK && c->o.one_step)
        status = tacit__tabular_collect(c, first, err);
    c->broken = status != TACIT_OK;
    return status;
}

tacit_status tacit__tabular_check(const tacit__tabular *c, const tacit__trajectory *u,
                                  tacit_error *err)
{
    tacit_status status = check_user(c, u, err);
    if (status != TACIT_OK)
        return status;
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the counts are closed");
    if (c->users == c->o.episodes)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu episodes",
                           (unsigned long long)c->o.episodes);
    return TACIT_OK;
}

void tacit__tabular_steps(const tacit__tabular *c, size_t *first, size_t *last)
{
    *first = 0;
    *last = c->o.space.horizon;
    if (c->o.one_step) {
        uint64_t word;
        tacit__site_words(&c->chance, c->drawn, 0, 1, &word);
        *first = (size_t)(word % c->o.space.horizon); /* public: a bias of 2^-60 is harmless */
        *last = *first + 1;
    }
}

tacit_status tacit__tabular_add(tacit__tabular *c, const tacit__trajectory *u, tacit_error *err)
{
    tacit_status status = tacit__tabular_check(c, u, err);
    if (status != TACIT_OK)
        return status;
    size_t first, last;
    tacit__tabular_steps(c, &first, &last);
    bool needed = c->users + 1 < c->o.episodes;
    if (needed && tacit__tabular_is_private(c))
        status = pass(c, u, first, last, err);
    else if (needed && c->rows != NULL)
        status = list_moves(c, u, err);
    if (status != TACIT_OK)
        return status;
    if (needed && !tacit__tabular_is_private(c))
        count(c, u);
    c->users++;
    c->drawn++;
    c->fresh = !needed;
    return TACIT_OK;
}
