/* A ledger with one line, for curators that release one thing. */
#ifndef TACIT_ACCOUNT_SINGLE_H
#define TACIT_ACCOUNT_SINGLE_H

#include <tacit/ledger.h>

/* Declares `line`, gives it the least noise that keeps the guarantee or, if `published_scale` > 0,
 * Gaussian noise of that scale, whatever it keeps; *scale is the noise's (may be NULL). */
TACIT_MUST_USE tacit_status tacit__ledger_open_single(const tacit_release *line,
                                                      tacit_guarantee guarantee,
                                                      double published_scale, tacit_noise *noise,
                                                      tacit_ledger **out, double *scale,
                                                      tacit_error *err);

#endif
