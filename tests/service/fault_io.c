/* See fault_io.h. The functions here stand before the C library's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "service/fault_io.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static char wanted[512];
static uint64_t kill_at, full_at;
static int kill_after;
static atomic_uint_fast64_t calls, syncs;

void fault_io_arm(const char *path, uint64_t kill_number, int after, uint64_t full_number)
{
    (void)snprintf(wanted, sizeof wanted, "%s", path);
    kill_at = kill_number;
    kill_after = after;
    full_at = full_number;
    atomic_store(&calls, 0);
    atomic_store(&syncs, 0);
}

uint64_t fault_io_count(void)
{
    return atomic_load(&calls);
}

uint64_t fault_io_syncs(void)
{
    return atomic_load(&syncs);
}

__attribute__((constructor)) static void arm_from_environment(void)
{
    const char *path = getenv("TACIT_FAULT_PATH"), *dies = getenv("TACIT_FAULT_KILL"),
               *full = getenv("TACIT_FAULT_FULL");
    if (path != NULL)
        fault_io_arm(path, dies != NULL ? strtoull(dies, NULL, 10) : 0,
                     getenv("TACIT_FAULT_AFTER") != NULL,
                     full != NULL ? strtoull(full, NULL, 10) : 0);
}

/* The number of this call, or 0 if the file is none of ours. */
static uint64_t number(int fd)
{
    char link[64], path[1024];
    if (wanted[0] == '\0')
        return 0;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return 0;
    path[n] = '\0';
    if (strstr(path, wanted) == NULL)
        return 0;
    return atomic_fetch_add(&calls, 1) + 1;
}

static void die(uint64_t n, int after)
{
    if (n > 0 && n == kill_at && after == kill_after)
        (void)kill(getpid(), SIGKILL);
}

static int is_full(uint64_t n)
{
    /* a file beside the store switches it, so that room can be made again */
    const char *flag = getenv("TACIT_FAULT_FULL_FLAG");
    if (flag != NULL)
        return n > 0 && access(flag, F_OK) == 0;
    return n > 0 && full_at > 0 && n >= full_at;
}

#define SEEN __attribute__((visibility("default")))

#define BEFORE(fd)                                                                                 \
    uint64_t n = number(fd);                                                                       \
    die(n, 0);                                                                                     \
    if (is_full(n)) {                                                                              \
        errno = ENOSPC;                                                                            \
        return -1;                                                                                 \
    }

#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (real == NULL) {                                                                            \
        void *found = dlsym(RTLD_NEXT, name);                                                      \
        memcpy(&real, &found, sizeof real);                                                        \
    }

SEEN ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t)
    BEFORE(fd)
    ssize_t result = real(fd, data, size, offset);
    die(n, 1);
    return result;
}

SEEN ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t)
    BEFORE(fd)
    ssize_t result = real(fd, data, size, offset);
    die(n, 1);
    return result;
}

SEEN int fsync(int fd)
{
    REAL(int, "fsync", int)
    BEFORE(fd)
    int result = real(fd);
    atomic_fetch_add(&syncs, n > 0 && result == 0);
    die(n, 1);
    return result;
}

SEEN int fdatasync(int fd)
{
    REAL(int, "fdatasync", int)
    BEFORE(fd)
    int result = real(fd);
    atomic_fetch_add(&syncs, n > 0 && result == 0);
    die(n, 1);
    return result;
}

SEEN int ftruncate64(int fd, off64_t size)
{
    REAL(int, "ftruncate64", int, off64_t)
    BEFORE(fd)
    int result = real(fd, size);
    die(n, 1);
    return result;
}

/* The clock on the wall, moved by the seconds that a file holds; others go on as they do. */
SEEN int clock_gettime(clockid_t clock, struct timespec *out)
{
    REAL(int, "clock_gettime", clockid_t, struct timespec *)
    const char *path = clock == CLOCK_REALTIME ? getenv("TACIT_FAULT_CLOCK") : NULL;
    const int result = real(clock, out);
    long move = 0;
    FILE *file = path != NULL ? fopen(path, "r") : NULL;
    if (file != NULL) {
        if (fscanf(file, "%ld", &move) != 1)
            move = 0;
        (void)fclose(file);
    }
    if (result == 0)
        out->tv_sec += move;
    return result;
}

SEEN time_t time(time_t *out)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}
