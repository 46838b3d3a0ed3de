/* Reading files and lines. Nothing is assumed of their contents: any bytes, any size up to MAX_SIZE. */
#include "worlds/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define MAX_SIZE ((size_t)1 << 32) /* a stated choice: 4 GB, some 200 million lines */
enum { FIRST_SIZE = 1 << 16 };

/* Opens and leaves the path that worked, or the one to complain about, in file->path. */
static FILE *open_near(const char *name, const char *near, char path[TACIT__MAX_PATH])
{
    const char *slash = near != NULL && name[0] != '/' ? strrchr(near, '/') : NULL;
    if (slash != NULL) {
        int n = snprintf(path, TACIT__MAX_PATH, "%.*s/%s", (int)(slash - near), near, name);
        FILE *f = n < TACIT__MAX_PATH ? fopen(path, "rb") : NULL;
        if (f != NULL)
            return f;
    }
    (void)snprintf(path, TACIT__MAX_PATH, "%s", name);
    if (strlen(name) >= TACIT__MAX_PATH) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(path, "rb");
}

/* Twice the room; the old contents are kept. */
static bool grow(tacit__text_file *file, size_t *room)
{
    size_t larger = *room == 0 ? FIRST_SIZE : 2 * *room;
    char *text = tacit__alloc(larger, 1);
    if (text == NULL)
        return false;
    if (file->text != NULL)
        memcpy(text, file->text, file->size);
    tacit__free(file->text);
    file->text = text;
    *room = larger;
    return true;
}

static tacit_status read_all(FILE *f, tacit__text_file *file, tacit_error *err)
{
    size_t room = 0, got;
    do {
        if (file->size == room) {
            if (room >= MAX_SIZE)
                return tacit__fail_at(err, TACIT_TOO_LARGE, file->path, 0,
                                      "the file is larger than %zu bytes", MAX_SIZE);
            if (!grow(file, &room))
                return tacit__fail_plain(err, TACIT_NO_MEMORY);
        }
        got = fread(file->text + file->size, 1, room - file->size, f);
        file->size += got;
    } while (got > 0);
    if (ferror(f))
        return tacit__fail_at(err, errno == EISDIR ? TACIT_BAD_ARGUMENT : TACIT_SYSTEM, file->path,
                              0, "cannot read: %s", strerror(errno));
    return TACIT_OK;
}

tacit_status tacit__text_file_read(const tacit__value *setting, const tacit__origin *origin,
                                   tacit__text_file *file, tacit_error *err)
{
    TACIT__REQUIRE(setting->text != NULL && origin != NULL);
    file->text = NULL;
    file->size = 0;
    FILE *f = open_near(setting->text, origin->file, file->path);
    if (f == NULL) {
        bool wrong_name = errno == ENOENT || errno == EACCES || errno == ENOTDIR ||
                          errno == EISDIR || errno == ENAMETOOLONG || errno == ELOOP;
        return tacit__fail_at(
            err, wrong_name ? TACIT_BAD_ARGUMENT : TACIT_SYSTEM, origin->file,
            (size_t)setting->line, "cannot open '%.200s': %s%s", setting->text, strerror(errno),
            setting->text[0] == '/' ? ""
            : origin->file != NULL  ? "; looked beside this file and in the current directory"
                                    : "; looked in the current directory");
    }
    tacit_status status = read_all(f, file, err);
    (void)fclose(f);
    return status;
}

tacit_status tacit__text_file_obtain(const tacit__values *values, const char *name,
                                     tacit__text_file *file, tacit_error *err)
{
    TACIT__REQUIRE(file != NULL);
    const tacit__value *obtain = tacit__value_of(values, "obtain");
    tacit_status status =
        tacit__text_file_read(tacit__value_of(values, name), &values->origin, file, err);
    if (status == TACIT_BAD_ARGUMENT && obtain->text[0] != '\0' && err != NULL) {
        size_t used = strlen(err->message);
        (void)snprintf(err->message + used, sizeof err->message - used, "; to get it: %s",
                       obtain->text);
    }
    return status;
}

void tacit__text_file_close(tacit__text_file *file)
{
    tacit__free(file->text);
    file->text = NULL;
}

bool tacit__line_next(tacit__span *rest, tacit__span *line)
{
    TACIT__REQUIRE(rest != NULL && line != NULL);
    if (rest->size == 0)
        return false;
    const char *end = memchr(rest->text, '\n', rest->size);
    size_t n = end != NULL ? (size_t)(end - rest->text) : rest->size;
    size_t taken = end != NULL ? n + 1 : n;
    *line = (tacit__span){rest->text, n > 0 && rest->text[n - 1] == '\r' ? n - 1 : n};
    *rest = (tacit__span){rest->text + taken, rest->size - taken};
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

tacit__span tacit__span_trim(tacit__span span)
{
    while (span.size > 0 && is_blank(span.text[0])) {
        span.text++;
        span.size--;
    }
    while (span.size > 0 && is_blank(span.text[span.size - 1]))
        span.size--;
    return span;
}

const char *tacit__span_format(tacit__span span, char out[TACIT__SHOWN])
{
    size_t most = TACIT__SHOWN - 4, n = span.size < most ? span.size : most;
    for (size_t i = 0; i < n; i++)
        out[i] = span.text[i];
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)out[i] < ' ' || (unsigned char)out[i] > '~')
            out[i] = '?';
    memcpy(out + n, span.size > most ? "..." : "", span.size > most ? 4 : 1);
    return out;
}
