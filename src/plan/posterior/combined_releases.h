/* All releases of weighted counts together: what they say of a row, which is more than the last one says. See
 * docs/why/posterior-tabular.md. */
#ifndef TACIT_PLAN_POSTERIOR_COMBINED_RELEASES_H
#define TACIT_PLAN_POSTERIOR_COMBINED_RELEASES_H

#include <stdbool.h>

#include <tacit/status.h>

#include "base/bytes.h"
#include "board/weighted_counts.h"

typedef struct tacit__combined_releases tacit__combined_releases;

/* Whether a table is small enough to remember so many releases of it. */
bool tacit__combined_releases_fits(tacit__space space, size_t releases);

/* For `releases` releases of running sums over as many steps, by a strategy near the square root; or with
 * noise of its own for each step, if they are `separate`. */
TACIT_MUST_USE tacit_status tacit__combined_releases_create(tacit__space space, size_t releases,
                                                            bool separate,
                                                            tacit__combined_releases **out);
void tacit__combined_releases_destroy(tacit__combined_releases *h);

/* A new release. Returns it with other visits, moves and rewards, whose noise has the same standard
 * deviations, and with `sampled`; they stay until the next one. */
tacit__weighted_counts tacit__combined_releases_absorb(tacit__combined_releases *h,
                                                       const tacit__weighted_counts *counts);

/* The standard deviation of release t = 0, 1, ... in units of the first one's, by the strategy that is
 * assumed: for tests. */
double tacit__combined_releases_noise(const tacit__combined_releases *h, size_t t);

/* What was released, as part of a saved state (base/bytes.h). */
void tacit__combined_releases_fields(tacit__combined_releases *h, tacit__saved *s);

#endif
