/* Scores of steps: a public table of vectors for what can happen in a step, and sums of them over
 * the users of a batch. The planner makes the table, the curator adds by it, and the planner sees
 * the sums. */
#ifndef TACIT_BOARD_SCORE_SUMS_H
#define TACIT_BOARD_SCORE_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* The same at all steps that are scored. Integers on the lattice of step 2^-bits: what is added is
 * what the table says, without rounding.
 *
 * Where rewards are learned, a user adds at every step, also at the last, which has no score, the reward from
 * its middle in the cell of what they did: reward (2 Y - 2^10) for a reward of Y / 2^10. */
enum { TACIT__REWARD_BITS = 10 };
typedef struct tacit__score_table {
    size_t n_states, n_actions;
    size_t steps; /* that are scored, from the first one on; one more has a reward */
    size_t width; /* numbers of a score */
    int bits;
    int64_t reward;        /* lattice steps for 2^-11 of a reward; 0: rewards are not added */
    const int32_t *scores; /* [state][action][next state][width] */
} tacit__score_table;

/* Where the cells of rewards [steps + 1][state][action] begin, and with h = steps + 1 how many numbers there
 * are. */
static inline size_t tacit__score_table_rewards(const tacit__score_table *t, size_t h)
{
    return t->steps * t->width + (t->reward > 0 ? h * t->n_states * t->n_actions : 0);
}

/* Steps that users may be asked about: those that have a score or a reward. */
static inline size_t tacit__score_table_asked(const tacit__score_table *t)
{
    return t->steps + (t->reward > 0 ? 1 : 0);
}

/* A batch that is over: sums of what its users added, as laid out above, and [states] of a fixed number for
 * each first state. Where users answer about some of their steps, `asked` [step] says how many answered about
 * each, of whom its sums are; first states are those of the first. NULL: all. */
typedef struct tacit__score_sums {
    uint64_t users;
    const double *sums, *starts, *asked;
} tacit__score_sums;

/* What is known of such sums beforehand: what a user adds for the first state, and the variance of
 * each number's noise, sum + user for each user of the batch; 0: exact. */
typedef struct tacit__score_noise {
    double start, sum, user;
    double fade; /* this share of a number's noise is in the next batch too, with the other sign */
    /* Answers of a user, about as many steps, which are this share of all. Numbers that are made of them have
     * the variance of what happened over `truth`, and `spread` times the variance that they have if every
     * answer is as likely. 0: there are no answers. */
    size_t each;
    double share, truth, spread;
} tacit__score_noise;

#endif
