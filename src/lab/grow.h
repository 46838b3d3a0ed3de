/* Experiments that grow: the results of a smaller experiment are also results of a larger one. */
#ifndef TACIT_LAB_GROW_H
#define TACIT_LAB_GROW_H

#include "lab/results.h"

/* Returns whether every job of `earlier` is a job of `larger` as well, with the same result. If not,
 * the first difference, as "the agent 'joint': epsilon is 1 there and 2 here", goes to `why`. Contents
 * of files are not compared. */
enum { TACIT__DIFFERENCE = 400 };
bool tacit__experiment_contains(const tacit_experiment *larger, const tacit_experiment *earlier,
                                char why[TACIT__DIFFERENCE]);

/* The world of `larger` that has the label of world number `world` of `earlier`, if it is the same world
 * and its people come by the same chance, whatever the seed; SIZE_MAX: there is none, and `why` says what
 * differs. */
size_t tacit__experiment_world_of(const tacit_experiment *larger, const tacit_experiment *earlier,
                                  size_t world, char why[TACIT__DIFFERENCE]);

/* Copies the finished jobs of results whose experiment the other one contains. Both have the same
 * points. */
void tacit__results_adopt(tacit_results *larger, const tacit_results *earlier);

#endif
