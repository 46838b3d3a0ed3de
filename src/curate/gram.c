/* Gram matrices and responses. See curate/gram.h.
 *
 * What one user adds to a stream is (r_h^2-bounded) vectors (iso(w x x^T), c w x y), one for each step, in the block of the
 * user's pair, 0 elsewhere. |x| and |y| are clipped here to the radius r_h of the step, weights w to [0, 1], whatever
 * the lens says, so the bound holds on every path. sqrt(w) x and sqrt(w) y are again within the radius, hence
 *
 *     replaced user, all steps:  L2^2 = F sum_h r_h^4,   L1 = L1(step) sum_h r_h^2      (sensitivity.c)
 *
 * where F is J(1, c^2) of the unit ball; in blocks, whose features are the same for every pair by the lens's layout, that of blocks;
 * and with a public table the least of that and what table_reach.c proves of the table. For that, x must be what the table makes of
 * values within their range, so the curator clips the values and multiplies them with the table itself.
 *
 * Rounding to the lattice moves each coordinate by half a step, two users by a step: the declared movement has room for
 * that. */
#include "curate/gram.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "curate/gram_inside.h"
#include "curate/levels.h"
#include "curate/sensitivity.h"
#include "curate/table_reach.h"
#include "linalg/symmetric.h"
#include "sums/lattice.h"

static bool is_private(const tacit__gram *c)
{
    return c->o.guarantee.model != TACIT_MODEL_NONE;
}

static bool is_laplace(const tacit__gram *c)
{
    return c->o.guarantee.delta == 0;
}

static double radius(const tacit__gram_stream *o, size_t h)
{
    return o->radius != NULL ? o->radius[h] : 1;
}

/* --- What is declared ---------------------------------------------------------------------------- */

static double failure_of_a_block(const tacit__gram *c, const stream *s)
{
    return c->o.failure / (double)s->o.frame.blocks;
}

/* Printed calibrations are judged for all features of norm 1, as their papers mean them. */
static tacit__angle angle_of(const stream *s)
{
    if (s->o.nonnegative)
        return TACIT__ACUTE;
    if (s->o.frame.blocks == 1 || s->o.printed_gram > 0)
        return TACIT__ANY_ANGLE;
    return s->o.centred ? TACIT__BLOCKS : TACIT__ACUTE;
}

/* The bonus suffers like 3 |w| |N|_op + |g|: the cube-root rule, jointly for both. */
static double choose_ratio(const tacit__gram *c, const stream *s)
{
    if (s->o.printed_gram > 0)
        return s->o.printed_gram / s->o.printed_response;
    if (!is_private(c))
        return 1;
    double eta = failure_of_a_block(c, s);
    bool laplace = is_laplace(c);
    size_t width = s->o.frame.width;
    return tacit__best_ratio(3 * s->o.parameter_norm * tacit__level_matrix(1, width, eta, laplace),
                             tacit__level_vector(1, width, eta, laplace), angle_of(s),
                             laplace ? width : 0);
}

/* F, and why. */
static tacit_status find_reach(const tacit__gram *c, stream *s)
{
    const tacit__angle angle = angle_of(s);
    const double square = s->ratio * s->ratio;
    double found = HUGE_VAL;
    tacit_status status = TACIT_OK;
    s->reach = tacit__joint_square(1, square, angle);
    s->spec.reason =
        s->o.nonnegative ? "features and targets >= 0: 2 + 2 c^2 a step for (iso xx', c x y)"
        : angle == TACIT__ACUTE
            ? "x, x' in different blocks, or the same: 2 + 2 c^2 a step for (iso xx', c x y)"
        : angle == TACIT__BLOCKS ? "x, x' in different blocks, or the same with y' = -y: max{2 + 2 "
                                   "c^2, 4 c^2} a step for (iso xx', c x y)"
        : square > 2             ? "x' = -x, targets 1: 4 c^2 a step for (iso xx', c x y)"
                     : "x, x' at the worst angle: (2 + c^2)^2 / 2 a step for (iso xx', c x y)";
    if (s->o.table != NULL) {
        const tacit__part_table table = {.parts = s->o.table,
                                         .n_states = c->o.n_states,
                                         .width = s->o.frame.width,
                                         .pairs = s->o.frame.pairs,
                                         .low = s->o.centred ? -1 : 0,
                                         .weighted = s->o.weighted};
        status = tacit__table_reach(&table, s->ratio, &found);
    }
    if (found < s->reach) {
        s->reach = found;
        s->spec.reason =
            "both users meet the same values, and their features are those of the "
            "public table: the largest |(iso xx', c x y) - (iso x'x'^T, c x' y')| over "
            "all pairs and values, by a search with a proved bound";
    }
    return status;
}

/* Fills in the bounds, with room for rounding to a lattice of this step. */
static void set_bounds(stream *s, double step)
{
    const tacit__frame *f = &s->o.frame;
    const double nonzeros = (double)(f->steps * tacit__frame_cell(f)), up = 1 + 1e-12;
    const double differing = fmin(2 * nonzeros, (double)s->size);
    double squares = 0, fourths = 0;
    for (size_t h = 0; h < f->steps; h++) {
        double r = radius(&s->o, h);
        squares += r * r;
        fourths += r * r * r * r;
    }
    s->spec.bound = (tacit_bound){
        .l1 = up * squares * tacit__step_norm_l1(s->ratio, f->width) + nonzeros * step,
        .l2 = up * sqrt(fourths) * tacit__step_norm_l2(s->ratio) + sqrt(nonzeros) * step,
        .nonzeros = (uint64_t)nonzeros};
    s->spec.sensitivity_l2 = up * sqrt(fourths * s->reach) + sqrt(differing) * step;
    s->spec.sensitivity_l1 = up * squares * tacit__step_l1(s->ratio, f->width) + differing * step;
}

/* The sum, and the step of its lattice, which its bounds depend on in turn: until the step that they are made for is no finer than the
 * one that is chosen for them. */
static tacit_status describe(const tacit__gram *c, stream *s, tacit_error *err)
{
    double step = 0;
    s->spec = (tacit_sum_spec){.mechanism = c->o.mechanism,
                               .law = !is_private(c)  ? TACIT_LAW_NONE
                                      : is_laplace(c) ? TACIT_LAW_LAPLACE
                                                      : TACIT_LAW_GAUSSIAN,
                               .dimension = s->size,
                               .users = c->o.episodes > 1 ? c->o.episodes - 1 : 1,
                               .sensitivity_on_lattice = true};
    tacit_status status = find_reach(c, s);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    for (int i = 0; i < 4; i++) {
        tacit__lattice lattice;
        set_bounds(s, step);
        status = tacit__lattice_choose(&s->spec, s->size, &lattice, err);
        if (status != TACIT_OK || ldexp(1, -lattice.bits) <= step)
            return status;
        step = ldexp(1, -lattice.bits);
    }
    return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %zu features",
                       s->o.frame.width);
}

/* The weight that makes the calibrator give this stream its share of mu^2, or of epsilon; see account/plan.c. */
static double weight_of(const tacit__gram *c, const stream *s, const tacit_release *line)
{
    return is_laplace(c) ? s->o.share * s->o.share / (line->l1 * line->column_l1)
                         : pow(s->o.share, 1.5) / (line->l2 * line->column_l2);
}

static tacit_status calibrate(const tacit__gram *c, tacit_plan *plan, tacit_error *err)
{
    if (c->o.streams[0].printed_gram == 0 || !is_private(c))
        return tacit_plan_calibrate(plan, c->o.guarantee, err);
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++)
        status = tacit_plan_set_scale(plan, c->o.streams[i].name,
                                      is_laplace(c) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                                      c->o.streams[i].printed_gram, err);
    return status;
}

static tacit_status open_sums(tacit__gram *c, tacit_noise *noise, tacit_error *err)
{
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        stream *s = &c->streams[i];
        s->ratio = choose_ratio(c, s);
        tacit_release line;
        status = describe(c, s, err);
        if (status == TACIT_OK)
            status = tacit_sum_declare(&s->spec, s->o.name, &line, err);
        if (status == TACIT_OK && is_private(c))
            line.weight = weight_of(c, s, &line);
        if (status == TACIT_OK)
            status = tacit_plan_declare(plan, &line, err);
    }
    if (status == TACIT_OK)
        status = calibrate(c, plan, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        stream *s = &c->streams[i];
        s->scale = tacit_plan_scale(plan, tacit_plan_index(plan, s->o.name));
        status = tacit_sum_create(&s->spec, c->ledger, s->o.name, &s->sum, err);
    }
    tacit_plan_destroy(plan);
    return status;
}

tacit_status tacit__gram_create(const tacit__gram_options *options, tacit_noise *noise,
                                tacit__gram **out, tacit_error *err)
{
    TACIT__REQUIRE(options->n_streams >= 1 && options->n_streams <= TACIT__MAX_GRAM_STREAMS);
    tacit__gram *c = tacit__alloc(1, sizeof *c);
    if (c == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    c->o = *options;
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        stream *s = &c->streams[i];
        s->o = c->o.streams[i];
        TACIT__REQUIRE(!(s->o.centred && s->o.nonnegative));
        TACIT__REQUIRE(s->o.table == NULL || s->o.frame.blocks == 1);
        if (!is_private(c) || is_laplace(c)) /* L1 movements are those of the unit ball */
            s->o.table = NULL;
        s->size = tacit__frame_size(&s->o.frame);
        s->x = tacit__alloc(s->size, sizeof *s->x);
        s->sums = tacit__alloc(s->size, sizeof *s->sums);
        s->step = tacit__alloc(s->o.frame.width, sizeof *s->step);
        bool local = c->o.guarantee.model == TACIT_MODEL_LOCAL;
        s->report = local ? tacit__alloc(s->size, sizeof *s->report) : NULL;
        if (s->x == NULL || s->sums == NULL || s->step == NULL || (local && s->report == NULL))
            status = tacit__fail(err, TACIT_NO_MEMORY,
                                 "Gram matrices of %zu numbers do not fit into memory", s->size);
    }
    if (status == TACIT_OK)
        status = open_sums(c, noise, err);
    if (status != TACIT_OK) {
        tacit__gram_destroy(c);
        return status;
    }
    *out = c;
    return TACIT_OK;
}

void tacit__gram_destroy(tacit__gram *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->o.n_streams; i++) {
        stream *s = &c->streams[i];
        tacit_sum_destroy(s->sum);
        tacit__free_secret(s->x, s->size * sizeof *s->x);
        tacit__free_secret(s->sums, s->size * sizeof *s->sums); /* exact without privacy */
        tacit__free_secret(s->step, s->o.frame.width * sizeof *s->step);
        tacit__free(s->report); /* noisy */
    }
    tacit_ledger_destroy(c->ledger);
    tacit__free(c);
}

uint64_t tacit__gram_users(const tacit__gram *c)
{
    return c->users;
}

tacit_ledger *tacit__gram_ledger(const tacit__gram *c)
{
    return is_private(c) ? c->ledger : NULL;
}

/* --- What is released ------------------------------------------------------------------------------ */

/* Levels grow with the number of users. They are computed for all numbers up to 2^j - 1 at once, where the noise of trees is
 * largest among them and that of the others has grown. */
static tacit_status find_levels(const tacit__gram *c, stream *s)
{
    if (!is_private(c) || c->users <= s->level_until)
        return TACIT_OK;
    uint64_t until = 1, most = c->o.episodes > 1 ? c->o.episodes - 1 : 1;
    while (until < c->users)
        until = 2 * until + 1;
    until = until < most ? until : most;
    double stddev;
    if (c->o.mechanism == TACIT_SUM_SMOOTH || until == most)
        stddev = tacit_sum_worst_stddev(s->sum);
    else if (tacit_sum_stddev(s->sum, until, &stddev) != TACIT_OK)
        return TACIT_BAD_ARGUMENT;
    bool laplace = is_laplace(c);
    double ratio = stddev / (s->scale * (laplace ? M_SQRT2 : 1)), draws = ratio * ratio;
    if (laplace)
        draws = ceil(draws * (1 - 1e-9));
    double eta = failure_of_a_block(c, s);
    size_t width = s->o.frame.width;
    s->gram_level = s->scale * tacit__level_matrix(draws, width, eta, laplace);
    s->response_level = s->scale / s->ratio * tacit__level_vector(draws, width, eta, laplace);
    s->level_until = until < most ? until : UINT64_MAX;
    return TACIT_OK;
}

static tacit_status read_sum(stream *s, tacit_error *err)
{
    tacit_status status = tacit_sum_release(s->sum, s->sums, err);
    size_t cell = tacit__frame_cell(&s->o.frame), width = s->o.frame.width;
    double inverse = 1 / s->ratio;
    for (size_t at = cell; at <= s->size && status == TACIT_OK; at += cell)
        for (size_t j = at - width; j < at; j++)
            s->sums[j] *= inverse;
    return status;
}

tacit_status tacit__gram_release(tacit__gram *c, tacit__moments out[TACIT__MAX_GRAM_STREAMS],
                                 tacit_error *err)
{
    for (size_t i = 0; i < c->o.n_streams; i++) {
        stream *s = &c->streams[i];
        tacit_status status = find_levels(c, s);
        if (status != TACIT_OK)
            return tacit__fail_plain(err, status);
        if (c->users > 0 && !c->fresh)
            status = read_sum(s, err);
        if (status != TACIT_OK)
            return status;
        out[i] = (tacit__moments){.users = c->users,
                                  .sums = s->sums,
                                  .gram_level = s->gram_level,
                                  .response_level = s->response_level};
    }
    c->fresh = true;
    return TACIT_OK;
}

/* --- What users bring ------------------------------------------------------------------------------ */

tacit_status tacit__gram_check(const tacit__gram *c, const tacit__trajectory *u, tacit_error *err)
{
    const tacit__gram_options *o = &c->o;
    for (size_t h = 0; h <= o->horizon; h++)
        if (u->states[h] >= o->n_states)
            return tacit__fail(err, TACIT_OUT_OF_BOUND, "step %zu: the state is not below %zu", h,
                               o->n_states);
    for (size_t h = 0; h < o->horizon; h++)
        if (u->actions[h] >= o->n_actions || !(u->rewards[h] >= 0 && u->rewards[h] <= 1))
            return tacit__fail(err, TACIT_OUT_OF_BOUND,
                               "step %zu: the action is not below %zu, or the reward not in [0, 1]",
                               h, o->n_actions);
    return TACIT_OK;
}

static double clip(double value, double low, double high)
{
    return value >= low ? (value <= high ? value : high) : low; /* NaN: low */
}

/* What the table makes of the values of a step, into s->step. */
static void multiply(const tacit__gram *c, const stream *s, const tacit__lens *lens, size_t h,
                     size_t pair)
{
    const tacit__frame *f = &s->o.frame;
    const double r = radius(&s->o, h), *v = lens->targets + h * c->o.n_states;
    for (size_t j = 0; j < f->width; j++)
        s->step[j] = 0;
    for (size_t next = 0; next < c->o.n_states; next++) {
        const double *part = s->o.table + next * f->width * f->pairs + pair;
        double value = clip(v[next], s->o.centred ? -r : 0, r);
        for (size_t j = 0; j < f->width; j++)
            s->step[j] += part[j * f->pairs] * value;
    }
}

/* The features of a pair at a step into s->step, within the radius and with the declared signs. */
static void look(const tacit__gram *c, const stream *s, const tacit__lens *lens, size_t h,
                 size_t pair)
{
    const tacit__frame *f = &s->o.frame;
    const size_t stride = f->blocks == 1 ? f->pairs : 1, first = f->blocks == 1 ? pair : 0;
    if (s->o.table != NULL)
        multiply(c, s, lens, h, pair);
    else
        for (size_t j = 0; j < f->width; j++)
            s->step[j] = lens->features[h * lens->stride + first + j * stride];
    double square = 0, r = radius(&s->o, h);
    for (size_t j = 0; j < f->width; j++) {
        double x = s->step[j];
        x = s->o.nonnegative && !(x > 0) ? 0 : x;
        s->step[j] = x;
        square += x * x;
    }
    double shrink = square <= r * r ? 1 : isfinite(square) ? r / sqrt(square) : 0;
    for (size_t j = 0; j < f->width && shrink < 1; j++)
        s->step[j] = shrink > 0 ? shrink * s->step[j] : 0;
}

void tacit__gram_contribute(const tacit__gram *c, stream *s, const tacit__trajectory *u,
                            const tacit__lens *lens, bool clear)
{
    const tacit__frame *f = &s->o.frame;
    size_t cell = tacit__frame_cell(f), packed = cell - f->width;
    for (size_t h = 0; h < f->steps; h++) {
        size_t pair = u->states[h] * c->o.n_actions + u->actions[h];
        double *at = s->x + (h * f->blocks + (f->blocks > 1 ? pair : 0)) * cell;
        if (clear) {
            memset(at, 0, cell * sizeof *at);
            continue;
        }
        double r = radius(&s->o, h);
        double y = lens->targets != NULL ? lens->targets[h * c->o.n_states + u->states[h + 1]]
                   : s->o.centred        ? 2 * u->rewards[h] - 1
                                         : u->rewards[h];
        y = clip(y, s->o.centred ? -r : 0, r);
        double w = lens->weights != NULL ? clip(lens->weights[h * f->pairs + pair], 0, 1) : 1;
        look(c, s, lens, h, pair);
        tacit__packed_outer(f->width, w, s->step, at);
        for (size_t j = 0; j < f->width; j++)
            at[packed + j] = s->ratio * w * y * s->step[j];
    }
}

tacit_status tacit__gram_open(const tacit__gram *c, tacit_error *err)
{
    if (c->broken)
        return tacit__fail(err, TACIT_SYSTEM,
                           "an earlier charge was refused halfway; the sums are closed");
    if (c->users == c->o.episodes)
        return tacit__fail(err, TACIT_EXHAUSTED, "the learner was declared for %llu episodes",
                           (unsigned long long)c->o.episodes);
    return TACIT_OK;
}

tacit_status tacit__gram_add(tacit__gram *c, const tacit__trajectory *u, const tacit__lens *lenses,
                             tacit_error *err)
{
    tacit_status status = tacit__gram_check(c, u, err);
    if (status != TACIT_OK)
        return status;
    status = tacit__gram_open(c, err);
    if (status != TACIT_OK)
        return status;
    bool needed = c->users + 1 < c->o.episodes;
    for (size_t i = 0; i < c->o.n_streams && needed && status == TACIT_OK; i++) {
        stream *s = &c->streams[i];
        tacit__gram_contribute(c, s, u, &lenses[i], false);
        status = tacit_sum_add(s->sum, s->x, err);
        tacit__gram_contribute(c, s, u, &lenses[i], true);
        c->broken = status != TACIT_OK && i > 0; /* only a journal can refuse here */
    }
    if (status != TACIT_OK)
        return status;
    c->users++;
    c->fresh = !needed;
    return TACIT_OK;
}
