/* The limit of open files of this process, and how many are open. See serve/http/descriptors.h. */
#include "serve/http/descriptors.h"

#include <dirent.h>
#include <stddef.h>
#include <sys/resource.h>

/* Returned on a system without /proc: about as many as a service has when it begins to listen. */
enum { ASSUMED = 64 };

static uint64_t count_open(void)
{
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL)
        return ASSUMED;
    uint64_t n = 0;
    while (readdir(all) != NULL) // NOLINT(concurrency-mt-unsafe): the directory is this function's
        n++;
    (void)closedir(all);
    return n - (n >= 3 ? 3 : n); /* not ".", ".." and the directory itself */
}

tacit__descriptors tacit__descriptors_count(void)
{
    struct rlimit files = {.rlim_cur = RLIM_INFINITY};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
        return (tacit__descriptors){UINT32_MAX, UINT32_MAX};
    const uint64_t limit = files.rlim_cur, open = count_open();
    return (tacit__descriptors){limit, limit > open ? limit - open : 0};
}
