/* The curator of learners with weighted counts: when it releases, by public rules, and whether users answer
 * instead of adding counts. */
#ifndef TACIT_AGENTS_POSTERIOR_CURATOR_H
#define TACIT_AGENTS_POSTERIOR_CURATOR_H

#include "contribute/weighted.h"
#include "release/curator.h"

typedef struct tacit__posterior_schedule {
    tacit__weighted_options counts; /* all but the ends of batches */
    double growth; /* of the users from release to release, above 1; 0: one release is all */
    /* the same if users give answers, whose noise does not grow with releases; 0:
     * they do so under local privacy only */
    double answers_growth;
    uint64_t first; /* users before the first release; 0: by the rule of tacit__posterior_first */
    uint64_t last;  /* no release from this many users on; 0: by the rule of posterior_curator.c */
} tacit__posterior_schedule;

/* Users before the first release, min(K/8, max(10, c s S A / min(H, B^2))) with c = min(16, 4 sqrt(H)),
 * 2 for a single step, and s = sqrt(2) B / mu the noise of a single release (with delta 0 2 sqrt(2) H /
 * epsilon): until then there would be nothing but noise to plan by. Local: as many as make rows come
 * out of the noise of as many answers. */
TACIT_MUST_USE tacit_status tacit__posterior_first(const tacit__posterior_schedule *schedule,
                                                   uint64_t *out);

/* How many times more users that start wants than K / 8: above 1, most rows stay in the noise. */
TACIT_MUST_USE tacit_status tacit__posterior_scarcity(const tacit__posterior_schedule *schedule,
                                                      double *out);

/* The schedule with the first and the last release, and with answers or without. */
TACIT_MUST_USE tacit_status tacit__posterior_decide(const tacit__posterior_schedule *schedule,
                                                    tacit__posterior_schedule *out,
                                                    tacit_error *err);

/* Decides the schedule, and makes its curator. */
TACIT_MUST_USE tacit_status tacit__posterior_curator(tacit__posterior_schedule *schedule,
                                                     tacit_noise *noise, tacit__curator **out,
                                                     tacit_error *err);
/* Its last release; there is one. */
tacit__weighted_counts tacit__posterior_counts(const tacit__curator *curator);

#endif
