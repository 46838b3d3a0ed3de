/* The space of a learner: what its users can meet, and what is publicly known about it. Docs:
 * docs/reference/service.md. */
#ifndef TACIT_LAB_CONFIG_SPACE_H
#define TACIT_LAB_CONFIG_SPACE_H

#include "lab/files/learner_config.h"
#include "lab/files/yaml_fields.h"

extern const tacit__field tacit__space_fields[];

/* From the value of `space`; files that it names are not opened yet. */
TACIT_MUST_USE tacit_status tacit__space_read(const tacit__node *map, tacit__learner_config *out,
                                              tacit_error *err);

/* Reads those files, and lets the request point to all that is known. */
TACIT_MUST_USE tacit_status tacit__space_open(tacit__learner_config *config, tacit_error *err);

#endif
