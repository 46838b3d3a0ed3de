/* From the tree of a file to values, by tables of fields. Every complaint names the line, the key, what stands there, and what was
 * expected. */
#ifndef TACIT_LAB_YAML_FIELDS_H
#define TACIT_LAB_YAML_FIELDS_H

#include "base/fields.h"
#include "lab/yaml.h"

/* What the node has, as the field's value, goes into the object. */
TACIT_MUST_USE tacit_status tacit__node_read(const tacit__yaml *yaml, const tacit__node *node,
                                             const tacit__field *field, void *object,
                                             tacit_error *err);

/* It is a map, with no other keys than the table's; `what` is the owner, as for tacit__node_check_keys. */
TACIT_MUST_USE tacit_status tacit__map_check(const tacit__yaml *yaml, const tacit__node *node,
                                             const char *what, const tacit__field *fields,
                                             tacit_error *err);

/* Reads the fields that are there; those of the reader's own are left out. Fields with an example must be there. */
TACIT_MUST_USE tacit_status tacit__map_read(const tacit__yaml *yaml, const tacit__node *map,
                                            const tacit__field *fields, void *object,
                                            tacit_error *err);

/* "'states' is missing, expected for example states: 6", at the line of the node. */
tacit_status tacit__map_missing(const tacit__yaml *yaml, const tacit__node *node, const char *key,
                                const char *example, tacit_error *err);

#endif
