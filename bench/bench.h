/* What the benches share: CPU time, and one JSON line for each figure. */
#ifndef TACIT_BENCH_H
#define TACIT_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/status.h>

/* CPU seconds of this process: the machine may be shared. */
static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void bench_check(tacit_status status, const tacit_error *err)
{
    if (status == TACIT_OK)
        return;
    fprintf(stderr, "bench: %s: %s\n", tacit_status_name(status), err != NULL ? err->message : "");
    exit(3);
}

/* {"bench":...,"compiler":...,"cpu":...}: the first line of every bench. */
static inline void bench_header(const char *name)
{
    char cpu[128] = "unknown", line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            snprintf(cpu, sizeof cpu, "%s", strchr(line, ':') + 2);
            cpu[strcspn(cpu, "\n")] = '\0';
            break;
        }
    if (f != NULL)
        fclose(f);
    printf("{\"bench\": \"%s\", \"version\": \"%s\", \"compiler\": \"%s\", \"cpu\": \"%s\"}\n",
           name, tacit_version(), __VERSION__, cpu);
}

#endif
