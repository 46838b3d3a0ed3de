/* What the curator of regressions declares: the proportion of its noises, each stream's bound and
 * the reason for it, the plan and its calibration, and the sums that are opened under it. See
 * curate/gram.h.
 *
 * What one user adds to a stream is vectors (iso(w x x^T), c w x y), one for each step, |x| and |y|
 * at most the radius r_h of the step and w in [0, 1], which gram.c sees to; in the block of the
 * user's pair, 0 elsewhere. sqrt(w) x and sqrt(w) y are again within the radius, hence
 *
 *     replaced user, all steps:  L2^2 = F sum_h r_h^4,   L1 = L1(step) sum_h r_h^2      (sensitivity.c)
 *
 * where F is J(1, c^2) of the unit ball; in blocks, whose features are the same for every pair by
 * the lens's layout, that of blocks; and with a public table the least of that and what
 * table_reach.c proves of the table.
 *
 * Rounding to the lattice moves each coordinate by half a step, two users by a step: the declared
 * movement has room for that. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "curate/gram_inside.h"
#include "curate/levels.h"
#include "curate/sensitivity.h"
#include "curate/table_reach.h"
#include "release/schedule.h"
#include "sums/sum_steps.h"

/* Printed calibrations are judged for all features of norm 1, as their papers mean them. */
static tacit__angle angle_of(const gram_stream *s)
{
    if (s->form.o.nonnegative)
        return TACIT__ACUTE;
    if (s->form.o.frame.blocks == 1 || s->form.o.printed_gram > 0)
        return TACIT__ANY_ANGLE;
    return s->form.o.centered ? TACIT__BLOCKS : TACIT__ACUTE;
}

/* The bonus grows like 3 |w| |N|_op + |g|: the cube-root rule, jointly for both. */
static double choose_ratio(const tacit__gram *c, const gram_stream *s)
{
    if (s->form.o.printed_gram > 0)
        return s->form.o.printed_gram / s->form.o.printed_response;
    if (!tacit__gram_is_private(c))
        return 1;
    double eta = tacit__gram_failure(c, s);
    bool laplace = tacit__gram_is_laplace(c);
    size_t width = s->form.o.frame.width;
    return tacit__best_ratio(
        3 * s->form.o.parameter_norm * tacit__level_matrix(1, width, eta, laplace),
        tacit__level_vector(1, width, eta, laplace), angle_of(s), laplace ? width : 0);
}

/* F, and why. */
static tacit_status find_reach(const tacit__gram *c, gram_stream *s)
{
    const tacit__angle angle = angle_of(s);
    const double square = s->form.ratio * s->form.ratio;
    double found = HUGE_VAL;
    tacit_status status = TACIT_OK;
    s->reach = tacit__joint_square(1, square, angle);
    s->spec.reason =
        s->form.o.nonnegative ? "features and targets >= 0: 2 + 2 c^2 a step for (iso xx', c x y)"
        : angle == TACIT__ACUTE
            ? "x, x' in different blocks, or the same: 2 + 2 c^2 a step for (iso xx', c x y)"
        : angle == TACIT__BLOCKS ? "x, x' in different blocks, or the same with y' = -y: max{2 + 2 "
                                   "c^2, 4 c^2} a step for (iso xx', c x y)"
        : square > 2             ? "x' = -x, targets 1: 4 c^2 a step for (iso xx', c x y)"
                     : "x, x' at the worst angle: (2 + c^2)^2 / 2 a step for (iso xx', c x y)";
    if (s->form.o.table != NULL) {
        const tacit__part_table table = {.parts = s->form.o.table,
                                         .n_states = c->o.n_states,
                                         .width = s->form.o.frame.width,
                                         .pairs = s->form.o.frame.pairs,
                                         .low = s->form.o.centered ? -1 : 0,
                                         .weighted = s->form.o.weighted};
        status = tacit__table_reach(&table, s->form.ratio, &found);
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
static void set_bounds(gram_stream *s, double step)
{
    const tacit__frame *f = &s->form.o.frame;
    const double nonzeros = (double)(f->steps * tacit__frame_cell(f)), up = 1 + 1e-12;
    const double differing = fmin(2 * nonzeros, (double)s->size);
    double squares = 0, fourths = 0;
    for (size_t h = 0; h < f->steps; h++) {
        double r = tacit__gram_radius(&s->form.o, h);
        squares += r * r;
        fourths += r * r * r * r;
    }
    s->spec.bound = (tacit_bound){
        .l1 = up * squares * tacit__step_norm_l1(s->form.ratio, f->width) + nonzeros * step,
        .l2 = up * sqrt(fourths) * tacit__step_norm_l2(s->form.ratio) + sqrt(nonzeros) * step,
        .nonzeros = (uint64_t)nonzeros};
    s->spec.sensitivity_l2 = up * sqrt(fourths * s->reach) + sqrt(differing) * step;
    s->spec.sensitivity_l1 =
        up * squares * tacit__step_l1(s->form.ratio, f->width) + differing * step;
}

/* The sum, and the step of its lattice, which its bounds depend on in turn: until the step that
 * they are made for is no finer than the one that is chosen for them. */
static tacit_status describe(const tacit__gram *c, gram_stream *s, tacit_error *err)
{
    double step = 0;
    s->spec = (tacit_sum_spec){.mechanism = c->o.mechanism,
                               .law = !tacit__gram_is_private(c)  ? TACIT_LAW_NONE
                                      : tacit__gram_is_laplace(c) ? TACIT_LAW_LAPLACE
                                                                  : TACIT_LAW_GAUSSIAN,
                               .dimension = s->size,
                               .users = c->o.episodes > 1 ? c->o.episodes - 1 : 1,
                               .visits = c->o.visits,
                               .apart = c->o.apart,
                               .sensitivity_on_lattice = true};
    tacit_status status = find_reach(c, s);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    for (int i = 0; i < 4; i++) {
        tacit__lattice lattice;
        set_bounds(s, step);
        status = tacit__lattice_choose_for(&s->spec, s->size, c->releases, &lattice, err);
        if (status != TACIT_OK || ldexp(1, -lattice.bits) <= step)
            return status;
        step = ldexp(1, -lattice.bits);
    }
    return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %zu features",
                       s->form.o.frame.width);
}

/* The weight that makes the calibrator give this stream its share of mu^2, or of epsilon; see
 * account/plan.c. */
static double weight_of(const tacit__gram *c, const gram_stream *s, const tacit_release *line)
{
    return tacit__gram_is_laplace(c)
               ? s->form.o.share * s->form.o.share / (line->l1 * line->column_l1)
               : pow(s->form.o.share, 1.5) / (line->l2 * line->column_l2);
}

static tacit_status calibrate(const tacit__gram *c, tacit_plan *plan, tacit_error *err)
{
    if (c->o.streams[0].printed_gram == 0 || !tacit__gram_is_private(c))
        return tacit_plan_calibrate(plan, c->o.guarantee, err);
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++)
        status =
            tacit_plan_set_scale(plan, c->o.streams[i].name,
                                 tacit__gram_is_laplace(c) ? TACIT_LAW_LAPLACE : TACIT_LAW_GAUSSIAN,
                                 c->o.streams[i].printed_gram, err);
    return status;
}

static tacit_status open_sums(tacit__gram *c, const tacit__batches *releases, tacit_noise *noise,
                              tacit_error *err)
{
    TACIT__REQUIRE(noise != NULL || c->o.guarantee.model == TACIT_MODEL_NONE);
    tacit_plan *plan = NULL;
    tacit_status status = tacit_plan_create(&plan);
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        gram_stream *s = &c->streams[i];
        s->form.ratio = choose_ratio(c, s);
        tacit_release line;
        status = describe(c, s, err);
        if (status == TACIT_OK)
            status = tacit__sum_declare_released(&s->spec, releases, s->form.o.name, &line, err);
        if (status == TACIT_OK && tacit__gram_is_private(c))
            line.weight = weight_of(c, s, &line);
        if (status == TACIT_OK)
            status = tacit_plan_declare(plan, &line, err);
    }
    if (status == TACIT_OK)
        status = calibrate(c, plan, err);
    if (status == TACIT_OK)
        status = tacit_ledger_create(plan, noise, &c->ledger, err);
    for (size_t i = 0; i < c->o.n_streams && status == TACIT_OK; i++) {
        gram_stream *s = &c->streams[i];
        s->scale = tacit_plan_scale(plan, tacit_plan_index(plan, s->form.o.name));
        status =
            tacit__sum_create_released(&s->spec, releases, c->ledger, s->form.o.name, &s->sum, err);
        if (status == TACIT_OK)
            s->form.lattice = *tacit__sum_lattice(s->sum);
    }
    tacit_plan_destroy(plan);
    return status;
}

/* What visits of one person move together depends on which of them meet in a batch. */
tacit_status tacit__gram_open_sums(tacit__gram *c, tacit_noise *noise, tacit_error *err)
{
    tacit__batches releases = {.n = c->releases};
    if (!tacit__gram_has_batches(c) || c->o.visits <= 1)
        return open_sums(c, &releases, noise, err);
    uint64_t *ends =
        tacit__schedule_ends(c->o.episodes > 1 ? c->o.episodes - 1 : 1, c->o.growth, c->releases);
    if (ends == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    releases.ends = ends;
    const tacit_status status = open_sums(c, &releases, noise, err);
    tacit__free(ends);
    return status;
}
