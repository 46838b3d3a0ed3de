/* The log with which a learner is warmed up (warm_start): whether the learner supports one, and the users of
 * the log as the learner would count them. */
#ifndef TACIT_SERVE_LEARNER_WARM_LOG_H
#define TACIT_SERVE_LEARNER_WARM_LOG_H

#include <tacit/service.h>

#include "serve/config.h"
#include "worlds/user_log.h"

/* Whether the learner can be warmed up at all; true of one without a log. */
TACIT_MUST_USE tacit_status tacit__warm_log_check(const tacit__learner_config *config,
                                                  tacit_error *err);

typedef struct tacit__warm_log {
    const tacit__learner_config *config;
    tacit__text_file file;
    tacit__log_source source;
    tacit__user_log log;
    double *features;
    size_t row; /* the one that `next` gives */
} tacit__warm_log;

/* Reads the file. In any case it can be closed. *there is false, and nothing else fails, if there is no
 * such file and that may be. */
TACIT_MUST_USE tacit_status tacit__warm_log_open(tacit__warm_log *log,
                                                 const tacit__learner_config *config, bool *there,
                                                 tacit_error *err);
/* Wipes what was read. */
void tacit__warm_log_close(tacit__warm_log *log);

/* Goes to row `row`, counted from 0. */
TACIT_MUST_USE tacit_status tacit__warm_log_seek(tacit__warm_log *log, size_t row,
                                                 tacit_error *err);
/* The user of the row, whose features are in log->features; then it goes on. */
TACIT_MUST_USE tacit_status tacit__warm_log_next(tacit__warm_log *log, bool *more,
                                                 tacit__logged_user *user, tacit_error *err);

/* Reads all of it, from the first row. The learner is taken to have had no users. */
TACIT_MUST_USE tacit_status tacit__warm_log_count(tacit__warm_log *log, tacit_service_log *out,
                                                  tacit_error *err);

/* Of the file, and of what its columns mean. */
void tacit__warm_log_digest(const tacit__warm_log *log, const uint8_t *key, uint8_t *out);

#endif
