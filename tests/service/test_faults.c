/* Stores, disks and clocks in trouble, and an end under load: what was acknowledged is kept, and what cannot be kept is not
 * acknowledged. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "service/wall.h"

TEST(a_second_server_on_the_store_refuses)
{
    SCOPED_BY(end) server s;
    begin(&s, plain);
    server other = s;
    other.pid = 0;
    int code = 0;
    assert_false(server_start(&other, &code));
    assert_int_equal(code, 3);
    assert_true(file_has(s.directory, "another server is running"));
}

TEST(a_store_of_another_key_or_with_damage_is_refused)
{
    SCOPED_BY(end) server s;
    char out[512];
    int code = 0;
    begin(&s, plain);
    char decision[1024];
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
    const char *path = fmt("%s/service.db.key", s.directory);
    const char *kept = fmt("%s/kept", s.directory);
    assert_int_equal(rename(path, kept), 0);
    assert_false(server_start(&s, &code)); /* a store without its key */
    assert_int_equal(code, 2);
    assert_shell("umask 077; head -c 32 /dev/zero > '%s'", path);
    assert_false(server_start(&s, &code)); /* with another */
    assert_int_equal(code, 2);
    assert_int_equal(rename(kept, path), 0);
    assert_shell("chmod 644 '%s'", path);
    assert_false(server_start(&s, &code)); /* with one that others may read */
    assert_int_equal(code, 2);
    assert_shell("chmod 600 '%s'", path);
    /* damaged pages, of a kind that there is not */
    assert_shell("head -c 32768 /dev/zero | tr '\\0' '\\245' | "
                 "dd of='%s' bs=4096 seek=1 conv=notrunc 2>/dev/null",
                 s.store);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 1);
    assert_false(server_start(&s, &code));
    assert_true(code == 2 || code == 3);
    /* not a database */
    assert_shell("echo nonsense > '%s'", s.store);
    assert_false(server_start(&s, &code));
    assert_true(code == 2 || code == 3);
}

TEST(a_damaged_schema_is_not_quoted)
{
    static const char damage[] =
        "PRAGMA writable_schema=ON; UPDATE sqlite_master SET name=X'53454352455401a5ff1b5b324a',"
        " sql=X'53454352455401a5ff1b5b324a' WHERE name='token'";
    static const char *const tools[] = {"store check", "store export", "token list"};
    SCOPED_BY(end) server s;
    sqlite3 *db;
    char out[512];
    int code = 0;
    begin(&s, plain);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(sqlite3_open(s.store, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, damage, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_false(server_start(&s, &code));
    assert_true(code == 2 || code == 3);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        assert_int_not_equal(server_tool(&s, fmt("%s service.yaml", tools[i]), out, sizeof out), 0);
    }
    assert_shell("grep -q damaged '%s/err'", s.directory);
    assert_int_not_equal(shell("LC_ALL=C grep -q 'SECRET\\|[^[:print:]]' '%s/err' '%s/tool.err'",
                               s.directory, s.directory),
                         0);
}

TEST(changed_settings_need_another_name)
{
    SCOPED_BY(end) server s;
    int code = 0;
    begin(&s, plain);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    const char *yaml = fmt("%s", plain);
    char *at = strstr(yaml, "epsilon: 1");
    at[9] = '9';
    server_rewrite(&s, yaml);
    assert_false(server_start(&s, &code));
    assert_int_equal(code, 2);
    assert_true(file_has(s.directory, "give the changed learner another name"));
}

TEST(a_full_disk_acknowledges_nothing_and_recovers)
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
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    server_write(&s, "full", "");
    assert_error(observe(&s, decision, ",\"reward\":1"), 503, "store", "");
    assert_int_equal(server_get(&s, "/healthz", answer), 200);
    assert_non_null(strstr(answer, "\"status\":\"failing\""));
    assert_int_equal(server_get(&s, "/readyz", answer), 503);
    assert_non_null(strstr(answer, "\"reasons\":[\"failing\"]"));
    char again[1024];
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", again); /* it goes on deciding */
    assert_int_equal(unlink(disk.flag), 0);
    assert_true(file_has(s.directory, "cannot write"));
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(server_get(&s, "/readyz", answer), 200);
    assert_true(file_has(s.directory, "the store can be written again"));
    server_wait_users(&s, "arms", 1);
    assert_true(ledger(&s, "arms", "accepted") == 1);
}

TEST(a_read_only_store_is_refused)
{
    server s;
    int code = 0;
    begin(&s, plain);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    if (geteuid() == 0) /* nothing is read-only for root */
        s.user = 65534;
    assert_shell("chown -R %d '%s'; chmod 400 '%s'; chmod 500 '%s'",
                 geteuid() == 0 ? 65534 : (int)geteuid(), s.directory, s.store, s.directory);
    assert_false(server_start(&s, &code));
    assert_shell("chmod 700 '%s'", s.directory);
    end(&s);
    if (code == 127 && geteuid() == 0)
        skip(); /* the program lies in a directory that only root may enter */
    assert_int_equal(code, 3);
}

TEST(a_copy_decides_but_does_not_learn)
{
    SCOPED_BY(end) server s;
    char decision[1024], out[512];
    begin(&s, plain);
    for (int i = 0; i < 5; i++) {
        decide(&s, "/v1/decide", fmt("{\"learner\":\"arms\",\"state\":%d}", i % 3), decision);
        assert_observed(&s, decision, ",\"reward\":1", "finished");
    }
    server_wait_users(&s, "arms", 5);
    assert_int_equal(server_tool(&s, "store backup service.yaml copy.db", out, sizeof out), 0);
    struct stat copied;
    assert_int_equal(stat(fmt("%s/copy.db", s.directory), &copied), 0);
    assert_int_equal(copied.st_mode & 0777, 0600);
    assert_int_equal(server_tool(&s, "store backup service.yaml copy.db", out, sizeof out), 2);
    assert_int_equal(server_tool(&s, "store export service.yaml", out, sizeof out), 0);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(rename(fmt("%s/copy.db", s.directory), s.store), 0);
    assert_true(server_start(&s, NULL));
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_non_null(strstr(answer, "\"learned\":false"));
    assert_error(observe(&s, decision, ",\"reward\":1"), 503, "copy", "");
    assert_non_null(strstr(answer, "Retry-After: "));
    assert_error(server_post(&s, "/v1/reports", "{\"learner\":\"ours\",\"report\":\"\"}", answer),
                 503, "copy", "");
    assert_true(ledger(&s, "arms", "users") == 5);
    assert_non_null(strstr(answer, "the store is a copy"));
}

typedef struct crowd {
    const server *s;
    const char *learner;
    bool keeps;
    atomic_int acknowledged;
} crowd;

/* Half of them keep their connections, on which the next request may begin at any moment of the end. */
static void *come(void *context)
{
    crowd *c = context;
    static _Thread_local char heard[SERVER_ANSWER];
    char body[2048], decision[1024];
    int fd = -1;
    for (int i = 0; i < 100000; i++) {
        (void)snprintf(body, sizeof body, "{\"learner\":\"%s\",\"state\":0}", c->learner);
        if (server_talk(c->s, &fd, "POST", "/v1/decide", NULL, body, heard) != 200 ||
            !json_field(heard, "decision", decision, sizeof decision))
            break;
        (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":0.5}", decision);
        if (server_talk(c->s, &fd, "POST", "/v1/observe", NULL, body, heard) != 200)
            break;
        (void)atomic_fetch_add(&c->acknowledged, 1);
        if (!c->keeps) {
            (void)close(fd);
            fd = -1;
        }
    }
    if (fd >= 0)
        (void)close(fd);
    return NULL;
}

static int count(crowd *crowds, int n)
{
    int acknowledged = 0;
    for (int i = 0; i < n; i++)
        acknowledged += atomic_load(&crowds[i].acknowledged);
    return acknowledged;
}

TEST(sigterm_under_load_loses_nothing)
{
    enum { CROWD = 8, ROUNDS = 5 };
    SCOPED_BY(end) server s;
    pthread_t threads[CROWD];
    crowd crowds[CROWD];
    int acknowledged = 0;
    begin(&s, plain);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CROWD; i++) {
            crowds[i] = (crowd){.s = &s, .learner = "arms", .keeps = i % 2 == 0};
            assert_int_equal(pthread_create(&threads[i], NULL, come, &crowds[i]), 0);
        }
        wait_until(count(crowds, CROWD) >= 5 * CROWD);
        assert_int_equal(server_stop(&s, SIGTERM), 0); /* exit status 0 */
        for (int i = 0; i < CROWD; i++)
            (void)pthread_join(threads[i], NULL);
        acknowledged += count(crowds, CROWD);
        assert_true(server_start(&s, NULL));
    }
    server_wait_users(&s, "arms", (unsigned long)acknowledged);
    double accepted = ledger(&s, "arms", "accepted"); /* an answer may have been lost on its way */
    assert_within(accepted, acknowledged, acknowledged + ROUNDS * CROWD);
}

/* Who asks /readyz hears that it ends before it does, and everything is answered until then. */
TEST(a_service_that_drains_is_not_ready_and_serves_on)
{
    SCOPED_BY(server_close) server s;
    char decision[1024];
    int status = 0;
    begin(&s, fmt("drain: 600\n%s", plain));
    assert_int_equal(kill(s.pid, SIGTERM), 0);
    await(server_get(&s, "/readyz", answer) == 503);
    assert_non_null(strstr(answer, "\"reasons\":[\"stopping\"]"));
    for (int i = 0; i < 3; i++) {
        decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
        assert_observed(&s, decision, ",\"reward\":1", "finished");
    }
    assert_int_equal(waitpid(s.pid, &status, WNOHANG), 0);
    assert_int_equal(server_stop(&s, SIGTERM), 0); /* the second signal ends the wait */
}

/* While somebody slow is waited for, the others are answered, and told that this was the last answer on their connection. */
TEST(an_answer_during_the_end_closes_its_connection)
{
    SCOPED_BY(end) server s;
    int kept = -1;
    begin(&s, plain);
    int slow = server_connect(&s);
    char text[400];
    int n = snprintf(text, sizeof text,
                     "POST /v1/decide HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"
                     "Content-Length: 30\r\n\r\n{",
                     s.token);
    server_say(slow, text, (size_t)n);
    assert_int_equal(server_talk(&s, &kept, "GET", "/healthz", NULL, NULL, answer), 200);
    assert_null(strstr(answer, "Connection: close"));
    assert_int_equal(kill(s.pid, SIGTERM), 0);
    for (int i = 0; i < 1000 && !file_has(s.directory, "stopping"); i++)
        server_nap(1);
    server_nap(100);
    assert_int_equal(server_talk(&s, &kept, "GET", "/healthz", NULL, NULL, answer), 200);
    assert_non_null(strstr(answer, "Connection: close"));
    (void)close(slow);
    (void)close(kept);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
}
