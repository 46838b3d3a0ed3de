/* Alive, ready, and what is told about it: to probes, on a listener of its own, in figures, in the log and in
 * the audit log. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/learner/describe.h"
#include "service/wall.h"
#include "text/text.h"

static void assert_reasons(const server *s, const char *reasons)
{
    int status = server_ask(s, "", "GET", "/readyz", NULL, NULL, answer);
    const char *wanted = fmt("{\"ready\":%s,\"reasons\":[%s],\"line\":{\"store\":\"",
                             reasons[0] == '\0' ? "true" : "false", reasons);
    assert_memory_equal(strchr(answer, '{'), wanted, strlen(wanted));
    assert_int_equal(status, reasons[0] == '\0' ? 200 : 503);
}

static void assert_alive(const server *s, const char *wanted)
{
    char status[32] = "";
    assert_int_equal(server_ask(s, "", "GET", "/healthz", NULL, NULL, answer), 200);
    assert_true(json_field(answer, "status", status, sizeof status));
    assert_string_equal(status, wanted);
}

TEST(readiness_comes_back_by_itself)
{
    if (!may_preload)
        skip();
    SCOPED_BY(end) server s;
    char decision[1024];
    full_disk disk;
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    full_disk_arm(&disk, &s);
    assert_true(server_start(&s, NULL));
    assert_reasons(&s, "");
    assert_alive(&s, "ok");
    assert_true(figure(&s, "tacit_ready") == 1);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    server_write(&s, "full", "");
    assert_error(observe(&s, decision, ",\"reward\":1"), 503, "store", "");
    assert_reasons(&s, "\"failing\"");
    assert_alive(&s, "failing"); /* alive: to start it again would mend no disk */
    assert_true(figure(&s, "tacit_ready") == 0);
    assert_int_equal(unlink(disk.flag), 0);
    wait_until(server_get(&s, "/readyz", answer) == 200); /* and nobody writes */
    assert_reasons(&s, "");
    assert_alive(&s, "ok");
    assert_true(figure(&s, "tacit_ready") == 1);
}

TEST(a_copy_is_alive_and_not_ready)
{
    SCOPED_BY(end) server s;
    char out[64];
    begin(&s, plain);
    assert_int_equal(server_tool(&s, "store backup service.yaml copy.db", out, sizeof out), 0);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_rewrite(&s, fmt("key: service.db.key\n%.*scopy.db%s",
                           (int)(strstr(plain, "service.db") - plain), plain,
                           strstr(plain, "service.db") + 10));
    assert_true(server_start(&s, NULL));
    assert_reasons(&s, "\"copy\"");
    assert_alive(&s, "copy");
    /* observations are refused, alone and as a batch: a client that looks at the status alone must not take
     * them for kept */
    char decision[1024];
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_error(observe(&s, decision, ",\"reward\":1"), 503, "copy", "");
    const char *body = fmt(
        "[{\"decision\":\"%.1023s\",\"reward\":1},{\"decision\":\"x\",\"reward\":1}]", decision);
    assert_error(server_post(&s, "/v1/observe", body, answer), 503, "copy", "");
    assert_non_null(strstr(answer, "\r\nRetry-After: "));
}

/* --- The admin listener --------------------------------------------------------------------------- */

/* The server as its admin listener sees it: the same, with another port. */
static server admin_of(const server *s)
{
    server a = *s;
    char line[300] = "";
    unsigned port = 0;
    FILE *file = fopen(fmt("%s/err", s->directory), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strstr(line, "health and metrics on ") != NULL)
            port = (unsigned)strtoul(strrchr(line, ':') + 1, NULL, 10);
    (void)fclose(file);
    assert_true(port > 0);
    a.port = port;
    return a;
}

/* A connection from an address of this machine that says nothing; -1: it was not to be had. */
static int connect_from(const server *s, const char *from)
{
    struct sockaddr_in own = {.sin_family = AF_INET},
                       there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    (void)inet_pton(AF_INET, from, &own.sin_addr);
    (void)inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
    if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own) != 0) {
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    (void)connect(fd, (struct sockaddr *)&there, sizeof there); /* it need not be taken at once */
    return fd;
}

enum { SILENT = 2000 };

/* SILENT connections, or as many as there may be. */
static int hold(const server *s, const char *from, int fd[SILENT])
{
    int n = 0;
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    while (n < SILENT && (fd[n] = connect_from(s, from)) >= 0)
        n++;
    return n;
}

static void let_go(int fd[SILENT], int n)
{
    for (int i = 0; i < n; i++)
        (void)close(fd[i]);
}

TEST(health_is_told_although_every_place_is_taken)
{
    static const char taken[] = "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nstore: service.db\n"
                                "limits: {connections: 200, per_address: 0, timeout: 3600}\n"
                                "learners: [{name: arms, space: {states: 3, actions: 4, horizon: "
                                "1}, users: 100, agent: " JOINT "}]\n";
    static int fd[SILENT];
    SCOPED_BY(end) server s;
    begin(&s, taken);
    const server admin = admin_of(&s);
    int n = hold(&s, "127.0.0.1", fd);
    assert_true(n > 300);
    /* with an hour's patience the public address answers nobody; this one has places of its own */
    static const char *const routes[] = {
        "/healthz",     "/readyz",    "/metrics",      "/",
        "/v1/learners", "/v1/ledger", "/v1/guarantee", "/v1/history"};
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        assert_int_equal(server_get(&admin, routes[i], answer), 200);
    /* nothing is decided or learned there, and figures still need a token */
    assert_error(server_post(&admin, "/v1/decide", "{\"state\":0}", answer), 404, "no_route", "");
    /* the page shows what its policy does */
    assert_int_equal(server_get(&admin, "/v1/billboard", answer), 200);
    assert_int_equal(server_ask(&admin, "", "GET", "/metrics", NULL, NULL, answer), 401);
    let_go(fd, n);
    wait_until(server_get(&s, "/healthz", answer) == 200);
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
}

TEST(one_address_does_not_keep_the_others_out)
{
    static const char patient[] = "listen: 127.0.0.1:0\nstore: service.db\n"
                                  "limits: {connections: 400, timeout: 3600}\n"
                                  "learners: [{name: arms, space: {states: 3, actions: 4, horizon: "
                                  "1}, users: 100, agent: " JOINT "}]\n";
    static int fd[SILENT];
    SCOPED_BY(end) server s;
    begin(&s, patient);
    int n = hold(&s, "127.0.0.2", fd);
    if (n < 500) { /* this machine has no such address */
        let_go(fd, n);
        end(&s);
        skip();
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(server_get(&s, "/healthz", answer), 200);
    assert_int_equal(server_post(&s, "/v1/decide", "{\"state\":0}", answer), 200);
    let_go(fd, n);
}

/* --- Figures -------------------------------------------------------------------------------------- */

TEST(figures_say_who_waits_and_how_old_the_last_commit_is)
{
    SCOPED_BY(end) server s;
    char decision[1024];
    begin(&s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "arms", 1);
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "\ntacit_users_waiting{learner=\"arms\"} 0\n"));
    assert_non_null(strstr(answer, "\n# TYPE tacit_commit_age_seconds gauge\n"));
    assert_true(figure(&s, "tacit_commit_age_seconds") >= 0);
    /* an idle service writes its clock, so the age says something */
    double commits = figure(&s, "tacit_store_commits_total");
    await(figure(&s, "tacit_store_commits_total") > commits);
}

TEST(users_left_do_not_wrap)
{
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    const tacit__learner_figures f = {.limit = 4, .accepted = 5, .users = 5};
    tacit__describe_figures(&f, &out);
    assert_non_null(strstr(out.data, "\"left\":0,"));
}

/* --- What is written down ------------------------------------------------------------------------- */

TEST(the_log_is_json_where_the_file_says_so)
{
    SCOPED_BY(end) server s;
    char line[2000];
    int lines = 0;
    bool started = false, stopped = false, reloaded = false;
    begin(&s, fmt("log: json\n%s", plain));
    assert_int_equal(kill(s.pid, SIGHUP), 0);
    wait_until(file_has(s.directory, "\"event\":\"reload\""));
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    FILE *file = fopen(fmt("%s/err", s.directory), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char text[200];
        static const char *const keys[] = {"time", "level", "event", "message"};
        line[strcspn(line, "\n")] = '\0';
        assert_true(line[0] == '{' && line[strlen(line) - 1] == '}');
        for (size_t i = 0; i < 4; i++)
            assert_true(json_field(line, keys[i], text, sizeof text));
        assert_true(json_field(line, "event", text, sizeof text));
        started = started || strcmp(text, "start") == 0;
        stopped = stopped || strcmp(text, "stop") == 0;
        reloaded = reloaded || strcmp(text, "reload") == 0;
        lines++;
    }
    (void)fclose(file);
    assert_true(lines >= 3 && started && stopped && reloaded);
}

TEST(the_audit_log_has_tokens_starts_and_stops)
{
    static const char *const wanted[] = {
        "token 'all' created: admin (by user", "service started: tacit ",
        "created: decide,observe, learner arms, 5 users a day, ", "token 'web' revoked (by user",
        "service stopped (by user"};
    SCOPED_BY(end) server s;
    static char out[8192];
    begin(&s, plain);
    assert_int_equal(server_tool(&s,
                                 "token create service.yaml --name web --scopes decide,observe "
                                 "--learner arms --users-per-day 5 --expires 7d",
                                 out, sizeof out),
                     0);
    assert_int_equal(server_tool(&s, "token revoke service.yaml --name web", out, sizeof out), 0);
    assert_int_equal(server_tool(&s, "token revoke service.yaml --name web", out, sizeof out), 2);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(server_tool(&s, "store events service.yaml", out, sizeof out), 0);
    const char *at = out;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *found = strstr(at, wanted[i]); /* in this order */
        if (found == NULL)
            fail_msg("no '%s' in:\n%s", wanted[i], out);
        at = found;
    }
    assert_null(strstr(strstr(out, "revoked") + 1, "revoked")); /* what was refused is none */
    assert_int_equal(server_tool(&s, "store events --json service.yaml", out, sizeof out), 0);
    assert_true(strncmp(out, "{\"events\":[{\"time\":\"", 20) == 0);
}

/* --- Small guards --------------------------------------------------------------------------------- */

TEST(the_process_leaves_no_core_and_ignores_what_means_nothing)
{
    SCOPED_BY(end) server s;
    char line[200];
    bool found = false;
    begin(&s, plain);
    assert_int_equal(kill(s.pid, SIGUSR1), 0);
    assert_int_equal(kill(s.pid, SIGUSR2), 0);
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    FILE *file = fopen(fmt("/proc/%ld/limits", (long)s.pid), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        found =
            found || strncmp(line, "Max core file size        0                    0 ", 49) == 0;
    (void)fclose(file);
    assert_true(found);
    /* files of a process that cannot be dumped are root's */
    struct stat entry;
    assert_int_equal(stat(fmt("/proc/%ld/environ", (long)s.pid), &entry), 0);
    assert_int_equal(entry.st_uid, 0);
}

TEST(a_thread_that_is_not_to_be_had_says_what_it_needs)
{
#ifdef TACIT_SANITIZED
    skip(); /* which takes terabytes of address space */
#endif
    SCOPED_BY(end) server s;
    server_open(&s, TACIT_COMMAND, plain);
    server_token(&s, "all", "admin", s.token);
    /* from too little for the program itself to enough: on the way some thread is the one that is missing */
    bool said = false, served = false;
    for (int mib = 40; !said && !served; mib += 10) {
        said = shell("cd '%s' && (ulimit -v %d && OPENBLAS_NUM_THREADS=1 timeout 20 '%s' serve "
                     "service.yaml >served 2>said); grep -q 'a thread needs [0-9]* MiB of "
                     "address space, of which [0-9]* MiB are taken and %d MiB allowed' said",
                     s.directory, mib * 1024, s.command, mib) == 0;
        served = shell("test -s '%s/served'", s.directory) == 0;
    }
    assert_true(said);
}
