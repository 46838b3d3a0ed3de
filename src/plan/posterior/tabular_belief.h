/* A model of a table from weighted counts that knows its noise: for each row, (table, state,
 * action), how often it was visited, where it leads and what it pays, and how far off the value
 * of what follows may be. */
#ifndef TACIT_PLAN_POSTERIOR_TABULAR_BELIEF_H
#define TACIT_PLAN_POSTERIOR_TABULAR_BELIEF_H

#include <tacit/status.h>

#include "board/weighted_counts.h"

typedef struct tacit__tabular_belief {
    tacit__space space;
    size_t rows;
    /* [rows + 1]: a row's next states are the entries first[row] .. first[row + 1] - 1, */
    size_t *first;
    uint32_t *next;  /* [entries]: ascending, */
    double *chance;  /* [entries]: with these chances, */
    double *rest;    /* [rows]: and what is left of 1 is spread over all states alike */
    double *visits;  /* [rows]: n, */
    double *sampled; /* [rows]: and the visits by whose chance its estimates are off */
    double *reward;  /* [rows]: in [0, 1] */
    double *starts;  /* [states]: chances of the first state */
    double *scratch; /* [2 states]: of a projection, and the moves of all actions of a state */
    bool scarce;     /* rows are many for the users: rewards are drawn to 1/2 */
    double rewards_precision;                           /* by this much, if so */
    double visits_stddev, moves_stddev, rewards_stddev; /* of the estimates; 0: exact */
} tacit__tabular_belief;

/* Values of the next step, and what all rows need to know of them. */
typedef struct tacit__next_values {
    const double *at; /* [states] */
    double mean;      /* over the states, each alike, */
    double spread;    /* and the sum of squared distances from it */
} tacit__next_values;

/* The expectation of the next value after a row, and its error: the standard deviation that the
 * privacy noise gives the row's Q, and a statistical one. */
typedef struct tacit__row_outlook {
    double mean, noise, chance;
} tacit__row_outlook;

TACIT_MUST_USE tacit_status tacit__tabular_belief_create(tacit__space space,
                                                         tacit__tabular_belief **out);
void tacit__tabular_belief_destroy(tacit__tabular_belief *model);

void tacit__tabular_belief_estimate(tacit__tabular_belief *model,
                                    const tacit__weighted_counts *counts);

tacit__next_values tacit__next_values_of(const double *values, size_t n_states);

tacit__row_outlook tacit__tabular_belief_outlook(const tacit__tabular_belief *model, size_t row,
                                                 const tacit__next_values *values);

/* Without noise: mean and standard deviation of a row's Q, r + P V, by its visits alone. */
typedef struct tacit__row_law {
    double mean, stddev;
} tacit__row_law;

tacit__row_law tacit__tabular_belief_law(const tacit__tabular_belief *model, size_t row,
                                         const tacit__next_values *values);

#endif
