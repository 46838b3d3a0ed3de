/* See lsvi_contribution.h. Lattices and sensitivities are in archive_plan.c and lsvi_scheme.c. */
#include "release/archive/lsvi_contribution.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "contribute/user_check.h"
#include "linalg/symmetric.h"
#include "noise/stream.h"

#define SLACK 1e-9 /* relative excess of a feature's length, or sum, that is taken for rounding */

bool tacit__lsvi_place(const tacit__linear_space *sp, const double *phi, double *out)
{
    TACIT__REQUIRE(sp->bound > 0 && sp->feature_bits > 0 && sp->feature_bits < 53);
    const size_t d = sp->dimension;
    const double one = ldexp(1, sp->feature_bits), steps = one / sp->bound;
    double square = 0, length = 0, sum = 0, total = 0;
    bool positive = true;
    for (size_t j = 0; j < d; j++) {
        out[j] = trunc(phi[j] * steps);
        square += out[j] * out[j]; /* integers below 2^53 */
        total += fabs(out[j]);
        length += phi[j] * phi[j];
        sum += phi[j];
        positive = positive && phi[j] >= 0;
    }
    if (!(sqrt(length) <= sp->bound * (1 + SLACK)))
        return false;
    if (sp->simplex && !(positive && fabs(sum - 1) <= SLACK))
        return false;
    /* by rounding alone: a step off the largest coordinate until it fits */
    while (square > one * one || (sp->simplex && total > one)) {
        size_t largest = 0;
        for (size_t j = 1; j < d; j++)
            largest = fabs(out[j]) > fabs(out[largest]) ? j : largest;
        double x = fabs(out[largest]);
        square -= 2 * x - 1;
        total -= 1;
        out[largest] = copysign(x - 1, out[largest]);
    }
    return true;
}

/* What a lattice of targets spans at step h. Pooled steps meet in one response, on the lattice of the first,
 * whose range is the largest. */
static double lattice_range(const tacit__lsvi_form *f, size_t h)
{
    return f->range[f->space.pooled ? 0 : h];
}

static size_t placed_size(const tacit__lsvi_form *f)
{
    const tacit__linear_space *sp = &f->space;
    return sp->form == TACIT__CARRIED ? sp->horizon * sp->n_actions * sp->dimension : 0;
}

static size_t gram_numbers(const tacit__lsvi_form *f)
{
    return f->space.form == TACIT__ONE_HOT ? f->space.horizon
                                           : tacit__gram_count(&f->space) * f->n_active;
}

tacit__lsvi_user *tacit__lsvi_user_create(const tacit__lsvi_form *f)
{
    TACIT__REQUIRE(f->space.horizon > 0);
    const bool one_hot = f->space.form == TACIT__ONE_HOT;
    tacit__lsvi_user w = {.placed = NULL};
    return TACIT__WORKSPACE(w, TACIT__PIECE_IF(placed_size(f) > 0, w.placed, placed_size(f)),
                            TACIT__PIECE(w.rewards, f->space.horizon),
                            TACIT__PIECE(w.gram, gram_numbers(f)),
                            TACIT__PIECE_IF(one_hot, w.cell, f->space.horizon),
                            TACIT__PIECE_IF(!one_hot, w.outer, tacit__gram_size(&f->space)));
}

void tacit__lsvi_user_destroy(tacit__lsvi_user *user)
{
    tacit__workspace_destroy(user);
}

void tacit__lsvi_user_wipe(const tacit__lsvi_form *f, tacit__lsvi_user *u)
{
    if (u->placed != NULL)
        tacit__wipe(u->placed, placed_size(f) * sizeof *u->placed);
    tacit__wipe(u->rewards, f->space.horizon * sizeof *u->rewards);
    tacit__wipe(u->gram, gram_numbers(f) * sizeof *u->gram);
    if (u->cell != NULL)
        tacit__wipe(u->cell, f->space.horizon * sizeof *u->cell);
    if (u->outer != NULL)
        tacit__wipe(u->outer, tacit__gram_size(&f->space) * sizeof *u->outer);
}

static tacit_status check_user(const tacit__lsvi_form *f, const tacit_trajectory *u, double *placed,
                               tacit_error *err)
{
    const tacit__linear_space *sp = &f->space;
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
        TRY(tacit__check_step(h, u->actions[h], sp->n_actions, u->rewards[h], err));
        for (size_t a = 0; carried && a < sp->n_actions; a++) {
            size_t at = (h * sp->n_actions + a) * sp->dimension;
            if (!tacit__lsvi_place(sp, u->features + at, placed + at))
                return tacit__fail(err, TACIT_OUT_OF_BOUND,
                                   "step %zu: a feature vector is longer than its bound %g, or "
                                   "not of finite numbers%s",
                                   h, sp->bound,
                                   sp->simplex ? ", or has negative ones, or does not sum to 1"
                                               : "");
        }
    }
    return TACIT_OK;
}

tacit_status tacit__lsvi_place_user(const tacit__lsvi_form *f, const tacit_trajectory *u,
                                    tacit__lsvi_user *out, tacit_error *err)
{
    tacit_status status = check_user(f, u, out->placed, err);
    for (size_t h = 0; h < f->space.horizon && status == TACIT_OK; h++)
        out->rewards[h] = floor(ldexp(u->rewards[h] / lattice_range(f, h), f->target_bits));
    return status;
}

/* The features of the action taken at step h, in lattice steps. */
static const double *chosen(const tacit__lsvi_form *f, const tacit_trajectory *u,
                            const tacit__lsvi_user *placed, size_t h)
{
    const tacit__linear_space *sp = &f->space;
    if (sp->form == TACIT__TABLE)
        return sp->table + (u->states[h] * sp->n_actions + u->actions[h]) * sp->dimension;
    return placed->placed + (h * sp->n_actions + u->actions[h]) * sp->dimension;
}

/* Rounded to the lattice, one user and step at a time. */
tacit__input tacit__lsvi_contribute_gram(const tacit__lsvi_form *f, const tacit_trajectory *u,
                                         tacit__lsvi_user *out)
{
    TACIT__REQUIRE(f->n_active > 0 && f->gram_bits >= 0 && f->gram_bits < 62);
    const tacit__linear_space *sp = &f->space;
    if (sp->form != TACIT__ONE_HOT)
        memset(out->gram, 0, gram_numbers(f) * sizeof *out->gram);
    for (size_t h = 0; h < sp->horizon; h++) {
        const size_t first = sp->pooled ? 0 : h * f->n_active;
        if (sp->form == TACIT__ONE_HOT) {
            out->cell[h] = first + u->states[h] * sp->n_actions + u->actions[h];
            out->gram[h] = (int64_t)1 << f->gram_bits;
            continue;
        }
        int64_t *to = out->gram + first;
        tacit__packed_outer(sp->dimension, ldexp(1, f->gram_bits - 2 * sp->feature_bits),
                            chosen(f, u, out, h), out->outer);
        if (f->active == NULL)
            for (size_t i = 0; i < f->n_active; i++)
                to[i] += llrint(out->outer[i]);
        else
            for (size_t i = 0; i < f->n_active; i++)
                to[i] += llrint(out->outer[f->active[i]]);
    }
    return (tacit__input){.n = gram_numbers(f), .index = out->cell, .value = out->gram};
}

/* Targets r + V with least <= V <= largest are stretched from their range, 1 + largest - least, to [0, 1];
 * all in whole lattice steps. */
static void stretch(const tacit__lsvi_form *f, double least, double largest, tacit__target *t)
{
    /* one step at least: a reward may be less than that, and values may be all the same */
    const double range = fmax(1, floor(t->per_value) + largest - least);
    t->stretch = ldexp(1, f->target_bits) / range;
    t->center = t->times * least + (f->centered ? range : 0);
}

/* Values are a public table, so their least and largest are public too. After the last step there are no
 * values, and the range is that of a reward. What is subtracted must be a linear function of features: if
 * they do not sum to 1, nothing is. */
static void narrow(const tacit__lsvi_form *f, const double *table, tacit__target *t)
{
    double least = table != NULL && f->space.simplex ? t->most : 0, largest = 0;
    for (size_t s = 0; table != NULL && s < f->space.n_states; s++) {
        const double v = tacit__target_place(t, table[s]);
        least = fmin(least, v);
        largest = fmax(largest, v);
    }
    stretch(f, least, largest, t);
}

tacit__target tacit__lsvi_target(const tacit__lsvi_form *f, size_t h, const double *table)
{
    TACIT__REQUIRE(h < f->space.horizon);
    const double per_value = ldexp(1 / lattice_range(f, h), f->target_bits);
    tacit__target target = {.per_value = per_value,
                            .most = floor((f->range[h] - 1) * per_value),
                            .times = f->centered ? 2 : 1,
                            .center = f->centered ? ldexp(1, f->target_bits) : 0,
                            .stretch = 1};
    if (f->spans && (table != NULL || h + 1 == f->space.horizon))
        narrow(f, table, &target);
    else if (f->space.pooled)
        stretch(f, 0, target.most, &target);
    return target;
}

tacit__target_unit tacit__lsvi_unit(const tacit__lsvi_form *f, const tacit__target *t)
{
    TACIT__REQUIRE(t->stretch >= 1);
    const double range = ldexp(1, f->target_bits) / t->stretch;
    return (tacit__target_unit){.low = (t->center - (f->centered ? range : 0)) / t->times /
                                       t->per_value,
                                .range = range / t->per_value};
}
