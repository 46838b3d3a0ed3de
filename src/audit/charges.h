/* Is every passage charged? Three counts must agree: steps that passed the door, steps that the journal
 * recorded before any noise was drawn, and steps that the ledger says it has passed. */
#ifndef TACIT_AUDIT_CHARGES_H
#define TACIT_AUDIT_CHARGES_H

#include "account/door.h"

typedef struct tacit__charges {
    tacit_ledger *ledger;
    size_t n;          /* releases */
    uint64_t *passed;  /* [n] steps that came to the door */
    uint64_t *charged; /* [n] as the journal has it */
    char fault[160];   /* "" if all were charged */
} tacit__charges;

/* From now on; the ledger is fresh and its journal is taken. */
TACIT_MUST_USE tacit_status tacit__charges_open(tacit__charges *charges, tacit_ledger *ledger);
void tacit__charges_close(tacit__charges *charges);

/* A passage of this ledger. */
void tacit__charges_add(tacit__charges *charges, const tacit__passage *passage);

/* What the ledger says in the end. */
void tacit__charges_check(tacit__charges *charges);

#endif
