/* Allocation on top of malloc: counted against the thread's allowance, checked for overflow, and
 * failing where a test asks for it. Large blocks are offered to the kernel for huge pages. See
 * base/memory.h. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"

enum {
    ALIGNMENT = 64,      /* a cache line, and the widest vector register */
    HUGE_PAGE = 1 << 21, /* from this size on, ask for large pages */
    /* Up to this size glibc's malloc reuses what the thread has freed; its calloc does not. */
    SMALL = 1024,
};

static atomic_uint_fast64_t fail_countdown;
static atomic_bool has_failed;
static _Thread_local size_t allowance = SIZE_MAX;

static bool planned_fault(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0)
        return false;
    if (atomic_fetch_sub(&fail_countdown, 1) != 1)
        return false;
    atomic_store(&has_failed, true);
    return true;
}

/* The bytes to ask for, a multiple of the alignment; 0: nothing is to be had. */
static size_t admit(uint64_t n, size_t size)
{
    size_t bytes;
    if (planned_fault() || __builtin_mul_overflow(n == 0 ? 1 : n, size, &bytes) ||
        bytes > SIZE_MAX - ALIGNMENT)
        return 0;
    bytes = bytes > 0 ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    if (bytes > allowance)
        return 0;
    if (allowance != SIZE_MAX)
        allowance -= bytes;
    return bytes;
}

void *tacit__alloc(uint64_t n, size_t size)
{
    const size_t bytes = admit(n, size);
    const bool huge = bytes >= HUGE_PAGE;
    void *p = NULL;
    if (bytes == 0 || posix_memalign(&p, huge ? HUGE_PAGE : ALIGNMENT, bytes) != 0)
        return NULL;
    if (huge) /* a wish: large states are streamed through at every step */
        tacit__prefer_large_pages(p, bytes);
    memset(p, 0, bytes);
    return p;
}

void *tacit__alloc_brief(uint64_t n, size_t size)
{
    const size_t bytes = admit(n, size);
    if (bytes > SMALL)
        return calloc(1, bytes);
    void *p = bytes > 0 ? malloc(bytes) : NULL;
    __asm__ volatile("" : "+r"(p));                /* or the compiler makes it calloc */
    return p != NULL ? memset(p, 0, bytes) : NULL; // NOLINT(clang-analyzer-unix.Malloc): the asm
}

void *tacit__alloc_raw(uint64_t n, size_t size)
{
    const size_t bytes = admit(n, size);
    return bytes > 0 ? malloc(bytes) : NULL;
}

void tacit__free(void *p)
{
    free(p);
}

void tacit__free_secret(void *p, size_t bytes)
{
    if (p != NULL)
        explicit_bzero(p, bytes);
    free(p);
}

size_t tacit__alloc_allow(size_t bytes)
{
    size_t left = allowance;
    allowance = bytes;
    return left;
}

void tacit__alloc_fail_at(uint64_t n)
{
    atomic_store(&has_failed, false);
    atomic_store(&fail_countdown, n);
}

bool tacit__alloc_has_failed(void)
{
    return atomic_load(&has_failed);
}
