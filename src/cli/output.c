/* Atomic files: a reader sees the old file or the new one, also after a crash, because the new one is on
 * the disk before it gets its name. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"

static int fail(const char *doing, const char *path)
{
    (void)cli_wrong("%s: cannot %s: %s", path, doing, strerror(errno));
    return CLI_SYSTEM;
}

/* Makes path[0 .. end) unless it is there; remembers the first that was not. */
static int make_one(cli_output *output, size_t end)
{
    char *path = output->path, saved = path[end];
    path[end] = '\0';
    int status = CLI_DONE;
    if (mkdir(path, 0777) == 0) {
        if (output->n_made == 0)
            output->n_made = end;
    } else if (errno != EEXIST && errno != EISDIR) {
        status = fail("make the directory", path);
    }
    path[end] = saved;
    return status;
}

static int make_all(cli_output *output)
{
    size_t n = strlen(output->path);
    while (n > 1 && output->path[n - 1] == '/')
        output->path[--n] = '\0';
    for (size_t i = 1; i <= n; i++) {
        if (i < n && (output->path[i] != '/' || output->path[i - 1] == '/'))
            continue;
        int status = make_one(output, i);
        if (status != CLI_DONE)
            return status;
    }
    struct stat info;
    if (stat(output->path, &info) != 0)
        return fail("use", output->path);
    if (!S_ISDIR(info.st_mode)) {
        errno = ENOTDIR;
        return fail("write there", output->path);
    }
    return access(output->path, W_OK | X_OK) == 0 ? CLI_DONE : fail("write there", output->path);
}

int cli_output_open(cli_output *output, const char *path)
{
    TACIT__REQUIRE(output != NULL && path != NULL);
    *output = (cli_output){.path = strdup(path)};
    if (output->path == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    int status = make_all(output);
    if (status != CLI_DONE)
        cli_output_undo(output);
    return status;
}

void cli_output_undo(const cli_output *output)
{
    if (output->path == NULL || output->n_made == 0)
        return;
    char *path = output->path;
    for (size_t n = strlen(path); n >= output->n_made; n--) {
        if (path[n] != '\0' && path[n] != '/')
            continue;
        char saved = path[n];
        path[n] = '\0';
        (void)rmdir(path);
        path[n] = saved;
    }
}

void cli_output_close(cli_output *output)
{
    free(output->path);
    *output = (cli_output){0};
}

static bool write_all(int fd, cli_write_fn *write_fn, const void *context)
{
    FILE *to = fdopen(fd, "w");
    if (to == NULL) {
        (void)close(fd);
        return false;
    }
    bool done = write_fn(context, to) && fflush(to) == 0 && !ferror(to) && fsync(fd) == 0;
    int reason = errno;
    done = fclose(to) == 0 && done;
    errno = reason != 0 ? reason : errno;
    return done;
}

int cli_output_write(const cli_output *output, const char *name, cli_write_fn *write,
                     const void *context)
{
    TACIT__REQUIRE(name != NULL && write != NULL);
    size_t size = strlen(output->path) + strlen(name) + 16;
    char *path = malloc(size), *temporary = malloc(size);
    int status = CLI_DONE;
    if (path == NULL || temporary == NULL) {
        free(path);
        free(temporary);
        return cli_failed(TACIT_NO_MEMORY, NULL);
    }
    (void)snprintf(path, size, "%s/%s", output->path, name);
    (void)snprintf(temporary, size, "%s/.%s.XXXXXX", output->path, name);
    errno = 0;
    int fd = mkostemp(temporary, O_CLOEXEC);
    mode_t mask = umask(0);
    (void)umask(mask);
    if (fd < 0) {
        status = fail("write", path);
    } else if (fchmod(fd, 0666 & ~mask) != 0 || !write_all(fd, write, context) ||
               rename(temporary, path) != 0 || !tacit__file_sync_directory(output->path)) {
        status = fail("write", path);
        (void)unlink(temporary);
    }
    free(path);
    free(temporary);
    return status;
}
