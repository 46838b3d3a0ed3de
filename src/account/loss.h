/* The privacy losses that a composition is made of. */
#ifndef TACIT_ACCOUNT_LOSS_H
#define TACIT_ACCOUNT_LOSS_H

#include <stdint.h>

#define TACIT__UNIT                                                                                \
    0x1p-53 /* the unit roundoff of a double: all error bounds of the accountant count in it */

typedef enum tacit__loss_kind {
    TACIT__LOSS_GAUSSIAN, /* size: mu */
    TACIT__LOSS_LAPLACE,  /* size: sensitivity / scale */
    TACIT__LOSS_RESPONSE  /* randomized response, size: epsilon; failures are counted apart */
} tacit__loss_kind;

/* `count` independent losses of one kind; size > 0, and a Gaussian comes once. */
typedef struct tacit__loss {
    tacit__loss_kind kind;
    double size;
    uint64_t count;
} tacit__loss;

/* The cumulant function K(lambda) = log E_P exp(lambda L) of all `count`, and its first two
 * derivatives: mean and variance of the tilted loss. lambda >= 0. */
typedef struct tacit__cumulants {
    double value, mean, variance;
} tacit__cumulants;

tacit__cumulants tacit__loss_cumulants(const tacit__loss *loss, double lambda);

#endif
