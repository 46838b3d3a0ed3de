/* Atomic replacement: a reader sees the old file or the new one, also after a crash, because the new one
 * is on the disk before it gets its name. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return fsync(fd) == 0;
}

bool tacit__file_sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = fsync(fd) == 0 || errno == EINVAL; /* some file systems have nothing to do */
    (void)close(fd);
    return done;
}

static bool replace(const char *path, char *temporary, const char *data, size_t size)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = fchmod(fd, 0666 & ~mask) == 0 && write_all(fd, data, size);
    int reason = errno;
    done = close(fd) == 0 && done;
    errno = reason;
    if (done && rename(temporary, path) == 0)
        return true;
    reason = errno;
    (void)unlink(temporary);
    errno = reason;
    return false;
}

tacit_status tacit__file_replace(const char *path, const char *data, size_t size, tacit_error *err)
{
    TACIT__REQUIRE(path != NULL && (data != NULL || size == 0));
    const char *slash = strrchr(path, '/');
    size_t directory = slash != NULL ? (size_t)(slash - path) + 1 : 0, n = strlen(path) + 16;
    char *temporary = tacit__alloc(n, 1);
    if (temporary == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    (void)snprintf(temporary, n, "%.*s.%s.XXXXXX", (int)directory, path, path + directory);
    errno = 0;
    bool done = replace(path, temporary, data, size);
    if (done) {
        (void)snprintf(temporary, n, "%.*s", (int)directory, directory > 0 ? path : "");
        done = tacit__file_sync_directory(directory > 0 ? temporary : ".");
    }
    int reason = errno;
    tacit__free(temporary);
    return done
               ? TACIT_OK
               : tacit__fail(err, TACIT_SYSTEM, "%.300s: cannot write: %s", path, strerror(reason));
}
