/* The care of a store under kills and full disks: keys that are changed, adoption, backups. Whatever the
 * moment, the store is as it was or as it should be, opens with a key that is there, and has everybody. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/memory.h"
#include "noise/seal.h"
#include "service/fault_io.h"
#include "store/vault/vault_inside.h"
#include "support/check.h"
#include "text/text.h"

SCOPED_TYPE(tacit__vault, tacit__vault_close)

static const uint8_t master[TACIT__KEY_BYTES] = "a test's", other[TACIT__KEY_BYTES] = "another";
static const uint8_t state_bytes[] = "everything";
static const char secret[] = "somebody's data";

typedef struct place {
    char directory[64], path[80];
} place;

static void open_place(place *p)
{
    /* in memory where there is such a place: the tests sync ten thousand times */
    *p = (place){0};
    (void)snprintf(p->directory, sizeof p->directory, "%s/tacit-keeping-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir);
    assert_non_null(mkdtemp(p->directory));
    (void)snprintf(p->path, sizeof p->path, "%s/v.db", p->directory);
}

static void shell_in(const place *p, const char *command)
{
    assert_shell("cd '%s' && { %s; }", p->directory, command);
}

static void close_place(place *p)
{
    shell_in(p, "rm -rf \"$PWD\"");
}

/* --- A store with everything in it ----------------------------------------------------------------- */

static void open_store(const place *p, const uint8_t *key, tacit__vault **v)
{
    tacit_error err = {0};
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, key, v, &err));
}

/* Two users were taken, and one of them was learned from. */
static void make_store(const place *p)
{
    static const uint8_t first[TACIT__VAULT_KEY] = {1}, next[TACIT__VAULT_KEY] = {2};
    static const uint8_t ann[TACIT__VAULT_KEY] = {9};
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    tacit__vault_answer answer;
    tacit__vault_learner l = {.limit = 9, .version = 3};
    const tacit__vault_ledger_line line = {"moves", 9, 1};
    const tacit__vault_point point = {.users = 1, .version = 3, .reward = 0.5};
    open_store(p, master, &v);
    assert_ok(tacit__vault_add_token(v, &(tacit__token){.name = "web"}, "a token", &err));
    assert_ok(tacit__vault_begin(v, &err));
    assert_ok(tacit__vault_add_learner(v, "one", &l, state_bytes, sizeof state_bytes, &err));
    assert_ok(
        tacit__vault_add_user(v, l.id, first, ann, NULL, secret, sizeof secret, &answer, &err));
    assert_ok(
        tacit__vault_add_user(v, l.id, next, NULL, NULL, secret, sizeof secret, &answer, &err));
    assert_ok(tacit__vault_commit(v, &err));
    l.users = l.shown = 1;
    l.taken = 1;
    assert_ok(tacit__vault_begin(v, &err));
    assert_ok(tacit__vault_save_learner(v, &l, state_bytes, sizeof state_bytes, &line, 1, &err));
    assert_ok(tacit__vault_add_point(v, l.id, &point, &err));
    assert_ok(tacit__vault_commit(v, &err));
}

/* Everything of the store above is there: who serves finds the state, the input, and whoever took part. */
static void assert_whole(tacit__vault *v)
{
    tacit_error err = {0};
    tacit__vault_learner row;
    tacit__vault_health health;
    uint8_t *bytes = NULL, key[TACIT__VAULT_KEY];
    const uint8_t ann[TACIT__VAULT_KEY] = {9};
    size_t size = 0;
    int64_t number = 0;
    bool found = false;
    assert_ok(tacit__vault_find_learner(v, "one", &found, &row, &bytes, &size, &err));
    assert_true(found && row.accepted == 2 && row.users == 1 && row.shown == 1);
    assert_int_equal(size, sizeof state_bytes);
    assert_memory_equal(bytes, state_bytes, size);
    tacit__free_secret(bytes, size);
    assert_ok(tacit__vault_next_input(v, row.id, row.taken, &number, key, &bytes, &size, &err));
    assert_int_equal(size, sizeof secret);
    assert_memory_equal(bytes, secret, size);
    assert_int_equal(key[0], 2);
    tacit__free_secret(bytes, size);
    assert_ok(tacit__vault_has_person(v, row.id, ann, NULL, &found, &err));
    assert_true(found);
    assert_ok(tacit__vault_check(v, &health, &err));
    assert_true(health.tokens == 1 && health.seen == 2 && health.inputs == 1);
}

/* SQL on the file, by a hand that has no key. */
static void run_sql(const place *p, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

TEST(a_store_of_another_format_is_left_alone)
{
    static const char *const formats[] = {"0", "2", "7"};
    static const tacit__vault_use uses[] = {TACIT__VAULT_SERVE, TACIT__VAULT_READ,
                                            TACIT__VAULT_TOOL};
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    tacit__vault *v = NULL;
    open_place(&p);
    make_store(&p);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        run_sql(&p, fmt("PRAGMA user_version=%s", formats[i]));
        shell_in(&p, "cp v.db kept");
        for (size_t use = 0; use < sizeof uses / sizeof *uses; use++) {
            assert_status(tacit__vault_open(p.path, uses[use], master, &v, &err),
                          TACIT_WRONG_VERSION);
            assert_non_null(strstr(err.message, fmt("the store has format %s, and", formats[i])));
            assert_non_null(strstr(err.message, "reads format 1 only"));
            assert_non_null(strstr(err.message, "continue with the version that made the store"));
        }
        shell_in(&p, "cmp v.db kept");
    }
    run_sql(&p, "PRAGMA user_version=1");
    open_store(&p, master, &v);
    assert_whole(v);
    tacit__vault_close(v);
}

/* --- Marks ----------------------------------------------------------------------------------------- */

static void assert_opens(const place *p, tacit__store_status store_status)
{
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_string_equal(tacit__store_status_name(tacit__vault_store_status(v)),
                        tacit__store_status_name(store_status));
}

/* One backup is adopted twice, and the mark of the first comes to the second, which has none yet. */
TEST(a_mark_of_another_adoption_is_not_written_over)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    tacit__vault *v = NULL;
    open_place(&p);
    make_store(&p);
    open_store(&p, master, &v);
    assert_ok(tacit__vault_backup(v, fmt("%s/kept", p.directory), &err));
    tacit__vault_close(v);
    for (int i = 0; i < 2; i++) {
        shell_in(&p, "rm -f v.db*; cp kept v.db");
        open_store(&p, master, &v);
        assert_ok(tacit__vault_adopt(v, &err));
        assert_true(tacit__vault_forks(v) == 2);
        if (i == 1) { /* as if it were killed when the adoption was on disk */
            assert_ok(tacit__vault_begin(v, &err));
            assert_ok(tacit__vault_set_fact(v, "unmarked", "", 1, &err));
            assert_ok(tacit__vault_commit(v, &err));
        }
        tacit__vault_close(v);
        if (i == 0)
            shell_in(&p, "cp v.db.mark m");
    }
    shell_in(&p, "cp m v.db.mark");
    assert_opens(&p, TACIT__STORE_BEHIND);
}

/* Two service files name one mark: the second store must not write over the first one's. */
TEST(another_stores_mark_is_left_alone)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    open_place(&p);
    make_store(&p);
    assert_opens(&p, TACIT__STORE_FINE);
    const char *second = fmt("%s/w.db", p.directory);
    const char *mark = fmt("%s.mark", p.path);
    for (int i = 0; i < 2; i++) {
        assert_status(tacit__vault_open_at(&(tacit__vault_location){second, mark, false, false},
                                           TACIT__VAULT_SERVE, other, &v, &err),
                      TACIT_BAD_ARGUMENT);
        assert_non_null(strstr(err.message, "v.db.mark: this is the mark of another store"));
    }
    assert_opens(&p, TACIT__STORE_FINE);
    /* with a mark of its own it begins */
    assert_ok(tacit__vault_open(second, TACIT__VAULT_SERVE, other, &v, &err));
    assert_int_equal(tacit__vault_store_status(v), TACIT__STORE_FINE);
}

static void commit_something(tacit__vault *v)
{
    tacit_error err = {0};
    assert_ok(tacit__vault_begin(v, &err));
    assert_ok(tacit__vault_add_event(v, &err, "something"));
    assert_ok(tacit__vault_commit(v, &err));
}

/* The owner of a running store knows how far it is. */
TEST(a_mark_that_was_removed_is_made_again)
{
    static const char *const ways[] = {"rm v.db.mark", "cp v.db.mark m; mv m v.db.mark"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        SCOPED_BY(close_place) place p;
        tacit_error err = {0};
        tacit__vault *v = NULL;
        open_place(&p);
        make_store(&p);
        assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
        shell_in(&p, ways[i]);
        commit_something(v);
        commit_something(v);
        shell_in(&p, "cp v.db kept; cp v.db-wal kept-wal");
        commit_something(v);
        tacit__vault_close(v);
        assert_opens(&p, TACIT__STORE_FINE);
        shell_in(&p, "cp kept v.db; cp kept-wal v.db-wal; rm -f v.db-shm");
        assert_opens(&p, TACIT__STORE_BEHIND);
    }
}

/* Where locks do not work: a server that has lost the store, and does not know it yet, leaves the mark of the
 * new owner alone. */
TEST(who_has_lost_the_store_leaves_the_mark_alone)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    tacit__vault *v = NULL;
    open_place(&p);
    make_store(&p);
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    commit_something(v);
    run_sql(&p, "UPDATE meta SET value=randomblob(16) WHERE name='owner'");
    shell_in(&p, "printf 'of the new owner' >v.db.mark");
    assert_true(tacit__vault_truncate_log(v));
    assert_int_equal(tacit__vault_store_status(v), TACIT__STORE_FENCED);
    tacit__vault_close(v);
    shell_in(&p, "[ \"$(cat v.db.mark)\" = 'of the new owner' ]");
}

/* Where locks do not work: whoever was still writing while this one looked is not overwritten with older
 * numbers. */
TEST(a_claim_is_refused_while_somebody_writes)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    open_place(&p);
    make_store(&p);
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_ok(tacit__vault_claim_ownership(v, &err));
    run_sql(&p, "UPDATE meta SET value=x'0900000000000000' WHERE name='generation'");
    assert_status(tacit__vault_claim_ownership(v, &err), TACIT_SYSTEM);
    assert_non_null(strstr(err.message, "another server is running on this store"));
}

/* --- Kills and full disks -------------------------------------------------------------------------- */

typedef enum act { ADOPT, REKEY, BACKUP } act;

/* A store that the act can be done to. */
static void prepare_act(const place *p, act what)
{
    make_store(p);
    if (what == ADOPT)
        shell_in(p, "rm v.db.mark");
}

static tacit_status do_act(const place *p, act what, tacit_error *err)
{
    SCOPED(tacit__vault) *v = NULL;
    char path[100];
    tacit_status status = tacit__vault_open(
        p->path, what == BACKUP ? TACIT__VAULT_READ : TACIT__VAULT_SERVE, master, &v, err);
    (void)snprintf(path, sizeof path, "%s/v.db.copy", p->directory);
    if (status == TACIT_OK && what == ADOPT)
        status = tacit__vault_adopt(v, err);
    if (status == TACIT_OK && what == REKEY)
        status = tacit__vault_rekey(v, other, err);
    if (status == TACIT_OK && what == BACKUP)
        status = tacit__vault_backup(v, path, err);
    return status;
}

/* After an act that came to an end at any moment: the store opens with one key, is whole, and the act can be
 * done again, or was. */
static void assert_good(const place *p, act what)
{
    tacit_error err = {0};
    tacit__vault *v = NULL;
    const uint8_t *key = master;
    tacit_status status = tacit__vault_open(p->path, TACIT__VAULT_SERVE, key, &v, &err);
    if (status == TACIT_WRONG_PLAN && what == REKEY)
        status = tacit__vault_open(p->path, TACIT__VAULT_SERVE, key = other, &v, &err);
    assert_ok(status);
    if (tacit__vault_store_status(v) == TACIT__STORE_BEHIND) {
        assert_int_equal(what, ADOPT);
        assert_true(tacit__vault_forks(v) == 1);
        assert_ok(tacit__vault_adopt(v, &err));
    }
    assert_true(tacit__vault_forks(v) == (what == ADOPT ? 2 : 1));
    if (what == REKEY && key == master)
        assert_ok(tacit__vault_rekey(v, other, &err));
    assert_int_equal(tacit__vault_store_status(v), TACIT__STORE_FINE);
    assert_whole(v);
    tacit__vault_close(v);
    shell_in(p, "[ ! -e v.db.copy ] || [ -s v.db.copy ]");
}

/* The n-th change of a file of the store is the last one of the process, or the first one for which there is
 * no room. */
static bool survives(act what, uint64_t n, int after, bool full)
{
    SCOPED_BY(close_place) place p;
    int code = 0;
    open_place(&p);
    prepare_act(&p, what);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tacit_error err = {0};
        fault_io_arm("/v.db", full ? 0 : n, after, full ? n : 0);
        tacit_status status = do_act(&p, what, &err);
        _exit(fault_io_count() < n ? 9 : status == TACIT_OK ? 1 : status == TACIT_SYSTEM ? 2 : 3);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    const bool over = WIFEXITED(code) && WEXITSTATUS(code) == 9;
    if (full && !over) /* what fails says so; what is done may still fail to cut its log */
        assert_true(WIFEXITED(code) && WEXITSTATUS(code) <= 2);
    assert_good(&p, what);
    return !over;
}

#ifdef TACIT_SANITIZED
enum { HOP = 7 }; /* a process that forks under a sanitizer takes its time */
#else
enum { HOP = 1 };
#endif

static void assert_survives(act what)
{
    uint64_t n = 1;
    for (int after = 0; after < 2; after++)
        for (n = 1; survives(what, n, after, false); n += HOP)
            ;
    assert_true(n > 5); /* it does write */
    for (n = 1; survives(what, n, 0, true); n += HOP)
        ;
}

TEST(adoption_survives_kills_and_full_disks)
{
    assert_survives(ADOPT);
}

TEST(a_new_key_survives_kills_and_full_disks)
{
    assert_survives(REKEY);
}

TEST(a_backup_survives_kills_and_full_disks)
{
    assert_survives(BACKUP);
}
