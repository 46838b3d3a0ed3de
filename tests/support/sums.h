/* A sum with all that stands behind it, in one call. */
#ifndef TACIT_TESTS_SUMS_H
#define TACIT_TESTS_SUMS_H

#include <tacit/sum.h>

/* The five objects of a sum's life; the line is what the sum declared. */
typedef struct sum_rig {
    tacit_release line;
    tacit_plan *plan;
    tacit_noise *noise;
    tacit_ledger *ledger;
    tacit_sum *sum;
} sum_rig;

/* A mechanism with a law it exists for. */
typedef struct sum_kind {
    tacit_sum_mechanism mechanism;
    tacit_law law;
} sum_kind;

enum { N_SUM_KINDS = 8, N_NOISY_SUM_KINDS = 7 };

/* All of them; the last is the exact sum. */
extern const sum_kind sum_kinds[N_SUM_KINDS];

/* `dimension` coordinates, contributions of norm at most 1 in the law's norm, either sign. */
tacit_sum_spec sum_spec_of(sum_kind kind, size_t dimension, uint64_t users);

/* Opens a simulated sum named `name` with noise of this scale for each draw (ignored by exact sums).
 * Everything must succeed. */
void sum_rig_open(sum_rig *rig, const tacit_sum_spec *spec, const char *name, double scale,
                  uint64_t seed);

/* The same with the scale at which the whole release is 1-GDP (Gaussian) or 1-DP (Laplace). */
void sum_rig_open_unit(sum_rig *rig, const tacit_sum_spec *spec, uint64_t seed);

/* Everything but the sum, for tests of its creation. */
void sum_rig_open_ledger(sum_rig *rig, const tacit_sum_spec *spec, const char *name, double scale,
                         uint64_t seed);

void sum_rig_close(sum_rig *rig);

#endif
