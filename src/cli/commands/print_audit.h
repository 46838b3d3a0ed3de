/* Prints the findings of audits. */
#ifndef TACIT_CLI_PRINT_AUDIT_H
#define TACIT_CLI_PRINT_AUDIT_H

#include <tacit/audit.h>
#include <tacit/lab.h>

#include "text/json_text.h"

/* `kind`: what the entry's kind stands for. */
void cli_audit_print(const tacit_entry *entry, const char *kind, const tacit_audit *audit);
void cli_put_audit(tacit__json_writer *to, const char *world, const tacit_entry *entry,
                   const char *kind, const tacit_audit *audit);

void cli_self_test_print(const tacit_self_test *test);
void cli_put_self_test(tacit__json_writer *to, const tacit_self_test *test);

#endif
