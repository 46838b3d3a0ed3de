/* The service's store: what a transaction costs beside a bare one of SQLite, which changes one row of a table
 * of its own with the same settings and has no proofs, no owner and no mark; and how long a large store takes
 * to fill, to check and to open.
 *
 * The store is used through its own functions only, so that a change of its tables changes nothing here.
 *
 *     store_bench [USERS]     1,000,000 unless told; in a directory of its own, below the present one */
#include "harness.h"
#include "store/db.h"
#include "store/vault/vault_maintenance.h"
#include "store_fill.h"

enum { TRANSACTIONS = 300 };

static const uint8_t master[TACIT__KEY_BYTES] = "a bench's";
static const char learner_name[] = "one";

static void run_bare(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        bench_die(sqlite3_errmsg(db));
}

static void pay_store(tacit__vault *v, tacit__vault_learner *learner)
{
    tacit_error err = {0};
    learner->version++;
    bench_check(tacit__vault_begin(v, &err), &err);
    bench_check(tacit__vault_save_shown(v, learner, NULL, 0, &err), &err);
    bench_check(tacit__vault_commit(v, &err), &err);
}

/* In turns, and the medians of both; the processor does not wait for the disk, the clock on the wall does. */
static void measure_transactions(tacit__vault *v, tacit__vault_learner *learner,
                                 const char *directory)
{
    static double cpu[2][TRANSACTIONS], wall[2][TRANSACTIONS];
    const size_t n = bench_times(TRANSACTIONS);
    char path[TACIT__DB_PATH];
    sqlite3 *db;
    (void)snprintf(path, sizeof path, "%s/bare.db", directory);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        bench_die("no bare database");
    run_bare(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                 "CREATE TABLE row(version INTEGER); INSERT INTO row VALUES(0)");
    for (size_t i = 0; i < n; i++)
        for (int ours = 0; ours < 2; ours++) {
            const double cpu_start = bench_now(), wall_start = bench_wall();
            if (ours)
                pay_store(v, learner);
            else
                run_bare(db, "BEGIN IMMEDIATE; UPDATE row SET version=version+1; COMMIT");
            cpu[ours][i] = bench_now() - cpu_start;
            wall[ours][i] = bench_wall() - wall_start;
        }
    (void)sqlite3_close(db);
    const double bare = bench_quantile(wall[0], n, 0.5), store = bench_quantile(wall[1], n, 0.5);
    (void)printf("{\"bench\":\"transaction\",\"bare_cpu_us\":%.1f,\"store_cpu_us\":%.1f,"
                 "\"bare_us\":%.1f,\"store_us\":%.1f,\"of_bare\":%.2f}\n",
                 1e6 * bench_quantile(cpu[0], n, 0.5), 1e6 * bench_quantile(cpu[1], n, 0.5),
                 1e6 * bare, 1e6 * store, store / bare);
    (void)fflush(stdout);
}

static void measure_users(tacit__vault *v, const char *path, uint64_t users)
{
    tacit_error err = {0};
    tacit__vault_health health;
    double start = bench_now();
    bench_fill_store(v, learner_name, users);
    const double fill = bench_now() - start;
    (void)tacit__vault_truncate_log(v);
    start = bench_now();
    bench_check(tacit__vault_check(v, &health, &err), &err);
    const double check = bench_now() - start;
    tacit__vault_close(v);
    start = bench_now();
    bench_check(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &v, &err), &err);
    (void)printf("{\"bench\":\"users\",\"users\":%llu,\"bytes\":%llu,\"fill_s\":%.2f,"
                 "\"check_s\":%.2f,\"open_s\":%.3f}\n",
                 (unsigned long long)users, (unsigned long long)health.bytes, fill, check,
                 bench_now() - start);
    tacit__vault_close(v);
}

int main(int argc, char **argv)
{
    char directory[] = "store-bench-XXXXXX", path[64], command[64];
    tacit_error err = {0};
    tacit__vault *v = NULL;
    tacit__vault_learner learner = {.limit = 1000000000, .version = 1};
    bench_begin(&argc, argv);
    const uint64_t users = bench_times(argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000);
    if (mkdtemp(directory) == NULL)
        bench_die("mkdtemp");
    (void)snprintf(path, sizeof path, "%s/v.db", directory);
    bench_check(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &v, &err), &err);
    bench_check(
        tacit__vault_add_learner(v, learner_name, &learner, (const uint8_t *)"state", 5, &err),
        &err);
    measure_transactions(v, &learner, directory);
    measure_users(v, path, users);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command) == 0 ? 0 : 1;
}
