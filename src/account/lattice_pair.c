/* From a loss distribution to two lattice distributions that enclose its privacy profile.
 *
 * With losses L_i drawn under P and y_i = exp(-L_i), a composition has
 *     delta(eps) = E[(1 - exp(eps) y_1 y_2 ... y_k)_+],
 * convex and falling in each y_i. Hence:
 *
 * spread (delta up): replacing y by a spread with the same mean raises delta. A loss l between the
 *     points a and a + h is split so that mass and mean of y are kept: the part
 *     (1 - e^-(l-a)) / (1 - e^-h) goes up. This is "connect the dots" [DGKKM22], seen under P: the
 *     chord between two points of the hockey-stick curve, drawn over e^eps, lies above it.
 *
 * gather (delta down): replacing several y by their mean lowers delta (merging outputs is
 *     post-processing), and so does raising y (rounding a loss down). To land exactly on a point
 *     a, a share of the cell above a is merged with what was left of the cell below, so that the
 *     mean of y is exp(-a). A heavy atom that finds no such partner next door takes light mass
 *     from further away; only mass without a partner within REACH is rounded down.
 *
 * Both biases are O(h^2) per release where the distribution is smooth or sits on the lattice; for
 * gather it is O(h^(3/2)) at an atom off the lattice with smooth mass around, and O(h) at a lonely
 * one. Cost: linear, times at most REACH for atoms. */
#include "account/lattice_pair.h"

#include <math.h>

#include "base/error.h"
#include "base/workspace.h"

int tacit__cells_create(tacit__cells *cells, double step, double lambda, int64_t first, size_t n)
{
    TACIT__REQUIRE(step > 0 && n > 0);
    *cells = (tacit__cells){.step = step, .lambda = lambda, .first = first, .n = n};
    return TACIT__PIECES(TACIT__PIECE(cells->atom, n + 1), TACIT__PIECE(cells->mass, n),
                         TACIT__PIECE(cells->excess, n)) != NULL
               ? 0
               : -1;
}

void tacit__cells_destroy(tacit__cells *cells)
{
    tacit__workspace_destroy(cells->atom);
    cells->atom = NULL;
}

void tacit__cells_add(tacit__cells *cells, double loss, double weight)
{
    TACIT__REQUIRE(!(weight < 0));
    double place = floor(loss / cells->step);
    double offset = loss - place * cells->step;
    if (offset > (1 - TACIT__SNAP) * cells->step) {
        place++;
        offset = 0;
    }
    int64_t i = (int64_t)place - cells->first;
    TACIT__REQUIRE(i >= 0 && i <= (int64_t)cells->n);
    if (offset < TACIT__SNAP * cells->step) {
        cells->atom[i] += weight;
        return;
    }
    TACIT__REQUIRE(i < (int64_t)cells->n);
    double at_left = weight * exp(-cells->lambda * offset);
    cells->mass[i] += at_left;
    cells->excess[i] += at_left * -expm1(-offset);
}

void tacit__cells_spread(const tacit__cells *cells, double *out)
{
    TACIT__REQUIRE(cells->step > 0);
    double full = -expm1(-cells->step), tilt = exp(cells->lambda * cells->step);
    for (size_t i = 0; i <= cells->n; i++)
        out[i] = cells->atom[i];
    for (size_t i = 0; i < cells->n; i++) {
        double up = fmin(cells->excess[i] / full, cells->mass[i]);
        out[i] += cells->mass[i] - up;
        out[i + 1] += up * tilt;
    }
}

/* Partners further away than this, or than 1/(lambda + 1), would cost more than rounding down. */
enum { REACH = 512 };

static size_t reach_of(const tacit__cells *cells)
{
    double far = 1 / ((cells->lambda + 1) * cells->step);
    return far < REACH ? (size_t)far : REACH;
}

/* Moves mass from *have, whose y is off by `each` per unit, until *need is balanced; returns the mass moved,
 * in units of `scale` times *have. */
static double balance(double *have, double scale, double each, double *need)
{
    double all = *have * scale * each;
    double share = all <= *need ? 1 : *need / all;
    double taken = share * *have * scale;
    *need = share < 1 ? 0 : *need - all;
    *have *= 1 - share;
    return taken;
}

/* Puts `mass` with this excess over point p on that point, balanced by mass on points below; returns the
 * share that could not be balanced. */
static double balance_by_points_below(const tacit__cells *cells, double *out, size_t p, double mass,
                                      double excess)
{
    double need = excess, h = cells->step;
    size_t reach = reach_of(cells);
    for (size_t d = 1; d <= reach && d <= p && need > 0; d++)
        if (out[p - d] > 0)
            out[p] += balance(&out[p - d], exp(cells->lambda * h * (double)d), expm1(h * (double)d),
                              &need);
    double alone = excess > 0 ? need / excess : 0;
    out[p] += (1 - alone) * mass;
    return alone;
}

/* The same for mass that lies `lack` below point p, balanced by points and cells above cell p. */
static double balance_by_cells_above(tacit__cells *cells, double *out, size_t p, double mass,
                                     double lack)
{
    double need = lack, h = cells->step;
    size_t reach = reach_of(cells);
    for (size_t d = 1; d <= reach && p + d <= cells->n && need > 0; d++) {
        double scale = exp(-cells->lambda * h * (double)d), up = -expm1(-h * (double)d);
        size_t c = p + d;
        if (out[c] > 0)
            out[p] += balance(&out[c], scale, up, &need);
        if (c < cells->n && cells->mass[c] > 0) {
            double before = cells->mass[c];
            double each = up + (1 - up) * cells->excess[c] / before;
            out[p] += balance(&cells->mass[c], scale, each, &need);
            cells->excess[c] *= cells->mass[c] / before;
        }
    }
    double alone = lack > 0 ? need / lack : 0;
    out[p] += (1 - alone) * mass;
    return alone;
}

void tacit__cells_gather(tacit__cells *cells, double *out)
{
    TACIT__REQUIRE(cells->step > 0);
    double *mass = cells->mass, *excess = cells->excess;
    double grow = expm1(cells->step), tilt = exp(cells->lambda * cells->step);
    double left = 0; /* the share of the cell below that still waits for a partner */
    for (size_t i = 0; i <= cells->n; i++)
        out[i] = cells->atom[i];
    for (size_t i = 0; i < cells->n; i++) {
        if (i == 0 || mass[i - 1] == 0) {
            /* Where smooth mass begins, half goes down: then shares stay near 1/2. */
            left = i + 1 < cells->n && mass[i] < 4 * mass[i + 1] ? 0.5 : 1;
            out[i] += (1 - left) * mass[i];
            continue;
        }
        /* Seen from point i, y of the cell below is too large by `lack`, y of the cell above is too
         * small by its excess. (Weights of the cell below are brought to this point by tilt.) */
        double lack = fmax(0, tilt * (mass[i - 1] * grow - (1 + grow) * excess[i - 1]));
        if (left * lack <= excess[i] && mass[i] > 0) {
            double share = excess[i] > 0 ? left * lack / excess[i] : 0;
            out[i] += left * mass[i - 1] * tilt + share * mass[i];
            left = 1 - share;
            continue;
        }
        double used = lack > 0 ? excess[i] / lack : 0, rest = left - used;
        out[i] += used * mass[i - 1] * tilt + mass[i];
        rest *=
            balance_by_points_below(cells, out, i - 1, rest * mass[i - 1], rest * excess[i - 1]);
        rest *= balance_by_cells_above(cells, out, i, rest * mass[i - 1] * tilt, rest * lack);
        out[i - 1] += rest * mass[i - 1];
        left = 0;
    }
    if (cells->n > 0) {
        size_t i = cells->n;
        left *=
            balance_by_points_below(cells, out, i - 1, left * mass[i - 1], left * excess[i - 1]);
        out[i - 1] += left * mass[i - 1];
    }
}
