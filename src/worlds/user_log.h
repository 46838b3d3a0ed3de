/* A log of users: a CSV file with a header and one user in each line: the situation, the action and the
 * outcome. Every line is a user, so no line is left out: a line that does not fit is an error, whose
 * message names the line and the column, never the value. */
#ifndef TACIT_WORLDS_USER_LOG_H
#define TACIT_WORLDS_USER_LOG_H

#include "worlds/columns.h"
#include "worlds/csv.h"

enum { TACIT__MAX_LOGGED_ID = 256 }; /* bytes of a user's id */

/* Names of columns; NULL: there is none. */
typedef struct tacit__logged_columns {
    const char *state, *action, *reward, *propensity;
    const char *user;
} tacit__logged_columns;

/* The meaning of the columns. All of it must outlive the log. */
typedef struct tacit__log_source {
    tacit__span text;
    const char *name; /* of the file, for messages */
    const char *file; /* where the log was declared, for messages */
    size_t line;
    const tacit__columns_list *context; /* declared and arranged; NULL: states are numbered */
    bool intercept, unit;
    size_t n_states;
    const char *const *action_names; /* NULL: actions are numbered */
    size_t n_actions;
    double reward_low, reward_high;
    bool clip; /* what lies outside becomes the nearest that is inside; else it is an error */
    const char *missing;
    tacit__logged_columns columns;
} tacit__log_source;

typedef struct tacit__logged_user {
    size_t line;
    tacit__span id; /* size 0: there is no column for it */
    uint32_t state, action;
    double reward;
    double propensity; /* 0: not known */
} tacit__logged_user;

typedef struct tacit__user_log {
    tacit__log_source source;
    tacit__csv csv;
    size_t field[TACIT__MAX_COLUMNS]; /* of the context's columns */
    size_t state, action, reward, propensity, user;
} tacit__user_log;

/* Finds the columns; `log` reads on from the first user. */
TACIT_MUST_USE tacit_status tacit__user_log_open(tacit__user_log *log,
                                                 const tacit__log_source *source, tacit_error *err);
/* Returns whether the file has a column of this name; between `open` and `next`. */
bool tacit__user_log_has(const tacit__csv *header, const char *name);
/* The next one, and with a context their features; *more is false after the last. */
TACIT_MUST_USE tacit_status tacit__user_log_next(tacit__user_log *log, bool *more,
                                                 tacit__logged_user *user, double *features,
                                                 tacit_error *err);

#endif
