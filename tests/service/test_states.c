/* Learners' states in the store: in parts beside each other, overwritten in their place, and unreadable once
 * there is a newer one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "noise/seal.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"
#include "support/check.h"
#include "support/random.h"

enum { SIZE = 5 * TACIT__VAULT_PART / 2, PARTS = 3 };

static const uint8_t master[TACIT__KEY_BYTES] = "a key for a store of no account";

typedef struct place {
    char directory[64], path[80], log[90];
    tacit__vault *v;
    tacit__vault_learner l;
    uint8_t *state; /* [SIZE] */
} place;

static void fill(place *p, uint64_t seed)
{
    for (size_t i = 0; i < SIZE; i++)
        p->state[i] = (uint8_t)(256 * random_unit(&seed));
}

static void open_place(place *p)
{
    tacit_error err = {0};
    *p = (place){.l = {.limit = 1000, .version = 1}, .state = malloc(SIZE)};
    (void)snprintf(p->directory, sizeof p->directory, "%s/tacit-states-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(p->directory));
    (void)snprintf(p->path, sizeof p->path, "%s/v.db", p->directory);
    (void)snprintf(p->log, sizeof p->log, "%s-wal", p->path);
    fill(p, 1);
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, master, &p->v, &err));
    assert_ok(tacit__vault_begin(p->v, &err));
    assert_ok(tacit__vault_add_learner(p->v, "one", &p->l, p->state, SIZE, &err));
    assert_ok(tacit__vault_commit(p->v, &err));
}

static void close_place(place *p)
{
    tacit__vault_close(p->v);
    free(p->state);
    assert_shell("rm -rf '%s'", p->directory);
}

/* What the store has as the state is this, with so many users. */
static void assert_state(place *p, const uint8_t *state, size_t size, uint64_t users)
{
    tacit_error err = {0};
    tacit__vault_learner row;
    uint8_t *found_state = NULL;
    size_t found_size = 0;
    bool found;
    tacit_status status =
        tacit__vault_find_learner(p->v, "one", &found, &row, &found_state, &found_size, &err);
    if (status != TACIT_OK)
        fail_msg("%s", err.message);
    assert_true(found && row.users == users && found_size == size);
    assert_memory_equal(found_state, state, size);
    tacit__free_secret(found_state, found_size);
}

/* Parts, each in a transaction, of which the last `missing` do not come; then the flip, if all came. */
static void checkpoint(place *p, size_t size, size_t missing)
{
    tacit_error err = {0};
    tacit__edition e;
    const size_t parts = (size + TACIT__VAULT_PART - 1) / TACIT__VAULT_PART - missing;
    assert_ok(tacit__edition_open(&e, p->state, size, &err));
    for (size_t i = 0; i < parts; i++) {
        assert_true(tacit__edition_next(&e));
        assert_ok(tacit__vault_begin(p->v, &err));
        assert_ok(tacit__vault_write_part(p->v, p->l.id, &e, &err));
        assert_ok(tacit__vault_commit(p->v, &err));
    }
    if (missing == 0) {
        assert_false(tacit__edition_next(&e));
        assert_ok(tacit__vault_begin(p->v, &err));
        assert_ok(tacit__vault_checkpoint(p->v, &p->l, &e, &err));
        assert_ok(tacit__vault_commit(p->v, &err));
    }
    tacit__edition_close(&e);
}

static void take(place *p, uint8_t number)
{
    tacit_error err = {0};
    uint8_t name[TACIT__VAULT_KEY] = {number};
    tacit__vault_answer answer;
    assert_ok(tacit__vault_add_user(p->v, p->l.id, name, NULL, NULL, "data", 4, &answer, &err));
    assert_int_equal(answer, TACIT__VAULT_TAKEN);
}

/* All users so far are behind the billboard. */
static void show(place *p, uint64_t users)
{
    tacit_error err = {0};
    const tacit__vault_ledger_line line = {"moves", 1000, users};
    p->l.shown = users;
    p->l.version++;
    assert_ok(tacit__vault_begin(p->v, &err));
    assert_ok(tacit__vault_save_shown(p->v, &p->l, &line, 1, &err));
    assert_ok(tacit__vault_commit(p->v, &err));
}

static void assert_sound(place *p, uint64_t inputs)
{
    tacit__vault_health health;
    tacit_error err = {0};
    if (tacit__vault_check(p->v, &health, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    assert_true(health.inputs == inputs);
}

/* The next input is in the state that comes. */
static void learn(place *p)
{
    uint8_t *data, key[TACIT__VAULT_KEY];
    size_t size;
    tacit_error err = {0};
    assert_ok(
        tacit__vault_next_input(p->v, p->l.id, p->l.taken, &p->l.taken, key, &data, &size, &err));
    assert_true(size == 4);
    tacit__free_secret(data, size);
    p->l.users++;
}

TEST(a_state_is_the_old_one_until_all_of_the_new_one_is_there)
{
    SCOPED_BY(close_place) place p;
    SCOPED_FREE uint8_t *before = malloc(SIZE);
    open_place(&p);
    for (uint64_t round = 0; round < 4; round++) {
        memcpy(before, p.state, SIZE);
        take(&p, (uint8_t)(round + 1));
        learn(&p);
        show(&p, p.l.users); /* ledger, version and how many, while the state is older */
        assert_sound(&p, round + 1);
        fill(&p, 10 + round);
        for (size_t missing = PARTS; missing-- > 1;) { /* a crash after some of them */
            checkpoint(&p, SIZE, missing);
            assert_state(&p, before, SIZE, round);
        }
        checkpoint(&p, SIZE, 0);
        assert_state(&p, p.state, SIZE, round + 1);
        assert_sound(&p, round + 1); /* what is in the state may be on disk, but waits no more */
        checkpoint(&p, 100, 0);      /* smaller, and larger again */
        assert_state(&p, p.state, 100, round + 1);
        checkpoint(&p, SIZE, 0);
        assert_state(&p, p.state, SIZE, round + 1);
    }
}

TEST(inputs_go_a_few_at_a_time_and_none_too_many)
{
    enum { USERS = 10, LEARNED = 7 };
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    bool more = true;
    open_place(&p);
    for (uint8_t i = 0; i < USERS; i++)
        take(&p, (uint8_t)(i + 1));
    for (int i = 0; i < LEARNED; i++)
        learn(&p);
    show(&p, LEARNED);
    assert_ok(tacit__vault_delete_inputs(p.v, p.l.id, 0, 3, &more, &err));
    assert_sound(&p, USERS); /* none of them is in the state */
    checkpoint(&p, SIZE, 0);
    assert_sound(&p, USERS);
    assert_ok(tacit__vault_delete_inputs(p.v, p.l.id, LEARNED, 3, &more, &err));
    assert_sound(&p, USERS); /* none after it is in the state */
    assert_false(more);
    for (uint64_t left = USERS; left > USERS - LEARNED;) {
        assert_ok(tacit__vault_delete_inputs(p.v, p.l.id, 0, 3, &more, &err));
        left = left - 3 > USERS - LEARNED ? left - 3 : USERS - LEARNED;
        assert_sound(&p, left);
    }
    assert_false(more);
}

/* How often `what` stands in a file; 0 if there is no file. */
static int count_in(const char *path, const uint8_t *what, size_t n)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    SCOPED_FREE uint8_t *bytes = malloc(1 << 23);
    size_t size = fread(bytes, 1, 1 << 23, file);
    (void)fclose(file);
    int found = 0;
    for (size_t i = 0; i + n <= size; i++)
        found += memcmp(bytes + i, what, n) == 0;
    return found;
}

TEST(a_state_that_was_replaced_can_be_read_no_more)
{
    SCOPED_BY(close_place) place p;
    uint8_t label[256];
    open_place(&p);
    checkpoint(&p, SIZE, 0);
    sqlite3_stmt *s = NULL;
    assert_int_equal(sqlite3_prepare_v2(tacit__sqlite_of(p.v->db)->handle,
                                        "SELECT tag FROM learner", -1, &s, NULL),
                     0);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const size_t size = (size_t)sqlite3_column_bytes(s, 0);
    assert_true(size == TACIT__PROOF_BYTES + TACIT__KEY_BYTES + TACIT__SEAL_BYTES);
    memcpy(label, sqlite3_column_blob(s, 0), size);
    assert_int_equal(sqlite3_finalize(s), 0);
    const uint8_t *key =
        label + TACIT__PROOF_BYTES; /* sealed, and without it the parts are noise */
    assert_true(tacit__vault_truncate_log(p.v));
    assert_int_equal(count_in(p.path, key, size - TACIT__PROOF_BYTES), 1);
    checkpoint(&p, SIZE, 0);
    assert_true(tacit__vault_truncate_log(p.v));
    assert_int_equal(count_in(p.path, key, size - TACIT__PROOF_BYTES), 0);
    assert_int_equal(count_in(p.log, key, size - TACIT__PROOF_BYTES), 0);
}

TEST(a_state_is_written_once)
{
    SCOPED_BY(close_place) place p;
    struct stat entry;
    open_place(&p);
    checkpoint(&p, SIZE, 0); /* now both editions are there */
    checkpoint(&p, SIZE, 0);
    assert_true(tacit__vault_truncate_log(p.v));
    assert_int_equal(stat(p.path, &entry), 0);
    const double file = (double)entry.st_size;
    checkpoint(&p, SIZE, 0);
    assert_int_equal(stat(p.log, &entry), 0);
    /* the log: the state's pages, a head of 24 bytes for each, and a few pages more for every transaction */
    assert_within((double)entry.st_size, SIZE, 1.02 * SIZE + (PARTS + 1) * 5 * 4120.0);
    assert_true(tacit__vault_truncate_log(p.v));
    assert_int_equal(stat(p.path, &entry), 0);
    assert_true((double)entry.st_size == file); /* in its place */
}

/* Stopped in the midst of a transaction, while somebody exchanges the file: nobody is told that they were
 * taken. */
TEST(a_commit_to_a_file_that_was_replaced_is_none)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    open_place(&p);
    assert_ok(tacit__vault_begin(p.v, &err));
    take(&p, 1);
    assert_shell("cp '%s' '%s.other' && mv '%s.other' '%s'", p.path, p.path, p.path, p.path);
    assert_int_equal(tacit__vault_commit(p.v, &err), TACIT_FENCED);
    assert_int_equal(tacit__vault_store_status(p.v), TACIT__STORE_FENCED);
}

static off_t size_of(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 ? entry.st_size : -1;
}

/* Whoever has the store now writes to the log of that name: the one who was stopped must not cut or remove
 * it. */
TEST(the_log_of_a_file_that_was_replaced_is_left_alone)
{
    for (int settles = 0; settles < 2; settles++) {
        SCOPED_BY(close_place) place p;
        open_place(&p);
        assert_shell("cp '%s' '%s.other' && mv '%s.other' '%s'", p.path, p.path, p.path, p.path);
        const off_t size = size_of(p.log);
        assert_true(size > 0);
        if (settles == 1) {
            (void)tacit__vault_truncate_log(p.v);
            assert_int_equal(tacit__vault_store_status(p.v), TACIT__STORE_FENCED);
        }
        tacit__vault_close(p.v);
        p.v = NULL;
        assert_true(size_of(p.log) == size);
    }
}

/* A backup between a billboard and the state of it. */
TEST(an_adoption_counts_those_who_were_shown)
{
    SCOPED_BY(close_place) place p;
    tacit__vault *original, *copy = NULL;
    tacit_error err = {0};
    tacit__text out = {0};
    open_place(&p);
    for (uint8_t i = 1; i <= 3; i++)
        take(&p, i);
    show(&p, 3);
    const char *path = fmt("%s/copy.db", p.directory);
    assert_ok(tacit__vault_backup(p.v, path, &err));
    assert_ok(tacit__vault_open(path, TACIT__VAULT_SERVE, master, &copy, &err));
    assert_ok(tacit__vault_adopt(copy, &err));
    assert_ok(tacit__vault_write_adoptions(copy, p.l.id, &out, &err));
    assert_non_null(strstr(out.data, "\"users\":3,\"lives\":2}"));
    tacit__text_destroy(&out);
    original = p.v;
    p.v = copy;
    assert_state(&p, p.state, SIZE, 0);
    assert_sound(&p, 3);
    p.v = original;
    tacit__vault_close(copy);
}
