/* Lists of values in an entry, and the entries that they stand for. */
#ifndef TACIT_LAB_ENTRY_GRID_H
#define TACIT_LAB_ENTRY_GRID_H

#include "lab/files/yaml.h"
#include "text/fields.h"

/* Stated choices: more axes than a person can keep track of, and labels that still fit into a table. */
enum { TACIT__MAX_AXES = 16, TACIT__MAX_LABEL = 80, TACIT__MAX_GRID_LABEL = 160 };

/* One combination of values, the first of them to begin with. */
typedef struct tacit__grid {
    size_t n_axes;
    const tacit__node *axis[TACIT__MAX_AXES]; /* the lists, in the file's order */
    const tacit__node *at[TACIT__MAX_AXES];   /* the values chosen */
    uint64_t size;                            /* combinations; UINT64_MAX: at least that many */
} tacit__grid;

/* Finds the lists of a map whose keys are not in the table, and of maps in it that the table describes. An
 * empty list, and one of anything but plain values, is refused. */
TACIT_MUST_USE tacit_status tacit__grid_open(const tacit__node *map, const tacit__field *fields,
                                             tacit__grid *grid, tacit_error *err);

/* The next combination, the last list changing fastest; false after the last one. */
bool tacit__grid_next(tacit__grid *grid);

/* Returns what the combination makes of a node: the chosen value of a list, else the node itself. */
const tacit__node *tacit__grid_at(const tacit__grid *grid, const tacit__node *node);

/* `label`, and for each list its key and the chosen value: "joint epsilon 0.1". Lives as long as the
 * tree. */
TACIT_MUST_USE tacit_status tacit__grid_label(const tacit__grid *grid, const char *label,
                                              const char **out, tacit_error *err);

#endif
