/* See base/host.h. */
#include "base/host.h"

#include <math.h>
#include <unistd.h>

#include "base/error.h"

#if defined(__wasi__)

void tacit__run_once(tacit__started *started, void (*start)(void))
{
    TACIT__REQUIRE(started != NULL && start != NULL);
    if (!*started)
        start();
    *started = true;
}

void tacit__on_fork(void (*handler)(void))
{
    TACIT__REQUIRE(handler != NULL);
}

/* A page's memory grows as the browser allows; an allocation that it refuses fails as any other. */
double tacit__machine_memory(void)
{
    return (double)INFINITY;
}

void tacit__prefer_large_pages(void *p, size_t bytes)
{
    (void)p;
    (void)bytes;
}

#else

#include <sys/mman.h>

void tacit__run_once(tacit__started *started, void (*start)(void))
{
    TACIT__REQUIRE(pthread_once(started, start) == 0);
}

void tacit__on_fork(void (*handler)(void))
{
    TACIT__REQUIRE(handler != NULL && pthread_atfork(NULL, NULL, handler) == 0);
}

/* -1 is an answer: that the system does not say. */
double tacit__machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (double)pages * (double)size : (double)INFINITY;
}

void tacit__prefer_large_pages(void *p, size_t bytes)
{
    (void)madvise(p, bytes, MADV_HUGEPAGE);
}

#endif
