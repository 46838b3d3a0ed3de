/* What all benches share: clocks, memory, errors, and the JSON line that each begins with. */
#ifndef TACIT_BENCH_HARNESS_H
#define TACIT_BENCH_HARNESS_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <tacit/status.h>

/* CPU seconds of this process: the machine may be shared. */
double bench_now(void);
/* Seconds on the wall, for what waits on disks and other processes. */
double bench_wall(void);
/* The most memory that this process has had. */
double bench_megabytes(void);

/* Processor time of another process so far, in seconds, and its memory, in MB. */
double bench_cpu_of(pid_t pid);
double bench_memory_of(pid_t pid);

/* Ends the bench with a sentence; the first does so unless the status is OK. */
void bench_check(tacit_status status, const tacit_error *err);
__attribute__((noreturn)) void bench_die(const char *what);

/* {"bench":...,"compiler":...,"cpu":...}: the first line of every bench. */
void bench_header(const char *name);

/* The value that this share of the n values lies below (0.5: the median). Sorts them. */
double bench_quantile(double *values, size_t n, double share);

#endif
