/* The parts of a composition as lattice distributions under an exponential tilt.
 *
 * Tilting (Esscher's transform, as in large-deviation proofs) multiplies the density of the loss by
 * e^(lambda l) and brings the wanted epsilon into the middle of the distribution, so that a delta
 * of 1e-30 is computed with the relative accuracy of one of 0.3.
 *
 *   Laplace   cells of one release in closed form on its own lattice, on which +-e are points;
 *             n-fold sum there (loss_power.c); then moved once, as a whole, to the common lattice
 *   Gaussian  the tilted loss is N((lambda+1/2) mu^2, mu^2); cells by Gauss-Legendre quadrature,
 *             4 points on panels no wider than mu/16 and 1/(16 (lambda+1)): below 1e-15 relative
 *             wherever there is mass (the error term is 5.6e-10 (width/16)^8)
 *   response  n of them are a tilted binomial, anchored by optimal_composition.c; moved once to the common lattice
 *
 * Cost: linear in the number of points, but for the n-fold sums. */
#include "account/tilted_pmf.h"

#include <math.h>
#include <string.h>

#include "account/optimal_composition.h"
#include "base/error.h"
#include "base/workspace.h"

#define GAUSS_REACH 8.6  /* 2 Phi(-8.6) < 1e-16 */
#define NEGLIGIBLE 1e-18 /* binomial terms, relative to the largest */
#define SPECK 1e-5       /* of a step: a loss this small is treated as an atom */
#define TRIM 1e-17       /* mass that may be cut from each end */
#define PANEL (1.0 / 16) /* quadrature panels, see above */
/* One release's masses, scale and tilt factors: 16 operations each, and up to 2 * 512 merged. */
#define ROUNDINGS (1088 * TACIT__UNIT)

double tacit__f_top(double lambda)
{
    return lambda == 0 ? 1 : exp(-log1p(lambda) - lambda * log1p(1 / lambda));
}

/* f rises and falls once, so its sum over a lattice is at most integral/step + top; the integral of
 * f^2 is 1/(lambda (2 lambda + 1) (2 lambda + 2)). */
double tacit__f_norm(double lambda, double step, double width)
{
    TACIT__REQUIRE(!(lambda < 0) && !(width < 0));
    double top = tacit__f_top(lambda);
    double by_width = top * sqrt(width);
    double by_area = sqrt(top * top + 1 / (lambda * (2 * lambda + 1) * (2 * lambda + 2) * step));
    return lambda > 0 && by_area < by_width ? by_area : by_width;
}

int tacit__tilted_pmf_alloc(tacit__tilted_pmf *t, double step, double lambda, int64_t first,
                            size_t n)
{
    TACIT__REQUIRE(n > 0);
    *t = (tacit__tilted_pmf){.step = step, .lambda = lambda, .first = first, .n = n};
    return TACIT__PIECES(TACIT__PIECE(t->mass[0], n), TACIT__PIECE(t->mass[1], n)) != NULL ? 0 : -1;
}

void tacit__tilted_pmf_destroy(tacit__tilted_pmf *t)
{
    tacit__workspace_destroy(t->mass[0]);
    t->mass[0] = NULL;
}

static void normalize(tacit__tilted_pmf *t)
{
    for (int side = 0; side < 2; side++) {
        double sum = 0;
        for (size_t j = 0; j < t->n; j++)
            sum += t->mass[side][j];
        if (!(sum > 0))
            continue; /* no mass, nothing to normalize */
        for (size_t j = 0; j < t->n; j++)
            t->mass[side][j] /= sum;
        t->log_scale[side] += log(sum);
    }
}

double tacit__tilted_pmf_norm(const tacit__tilted_pmf *t)
{
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (size_t j = 0; j < t->n; j++)
            sum += t->mass[side][j] * t->mass[side][j];
    return sqrt(sum);
}

/* Cuts ends that weigh nothing, so that windows do not grow without need. */
static void trim(tacit__tilted_pmf *t)
{
    size_t low = 0, high = t->n;
    double cut = 0;
    for (; low + 1 < high; low++) {
        double w = fmax(t->mass[0][low], t->mass[1][low]);
        if (cut + w > TRIM)
            break;
        cut += w;
    }
    t->lost += 2 * cut;
    for (cut = 0; low + 1 < high; high--) {
        double w = fmax(t->mass[0][high - 1], t->mass[1][high - 1]);
        if (cut + w > TRIM)
            break;
        cut += w;
    }
    t->lost += 2 * cut;
    t->n = high - low;
    t->first += (int64_t)low;
    for (int side = 0; side < 2; side++)
        memmove(t->mass[side], t->mass[side] + low, t->n * sizeof(double));
}

/* Cells to both lattice distributions, whose total becomes 1. */
static tacit_status both(tacit__tilted_pmf *out, tacit__cells *low, const tacit__cells *high)
{
    if (tacit__tilted_pmf_alloc(out, low->step, low->lambda, low->first, low->n + 1) != 0)
        return TACIT_NO_MEMORY;
    tacit__cells_spread(high, out->mass[TACIT__HIGH]);
    tacit__cells_gather(low, out->mass[TACIT__LOW]); /* may be the same cells */
    normalize(out);
    return TACIT_OK;
}

/* One Laplace release of size e = m * step. With a cell's left end l and c = e^(-(lambda+1/2)(e-l)):
 * mass c (e^(h/2) - 1)/2, excess 2 c sinh^2(h/4), atoms 1/2 and e^(-(2 lambda+1)e)/2. */
static tacit_status laplace_once(tacit__tilted_pmf *out, double e, double lambda, size_t m)
{
    double h = e / (double)m, rate = lambda + 0.5;
    tacit__cells cells;
    if (2 * m > TACIT__MAX_CELLS)
        return TACIT_TOO_LARGE;
    if (tacit__cells_create(&cells, h, lambda, -(int64_t)m, 2 * m) != 0)
        return TACIT_NO_MEMORY;
    double s = sinh(h / 4), mass = 0.5 * expm1(h / 2), excess = 2 * s * s;
    for (size_t i = 0; i < 2 * m; i++) {
        double c = exp(-rate * h * (double)(2 * m - i));
        cells.mass[i] = c * mass;
        cells.excess[i] = c * excess;
    }
    cells.atom[0] = 0.5 * exp(-2 * rate * e);
    cells.atom[2 * m] = 0.5;
    tacit_status status = both(out, &cells, &cells);
    tacit__cells_destroy(&cells);
    if (status != TACIT_OK)
        return status;
    for (int side = 0; side < 2; side++)
        out->log_scale[side] += lambda * e;
    out->relative = ROUNDINGS * (1 + rate * e);
    out->shift = 4 * TACIT__UNIT * e;
    return TACIT_OK;
}

/* Moves both distributions to another lattice. */
static tacit_status move(tacit__tilted_pmf *t, double step)
{
    double low_end = (double)t->first * t->step,
           high_end = ((double)t->first + (double)t->n) * t->step;
    double first = floor(low_end / step) - 1, n = ceil(high_end / step) - first + 2;
    if (!(n <= (double)(TACIT__MAX_CELLS * 4)))
        return TACIT_TOO_LARGE;
    tacit__cells cells[2];
    if (tacit__cells_create(&cells[0], step, t->lambda, (int64_t)first, (size_t)n) != 0)
        return TACIT_NO_MEMORY;
    if (tacit__cells_create(&cells[1], step, t->lambda, (int64_t)first, (size_t)n) != 0) {
        tacit__cells_destroy(&cells[0]);
        return TACIT_NO_MEMORY;
    }
    for (int side = 0; side < 2; side++)
        for (size_t j = 0; j < t->n; j++)
            if (t->mass[side][j] > 0)
                tacit__cells_add(&cells[side], ((double)t->first + (double)j) * t->step,
                                 t->mass[side][j]);
    tacit__tilted_pmf moved;
    tacit_status status = both(&moved, &cells[TACIT__LOW], &cells[TACIT__HIGH]);
    tacit__cells_destroy(&cells[0]);
    tacit__cells_destroy(&cells[1]);
    if (status != TACIT_OK)
        return status;
    for (int side = 0; side < 2; side++)
        moved.log_scale[side] += t->log_scale[side];
    moved.lost = t->lost;
    moved.noise = t->noise;
    moved.relative = t->relative + ROUNDINGS * (1 + t->lambda * step);
    moved.shift =
        t->shift + TACIT__SNAP * step + 4 * TACIT__UNIT * fmax(fabs(low_end), fabs(high_end));
    tacit__tilted_pmf_destroy(t);
    *t = moved;
    return TACIT_OK;
}

/* A loss far smaller than a step: one point at 0, and its reach counts as a shift of epsilon. */
static tacit_status speck(tacit__tilted_pmf *out, const tacit__loss *loss, double lambda,
                          double step, double reach)
{
    if (tacit__tilted_pmf_alloc(out, step, lambda, 0, 1) != 0)
        return TACIT_NO_MEMORY;
    for (int side = 0; side < 2; side++) {
        out->mass[side][0] = 1;
        out->log_scale[side] = tacit__loss_cumulants(loss, lambda).value;
    }
    out->lost = 1e-16;
    out->shift = reach;
    out->relative = ROUNDINGS + 4 * lambda * reach; /* its masses belong to losses within reach */
    return TACIT_OK;
}

static tacit_status laplace(tacit__tilted_pmf *out, const tacit__loss *loss, double lambda,
                            double step, double own_step)
{
    double m = rint(loss->size / own_step), all = loss->size * (double)loss->count;
    if (all < SPECK * step)
        return speck(out, loss, lambda, step, all);
    if (!(m <= (double)TACIT__MAX_CELLS))
        return TACIT_TOO_LARGE;
    tacit_status status = laplace_once(out, loss->size, lambda, (size_t)m);
    if (status != TACIT_OK)
        return status;
    if (loss->count > 1)
        status = tacit__tilted_pmf_power(out, loss->count);
    if (status == TACIT_OK)
        trim(out);
    if (status == TACIT_OK && own_step != step)
        status = move(out, step);
    if (status != TACIT_OK)
        tacit__tilted_pmf_destroy(out);
    return status;
}

/* 4-point Gauss-Legendre on [0, 1] */
static const double node[4] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813,
                               0.93056815579702629};
static const double weight[4] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                 0.17392742256872693};

static tacit_status gaussian(tacit__tilted_pmf *out, const tacit__loss *loss, double lambda,
                             double step)
{
    double mu = loss->size, mean = (lambda + 0.5) * mu * mu, reach = GAUSS_REACH * mu;
    double first = floor((mean - reach) / step), n = ceil((mean + reach) / step) - first;
    if (mean + reach < SPECK * step)
        return speck(out, loss, lambda, step, mean + reach);
    double panels = ceil(fmax(step / (PANEL * mu), step * (lambda + 1) / PANEL));
    if (!(n * panels <= (double)(TACIT__MAX_CELLS * 4)))
        return TACIT_TOO_LARGE;
    tacit__cells cells;
    if (tacit__cells_create(&cells, step, lambda, (int64_t)first, (size_t)n) != 0)
        return TACIT_NO_MEMORY;
    double width = step / panels, scale = width / mu * 0.3989422804014327; /* 1/sqrt(2 pi) */
    for (size_t p = 0; p < (size_t)panels; p++)
        for (int q = 0; q < 4; q++) {
            double x = ((double)p + node[q]) * width;
            double w = scale * weight[q] * exp(-lambda * x), up = -expm1(-x);
            for (size_t i = 0; i < cells.n; i++) {
                double z = ((first + (double)i) * step + x - mean) / mu, m = w * exp(-0.5 * z * z);
                cells.mass[i] += m;
                cells.excess[i] += m * up;
            }
        }
    tacit_status status = both(out, &cells, &cells);
    tacit__cells_destroy(&cells);
    if (status != TACIT_OK)
        return status;
    for (int side = 0; side < 2; side++)
        out->log_scale[side] += 0.5 * lambda * (lambda + 1) * mu * mu;
    out->lost = 1e-16;
    /* |z| <= 9, so that a rounding of z of 4u(|mean|/mu + 9) costs 36u times that */
    out->relative = ROUNDINGS * (2 + panels + mean / mu + lambda * (lambda + 1) * mu * mu);
    out->shift = 4 * TACIT__UNIT * (mean + reach);
    return TACIT_OK;
}

/* Tilted, n responses are Binomial(n, p) with logit (2 lambda + 1) e. */
static tacit_status response(tacit__tilted_pmf *out, const tacit__loss *loss, double lambda,
                             double step)
{
    double e = loss->size, k = (double)loss->count, logit = (2 * lambda + 1) * e;
    if (loss->count > TACIT__OPTIMAL_MAX_COUNT)
        return TACIT_TOO_LARGE;
    double mode = fmin(k, floor((k + 1) / (1 + exp(-logit))));
    double grow = exp(logit), shrink = exp(-logit), low = mode, high = mode, lost = 0;
    /* where the terms vanish: first without their values, relative to the mode */
    for (double t = 1; high < k; high++) {
        double ratio = (k - high) / (high + 1) * grow;
        if (ratio < 1 && t * ratio < NEGLIGIBLE * (1 - ratio)) {
            lost += t * ratio / (1 - ratio);
            break;
        }
        t *= ratio;
    }
    for (double t = 1; low > 0; low--) {
        double ratio = low / (k - low + 1) * shrink;
        if (ratio < 1 && t * ratio < NEGLIGIBLE * (1 - ratio)) {
            lost += t * ratio / (1 - ratio);
            break;
        }
        t *= ratio;
    }
    double first = floor(e * (2 * low - k) / step) - 1;
    double n = ceil(e * (2 * high - k) / step) - first + 2;
    tacit__cells cells;
    if (!(n <= (double)(TACIT__MAX_CELLS * 4)))
        return TACIT_TOO_LARGE;
    if (tacit__cells_create(&cells, step, lambda, (int64_t)first, (size_t)n) != 0)
        return TACIT_NO_MEMORY;
    double anchor = exp(tacit__log_binomial(loss->count, (uint64_t)mode, logit)), t = anchor;
    for (double j = mode; j <= high; j++) {
        tacit__cells_add(&cells, e * (2 * j - k), t);
        t *= (k - j) / (j + 1) * grow;
    }
    t = anchor;
    for (double j = mode; j > low; j--) {
        t *= j / (k - j + 1) * shrink;
        tacit__cells_add(&cells, e * (2 * (j - 1) - k), t);
    }
    tacit_status status = both(out, &cells, &cells);
    tacit__cells_destroy(&cells);
    if (status != TACIT_OK)
        return status;
    tacit__cumulants c = tacit__loss_cumulants(loss, lambda);
    for (int side = 0; side < 2; side++)
        out->log_scale[side] += c.value;
    out->lost = lost * anchor;
    out->relative = ROUNDINGS * (high - low + 2 + k * (1 + (lambda + 1) * e));
    out->shift = TACIT__SNAP * step + 4 * TACIT__UNIT * k * e;
    return TACIT_OK;
}

tacit_status tacit__tilted_pmf_create(tacit__tilted_pmf *out, const tacit__loss *loss,
                                      double lambda, double step, double own_step)
{
    TACIT__REQUIRE(loss->size > 0);
    switch (loss->kind) {
    case TACIT__LOSS_LAPLACE:
        return laplace(out, loss, lambda, step, own_step);
    case TACIT__LOSS_RESPONSE:
        return response(out, loss, lambda, step);
    case TACIT__LOSS_GAUSSIAN:
    default:
        return gaussian(out, loss, lambda, step);
    }
}
