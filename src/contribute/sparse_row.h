/* Lists of the next states that have followed a pair, which curators keep where a table would be large. */
#ifndef TACIT_CONTRIBUTE_SPARSE_ROW_H
#define TACIT_CONTRIBUTE_SPARSE_ROW_H

#include "base/bytes.h"
#include "board/counts.h"

/* Room for `capacity` next states, at least as many as there are; false: no memory, and nothing changed. */
bool tacit__row_reserve(tacit__sparse_row *row, uint32_t capacity);

/* As part of a saved state: length, next states, counts. Returns the counts that are loaded, for the
 * caller to check, and *length of them. */
const void *tacit__row_fields(tacit__sparse_row *row, size_t n_states, uint32_t *length,
                              tacit__saved *s);

#endif
