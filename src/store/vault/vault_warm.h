/* The progress of a learner's warm start, as the vault records it. */
#ifndef TACIT_STORE_VAULT_VAULT_WARM_H
#define TACIT_STORE_VAULT_VAULT_WARM_H

#include "store/vault/vault.h"

/* The progress. */
typedef struct tacit__vault_warm {
    uint8_t digest[TACIT__KEY_BYTES]; /* digest of the log, under a key */
    uint64_t rows;                    /* rows of the log */
    uint64_t taken;                   /* rows that were taken, from the first */
    uint64_t learned;                 /* taken rows that are users of the learner */
} tacit__vault_warm;

TACIT_MUST_USE tacit_status tacit__vault_find_warm(tacit__vault *vault, int64_t learner,
                                                   bool *found, tacit__vault_warm *out,
                                                   tacit_error *err);
/* Called in the transaction that takes the rows. */
TACIT_MUST_USE tacit_status tacit__vault_save_warm(tacit__vault *vault, int64_t learner,
                                                   const tacit__vault_warm *warm, tacit_error *err);

#endif
