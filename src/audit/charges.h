/* These functions find out whether every passage is charged. Three counts must agree: steps that passed
 * the door, steps that the journal recorded before any noise was drawn, and steps that the ledger says
 * it has passed. */
#ifndef TACIT_AUDIT_CHARGES_H
#define TACIT_AUDIT_CHARGES_H

#include "account/door.h"

typedef struct tacit__charges {
    tacit_ledger *ledger;
    size_t n;          /* releases */
    uint64_t *passed;  /* [n] steps that came to the door */
    uint64_t *charged; /* [n] steps in the journal */
    char fault[160];   /* "" if all were charged */
} tacit__charges;

/* Starts to count. The ledger must be fresh; its journal is used. */
TACIT_MUST_USE tacit_status tacit__charges_open(tacit__charges *charges, tacit_ledger *ledger);
void tacit__charges_close(tacit__charges *charges);

/* Counts a passage of this ledger. */
void tacit__charges_add(tacit__charges *charges, const tacit__passage *passage);

/* Compares the counts with those of the ledger, at the end. */
void tacit__charges_check(tacit__charges *charges);

#endif
