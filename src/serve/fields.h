/* What readers of service files share: keys that must be there, maps, counts, paths. */
#ifndef TACIT_SERVE_FIELDS_H
#define TACIT_SERVE_FIELDS_H

#include "lab/experiment.h"
#include "lab/yaml.h"

#define TACIT__COUNT(array) (sizeof(array) / sizeof *(array))

/* "'states' is missing, expected for example states: 6", at the line of the node. */
tacit_status tacit__field_missing(const tacit__yaml *yaml, const tacit__node *node, const char *key,
                                  const char *example, tacit_error *err);

/* It is a map with no other keys than these. */
TACIT_MUST_USE tacit_status tacit__field_map(const tacit__yaml *yaml, const tacit__node *node,
                                             const char *what, const char *const *names, size_t n,
                                             tacit_error *err);

/* A count from low to high; *out stays as it is if there is no such key. */
TACIT_MUST_USE tacit_status tacit__field_count(const tacit__yaml *yaml, const tacit__node *map,
                                               const char *key, uint64_t low, uint64_t high,
                                               uint64_t *out, tacit_error *err);

/* yes or no; *out stays as it is if there is no such key. */
TACIT_MUST_USE tacit_status tacit__field_flag(const tacit__yaml *yaml, const tacit__node *map,
                                              const char *key, bool *out, tacit_error *err);

#endif
