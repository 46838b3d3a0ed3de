/* These functions find out what a log says about another policy than the one that wrote it: off-policy
 * estimates of its mean reward. */
#ifndef TACIT_LAB_LOG_VALUE_H
#define TACIT_LAB_LOG_VALUE_H

#include <tacit/lab.h>

typedef struct tacit__log_value tacit__log_value;

/* One line of a log; the reward in [0, 1]. */
typedef struct tacit__log_line {
    const double *features; /* [dimension] */
    uint32_t action;        /* that was taken */
    double propensity, reward;
} tacit__log_line;

TACIT_MUST_USE tacit_status tacit__log_value_create(size_t dimension, size_t n_actions,
                                                    tacit__log_value **out, tacit_error *err);
void tacit__log_value_destroy(tacit__log_value *value);

/* First every line in its order, then tacit__log_value_choose: the constant action with the largest
 * estimate is what policies are compared with. Then every line again, with the action that the policy
 * takes there (n_actions: each with equal probability). */
void tacit__log_value_survey(tacit__log_value *value, const tacit__log_line *line);
uint32_t tacit__log_value_choose(tacit__log_value *value);
void tacit__log_value_add(tacit__log_value *value, const tacit__log_line *line, uint32_t action);

/* The estimates; a reward of x is low + unit x. */
void tacit__log_value_finish(const tacit__log_value *value, double low, double unit,
                             tacit_estimate *out);

#endif
