/* Many linear and quadratic forms with one triangular factor, and factors that follow as their matrix
 * grows: the inner loops of learners with features. Factors are as in linalg/symmetric.h: lower triangles,
 * column-major. */
#ifndef TACIT_LINALG_FORMS_H
#define TACIT_LINALG_FORMS_H

#include <stddef.h>

/* How many doubles of scratch the next one needs. */
size_t tacit__forms_scratch(size_t d);

/* For n vectors [n][d], with z = L^-1 x: inner[i] = z . t and square[i] = |z|^2 = x^T (L L^T)^-1 x. If t =
 * L^-1 u then inner is x^T (L L^T)^-1 u. pivots[d] are 1 / L_jj. */
void tacit__forms(size_t d, size_t n, const double *factor, const double *pivots, const double *t,
                  const double *vectors, double *scratch, double *inner, double *square);

/* The factor of L L^T + x x^T in the place of L; x is spoilt. pivots follow. */
void tacit__cholesky_add(size_t d, double *factor, double *pivots, double *x);

/* x in the place of b: L x = b, without divisions. */
void tacit__solve_lower_pivots(size_t d, const double *factor, const double *pivots, double *b);

#endif
