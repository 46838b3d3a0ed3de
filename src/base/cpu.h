/* Wide instructions, chosen at run time. A hot loop exists twice: as plain C, and compiled or written for
 * AVX2 in a function marked TACIT__AVX2. Both give the same bits. */
#ifndef TACIT_BASE_CPU_H
#define TACIT_BASE_CPU_H

#include <stdbool.h>

#define TACIT__INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define TACIT__HAVE_AVX2 1
#define TACIT__AVX2 __attribute__((target("avx2")))
#else
#define TACIT__HAVE_AVX2 0
#endif

/* True if AVX2 code may run here. */
bool tacit__cpu_has_avx2(void);

/* Tests only: pretend that the CPU has nothing but the base instructions. */
void tacit__cpu_pretend_base(bool pretend);

#endif
