/* All learners with a kernel read the pairs of contexts and actions, and the kernel, from a request
 * here. */
#ifndef TACIT_AGENTS_CONTEXT_ACTION_PAIRS_H
#define TACIT_AGENTS_CONTEXT_ACTION_PAIRS_H

#include "agents/reading.h"
#include "plan/estimator.h"

/* The parameters that all of them have in their tables. */
#define TACIT__PAIRS_PARAMETERS                                                                    \
    TACIT__TEXT("kernel", "",                                                                      \
                "se(0.2), matern-2.5(0.2 0.5), linear, poly-2(1), or two with * or +; default: "   \
                "the world's"),                                                                    \
        TACIT__REAL("norm", "", 1e-9, 1e9,                                                         \
                    "of the mean reward minus 1/2, in the kernel's space; default: the world's, "  \
                    "or 1/2")

/* The setting `kernel` is the kernel's text; "": what the world says, or se(0.2). */
TACIT_MUST_USE tacit_status tacit__pairs_read(const tacit__reading *reading, tacit__pairs *out,
                                              tacit_error *err);

/* The norm of the mean reward: the setting `norm` if given, else the world's, else 1/2, as large as
 * rewards. */
double tacit__pairs_norm(const tacit__reading *reading);

/* The pair that a user met; BAD if the trajectory does not fit. */
TACIT_MUST_USE tacit_status tacit__pairs_find(const tacit__pairs *pairs,
                                              const tacit_trajectory *user, size_t *pair,
                                              tacit_error *err);

#endif
