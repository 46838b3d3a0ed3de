/* Temporary directories of tests. A program removes its own; one that was killed, or failed, leaves them behind,
 * and a later one removes them. */
#ifndef TACIT_TESTS_SCRATCH_H
#define TACIT_TESTS_SCRATCH_H

enum { SCRATCH_PATH = 200, SCRATCH_KEPT_S = 3600 };

/* Makes /tmp/PREFIXxxxxxx (a literal), which is this program's until it ends. The first call for a prefix removes what is
 * left of others (scratch_sweep). */
void scratch_make(const char *prefix, char path[SCRATCH_PATH]);
void scratch_remove(const char *path);

/* Removes the directories of this prefix whose programs have ended, with a PostgreSQL server that still runs in
 * one. What was last changed less than SCRATCH_KEPT_S ago stays, so that somebody can look at it. */
void scratch_sweep(const char *prefix);

#endif
