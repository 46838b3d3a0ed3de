/* Post-processing of one row of noisy counts into a valid one [QW23, (4)-(6)], exactly and without an LP. */
#ifndef TACIT_PLAN_PROJECT_H
#define TACIT_PLAN_PROJECT_H

#include <stddef.h>

/* x minimises max_i |x_i - y_i| subject to x >= 0 and visits - slack <= sum x <= visits + slack. If no x
 * does that (visits + slack < 0), x = 0. `sorted` is scratch of n. x may be y. */
void tacit__project_counts(const double *y, size_t n, double visits, double slack, double *sorted,
                           double *x);

#endif
