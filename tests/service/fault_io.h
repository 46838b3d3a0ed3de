/* Disks that fail, and processes that die while they write: the system's calls, counted. Linked into a test program, or preloaded
 * into the command (then the environment arms it: TACIT_FAULT_KILL, TACIT_FAULT_FULL, TACIT_FAULT_PATH, TACIT_FAULT_CLOCK). */
#ifndef TACIT_TESTS_FAULT_IO_H
#define TACIT_TESTS_FAULT_IO_H

#include <stdint.h>

/* Calls that change a file whose path contains `path` are counted from now on. At call number `kill_at` (from 1) the process dies by
 * SIGKILL, just before or, with `after`, just after it; from call number `full_at` on the disk is full. 0: never. */
void fault_io_arm(const char *path, uint64_t kill_at, int after, uint64_t full_at);

/* Calls counted so far; of these, those that wait until the data are on the disk. */
uint64_t fault_io_count(void);
uint64_t fault_io_syncs(void);

#endif
