/* The normal law in many bits: its density and its tail. See base/wide.h. */
#ifndef TACIT_NOISE_NORMAL_H
#define TACIT_NOISE_NORMAL_H

#include "base/wide.h"

/* exp(-x^2/2) / sqrt(2 pi). Relative error below 2^-bits (2 + x^2), that of x^2 included. `out` is not x. */
void tacit__normal_density(tacit__wide *out, const tacit__wide *x);

/* Mills' ratio R(x) = Phi(-x) / phi(x) for x >= 0: the tail is phi(x) R(x). Relative error below
 * 2^(2-bits). `out` is not x. */
void tacit__mills_ratio(tacit__wide *out, const tacit__wide *x);

#endif
