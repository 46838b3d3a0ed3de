/* From a loss distribution to two lattice distributions that enclose its privacy profile. */
#ifndef TACIT_ACCOUNT_LATTICE_PAIR_H
#define TACIT_ACCOUNT_LATTICE_PAIR_H

#include <stddef.h>
#include <stdint.h>

/* The losses first*step .. (first+n)*step as n+1 points and the n open cells between them. What is
 * known of a cell is its mass and its excess, the integral of 1 - exp(-(loss - left end)).
 * All weights are tilted: the weight w at a point or a cell's left end l stands for the
 * probability w exp(-lambda l) times a constant that is kept elsewhere. */
typedef struct tacit__cells {
    double step, lambda;
    int64_t first;
    size_t n;
    double *atom;          /* n+1 */
    double *mass, *excess; /* n each */
} tacit__cells;

/* 0 on success, -1 when memory is short (then nothing is held). */
int tacit__cells_create(tacit__cells *cells, double step, double lambda, int64_t first, size_t n);
void tacit__cells_destroy(tacit__cells *cells);

/* Adds the tilted weight of one loss, which must lie inside; a loss closer to a lattice point than
 * TACIT__SNAP steps is put there. */
#define TACIT__SNAP 1e-9
void tacit__cells_add(tacit__cells *cells, double loss, double weight);

/* out[0..n]: a lattice distribution whose delta is nowhere below (above) the true one. Gathering
 * uses the cells up. */
void tacit__cells_spread(const tacit__cells *cells, double *out);
void tacit__cells_gather(tacit__cells *cells, double *out);

#endif
