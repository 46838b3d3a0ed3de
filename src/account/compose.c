/* The guarantee of a list of releases: chooses the sharpest method that applies.
 *
 *   gaussian  all Gaussian: mu^2 = sum count (sensitivity/scale)^2, exact [DRS22, Cor. 3.3]
 *   pure      delta = 0, or an epsilon that no loss exceeds: epsilons add up, exact
 *   optimal   copies of one black box: kov.c, exact
 *   zcdp      anything with a zCDP cost: rho adds up. Gaussian mu^2/2; an epsilon-DP release has
 *             rho = e tanh(e/2) <= e^2/2 (below); the deltas of black boxes are failures apart.
 *             `low` is what Gaussian noise with the rho of the Gaussian and zCDP parts would have:
 *             it is one of the mechanisms that the list may stand for
 *   pld       the rest: pld.c, an interval
 *
 * Why e tanh(e/2): the worst e-DP pair is randomized response [KOV15]. There (a-1) D_a =
 * G(s) - G(1) with G(s) = log cosh(sqrt(s) e/2), s = (2a-1)^2, and a = 1 + (s-1)/(4a), so that
 * D_a/a = 4 (G(s) - G(1))/(s - 1). G is concave, hence the quotient is largest as s -> 1, where it
 * is 4 G'(1) = e tanh(e/2).
 *
 * Quotients and sums are taken by MPFR, rounded up and down; so 3 x 1/1 + 2 x 1/2 is 4, not 4.0...01.
 * Cost: microseconds, except for the two methods with files of their own. */
#include <tacit/account.h>

#include <float.h>
#include <math.h>

#include <stdint.h> /* before mpfr.h, for mpfr_set_uj */

#include <mpfr.h>

#include "account/kov.h"
#include "account/pld.h"
#include "base/error.h"
#include "base/memory.h"

enum { BITS = 192 };

/* The list, sorted into its kinds. */
typedef struct summary {
    tacit_interval mu, gaussian_rho; /* all Gaussian costs together */
    tacit_interval pure;             /* sum of the epsilons of Laplace and black boxes */
    tacit_interval rho;              /* of everything, failures apart */
    double zcdp_rho;                 /* of the zCDP costs alone, rounded down */
    tacit_interval fail;
    size_t n_gaussian, n_zcdp, n_failing;
    tacit__loss *losses; /* at most one Gaussian, no two of equal kind and size */
    size_t n_losses;
} summary;

static tacit_status check(const tacit_cost *c, size_t i, tacit_error *err)
{
    if (c->count == 0)
        return tacit__fail(err, TACIT_BAD_COUNT, "release %zu: count is 0, expected at least 1",
                           i + 1);
    switch (c->kind) {
    case TACIT_COST_GAUSSIAN:
    case TACIT_COST_LAPLACE:
        if (!(c->sensitivity > 0) || isinf(c->sensitivity))
            return tacit__fail(err, TACIT_BAD_SENSITIVITY,
                               "release %zu: the sensitivity is %g, expected a finite number > 0",
                               i + 1, c->sensitivity);
        if (!(c->scale > 0) || isinf(c->scale))
            return tacit__fail(err, TACIT_BAD_SCALE,
                               "release %zu: the noise scale is %g, expected a finite number > 0",
                               i + 1, c->scale);
        return TACIT_OK;
    case TACIT_COST_BLACK_BOX:
        if (!(c->epsilon >= 0) || isinf(c->epsilon))
            return tacit__fail(err, TACIT_BAD_EPSILON,
                               "release %zu: epsilon is %g, expected a finite number >= 0", i + 1,
                               c->epsilon);
        if (!(c->delta >= 0 && c->delta < 1))
            return tacit__fail(err, TACIT_BAD_DELTA,
                               "release %zu: delta is %g, expected a number in [0, 1)", i + 1,
                               c->delta);
        return TACIT_OK;
    case TACIT_COST_ZCDP:
        if (!(c->rho > 0) || isinf(c->rho))
            return tacit__fail(err, TACIT_BAD_ARGUMENT,
                               "release %zu: rho is %g, expected a finite number > 0", i + 1,
                               c->rho);
        return TACIT_OK;
    }
    return tacit__fail(err, TACIT_BAD_ARGUMENT, "release %zu: unknown kind %d", i + 1,
                       (int)c->kind);
}

/* A running sum rounded both ways. */
typedef struct bounds {
    mpfr_t low, high;
} bounds;

static void bounds_init(bounds *b)
{
    mpfr_inits2(BITS, b->low, b->high, (mpfr_ptr)0);
    mpfr_set_ui(b->low, 0, MPFR_RNDN);
    mpfr_set_ui(b->high, 0, MPFR_RNDN);
}

static tacit_interval bounds_finish(bounds *b)
{
    tacit_interval out = {mpfr_get_d(b->low, MPFR_RNDD), mpfr_get_d(b->high, MPFR_RNDU)};
    mpfr_clears(b->low, b->high, (mpfr_ptr)0);
    return out;
}

/* sum += count a^power / b^power, power 1 or 2; one rounding, so that 3 x 2/6 is 1 */
static void add_quotient(bounds *sum, double a, double b, int power, uint64_t count)
{
    mpfr_t top, bottom;
    mpfr_inits2(BITS, top, bottom, (mpfr_ptr)0);
    mpfr_set_uj(top, count, MPFR_RNDN);
    mpfr_set_ui(bottom, 1, MPFR_RNDN);
    for (int i = 0; i < power; i++) { /* exact: 64 + 53 power bits fit into BITS */
        mpfr_mul_d(top, top, a, MPFR_RNDN);
        mpfr_mul_d(bottom, bottom, b, MPFR_RNDN);
    }
    mpfr_t q;
    mpfr_init2(q, BITS);
    mpfr_div(q, top, bottom, MPFR_RNDD);
    mpfr_add(sum->low, sum->low, q, MPFR_RNDD);
    mpfr_div(q, top, bottom, MPFR_RNDU);
    mpfr_add(sum->high, sum->high, q, MPFR_RNDU);
    mpfr_clears(top, bottom, q, (mpfr_ptr)0);
}

static void add_loss(summary *b, tacit__loss_kind kind, double size, uint64_t count)
{
    if (!(size > 0))
        return;
    for (size_t i = 0; i < b->n_losses; i++)
        if (b->losses[i].kind == kind && b->losses[i].size == size) {
            if (__builtin_add_overflow(b->losses[i].count, count, &b->losses[i].count))
                b->losses[i].count = UINT64_MAX;
            return;
        }
    b->losses[b->n_losses++] = (tacit__loss){kind, size, count};
}

/* fail becomes 1 - (1-fail)(1-more) */
static void add_failure(summary *b, double delta, uint64_t count)
{
    tacit_interval more = tacit__any_failure(delta, count);
    if (b->n_failing++ == 0) {
        b->fail = more;
        return;
    }
    b->fail.low = (b->fail.low + (1 - b->fail.low) * more.low) * (1 - 2 * DBL_EPSILON);
    b->fail.high = fmin(1, (b->fail.high + (1 - b->fail.high) * more.high) * (1 + 2 * DBL_EPSILON));
}

/* sum += count e tanh(e/2) for e = a/b. Its square may be far below the doubles; the range of MPFR holds
 * it, and what leaves is then the least double above 0. */
static void add_pure_rho(bounds *sum, double a, double b, uint64_t count)
{
    mpfr_t e, t;
    mpfr_inits2(BITS, e, t, (mpfr_ptr)0);
    for (int up = 0; up < 2; up++) {
        mpfr_ptr to = up ? sum->high : sum->low;
        mpfr_rnd_t way = up ? MPFR_RNDU : MPFR_RNDD;
        mpfr_set_d(e, a, MPFR_RNDN);
        mpfr_div_d(e, e, b, way);
        mpfr_div_2ui(t, e, 1, way);
        mpfr_tanh(t, t, way);
        mpfr_mul(e, e, t, way);
        mpfr_set_uj(t, count, MPFR_RNDN);
        mpfr_mul(e, e, t, way);
        mpfr_add(to, to, e, way);
    }
    mpfr_clears(e, t, (mpfr_ptr)0);
}

static void summary_destroy(summary *b)
{
    tacit__free(b->losses);
    mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

/* All kinds of sums over checked costs; b->losses has room for them. */
static void add_up(summary *b, const tacit_cost *costs, size_t n_costs)
{
    bounds square, pure, rho;
    bounds_init(&square);
    bounds_init(&pure);
    bounds_init(&rho);
    for (size_t i = 0; i < n_costs; i++) {
        const tacit_cost *c = &costs[i];
        double size;
        switch (c->kind) {
        case TACIT_COST_GAUSSIAN:
            add_quotient(&square, c->sensitivity, c->scale, 2, c->count);
            b->n_gaussian++;
            break;
        case TACIT_COST_LAPLACE:
            size = c->sensitivity / c->scale;
            add_quotient(&pure, c->sensitivity, c->scale, 1, c->count);
            add_pure_rho(&rho, c->sensitivity, c->scale, c->count);
            add_loss(b, TACIT__LOSS_LAPLACE, size > 0 ? size : DBL_TRUE_MIN, c->count);
            break;
        case TACIT_COST_BLACK_BOX:
            add_quotient(&pure, c->epsilon, 1, 1, c->count);
            add_pure_rho(&rho, c->epsilon, 1, c->count);
            add_loss(b, TACIT__LOSS_RESPONSE, c->epsilon, c->count);
            if (c->delta > 0)
                add_failure(b, c->delta, c->count);
            break;
        case TACIT_COST_ZCDP:
            add_quotient(&rho, c->rho, 1, 1, c->count);
            b->zcdp_rho += c->rho * (double)c->count * (1 - 4 * DBL_EPSILON);
            b->n_zcdp++;
            break;
        }
    }
    for (int up = 0; up < 2; up++) { /* rho += mu^2/2 */
        mpfr_ptr from = up ? square.high : square.low, to = up ? rho.high : rho.low;
        mpfr_rnd_t way = up ? MPFR_RNDU : MPFR_RNDD;
        mpfr_t half;
        mpfr_init2(half, BITS);
        mpfr_div_2ui(half, from, 1, way);
        mpfr_add(to, to, half, way);
        *(up ? &b->gaussian_rho.high : &b->gaussian_rho.low) = mpfr_get_d(half, way);
        mpfr_clear(half);
        mpfr_sqrt(from, from, way);
    }
    b->mu = bounds_finish(&square);
    b->pure = bounds_finish(&pure);
    b->rho = bounds_finish(&rho);
    if (b->n_gaussian > 0)
        add_loss(b, TACIT__LOSS_GAUSSIAN, b->mu.high, 1);
}

static tacit_status summary_create(summary *b, const tacit_cost *costs, size_t n_costs,
                                   tacit_error *err)
{
    *b = (summary){0};
    if (costs == NULL || n_costs == 0)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "no releases are given, expected at least one");
    for (size_t i = 0; i < n_costs; i++)
        TRY(check(&costs[i], i, err));
    b->losses = tacit__alloc(n_costs + 1, sizeof *b->losses);
    if (b->losses == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    add_up(b, costs, n_costs);
    return TACIT_OK;
}

static tacit_composition blank(const summary *b, const char *method)
{
    int all_gaussian = b->n_zcdp == 0 && b->n_losses == 1 && b->n_gaussian > 0 && b->n_failing == 0;
    return (tacit_composition){.mu = all_gaussian ? b->mu.high : (double)NAN,
                               .rho = b->n_failing == 0 ? b->rho.high : (double)NAN,
                               .method = method};
}

static int is_gaussian(const summary *b)
{
    return b->n_gaussian > 0 && b->n_zcdp == 0 && b->n_losses == 1 && b->n_failing == 0 &&
           b->pure.high == 0;
}

/* All copies of one box: one loss, and if it can fail, all of it in one line of the list. */
static const tacit_cost *only_box(const summary *b, const tacit_cost *costs, size_t n_costs)
{
    if (b->n_gaussian + b->n_zcdp > 0 || b->n_losses > 1)
        return NULL;
    for (size_t i = 0; i < n_costs; i++)
        if (costs[i].kind != TACIT_COST_BLACK_BOX || costs[i].epsilon != costs[0].epsilon ||
            costs[i].delta != costs[0].delta)
            return NULL;
    return &costs[0];
}

/* The copies of only_box; 0 where kov.c does not go. */
static uint64_t box_count(const tacit_cost *costs, size_t n_costs)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n_costs; i++)
        if (__builtin_add_overflow(count, costs[i].count, &count))
            return 0;
    return count <= TACIT__KOV_MAX_COUNT ? count : 0;
}

static double times_down(double x)
{
    return x * (1 - 4 * DBL_EPSILON);
}

/* What is left of delta after the failures, rounded down; negative if nothing is. */
static double after_failure(const summary *b, double delta)
{
    double left = (delta - b->fail.high) / (1 - b->fail.high);
    return b->fail.high == 0 ? delta : left * (1 - 4 * DBL_EPSILON);
}

static tacit_status at_delta(const summary *b, const tacit_cost *costs, size_t n_costs,
                             double delta, tacit_composition *out)
{
    tacit_status status = TACIT_OK;
    const tacit_cost *box = only_box(b, costs, n_costs);
    uint64_t copies = box != NULL ? box_count(costs, n_costs) : 0;
    if (is_gaussian(b)) {
        *out = blank(b, "gaussian");
        status = tacit_gdp_epsilon(b->mu.high, delta, &out->epsilon.high);
        if (status == TACIT_OK)
            status = tacit_gdp_epsilon(b->mu.low, delta, &out->epsilon.low);
        out->epsilon.low = times_down(out->epsilon.low);
    } else if (b->n_zcdp > 0) {
        *out = blank(b, "zcdp");
        double left = after_failure(b, delta), rho = b->zcdp_rho + b->gaussian_rho.low;
        out->epsilon.high = HUGE_VAL;
        if (left >= 0)
            status = tacit_zcdp_epsilon(b->rho.high, left, &out->epsilon.high);
        if (status == TACIT_OK)
            status = tacit_gdp_epsilon(times_down(sqrt(2 * rho)), delta, &out->epsilon.low);
        out->epsilon.low = fmin(times_down(out->epsilon.low), out->epsilon.high);
    } else if (delta == 0 && b->n_gaussian == 0 && b->n_failing == 0) {
        *out = blank(b, "pure");
        out->epsilon = b->pure;
    } else if (copies > 0) {
        *out = blank(b, "optimal");
        out->epsilon = tacit__kov_epsilon(box->epsilon, box->delta, copies, delta);
    } else {
        *out = blank(b, "pld");
        tacit__pld pld = {b->losses, b->n_losses, b->fail};
        if (delta == 0)
            out->epsilon = (tacit_interval){HUGE_VAL, HUGE_VAL};
        else
            status = tacit__pld_epsilon(&pld, delta, &out->epsilon);
        if (b->n_gaussian == 0 && delta >= b->fail.high) /* never more than the sum */
            out->epsilon.high = fmin(out->epsilon.high, b->pure.high);
        out->epsilon.low = fmin(out->epsilon.low, out->epsilon.high);
    }
    out->delta = (tacit_interval){delta, delta};
    return status;
}

static tacit_status at_epsilon(const summary *b, const tacit_cost *costs, size_t n_costs,
                               double epsilon, tacit_composition *out)
{
    tacit_status status = TACIT_OK;
    const tacit_cost *box = only_box(b, costs, n_costs);
    uint64_t copies = box != NULL ? box_count(costs, n_costs) : 0;
    if (is_gaussian(b)) {
        *out = blank(b, "gaussian");
        status = tacit_gdp_delta(b->mu.high, epsilon, &out->delta.high);
        if (status == TACIT_OK)
            status = tacit_gdp_delta(b->mu.low, epsilon, &out->delta.low);
        out->delta.low = times_down(out->delta.low);
    } else if (b->n_zcdp > 0) {
        *out = blank(b, "zcdp");
        double rho = b->zcdp_rho + b->gaussian_rho.low, rest = 1;
        status = tacit_zcdp_delta(b->rho.high, epsilon, &rest);
        if (status == TACIT_OK)
            status = tacit_gdp_delta(times_down(sqrt(2 * rho)), epsilon, &out->delta.low);
        double high = b->fail.high + (1 - b->fail.high) * rest;
        out->delta.high = fmin(1, b->fail.high > 0 ? high * (1 + 4 * DBL_EPSILON) : rest);
        out->delta.low = fmin(times_down(out->delta.low), out->delta.high);
    } else if (b->n_gaussian == 0 && b->n_failing == 0 && epsilon >= b->pure.high) {
        *out = blank(b, "pure");
    } else if (copies > 0) {
        *out = blank(b, "optimal");
        out->delta = tacit__kov_delta(box->epsilon, box->delta, copies, epsilon);
    } else {
        *out = blank(b, "pld");
        tacit__pld pld = {b->losses, b->n_losses, b->fail};
        if (b->n_gaussian == 0 && epsilon >= b->pure.high) /* only failures are left */
            out->delta = b->fail;
        else
            status = tacit__pld_delta(&pld, epsilon, &out->delta);
    }
    out->epsilon = (tacit_interval){epsilon, epsilon};
    return status;
}

tacit_status tacit_compose_at_delta(const tacit_cost *costs, size_t n_costs, double delta,
                                    tacit_composition *out, tacit_error *err)
{
    summary b;
    if (out == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "out is NULL");
    if (!(delta >= 0 && delta < 1))
        return tacit__fail(err, TACIT_BAD_DELTA, "delta is %g, expected a number in [0, 1)", delta);
    TRY(summary_create(&b, costs, n_costs, err));
    tacit_composition result;
    tacit_status status = at_delta(&b, costs, n_costs, delta, &result);
    summary_destroy(&b);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    *out = result;
    return TACIT_OK;
}

tacit_status tacit_compose_at_epsilon(const tacit_cost *costs, size_t n_costs, double epsilon,
                                      tacit_composition *out, tacit_error *err)
{
    summary b;
    if (out == NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "out is NULL");
    if (!(epsilon >= 0))
        return tacit__fail(err, TACIT_BAD_EPSILON, "epsilon is %g, expected a number >= 0",
                           epsilon);
    TRY(summary_create(&b, costs, n_costs, err));
    tacit_composition result;
    tacit_status status = at_epsilon(&b, costs, n_costs, epsilon, &result);
    summary_destroy(&b);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    *out = result;
    return TACIT_OK;
}
