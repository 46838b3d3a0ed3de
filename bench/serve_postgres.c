/* The service on PostgreSQL: a real server in a directory of its own, started as the tests start theirs.
 *
 * Observations and pgbench, which inserts one row in each transaction into the same server with the same
 * settings, take turns of two seconds; each ratio is the median over the turns. `of_pgbench` is the ratio to
 * pgbench with as many connections as there are front ends, since a front end writes through one connection;
 * `of_pgbench_many` that to pgbench with PGBENCH_CLIENTS connections, whose commits the server groups.
 *
 * A front end brings the users who wait in one transaction, so the rate depends on how many there are. In the
 * rows `many users at once` each client sends several users in a request, and some hundreds or thousands
 * wait: these are the rows of throughput. In the rows `one user in a request` each user takes two requests,
 * decide and observe, and at most as many users wait as there are clients: with few clients they show the
 * latency, and with more of them what HTTP costs. The clients decide in their turns, too: a rate is that of
 * users who were decided for and observed.
 *
 * Beside the rates stands what does not depend on what else runs: the processor time of the clients, of the
 * service (decide, observe and learning) and of the database for one user, that of the database for one of
 * pgbench's rows, and how many users a transaction had. */
#include "serve_postgres.h"

#include "harness.h"

#ifndef TACIT_HAS_POSTGRES
int bench_postgres(double seconds, bool only_million)
{
    (void)seconds, (void)only_million;
    bench_die("built without PostgreSQL or without cmocka");
}
#else
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service_load.h"
#include "store/vault/vault_inside.h"
#include "support/cluster.h"

enum { FRONT_ENDS = 2, PGBENCH_CLIENTS = 64, TAKEOVERS = 9, TURN_S = 2, MILLION = 1000000 };

static const char learners[] =
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 50000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";
static const char decide[] = "{\"learner\":\"arms\",\"state\":1}";

static cluster db;
static load_server ends[FRONT_ENDS];

/* Front ends of a database; the first makes the store. */
static void open_ends(const char *database)
{
    char uri[300], yaml[2048], command[512];
    cluster_database(&db, database);
    cluster_uri(&db, database, uri, sizeof uri);
    (void)snprintf(yaml, sizeof yaml, "listen: 127.0.0.1:0\nstore: '%s'\n%s", uri, learners);
    for (int i = 0; i < FRONT_ENDS; i++)
        load_server_open(&ends[i], yaml);
    load_server_tool(&ends[0], "store init service.yaml", NULL, 0);
    load_server_make_token(&ends[0]);
    for (int i = 1; i < FRONT_ENDS; i++) {
        (void)snprintf(command, sizeof command, "cp -p '%s/tacit.key' '%s'", ends[0].directory,
                       ends[i].directory);
        if (system(command) != 0)
            bench_die("no key");
        memcpy(ends[i].token, ends[0].token, sizeof ends[i].token);
    }
}

static void close_ends(void)
{
    for (int i = 0; i < FRONT_ENDS; i++)
        load_server_remove(&ends[i]);
}

static bool learns(const load_server *s)
{
    char body[4096] = "";
    return load_server_get(s, "/v1/learners", body, sizeof body) == 200 &&
           strstr(body, "\"learns_here\":true") != NULL;
}

/* The number of the one that learns. */
static int await_leader(int n)
{
    for (int i = 0; i < 60000; i++) {
        if (learns(&ends[i % n]))
            return i % n;
        (void)usleep(2000);
    }
    bench_die("nobody learns");
}

/* --- The database's processor time ---------------------------------------------------------------- */

/* utime, stime, and those of children that have ended. */
static double read_times(const char *pid, int *parent)
{
    char path[300], text[1024] = "";
    unsigned long t[4] = {0};
    (void)snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    const char *end =
        file != NULL && fgets(text, sizeof text, file) != NULL ? strrchr(text, ')') : NULL;
    if (file != NULL)
        (void)fclose(file);
    if (end == NULL || sscanf(end + 2, "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
                              parent, &t[0], &t[1], &t[2], &t[3]) != 5)
        return 0;
    return (double)(t[0] + t[1] + t[2] + t[3]) / (double)sysconf(_SC_CLK_TCK);
}

/* Of the server and all its processes. */
static double database_cpu(void)
{
    char own[16];
    int parent = 0;
    (void)snprintf(own, sizeof own, "%d", (int)db.pid);
    double sum = read_times(own, &parent);
    DIR *all = opendir("/proc");
    for (struct dirent *e; all != NULL && (e = readdir(all)) != NULL;) {
        const double times =
            e->d_name[0] >= '0' && e->d_name[0] <= '9' ? read_times(e->d_name, &parent) : 0;
        sum += times > 0 && parent == db.pid ? times : 0;
    }
    if (all != NULL)
        (void)closedir(all);
    return sum;
}

/* --- Turns ---------------------------------------------------------------------------------------- */

/* One insert a transaction, for as long as -T or -t in `length` says. *cpu: seconds of the database. */
static double pgbench(int clients, const char *length, double *done, double *cpu)
{
    char command[600], line[256];
    double rate = (double)NAN;
    const double before = database_cpu();
    (void)snprintf(command, sizeof command,
                   "'%s/pgbench' -h '%s' -p %u -U postgres -n -M prepared -c %d -j 2 %s -f "
                   "'%s/one.sql' postgres",
                   TACIT_POSTGRES_BIN, db.directory, db.port, clients, length, ends[0].directory);
    FILE *pipe = popen(command, "r");
    while (pipe != NULL && fgets(line, sizeof line, pipe) != NULL) {
        if (strncmp(line, "tps = ", 6) == 0)
            rate = strtod(line + 6, NULL);
        if (strncmp(line, "number of transactions actually processed: ", 43) == 0)
            *done = strtod(line + 43, NULL);
    }
    if (pipe == NULL || pclose(pipe) != 0 || !isfinite(rate) || !(*done > 0))
        bench_die("pgbench");
    *cpu = database_cpu() - before;
    return rate;
}

/* Its rate. The time in which it connects belongs to the three seconds, but not to the rate. *cpu_us: of the
 * database for one row, without what the sessions cost. */
static double run_pgbench(int clients, double *cpu_us)
{
    double sessions, done, cpu, few;
    (void)pgbench(clients, "-t 1", &few, &sessions);
    const double rate = pgbench(clients, bench_is_moment() ? "-t 2" : "-T 3", &done, &cpu);
    *cpu_us = 1e6 * fmax(cpu - sessions, 0) / fmax(done - few, 1);
    return rate;
}

/* A table with rows like those that a user leaves. */
static void make_pgbench_table(void)
{
    if (!cluster_sql(&db, "postgres",
                     "CREATE TABLE one(learner bigint, key bytea, data bytea,"
                     " PRIMARY KEY(learner, key))",
                     NULL, 0))
        bench_die("no table for pgbench");
}

static void write_pgbench_script(void)
{
    load_server_write(&ends[0], "one.sql",
                      "INSERT INTO one VALUES(1, uuid_send(gen_random_uuid()),"
                      " decode(repeat('5a', 96), 'hex'));\n");
}

/* Transactions of a front end since it began. */
static double count_commits(const load_server *s)
{
    static const char name[] = "\ntacit_store_commits_total ";
    static char text[1 << 16];
    if (load_server_get(s, "/metrics", text, sizeof text) != 200 || strstr(text, name) == NULL)
        bench_die("no metrics");
    return strtod(strstr(text, name) + sizeof name - 1, NULL);
}

typedef struct row {
    const char *name;
    int n_ends, clients, batch;
} row;

/* Users by so many front ends, `batch` in a request, beside pgbench. */
static void bench_observe(const row *r, double seconds)
{
    const int n_ends = r->n_ends;
    enum { MOST = LOAD_MOST_TURNS };
    static double rate[MOST], p50[MOST], p99[MOST], of_many[MOST], of_few[MOST], many[MOST],
        few[MOST], cpu[MOST], row_cpu[MOST], server_cpu[MOST], client_cpu[MOST], together[MOST];
    const int n = seconds / TURN_S < MOST ? (int)ceil(seconds / TURN_S) : MOST;
    for (int i = 0; i < n; i++) {
        load_crowd c = {.play = load_observe,
                        .servers = {&ends[0], &ends[1]},
                        .n_servers = n_ends,
                        .clients = r->clients,
                        .decide = decide,
                        .batch = r->batch};
        double ignored = 0, own = 0, commits = 0;
        for (int k = 0; k < n_ends; k++) {
            own -= bench_cpu_of(ends[k].pid);
            commits -= count_commits(&ends[k]);
        }
        const double before = database_cpu(), client = bench_cpu_of(getpid());
        const double done = (double)load_crowd_run(&c, bench_seconds(TURN_S));
        client_cpu[i] = 1e6 * (bench_cpu_of(getpid()) - client) / done;
        cpu[i] = 1e6 * (database_cpu() - before) / done;
        for (int k = 0; k < n_ends; k++) {
            own += bench_cpu_of(ends[k].pid);
            commits += count_commits(&ends[k]);
        }
        together[i] = done / fmax(commits, 1);
        server_cpu[i] = 1e6 * own / done;
        rate[i] = c.rate;
        p50[i] = c.p50_ms;
        p99[i] = c.p99_ms;
        many[i] = run_pgbench(PGBENCH_CLIENTS, &row_cpu[i]);
        few[i] = run_pgbench(n_ends, &ignored);
        of_many[i] = rate[i] / many[i];
        of_few[i] = rate[i] / few[i];
    }
    const size_t m = (size_t)n;
    (void)printf("{\"bench\":\"%s\",\"front_ends\":%d,\"clients\":%d,\"users_in_a_request\":%d,"
                 "\"per_second\":%.0f,\"p50_ms\":%.1f,\"p99_ms\":%.1f,"
                 "\"users_in_a_transaction\":%.0f,\"client_cpu_us\":%.0f,\"server_cpu_us\":%.0f,"
                 "\"database_cpu_us\":%.0f,\"pgbench_connections\":%d,"
                 "\"pgbench_per_second\":%.0f,\"of_pgbench\":%.2f,\"pgbench_many_connections\":%d,"
                 "\"pgbench_many_per_second\":%.0f,\"of_pgbench_many\":%.2f,"
                 "\"pgbench_many_database_cpu_us\":%.0f}\n",
                 r->name, n_ends, r->clients, r->batch, bench_quantile(rate, m, 0.5),
                 bench_quantile(p50, m, 0.5), bench_quantile(p99, m, 0.5),
                 bench_quantile(together, m, 0.5), bench_quantile(client_cpu, m, 0.5),
                 bench_quantile(server_cpu, m, 0.5), bench_quantile(cpu, m, 0.5), n_ends,
                 bench_quantile(few, m, 0.5), bench_quantile(of_few, m, 0.5), PGBENCH_CLIENTS,
                 bench_quantile(many, m, 0.5), bench_quantile(of_many, m, 0.5),
                 bench_quantile(row_cpu, m, 0.5));
    (void)fflush(stdout);
}

/* decide with a table, by a front end and by a service whose store is a file. */
static void bench_decide(double seconds)
{
    static load_turns remote, local;
    static double ratio[LOAD_MOST_TURNS];
    char yaml[1024], address[200], local_address[200];
    load_server file;
    const int n = seconds < LOAD_MOST_TURNS ? (int)ceil(seconds) : LOAD_MOST_TURNS;
    (void)snprintf(yaml, sizeof yaml, "listen: 127.0.0.1:0\nstore: service.db\n%s", learners);
    load_server_open(&file, yaml);
    load_server_make_token(&file);
    load_server_start(&file);
    (void)snprintf(address, sizeof address, "%s/v1/decide", ends[0].url);
    (void)snprintf(local_address, sizeof local_address, "%s/v1/decide", file.url);
    for (int i = 0; i < n; i++) {
        load_take_turn(&local, i, &file, local_address, load_json(decide));
        load_take_turn(&remote, i, &ends[0], address, load_json(decide));
        ratio[i] = remote.rate[i] / local.rate[i];
    }
    const size_t m = (size_t)n;
    (void)printf("{\"bench\":\"decide, table, postgresql\",\"per_second\":%.0f,\"p99_ms\":%.2f,"
                 "\"server_cpu_us\":%.1f,\"sqlite_per_second\":%.0f,\"sqlite_cpu_us\":%.1f,"
                 "\"of_sqlite\":%.2f}\n",
                 bench_quantile(remote.rate, m, 0.5), bench_quantile(remote.p99_ms, m, 0.5),
                 bench_quantile(remote.cpu_us, m, 0.5), bench_quantile(local.rate, m, 0.5),
                 bench_quantile(local.cpu_us, m, 0.5), bench_quantile(ratio, m, 0.5));
    (void)fflush(stdout);
    load_server_remove(&file);
}

/* From kill -9 of the process that learns until another one says that it does. */
static void bench_takeover(void)
{
    const size_t n = bench_times(TAKEOVERS);
    double took[TAKEOVERS];
    for (size_t i = 0; i < n; i++) {
        const int leader = await_leader(FRONT_ENDS);
        const double start = bench_wall();
        load_server_stop(&ends[leader], SIGKILL);
        while (!learns(&ends[!leader]))
            if (bench_wall() > start + 60)
                bench_die("nobody takes over");
        took[i] = bench_wall() - start;
        load_server_start(&ends[leader]);
    }
    const double median = bench_quantile(took, n, 0.5);
    (void)printf("{\"bench\":\"takeover after kill -9\",\"rounds\":%zu,\"median_s\":%.2f,"
                 "\"most_s\":%.2f,\"limit_s\":5}\n",
                 n, median, took[n - 1]);
    (void)fflush(stdout);
}

/* Makes that many people in the store by SQL, because adding them one by one takes many minutes here; the
 * learner's row is proved again. What they did is not learned. */
static void make_people(const char *database, uint64_t n)
{
    char people[256];
    (void)snprintf(people, sizeof people,
                   "INSERT INTO tacit.seen(learner, key) SELECT 1, decode(lpad(to_hex(i), 32, '0'),"
                   " 'hex') FROM generate_series(1, %llu) AS i",
                   (unsigned long long)n);
    const char *const steps[] = {
        people, "INSERT INTO tacit.person(learner, hash, key) SELECT 1, key, key FROM tacit.seen",
        "UPDATE tacit.learner SET (accepted, users, taken, shown) ="
        " (SELECT c, c, c, c FROM (SELECT count(*) AS c FROM tacit.seen) AS all_of_them)",
        "ANALYZE tacit.seen", "ANALYZE tacit.person"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!cluster_sql(&db, database, steps[i], NULL, 0))
            bench_die("no people");
}

static void fill_database(const char *database)
{
    char uri[300], mark[128], path[128];
    uint8_t key[TACIT__KEY_BYTES];
    tacit__vault *vault;
    tacit_error err = {0};
    cluster_uri(&db, database, uri, sizeof uri);
    (void)snprintf(mark, sizeof mark, "%s/tacit.mark", ends[0].directory);
    (void)snprintf(path, sizeof path, "%s/tacit.key", ends[0].directory);
    FILE *file = fopen(path, "r");
    if (file == NULL || fread(key, 1, sizeof key, file) != sizeof key)
        bench_die("key");
    (void)fclose(file);
    const tacit__vault_location location = {.path = uri, .mark = mark};
    bench_check(tacit__vault_open_at(&location, TACIT__VAULT_SERVE, key, &vault, &err), &err);
    make_people(database, bench_times(MILLION));
    bench_check(tacit__vault_begin(vault, &err), &err);
    bench_check(tacit__vault_prove(vault, 1, &err), &err);
    bench_check(tacit__vault_commit(vault, &err), &err);
    tacit__vault_close(vault);
}

/* A million people in a database of their own. */
static void bench_million(double seconds)
{
    open_ends("million");
    write_pgbench_script();
    load_server_start(&ends[0]); /* makes the learner */
    load_server_stop(&ends[0], SIGTERM);
    fill_database("million");
    const double start = bench_wall(), before = database_cpu();
    load_server_start(&ends[0]);
    const double took = bench_wall() - start, cpu = bench_cpu_of(ends[0].pid),
                 database = database_cpu() - before;
    (void)await_leader(1);
    const double memory = bench_memory_of(ends[0].pid);
    (void)printf("{\"bench\":\"start, a million people\",\"seconds\":%.2f,\"server_cpu_s\":%.2f,"
                 "\"database_cpu_s\":%.2f,\"memory_mb\":%.1f}\n",
                 took, cpu, database, memory);
    (void)fflush(stdout);
    bench_observe(&(row){"observe, a million people", 1, 64, 1}, seconds);
    bench_observe(&(row){"observe, a million people", 1, 64, 64}, seconds);
    (void)printf("{\"bench\":\"memory, a million people\",\"before_mb\":%.1f,\"after_mb\":%.1f}\n",
                 memory, bench_memory_of(ends[0].pid));
    close_ends();
}

/* One front end, then two. */
static void bench_ends(double seconds)
{
    static const row rows[] = {
        {"observe, one user in a request", 1, 64, 1}, {"observe, many users at once", 1, 200, 1},
        {"observe, many users at once", 1, 64, 16},   {"observe, many users at once", 1, 64, 64},
        {"observe, one user in a request", 2, 64, 1}, {"observe, many users at once", 2, 200, 1},
        {"observe, many users at once", 2, 64, 16},   {"observe, many users at once", 2, 64, 64}};
    open_ends("tacit");
    write_pgbench_script();
    load_server_start(&ends[0]);
    (void)await_leader(1);
    const size_t step = bench_is_moment() ? 4 : 1; /* one row for each number of front ends */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += step) {
        if (rows[i].n_ends == 2 && ends[1].pid == 0)
            load_server_start(&ends[1]);
        bench_observe(&rows[i], seconds);
    }
    bench_decide(seconds);
    bench_takeover();
    close_ends();
}

int bench_postgres(double seconds, bool only_million)
{
    if (!cluster_is_there())
        return 77;
    cluster_open(&db, "shared_buffers = 256MB");
    make_pgbench_table();
    if (!only_million)
        bench_ends(seconds);
    bench_million(seconds);
    cluster_close(&db);
    return 0;
}
#endif
