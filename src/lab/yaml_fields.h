/* Reads the tree of a file into values, by tables of fields. Every message names the line, the key, the
 * value, and what was expected. */
#ifndef TACIT_LAB_YAML_FIELDS_H
#define TACIT_LAB_YAML_FIELDS_H

#include "base/fields.h"
#include "lab/yaml.h"

/* Reads the node as the field's value and stores it in the object. */
TACIT_MUST_USE tacit_status tacit__node_read(const tacit__yaml *yaml, const tacit__node *node,
                                             const tacit__field *field, void *object,
                                             tacit_error *err);

/* Fails unless the node is a map with keys of the table only; `what` is the owner, as for
 * tacit__node_check_keys. */
TACIT_MUST_USE tacit_status tacit__map_check(const tacit__yaml *yaml, const tacit__node *node,
                                             const char *what, const tacit__field *fields,
                                             tacit_error *err);

/* Reads the fields that are present, except those that the caller reads itself. Fields with an example are
 * required. */
TACIT_MUST_USE tacit_status tacit__map_read(const tacit__yaml *yaml, const tacit__node *map,
                                            const tacit__field *fields, void *object,
                                            tacit_error *err);

/* "'states' is missing, expected for example states: 6", at the line of the node. */
tacit_status tacit__map_missing(const tacit__yaml *yaml, const tacit__node *node, const char *key,
                                const char *example, tacit_error *err);

#endif
