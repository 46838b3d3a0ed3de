/* Post-processing of rows of noisy counts into valid ones [QW23, (4)-(6)], exactly and without an LP. */
#ifndef TACIT_PLAN_PROJECT_H
#define TACIT_PLAN_PROJECT_H

#include <stddef.h>

/* x minimises max_i |x_i - y_i| subject to x >= 0 and visits - slack <= sum x <= visits + slack. If no x
 * does that (visits + slack < 0), x = 0. `sorted` is scratch of n. x may be y. */
void tacit__project_counts(const double *y, size_t n, double visits, double slack, double *sorted,
                           double *x);

enum { TACIT__PROJECT_ROWS = 8 };

/* The same, bit for bit, for eight rows of length n at once and in place: value i of row r is y[i * 8 + r]. Then
 * `shift` is added to all values, and each row is added up, in order. */
void tacit__project_rows(double *y, size_t n, const double visits[TACIT__PROJECT_ROWS],
                         double slack, double shift, double *sorted,
                         double totals[TACIT__PROJECT_ROWS]);

#endif
