/* The drill of docs/how-to/serve.md, for real: serve, back up, go on, lose the disk, restore, adopt, learn
 * again. The same with a key that is changed. And a log that is cut, or damaged, at every page: whoever was
 * acknowledged is there, or it is noticed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "service/plain.h"

static const char yaml[] = "listen: 127.0.0.1:0\n"
                           "store: disk/service.db\n"
                           "mark: other/service.mark\n"
                           "key: own/key\n"
                           "learners: [{name: arms, space: {states: 1, actions: 2, horizon: 1},"
                           " users: 2000, agent: " JOINT "}]\n";

static void tool(server *s, const char *arguments, int wanted)
{
    char out[4096];
    int code = server_tool(s, arguments, out, sizeof out);
    if (code != wanted)
        fail_msg("tacit %s: %d, expected %d: %s", arguments, code, wanted, out);
}

static void bring(const server *s, int n)
{
    char decision[1024];
    for (int i = 0; i < n; i++) {
        decide(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
        assert_observed(s, decision, ",\"reward\":1", "finished");
    }
}

static void assert_store(const server *s, const char *wanted)
{
    char word[32] = "";
    read_store_status(s, word);
    assert_string_equal(word, wanted);
}

/* A service whose store, mark and key are in directories of their own. */
static void open_drill(server *s)
{
    server_open(s, TACIT_COMMAND, yaml);
    server_shell(s, "mkdir disk other own && umask 077 && head -c 32 /dev/urandom >own/key");
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
}

TEST(a_lost_disk_is_replaced_by_a_backup)
{
    SCOPED_BY(end) server s;
    open_drill(&s);
    bring(&s, 20);
    server_wait_users(&s, "arms", 20);
    tool(&s, "store backup service.yaml backup.db", 0);
    bring(&s, 10); /* they will be missing */
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    server_shell(
        &s,
        "rm -r disk && mkdir disk && cp backup.db disk/service.db && chmod 600 disk/service.db");
    assert_true(server_start(&s, NULL)); /* meanwhile it decides */
    assert_store(&s, "copy");
    tool(&s, "store check service.yaml", 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    tool(&s, "store adopt service.yaml", 2);
    tool(&s, "store adopt service.yaml --original-is-gone", 0);
    tool(&s, "store check service.yaml", 0);
    assert_true(server_start(&s, NULL));
    assert_store(&s, "fine");
    bring(&s, 5);
    server_wait_users(&s, "arms", 25);
    assert_int_equal(server_get(&s, "/v1/guarantee?learner=arms", answer), 200);
    assert_true(json_number(answer, "lives") == 2);
    assert_non_null(strstr(answer, "\"users\":20,\"lives\":2}"));
    /* for good: also in a backup of it, and one more when that is adopted */
    tool(&s, "store backup service.yaml second.db", 0);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_shell(&s, "rm -f disk/service.db* && cp second.db disk/service.db");
    tool(&s, "store adopt service.yaml --original-is-gone", 0);
    assert_true(server_start(&s, NULL));
    assert_true(ledger(&s, "arms", "lives") == 3);
}

TEST(the_whole_directory_moves_without_a_price)
{
    SCOPED_BY(end) server s;
    open_drill(&s);
    bring(&s, 5);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_shell(
        &s, "mkdir there && cp -a disk other own there && rm -r disk other own && mv there/* .");
    assert_true(server_start(&s, NULL));
    assert_store(&s, "fine");
    bring(&s, 5);
    server_wait_users(&s, "arms", 10);
    assert_true(ledger(&s, "arms", "lives") == 1);
}

TEST(a_mark_that_is_damaged_in_one_place_still_counts)
{
    /* one slot torn: the other one counts. Both, or none: nobody can tell */
    static const struct {
        const char *damage, *store_status;
    } cases[] = {
        {"printf XXXX | dd of=other/service.mark bs=1 seek=30 conv=notrunc 2>/dev/null", "fine"},
        {"printf XXXX | dd of=other/service.mark bs=1 seek=542 conv=notrunc 2>/dev/null", "fine"},
        {"head -c 20 /dev/zero >other/service.mark", "behind"},
        {"rm other/service.mark", "behind"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCOPED_BY(end) server s;
        open_drill(&s);
        bring(&s, 3);
        assert_int_equal(server_stop(&s, SIGTERM), 0);
        server_shell(&s, cases[i].damage);
        assert_true(server_start(&s, NULL));
        assert_store(&s, cases[i].store_status);
    }
}

/* --- Keys ---------------------------------------------------------------------------------------- */

TEST(a_key_is_changed)
{
    SCOPED_BY(end) server s;
    char decision[1024];
    open_drill(&s);
    bring(&s, 3);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann\"}", decision);
    tool(&s, "store rekey service.yaml --yes", 3); /* not while it runs */
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_shell(&s, "cp -p own/key old");
    tool(&s, "store rekey service.yaml --yes", 0);
    server_shell(&s,
                 "! cmp -s own/key old && [ ! -e own/key.new ] && [ $(stat -c %a own/key) = 600 ] "
                 "&& cmp own/key.old old && [ $(stat -c %a own/key.old) = 600 ]");
    tool(&s, "store check service.yaml", 0);
    assert_true(server_start(&s, NULL));
    assert_observed(&s, decision, ",\"reward\":1", "finished"); /* an old ticket is good */
    server_wait_users(&s, "arms", 4);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    /* cut short before the new key took the place of the old one: a start finds it and puts it there */
    server_shell(&s, "mv own/key own/key.new && cp -p old own/key");
    tool(&s, "store check service.yaml", 0);
    assert_true(server_start(&s, NULL));
    server_shell(&s, "! cmp -s own/key old && [ ! -e own/key.new ]");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    /* elsewhere, and again, as after an interruption */
    tool(&s, "store rekey service.yaml --new-key fresh --yes", 0);
    tool(&s, "store rekey service.yaml --new-key fresh --yes", 0);
    assert_no_start(&s, 2);
    server_shell(&s, "mv fresh own/key");
    assert_true(server_start(&s, NULL));
    assert_store(&s, "fine");
    server_wait_users(&s, "arms", 4);
}

/* --- The log ------------------------------------------------------------------------------------- */

enum { USERS = 12, HEADER = 32, FRAME = 24 + 4096 };

/* The service on what is left: everybody is there, or it says that it went back, or it does not start. */
static void assert_noticed(server *s)
{
    int code = 0;
    if (!server_start(s, &code)) {
        assert_int_equal(code, 2);
        return;
    }
    char word[32] = "";
    read_store_status(s, word);
    if (strcmp(word, "fine") == 0)
        assert_true(ledger(s, "arms", "accepted") == USERS);
    else
        assert_string_equal(word, "behind");
    assert_int_equal(server_stop(s, SIGKILL), -SIGKILL);
}

TEST(a_log_that_is_cut_or_flipped_at_any_page_is_noticed)
{
    SCOPED_BY(server_close) server s;
    struct stat entry;
    open_drill(&s);
    bring(&s, USERS);
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    server_shell(&s, "cp -a disk kept-disk && cp -a other kept-other");
    assert_int_equal(stat(fmt("%s/disk/service.db-wal", s.directory), &entry), 0);
    const long pages = ((long)entry.st_size - HEADER) / FRAME;
    assert_true(pages > 0);
    for (long i = 0; i <= pages; i++)
        for (int flip = 0; flip < 2; flip++) {
            if (flip && i == pages)
                continue;
            server_shell(&s, "rm -r disk other && cp -a kept-disk disk && cp -a kept-other other &&"
                             " rm -f disk/service.db-shm");
            server_shell(&s,
                         fmt(flip ? "printf '\\377\\001' | dd of=disk/service.db-wal bs=1 seek=%ld"
                                    " conv=notrunc 2>/dev/null"
                                  : "truncate -s %ld disk/service.db-wal",
                             HEADER + i * FRAME + (flip ? 1000 : 0)));
            assert_noticed(&s);
        }
}
