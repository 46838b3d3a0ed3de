/* Makes a verdict, in words, from the findings. */
#ifndef TACIT_AUDIT_JUDGE_H
#define TACIT_AUDIT_JUDGE_H

#include <tacit/audit.h>

#define TACIT__JUDGE_TOL 1e-9 /* relative: scales and sums are rounded */

typedef struct tacit__audit_result {
    tacit_audit face; /* first: what the caller holds */
    char words[1000], fault[280], noise_fault[120];
} tacit__audit_result;

/* Adds a reason for a conviction. */
__attribute__((format(printf, 2, 3))) void tacit__judge_add_reason(tacit__audit_result *file,
                                                                   const char *format, ...);

/* Adds the reasons that the replay found, and those that noise and trials found. */
void tacit__judge_replay(tacit__audit_result *file);
void tacit__judge_attack(tacit__audit_result *file);

/* Concludes: violated if there is a reason, and otherwise how much the absence of one is worth. */
void tacit__judge_conclude(tacit__audit_result *file);

/* Adds "; ..." to the words of the verdict, if there are any. */
void tacit__judge_add_caveat(tacit__audit_result *file, const char *caveat);

#endif
