/* Many linear and quadratic forms with one triangular factor, and factors that follow as their matrix
 * grows: the inner loops of learners with features. Factors are as in linalg/symmetric.h: lower triangles,
 * column-major. */
#ifndef TACIT_LINALG_FORMS_H
#define TACIT_LINALG_FORMS_H

#include <stddef.h>

/* A factor L as forms read it, front to back: the rows in panels of 8, of each panel the columns up to its
 * last row, and pivots[j] = 1 / L_jj in the places of L_jj, in single precision.
 * panels[tacit__panels_size(d)]. */
size_t tacit__panels_size(size_t d);
void tacit__panels_pack(size_t d, const double *factor, const double *pivots, float *panels);

/* Returns how many floats of scratch the next function needs. */
size_t tacit__forms_scratch(size_t d);

/* For n vectors x [n][d]: inner[i] = x . theta, in double precision, and square[i] = |L^-1 x|^2, which is
 * x^T (L L^T)^-1 x up to the error of single precision times the condition number of L. */
void tacit__forms(size_t d, size_t n, const float *panels, const double *theta,
                  const double *vectors, float *scratch, double *inner, double *square);

/* The factor of L L^T + x x^T in the place of L; x is spoilt. pivots follow. */
void tacit__cholesky_add(size_t d, double *factor, double *pivots, double *x);

/* x in the place of b: L x = b, without divisions. */
void tacit__solve_lower_pivots(size_t d, const double *factor, const double *pivots, double *b);

#endif
