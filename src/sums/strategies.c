/* The ways of running sums. libtacit_client has strategies_local.c in the place of this list. */
#include "sums/strategy.h"

const tacit__strategy *const tacit__strategies[TACIT__STRATEGIES] = {
    [TACIT_SUM_EXACT] = &tacit__strategy_exact,   [TACIT_SUM_TREE] = &tacit__strategy_tree,
    [TACIT_SUM_SMOOTH] = &tacit__strategy_smooth, [TACIT_SUM_BLT] = &tacit__strategy_blt,
    [TACIT_SUM_LOCAL] = &tacit__strategy_local,
};
