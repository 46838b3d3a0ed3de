/* Kernels: positive semi-definite functions of two points, all at most 1.
 *
 * As text:   se(0.2)   matern-2.5(0.2 0.5)   matern-3/2   linear   poly-3(1)
 *            K1 * K2   the product of a kernel of the context and a kernel of the action
 *            K1 + K2   the mean of the two, so that it is at most 1
 * In brackets: length scales, one for all dimensions or one for each (default 0.2); for poly the constant
 * (default 1). */
#ifndef TACIT_LINALG_KERNEL_FUNCTION_H
#define TACIT_LINALG_KERNEL_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

typedef enum tacit__kernel_kind {
    TACIT__KERNEL_LINEAR,     /* <x, y> / rho^2 */
    TACIT__KERNEL_POLYNOMIAL, /* ((<x, y> + c) / (rho^2 + c))^degree */
    TACIT__KERNEL_SE,         /* exp(-r^2 / 2) */
    TACIT__KERNEL_MATERN      /* 2^(1-nu) / Gamma(nu) z^nu K_nu(z), z = sqrt(2 nu) r */
} tacit__kernel_kind;

enum { TACIT__KERNEL_DIMENSIONS = 64 };

/* A kernel of coordinates first .. first+n-1. r is the distance after division by the length scales; rho
 * the largest norm of a point. */
typedef struct tacit__kernel_part {
    tacit__kernel_kind kind;
    size_t first, n;
    double nu, constant, rho_square;
    unsigned degree;
    double inverse_length[TACIT__KERNEL_DIMENSIONS];
} tacit__kernel_part;

typedef struct tacit__kernel {
    size_t dimension;
    size_t n_parts; /* 1, or 2 for products and sums */
    bool product;
    tacit__kernel_part part[2];
} tacit__kernel;

/* From text, for points of `dimension` coordinates whose first `context_dimension` are the context's (0:
 * not distinguished apart, and then there are no products and sums). The message is a sentence without a
 * beginning: "kernel is ...". */
TACIT_MUST_USE tacit_status tacit__kernel_read(const char *text, size_t dimension,
                                               size_t context_dimension, tacit__kernel *out,
                                               tacit_error *err);

/* Sets what depends on the points [n][dimension] that there are: rho. */
void tacit__kernel_fit(tacit__kernel *kernel, size_t n, const double *points);

double tacit__kernel_value(const tacit__kernel *kernel, const double *x, const double *y);

/* out[i] = k(points[which[i]], y); which NULL: all n in order. */
void tacit__kernel_column(const tacit__kernel *kernel, size_t n, const double *points,
                          const size_t *which, const double *y, double *out);

/* Matérn of any nu > 0 at z >= 0; closed forms for 1/2, 3/2, 5/2. */
double tacit__matern(double nu, double z);
/* The same by quadrature whatever nu: for tests. */
double tacit__matern_quadrature(double nu, double z);

#endif
