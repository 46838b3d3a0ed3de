/* How far one user moves a Gram matrix and a response together, and the best proportion between their noises.
 *
 * What one user adds at one step is the vector (iso(x x^T), c x y): Gram matrix in packed
 * coordinates, response times a ratio c, |x| <= 1, |y| <= 1. One release of it with noise s on
 * every coordinate is noise s on the Gram matrix and s / c on the response. */
#ifndef TACIT_CONTRIBUTE_SENSITIVITY_H
#define TACIT_CONTRIBUTE_SENSITIVITY_H

#include <stddef.h>

/* What is known of two users' feature vectors. */
typedef enum tacit__angle {
    TACIT__ANY_ANGLE,
    TACIT__ACUTE, /* x . x' >= 0 and targets not negative; or x . x' = 0 or x = x', and the same of targets */
    TACIT__BLOCKS /* x . x' = 0 or x = x', targets of both signs */
} tacit__angle;

/* The largest a |x x^T - x' x'^T|_F^2 + b |x y - x' y'|^2 over |x|, |x'|, |y|, |y'| <= 1. */
double tacit__joint_square(double a, double b, tacit__angle angle);

/* How far the vector of one step moves when its user is replaced. `width` is the number of features. */
double tacit__step_l2(double ratio, tacit__angle angle);
double tacit__step_l1(double ratio, size_t width);

/* The largest norms of the vector itself. */
double tacit__step_norm_l2(double ratio);
double tacit__step_norm_l1(double ratio, size_t width);

/* The ratio c that makes  gram_cost * s + response_cost * s / c  least, when the noise s is as
 * large as the movement of the vector asks for: in L2, or in L1 if `width` is not 0. */
double tacit__best_ratio(double gram_cost, double response_cost, tacit__angle angle, size_t width);

#endif
