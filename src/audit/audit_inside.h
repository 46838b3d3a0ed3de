/* The audit of any subject; include/tacit/audit.h is its public face for agents.
 *
 * The words of this folder:
 *   subject    what is audited: anything that serves users and releases through a ledger's door
 *   pair       two neighboring sequences of users, which differ in one person
 *   tape       a recording of everything that passes the door, and its replay for the other sequence
 *   lockstep   two instances of a subject, one for each sequence of a pair, which get the same releases call by call
 *   search     finds the pair that moves releases farthest, by locksteps
 *   attack     runs both sequences of that pair many times, and proves a loss from how often an event happens
 *   event      a score of a lockstep above or below a threshold
 *   residuals  the noise itself, tested against what was declared; charges: whether the ledger counted every passage
 *   judge      makes the verdict from all of these
 *   control    a subject that is broken on purpose, by which the audit tests itself (counter.h) */
#ifndef TACIT_AUDIT_AUDIT_INSIDE_H
#define TACIT_AUDIT_AUDIT_INSIDE_H

#include <tacit/audit.h>

#include "audit/subject.h"

TACIT_MUST_USE tacit_status tacit__audit_subject(const tacit__subject *subject,
                                                 const tacit_audit_options *options,
                                                 tacit_audit **out, tacit_error *err);

#endif
