/* JSON on standard output. */
#ifndef TACIT_CLI_PRINT_JSON_H
#define TACIT_CLI_PRINT_JSON_H

#include "text/json_text.h"

/* Begins a document: laid out for people, with 17 digits, by which every double reads back as itself. */
#define CLI_JSON_INIT                                                                              \
    {                                                                                              \
        .indent = 2, .digits = 17                                                                  \
    }

/* Prints the document and gives up its memory. CLI_SYSTEM, with a message, if it ran out while the
 * document was made. */
int cli_print_json(tacit__json_writer *document);

#endif
