/* What is declared of Gram matrices and responses: the proportion of their noises, each stream's bound, and
 * the reason for it. See contribute/gram.h.
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
#include "contribute/gram_reach.h"
#include "contribute/levels.h"
#include "contribute/sensitivity.h"
#include "contribute/table_reach.h"

/* Printed calibrations are judged for all features of norm 1, as their papers mean them. */
static tacit__angle angle_of(const tacit__gram_form *f)
{
    if (f->o.nonnegative)
        return TACIT__ACUTE;
    if (f->o.frame.blocks == 1 || f->o.printed_gram > 0)
        return TACIT__ANY_ANGLE;
    return f->o.centered ? TACIT__BLOCKS : TACIT__ACUTE;
}

/* The bonus grows like 3 |w| |N|_op + |g|: the cube-root rule, jointly for both. */
static double choose_ratio(const tacit__gram_options *o, const tacit__gram_form *f)
{
    if (f->o.printed_gram > 0)
        return f->o.printed_gram / f->o.printed_response;
    if (!tacit__gram_is_private(o))
        return 1;
    double eta = tacit__gram_failure(o, f);
    bool laplace = tacit__gram_is_laplace(o);
    size_t width = f->o.frame.width;
    return tacit__best_ratio(3 * f->o.parameter_norm * tacit__level_matrix(1, width, eta, laplace),
                             tacit__level_vector(1, width, eta, laplace), angle_of(f),
                             laplace ? width : 0);
}

/* F, and why. */
static tacit_status find_reach(const tacit__gram_options *o, tacit__gram_form *f,
                               tacit_sum_spec *spec)
{
    const tacit__angle angle = angle_of(f);
    const double square = f->ratio * f->ratio;
    double found = HUGE_VAL;
    tacit_status status = TACIT_OK;
    f->reach = tacit__joint_square(1, square, angle);
    spec->reason =
        f->o.nonnegative ? "features and targets >= 0: 2 + 2 c^2 a step for (iso xx', c x y)"
        : angle == TACIT__ACUTE
            ? "x, x' in different blocks, or the same: 2 + 2 c^2 a step for (iso xx', c x y)"
        : angle == TACIT__BLOCKS ? "x, x' in different blocks, or the same with y' = -y: max{2 + 2 "
                                   "c^2, 4 c^2} a step for (iso xx', c x y)"
        : square > 2             ? "x' = -x, targets 1: 4 c^2 a step for (iso xx', c x y)"
                     : "x, x' at the worst angle: (2 + c^2)^2 / 2 a step for (iso xx', c x y)";
    if (f->o.table != NULL) {
        const tacit__part_table table = {.parts = f->o.table,
                                         .n_states = o->n_states,
                                         .width = f->o.frame.width,
                                         .pairs = f->o.frame.pairs,
                                         .low = f->o.centered ? -1 : 0,
                                         .weighted = f->o.weighted};
        status = tacit__table_reach(&table, f->ratio, &found);
    }
    if (found < f->reach) {
        f->reach = found;
        spec->reason = "both users meet the same values, and their features are those of the "
                       "public table: the largest |(iso xx', c x y) - (iso x'x'^T, c x' y')| over "
                       "all pairs and values, by a search with a proved bound";
    }
    return status;
}

/* Fills in the bounds, with room for rounding to a lattice of this step. */
static void set_bounds(const tacit__gram_form *f, double step, tacit_sum_spec *spec)
{
    const size_t steps = f->o.frame.steps, width = f->o.frame.width;
    const double nonzeros = (double)(steps * tacit__frame_cell(&f->o.frame)), up = 1 + 1e-12;
    const double differing = fmin(2 * nonzeros, (double)spec->dimension);
    double squares = 0, fourths = 0;
    for (size_t h = 0; h < steps; h++) {
        double r = tacit__gram_radius(&f->o, h);
        squares += r * r;
        fourths += r * r * r * r;
    }
    spec->bound = (tacit_bound){
        .l1 = up * squares * tacit__step_norm_l1(f->ratio, width) + nonzeros * step,
        .l2 = up * sqrt(fourths) * tacit__step_norm_l2(f->ratio) + sqrt(nonzeros) * step,
        .nonzeros = (uint64_t)nonzeros};
    spec->sensitivity_l2 = up * sqrt(fourths * f->reach) + sqrt(differing) * step;
    spec->sensitivity_l1 = up * squares * tacit__step_l1(f->ratio, width) + differing * step;
}

/* The bounds depend on the step of the lattice, which depends on them in turn: until the step that they are
 * made for is no finer than the one that is chosen for them. */
tacit_status tacit__gram_find_reach(const tacit__gram_options *o, tacit__gram_form *f,
                                    tacit_sum_spec *spec, tacit_error *err)
{
    double step = 0;
    const tacit_law law = !tacit__gram_is_private(o)  ? TACIT_LAW_NONE
                          : tacit__gram_is_laplace(o) ? TACIT_LAW_LAPLACE
                                                      : TACIT_LAW_GAUSSIAN;
    *spec = (tacit_sum_spec){.mechanism = o->mechanism,
                             .law = law,
                             .dimension = tacit__frame_size(&f->o.frame),
                             .users = o->episodes > 1 ? o->episodes - 1 : 1,
                             .visits = o->visits,
                             .apart = o->apart,
                             .sensitivity_on_lattice = true};
    f->ratio = choose_ratio(o, f);
    tacit_status status = find_reach(o, f, spec);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    for (int i = 0; i < 4; i++) {
        set_bounds(f, step, spec);
        status = tacit__lattice_choose_for(spec, spec->dimension, tacit__gram_releases(o),
                                           &f->lattice, err);
        if (status != TACIT_OK || ldexp(1, -f->lattice.bits) <= step)
            return status;
        step = ldexp(1, -f->lattice.bits);
    }
    return tacit__fail(err, TACIT_NO_ROOM, "no lattice is fine enough for %zu features",
                       f->o.frame.width);
}
