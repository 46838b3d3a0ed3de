/* These functions find out what an agent promises, and print it. */
#ifndef TACIT_CLI_FINDINGS_H
#define TACIT_CLI_FINDINGS_H

#include <tacit/explain.h>
#include <tacit/lab.h>

#include "text/json_text.h"

typedef struct cli_findings {
    const tacit_entry *entry;
    const char *kind;               /* what the entry's kind stands for; NULL: there is no agent */
    tacit_explanation *explanation; /* to be destroyed */
    const char *space;  /* what was declared of the space, for people; NULL: nothing to say */
    const char *names;  /* the same of what its numbers are called */
    const char *log;    /* a file: that it is warmed up with; NULL: none */
    const char *record; /* what else is kept of users; NULL: nothing */
} cli_findings;

/* What the entry promises through a plan, or, where that is NULL, without one. `agent` is NULL where there
 * is none: baselines. `beside`: what else leaves a device, as in tacit_explanation_request. */
TACIT_MUST_USE tacit_status cli_findings_make(const tacit_entry *entry, const tacit_plan *plan,
                                              tacit_agent *agent, const char *beside,
                                              cli_findings *out, tacit_error *err);

void cli_findings_print(const cli_findings *findings);
/* The members, for an object that is open. */
void cli_put_findings(tacit__json_writer *to, const cli_findings *findings);

/* Prints what no promise covers. */
void cli_exceptions_print(void);
/* "not_covered": [...] */
void cli_put_exceptions(tacit__json_writer *to);

#endif
