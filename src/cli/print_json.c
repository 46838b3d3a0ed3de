/* See cli/print_json.h. */
#include "cli/print_json.h"

#include <stdio.h>

#include "cli/cli.h"

int cli_print_json(tacit__json_writer *document)
{
    const bool failed = document->text.failed;
    if (!failed)
        (void)puts(document->text.data);
    tacit__text_destroy(&document->text);
    return failed ? cli_failed(TACIT_NO_MEMORY, NULL) : CLI_DONE;
}
