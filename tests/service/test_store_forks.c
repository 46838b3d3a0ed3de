/* One store, two lives: an older file put back, a log lost or damaged, a copy that runs beside the original,
 * a backup whose mark was removed, two servers on one store. None of them learns: it is refused, or noticed
 * and only decided from. Where the operator adopts it, in one life users bring 1, in the other 0, or 1 as
 * well. With noise that depended on the step alone, the difference of the two published sums was the number
 * of users since the lives parted, to the last digit. Here no difference is a whole number: the noise of the
 * lives is independent. (A sum is published as a mean in doubles, so whole numbers would show within 1e-9;
 * that a fresh draw of noise passes within 1e-6 of one, 40 times in 6 ways, has a probability below 1e-3.) */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include "service/plain.h"

enum { BEFORE = 8, AFTER = 12, MOST = BEFORE + AFTER };

static const char yaml[] = "listen: 127.0.0.1:0\n"
                           "store: service.db\n"
                           "learners: [{name: arms, space: {states: 1, actions: 2, horizon: 1},"
                           " users: 200, agent: " JOINT ", monitor: {epsilon: 1}}]\n";

/* What a life has published: the sum after each user; NaN: no such point. */
typedef struct life {
    double sum[MOST + 1];
} life;

static void bring(const server *s, int n, int reward)
{
    char decision[1024];
    const char *rest = fmt(",\"reward\":%d", reward);
    for (int i = 0; i < n; i++) {
        decide(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
        assert_observed(s, decision, rest, "finished");
    }
}

static life look(const server *s)
{
    life l;
    for (int i = 0; i <= MOST; i++)
        l.sum[i] = (double)NAN;
    assert_int_equal(server_get(s, "/v1/history?learner=arms", answer), 200);
    for (const char *at = answer; (at = strstr(at, "{\"users\":")) != NULL; at++) {
        double users = json_number(at, "users"), reward = json_number(at, "reward");
        if (users <= MOST)
            l.sum[(int)users] = users * reward;
    }
    return l;
}

static unsigned long users_of(const server *s)
{
    assert_int_equal(server_get(s, "/v1/learners", answer), 200);
    return (unsigned long)json_number(answer, "users");
}

/* The common part of both lives; then the first life, of ones. Its store as it was between the two is in
 * `kept`. */
static life live_first(server *s)
{
    server_open(s, TACIT_COMMAND, yaml);
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
    bring(s, BEFORE, 1);
    server_wait_users(s, "arms", BEFORE);
    assert_int_equal(server_stop(s, SIGTERM), 0);
    server_shell(s, "cp service.db kept");
    assert_true(server_start(s, NULL));
    bring(s, AFTER, 1);
    server_wait_users(s, "arms", MOST);
    return look(s);
}

static life live_second(server *s, int reward)
{
    bring(s, AFTER, reward);
    server_wait_users(s, "arms", MOST);
    return look(s);
}

static void assert_apart(const life *a, const life *b)
{
    int compared = 0;
    for (int n = 1; n <= MOST; n++) {
        double difference = a->sum[n] - b->sum[n];
        if (n <= BEFORE) {
            assert_true(difference == 0); /* one history, published once */
        } else if (isfinite(difference)) {
            assert_true(fabs(difference - rint(difference)) > 1e-6);
            compared++;
        }
    }
    assert_int_equal(compared, AFTER);
}

/* --- Status -------------------------------------------------------------------------------------- */

static void assert_store_status(const server *s, const char *wanted)
{
    char word[32] = "";
    read_store_status(s, word);
    assert_string_equal(word, wanted);
    const bool fine = strcmp(wanted, "fine") == 0;
    assert_int_equal(server_get(s, "/v1/learners", answer), 200);
    assert_non_null(strstr(answer, fine ? "\"learning\":true" : "\"learning\":false"));
    assert_int_equal(server_get(s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, fine ? "\ntacit_store_fine 1\n" : "\ntacit_store_fine 0\n"));
}

/* It decides, takes nobody, says why, and `store check` fails; users stay as they are. */
static void assert_closed(server *s, const char *store_status)
{
    char decision[1024], out[512];
    const unsigned long users = users_of(s);
    assert_store_status(s, store_status);
    decide(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_error(observe(s, decision, ",\"reward\":1"), 503, store_status, "");
    assert_int_equal(server_get(s, "/readyz", answer), 503);
    assert_int_equal(users_of(s), users);
    assert_true(json_number(answer, "accepted") < (double)users + 1);
    assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), 1);
    assert_true(file_has(s->directory, "no longer learn"));
}

/* Stops it, adopts the store, and starts it again. */
static void adopt(server *s, int lives)
{
    char out[2048];
    if (s->pid > 0) {
        /* not while it runs */
        assert_int_equal(
            server_tool(s, "store adopt service.yaml --original-is-gone", out, sizeof out), 3);
        assert_int_equal(server_stop(s, SIGTERM), 0);
    }
    /* not without the word */
    assert_int_equal(server_tool(s, "store adopt service.yaml", out, sizeof out), 2);
    assert_non_null(strstr(out, "arms: 8 users learned from; ("));
    assert_int_equal(server_tool(s, "store adopt service.yaml --original-is-gone", out, sizeof out),
                     0);
    assert_non_null(strstr(out, "adopted"));
    /* not twice */
    assert_int_equal(server_tool(s, "store adopt service.yaml --original-is-gone", out, sizeof out),
                     2);
    assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), 0);
    assert_true(server_start(s, NULL));
    assert_store_status(s, "fine");
    assert_int_equal(server_get(s, "/v1/guarantee?learner=arms", answer), 200);
    assert_true(json_number(answer, "lives") == lives);
    const char *all = strstr(answer, "\"in_all_lives\":"), *once = strstr(answer, "\"together\":");
    assert_non_null(strstr(answer, fmt("\"users\":8,\"lives\":%d}", lives)));
    assert_true(json_number(all, "epsilon") > json_number(once, "epsilon"));
    assert_true(json_number(all, "epsilon") <= lives * json_number(once, "epsilon") * (1 + 1e-9));
    assert_true(ledger(s, "arms", "lives") == lives);
}

static void put_back(int reward)
{
    SCOPED_BY(end) server s;
    life first = live_first(&s);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_shell(&s, "rm -f service.db-wal service.db-shm; cp kept service.db");
    assert_true(server_start(&s, NULL));
    assert_closed(&s, "behind");
    adopt(&s, 2);
    life second = live_second(&s, reward);
    assert_apart(&first, &second);
    /* the file from before the adoption is not taken for the store any more, nor is its mark */
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_shell(&s, "rm -f service.db-wal service.db-shm; cp kept service.db");
    assert_true(server_start(&s, NULL));
    assert_closed(&s, "behind");
    /* adopted, too, it is a third line: it knows nothing of the second, but the mark does */
    adopt(&s, 3);
}

TEST(an_older_file_is_put_back)
{
    put_back(0);
}

/* Equal releases would say that somebody brought the same as somebody else in the same place. */
TEST(users_who_bring_the_same_have_noise_of_their_own)
{
    put_back(1);
}

/* The log holds what came since the last start, unless the service had two seconds of rest: then this way of
 * losing users does not exist, and it is tried again. */
static void lose_log(const char *damage)
{
    for (int attempt = 0; attempt < 5; attempt++) {
        server s;
        life first = live_first(&s);
        assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
        server_shell(&s, damage);
        assert_true(server_start(&s, NULL));
        bool lost = users_of(&s) < MOST;
        if (lost) {
            assert_closed(&s, "behind");
            adopt(&s, 2);
            life second = live_second(&s, 0);
            assert_apart(&first, &second);
        } else {
            assert_store_status(&s, "fine");
        }
        end(&s);
        if (lost)
            return;
    }
    fail_msg("the log never held anything");
}

TEST(the_log_is_lost)
{
    lose_log("rm -f service.db-wal service.db-shm");
}

TEST(a_bit_of_the_log_is_flipped)
{
    lose_log("rm -f service.db-shm; printf X | dd of=service.db-wal bs=1 seek=60 conv=notrunc"
             " 2>/dev/null");
}

/* A second server in a directory of its own, on what `command` makes of the first one's store. */
static void open_second(const server *first, server *second, const char *command)
{
    server_open(second, TACIT_COMMAND, yaml);
    server_shell(
        second, fmt("first='%s'; cp \"$first\"/service.db.key . && %s", first->directory, command));
    (void)snprintf(second->token, sizeof second->token, "%s", first->token);
}

TEST(a_copy_runs_beside_the_original)
{
    SCOPED_BY(end) server s, copy;
    life first = live_first(&s);
    open_second(&s, &copy, "cp \"$first\"/kept service.db");
    assert_true(server_start(&copy, NULL));
    assert_closed(&copy, "behind"); /* its mark was left behind */
    adopt(&copy, 2);
    life second = live_second(&copy, 0);
    assert_apart(&first, &second);
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(a_backup_loses_its_mark)
{
    server s, copy;
    char out[512];
    begin(&s, yaml);
    bring(&s, BEFORE, 1);
    server_wait_users(&s, "arms", BEFORE);
    assert_int_equal(server_tool(&s, "store backup service.yaml backup.db", out, sizeof out), 0);
    execute(fmt("%s/backup.db", s.directory), "DELETE FROM meta WHERE name='copy'");
    open_second(&s, &copy, "cp \"$first\"/backup.db service.db");
    assert_no_start(&copy, 2);
    assert_true(file_has(copy.directory, "facts about the store were changed"));
    server_close(&copy);
    end(&s);
}

/* --- Two servers --------------------------------------------------------------------------------- */

TEST(a_second_name_of_the_store_is_refused)
{
    static const char *const ways[] = {
        "ln -s \"$first\"/service.db service.db", "ln \"$first\"/service.db service.db",
        "ln -s \"$first\" linked && sed -i 's|store: .*|store: linked/service.db|' service.yaml"};
    server s, other;
    begin(&s, yaml);
    bring(&s, BEFORE, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        open_second(&s, &other, ways[i]);
        assert_no_start(&other, 3);
        assert_true(file_has(other.directory, "another server is running on this store"));
        if (i ==
            1) { /* a hard link has a log of its own, from which the first one would learn nothing */
            assert_int_not_equal(server_tool(&other,
                                             "token create service.yaml --name b --scopes read",
                                             answer, sizeof answer),
                                 0);
            assert_string_equal(answer, "");
        }
        server_close(&other);
        bring(&s, 1, 1); /* the first one goes on */
    }
    server_wait_users(&s, "arms", BEFORE + 3);
    assert_store_status(&s, "fine");
    end(&s);
}

/* A child that has ended and was not waited for. */
static bool has_ended(const server *s)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == s->pid;
}

/* The server's end by itself: its exit status. */
static int await_end(server *s)
{
    await(has_ended(s));
    return server_stop(s, SIGTERM);
}

/* A lock that does not work, as on some networks: somebody else has written another owner. */
TEST(who_is_not_the_owner_any_more_stops)
{
    static const char *const ways[] = {NULL, "cp service.db other && mv other service.db",
                                       "rm service.db"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        SCOPED_BY(server_close) server s;
        char decision[1024], out[512];
        begin(&s, yaml);
        bring(&s, BEFORE, 1);
        server_wait_users(&s, "arms", BEFORE);
        /* who changes tokens does not take it over */
        assert_int_equal(
            server_tool(&s, "token create service.yaml --name b --scopes read", out, sizeof out),
            0);
        bring(&s, 1, 1);
        server_wait_users(&s, "arms", BEFORE + 1);
        decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
        if (ways[i] != NULL)
            server_shell(&s, ways[i]);
        else
            execute(s.store, "UPDATE meta SET value=randomblob(16) WHERE name='owner'");
        const int status = observe(&s, decision, ",\"reward\":1");
        if (ways[i] == NULL)
            assert_error(status, 503, "fenced", "");
        else /* without anything to write it looks at its file every two seconds: it may be gone */
            assert_true(status == 503 || status == 0);
        assert_int_equal(await_end(&s), 3);
    }
}

/* --- Two at once ---------------------------------------------------------------------------------- */

typedef struct names {
    char store[32], start[32];
} names;

/* What /readyz and /metrics say of the line, which is the same. `learns`: it is continued here. */
static names names_of(const server *s, bool learns)
{
    names n = {0};
    assert_int_equal(server_get(s, "/readyz", answer), learns ? 200 : 503);
    assert_true(json_field(answer, "store", n.store, sizeof n.store));
    assert_true(json_field(answer, "start", n.start, sizeof n.start));
    assert_int_equal(strlen(n.store), 16);
    assert_int_equal(strlen(n.start), 16);
    assert_int_equal(server_get(s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, fmt("\ntacit_store_line{store=\"%s\",start=\"%s\"} %d\n",
                                       n.store, n.start, learns)));
    return n;
}

static void assert_same_store(const names *a, const names *b)
{
    assert_string_equal(a->store, b->store);
    assert_string_not_equal(a->start, b->start);
}

/* Nothing inside a directory that was copied whole tells which is the original; but whoever sees both can. */
TEST(two_services_on_copies_of_one_directory_show_it)
{
    char out[2048];
    SERVER(first, yaml);
    const names before = names_of(&first, true);
    assert_int_equal(server_stop(&first, SIGTERM), 0);
    SERVER(second, yaml);
    const names another = names_of(&second, true);
    assert_string_not_equal(another.store, before.store); /* each store has its own */
    assert_int_equal(server_stop(&second, SIGTERM), 0);
    assert_shell("cp -p '%s'/service.db* '%s'", first.directory, second.directory);
    (void)snprintf(second.token, sizeof second.token, "%s", first.token);
    assert_true(server_start(&first, NULL));
    assert_true(server_start(&second, NULL));
    const names one = names_of(&first, true), two = names_of(&second, true);
    assert_same_store(&one, &before);
    assert_same_store(&two, &before);
    assert_same_store(&one, &two);
    /* a new key and an adoption leave the name of the store as it is; a copy continues nothing */
    assert_int_equal(server_tool(&first, "store backup service.yaml kept", out, sizeof out), 0);
    assert_int_equal(server_stop(&first, SIGTERM), 0);
    assert_int_equal(server_stop(&second, SIGTERM), 0);
    assert_int_equal(server_tool(&second, "store rekey service.yaml --yes", out, sizeof out), 0);
    server_shell(&first, "cp kept service.db");
    assert_true(server_start(&first, NULL));
    assert_true(server_start(&second, NULL));
    const names copy = names_of(&first, false), rekeyed = names_of(&second, true);
    assert_same_store(&copy, &rekeyed);
    assert_same_store(&copy, &two);
    assert_int_equal(server_stop(&first, SIGTERM), 0);
    assert_int_equal(
        server_tool(&first, "store adopt service.yaml --original-is-gone", out, sizeof out), 0);
    assert_true(server_start(&first, NULL));
    const names adopted = names_of(&first, true);
    assert_same_store(&adopted, &rekeyed);
}
