/* The experiment that a forecast plays: the very learner on reference worlds of the declared shape. */
#ifndef TACIT_LAB_REFERENCE_WORLDS_H
#define TACIT_LAB_REFERENCE_WORLDS_H

#include <tacit/lab.h>

#include "text/text.h"

/* The places of the agents in it. */
enum { TACIT__REFERENCE_LEARNER, TACIT__REFERENCE_CONSTANT, TACIT__REFERENCE_UNIFORM };

/* Returns whether the worlds are tables, in which rewards can be rare. */
bool tacit__reference_is_table(const tacit_agent_request *request);

/* Writes the experiment, as a file would have it: `n_worlds` worlds, `users` and this epsilon instead of
 * the request's, and rewards of this size where the worlds are tables. Seeds and families are fixed. */
void tacit__reference_write(const tacit_agent_request *request, size_t n_worlds, uint64_t users,
                            double epsilon, double rewards, tacit__text *out);

/* The same for one world, that of a file, and some runs. */
void tacit__reference_write_own(const tacit_agent_request *request, const tacit_world_entry *own,
                                uint64_t runs, tacit__text *out);

#endif
