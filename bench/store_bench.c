/* The service's store: what proofs, owner and mark cost a transaction, beside the sync that it waits for; and how long a check of a
 * large store takes.
 *
 *     store_bench [USERS]     1,000,000 unless told; in a directory of its own, below the present one */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "store/service_store_inside.h"

enum { TRANSACTIONS = 300 };

static const uint8_t master[TACIT__KEY_BYTES] = "a bench's";

static void run(tacit__vault *v, const char *sql)
{
    tacit_error err = {0};
    bench_check(tacit__connection_run(v->db, sql, "bench", &err), &err);
}

/* As many users as the learner has accepted, each with a person. */
static void fill(tacit__vault *v, long users)
{
    tacit_error err = {0};
    char sql[600];
    bench_check(tacit__vault_begin(v, &err), &err);
    (void)snprintf(sql, sizeof sql,
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<%ld)"
                   " INSERT INTO seen SELECT 1, randomblob(16), NULL FROM n;"
                   "INSERT INTO person SELECT learner, randomblob(16), key FROM seen;"
                   "UPDATE learner SET accepted=%ld, users=%ld, shown=%ld",
                   users, users, users, users);
    run(v, sql);
    bench_check(tacit__vault_prove(v, 1, &err), &err);
    bench_check(tacit__vault_commit(v, &err), &err);
}

static double time_transactions(tacit__vault *v, bool synced)
{
    tacit_error err = {0};
    run(v, synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
    double start = bench_now();
    for (int i = 0; i < TRANSACTIONS; i++) {
        bench_check(tacit__vault_begin(v, &err), &err);
        run(v, "UPDATE learner SET version=version+1");
        bench_check(tacit__vault_prove(v, 1, &err), &err);
        bench_check(tacit__vault_commit(v, &err), &err);
    }
    return (bench_now() - start) / TRANSACTIONS;
}

static double time_bare(tacit__vault *v, bool synced)
{
    run(v, synced ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF");
    double start = bench_now();
    for (int i = 0; i < TRANSACTIONS; i++) {
        run(v, "BEGIN IMMEDIATE");
        run(v, "UPDATE learner SET version=version+1");
        run(v, "COMMIT");
    }
    return (bench_now() - start) / TRANSACTIONS;
}

int main(int argc, char **argv)
{
    const long users = argc > 1 ? atol(argv[1]) : 1000000;
    char directory[] = "store-bench-XXXXXX", path[64], command[64];
    tacit_error err = {0};
    tacit__vault *v = NULL;
    tacit__vault_learner learner = {.limit = 1000000000, .version = 1};
    tacit__vault_health health;
    if (mkdtemp(directory) == NULL)
        return 1;
    (void)snprintf(path, sizeof path, "%s/v.db", directory);
    bench_check(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &v, &err), &err);
    bench_check(tacit__vault_add_learner(v, "one", &learner, (const uint8_t *)"state", 5, &err),
                &err);
    const double bare = time_bare(v, false), proved = time_transactions(v, false);
    const double bare_synced = time_bare(v, true), proved_synced = time_transactions(v, true);
    (void)printf("{\"bench\":\"transaction\",\"bare_us\":%.1f,\"proved_us\":%.1f,"
                 "\"bare_synced_us\":%.1f,\"proved_synced_us\":%.1f}\n",
                 1e6 * bare, 1e6 * proved, 1e6 * bare_synced, 1e6 * proved_synced);
    fill(v, users);
    (void)tacit__vault_truncate_log(v);
    double start = bench_now();
    bench_check(tacit__vault_check(v, &health, &err), &err);
    const double check = bench_now() - start;
    tacit__vault_close(v);
    start = bench_now();
    bench_check(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &v, &err), &err);
    (void)printf("{\"bench\":\"check\",\"users\":%ld,\"bytes\":%llu,\"check_s\":%.2f,"
                 "\"open_s\":%.3f}\n",
                 users, (unsigned long long)health.bytes, check, bench_now() - start);
    tacit__vault_close(v);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command) == 0 ? 0 : 1;
}
