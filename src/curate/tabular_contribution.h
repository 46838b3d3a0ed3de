/* What a user adds to tabular counts, exactly: integers, made of the trajectory and of public knowledge
 * alone. A device can make it, or a party that holds no sums; the curator makes it the same way, then adds
 * it. */
#ifndef TACIT_CURATE_TABULAR_CONTRIBUTION_H
#define TACIT_CURATE_TABULAR_CONTRIBUTION_H

#include "curate/tabular_curator.h"
#include "curate/user_share.h"
#include "noise/tag.h"
#include "sums/lattice.h"

enum { TACIT__VISITS, TACIT__MOVES, TACIT__REWARD_SUMS, TACIT__TABULAR_STREAMS };

/* Public: how a trajectory becomes integers. */
typedef struct tacit__tabular_form {
    tacit__tabular_options o;
    tacit__share_rule rule; /* which visits count, where not all do; unit = 0: all do, in full */
    tacit__lattice lattice[TACIT__TABULAR_STREAMS];
} tacit__tabular_form;

/* A user's contribution, and what it takes to make it. */
typedef struct tacit__tabular_user {
    tacit__input stream[TACIT__TABULAR_STREAMS]; /* n = 0: the stream is not released */
    size_t *cell[TACIT__TABULAR_STREAMS];        /* [H]: what they point to */
    int64_t *placed[TACIT__TABULAR_STREAMS];
    double *x[TACIT__TABULAR_STREAMS]; /* [H] scratch: the numbers before they are placed */
    struct tacit__visit *order;        /* [H] scratch: steps, sorted */
    tacit__counted_step *counted;      /* [H] scratch: what the rule lets count */
} tacit__tabular_user;

/* Room for the contributions of any number of users; NULL: no memory. */
tacit__tabular_user *tacit__tabular_user_create(const tacit__tabular_options *options);
void tacit__tabular_user_destroy(tacit__tabular_user *user);

/* The row (table, state, action) of a trajectory's step h. Reports of one step have one table. */
size_t tacit__tabular_row(const tacit__tabular_options *options, const tacit_trajectory *user,
                          size_t h);

/* OUT_OF_BOUND if states, actions and rewards are not those of the space. */
TACIT_MUST_USE tacit_status tacit__tabular_check_user(const tacit__tabular_options *options,
                                                      const tacit_trajectory *user,
                                                      tacit_error *err);

/* The contribution of the steps first .. last-1 of a user who was checked, into out->stream. */
TACIT_MUST_USE tacit_status tacit__tabular_contribute(const tacit__tabular_form *form,
                                                      const tacit_trajectory *user, size_t first,
                                                      size_t last, tacit__tabular_user *out,
                                                      tacit_error *err);

#endif
