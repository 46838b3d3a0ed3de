/* The curator of tabular learners with rare releases: users' trajectories in, weighted counts out,
 * at moments that are fixed beforehand.
 *
 * Streams: visits of (state, action), moves to the next state, rewards, and first states; a
 * table for each step, or one for all. Users of a batch are added exactly, as integers; when the
 * batch is over it passes the door as one step of running sums over batches. A user is in one
 * batch only. */
#ifndef TACIT_CURATE_WEIGHTED_CURATOR_H
#define TACIT_CURATE_WEIGHTED_CURATOR_H

#include <tacit/billboard.h>
#include <tacit/ledger.h>
#include <tacit/sum.h>

#include "base/bytes.h"
#include "board/weighted_counts.h"

typedef struct tacit__weighted_options {
    tacit__space space;
    uint64_t episodes;      /* K; the last user's data are never used */
    uint64_t visits, apart; /* of one person (0: 1) */
    tacit_guarantee guarantee;
    tacit_sum_mechanism mechanism;
    double growth; /* of the users from release to release, above 1; 0: one release is all */
    /* the same if users give answers, whose noise does not grow with releases; 0:
     * they do so under local privacy only */
    double answers_growth;
    uint64_t first; /* users before the first release; 0: by the rule of tacit__weighted_first */
    uint64_t last;  /* no release from this many users on; 0: by the rule of weighted_time.c */
    /* users give answers instead of counts: local, or by the rule of weighted_time.c */
    bool answers;
} tacit__weighted_options;

typedef struct tacit__weighted tacit__weighted;

/* A batch: users first .. last - 1 act by its release; `last` is K in the last one. */
typedef struct tacit__user_batch {
    uint64_t first, last;
} tacit__user_batch;

/* The square of a user's budget, max(1, min(H, m^2 S A)), and m. Both are public rules. */
uint64_t tacit__weighted_square(tacit__space space);
enum { TACIT__WEIGHTED_VISITS = 2 };

/* Users before the first release, min(K/8, max(10, c s S A / min(H, B^2))) with c = min(16, 4 sqrt(H)),
 * 2 for a single step, and s = sqrt(2) B / mu the noise of a single release (with delta 0 2 sqrt(2) H /
 * epsilon): until then there would be nothing but noise to plan by. Local: as many as make rows come
 * out of the noise of as many answers. */
TACIT_MUST_USE tacit_status tacit__weighted_first(const tacit__weighted_options *options,
                                                  uint64_t *out);

/* How many times more users that start wants than K / 8: above 1, most rows stay in the noise. */
TACIT_MUST_USE tacit_status tacit__weighted_scarcity(const tacit__weighted_options *options,
                                                     double *out);

TACIT_MUST_USE tacit_status tacit__weighted_create(const tacit__weighted_options *options,
                                                   tacit_noise *noise, tacit__weighted **out,
                                                   tacit_error *err);
void tacit__weighted_destroy(void *curator);

/* The moments of the releases, below `last`, into `at` (NULL: they are counted only). There is always one.
 * `first` and `last` are decided. */
uint64_t tacit__weighted_moments(const tacit__weighted_options *options, uint64_t *at);

/* Its options, with the first and the last release as they were decided. */
const tacit__weighted_options *tacit__weighted_timed(const tacit__weighted *curator);

/* The last release, and whom it is for. */
tacit__weighted_counts tacit__weighted_release(const tacit__weighted *curator);
tacit__user_batch tacit__weighted_batch(const tacit__weighted *curator);

/* Users so far. */
uint64_t tacit__weighted_users(const tacit__weighted *curator);

/* Weights for the users from now on, [rows], made of releases; rounded down to the lattice.
 * Without privacy, and with delta 0, everything counts in full, and they are not used. */
void tacit__weighted_set_weights(tacit__weighted *curator, const double *weights);

/* One user. Rewards outside [0, 1], states or actions outside the space: refused, nothing changed. */
TACIT_MUST_USE tacit_status tacit__weighted_add(tacit__weighted *curator,
                                                const tacit_trajectory *user, tacit_error *err);

/* Everything that the future depends on, as part of a saved state (base/bytes.h); loaded into a
 * fresh curator of the same options. `planned`: the users of the release that the planner has seen
 * last, 0 if none; it must be one of those that the state has had. */
void tacit__weighted_fields(tacit__weighted *curator, uint64_t planned, tacit__saved *s);

/* NULL without privacy. */
tacit_ledger *tacit__weighted_ledger(const void *curator);

#endif
