/* Whether the counts of a table fit into memory, asked before anything is allocated. */
#ifndef TACIT_CONTRIBUTE_TABLE_MEMORY_H
#define TACIT_CONTRIBUTE_TABLE_MEMORY_H

#include <tacit/status.h>

#include "board/counts.h"

/* TOO_LARGE where `bytes` of so many cells are more than half of the machine's memory; the message says what
 * would help. */
TACIT_MUST_USE tacit_status tacit__table_check_memory(const tacit__space *space, double cells,
                                                      double bytes, tacit_error *err);

#endif
