/* Files that settings name: found, read whole, and divided into lines. */
#ifndef TACIT_WORLDS_TEXT_FILE_H
#define TACIT_WORLDS_TEXT_FILE_H

#include <stddef.h>

#include <tacit/status.h>

#include "text/values.h"

enum { TACIT__MAX_PATH = 4096 };

typedef struct tacit__text_file {
    char path[TACIT__MAX_PATH]; /* as it was found */
    char *text;                 /* may contain anything */
    size_t size;
} tacit__text_file;

/* Reads the file that a setting names. A relative path is looked for beside the origin's file first,
 * then in the current directory. After success or failure tacit__text_file_close may be called. */
TACIT_MUST_USE tacit_status tacit__text_file_read(const tacit__value *setting,
                                                  const tacit__origin *origin,
                                                  tacit__text_file *file, tacit_error *err);
/* The same for the value of this name, a file that the user has to get: if it cannot be opened, the message
 * ends with what the value `obtain` says about that, unless that is empty. */
TACIT_MUST_USE tacit_status tacit__text_file_obtain(const tacit__values *values, const char *name,
                                                    tacit__text_file *file, tacit_error *err);
void tacit__text_file_close(tacit__text_file *file);

/* A part of a text, not ended by a zero. */
typedef struct tacit__span {
    const char *text;
    size_t size;
} tacit__span;

/* The next line without its end (LF, or CR LF); false at the end of the text. */
bool tacit__line_next(tacit__span *rest, tacit__span *line);
/* Returns the text without blanks and tabs at both ends. */
tacit__span tacit__span_trim(tacit__span span);
/* At most 40 bytes of it as they can be shown in a message, into `out`; what cannot is a '?'. */
enum { TACIT__SHOWN = 44 };
const char *tacit__span_format(tacit__span span, char out[TACIT__SHOWN]);

#endif
