#include "harness.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static bool is_moment;

/* PROGRAM_bench without its directory, and without the end that all have. */
static void print_head(const char *program)
{
    char cpu[128] = "unknown", line[256];
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            (void)snprintf(cpu, sizeof cpu, "%s", strchr(line, ':') + 2);
            cpu[strcspn(cpu, "\n")] = '\0';
            break;
        }
    if (f != NULL)
        (void)fclose(f);
    (void)printf(
        "{\"bench\": \"%.*s\", \"version\": \"%s\", \"compiler\": \"%s\", \"cpu\": \"%s\"}\n",
        (int)strcspn(name, "_"), name, tacit_version(), __VERSION__, cpu);
    (void)fflush(stdout);
}

void bench_begin(int *argc, char **argv)
{
    int n = 1;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--moment") == 0)
            is_moment = true;
        else
            argv[n++] = argv[i];
    }
    *argc = n;
    print_head(argv[0]);
}

bool bench_is_moment(void)
{
    return is_moment;
}

uint64_t bench_times(uint64_t n)
{
    return !is_moment ? n : n < 1000 ? 1 : n / 1000;
}

double bench_seconds(double seconds)
{
    return is_moment ? seconds / 100 : seconds;
}

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_wall(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double bench_megabytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

void bench_check(tacit_status status, const tacit_error *err)
{
    if (status == TACIT_OK)
        return;
    (void)fprintf(stderr, "bench: %s: %s\n", tacit_status_name(status),
                  err != NULL ? err->message : "");
    exit(3);
}

void bench_die(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(3);
}

void bench_skip(const char *what)
{
    (void)fprintf(stderr, "bench: %s\n", what);
    exit(77);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double bench_quantile(double *values, size_t n, double share)
{
    if (n == 0)
        return (double)NAN;
    qsort(values, n, sizeof *values, ascending);
    return values[(size_t)((double)n * share)];
}

double bench_cpu_of(pid_t pid)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, system_time = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(text, sizeof text, file) != NULL) {
        const char *end = strrchr(text, ')');
        if (end == NULL || sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                                  &user, &system_time) != 2)
            user = system_time = 0;
    }
    if (file != NULL)
        (void)fclose(file);
    return (double)(user + system_time) / (double)sysconf(_SC_CLK_TCK);
}

double bench_memory_of(pid_t pid)
{
    char path[64];
    unsigned long pages = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        (void)fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}
