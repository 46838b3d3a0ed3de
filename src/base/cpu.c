#include "base/cpu.h"

#include <stdatomic.h>

static atomic_bool only_base;

bool tacit__cpu_has_avx2(void)
{
#if TACIT__HAVE_AVX2
    return !atomic_load_explicit(&only_base, memory_order_relaxed) &&
           __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

void tacit__cpu_pretend_base(bool pretend)
{
    atomic_store(&only_base, pretend);
}
