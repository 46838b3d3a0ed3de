/* Ridge regressions from noisy sums: factors, estimates, and the estimates' uncertainty at all pairs. */
#ifndef TACIT_PLAN_RIDGE_H
#define TACIT_PLAN_RIDGE_H

#include <tacit/status.h>

#include "board/gram_sums.h"

typedef struct tacit__ridge {
    tacit__frame frame;
    /* [step][block][width][width], lower triangles of L with L L^T = Gram + add I */
    double *factor;
    double *weights; /* [step][block][width] */
    double *columns; /* [width][pair] scratch, or [width] */
    double *scratch; /* of the eigenvalue floor */
    void *memory;    /* of all of these */
} tacit__ridge;

TACIT_MUST_USE tacit_status tacit__ridge_create(const tacit__frame *frame, tacit__ridge *out);
void tacit__ridge_destroy(tacit__ridge *ridge);

/* Factors Gram + add I and solves, for every step and block. Where noise leaves an eigenvalue below
 * `floor` > 0, the matrix is replaced by the nearest one with none; returns how often. Nothing can
 * fail, and nothing is ever NaN. */
size_t tacit__ridge_fit(tacit__ridge *ridge, const tacit__gram_sums *moments, double add,
                        double floor);

/* mean[pair] = x . w and spread[pair] = sqrt(x (Gram + add I)^-1 x) at a step, for features in the
 * layout of a lens. */
void tacit__ridge_predict(tacit__ridge *ridge, size_t step, const double *features, double *mean,
                          double *spread);

#endif
