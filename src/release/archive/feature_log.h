/* What LSVI needs to remember of users where states are not numbered: the features they met. Every
 * response to a new value function passes over all of them once, in blocks that stay in the cache.
 *
 * Features are integers in lattice steps, at most 2^24, which float32 holds exactly: half the
 * memory, and no difference in any result. float64 (`wide`) saves their conversion. */
#ifndef TACIT_RELEASE_FEATURE_LOG_H
#define TACIT_RELEASE_FEATURE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "base/bytes.h"
#include "linalg/optimism.h"

typedef struct tacit__feature_log tacit__feature_log;

/* Memory for this many users, in bytes. */
double tacit__feature_log_bytes(size_t n_actions, size_t horizon, size_t dimension, bool wide,
                                uint64_t users);

TACIT_MUST_USE tacit_status tacit__feature_log_create(size_t n_actions, size_t horizon,
                                                      size_t dimension, bool wide,
                                                      tacit__feature_log **out);
void tacit__feature_log_destroy(tacit__feature_log *archive);

/* features[H][A][d] and rewards[H] in lattice steps, actions[H] below A. On failure (memory) nothing is
 * kept. */
TACIT_MUST_USE tacit_status tacit__feature_log_add(tacit__feature_log *archive,
                                                   const double *features, const uint32_t *actions,
                                                   const double *rewards);

/* How values become targets: floor(value * per_value), cut to [0, most]; the target of a user is
 * times * (reward + that) - center, all in lattice steps. Responses are multiplied by `stretch` before they
 * are shown. */
typedef struct tacit__target {
    double per_value, most;
    double times, center;
    double stretch;
} tacit__target;

static inline double tacit__target_place(const tacit__target *t, double value)
{
    double steps = value * t->per_value;
    if (!(steps > 0)) /* NaN is 0 */
        return 0;
    return steps < t->most ? (double)(int64_t)steps : t->most;
}

/* response[d] = sum over users of phi_h target_h, where the values after step h come from the
 * function (NULL: 0), maximized over actions. Exact: integers below 2^53. */
void tacit__feature_log_respond(tacit__feature_log *archive, size_t h, const tacit__optimism *next,
                                const tacit__target *target, double *response);

/* What users of an archive have, in whole lattice steps. */
typedef struct tacit__feature_log_limits {
    double longest;     /* of a feature vector */
    bool simplex;       /* features are not negative, and sum to at most `longest` */
    const double *most; /* [H]: rewards */
} tacit__feature_log_limits;

/* As part of a saved state (base/bytes.h): loaded into a fresh archive of the same shape, this many users
 * within these limits. */
void tacit__feature_log_fields(tacit__feature_log *archive, uint64_t users,
                               const tacit__feature_log_limits *limits, tacit__saved *s);

#endif
