/* Public tables beside the file of a learner, as CSV: rewards, parts of a mixture, features. */
#ifndef TACIT_LAB_PUBLIC_TABLES_H
#define TACIT_LAB_PUBLIC_TABLES_H

#include "lab/files/learner_config.h"

/* Reads the file that config->files[table] names into config->known, which a failure leaves as it was.
 * Messages name the file, the line, what was found there and what was expected. */
TACIT_MUST_USE tacit_status tacit__table_load(tacit__learner_config *config,
                                              tacit__table_name table, tacit_error *err);

#endif
