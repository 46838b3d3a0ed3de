/* The service on a real PostgreSQL, beside pgbench. */
#ifndef TACIT_BENCH_SERVE_POSTGRES_H
#define TACIT_BENCH_SERVE_POSTGRES_H

/* Prints JSON lines; the exit status. `seconds`: of each measurement. */
int bench_postgres(double seconds);

#endif
