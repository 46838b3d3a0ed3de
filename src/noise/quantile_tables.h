/* The shape of the quantile tables that make_tables.c computes at build time and draw_loop.c reads.
 *
 * A law is symmetric; its magnitude has survival function S and quantile Q = S^-1 on (0, 1). Octave o
 * is w in [2^-(o+1), 2^-o), cut into SEGMENTS equal pieces, so that a segment is named by the leading
 * bits of the double w. On each, a polynomial in t in [-1/2, 1/2) approximates Q, and `tolerance`
 * bounds |scale Q(U) - computed| / scale for every real U that shares the kernel's 52 leading bits:
 * interpolation, coefficient rounding, evaluation, the product by the scale and the bits not looked
 * at. Slot 0 is for w below the last octave: its tolerance is infinite, so that such a draw is always
 * decided exactly. A slot is one cache line. */
#ifndef TACIT_NOISE_QUANTILE_TABLES_H
#define TACIT_NOISE_QUANTILE_TABLES_H

enum {
    TACIT__OCTAVES = 20,     /* a draw falls below with probability 2^-20: rare enough to be slow */
    TACIT__SEGMENT_BITS = 5, /* 32 segments an octave: degree 6 then errs by less than 2^-51 */
    TACIT__DEGREE = 6,       /* seven coefficients and the tolerance fill a cache line */
    TACIT__SLOTS = 1 + (TACIT__OCTAVES << TACIT__SEGMENT_BITS)
};

typedef struct tacit__slot {
    _Alignas(64) double coefficient[TACIT__DEGREE + 1];
    double tolerance;
} tacit__slot;

typedef enum tacit__noise_law { TACIT__GAUSSIAN, TACIT__LAPLACE, TACIT__LAWS } tacit__noise_law;

extern const tacit__slot tacit__tables[TACIT__LAWS][TACIT__SLOTS];

#endif
