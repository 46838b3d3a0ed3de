/* The one door for memory, so that a test can fail the n-th call. */
#ifndef TACIT_BASE_MEMORY_H
#define TACIT_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory for n elements of `size` bytes, 64-byte aligned (hot loops rely on it); NULL when
 * there is none, when n * size overflows, or when a test says so. n = 0 gives one element. Counts of people
 * have 64 bits everywhere; sizes have 32 on small devices. */
void *tacit__alloc(uint64_t n, size_t size);

/* The same, aligned for any type and no more: for many small, short-lived objects outside of hot loops. */
void *tacit__alloc_brief(uint64_t n, size_t size);

/* The same, not zeroed: for memory that is written before it is read. */
void *tacit__alloc_raw(uint64_t n, size_t size);

void tacit__free(void *p);

/* Wipes `bytes` first: for keys and raw data. */
void tacit__free_secret(void *p, size_t bytes);

/* From now on the calling thread may allocate this many bytes in all; freed memory does not count as
 * returned. SIZE_MAX: no limit, as at first. Returns what was left of the previous limit. For work whose
 * size depends on untrusted input. */
size_t tacit__alloc_allow(size_t bytes);

/* Tests only: the n-th call from now (1 = the next) fails; 0 switches the fault off. */
void tacit__alloc_fail_at(uint64_t n);
/* Tests only: true when the planned fault has happened. */
bool tacit__alloc_has_failed(void);

#endif
