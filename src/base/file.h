/* Files that appear whole or not at all. */
#ifndef TACIT_BASE_FILE_H
#define TACIT_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

/* Writes under another name in the same directory, flushes to the disk, and renames; a failure leaves the
 * old file, and is SYSTEM with the path and the reason. */
TACIT_MUST_USE tacit_status tacit__file_replace(const char *path, const char *data, size_t size,
                                                tacit_error *err);

/* A directory's own entries reach the disk too; false, with errno. */
bool tacit__file_sync_directory(const char *path);

#endif
