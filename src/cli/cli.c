/* The commands share these functions. */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/error.h"

int cli_wrong(const char *format, ...)
{
    TACIT__REQUIRE(format != NULL);
    va_list args;
    va_start(args, format);
    (void)fputs("tacit: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    return CLI_WRONG;
}

int cli_failed(tacit_status status, const tacit_error *err)
{
    TACIT__REQUIRE(status != TACIT_OK);
    const char *text =
        err != NULL && err->message[0] != '\0' ? err->message : tacit_status_message(status);
    (void)cli_wrong("%s", text);
    switch (status) {
    case TACIT_NO_MEMORY:
    case TACIT_SYSTEM:
    case TACIT_TOO_LARGE:
        return CLI_SYSTEM;
    default:
        return CLI_WRONG;
    }
}

int cli_finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status == CLI_HELPED ? CLI_DONE : status;
    (void)cli_wrong("cannot write to standard output: %s", strerror(errno));
    return CLI_SYSTEM;
}

char *cli_shortest(char buffer[32], double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(buffer, 32, "%.*g", digits, x);
        if (strtod(buffer, NULL) == x)
            break;
    }
    return buffer;
}

void cli_keep_memory_private(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
