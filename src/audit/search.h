/* The search for the worst neighbors. */
#ifndef TACIT_AUDIT_SEARCH_H
#define TACIT_AUDIT_SEARCH_H

#include <tacit/audit.h>

#include "audit/pair.h"

/* The share of what is declared at which the search stops. */
#define TACIT__SEARCH_ENOUGH 0.9

/* The result of a search. */
typedef struct tacit__search {
    uint64_t tried, refused; /* neighbors; those that the curator refused, as it may */
    double measured,
        declared;      /* mu (Gaussian) or epsilon (Laplace) of the worst pair, and of the plan */
    size_t position;   /* of the worst pair */
    double attackable; /* loss of the pair that trials can use */
    bool same_calls, same_view, one_sided, undeclared;
    bool stopped;    /* by `progress`: nothing else here counts */
    char fault[240]; /* what was found, in words; "" if all is as it should be */
} tacit__search;

/* Tries extreme, random and mutated neighbors, early, in the middle and late, with likely and unlikely
 * releases and with models that no honest server sends, and leaves in *pair the worst that trials can use.
 * Stops when two runs do not make the same calls, or only one of two users is taken. `effort`: how many
 * users may come in all, roughly. Of the options, seed and progress. */
TACIT_MUST_USE tacit_status tacit__pair_search(const tacit__subject *subject,
                                               const tacit_audit_options *options, uint64_t effort,
                                               tacit__pair *pair, tacit__search *out,
                                               tacit_error *err);

#endif
