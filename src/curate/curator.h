/* Curators: the table that makes the statistics of learners one.
 *
 * To add one: a file here that defines a tacit__curator, and rows in agents that name it beside their
 * planner. What it collects, and what it shows, is each curator's own: its options, and its release, which is
 * plain data of board. Its user's exact contribution is a function of its own too, of public knowledge and of
 * what the user brings (tacit__..._contribute): `add` is that and adding it. */
#ifndef TACIT_CURATE_CURATOR_H
#define TACIT_CURATE_CURATOR_H

#include <tacit/billboard.h>
#include <tacit/ledger.h>

#include "board/gram_sums.h"

/* A user as a curator sees one: through what is public. */
typedef struct tacit__user_view {
    const tacit_trajectory *trajectory;
    const tacit__lens *lenses; /* of sums of Gram matrices: one for each stream */
    const double *vector;      /* of bandits: features, or the vector of an epoch; NULL: none */
    size_t size, block;        /* numbers of the vector; the block that it belongs to */
    double y;                  /* the reward, in [-1, 1] */
} tacit__user_view;

typedef struct tacit__curator {
    void (*destroy)(void *curator); /* accepts NULL */
    /* One user. What does not fit is refused and changes nothing. */
    tacit_status (*add)(void *curator, const tacit__user_view *user, tacit_error *err);
    /* Local privacy: both halves of `add`. `report` draws the user's noise and adds nothing; bytes = NULL
     * gives the size, of no user. `check_report`: what `absorb` would say. NULL: reports are the learner's
     * own, or it has no local model. */
    tacit_status (*report)(void *curator, const tacit__user_view *user, void *bytes, size_t *size,
                           tacit_error *err);
    tacit_status (*check_report)(const void *curator, const void *bytes, size_t size,
                                 tacit_error *err);
    tacit_status (*absorb)(void *curator, const void *bytes, size_t size, tacit_error *err);
    tacit_ledger *(*ledger)(const void *curator); /* NULL without privacy */
    bool returning; /* people may come back: its lines declare all visits of one person */
} tacit__curator;

extern const tacit__curator tacit__tabular_curator, tacit__gram_curator, tacit__lsvi_curator,
    tacit__regression_curator, tacit__epochs_curator, tacit__weighted_curator, tacit__score_curator;

#endif
