/* See support/scratch.h. A program has a lock on each directory of its own, which falls when the program ends,
 * however that happens; programs that it starts do not inherit it. */
#include "support/scratch.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "support/server.h"

static struct {
    char path[SCRATCH_PATH];
    int lock;
} * own;
static size_t n_own;

void scratch_make(const char *prefix, char path[SCRATCH_PATH])
{
    static const char *swept[8];
    size_t i = 0;
    while (i < 8 && swept[i] != NULL && strcmp(swept[i], prefix) != 0)
        i++;
    assert_true(i < 8);
    if (swept[i] == NULL)
        scratch_sweep(swept[i] = prefix);
    (void)snprintf(path, SCRATCH_PATH, "%s/%sXXXXXX", P_tmpdir, prefix);
    assert_non_null(mkdtemp(path));
    own = realloc(own, (n_own + 1) * sizeof *own);
    assert_non_null(own);
    (void)snprintf(own[n_own].path, SCRATCH_PATH, "%s", path);
    own[n_own].lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(own[n_own].lock >= 0 && flock(own[n_own].lock, LOCK_EX | LOCK_NB) == 0);
    n_own++;
}

void scratch_remove(const char *path)
{
    assert_shell("rm -rf '%s'", path);
    for (size_t i = 0; i < n_own; i++)
        if (strcmp(own[i].path, path) == 0) {
            (void)close(own[i].lock);
            own[i] = own[--n_own];
            return;
        }
}

/* --- What others have left -------------------------------------------------------------------------- */

static size_t read_some(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "r");
    const size_t n = file != NULL ? fread(out, 1, size - 1, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    out[n] = '\0';
    return n;
}

/* The PostgreSQL server that runs in a directory, and the process that started it (1: that has ended); 0: none. */
static pid_t find_server(const char *directory, pid_t *parent)
{
    char text[4096];
    (void)read_some(fmt("%s/data/postmaster.pid", directory), text, sizeof text);
    const pid_t pid = (pid_t)strtol(text, NULL, 10);
    if (pid <= 1)
        return 0;
    const size_t n = read_some(fmt("/proc/%d/cmdline", (int)pid), text, sizeof text);
    for (size_t i = 0; i < n; i++) /* arguments end with a NUL */
        text[i] = text[i] != '\0' ? text[i] : ' ';
    if (strstr(text, fmt("%s/data", directory)) == NULL)
        return 0; /* another process has its number now */
    (void)read_some(fmt("/proc/%d/stat", (int)pid), text, sizeof text);
    const char *name_end = strrchr(text, ')');
    int above = 0;
    if (name_end == NULL || sscanf(name_end + 1, " %*c %d", &above) != 1)
        return 0;
    *parent = above;
    return pid;
}

static void sweep_one(const char *path)
{
    struct stat is;
    pid_t parent = 0;
    const int lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0)
        return; /* somebody else's */
    if (flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &is) == 0 &&
        is.st_mtime + SCRATCH_KEPT_S < time(NULL)) {
        const pid_t left = find_server(path, &parent);
        if (left > 0 && parent == 1 && kill(left, SIGQUIT) == 0)
            wait_until(find_server(path, &parent) == 0);
        if (find_server(path, &parent) == 0)
            (void)shell("rm -rf '%s' 2>/dev/null", path);
    }
    (void)close(lock);
}

void scratch_sweep(const char *prefix)
{
    glob_t found;
    if (glob(fmt("%s/%s??????", P_tmpdir, prefix), 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            sweep_one(found.gl_pathv[i]);
    globfree(&found);
}
