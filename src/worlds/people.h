/* People of a file: a CSV with a header, one person in a line, as features and answers. */
#ifndef TACIT_WORLDS_PEOPLE_H
#define TACIT_WORLDS_PEOPLE_H

#include "worlds/columns.h"

/* Declarations have texts; those of what is not used are "". Either a label, or action, propensity and
 * reward. */
typedef struct tacit__people_source {
    tacit__span text;
    const char *name; /* of the file, for messages */
    const char *missing;
    bool intercept; /* a feature that is always 1 */
    bool unit;      /* features are scaled to length 1, instead of all by the same factor */
    tacit__declaration context, label, action, propensity, reward;
} tacit__people_source;

typedef struct tacit__people {
    size_t n, dimension, n_actions;
    double *features;            /* [n][dimension], at most 1 long */
    uint32_t *answer;            /* the right action, or the logged one */
    double *propensity, *reward; /* logged: in (0, 1] and [0, 1]; else NULL */
    double reward_low, reward_high;
    size_t skipped;    /* people without an answer */
    char scanned[200]; /* columns whose range or categories were found in the data, "" if none */
} tacit__people;

TACIT_MUST_USE tacit_status tacit__people_read(const tacit__people_source *source,
                                               tacit__people **out, tacit_error *err);
void tacit__people_destroy(tacit__people *people);

#endif
