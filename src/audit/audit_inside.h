/* The audit of any subject; include/tacit/audit.h is its public face for agents. */
#ifndef TACIT_AUDIT_AUDIT_INSIDE_H
#define TACIT_AUDIT_AUDIT_INSIDE_H

#include <tacit/audit.h>

#include "audit/subject.h"

TACIT_MUST_USE tacit_status tacit__audit_subject(const tacit__subject *subject,
                                                 const tacit_audit_options *options,
                                                 tacit_audit **out, tacit_error *err);

#endif
