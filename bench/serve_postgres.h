/* The service on a real PostgreSQL, beside pgbench. */
#ifndef TACIT_BENCH_SERVE_POSTGRES_H
#define TACIT_BENCH_SERVE_POSTGRES_H

#include <stdbool.h>

/* Prints JSON lines; the exit status. `seconds`: of each measurement. */
int bench_postgres(double seconds, bool only_million);

#endif
