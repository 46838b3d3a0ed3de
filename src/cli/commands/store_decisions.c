/* See cli/commands/store_decisions.h. */
#include "cli/commands/store_decisions.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/cli.h"

static bool print(void *context, const char *lines, size_t size)
{
    return fwrite(lines, 1, size, context) == size;
}

int cli_store_decisions(const tacit_service_options *options)
{
    TACIT__REQUIRE(options != NULL);
    tacit_error err = {0};
    tacit_status status = tacit_store_decisions(options, print, stdout, &err);
    if (status == TACIT_CORRUPT) {
        (void)cli_failed(status, &err);
        return CLI_NO;
    }
    return status == TACIT_OK ? CLI_DONE : cli_failed(status, &err);
}
