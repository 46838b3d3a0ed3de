/* What of a user counts, in integers: a function of public weights and the user's own trajectory. */
#ifndef TACIT_CONTRIBUTE_USER_SHARE_H
#define TACIT_CONTRIBUTE_USER_SHARE_H

#include <tacit/billboard.h>

#include "board/counts.h"

/* Public. Weights and the budget are in steps of a lattice, so that what is proved of them holds exactly. */
typedef struct tacit__share_rule {
    tacit__space space;
    const int64_t *weights; /* [rows]: a visit of a row counts so much at most; none is negative.
                               NULL: every one counts `unit` at most */
    int64_t unit;
    uint64_t user_visits; /* m: a user's visits of a row after this many do not count; 0: all do */
    uint64_t square;      /* B^2 in squared steps, below 2^60: the budget; 0: there is no limit */
} tacit__share_rule;

/* A step of the user that counts. */
typedef struct tacit__counted_step {
    size_t h;       /* which of the user's steps, from 0 */
    size_t row;     /* (table, state, action) */
    uint32_t next;  /* the state that followed */
    int64_t weight; /* >= 0 */
    int64_t reward; /* weight (r - 1/2), rounded toward 0 */
    int64_t sum;    /* of the row's weights so far, this one included */
    uint64_t visit; /* of the row, from 1 */
} tacit__counted_step;

/* The steps that count, in their order, into out [horizon]; returns how many. The trajectory is
 * one of the space, with rewards in [0, 1]. */
size_t tacit__user_share(const tacit__share_rule *rule, const tacit_trajectory *user,
                         tacit__counted_step *out);

#endif
