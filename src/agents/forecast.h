/* From a criterion to a forecast. */
#ifndef TACIT_AGENTS_FORECAST_H
#define TACIT_AGENTS_FORECAST_H

#include <tacit/agent.h>

/* How the noise compares with what is to be learned when `users` come with this epsilon: at most 1 is enough, at most 2
 * borderline. Must not grow with either. */
typedef double tacit__burden_fn(const void *context, double users, double epsilon);

/* Looks for the users and the epsilon that would be enough. `what` names what the users bring: "18 features, 3 actions",
 * `goal` what it is for: "to beat the best constant action". */
void tacit__forecast(tacit__burden_fn *burden, const void *context, uint64_t users,
                     tacit_guarantee guarantee, const char *what, const char *goal,
                     tacit_forecast *out);

/* For families that have no criterion of their own: from the release plan alone. */
void tacit__forecast_plan(const tacit_plan *plan, uint64_t users, tacit_guarantee guarantee,
                          tacit_forecast *out);

#endif
