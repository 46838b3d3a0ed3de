/* The composed distribution as a function of epsilon: choosing lattices, adding up, reading delta.
 *
 * Steps. Putting n releases on a lattice of step h changes the variance of their sum by about n h^2/6 each
 * way (lattice_pair.c), and that changes delta by (lambda + 1/s)(lambda + 1 + 1/s) n h^2/12 of itself, s the
 * tilted standard deviation; this is solved for h. (An atom that must be rounded down costs
 * (lambda + 1/s) h/2 once per loss; pld.c sees that and asks again.) The common step divides the largest
 * atom spacing, by a number with many divisors (a multiple of 60), so that sizes in simple
 * ratios share the lattice.
 *
 * Reading. With tilted masses w_i at l_i and x_i = l_i - l_j,
 *     b_j = sum_(i>=j) w_i e^-((lambda+1) x_i),     d_j = sum_(i>=j) w_i e^-(lambda x_i) (1 - e^-x_i)
 * follow from b_(j+1), d_(j+1) by positive terms only, and for eps = l_j - t, 0 <= t < h,
 *     delta = e^(log_scale - lambda eps) e^(-lambda t) (d_j + (1 - e^-t) b_j).
 * Cost: one n-fold sum per loss, one product of spectra per further loss. */
#include "account/profile.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/workspace.h"

#define REACH 9.0 /* half width of the window in standard deviations, for sizing only */

enum {
    FEW_POINTS = 1 << 16, /* so cheap that less would be false economy */
    MANY_CELLS = 1 << 13, /* per size of a loss; the same */
    DIVISORS = 60,        /* 2, 3, 4, 5, 6, 10, 12, 15, 20, 30 */
    LEAST_CELLS = 12      /* per size of a Laplace loss */
};

tacit__cumulants tacit__pld_cumulants(const tacit__pld *pld, double lambda)
{
    TACIT__REQUIRE(!(lambda < 0));
    tacit__cumulants sum = {0, 0, 0};
    for (size_t i = 0; i < pld->n_losses; i++) {
        tacit__cumulants k = tacit__loss_cumulants(&pld->losses[i], lambda);
        sum.value += k.value;
        sum.mean += k.mean;
        sum.variance += k.variance;
    }
    return sum;
}

/* size / step rounded up to an integer with many divisors */
static double round_cells(double cells)
{
    cells = fmax(ceil(cells), LEAST_CELLS);
    double unit = 2 * cells > DIVISORS ? DIVISORS : LEAST_CELLS;
    return unit * ceil(cells / unit);
}

/* Sizes whose ratio to the step is an integer, up to rounding, live on the common lattice. */
static int divides(double step, double size)
{
    double ratio = size / step;
    return fabs(ratio - rint(ratio)) <= 8 * TACIT__UNIT * ratio && ratio >= 0.5;
}

/* The loss whose atoms the common lattice should carry: the one with the largest variance. */
static const tacit__loss *main_loss(const tacit__pld *pld, double lambda)
{
    const tacit__loss *best = NULL;
    double most = -1;
    for (size_t i = 0; i < pld->n_losses; i++) {
        double v = tacit__loss_cumulants(&pld->losses[i], lambda).variance;
        if (pld->losses[i].kind != TACIT__LOSS_GAUSSIAN && v > most) {
            most = v;
            best = &pld->losses[i];
        }
    }
    return best;
}

/* The step that one loss needs on a lattice of its own. */
static double own_step(const tacit__loss *loss, double lambda, double tol, double curve,
                       double limit, int *at_limit)
{
    double window = 2 * REACH * sqrt(tacit__loss_cumulants(loss, lambda).variance);
    double cheap = fmax(window / FEW_POINTS, loss->size / MANY_CELLS);
    double step = fmin(sqrt(6 * tol / (curve * (double)loss->count)), cheap);
    double least = fmax(window / limit, 2.5 * loss->size / (double)TACIT__MAX_CELLS);
    if (step < least) {
        step = least;
        *at_limit = 1;
    }
    return loss->size / round_cells(loss->size / step);
}

void tacit__steps_choose(const tacit__pld *pld, double lambda, double tol, tacit__steps *steps)
{
    TACIT__REQUIRE(tol > 0 && steps->own_step != NULL);
    double deviation = sqrt(tacit__pld_cumulants(pld, 0).variance);
    double slope = lambda + 1 / deviation, curve = slope * (slope + 1);
    double each = tol / (2 * (double)pld->n_losses);
    /* the more losses, the more transforms: share the work */
    double limit = ldexp(0.7, TACIT__MAX_LOG2_POINTS) / fmax(1, (double)pld->n_losses / 4);
    const tacit__loss *largest = main_loss(pld, lambda);

    steps->at_limit = 0;
    for (size_t i = 0; i < pld->n_losses; i++)
        steps->own_step[i] =
            own_step(&pld->losses[i], lambda, each, curve, limit, &steps->at_limit);
    if (pld->n_losses == 1 && largest != NULL) {
        steps->step = steps->own_step[0];
        return;
    }
    double window = 2 * REACH * sqrt(tacit__pld_cumulants(pld, lambda).variance);
    double cheap = window / FEW_POINTS;
    if (largest != NULL)
        cheap = fmax(cheap, largest->size / MANY_CELLS);
    double step = fmin(sqrt(6 * each / curve), cheap);
    if (step < window / limit) {
        step = window / limit;
        steps->at_limit = 1;
    }
    if (largest != NULL && largest->size > step)
        step = largest->size / round_cells(largest->size / step);
    steps->step = step;
    for (size_t i = 0; i < pld->n_losses;
         i++) /* finer lattices that share a size refine this one */
        if (steps->own_step[i] < step && divides(step, pld->losses[i].size))
            steps->own_step[i] = step / ceil(step / steps->own_step[i] * (1 - 1e-9));
}

/* d and b of the head comment; b replaces the masses. */
static void suffix_sums(tacit__profile *p)
{
    const tacit__tilted_pmf *t = &p->sum;
    double fall = exp(-t->lambda * t->step), step = -expm1(-t->step);
    double fall_b = exp(-(t->lambda + 1) * t->step);
    for (int side = 0; side < 2; side++) {
        double *b = t->mass[side], *d = p->rise[side];
        d[t->n - 1] = 0;
        for (size_t j = t->n - 1; j > 0; j--) {
            d[j - 1] = fall * (d[j] + step * b[j]);
            b[j - 1] += fall_b * b[j];
        }
    }
}

tacit_status tacit__profile_create(tacit__profile *out, const tacit__pld *pld, double lambda,
                                   const tacit__steps *steps)
{
    TACIT__REQUIRE(pld->n_losses > 0);
    memset(out, 0, sizeof *out);
    tacit_status status = tacit__tilted_pmf_create(&out->sum, &pld->losses[0], lambda, steps->step,
                                                   steps->own_step[0]);
    for (size_t i = 1; status == TACIT_OK && i < pld->n_losses; i++) {
        tacit__tilted_pmf next;
        status = tacit__tilted_pmf_create(&next, &pld->losses[i], lambda, steps->step,
                                          steps->own_step[i]);
        if (status == TACIT_OK) {
            status = tacit__tilted_pmf_add(&out->sum, &next);
            tacit__tilted_pmf_destroy(&next);
        }
    }
    if (status == TACIT_OK && TACIT__PIECES(TACIT__PIECE(out->rise[0], out->sum.n),
                                            TACIT__PIECE(out->rise[1], out->sum.n)) == NULL)
        status = TACIT_NO_MEMORY;
    if (status != TACIT_OK) {
        tacit__profile_destroy(out);
        return status;
    }
    out->fail = pld->fail;
    out->sum.relative += 4 * TACIT__UNIT * (double)out->sum.n;
    suffix_sums(out);
    return TACIT_OK;
}

void tacit__profile_destroy(tacit__profile *profile)
{
    tacit__tilted_pmf_destroy(&profile->sum);
    tacit__workspace_destroy(profile->rise[0]);
    profile->rise[0] = NULL;
}

/* The tilted expectation of f(l - eps) and its prefactor's logarithm. */
static double read_sum(const tacit__profile *p, int side, double epsilon)
{
    const tacit__tilted_pmf *t = &p->sum;
    double place = ceil(epsilon / t->step) - (double)t->first;
    if (place >= (double)t->n)
        return 0;
    size_t j = place > 0 ? (size_t)place : 0;
    double rest = fmax(0, ((double)t->first + (double)j) * t->step - epsilon);
    return exp(-t->lambda * rest) * (p->rise[side][j] - expm1(-rest) * t->mass[side][j]);
}

tacit_interval tacit__profile_delta(const tacit__profile *p, double epsilon)
{
    TACIT__REQUIRE(!(epsilon < 0) && p->sum.n > 0);
    const tacit__tilted_pmf *t = &p->sum;
    double off = 1.01 * (t->noise + t->lost * tacit__f_top(t->lambda));
    double shift = t->shift + 4 * TACIT__UNIT * epsilon;
    double log_low = t->log_scale[TACIT__LOW] - t->lambda * (epsilon + shift);
    double log_high = t->log_scale[TACIT__HIGH] - t->lambda * (epsilon - shift);
    double size = fabs(t->log_scale[TACIT__HIGH]) + t->lambda * epsilon;
    double relative = t->relative + 16 * TACIT__UNIT * (4 + size);
    double low = exp(log_low) * (read_sum(p, TACIT__LOW, epsilon + shift) - off) * (1 - relative);
    double high =
        exp(log_high) * (read_sum(p, TACIT__HIGH, epsilon - shift) + off) * (1 + 2 * relative);
    low = fmin(1, fmax(0, low));
    high = fmin(1, high + 0x1p-1074);
    low = (p->fail.low + (1 - p->fail.low) * low) * (1 - 4 * TACIT__UNIT);
    high = (p->fail.high + (1 - p->fail.high) * high) * (1 + 4 * TACIT__UNIT);
    return (tacit_interval){low, fmin(1, high)};
}
