/* The notation for releases on the command line. */
#ifndef TACIT_CLI_RELEASE_H
#define TACIT_CLI_RELEASE_H

#include <stddef.h>

#include <tacit/account.h>

/* Reads KIND:KEY=VALUE,... into *out. On failure returns -1, leaves *out alone and puts one sentence
 * into message that names the offending text and what was expected. */
int cli_release_parse(const char *text, tacit_cost *out, char *message, size_t message_size);

#endif
