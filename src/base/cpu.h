/* Wide instructions, chosen at run time. A hot loop exists twice: as plain C, and compiled or written for
 * AVX2 in a function marked TACIT__AVX2; where it pays, a third time for AVX-512 (foundation and DQ). All
 * give the same bits. */
#ifndef TACIT_BASE_CPU_H
#define TACIT_BASE_CPU_H

#include <stdbool.h>

#define TACIT__INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define TACIT__HAVE_AVX2 1
#define TACIT__AVX2 __attribute__((target("avx2")))
#define TACIT__AVX512 __attribute__((target("avx512f,avx512dq")))
#else
#define TACIT__HAVE_AVX2 0
#endif

/* True if AVX2 code may run here; if AVX-512 code may. */
bool tacit__cpu_has_avx2(void);
bool tacit__cpu_has_avx512(void);

/* Tests only: pretend that the CPU has nothing but the base instructions; that it has no AVX-512. */
void tacit__cpu_pretend_base(bool pretend);
void tacit__cpu_pretend_avx2(bool pretend);

#endif
