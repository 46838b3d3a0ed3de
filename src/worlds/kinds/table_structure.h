/* The user may know this about a table: features in which it is linear, or kernels that it is a mixture
 * of. */
#ifndef TACIT_WORLDS_TABLE_STRUCTURE_H
#define TACIT_WORLDS_TABLE_STRUCTURE_H

#include "worlds/kind.h"
#include "worlds/text_file.h"

/* Both fill `features` and `linear` or `mixture` of a model whose process is there; `name` is the file's.
 * That the table has this structure is not checked: learners assume it, and their privacy does not depend
 * on it. */
TACIT_MUST_USE tacit_status tacit__table_features(tacit__span text, const char *name,
                                                  tacit__model *out, tacit_error *err);
TACIT_MUST_USE tacit_status tacit__table_kernels(tacit__span text, const char *name,
                                                 tacit__model *out, tacit_error *err);

#endif
