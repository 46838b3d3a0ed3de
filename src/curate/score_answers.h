/* Local privacy for scores of a table: a user answers about one step, or a few, by randomized response. An
 * answer is which row of the table the step was, and what it paid if rewards are learned; the server adds up
 * what answers stand for. docs/why/posterior-mixture.md#local-privacy */
#ifndef TACIT_CURATE_SCORE_ANSWERS_H
#define TACIT_CURATE_SCORE_ANSWERS_H

#include <tacit/billboard.h>

#include "base/bytes.h"
#include "curate/score_curator.h"
#include "sums/once.h"

/* With `each` answers of a user, at most as many as there are steps to ask about; people come `visits` times,
 * at most. False: an answer would tell nothing. */
TACIT_MUST_USE bool tacit__score_answers_find(const tacit__score_table *table, double epsilon,
                                              double visits, size_t each, tacit__score_noise *out);

/* What passes the door, if such answers can be found; the caller adds `releases`, `visits` and `apart`. */
tacit__once_spec tacit__score_answers_spec(const tacit__score_table *table, double epsilon,
                                           double visits, size_t each);

typedef struct tacit__score_answers tacit__score_answers;

/* `once` is the door; it and the table must outlive the answers. */
TACIT_MUST_USE tacit_status tacit__score_answers_create(const tacit__score_table *table,
                                                        double epsilon, double visits, size_t each,
                                                        tacit_noise *root, tacit__once *once,
                                                        tacit__score_answers **out);
void tacit__score_answers_destroy(tacit__score_answers *answers);

/* A user's report, which is all that leaves a device: [tacit__score_answers_bytes]. */
size_t tacit__score_answers_bytes(const tacit__score_answers *answers);
TACIT_MUST_USE tacit_status tacit__score_answers_give(tacit__score_answers *answers,
                                                      const tacit_trajectory *user, void *bytes,
                                                      tacit_error *err);

/* Whether a device can have made it (its size is right), and adding it, if so: to the sums of scores and
 * rewards, of first states, and of how many were asked about each step. */
TACIT_MUST_USE tacit_status tacit__score_answers_check(const tacit__score_answers *answers,
                                                       const void *bytes, tacit_error *err);
void tacit__score_answers_add(const tacit__score_answers *answers, const void *bytes, double *sums,
                              double *starts, double *asked);

/* How much one report adds to a number at most. */
double tacit__score_answers_largest(const tacit__score_answers *answers);

/* As part of a saved state (base/bytes.h): the public chance. */
void tacit__score_answers_fields(tacit__score_answers *answers, tacit__saved *s);

#endif
