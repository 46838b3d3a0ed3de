#include "cli/print_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

enum { SIGNIFICANT = 17 }; /* digits with which every double reads back as itself */

char *cli_json_text(json_t *document)
{
    char *text = document == NULL
                     ? NULL
                     : json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(SIGNIFICANT));
    json_decref(document);
    return text;
}

int cli_print_json(json_t *document)
{
    char *text = cli_json_text(document);
    if (text == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    (void)puts(text);
    free(text);
    return CLI_DONE;
}

json_t *cli_json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}
