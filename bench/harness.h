/* What all benches share: how they begin, how much they measure, clocks, memory and errors. */
#ifndef TACIT_BENCH_HARNESS_H
#define TACIT_BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <tacit/status.h>

/* Begins the bench: takes `--moment` out of the arguments, and prints the first line of every bench, which names the program and its
 * surroundings: {"bench":...,"compiler":...,"cpu":...}.
 *
 * With `--moment` everything is done, but as little of it as possible: a test runs every bench in this way, so that none of them rots
 * (tests/bench). The figures mean nothing then. */
void bench_begin(int *argc, char **argv);
/* How often, or on how much, something is measured: n times; with `--moment` a thousandth of that, at least once. */
uint64_t bench_times(uint64_t n);
/* The same for seconds: a hundredth. */
double bench_seconds(double seconds);
bool bench_is_moment(void);

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
/* The same where something is missing on this machine: the exit status is 77, as tests have it. */
__attribute__((noreturn)) void bench_skip(const char *what);

/* The value that this share of the n values lies below (0.5: the median). Sorts them. */
double bench_quantile(double *values, size_t n, double share);

#endif
