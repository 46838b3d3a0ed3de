/* The progress of a learner's warm start, as the vault records it. */
#ifndef TACIT_STORE_VAULT_VAULT_WARM_H
#define TACIT_STORE_VAULT_VAULT_WARM_H

#include "store/vault/vault.h"

/* How far that has come. */
typedef struct tacit__vault_warm {
    uint8_t digest[TACIT__KEY_BYTES]; /* of the log, under a key */
    uint64_t rows;                    /* that it has */
    uint64_t taken;                   /* of these, from the first */
    uint64_t learned;                 /* of those taken, users of the learner */
} tacit__vault_warm;

TACIT_MUST_USE tacit_status tacit__vault_find_warm(tacit__vault *vault, int64_t learner,
                                                   bool *found, tacit__vault_warm *out,
                                                   tacit_error *err);
/* In the transaction that takes the rows. */
TACIT_MUST_USE tacit_status tacit__vault_save_warm(tacit__vault *vault, int64_t learner,
                                                   const tacit__vault_warm *warm, tacit_error *err);

#endif
