/* See base/error.h. Status names and general messages come from the list in tacit/status.h. Every message
 * is made printable, since it may quote a file or a request. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/host.h"
#include "base/utf8.h"
#include "base/version.h"

#undef tacit__fail
#undef tacit__fail_plain

const char *tacit_status_name(tacit_status status)
{
    switch (status) {
#define X(name, message)                                                                           \
    case TACIT_##name:                                                                             \
        return #name;
        TACIT_STATUS_LIST(X)
#undef X
    }
    return "UNKNOWN";
}

const char *tacit_status_message(tacit_status status)
{
    switch (status) {
#define X(name, message)                                                                           \
    case TACIT_##name:                                                                             \
        return message;
        TACIT_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

const char *tacit_version(void)
{
    return TACIT__VERSION;
}

/* Messages may quote files, which may have anything in them: a terminal or a log gets text only. */
static void make_printable(char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size;) {
        const unsigned char c = (unsigned char)text[i];
        size_t n = tacit__utf8_length(text + i, size - i);
        if (n == 0 || (c < ' ' && c != '\n' && c != '\t') || c == 0x7f) {
            text[i] = '?';
            n = 1;
        }
        i += n;
    }
}

tacit_status tacit__fail(tacit_error *err, tacit_status status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        err->status = status;
        err->hint = TACIT_HINT_NONE;
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        make_printable(err->message);
    }
    return status;
}

tacit_status tacit__fail_plain(tacit_error *err, tacit_status status)
{
    return tacit__fail(err, status, "%s", tacit_status_message(status));
}

tacit_status tacit__fail_hinted(tacit_error *err, tacit_status status, tacit_hint hint)
{
    if (err != NULL)
        err->hint = hint;
    return status;
}

tacit_status tacit__fail_again(tacit_error *err, const tacit_error *failure)
{
    if (err != NULL)
        *err = *failure;
    return failure->status;
}

_Noreturn void tacit__impossible(const char *file, int line, const char *what)
{
    char why[256];
    (void)snprintf(why, sizeof why, "impossible state at %s:%d: %s", file, line, what);
    tacit__stop(why);
}
