/* Reproducible numbers for tests: splitmix64, a fixed sequence for each seed. */
#ifndef TACIT_TESTS_RANDOM_H
#define TACIT_TESTS_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_word(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 .. n-1; the bias of the remainder is below n / 2^64. */
static inline uint64_t random_below(uint64_t *state, uint64_t n)
{
    return random_word(state) % n;
}

/* In (0, 1). */
static inline double random_unit(uint64_t *state)
{
    return ((double)(random_word(state) >> 12) + 0.5) * 0x1p-52;
}

/* In (low, high). */
static inline double random_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * random_unit(state);
}

static inline double random_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(random_unit(state)));
    return radius * cos(2 * M_PI * random_unit(state));
}

/* A point of the simplex: n numbers that are not negative, of sum 1. */
static inline void random_simplex(uint64_t *seed, size_t n, double *x)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] = -log(random_unit(seed));
    for (size_t i = 0; i < n; i++)
        x[i] /= sum;
}

#endif
