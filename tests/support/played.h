/* Batches of users for posteriors of rare releases (plan/posterior/played_batch.h), and where their users were by walking through all
 * trajectories. */
#ifndef TACIT_TESTS_PLAYED_H
#define TACIT_TESTS_PLAYED_H

#include "plan/posterior/played_batch.h"

enum { PLAYED_PLANS = 3, PLAYED_MOVES = 64, PLAYED_NUMBERS = 64, PLAYED_ASKED = 8 };

typedef struct played {
    tacit__played_batch batch; /* of what lies below */
    uint32_t plans[PLAYED_PLANS * PLAYED_MOVES];
    uint64_t players[PLAYED_PLANS];
    double sums
        [PLAYED_NUMBERS]; /* first those of the steps, then those of first states, 0.4 for a user */
    double asked[PLAYED_ASKED];
} played;

/* Random plans in the walk's space, of which the second has no users; random sums of `numbers` numbers. */
void played_draw(played *p, const tacit__walk *walk, size_t numbers, uint64_t users,
                 double variance, uint64_t *seed);

/* Adds to visits[step][pair] what tacit__walk_visits makes of the batch. */
void played_walk(const tacit__played_batch *b, const tacit__walk *walk, double *visits);

/* The users answered about one of these steps each, at most PLAYED_ASKED; nobody about the second. */
void played_ask(played *p, size_t steps);

/* Of this variance in each number of a sum, and in each user's report. */
#define NOISE(in_sum, in_report) (&(const tacit__score_noise){.sum = (in_sum), .user = (in_report)})

/* The rule for the first batch is the smallest n >= 4 with n^2 steps f2 / (V + n (c2 + v)) >= prior, for noise of the variance V in
 * the sum and v in each report. */
void assert_halves_the_prior(uint64_t (*rule)(const void *model, const tacit__score_noise *noise,
                                              size_t steps, double most),
                             const void *model, double f2, double c2, double prior);

#endif
