/* A build without libpq has no store on PostgreSQL, and nothing to test here. */
#include "support/cluster.h"

#include <stddef.h>

#ifndef TACIT_HAS_POSTGRES
cluster *cluster_of_tests(void)
{
    return NULL;
}
#else
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libpq-fe.h>

#include "support/check.h"
#include "support/scratch.h"
#include "support/server.h"

#ifndef TACIT_POSTGRES_BIN
#define TACIT_POSTGRES_BIN ""
#endif

bool cluster_is_there(void)
{
    if (access(TACIT_POSTGRES_BIN "/initdb", X_OK) == 0 &&
        (getuid() != 0 || getpwnam("postgres") != NULL))
        return true;
    (void)fprintf(stderr,
                  "SKIPPED: PostgreSQL is not installed here (scripts/setup installs it)\n");
    return false;
}

/* PostgreSQL does not run as root. */
static void become_owner(void)
{
    if (getuid() != 0)
        return;
    const struct passwd *owner = getpwnam("postgres");
    if (owner == NULL || setgroups(0, NULL) != 0 || setgid(owner->pw_gid) != 0 ||
        setuid(owner->pw_uid) != 0)
        _exit(125);
}

static pid_t spawn(const cluster *c, const char *program, const char *const arguments[])
{
    const char *path = fmt("%s/%s", TACIT_POSTGRES_BIN, program);
    const char *log = fmt("%s/log", c->directory);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        become_owner();
        (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
        int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (chdir(c->directory) != 0 || fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(126);
        char *copies[16];
        size_t n = 0;
        for (; arguments[n] != NULL; n++) /* by its path, beside which it looks for the others */
            copies[n] = strdup(n > 0 ? arguments[n] : path);
        copies[n] = NULL;
        (void)execv(path, copies);
        _exit(127);
    }
    return pid;
}

static void run(const cluster *c, const char *program, const char *const arguments[])
{
    int status = 0;
    pid_t pid = spawn(c, program, arguments);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status != 0)
        fail_msg("%s failed; see %s/log", program, c->directory);
}

static void make_directory(cluster *c)
{
    static unsigned next;
    *c = (cluster){.port = 5400 + next++};
    scratch_make("tacit-cluster-", c->directory);
    (void)snprintf(c->data, sizeof c->data, "%s/data", c->directory);
    const struct passwd *owner = getuid() == 0 ? getpwnam("postgres") : NULL;
    if (owner != NULL)
        assert_int_equal(chown(c->directory, owner->pw_uid, owner->pw_gid), 0);
    assert_int_equal(chmod(c->directory, 0755), 0);
}

static void add_settings(const cluster *c, const char *settings)
{
    FILE *file = fopen(fmt("%s/postgresql.auto.conf", c->data), "a");
    assert_non_null(file);
    (void)fprintf(file,
                  "listen_addresses = ''\nunix_socket_directories = '%s'\nport = %u\n"
                  "max_connections = 200\nshared_buffers = 32MB\nwal_level = replica\n"
                  "max_wal_senders = 4\nhot_standby = on\n%s\n",
                  c->directory, c->port, settings != NULL ? settings : "");
    (void)fclose(file);
}

void cluster_start(cluster *c)
{
    const char *const arguments[] = {"postgres", "-D", c->data, NULL};
    c->pid = spawn(c, "postgres", arguments);
    const char *target =
        fmt("host=%s port=%u user=postgres dbname=postgres", c->directory, c->port);
    PGPing ping = PQPING_NO_RESPONSE;
    wait_until((ping = PQping(target)) == PQPING_OK);
    if (ping != PQPING_OK)
        fail_msg("PostgreSQL does not start; see %s/log", c->directory);
}

void cluster_stop(cluster *c, int signal)
{
    int status = 0;
    if (c->pid <= 0)
        return;
    (void)kill(c->pid, signal);
    (void)waitpid(c->pid, &status, 0);
    c->pid = 0;
}

void cluster_open(cluster *c, const char *settings)
{
    make_directory(c);
    const char *const arguments[] = {"initdb",   "-D",        c->data, "-A",   "trust",      "-U",
                                     "postgres", "--no-sync", "-E",    "UTF8", "--locale=C", NULL};
    run(c, "initdb", arguments);
    add_settings(c, settings);
    cluster_start(c);
    assert_true(cluster_sql(c, "postgres",
                            "CREATE ROLE tacit LOGIN;"
                            "ALTER ROLE tacit SET log_error_verbosity = terse",
                            NULL, 0));
}

void cluster_follow(cluster *c, cluster *primary, const char *settings)
{
    make_directory(c);
    const char *target = fmt("host=%s port=%u user=postgres application_name=standby",
                             primary->directory, primary->port);
    const char *const arguments[] = {
        "pg_basebackup", "-d", target, "-D",        c->data, "-R", "-X",
        "stream",        "-c", "fast", "--no-sync", NULL};
    run(c, "pg_basebackup", arguments);
    add_settings(c, settings);
    cluster_start(c);
}

void cluster_promote(cluster *c)
{
    char up[8] = "";
    assert_true(cluster_sql(c, "postgres", "SELECT pg_promote(true, 60)", up, sizeof up));
    assert_string_equal(up, "t");
}

void cluster_close(cluster *c)
{
    cluster_stop(c, SIGQUIT);
    scratch_remove(c->directory);
}

void cluster_uri(const cluster *c, const char *database, char *out, size_t size)
{
    (void)snprintf(out, size, "postgresql://tacit@/%s?host=%s&port=%u", database, c->directory,
                   c->port);
}

bool cluster_sql(cluster *c, const char *database, const char *sql, char *out, size_t size)
{
    PGconn *link = PQconnectdb(
        fmt("host=%s port=%u user=postgres dbname=%s", c->directory, c->port, database));
    PGresult *r = PQexec(link, sql);
    const ExecStatusType code = PQresultStatus(r);
    const bool good = code == PGRES_COMMAND_OK || code == PGRES_TUPLES_OK;
    if (!good)
        (void)fprintf(stderr, "%s: %s", sql, PQerrorMessage(link));
    if (out != NULL)
        (void)snprintf(out, size, "%s",
                       good && PQntuples(r) > 0 && PQnfields(r) > 0 ? PQgetvalue(r, 0, 0) : "");
    PQclear(r);
    PQfinish(link);
    return good;
}

void cluster_database(cluster *c, const char *name)
{
    char there[8] = "";
    assert_true(cluster_sql(c, "postgres",
                            fmt("SELECT count(*) FROM pg_database WHERE datname='%s'", name), there,
                            sizeof there));
    if (strcmp(there, "0") != 0)
        return;
    assert_true(
        cluster_sql(c, "postgres", fmt("CREATE DATABASE \"%s\" OWNER tacit", name), NULL, 0));
}

/* --- The one of all tests ------------------------------------------------------------------------- */

static cluster shared;
static pid_t shared_owner;

static void close_shared(void)
{
    if (getpid() == shared_owner && shared.directory[0] != '\0')
        cluster_close(&shared);
}

cluster *cluster_of_tests(void)
{
    const char *wanted = getenv("TACIT_TEST_STORE");
    if (wanted == NULL || strcmp(wanted, "postgresql") != 0)
        return NULL;
    if (shared.directory[0] == '\0') {
        if (!cluster_is_there())
            exit(CLUSTER_SKIP);
        cluster_open(&shared, NULL);
        shared_owner = getpid();
        (void)atexit(close_shared);
    }
    return &shared;
}
#endif
