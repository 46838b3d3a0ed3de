/* See base/thread.h. When a thread cannot be started, the message compares the stack that it needs with the
 * limits of the process, because the system's own reason (EAGAIN) does not say which limit was met. */
#include "base/thread.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"

enum { MIB = 1 << 20, BACKGROUND_NICE = 5 };

/* "200 MiB" or "any". */
static const char *show_limit(const struct rlimit *limit, rlim_t per_unit, const char *unit,
                              char text[32])
{
    if (limit->rlim_cur == RLIM_INFINITY)
        return "any";
    (void)snprintf(text, 32, "%llu%s", (unsigned long long)(limit->rlim_cur / per_unit), unit);
    return text;
}

/* Address space that the process uses, in MiB; 0: unknown. */
static unsigned long address_space(void)
{
    char line[80];
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    unsigned long pages = fgets(line, sizeof line, file) != NULL ? strtoul(line, NULL, 10) : 0;
    (void)fclose(file);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE) / MIB;
}

const char *tacit__thread_needs(char *text, size_t size)
{
    TACIT__REQUIRE(text != NULL && size > 0);
    char space_text[32], threads_text[32];
    struct rlimit space = {.rlim_cur = RLIM_INFINITY}, threads = space;
    size_t stack = 0;
    pthread_attr_t usual;
    if (pthread_attr_init(&usual) == 0) {
        (void)pthread_attr_getstacksize(&usual, &stack);
        (void)pthread_attr_destroy(&usual);
    }
    (void)getrlimit(RLIMIT_AS, &space);
    (void)getrlimit(RLIMIT_NPROC, &threads);
    (void)snprintf(text, size,
                   "a thread needs %zu MiB of address space, of which %lu MiB are taken and %s "
                   "allowed (ulimit -v), and one of the user's processes, of which %s are allowed "
                   "(ulimit -u)",
                   (stack + MIB - 1) / MIB, address_space(),
                   show_limit(&space, MIB, " MiB", space_text),
                   show_limit(&threads, 1, "", threads_text));
    return text;
}

unsigned tacit__processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

bool tacit__thread_set_patient(bool patient)
{
    const int from = patient ? SCHED_OTHER : SCHED_BATCH, to = patient ? SCHED_BATCH : SCHED_OTHER;
    struct sched_param priority = {.sched_priority = 0};
    int now;
    return pthread_getschedparam(pthread_self(), &now, &priority) == 0 && now == from &&
           pthread_setschedparam(pthread_self(), to, &priority) == 0;
}

/* On Linux a thread has a nice value of its own. */
void tacit__thread_set_background(void)
{
    const id_t self = (id_t)gettid();
    const int now = getpriority(PRIO_PROCESS, self);
    if (now < BACKGROUND_NICE)
        (void)setpriority(PRIO_PROCESS, self, BACKGROUND_NICE);
}

tacit_status tacit__thread_start(pthread_t *out, void *(*run)(void *context), void *context,
                                 tacit_error *err)
{
    TACIT__REQUIRE(out != NULL && run != NULL);
    char needs[300];
    int code = pthread_create(out, NULL, run, context);
    if (code == 0)
        return TACIT_OK;
    return tacit__fail(err, TACIT_SYSTEM, "a thread could not be started (%s): %s", strerror(code),
                       tacit__thread_needs(needs, sizeof needs));
}
