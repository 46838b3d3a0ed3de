/* Local privacy for scores of a table: a user answers about one step, or a few, by randomized response. An
 * answer is which row of the table the step was, and what it paid if rewards are learned; the server adds up
 * what answers stand for. docs/why/posterior-mixture.md#local-privacy */
#ifndef TACIT_CONTRIBUTE_SCORE_ANSWERS_H
#define TACIT_CONTRIBUTE_SCORE_ANSWERS_H

#include "contribute/scores.h"

/* With `each` answers of a user, at most as many as there are steps to ask about; people come `visits` times,
 * at most. False: an answer would tell nothing. */
TACIT_MUST_USE bool tacit__score_answers_find(const tacit__score_table *table, double epsilon,
                                              double visits, size_t each, tacit__score_noise *out);

/* What passes the door, if such answers can be found; the caller adds `releases`, `visits` and `apart`. */
tacit__fresh_spec tacit__score_answers_spec(const tacit__score_table *table, double epsilon,
                                            double visits, size_t each);

typedef struct tacit__score_answers tacit__score_answers;

/* The table must outlive the answers. */
TACIT_MUST_USE tacit_status tacit__score_answers_create(const tacit__score_table *table,
                                                        double epsilon, double visits, size_t each,
                                                        tacit__score_answers **out);

/* The functions of such answers. */
extern const tacit__responder tacit__score_responder;

/* What the answers of the batch that was shown last say, in place of the sums of numbers: scores and rewards,
 * first states, and how many were asked about each step. */
const double *tacit__score_answers_shown(const tacit__score_answers *answers);

#endif
