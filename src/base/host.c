/* See base/host.h. */
#include "base/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The host does not say how much there is, but a module has at most what it was linked for
 * (cmake/Wasm.cmake). */
double tacit__machine_memory(void)
{
    return 0x1p29;
}

void tacit__prefer_large_pages(void *p, size_t bytes)
{
    (void)p;
    (void)bytes;
}

/* No locale but "C". */
double tacit__strtod(const char *text, char **end)
{
    return strtod(text, end);
}

const char *tacit__last_words;

/* There is no stderr: the page reads it (src/wasm/flat.c). */
void tacit__stop(const char *why)
{
    static char kept[256];
    (void)snprintf(kept, sizeof kept, "%s", why);
    tacit__last_words = kept;
    __builtin_trap();
}

#else

#include <locale.h>
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
    const double all = pages > 0 && size > 0 ? (double)pages * (double)size : (double)INFINITY;
    return sizeof(void *) > 4 ? all : fmin(all, 0x1p31); /* what a process of 32 bits can have */
}

void tacit__prefer_large_pages(void *p, size_t bytes)
{
    (void)madvise(p, bytes, MADV_HUGEPAGE);
}

static locale_t plain;

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double tacit__strtod(const char *text, char **end)
{
    static tacit__started once = TACIT__NOT_STARTED;
    tacit__run_once(&once, make_plain);
    return plain != (locale_t)0 ? strtod_l(text, end, plain) : strtod(text, end);
}

/* The one place where the library writes to stderr. */
void tacit__stop(const char *why)
{
    (void)fprintf(stderr, "tacit: %s; stopping\n", why);
    abort();
}

#endif
