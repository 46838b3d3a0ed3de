/* Post-processing of rows of noisy counts into valid ones [QW23, (4)-(6)], exactly and without an LP. */
#ifndef TACIT_PLAN_PROJECT_H
#define TACIT_PLAN_PROJECT_H

#include <stddef.h>

/* x minimizes max_i |x_i - y_i| subject to x >= 0 and visits - slack <= sum x <= visits + slack. If no x
 * does that (visits + slack < 0), x = 0. `sorted` is scratch of n. x may be y. */
void tacit__project_counts(const double *y, size_t n, double visits, double slack, double *sorted,
                           double *x);

enum { TACIT__PROJECT_ROWS = 8, TACIT__PROJECT_BLOCKS = 2 };

/* One or two blocks of eight rows at once, bit for bit the same; then `shift` > 0 is added to all
 * values, `totals` are the rows' sums, added up in order, and the rows are multiplied by 1 / total:
 * distributions. Value i of row r of block b becomes x[(b * n + i) * 8 + r]. */
void tacit__project_rows(size_t blocks, const double *const *y, size_t n, const double *visits,
                         double slack, double shift, double *sorted, double *totals, double *x);

#endif
