/* This function estimates how long a run will take, before it starts. */
#ifndef TACIT_LAB_ESTIMATE_H
#define TACIT_LAB_ESTIMATE_H

#include "lab/results.h"
#include "lab/runs/play.h"

/* Seconds on this many threads for the jobs that are not done. A lower end, by public numbers and a short
 * trial: the noise that the release plans declare, and the pace of a learner's first users. */
double tacit__lab_estimate(const tacit__lab_world *lab_worlds, const tacit_results *results,
                           size_t n_threads);

#endif
