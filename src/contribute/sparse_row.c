/* See contribute/sparse_row.h. A list is one workspace, freed by its `next`. */
#include "contribute/sparse_row.h"

#include "base/error.h"
#include "base/workspace.h"

bool tacit__row_reserve(tacit__sparse_row *row, uint32_t capacity)
{
    TACIT__REQUIRE(capacity >= row->length);
    tacit__sparse_row w = {.length = row->length, .capacity = capacity};
    if (TACIT__PIECES(TACIT__PIECE(w.next, capacity), TACIT__PIECE(w.count, capacity)) == NULL)
        return false;
    if (row->length > 0) {
        memcpy(w.next, row->next, row->length * sizeof *w.next);
        memcpy(w.count, row->count, row->length * sizeof *w.count);
    }
    tacit__workspace_destroy(row->next);
    *row = w;
    return true;
}

const void *tacit__row_fields(tacit__sparse_row *row, size_t n_states, uint32_t *length,
                              tacit__saved *s)
{
    TACIT__REQUIRE(n_states > 0 && length != NULL);
    *length = row->length;
    tacit__saved_value(s, length, sizeof *length);
    tacit__saved_check(s, *length <= n_states);
    tacit__saved_indices(s, row->next, *length, n_states);
    const void *count = tacit__saved_array(s, row->count, *length, sizeof *row->count);
    if (s->pass == TACIT__CHECK && s->status == TACIT_OK && *length > row->capacity &&
        !tacit__row_reserve(row, *length))
        tacit__saved_fail(s, TACIT_NO_MEMORY, NULL);
    if (s->pass == TACIT__APPLY)
        row->length = *length;
    return count;
}
