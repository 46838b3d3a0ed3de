/* How far one user moves a step of a regression whose features come from a public table. */
#ifndef TACIT_CONTRIBUTE_TABLE_REACH_H
#define TACIT_CONTRIBUTE_TABLE_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

/* Features of a pair are x = sum_s' part(s') v(s'), the target is v of some state; v is the same
 * for both users, public, and anything within [low, 1] at every state. */
typedef struct tacit__part_table {
    const double *parts; /* [next state][width][pair], of norm at most 1 together */
    size_t n_states, width, pairs;
    double low;    /* 0 or -1 */
    bool weighted; /* a step counts with a weight in [0, 1] that may depend on the pair */
} tacit__part_table;

/* An upper bound on the squared L2 distance of two users' (iso(x x^T), ratio x y) at one step:
 * within a percent of the largest if the search ends, and as much above it as is left to search
 * otherwise. HUGE_VAL: the table is too large to be searched. */
TACIT_MUST_USE tacit_status tacit__table_reach(const tacit__part_table *table, double ratio,
                                               double *out);

#endif
