/* The care of a store under kills and full disks: formats that are brought over, keys that are changed, adoption. Whatever the moment,
 * the store is as it was or as it should be, opens with a key that is there, and has everybody. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/memory.h"
#include "base/text.h"
#include "noise/seal.h"
#include "service/fault_io.h"
#include "store/service_store_inside.h"
#include "support/check.h"

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

/* --- A store of format 4, as the version before made it -------------------------------------------- */

static const char schema_4[] =
    "PRAGMA application_id=1952539508; PRAGMA user_version=4; PRAGMA journal_mode=WAL;"
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;"
    "CREATE TABLE learner(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, fingerprint BLOB,"
    " users_limit INTEGER, accepted INTEGER, users INTEGER, refused INTEGER, version INTEGER,"
    " taken INTEGER, state BLOB);"
    "CREATE TABLE open(learner INTEGER, key BLOB, opened INTEGER, data BLOB,"
    " PRIMARY KEY(learner, key)) WITHOUT ROWID;"
    "CREATE INDEX open_by_age ON open(opened);"
    "CREATE TABLE input(number INTEGER PRIMARY KEY AUTOINCREMENT, learner INTEGER, data BLOB);"
    "CREATE INDEX input_by_learner ON input(learner, number);"
    "CREATE TABLE seen(learner INTEGER, key BLOB, content BLOB, PRIMARY KEY(learner, key))"
    " WITHOUT ROWID;"
    "CREATE TABLE answer(name BLOB PRIMARY KEY, opened INTEGER, content BLOB, data BLOB)"
    " WITHOUT ROWID;"
    "CREATE INDEX answer_by_age ON answer(opened);"
    "CREATE TABLE person(learner INTEGER, hash BLOB, key BLOB, PRIMARY KEY(learner, hash))"
    " WITHOUT ROWID;"
    "CREATE TABLE ledger(learner INTEGER, release TEXT, declared INTEGER, passed INTEGER,"
    " PRIMARY KEY(learner, release)) WITHOUT ROWID;"
    "CREATE TABLE history(learner INTEGER, users INTEGER, at INTEGER, version INTEGER, reward REAL,"
    " PRIMARY KEY(learner, users)) WITHOUT ROWID;"
    "CREATE TABLE token(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, hash BLOB,"
    " scopes INTEGER, created INTEGER, revoked INTEGER);"
    "INSERT INTO learner VALUES(7,'one',zeroblob(32),9,2,1,0,3,1,NULL);"
    "INSERT INTO ledger VALUES(7,'moves',9,1);"
    "INSERT INTO history VALUES(7,1,5,3,0.5);"
    "INSERT INTO token VALUES(1,'web',zeroblob(32),3,5,0);"
    "INSERT INTO seen VALUES(7,x'01000000000000000000000000000000',NULL);"
    "INSERT INTO seen VALUES(7,x'02000000000000000000000000000000',NULL);"
    "INSERT INTO person VALUES(7,x'09000000000000000000000000000000',"
    "x'01000000000000000000000000000000');"
    "INSERT INTO sqlite_sequence VALUES('input', 1);";

static void bind_and_run(sqlite3 *db, const char *sql, const void *bytes, size_t size)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    (void)sqlite3_bind_blob(s, 1, bytes, (int)size, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
}

/* type, size and bytes of each column, as the proof of format 4 had them */
static void put_row(sqlite3 *db, const char *sql, tacit__text *out)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            const char *bytes = sqlite3_column_blob(s, i);
            size_t size = (size_t)sqlite3_column_bytes(s, i);
            tacit__text_print(out, "%d %zu ", sqlite3_column_type(s, i), size);
            tacit__text_add(out, bytes, size);
        }
        tacit__text_put(out, ";");
    }
    tacit__text_put(out, ".");
    assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
}

static void make_format_4(const place *p)
{
    sqlite3 *db = NULL;
    uint8_t key[TACIT__KEY_BYTES], sealed[sizeof state_bytes + TACIT__SEAL_BYTES + 32];
    uint8_t text[sizeof secret + TACIT__VAULT_KEY] = {0}, input[sizeof text + TACIT__SEAL_BYTES];
    tacit__text all = {0};
    tacit__seal_start();
    assert_int_equal(sqlite3_open(p->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, schema_4, NULL, NULL, NULL), SQLITE_OK);
    tacit__key_derive(master, "tacit vault: check", key);
    bind_and_run(db, "INSERT INTO meta VALUES('check', ?)", key, sizeof key);
    tacit__key_derive(master, "tacit vault: states", key);
    tacit__seal(key, state_bytes, sizeof state_bytes, sealed);
    tacit__text_add(&all, (const char *)sealed, TACIT__SEAL_BYTES);
    put_row(db,
            "SELECT name, fingerprint, users_limit, users, refused, version, taken FROM learner",
            &all);
    put_row(db, "SELECT release, declared, passed FROM ledger", &all);
    tacit__key_derive(master, "tacit vault: proofs", key);
    tacit__keyed_hash(key, all.data, all.length, sealed + sizeof state_bytes + TACIT__SEAL_BYTES,
                      32);
    tacit__text_destroy(&all);
    bind_and_run(db, "UPDATE learner SET state=?", sealed, sizeof sealed);
    memcpy(text, secret, sizeof secret);
    text[sizeof secret] = 2;
    tacit__key_derive(master, "tacit vault: inputs", key);
    tacit__seal(key, text, sizeof text, input);
    bind_and_run(db, "INSERT INTO input(learner, data) VALUES(7, ?)", input, sizeof input);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    shell_in(p, "printf 'made\\n' >v.db.lock");
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
    assert_true(found && row.id == 7 && row.accepted == 2 && row.users == 1 && row.shown == 1);
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

TEST(a_store_of_the_format_before_is_brought_over)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    struct stat entry;
    uint8_t key[TACIT__KEY_BYTES];
    open_place(&p);
    make_format_4(&p);
    /* by who serves, and with the right key */
    assert_status(tacit__vault_open(p.path, TACIT__VAULT_READ, master, &v, &err),
                  TACIT_WRONG_VERSION);
    assert_non_null(strstr(err.message, "tacit store migrate"));
    assert_status(tacit__vault_open(p.path, TACIT__VAULT_SERVE, other, &v, &err), TACIT_WRONG_PLAN);
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_int_equal(tacit__vault_standing(v), TACIT__STANDING_FINE);
    assert_whole(v);
    /* what others have in hand stays valid */
    tacit__key_derive(master, "tacit service: people", key);
    assert_memory_equal(tacit__vault_key(v, TACIT__VAULT_PEOPLE), key, sizeof key);
    tacit__vault_close(v);
    assert_int_equal(stat(fmt("%s.format4", p.path), &entry), 0);
    assert_int_equal(entry.st_mode & 0777, 0600);
    /* the copy is a good store of format 4, which knows that it is a copy */
    shell_in(&p, "rm -f v.db v.db-* v.db.mark v.db.lock; mv v.db.format4 v.db");
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_int_equal(tacit__vault_standing(v), TACIT__STANDING_COPY);
}

TEST(a_changed_store_is_not_brought_over)
{
    static const char *const changes[] = {"UPDATE learner SET users_limit=10",
                                          "UPDATE ledger SET passed=0",
                                          "UPDATE learner SET state=zeroblob(200)"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        SCOPED_BY(close_place) place p;
        tacit_error err = {0};
        tacit__vault *v = NULL;
        sqlite3 *db = NULL;
        open_place(&p);
        make_format_4(&p);
        assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        assert_status(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err),
                      TACIT_CORRUPT);
    }
}

/* --- Marks ----------------------------------------------------------------------------------------- */

static void assert_opens(const place *p, tacit__standing standing)
{
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_string_equal(tacit__standing_name(tacit__vault_standing(v)),
                        tacit__standing_name(standing));
}

/* It has no number that a mark could be compared with; but a mark under its key says that it was brought over before. */
TEST(a_file_of_the_format_before_that_is_put_back_is_noticed)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    tacit__vault *v = NULL;
    open_place(&p);
    make_format_4(&p);
    shell_in(&p, "cp v.db kept");
    assert_opens(&p, TACIT__STANDING_FINE);
    shell_in(&p, "rm -f v.db-*; cp kept v.db");
    assert_opens(&p, TACIT__STANDING_BEHIND);
    assert_opens(&p, TACIT__STANDING_BEHIND);
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_ok(tacit__vault_adopt(v, &err));
    assert_true(tacit__vault_lives(v) == 2);
    tacit__vault_close(v);
    assert_opens(&p, TACIT__STANDING_FINE);
    /* the same with the key that it had then */
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_ok(tacit__vault_rekey(v, other, &err));
    tacit__vault_close(v);
    shell_in(&p, "rm -f v.db-*; cp kept v.db");
    for (int i = 0; i < 2; i++) {
        assert_status(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err),
                      TACIT_BAD_ARGUMENT);
        assert_non_null(strstr(err.message, "under another key"));
    }
}

/* Two service files name one mark: the second store must not write over the first one's. */
TEST(another_stores_mark_is_left_alone)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    open_place(&p);
    make_format_4(&p);
    assert_opens(&p, TACIT__STANDING_FINE);
    const char *second = fmt("%s/w.db", p.directory);
    const char *mark = fmt("%s.mark", p.path);
    for (int i = 0; i < 2; i++) {
        assert_status(tacit__vault_open_at(&(tacit__vault_place){second, mark, false, false},
                                           TACIT__VAULT_SERVE, other, &v, &err),
                      TACIT_BAD_ARGUMENT);
        assert_non_null(strstr(err.message, "v.db.mark: this is the mark of another store"));
    }
    assert_opens(&p, TACIT__STANDING_FINE);
    /* with a mark of its own it begins */
    assert_ok(tacit__vault_open(second, TACIT__VAULT_SERVE, other, &v, &err));
    assert_int_equal(tacit__vault_standing(v), TACIT__STANDING_FINE);
}

static void commit_something(tacit__vault *v)
{
    tacit_error err = {0};
    assert_ok(tacit__vault_begin(v, &err));
    assert_ok(tacit__vault_event(v, &err, "something"));
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
        make_format_4(&p);
        assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
        shell_in(&p, ways[i]);
        commit_something(v);
        commit_something(v);
        shell_in(&p, "cp v.db kept; cp v.db-wal kept-wal");
        commit_something(v);
        tacit__vault_close(v);
        assert_opens(&p, TACIT__STANDING_FINE);
        shell_in(&p, "cp kept v.db; cp kept-wal v.db-wal; rm -f v.db-shm");
        assert_opens(&p, TACIT__STANDING_BEHIND);
    }
}

/* Where locks do not work: a server that has lost the store, and does not know it yet, leaves the mark of the new owner alone. */
TEST(who_has_lost_the_store_leaves_the_mark_alone)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    tacit__vault *v = NULL;
    sqlite3 *db = NULL;
    open_place(&p);
    make_format_4(&p);
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    commit_something(v);
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE meta SET value=randomblob(16) WHERE name='owner'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    shell_in(&p, "printf 'of the new owner' >v.db.mark");
    assert_true(tacit__vault_truncate_log(v));
    assert_int_equal(tacit__vault_standing(v), TACIT__STANDING_FENCED);
    tacit__vault_close(v);
    shell_in(&p, "[ \"$(cat v.db.mark)\" = 'of the new owner' ]");
}

/* Where locks do not work: whoever was still writing while this one looked is not overwritten with older numbers. */
TEST(a_claim_is_refused_while_somebody_writes)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    SCOPED(tacit__vault) *v = NULL;
    sqlite3 *db = NULL;
    open_place(&p);
    make_format_4(&p);
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &v, &err));
    assert_ok(tacit__vault_claim_ownership(v, &err));
    assert_int_equal(sqlite3_open(p.path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE meta SET value=x'0900000000000000'"
                                  " WHERE name='generation'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_status(tacit__vault_claim_ownership(v, &err), TACIT_SYSTEM);
    assert_non_null(strstr(err.message, "another server is running on this store"));
}

/* --- Kills and full disks -------------------------------------------------------------------------- */

typedef enum act { MIGRATE, ADOPT, REKEY, BACKUP } act;

/* A store that the act can be done to. */
static void prepare_act(const place *p, act what)
{
    tacit_error err = {0};
    tacit__vault *v = NULL;
    make_format_4(p);
    if (what == MIGRATE)
        return;
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, master, &v, &err));
    tacit__vault_close(v);
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

/* After an act that came to an end at any moment: the store opens with one key, is whole, and the act can be done again, or was. */
static void assert_good(const place *p, act what)
{
    tacit_error err = {0};
    tacit__vault *v = NULL;
    const uint8_t *key = master;
    tacit_status status = tacit__vault_open(p->path, TACIT__VAULT_SERVE, key, &v, &err);
    if (status == TACIT_WRONG_PLAN && what == REKEY)
        status = tacit__vault_open(p->path, TACIT__VAULT_SERVE, key = other, &v, &err);
    assert_ok(status);
    if (tacit__vault_standing(v) == TACIT__STANDING_BEHIND) {
        assert_int_equal(what, ADOPT);
        assert_true(tacit__vault_lives(v) == 1);
        assert_ok(tacit__vault_adopt(v, &err));
    }
    assert_true(tacit__vault_lives(v) == (what == ADOPT ? 2 : 1));
    if (what == REKEY && key == master)
        assert_ok(tacit__vault_rekey(v, other, &err));
    assert_int_equal(tacit__vault_standing(v), TACIT__STANDING_FINE);
    assert_whole(v);
    tacit__vault_close(v);
    shell_in(p, "[ ! -e v.db.copy ] || [ -s v.db.copy ]");
}

/* The n-th change of a file of the store is the last one of the process, or the first one for which there is no room. */
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

TEST(migration_survives_kills_and_full_disks)
{
    assert_survives(MIGRATE);
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
