/* The store counts the visits of people: the rule against a plain reference, what happens to rows that a
 * hand has changed, another key, copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"
#include "store/db.h"
#include "store/vault/vault_inside.h"
#include "support/check.h"
#include "support/random.h"
#include "text/text.h"

static const uint8_t master[TACIT__KEY_BYTES] = "a test's", other[TACIT__KEY_BYTES] = "another";
static const uint8_t state_bytes[] = "everything";
static const char secret[] = "somebody's data";

typedef struct place {
    char directory[64], path[80];
    tacit__vault *v;
    tacit__vault_learner l;
} place;

static void open_place(place *p, uint64_t limit, uint64_t visits, uint64_t apart)
{
    tacit_error err = {0};
    *p =
        (place){.directory = P_tmpdir "/tacit-persons-XXXXXX",
                .l = {.limit = limit, .version = 1, VISITS_OF(visits, apart), .named = visits > 1}};
    assert_non_null(mkdtemp(p->directory));
    (void)snprintf(p->path, sizeof p->path, "%s/v.db", p->directory);
    assert_ok(tacit__vault_open(p->path, TACIT__VAULT_SERVE, master, &p->v, &err));
    assert_ok(tacit__vault_add_learner(p->v, "one", &p->l, state_bytes, sizeof state_bytes, &err));
}

static void shell_in(const place *p, const char *command)
{
    assert_shell("cd '%s' && { %s; }", p->directory, command);
}

static void close_place(place *p)
{
    tacit__vault_close(p->v);
    shell_in(p, "rm -rf \"$PWD\"");
}

/* Person `who` finishes episode `name`. */
static tacit_status try_visit(place *p, uint64_t name, uint8_t who, tacit__vault_answer *answer,
                              tacit_error *err)
{
    uint8_t key[TACIT__VAULT_KEY] = {0};
    const uint8_t person[TACIT__VAULT_KEY] = {who};
    memcpy(key, &name, sizeof name);
    TRY(tacit__vault_begin(p->v, err));
    return tacit__vault_finish_transaction(
        p->v,
        tacit__vault_add_user(p->v, p->l.id, key, person, NULL, secret, sizeof secret, answer, err),
        err);
}

static tacit__vault_answer visit(place *p, uint64_t name, uint8_t who)
{
    tacit__vault_answer answer;
    tacit_error err = {0};
    assert_ok(try_visit(p, name, who, &answer, &err));
    return answer;
}

static bool is_sound(place *p, tacit_error *err)
{
    tacit__vault_health health;
    return tacit__vault_check(p->v, &health, err) == TACIT_OK;
}

static int64_t number(const place *p, const char *sql)
{
    int64_t n = -1;
    tacit_error err = {0};
    assert_ok(tacit__vault_query_number(p->v, sql, &n, &err));
    return n;
}

static void run(const place *p, const char *sql)
{
    tacit_error err = {0};
    assert_ok(tacit__connection_run(p->v->db, sql, "test", &err));
}

/* --- The rule --------------------------------------------------------------------------------------- */

enum { PEOPLE = 5, LIMIT = 40, COMING = 120 };

/* Whoever comes, in whatever order, with the store closed and opened in between: by a list of all places. */
TEST(the_rule_is_that_of_a_list_of_places)
{
    static const uint64_t schemes[][2] = {{2, 1}, {2, 7}, {3, 4}, {5, 8}, {40, 1}};
    for (size_t scheme = 0; scheme < sizeof schemes / sizeof *schemes; scheme++) {
        const uint64_t k = schemes[scheme][0], b = schemes[scheme][1];
        uint64_t chance = 7 + scheme, places[PEOPLE][LIMIT], n[PEOPLE] = {0}, accepted = 0;
        SCOPED_BY(close_place) place p;
        open_place(&p, LIMIT, k, b);
        for (uint64_t name = 1; name <= COMING; name++) {
            const uint8_t who = (uint8_t)(random_unit(&chance) * PEOPLE);
            const tacit__vault_answer got = visit(&p, name, who);
            bool near = false;
            for (uint64_t i = 0; i < n[who]; i++)
                near = near || accepted + 1 - places[who][i] < b;
            const tacit__vault_answer wanted = accepted == LIMIT ? TACIT__VAULT_FULL
                                               : n[who] == k     ? TACIT__VAULT_USED
                                               : near            ? TACIT__VAULT_SOON
                                                                 : TACIT__VAULT_TAKEN;
            assert_int_equal(got, wanted);
            if (got == TACIT__VAULT_TAKEN) {
                places[who][n[who]++] = ++accepted;
                assert_int_equal(visit(&p, name, who), TACIT__VAULT_SEEN);
            }
            if (name % 40 == 0) {
                tacit_error err = {0};
                if (!is_sound(&p, &err))
                    fail_msg("%s", err.message);
                tacit__vault_close(p.v);
                assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &p.v, &err));
                assert_int_equal(tacit__vault_store_status(p.v), TACIT__STORE_FINE);
            }
        }
        assert_int_equal(number(&p, "SELECT sum(visits) FROM person"), accepted);
    }
}

TEST(what_was_undone_has_not_been)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    tacit__vault_answer answer;
    const uint8_t key[TACIT__VAULT_KEY] = {1}, ann[TACIT__VAULT_KEY] = {2};
    open_place(&p, 20, 2, 5);
    for (int i = 0; i < 3; i++) {
        assert_ok(tacit__vault_begin(p.v, &err));
        assert_ok(tacit__vault_add_user(p.v, p.l.id, key, ann, NULL, secret, sizeof secret, &answer,
                                        &err));
        assert_int_equal(answer, TACIT__VAULT_TAKEN);
        tacit__vault_undo(p.v);
        assert_int_equal(number(&p, "SELECT count(*) FROM person"), 0);
    }
    assert_int_equal(visit(&p, 1, 2), TACIT__VAULT_TAKEN);
    assert_int_equal(visit(&p, 2, 2), TACIT__VAULT_SOON);
    /* nobody without an id, since the visits would no longer add up */
    assert_status(tacit__vault_add_user(p.v, p.l.id, (const uint8_t[16]){9}, NULL, NULL, secret,
                                        sizeof secret, &answer, &err),
                  TACIT_BAD_ARGUMENT);
    assert_int_equal(number(&p, "SELECT accepted FROM learner"), 1);
}

/* --- Hands ------------------------------------------------------------------------------------------ */

/* Ann at 1 and 4, Bob at 2, Carl at 3. */
static void fill(place *p)
{
    open_place(p, 20, 3, 3);
    for (uint64_t i = 1; i <= 4; i++)
        assert_int_equal(visit(p, i, i == 4 ? 1 : (uint8_t)i), TACIT__VAULT_TAKEN);
    run(p, "CREATE TEMP TABLE before AS SELECT * FROM person");
    assert_int_equal(visit(p, 5, 2), TACIT__VAULT_TAKEN);
}

TEST(rows_that_were_changed_are_noticed)
{
    static const char *const cases[] = {
        "UPDATE person SET visits=1, last_place=1 WHERE visits=2",
        "UPDATE person SET visits=visits-1 WHERE last_place=4",
        "DELETE FROM person WHERE last_place=3",
        "UPDATE person SET visits=3 WHERE visits=1",
        "UPDATE person SET visits=4 WHERE visits=2",
        "UPDATE person SET visits=NULL, last_place=NULL WHERE visits=1",
        "UPDATE person SET last_place=9 WHERE visits=2",
        "UPDATE person SET last_place=1 WHERE visits=2",
        "INSERT OR REPLACE INTO person SELECT * FROM before", /* as it was, well tagged */
        "UPDATE person SET last_place=last_place-1 WHERE last_place=5",
        "UPDATE person SET visits=3-visits",
        "UPDATE person SET tag=randomblob(16)",
        "UPDATE person SET tag=NULL",
        "UPDATE person SET hash=x'63000000000000000000000000000000' WHERE visits=1",
        "UPDATE learner SET visits=5",
        "UPDATE learner SET apart=1",
        "UPDATE learner SET named=0",
        /* an older row, well tagged, and another one twice to make up for it */
        ("INSERT OR REPLACE INTO person SELECT * FROM before; INSERT INTO person SELECT learner,"
         " CAST(hash AS TEXT), key, visits, last_place, tag FROM before WHERE last_place=3"),
        /* an episode that expires would take its person with it */
        "UPDATE person SET key=randomblob(16) WHERE last_place=5",
        /* Bob is somebody else now */
        "UPDATE person SET hash=x'63000000000000000000000000000000' WHERE last_place=5",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCOPED_BY(close_place) place p;
        tacit_error err = {0};
        uint8_t *bytes = NULL;
        size_t size = 0;
        bool found;
        tacit__vault_learner row;
        fill(&p);
        assert_true(is_sound(&p, &err));
        run(&p, cases[i]);
        if (is_sound(&p, &err))
            fail_msg("not noticed by a check: %s", cases[i]);
        tacit__vault_close(p.v);
        p.v = NULL;
        tacit_status status = tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &p.v, &err);
        bool starts = status == TACIT_OK && tacit__vault_store_status(p.v) == TACIT__STORE_FINE;
        if (starts) /* a service reads its learners */
            starts = tacit__vault_find_learner(p.v, "one", &found, &row, &bytes, &size, &err) ==
                     TACIT_OK;
        tacit__free_secret(bytes, size);
        if (starts)
            fail_msg("a service learns from it: %s", cases[i]);
    }
}

/* 1.5 is 1 for whoever reads a whole number, and under the row's tag; but not in a sum. */
TEST(halves_of_visits_do_not_make_up_for_an_older_row)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    open_place(&p, 20, 3, 1);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(visit(&p, i, (uint8_t)i), TACIT__VAULT_TAKEN);
    run(&p, "CREATE TEMP TABLE before AS SELECT * FROM person");
    assert_int_equal(visit(&p, 4, 2), TACIT__VAULT_TAKEN);
    run(&p, "INSERT OR REPLACE INTO person SELECT * FROM before;"
            "UPDATE person SET visits=1.5 WHERE last_place>1");
    assert_int_equal(number(&p, "SELECT (SELECT sum(visits) FROM person)=accepted FROM learner"),
                     1);
    assert_false(is_sound(&p, &err));
    tacit__vault_close(p.v);
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, master, &p.v, &err));
    assert_int_equal(tacit__vault_store_status(p.v), TACIT__STORE_UNSOUND);
}

/* A row without its tag stops who comes, before anything is decided by it. */
TEST(a_changed_row_decides_nothing)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    tacit__vault_answer answer;
    fill(&p);
    run(&p, "UPDATE person SET last_place=2 WHERE last_place=5");
    assert_status(try_visit(&p, 9, 2, &answer, &err), TACIT_CORRUPT);
    assert_non_null(strstr(err.message, "how often a person took part was changed"));
    assert_int_equal(number(&p, "SELECT accepted FROM learner"), 5);
    assert_int_equal(visit(&p, 10, 7), TACIT__VAULT_TAKEN);
}

/* --- Another key, copies ---------------------------------------------------------------------------- */

TEST(people_stay_with_another_key_in_copies_and_after_adoption)
{
    SCOPED_BY(close_place) place p;
    tacit_error err = {0};
    fill(&p);
    assert_ok(tacit__vault_rekey(p.v, other, &err));
    if (!is_sound(&p, &err))
        fail_msg("%s", err.message);
    assert_int_equal(visit(&p, 6, 2), TACIT__VAULT_SOON);
    shell_in(&p, "rm -f copy");
    assert_ok(tacit__vault_backup(p.v, fmt("%s/copy", p.directory), &err));
    tacit__vault_close(p.v);
    shell_in(&p, "rm -f v.db*; mv copy v.db");
    assert_ok(tacit__vault_open(p.path, TACIT__VAULT_SERVE, other, &p.v, &err));
    assert_int_equal(tacit__vault_store_status(p.v), TACIT__STORE_COPY);
    assert_int_equal(visit(&p, 7, 9), TACIT__VAULT_FULL); /* a copy takes nobody */
    assert_ok(tacit__vault_adopt(p.v, &err));
    assert_int_equal(visit(&p, 8, 2), TACIT__VAULT_SOON);
    assert_int_equal(visit(&p, 8, 9), TACIT__VAULT_TAKEN);
    assert_int_equal(visit(&p, 9, 1), TACIT__VAULT_TAKEN); /* 1, 4, 7 */
    assert_int_equal(visit(&p, 10, 1), TACIT__VAULT_USED);
    if (!is_sound(&p, &err))
        fail_msg("%s", err.message);
    /* a damaged row is not given a tag of the new key */
    run(&p, "UPDATE person SET last_place=6 WHERE last_place=7");
    assert_status(tacit__vault_rekey(p.v, master, &err), TACIT_CORRUPT);
}
