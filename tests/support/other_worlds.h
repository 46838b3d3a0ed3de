/* Tables of families that no reference world comes from, as files: what forecasts are judged on. */
#ifndef TACIT_TESTS_OTHER_WORLDS_H
#define TACIT_TESTS_OTHER_WORLDS_H

#include <stddef.h>

/* Writes NAME.csv, and NAME_initial.csv where people start in several states, into the directory. The parameters of
 * a world of kind table, for an experiment. */
const char *other_world(const char *name, const char *directory);

#endif
