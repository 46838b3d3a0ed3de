/* Privacy loss distributions: enclosing the guarantee of mixed releases. */
#ifndef TACIT_ACCOUNT_PLD_H
#define TACIT_ACCOUNT_PLD_H

#include <stddef.h>

#include <tacit/account.h>

#include "account/loss.h"

/* The composed mechanism: it fails altogether with probability `fail` (black boxes with delta > 0),
 * and else has the sum of the losses. At most one Gaussian; no two losses of equal kind and size. */
typedef struct tacit__pld {
    const tacit__loss *losses;
    size_t n_losses;
    tacit_interval fail;
} tacit__pld;

/* The interval that holds delta at epsilon >= 0, or epsilon at delta in (0, 1). */
tacit_status tacit__pld_delta(const tacit__pld *pld, double epsilon, tacit_interval *delta);
tacit_status tacit__pld_epsilon(const tacit__pld *pld, double delta, tacit_interval *epsilon);

#endif
