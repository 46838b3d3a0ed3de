/* What becomes of the service when its database fails over: to a synchronous standby, which has everything, so that nothing is lost
 * and learning goes on by itself; and to one that was held back, which is the negative control and must be noticed. */
#include "service/rivals.h"

static const char learners[] =
    "learners:\n"
    "  - {name: arms, space: {states: 12, actions: 4, horizon: 1}, users: 1000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";

static char answer[SERVER_ANSWER];

typedef struct place {
    cluster primary, standby;
    server ends[FRONT_ENDS];
} place;

/* A primary, a standby, and front ends that know both and use the one that takes writes. */
static void open_all(place *p)
{
    cluster_open(&p->primary, NULL);
    cluster_database(&p->primary, "tacit");
    cluster_follow(&p->standby, &p->primary, NULL);
    const char *target =
        fmt("postgresql://tacit@/tacit?host=%s,%s&port=%u,%u&target_session_attrs=read-write",
            p->primary.directory, p->standby.directory, p->primary.port, p->standby.port);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        open_front_end(&p->ends[i], target, learners, i > 0 ? &p->ends[0] : NULL);
        assert_true(server_start(&p->ends[i], NULL));
    }
}

static void close_all(place *p)
{
    for (size_t i = 0; i < FRONT_ENDS; i++)
        server_close(&p->ends[i]);
    cluster_close(&p->standby);
    cluster_close(&p->primary);
}

static crowd *send_crowd(place *p)
{
    crowd *c = calloc(1, sizeof *c);
    c->learner = "arms";
    c->n_states = 12;
    for (size_t i = 0; i < FRONT_ENDS; i++)
        c->ends[i] = &p->ends[i];
    crowd_start(c);
    return c;
}

static void await_users(crowd *c, unsigned long more)
{
    const unsigned long wanted = atomic_load(&c->acknowledged) + more;
    wait_until(atomic_load(&c->acknowledged) >= wanted || c->wrong != NULL);
    assert_true(atomic_load(&c->acknowledged) >= wanted);
}

static bool has_status(const server *s, const char *wanted)
{
    char word[32] = "";
    return server_get(s, "/healthz", answer) == 200 &&
           json_field(answer, "status", word, sizeof word) && strcmp(word, wanted) == 0;
}

static void read_timeline(cluster *c, char out[16])
{
    assert_true(
        cluster_sql(c, "postgres", "SELECT timeline_id FROM pg_control_checkpoint()", out, 16));
}

/* A setting of the server, which it reads again. */
static void set(cluster *db, const char *name, const char *value)
{
    assert_true(cluster_sql(db, "postgres", fmt("ALTER SYSTEM SET %s = %s", name, value), NULL, 0));
    assert_true(cluster_sql(db, "postgres", "SELECT pg_reload_conf()", NULL, 0));
}

/* From now on its commits wait for the standby. */
static void make_synchronous(cluster *primary)
{
    char state_of[16] = "";
    set(primary, "synchronous_standby_names", "standby");
    await(cluster_sql(primary, "postgres", "SELECT sync_state FROM pg_stat_replication", state_of,
                      sizeof state_of) &&
          strcmp(state_of, "sync") == 0);
}

TEST(a_synchronous_standby_loses_nothing_and_learning_goes_on)
{
    place p = {0};
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    open_all(&p);
    make_synchronous(&p.primary);
    char before[16], after[16];
    read_timeline(&p.primary, before);
    crowd *c = send_crowd(&p);
    await_users(c, 40);
    cluster_stop(&p.primary, SIGQUIT);
    cluster_promote(&p.standby);
    await_users(c, 40);
    crowd_stop(c);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        assert_all_counted(&p.ends[i], c);
        assert_true(has_status(&p.ends[i], "ok"));
    }
    assert_true(cluster_sql(&p.standby, "postgres", "CHECKPOINT", NULL, 0));
    read_timeline(&p.standby, after);
    assert_string_not_equal(after, before); /* which says nothing of a loss */
    crowd_free(c);
    close_all(&p);
}

/* Brings one user; the status of the observation. */
static int bring_one(const server *s)
{
    char decision[1024];
    assert_int_equal(server_post(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":1}", answer),
                     200);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    return server_post(s, "/v1/observe", fmt("{\"decision\":\"%s\",\"reward\":1}", decision),
                       answer);
}

/* Whatever the role says of synchronous_commit. */
TEST(nobody_is_acknowledged_whom_the_synchronous_standby_lacks)
{
    place p = {0};
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    open_all(&p);
    assert_true(cluster_sql(&p.primary, "postgres",
                            "ALTER ROLE tacit SET synchronous_commit = off; SELECT"
                            " count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE"
                            " usename='tacit'",
                            NULL, 0));
    make_synchronous(&p.primary);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        await(bring_one(&p.ends[i]) == 200);
    cluster_stop(&p.standby, SIGINT);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        assert_int_equal(bring_one(&p.ends[i]), 503);
    cluster_start(&p.standby);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        await(bring_one(&p.ends[i]) == 200);
        await(has_status(&p.ends[i], "ok"));
    }
    close_all(&p);
}

TEST(a_standby_that_was_held_back_is_noticed_and_not_learned_from)
{
    place p = {0};
    char out[1024];
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    open_all(&p);
    crowd *c = send_crowd(&p);
    await_users(c, 20);
    cluster_stop(&p.standby, SIGINT);
    await_users(c, 40); /* which the standby does not have */
    crowd_stop(c);
    crowd_free(c);
    cluster_stop(&p.primary, SIGQUIT);
    cluster_start(&p.standby);
    cluster_promote(&p.standby);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        const server *s = &p.ends[i];
        await(has_status(s, "behind"));
        assert_int_equal(bring_one(s), 503); /* it decides, and keeps nothing */
    }
    /* one that knew nothing learns it from the database */
    assert_int_equal(server_stop(&p.ends[1], SIGKILL), -SIGKILL);
    server_shell(&p.ends[1], "rm -f tacit.mark");
    assert_true(server_start(&p.ends[1], NULL));
    assert_true(has_status(&p.ends[1], "behind"));
    assert_int_equal(server_tool(&p.ends[0], "store adopt service.yaml", out, sizeof out), 2);
    assert_int_equal(
        server_tool(&p.ends[0], "store adopt service.yaml --original-is-gone", out, sizeof out), 0);
    for (size_t i = 0; i < FRONT_ENDS;
         i++) { /* those that ran under the old identity end, and begin anew */
        if (p.ends[i].pid > 0)
            (void)server_stop(&p.ends[i], SIGTERM);
        assert_true(server_start(&p.ends[i], NULL));
        assert_true(has_status(&p.ends[i], "ok"));
        assert_int_equal(bring_one(&p.ends[i]), 200);
    }
    close_all(&p);
}

/* A cluster with these settings, and a front end of it that does not run. */
static void start_one(cluster *db, server *s, const char *settings, char uri[300])
{
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    cluster_open(db, settings);
    cluster_database(db, "tacit");
    cluster_uri(db, "tacit", uri, 300);
    open_front_end(s, uri, learners, NULL);
}

/* The same cluster, on the same timeline: only what was remembered tells. */
TEST(a_snapshot_that_is_put_back_is_noticed)
{
    cluster db;
    server s;
    char uri[300], before[16], after[16];
    start_one(&db, &s, NULL, uri);
    assert_true(server_start(&s, NULL));
    assert_int_equal(bring_one(&s), 200);
    cluster_stop(&db, SIGINT);
    assert_shell("cp -a '%s' '%s.saved'", db.data, db.data);
    cluster_start(&db);
    read_timeline(&db, before);
    wait_until(bring_one(&s) == 200); /* which the snapshot lacks */
    server_wait_users(&s, "arms", 2);
    cluster_stop(&db, SIGINT);
    assert_shell("rm -r '%s' && mv '%s.saved' '%s'", db.data, db.data, db.data);
    cluster_start(&db);
    read_timeline(&db, after);
    assert_string_equal(after, before);
    await(has_status(&s, "behind"));
    assert_int_equal(bring_one(&s), 503);
    server_close(&s);
    cluster_close(&db);
}

/* Accepts and closes, as a proxy does whose server is gone. */
static void *hang_up(void *context)
{
    const int listener = *(const int *)context;
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;)
        (void)close(fd);
    return NULL;
}

TEST(a_host_that_hangs_up_is_passed_over)
{
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    cluster db;
    server s;
    pthread_t thread;
    char out[512];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 16), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    assert_int_equal(pthread_create(&thread, NULL, hang_up, &listener), 0);
    cluster_open(&db, NULL);
    cluster_database(&db, "tacit");
    open_front_end(&s,
                   fmt("postgresql://tacit@/tacit?host=127.0.0.1,%s&port=%u,%u", db.directory,
                       ntohs(at.sin_port), db.port),
                   learners, NULL);
    assert_true(server_start(&s, NULL));
    assert_int_equal(bring_one(&s), 200);
    cluster_stop(&db, SIGINT); /* and when the connection has to be made again */
    await(server_get(&s, "/readyz", answer) == 503);
    cluster_start(&db);
    await(server_get(&s, "/readyz", answer) == 200);
    await(bring_one(&s) == 200);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
    server_close(&s);
    (void)shutdown(listener, SHUT_RDWR);
    assert_int_equal(pthread_join(thread, NULL), 0);
    (void)close(listener);
    cluster_close(&db);
}

/* Wherever an operator or a privacy officer looks. */
static void assert_shown(server *s)
{
    static const char *const pages[] = {"/v1/guarantee?learner=arms", "/v1/ledger?learner=arms"};
    char text[4096];
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        assert_int_equal(server_get(s, pages[i], answer), 200);
        assert_non_null(strstr(answer, "\"unsafe\":true"));
    }
    assert_int_equal(server_get(s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "\ntacit_store_unsafe 1\n"));
    server_read(s, "err", text, sizeof text);
    assert_non_null(
        strstr(text, "unsafe: the store is, or was, on a database server without fsync"));
    assert_int_equal(server_tool(s, "store check service.yaml", text, sizeof text), 0);
    assert_non_null(strstr(text, "\nunsafe: "));
}

static const char *const settings[] = {"full_page_writes", "fsync"};

/* It was safe when the front end began, and may be a standby with other settings by now. */
TEST(a_server_that_becomes_unsafe_is_written_to_no_more)
{
    cluster db;
    server s;
    char uri[300], text[2048], n[8];
    start_one(&db, &s, NULL, uri);
    assert_true(server_start(&s, NULL));
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(bring_one(&s), 200);
        set(&db, settings[i], "off");
        await(bring_one(&s) == 503); /* it decides, and keeps nothing */
        assert_int_equal(server_get(&s, "/readyz", answer), 503);
        assert_non_null(strstr(answer, "failing"));
        set(&db, settings[i], "on");
        await(bring_one(&s) == 200);
        await(server_get(&s, "/readyz", answer) == 200);
    }
    server_read(&s, "err", text, sizeof text);
    assert_non_null(strstr(text, "the server has fsync or full_page_writes off"));
    assert_true(cluster_sql(&db, "tacit", "SELECT count(*) FROM tacit.meta WHERE name='unsafe'", n,
                            sizeof n));
    assert_string_equal(n, "0"); /* nothing was written meanwhile */
    /* one that was told to go on does, and it is shown from then on */
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_rewrite(&s, fmt("listen: 127.0.0.1:0\nunsafe: yes\nstore: '%s'\n%s", uri, learners));
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "\ntacit_store_unsafe 0\n"));
    set(&db, "fsync", "off");
    await(bring_one(&s) == 200 && server_get(&s, "/metrics", answer) == 200 &&
          strstr(answer, "\ntacit_store_unsafe 1\n") != NULL);
    set(&db, "fsync", "on");
    assert_shown(&s);
    server_close(&s);
    cluster_close(&db);
}

TEST(a_server_without_fsync_is_refused_unless_that_is_said)
{
    cluster db;
    server s;
    char uri[300], text[2048];
    int code = 0;
    start_one(&db, &s, "full_page_writes = off", uri);
    assert_false(server_start(&s, &code));
    server_read(&s, "err", text, sizeof text);
    assert_non_null(strstr(text, "full_page_writes"));
    server_close(&s);
    cluster_close(&db);
    start_one(&db, &s, "fsync = off", uri);
    assert_false(server_start(&s, &code));
    server_read(&s, "err", text, sizeof text);
    assert_non_null(strstr(text, "fsync"));
    server_rewrite(&s, fmt("listen: 127.0.0.1:0\nunsafe: yes\nstore: '%s'\n%s", uri, learners));
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_tool(&s, "store events service.yaml", text, sizeof text), 0);
    assert_non_null(strstr(text, "without fsync"));
    assert_shown(&s);
    /* for good: also when the server is a safe one again, and the file says nothing of it */
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_true(cluster_sql(&db, "postgres", "ALTER SYSTEM SET fsync = on", NULL, 0));
    cluster_stop(&db, SIGINT);
    cluster_start(&db);
    server_rewrite(&s, fmt("listen: 127.0.0.1:0\nstore: '%s'\n%s", uri, learners));
    assert_true(server_start(&s, NULL));
    assert_shown(&s);
    server_close(&s);
    cluster_close(&db);
}
