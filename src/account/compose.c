/* The guarantee of a list of releases: chooses the sharpest method that applies.
 *
 *   gaussian  all Gaussian: mu^2 = sum count (sensitivity/scale)^2, exact [DRS22, Cor. 3.3]
 *   pure      delta = 0, or an epsilon that no loss exceeds: epsilons add up, exact
 *   optimal   copies of one black box: optimal_composition.c, exact
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
 * Quotients are taken in wide numbers, rounded up and down, and sums are exact; so 3 x 1/1 + 2 x 1/2 is 4,
 * not 4.0...01.
 * Cost: microseconds, except for the two methods with files of their own. */
#include <tacit/account.h>

#include <float.h>
#include <math.h>

#include "account/optimal_composition.h"
#include "account/pld.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/wide.h"

/* Terms have BITS bits, or 3 BITS as products of three of them, and lie between 2^-4300 and 2^4300: squares
 * of quotients of doubles, times a count. SUM_BITS hold the exact sum of as many as memory has. */
enum { BITS = 192, SUM_BITS = 9472 };

/* The list, sorted into its kinds. */
typedef struct summary {
    tacit_interval mu;   /* of all Gaussian costs together */
    double gaussian_rho; /* their rho, rounded down */
    double zcdp_rho;     /* of the zCDP costs alone, rounded down */
    double rho;          /* of everything, failures apart, rounded up */
    tacit_interval pure; /* sum of the epsilons of Laplace and black boxes */
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

/* A running sum of terms that were rounded both ways. */
typedef struct bounds {
    tacit__wide low, high;
} bounds;

static void bounds_init(bounds *b)
{
    tacit__wide_init(&b->low, SUM_BITS);
    tacit__wide_init(&b->high, SUM_BITS);
}

/* top / bottom = count a^power / b^power, power 1 or 2 */
static void set_quotient(tacit__wide *top, tacit__wide *bottom, double a, double b, int power,
                         uint64_t count)
{
    tacit__wide factor;
    tacit__wide_init(&factor, 64);
    tacit__wide_init(top, BITS);
    tacit__wide_init(bottom, BITS);
    tacit__wide_set_u64(top, count);
    tacit__wide_set_u64(bottom, 1);
    for (int i = 0; i < power; i++) { /* exact: 64 + 53 power bits fit into BITS */
        tacit__wide_set_d(&factor, a);
        tacit__wide_mul(top, top, &factor);
        tacit__wide_set_d(&factor, b);
        tacit__wide_mul(bottom, bottom, &factor);
    }
}

/* sum += count a^power / b^power; one rounding, so that 3 x 2/6 is 1 */
static void add_quotient(bounds *sum, double a, double b, int power, uint64_t count)
{
    tacit__wide top, bottom, q;
    set_quotient(&top, &bottom, a, b, power, count);
    tacit__wide_init(&q, BITS);
    tacit__wide_div(&q, &top, &bottom);
    tacit__wide_add(&sum->low, &sum->low, &q);
    tacit__wide_div_up(&q, &top, &bottom);
    tacit__wide_add(&sum->high, &sum->high, &q);
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

/* An upper bound of tanh(e/2) = (1 - u) / (1 + u) with u = exp(-e), e >= 0. From e = 2^-41 on, 1 - u
 * loses 41 of more than 256 bits, and 2^-200 of the quotient is more than its error; below, e/2 is
 * above tanh(e/2) by less than 2^-80 of it. */
static void tanh_half_up(tacit__wide *out, const tacit__wide *e)
{
    tacit__wide u, one, slack;
    tacit__wide_init(&u, 256);
    tacit__wide_init(&one, 64);
    tacit__wide_init(&slack, 256);
    if (e->sign == 0 || e->exponent < -40) {
        tacit__wide_set(out, e);
        tacit__wide_shift(out, -1);
        return;
    }
    tacit__wide_set(&u, e);
    u.sign = -1;
    tacit__wide_exp(&u, &u);
    tacit__wide_set_u64(&one, 1);
    tacit__wide_sub(out, &one, &u);
    tacit__wide_add(&u, &u, &one);
    tacit__wide_div(out, out, &u);
    tacit__wide_set(&slack, out);
    tacit__wide_shift(&slack, -200);
    tacit__wide_add(out, out, &slack);
    if (tacit__wide_compare(out, &one) > 0)
        tacit__wide_set(out, &one);
}

/* sum += count e tanh(e/2) for e = a/b, rounded up. Its square may be far below the doubles; what leaves is
 * then the least double above 0. The product has room for all bits of its factors. */
static void add_pure_rho(tacit__wide *sum, double a, double b, uint64_t count)
{
    tacit__wide e, t, product;
    tacit__wide_init(&product, 3 * BITS);
    set_quotient(&e, &t, a, b, 1, 1);
    tacit__wide_div_up(&e, &e, &t);
    tanh_half_up(&t, &e);
    tacit__wide_mul(&product, &e, &t);
    tacit__wide_set_u64(&t, count);
    tacit__wide_mul(&product, &product, &t);
    tacit__wide_add(sum, sum, &product);
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
            add_pure_rho(&rho.high, c->sensitivity, c->scale, c->count);
            add_loss(b, TACIT__LOSS_LAPLACE, size > 0 ? size : DBL_TRUE_MIN, c->count);
            break;
        case TACIT_COST_BLACK_BOX:
            add_quotient(&pure, c->epsilon, 1, 1, c->count);
            add_pure_rho(&rho.high, c->epsilon, 1, c->count);
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
    b->mu = (tacit_interval){tacit__wide_sqrt_down(&square.low), tacit__wide_sqrt_up(&square.high)};
    b->pure = (tacit_interval){tacit__wide_down(&pure.low), tacit__wide_up(&pure.high)};
    tacit__wide_shift(&square.low, -1); /* rho += mu^2/2 */
    tacit__wide_shift(&square.high, -1);
    b->gaussian_rho = tacit__wide_down(&square.low);
    tacit__wide_add(&rho.high, &rho.high, &square.high);
    b->rho = tacit__wide_up(&rho.high);
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
                               .rho = b->n_failing == 0 ? b->rho : (double)NAN,
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

/* The copies of only_box; 0 where optimal_composition.c does not go. */
static uint64_t box_count(const tacit_cost *costs, size_t n_costs)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n_costs; i++)
        if (__builtin_add_overflow(count, costs[i].count, &count))
            return 0;
    return count <= TACIT__OPTIMAL_MAX_COUNT ? count : 0;
}

static double times_down(double x)
{
    return x * (1 - 4 * DBL_EPSILON);
}

/* Returns what the failures leave of delta, rounded down; negative if they leave nothing. */
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
        double left = after_failure(b, delta), rho = b->zcdp_rho + b->gaussian_rho;
        out->epsilon.high = HUGE_VAL;
        if (left >= 0)
            status = tacit_zcdp_epsilon(b->rho, left, &out->epsilon.high);
        if (status == TACIT_OK)
            status = tacit_gdp_epsilon(times_down(sqrt(2 * rho)), delta, &out->epsilon.low);
        out->epsilon.low = fmin(times_down(out->epsilon.low), out->epsilon.high);
    } else if (delta == 0 && b->n_gaussian == 0 && b->n_failing == 0) {
        *out = blank(b, "pure");
        out->epsilon = b->pure;
    } else if (copies > 0) {
        *out = blank(b, "optimal");
        out->epsilon = tacit__optimal_epsilon(box->epsilon, box->delta, copies, delta);
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
        double rho = b->zcdp_rho + b->gaussian_rho, rest = 1;
        status = tacit_zcdp_delta(b->rho, epsilon, &rest);
        if (status == TACIT_OK)
            status = tacit_gdp_delta(times_down(sqrt(2 * rho)), epsilon, &out->delta.low);
        double high = b->fail.high + (1 - b->fail.high) * rest;
        out->delta.high = fmin(1, b->fail.high > 0 ? high * (1 + 4 * DBL_EPSILON) : rest);
        out->delta.low = fmin(times_down(out->delta.low), out->delta.high);
    } else if (b->n_gaussian == 0 && b->n_failing == 0 && epsilon >= b->pure.high) {
        *out = blank(b, "pure");
    } else if (copies > 0) {
        *out = blank(b, "optimal");
        out->delta = tacit__optimal_delta(box->epsilon, box->delta, copies, epsilon);
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
    tacit__free(b.losses);
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
    tacit__free(b.losses);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    *out = result;
    return TACIT_OK;
}
