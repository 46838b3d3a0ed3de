/* Features on a grid of 32-bit integers. Tickets, stored episodes and the learner use them if a learner needs
 * only the features of the chosen action (tacit__family.chosen_only). A ticket with 150 features then has
 * 600 bytes instead of 120,000.
 *
 * The grid belongs to the learner's bound B: its step is the power of two g with 2^30 g <= B < 2^31 g. A
 * feature is rounded toward zero, once, when it arrives, before any decision uses it. So:
 *   - No vector gets longer: what was within the bound stays within it. Each feature moves by less than
 *     g <= B 2^-30.
 *   - Rounding twice is rounding once: a number on the grid is k g with |k| < 2^31, which is exact in a
 *     double, and k g / g = k is exact as well, because g is a power of two. So the decision, the ticket, the
 *     episode on disk and the learner see the same doubles, bit for bit.
 * It is a function of the user's own data alone, so no sensitivity changes. tests/service/test_tickets.c
 * checks both. */
#ifndef TACIT_SERVE_PEOPLE_FEATURE_GRID_H
#define TACIT_SERVE_PEOPLE_FEATURE_GRID_H

#include <stddef.h>
#include <stdint.h>

/* The step of the grid of features that are no longer than `bound`, which is a normal number > 0. */
double tacit__grid_step(double bound);

/* Onto the grid, in place; every x is finite and at most 2 * bound. */
void tacit__grid_round(double step, size_t n, double *x);

/* Numbers on the grid as integers, low byte first, and back. */
void tacit__grid_pack(double step, size_t n, const double *x, uint8_t *out);
void tacit__grid_unpack(double step, size_t n, const uint8_t *bytes, double *out);

#endif
