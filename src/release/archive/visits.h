/* What LSVI needs to remember of users where states are numbered: how often each (step, state,
 * action) was followed by each state, and sums of rewards. The response of any value function is
 * linear in these, so its cost does not grow with the number of users. All numbers are integers in
 * doubles, below 2^53: sums are exact in any order. */
#ifndef TACIT_RELEASE_VISITS_H
#define TACIT_RELEASE_VISITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "base/bytes.h"

typedef struct tacit__visits tacit__visits;

/* `pooled`: all steps are counted as one, step 0. `dense_cells`: most cells (step, state, action, next state)
 * that are kept as a table; above, as lists. */
TACIT_MUST_USE tacit_status tacit__visits_create(size_t n_states, size_t n_actions, size_t horizon,
                                                 bool pooled, double dense_cells,
                                                 tacit__visits **out);
void tacit__visits_destroy(tacit__visits *visits);

/* states[H + 1], actions[H], in range; rewards[H] in lattice steps. On failure (memory) nothing is
 * counted. */
TACIT_MUST_USE tacit_status tacit__visits_add(tacit__visits *visits, const uint32_t *states,
                                              const uint32_t *actions, const double *rewards);

/* sums[S A]: for each pair at step h the sum over its visits of reward + next[s']; `next` [S] in
 * lattice steps, NULL: 0. */
void tacit__visits_sums(const tacit__visits *visits, size_t h, const double *next, double *sums);

/* How often each pair was visited at step h, [S A]. */
const double *tacit__visits_counts(const tacit__visits *visits, size_t h);

/* As part of a saved state (base/bytes.h): loaded into fresh visits of the same shape, those of this many
 * users, whose rewards at step h were at most most[h] each. */
void tacit__visits_fields(tacit__visits *visits, uint64_t users, const double *most,
                          tacit__saved *s);

#endif
