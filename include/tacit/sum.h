/* Private running sums.
 *
 * Each user adds a vector; after any of them the noisy sum so far can be released. You declare what a
 * contribution can be and how many users will come, and the sum tells exactly what that costs:
 *
 *     tacit_sum_declare(&spec, "counts", &release, &err);    what will be released
 *     tacit_plan_declare(plan, &release, &err);
 *     tacit_plan_calibrate(plan, guarantee, &err);           how much noise that takes
 *     tacit_ledger_create(plan, noise, &ledger, &err);       the door
 *     tacit_sum_create(&spec, ledger, "counts", &sum, &err);
 *     for each user: tacit_sum_add(sum, x, &err);
 *                    tacit_sum_release(sum, noisy, &err);    or skip it
 *
 * Inside, all numbers are integers on a lattice of step 2^-bits: sums are exact, sensitivities are exactly
 * the declared ones, and the low bits of a release reveal nothing about the data. */
#ifndef TACIT_SUM_H
#define TACIT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/ledger.h>
#include <tacit/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacit_sum_mechanism {
    TACIT_SUM_EXACT,  /* no noise: for model none */
    TACIT_SUM_TREE,   /* binary tree: the papers' choice */
    TACIT_SUM_SMOOTH, /* constant-weight binary tree: the default for pure DP */
    TACIT_SUM_BLT,    /* buffered linear Toeplitz: the default for Gaussian noise */
    TACIT_SUM_LOCAL   /* every user adds their own noise */
} tacit_sum_mechanism;

/* What one user's vector can be. At least one of l1, l2 is given (0: not bounded in this norm). */
typedef struct tacit_bound {
    double l1, l2;    /* largest norm of a contribution */
    bool nonnegative; /* no coordinate is negative: two such vectors are at most sqrt(2) l2 apart */
    uint64_t nonzeros; /* the most coordinates that are not 0 (0: no limit known) */
    bool clip;         /* scale down a vector beyond the bound instead of refusing it, if finite */
} tacit_bound;

typedef struct tacit_sum_spec {
    tacit_sum_mechanism mechanism;
    tacit_law law; /* of the noise it will get; the strategy is tuned to it */
    size_t dimension;
    uint64_t users; /* K: prefixes 1 .. K can be released, and user K + 1 is refused */
    tacit_bound bound;
    /* Optional, `dimension` long: true where every user's coordinate is 0 by public knowledge. Such
     * coordinates are released as exact zeros and cost neither noise nor time. */
    const bool *structural_zero;
    /* Optional: how far two users' vectors can be apart, if that is less than the bound implies (0: taken
     * from the bound), and the reason in one line. It is the distance before rounding. Rounding to the
     * lattice can add one step in each coordinate in which two users can differ; the sum adds that and
     * declares it. BAD_SENSITIVITY together with `clip`, which can move two vectors apart: clip before
     * adding. */
    double sensitivity_l1, sensitivity_l2;
    const char *reason;
    /* The sensitivities above hold after clipping and rounding to the lattice, whatever its step 2^-bits:
     * because the numbers are on every lattice, or because the proof only needs an interval whose ends are.
     * They are then declared unchanged. */
    bool sensitivity_on_lattice;
    /* People who come back: one person is at most `visits` of the users, and any two of these are at least
     * `apart` users apart (0: 1). The declared move is that of all visits of one person together. */
    uint64_t visits, apart;
} tacit_sum_spec;

typedef struct tacit_sum tacit_sum;

/* The least noisy mechanism for a guarantee. */
TACIT_API tacit_sum_mechanism tacit_sum_default_mechanism(tacit_guarantee guarantee);
TACIT_API const char *tacit_sum_mechanism_name(tacit_sum_mechanism mechanism);

/* Fills `release` with the line that this sum needs in a plan: dimension, steps, the sensitivities of
 * the bound with the reason, and the strategy's column norms. `name` is kept by reference. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_declare(const tacit_sum_spec *spec,
                                                        const char *name, tacit_release *release,
                                                        tacit_error *err);

/* A sum that releases through the line `name` of the ledger's plan, which must cover what
 * tacit_sum_declare says of this spec: same dimension and steps, sensitivities and column norms no
 * smaller. One sum for each line. The ledger must outlive the sum. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_create(const tacit_sum_spec *spec,
                                                       tacit_ledger *ledger, const char *name,
                                                       tacit_sum **out, tacit_error *err);
TACIT_API void tacit_sum_destroy(tacit_sum *sum);

/* Adds a user. On any error the sum is unchanged. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_add(tacit_sum *sum, const double *x,
                                                    tacit_error *err);

/* The same for a user given by the n coordinates that are not 0: their indices, ascending, and values. The
 * zeros of x cost no time, except for their noise. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_add_sparse(tacit_sum *sum, size_t n,
                                                           const size_t *index, const double *value,
                                                           tacit_error *err);

/* The same for n users, x[n][dimension], one after the other. It stops at the first failure; *added is the
 * number of users before it. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_add_many(tacit_sum *sum, size_t n, const double *x,
                                                         size_t *added, tacit_error *err);

/* Releases the noisy sum of all users so far, at most once for each step. Steps may be skipped. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_release(tacit_sum *sum, double *noisy,
                                                        tacit_error *err);

/* `local` sums in two halves, for users and a collector on different machines; tacit_sum_add does both. On
 * the user's side, `report` puts x on the lattice and adds the noise; this takes one step of the ledger and
 * adds nothing to the sum. On the collector's side, `absorb` adds a report to the sum. A report has
 * tacit_sum_report_size numbers. A report that no honest user can have made is OUT_OF_BOUND and changes
 * nothing; `check` tells beforehand whether `absorb` would accept a report. */
TACIT_API size_t tacit_sum_report_size(const tacit_sum *sum);
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_report(tacit_sum *sum, const double *x,
                                                       int64_t *report, tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_report_sparse(tacit_sum *sum, size_t n,
                                                              const size_t *index,
                                                              const double *value, int64_t *report,
                                                              tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_check_report(const tacit_sum *sum,
                                                             const int64_t *report,
                                                             tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_absorb(tacit_sum *sum, const int64_t *report,
                                                       tacit_error *err);

/* The number of users so far. */
TACIT_API uint64_t tacit_sum_step(const tacit_sum *sum);

/* The standard deviation of each coordinate of the release at step k (1 .. users), before or while
 * running. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_stddev(const tacit_sum *sum, uint64_t k,
                                                       double *stddev);

/* The same for the noisiest of all steps. */
TACIT_API double tacit_sum_worst_stddev(const tacit_sum *sum);

/* Bytes of memory held. */
TACIT_API size_t tacit_sum_memory(const tacit_sum *sum);

/* The complete state as bytes, with raw data and the noise key: protect it as you protect the data. `save`
 * with bytes = NULL gives the size. `load` lets a new sum of the same spec and plan continue where the saved
 * one stopped. Two continuations of one state release the same numbers for the same users, and have
 * independent noise from the first different user on; a person in both pays twice. */
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_save(const tacit_sum *sum, void *bytes,
                                                     size_t *size, tacit_error *err);
TACIT_API TACIT_MUST_USE tacit_status tacit_sum_load(tacit_sum *sum, const void *bytes, size_t size,
                                                     tacit_error *err);

/* --- Counters ------------------------------------------------------------------------------------- */

/* The common case: people are counted as they come, each in one of n counts, and the counts so far may be
 * released after any of them.
 *
 *     tacit_guarantee promise = {TACIT_MODEL_JOINT, 1, 1e-6};
 *     tacit_counter_create(3, 1000, promise, &counter, &err);     three counts, at most 1,000 people
 *     tacit_counter_add(counter, 2, &err);                        counts a person in the last count
 *     tacit_counter_read(counter, noisy, &err);                   noisy[3]
 *
 * The mechanism is the least noisy one for the guarantee; the keys of the noise come from the operating
 * system. */
typedef struct tacit_counter tacit_counter;

TACIT_API TACIT_MUST_USE tacit_status tacit_counter_create(size_t n, uint64_t users,
                                                           tacit_guarantee promise,
                                                           tacit_counter **out, tacit_error *err);
TACIT_API void tacit_counter_destroy(tacit_counter *counter);

/* EXHAUSTED after the last declared user, OUT_OF_BOUND if there is no such count; then nothing changes. */
TACIT_API TACIT_MUST_USE tacit_status tacit_counter_add(tacit_counter *counter, size_t kind,
                                                        tacit_error *err);

/* Writes noisy[n]; 0 before the first user. Reading again before the next user gives the same numbers. */
TACIT_API TACIT_MUST_USE tacit_status tacit_counter_read(tacit_counter *counter, double *noisy,
                                                         tacit_error *err);

/* The counter's sum, for tacit_sum_stddev and similar functions; it belongs to the counter. */
TACIT_API tacit_sum *tacit_counter_sum(const tacit_counter *counter);

#ifdef __cplusplus
}
#endif

#endif
