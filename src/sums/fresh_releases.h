/* Fresh releases: vectors that are no sums over time, each shown once with noise of its own.
 *
 * Next to a running sum, which shares its noise between steps, a fresh release pays for every showing: after
 * n of them a user in all of them has moved the whole by sqrt(n) times (L2), or n times (L1), what one
 * showing moves. Declare at most how many there will be; the next one is refused.
 *
 * The vector comes as integers on the lattice of step 2^-bits. The caller adds people's data on the
 * lattice, so that the declared sensitivity holds exactly, whatever doubles would have done. */
#ifndef TACIT_SUMS_FRESH_RELEASES_H
#define TACIT_SUMS_FRESH_RELEASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/ledger.h>
#include <tacit/plan.h>

#include "base/bytes.h"

typedef struct tacit__fresh_spec {
    tacit_law law;
    size_t dimension;
    uint64_t releases; /* at most */
    int bits;          /* lattice step 2^-bits */
    uint64_t answers;  /* law RESPONSE: the numbers are answers 0 .. answers - 1, and bits is 0 */
    double largest;    /* magnitude of a number before the noise, in lattice steps; 0: 2^61 */
    /* How far a replaced user moves one release, in units of the data; 0: not known. */
    double l1, l2;
    const char *reason;
    /* A place is in one of the releases only, and they compose in parallel; else it is in all later
     * ones. */
    bool disjoint;
    /* disjoint: a release also has this share of the one before it, and so less and less of older places;
     * below 1, 0: nothing. For people who come once. */
    double fade;
    /* People who come back (0: 1), and how many places there are at each release, or at this many releases
     * together (NULL: each place is one). */
    uint64_t visits, apart;
    const uint64_t *ends; /* [releases / together] */
    uint64_t together;    /* 0: 1; only if places are in all later releases */
} tacit__fresh_spec;

typedef struct tacit__fresh_releases tacit__fresh_releases;

/* The line that it needs in a plan; `name` and the reason are kept by reference. */
TACIT_MUST_USE tacit_status tacit__fresh_declare(const tacit__fresh_spec *spec, const char *name,
                                                 tacit_release *release, tacit_error *err);

/* Releases through the line `name` of the ledger's plan, which must cover what tacit__fresh_declare says.
 * The ledger must outlive it. */
TACIT_MUST_USE tacit_status tacit__fresh_create(const tacit__fresh_spec *spec, tacit_ledger *ledger,
                                                const char *name, tacit__fresh_releases **out,
                                                tacit_error *err);
void tacit__fresh_destroy(tacit__fresh_releases *once);

/* noisy = exact + fresh noise, |exact| < 2^61. On any error nothing has been shown or charged. */
TACIT_MUST_USE tacit_status tacit__fresh_release(tacit__fresh_releases *once, const int64_t *exact,
                                                 double *noisy, tacit_error *err);

/* Returns how many releases have been made. */
uint64_t tacit__fresh_count(const tacit__fresh_releases *once);

/* The standard deviation of a coordinate. */
double tacit__fresh_stddev(const tacit__fresh_releases *once);

/* Saves or loads it as part of a saved state (base/bytes.h), with the noise key. The size is always the
 * same. */
void tacit__fresh_fields(tacit__fresh_releases *once, tacit__saved *s);

#endif
