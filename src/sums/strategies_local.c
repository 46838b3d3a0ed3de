/* The sums of a device: reports are local, and what is public is added as it is. The trees and the buffers of
 * the joint model stay away, as families without a local model do (agents/families_local.c). */
#include "sums/strategy.h"

const tacit__strategy *const tacit__strategies[TACIT__STRATEGIES] = {
    [TACIT_SUM_EXACT] = &tacit__strategy_exact,
    [TACIT_SUM_LOCAL] = &tacit__strategy_local,
};
