/* When Gram matrices are shown and policies change: the ends of the leaves of a scheme (lsvi_scheme.h). */
#include <math.h>

#include "base/error.h"
#include "release/archive/lsvi_scheme.h"

/* unit (exp(rate n) - 1) is convex and 0 at 0, so that no leaf is empty. */
uint64_t tacit__lsvi_leaf_end(const tacit__lsvi_scheme *scheme, uint64_t n)
{
    TACIT__REQUIRE(scheme->rate >= 0);
    if (scheme->rate == 0)
        return n * scheme->leaf;
    const uint64_t end = (uint64_t)ceil(scheme->unit * expm1(scheme->rate * (double)n));
    return end > n ? end : n;
}

void tacit__lsvi_leaf_ends(const tacit__lsvi_scheme *scheme, uint64_t *ends)
{
    for (uint64_t i = 0; i < scheme->leaves; i++)
        ends[i] = tacit__lsvi_leaf_end(scheme, i + 1);
}

void tacit__lsvi_switch_ends(const tacit__lsvi_scheme *scheme, uint64_t *ends)
{
    const uint64_t idle = scheme->switches < scheme->leaves ? scheme->leaves - scheme->switches : 0;
    for (uint64_t i = 0; i < scheme->switches; i++)
        ends[i] = tacit__lsvi_leaf_end(scheme, idle + i + 1);
}
