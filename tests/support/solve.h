/* Linear equations as a textbook solves them: for references that share nothing with src/linalg. */
#ifndef TACIT_TESTS_SOLVE_H
#define TACIT_TESTS_SOLVE_H

#include <stddef.h>

/* x = m^-1 b by Gauss and Jordan with pivoting, in long double; m is [d][d], x may be b. Returns the logarithm of |det m|. */
double solve_plainly(size_t d, const double *m, const double *b, double *x);
/* out = m^-1, [d][d]. */
void invert_plainly(size_t d, const double *m, double *out);

#endif
