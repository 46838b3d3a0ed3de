/* Public chance for planners, by SplitMix64: ties and random plans carry no secret, so a generator without
 * one is enough, and a planner has no access to the others. */
#ifndef TACIT_PLAN_PUBLIC_CHANCE_H
#define TACIT_PLAN_PUBLIC_CHANCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t tacit__chance_word(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/* In (0, 1]. */
static inline double tacit__chance_unit(uint64_t *state)
{
    return (double)((tacit__chance_word(state) >> 11) + 1) * 0x1p-53;
}

/* Standard normal, by Box and Muller; the second one is not used. */
static inline double tacit__chance_normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(tacit__chance_unit(state)));
    return radius * cos(2 * M_PI * tacit__chance_unit(state));
}

/* The best action; among equals each is as likely. */
static inline uint32_t tacit__chance_best(const double *q, size_t n_actions, uint64_t *state)
{
    uint32_t best = 0;
    uint64_t equals = 1;
    for (uint32_t a = 1; a < n_actions; a++) {
        if (q[a] > q[best]) {
            best = a;
            equals = 1;
        } else if (q[a] == q[best] && tacit__chance_word(state) % ++equals == 0) {
            best = a;
        }
    }
    return best;
}

/* The same, if values that differ by rounding count as equal. */
static inline uint32_t tacit__chance_best_near(const double *q, size_t n_actions, uint64_t *state)
{
    const double tie = 1e-9; /* relative: more than rounding makes of equal values */
    double most = q[0];
    uint32_t best = 0;
    uint64_t equals = 0;
    for (size_t a = 1; a < n_actions; a++)
        most = fmax(most, q[a]);
    for (uint32_t a = 0; a < n_actions; a++)
        if (q[a] >= most - tie * (1 + most) && tacit__chance_word(state) % ++equals == 0)
            best = a;
    return best;
}

#endif
