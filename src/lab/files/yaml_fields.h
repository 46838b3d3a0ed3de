/* Reads the tree of a file into objects, by tables of fields. Every message names the line, the key, the
 * value, and what was expected. */
#ifndef TACIT_LAB_YAML_FIELDS_H
#define TACIT_LAB_YAML_FIELDS_H

#include <tacit/setting.h>

#include "lab/files/entry_grid.h"
#include "text/fields.h"

/* Reads the node as the field's value and stores it in the object. */
TACIT_MUST_USE tacit_status tacit__node_read(const tacit__node *node, const tacit__field *field,
                                             void *object, tacit_error *err);

/* Reads a map into the object: what is there, and the defaults of the rest, except for fields that the
 * caller reads itself. Fails unless the node is a map with keys of the table only and all that are
 * required. `what` is the owner in messages: "an experiment has no key 'episode'". */
TACIT_MUST_USE tacit_status tacit__map_read(const tacit__node *map, const char *what,
                                            const tacit__field *fields, void *object,
                                            tacit_error *err);

/* The same for a map that also has settings of a kind, under a combination of its lists. */
TACIT_MUST_USE tacit_status tacit__map_read_some(const tacit__node *map, const tacit__grid *grid,
                                                 const char *what, const tacit__field *fields,
                                                 void *object, tacit_error *err);

/* Gets the settings: the scalars of the map whose keys are not in the table. They live as long as the
 * tree. */
TACIT_MUST_USE tacit_status tacit__map_settings(const tacit__node *map, const tacit__grid *grid,
                                                const tacit__field *fields,
                                                const tacit_setting **settings, size_t *n,
                                                tacit_error *err);

/* Fails at the first key that is neither in the table nor one of the parameters. */
TACIT_MUST_USE tacit_status tacit__map_check(const tacit__node *map, const char *what,
                                             const tacit__field *fields,
                                             const tacit_parameter *parameters, size_t n_parameters,
                                             tacit_error *err);

/* "a learner has no 'users', expected for example users: 100000", at the line of the node. */
tacit_status tacit__map_missing(const tacit__node *node, const char *what, const char *key,
                                const char *example, tacit_error *err);

#endif
