/* How the findings of audits are told. */
#ifndef TACIT_CLI_VERDICT_H
#define TACIT_CLI_VERDICT_H

#include <jansson.h>

#include <tacit/audit.h>
#include <tacit/lab.h>

void cli_audit_print(const tacit_entry *entry, const tacit_audit *audit);
json_t *cli_audit_json(const char *world, const tacit_entry *entry, const tacit_audit *audit);

void cli_self_test_print(const tacit_self_test *test);
json_t *cli_self_test_json(const tacit_self_test *test);

#endif
