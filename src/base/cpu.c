/* See base/cpu.h. The compiler's builtins read the CPU's features once and cache them; tests can pretend
 * that it has fewer. */
#include "base/cpu.h"

#include <stdatomic.h>

static atomic_bool only_base, only_avx2;

bool tacit__cpu_has_avx2(void)
{
#if TACIT__HAVE_AVX2
    return !atomic_load_explicit(&only_base, memory_order_relaxed) &&
           __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

bool tacit__cpu_has_avx512(void)
{
#if TACIT__HAVE_AVX2
    return tacit__cpu_has_avx2() && !atomic_load_explicit(&only_avx2, memory_order_relaxed) &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
    return false;
#endif
}

void tacit__cpu_pretend_base(bool pretend)
{
    atomic_store(&only_base, pretend);
}

void tacit__cpu_pretend_avx2(bool pretend)
{
    atomic_store(&only_avx2, pretend);
}
