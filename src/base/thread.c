#include "base/thread.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"

enum { MIB = 1 << 20 };

/* "LIMIT MiB" or "any". */
static const char *show_limit(int which, char text[32])
{
    struct rlimit limit;
    if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return "any";
    (void)snprintf(text, 32, "%llu%s",
                   (unsigned long long)limit.rlim_cur / (which == RLIMIT_AS ? MIB : 1),
                   which == RLIMIT_AS ? " MiB" : "");
    return text;
}

/* Address space that the process has taken, in MiB; 0: nobody can tell. */
static unsigned long address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE) / MIB;
}

const char *tacit__thread_needs(char *text, size_t size)
{
    char space[32], threads[32];
    size_t stack = 0;
    pthread_attr_t usual;
    if (pthread_attr_init(&usual) == 0) {
        (void)pthread_attr_getstacksize(&usual, &stack);
        (void)pthread_attr_destroy(&usual);
    }
    (void)snprintf(text, size,
                   "a thread needs %zu MiB of address space, of which %lu MiB are taken and %s "
                   "allowed (ulimit -v), and one of the user's processes, of which %s are allowed "
                   "(ulimit -u)",
                   (stack + MIB - 1) / MIB, address_space(), show_limit(RLIMIT_AS, space),
                   show_limit(RLIMIT_NPROC, threads));
    return text;
}

tacit_status tacit__thread_start(pthread_t *out, void *(*run)(void *context), void *context,
                                 tacit_error *err)
{
    char needs[300];
    int code = pthread_create(out, NULL, run, context);
    if (code == 0)
        return TACIT_OK;
    return tacit__fail(err, TACIT_SYSTEM, "a thread could not be started (%s): %s", strerror(code),
                       tacit__thread_needs(needs, sizeof needs));
}
