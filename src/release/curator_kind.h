/* What agents ask of a curator: the one of release/curator.h, or an archive of raw data. */
#ifndef TACIT_RELEASE_CURATOR_KIND_H
#define TACIT_RELEASE_CURATOR_KIND_H

#include <tacit/ledger.h>

#include "contribute/statistic.h"

typedef struct tacit__curator_kind {
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
} tacit__curator_kind;

extern const tacit__curator_kind tacit__one_curator, tacit__archive_curator;

#endif
