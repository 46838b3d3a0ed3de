/* Kinds of worlds that a program registers: tacit_world_register. */
#ifndef TACIT_WORLDS_CUSTOM_WORLDS_H
#define TACIT_WORLDS_CUSTOM_WORLDS_H

#include "worlds/kind.h"

enum { TACIT__MAX_CUSTOM_KINDS = 64 }; /* a stated choice */

size_t tacit__custom_kind_count(void);
/* Kind i, or NULL beyond the last. */
const tacit__kind *tacit__custom_kind(size_t i);

/* Creates the model of a kind of this list. */
TACIT_MUST_USE tacit_status tacit__custom_create(const tacit__kind *kind,
                                                 const tacit__values *values, tacit__model *out,
                                                 tacit_error *err);

#endif
