/* The vault under hands that change it: what was changed is noticed, what was erased is nowhere, and nothing
 * is kept of who came too late. The tests write to the database behind the vault's back, as a failing disk or
 * somebody without the key would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "noise/seal.h"
#include "service/fault_io.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"
#include "support/check.h"

SCOPED_TYPE(tacit__vault, tacit__vault_close)

static const uint8_t master[TACIT__KEY_BYTES] = "a test's";
static const uint8_t ann[TACIT__VAULT_KEY] = {1}, bob[TACIT__VAULT_KEY] = {2};
static const char secret[] = "somebody's data";
static const uint8_t state_bytes[] = "everything";

typedef struct place {
    char directory[64], path[80];
    tacit__vault *v;
    tacit__vault_learner l;
} place;

static void open_place(place *p, uint64_t limit)
{
    tacit_error err = {0};
    *p = (place){.directory = P_tmpdir "/tacit-vault-XXXXXX", .l = {.limit = limit, .version = 1}};
    assert_non_null(mkdtemp(p->directory));
    (void)snprintf(p->path, sizeof p->path, "%s/v.db", p->directory);
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, master, &p->v, &err));
    assert_ok(tacit__vault_add_learner(p->v, "one", &p->l, state_bytes, sizeof state_bytes, &err));
}

static void close_place(place *p)
{
    tacit__vault_close(p->v);
    assert_shell("rm -rf '%s'", p->directory);
}

static tacit__vault_answer take(place *p, uint8_t name, const uint8_t *person)
{
    const uint8_t key[TACIT__VAULT_KEY] = {name};
    tacit__vault_answer answer;
    tacit_error err = {0};
    assert_ok(tacit__vault_add_user(p->v, p->l.id, key, person, NULL, secret, sizeof secret,
                                    &answer, &err));
    return answer;
}

/* All inputs so far into the state. */
static void keep(place *p, uint64_t users)
{
    tacit_error err = {0};
    const tacit__vault_ledger_line lines[] = {{"moves", 9, users}, {"visits", 9, users}};
    p->l.users = users;
    p->l.taken = (int64_t)users;
    p->l.version++;
    assert_ok(tacit__vault_begin(p->v, &err));
    assert_ok(
        tacit__vault_save_learner(p->v, &p->l, state_bytes, sizeof state_bytes, lines, 2, &err));
    const tacit__vault_point point = {.users = users, .version = p->l.version};
    assert_ok(tacit__vault_add_point(p->v, p->l.id, &point, &err));
    assert_ok(tacit__vault_commit(p->v, &err));
}

static bool is_sound(place *p)
{
    tacit__vault_health health;
    tacit_error err = {0};
    tacit_status status = tacit__vault_check(p->v, &health, &err);
    if (status != TACIT_OK)
        assert_status(status, TACIT_CORRUPT);
    return status == TACIT_OK;
}

/* Whether a service would start on it: the facts are proved, and so is the learner. */
static bool is_found(place *p)
{
    tacit_error err = {0};
    tacit__vault_learner row;
    uint8_t *bytes = NULL;
    size_t size = 0;
    bool found = false;
    tacit_status status = tacit__vault_check_facts(p->v, &err);
    if (status == TACIT_OK)
        status = tacit__vault_find_learner(p->v, "one", &found, &row, &bytes, &size, &err);
    tacit__free_secret(bytes, size);
    if (status != TACIT_OK)
        assert_status(status, TACIT_CORRUPT);
    return status == TACIT_OK;
}

/* A store with two users in the state, and a third that waits; and an older state, which is sealed well, at
 * hand. */
static void fill_place(place *p)
{
    tacit_error err = {0};
    open_place(p, 9);
    assert_int_equal(take(p, 1, ann), TACIT__VAULT_TAKEN);
    assert_int_equal(take(p, 2, bob), TACIT__VAULT_TAKEN);
    keep(p, 1);
    assert_ok(
        tacit__connection_run(p->v->db,
                              "INSERT INTO meta SELECT 'older', data FROM state JOIN learner ON"
                              " learner=id AND state.edition=learner.edition",
                              "test", &err));
    keep(p, 2);
    assert_int_equal(take(p, 3, NULL), TACIT__VAULT_TAKEN);
    assert_true(is_sound(p) && is_found(p));
}

TEST(what_was_changed_is_noticed)
{
    static const struct {
        const char *sql;
        bool starts; /* a service that has no reason to look does so */
    } cases[] = {
        {"UPDATE learner SET users_limit=users_limit+1", false}, /* the wall is somewhere else */
        {"UPDATE learner SET users=users-1, accepted=accepted-1", false},
        {"UPDATE learner SET users=users-1, refused=refused+1", false},
        {"UPDATE learner SET taken=taken+1", false},
        {"UPDATE learner SET version=1", false},
        {"UPDATE learner SET fingerprint=randomblob(32)", false},
        {"UPDATE ledger SET passed=0", false},
        {"UPDATE ledger SET declared=declared+1 WHERE release='visits'", false},
        {"UPDATE ledger SET release='movez' WHERE release='moves'", false},
        {"DELETE FROM ledger", false},
        {"INSERT INTO ledger VALUES(1,'more',1,1)", false},
        {"UPDATE state SET data=substr(data,1,length(data)-1)", false},
        {"UPDATE state SET data=(SELECT value FROM meta WHERE name='older')", false},
        {"UPDATE learner SET shown=shown-1", false},
        {"UPDATE learner SET tag=randomblob(32)", false},
        {"UPDATE learner SET proof=randomblob(32)", false},
        {"UPDATE learner SET edition=1-edition", false},
        {"INSERT INTO state SELECT learner, edition, 1, data FROM state", false},
        {"DELETE FROM state", false},
        {"UPDATE learner SET accepted=accepted+1", false},
        {"DELETE FROM learner", false},
        {"INSERT INTO meta VALUES('copy', 1)", false},
        {"UPDATE meta SET value=zeroblob(8) WHERE name='generation'", false},
        {"UPDATE meta SET value=zeroblob(8) WHERE name='lives'", false},
        {"UPDATE meta SET value=randomblob(16) WHERE name='identity'", false},
        {"UPDATE meta SET value=randomblob(16) WHERE name='owner'", false},
        {"INSERT INTO meta VALUES('unmarked', 1)", false},
        {"DELETE FROM meta WHERE name='proof'", false},
        {"INSERT INTO adoption VALUES(1,1,0,0,2)", false},
        {"DELETE FROM seen WHERE key=(SELECT min(key) FROM seen)", true},
        {"DELETE FROM input", true},
        {"INSERT INTO person(learner, hash, key) VALUES(1,x'77',x'88')", true},
        {"UPDATE history SET users=users+1000", true},
        {"UPDATE input SET data=zeroblob(length(data))", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCOPED_BY(close_place) place p;
        tacit_error err = {0};
        fill_place(&p);
        assert_ok(tacit__connection_run(p.v->db, cases[i].sql, "test", &err));
        if (is_sound(&p) || is_found(&p) != cases[i].starts)
            fail_msg("not as expected: %s", cases[i].sql);
    }
}

/* How often `what` stands in a file; 0 if there is no file. */
static int count_in(const char *path, const uint8_t *what, size_t n)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    static uint8_t bytes[1 << 20];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    int found = 0;
    for (size_t i = 0; i + n <= size; i++)
        found += memcmp(bytes + i, what, n) == 0;
    return found;
}

/* Who can write to the file, but has no key, exchanges two users who wait. */
TEST(an_input_is_refused_in_anothers_place)
{
    place p;
    tacit_error err = {0};
    tacit__vault_health health;
    int64_t number;
    uint8_t key[TACIT__VAULT_KEY], *data = NULL;
    size_t size;
    open_place(&p, 9);
    assert_int_equal(take(&p, 1, NULL), TACIT__VAULT_TAKEN);
    assert_int_equal(take(&p, 2, NULL), TACIT__VAULT_TAKEN);
    assert_ok(tacit__connection_run(p.v->db,
                                    "UPDATE input SET number=number+10;"
                                    "UPDATE input SET number=13-number",
                                    "test", &err));
    assert_status(tacit__vault_next_input(p.v, p.l.id, 0, &number, key, &data, &size, &err),
                  TACIT_CORRUPT);
    assert_status(tacit__vault_check(p.v, &health, &err), TACIT_CORRUPT);
    close_place(&p);
}

TEST(what_was_erased_is_nowhere)
{
    SCOPED_BY(close_place) place p;
    uint8_t sealed[sizeof secret + TACIT__VAULT_KEY + 2 * sizeof(int64_t) + TACIT__SEAL_BYTES];
    open_place(&p, 9);
    const char *log = fmt("%s-wal", p.path);
    assert_int_equal(take(&p, 1, NULL), TACIT__VAULT_TAKEN);
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(tacit__sqlite_of(p.v->db)->handle, "SELECT data FROM input",
                                        -1, &s, NULL),
                     0);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    assert_int_equal(sqlite3_column_bytes(s, 0), sizeof sealed);
    memcpy(sealed, sqlite3_column_blob(s, 0), sizeof sealed);
    assert_int_equal(sqlite3_finalize(s), 0);
    assert_true(tacit__vault_truncate_log(p.v));
    assert_true(count_in(p.path, sealed, sizeof sealed) == 1); /* so it can be found at all */
    keep(&p, 1);
    assert_true(count_in(p.path, sealed, sizeof sealed) + count_in(log, sealed, sizeof sealed) >=
                1); /* not yet: what is deleted is deleted in the log */
    assert_true(tacit__vault_truncate_log(p.v));
    assert_int_equal(count_in(p.path, sealed, sizeof sealed), 0);
    assert_int_equal(count_in(log, sealed, sizeof sealed), 0);
    struct stat entry;
    assert_true(stat(log, &entry) != 0 || entry.st_size == 0);
}

TEST(a_commit_waits_for_the_disk)
{
    tacit_error err = {0};
    SCOPED_BY(close_place) place p;
    open_place(&p, 9);
    fault_io_arm("v.db-wal", 0, 0, 0);
    for (uint8_t i = 1; i <= 5; i++) {
        const uint64_t before = fault_io_syncs();
        assert_ok(tacit__vault_begin(p.v, &err));
        assert_int_equal(take(&p, i, NULL), TACIT__VAULT_TAKEN);
        assert_true(fault_io_syncs() == before);
        assert_ok(tacit__vault_commit(p.v, &err));
        assert_true(fault_io_syncs() > before);
    }
    fault_io_arm("", 0, 0, 0);
}

/* A proof is of what is written, also where a transaction has users of more learners than it has slots for. */
TEST(every_learner_of_a_large_transaction_is_proved)
{
    enum { LEARNERS = TACIT__VAULT_TOUCHED + 6 };
    tacit_error err = {0};
    SCOPED_BY(close_place) place p;
    int64_t ids[LEARNERS];
    open_place(&p, 9);
    for (int i = 0; i < LEARNERS; i++) {
        tacit__vault_learner l = {.limit = 9, .version = 1};
        assert_ok(tacit__vault_add_learner(p.v, fmt("many-%d", i), &l, state_bytes,
                                           sizeof state_bytes, &err));
        ids[i] = l.id;
    }
    assert_ok(tacit__vault_begin(p.v, &err));
    for (int i = 0; i < LEARNERS; i++) {
        p.l.id = ids[i];
        assert_int_equal(take(&p, 1, NULL), TACIT__VAULT_TAKEN);
    }
    assert_ok(tacit__vault_commit(p.v, &err));
    for (int i = 0; i < LEARNERS; i++)
        if (tacit__vault_check_proof(p.v, ids[i], &err) != TACIT_OK)
            fail_msg("learner %d: %s", i, err.message);
}

TEST(who_comes_after_the_last_is_not_kept)
{
    tacit_error err = {0};
    SCOPED_BY(close_place) place p;
    bool has, full;
    tacit__vault_answer answer;
    const uint8_t walk[TACIT__VAULT_KEY] = {7};
    open_place(&p, 1);
    /* bob is under way when ann is the last to be counted */
    assert_ok(tacit__vault_save_episode(p.v, p.l.id, walk, bob, 100, secret, sizeof secret, &answer,
                                        &err));
    assert_int_equal(answer, TACIT__VAULT_TAKEN);
    assert_ok(tacit__vault_is_full(p.v, p.l.id, &full, &err));
    assert_false(full);
    assert_int_equal(take(&p, 1, ann), TACIT__VAULT_TAKEN);
    assert_ok(tacit__vault_is_full(p.v, p.l.id, &full, &err));
    assert_true(full);
    assert_int_equal(take(&p, 7, bob), TACIT__VAULT_FULL);
    assert_int_equal(take(&p, 7, bob), TACIT__VAULT_FULL); /* said again */
    assert_ok(tacit__vault_has_person(p.v, p.l.id, bob, NULL, &has, &err));
    assert_false(has); /* he may come again, to be told what to do */
    assert_int_equal(take(&p, 8, ann), TACIT__VAULT_PERSON); /* she was counted */
    tacit__vault_health health;
    assert_ok(tacit__vault_check(p.v, &health, &err));
    assert_true(health.open == 0 && health.people == 1 && health.seen == 1 && health.inputs == 1);
}

TEST(a_copy_is_its_owners_alone_and_keeps_nobody)
{
    tacit_error err = {0};
    SCOPED_BY(close_place) place p;
    struct stat entry;
    SCOPED(tacit__vault) *copy = NULL;
    tacit__vault_answer answer;
    bool has;
    open_place(&p, 9);
    assert_int_equal(take(&p, 1, ann), TACIT__VAULT_TAKEN);
    const char *path = fmt("%s/copy.db", p.directory);
    mode_t before = umask(0);
    assert_ok(tacit__vault_backup(p.v, path, &err));
    (void)umask(before);
    assert_int_equal(stat(path, &entry), 0);
    assert_int_equal(entry.st_mode & 0777, 0600);
    assert_ok(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &copy, &err));
    tacit__vault *original = p.v;
    p.v = copy;
    assert_int_equal(tacit__vault_store_status(copy), TACIT__STORE_COPY);
    assert_true(tacit__vault_is_copy(copy) && is_found(&p));
    tacit__vault_health health;
    assert_status(tacit__vault_check(copy, &health, &err), TACIT_CORRUPT);
    assert_non_null(strstr(err.message, "the store is a copy"));
    const uint8_t name[TACIT__VAULT_KEY] = {5};
    for (int i = 0; i < 2; i++) {
        assert_ok(tacit__vault_save_episode(copy, p.l.id, name, bob, 100, secret, sizeof secret,
                                            &answer, &err));
        assert_int_equal(answer, TACIT__VAULT_FULL);
        assert_int_equal(take(&p, 5, bob), TACIT__VAULT_FULL);
        assert_int_equal(take(&p, 7, NULL), TACIT__VAULT_FULL);
    }
    assert_int_equal(take(&p, 6, ann), TACIT__VAULT_PERSON);
    assert_ok(tacit__vault_has_person(copy, p.l.id, bob, NULL, &has, &err));
    assert_false(has);
    p.v = original;
}
