/* JSON on standard output. */
#ifndef TACIT_CLI_PRINT_JSON_H
#define TACIT_CLI_PRINT_JSON_H

#include <jansson.h>

/* Prints the document and gives it up; NULL means that there was no memory for it. */
int cli_print_json(json_t *document);

/* The text of a document, which is given up; to be freed. NULL: no memory. */
char *cli_json_text(json_t *document);

/* JSON has neither NaN nor infinity: both are null. */
json_t *cli_json_number(double x);

#endif
