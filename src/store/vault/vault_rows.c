/* The rows about the users of one transaction, in memory. See store/vault/vault_inside.h.
 *
 * What the store knows about the users of a transaction is loaded together, with a statement for each table;
 * it is changed in memory, where a later user of the same transaction sees it; and the differences are
 * written together before the commit. So a transaction of a thousand users takes as many round trips as that
 * of one.
 *
 * Most users are new, and a search for what is not there costs a database as much as the row that follows. So
 * a row can be claimed: it is inserted unless there is one, and the database says which rows were new. A row
 * that was claimed and is not wanted in the end is removed before the commit. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/vault/vault_inside.h"

enum { BUCKETS = 4096 };

/* The forms of each statement for one row and, on PostgreSQL, for many. OFFSET 0 keeps a search a search: the
 * server answers it for each row, by the table's index. Without it the statement becomes a join, whose plan,
 * made while the table is small, reads all of it ever after: it is kept until the table is analyzed. (A
 * session that serves has enable_seqscan off for the same reason.) Rows stay where they are while a
 * statement runs, because writers take turns. */
#define NAMES "unnest($1::int8[],$2::bytea[]) AS u(a,b)"
#define NUMBER(table, kind) (SQL_ROWS + 4 * TACIT__TABLE_##table + (kind))
#define READ(at, columns, table, name)                                                             \
    {                                                                                              \
        .number = NUMBER(at, 0),                                                                   \
        .one = "SELECT " columns " FROM " table " WHERE learner=? AND " name "=?",                 \
        .many = "SELECT q.* FROM " NAMES ", LATERAL (SELECT " columns " FROM " table               \
                " WHERE learner=u.a AND " name "=u.b OFFSET 0) AS q",                              \
        .format = "ib"                                                                             \
    }
#define REMOVE(at, table, name)                                                                    \
    {                                                                                              \
        .number = NUMBER(at, 3), .one = "DELETE FROM " table " WHERE learner=? AND " name "=?",    \
        .many = "DELETE FROM " table " WHERE ctid = ANY(ARRAY(SELECT q.at FROM " NAMES             \
                ", LATERAL (SELECT ctid AS at FROM " table " WHERE learner=u.a AND " name          \
                "=u.b OFFSET 0) AS q))",                                                           \
        .format = "ib"                                                                             \
    }
#define INSERT(at, into, values, arrays, rest, types)                                              \
    {                                                                                              \
        .number = (at), .one = "INSERT INTO " into " VALUES" values rest,                          \
        .many = "INSERT INTO " into " SELECT * FROM unnest" arrays " AS u WHERE true" rest,        \
        .format = (types)                                                                          \
    }

typedef struct table {
    tacit__row_statement read;
    /* Inserts rows that are not there, and returns their names. */
    tacit__row_statement claim;
    tacit__row_statement write, remove;
    bool replaces; /* `write` replaces a row; in the other tables it is removed first */
    bool nameless; /* `write` has no name among its values */
} table;

#define UNLESS_THERE " ON CONFLICT DO NOTHING RETURNING "
#define THREE "($1::int8[],$2::bytea[],$3::bytea[])"

static const table tables[TACIT__TABLE_END] = {
    [TACIT__TABLE_REPORT] = {.read = READ(REPORT, "learner, content", "seen", "content")},
    [TACIT__TABLE_OPEN] = {.read = READ(OPEN, "learner, key, data", "open", "key"),
                           .write = INSERT(NUMBER(OPEN, 2), "open", "(?,?,?,?)",
                                           "($1::int8[],$2::bytea[],$3::int8[],$4::bytea[])",
                                           " ON CONFLICT(learner, key) DO UPDATE SET"
                                           " opened=excluded.opened, data=excluded.data",
                                           "ibib"),
                           .remove = REMOVE(OPEN, "open", "key"),
                           .replaces = true},
    [TACIT__TABLE_VERDICT] = {.read = READ(VERDICT, "learner, key, opened, soon", "verdict", "key"),
                              .write = INSERT(NUMBER(VERDICT, 2), "verdict", "(?,?,?,?)",
                                              "($1::int8[],$2::bytea[],$3::int8[],$4::int8[])", "",
                                              "ibii")},
    [TACIT__TABLE_SEEN] = {.read = READ(SEEN, "learner, key, content", "seen", "key"),
                           .write = INSERT(NUMBER(SEEN, 2), "seen", "(?,?,?)", THREE, "", "ibb")},
    [TACIT__TABLE_CLAIM] = {.read = READ(CLAIM, "learner, hash, key", "person", "hash"),
                            .claim = INSERT(NUMBER(CLAIM, 1), "person(learner, hash, key)",
                                            "(?,?,?)", THREE, UNLESS_THERE "learner, hash", "ibb"),
                            .write = INSERT(NUMBER(CLAIM, 2), "person(learner, hash, key)",
                                            "(?,?,?)", THREE, "", "ibb"),
                            .remove = REMOVE(CLAIM, "person", "hash")},
    [TACIT__TABLE_VISITS] = {.read = READ(VISITS, "learner, hash, visits, last_place, tag",
                                          "person", "hash"),
                             .write = INSERT(
                                 NUMBER(VISITS, 2),
                                 "person(learner, hash, visits, last_place, tag)", "(?,?,?,?,?)",
                                 "($1::int8[],$2::bytea[],$3::int8[],$4::int8[],$5::bytea[])",
                                 " ON CONFLICT(learner, hash) DO UPDATE SET visits=excluded.visits,"
                                 " last_place=excluded.last_place, tag=excluded.tag",
                                 "ibiib"),
                             .replaces = true},
    [TACIT__TABLE_QUOTA] =
        {.read = {.number = NUMBER(QUOTA, 0),
                  .one = "SELECT token, ?2, day, used FROM quota WHERE token=?1",
                  .many = "SELECT q.token, u.b, q.day, q.used FROM " NAMES
                          ", LATERAL (SELECT token, day, used FROM quota WHERE token=u.a OFFSET 0)"
                          " AS q",
                  .format = "ib"},
         .write = INSERT(NUMBER(QUOTA, 2), "quota", "(?,?,?)", "($1::int8[],$2::int8[],$3::int8[])",
                         " ON CONFLICT(token) DO UPDATE SET day=excluded.day, used=excluded.used",
                         "iii"),
         .replaces = true,
         .nameless = true},
    [TACIT__TABLE_INPUT] = {.write = INSERT(NUMBER(INPUT, 2), "input", "(?,?,?)",
                                            "($1::int8[],$2::int8[],$3::bytea[])", "", "iib"),
                            .nameless = true},
    [TACIT__TABLE_DECISION] = {.write = INSERT(NUMBER(DECISION, 2), "decision(learner, data)",
                                               "(?,?)", "($1::int8[],$2::bytea[])", "", "ib"),
                               .nameless = true}};

typedef struct list {
    tacit__vault_group *group;
    tacit__vault_row *first, *last;
} list;

struct tacit__vault_group {
    list lists[TACIT__TABLE_END]; /* rows in the order in which they were first needed */
    tacit__vault_row *buckets[BUCKETS];
};

static tacit_status need_group(tacit__vault *vault, tacit_error *err)
{
    if (vault->group != NULL)
        return TACIT_OK;
    vault->group = tacit__alloc(1, sizeof *vault->group);
    if (vault->group == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < TACIT__TABLE_END; i++)
        vault->group->lists[i].group = vault->group;
    return TACIT_OK;
}

/* --- Rows in memory ----------------------------------------------------------------------------- */

static tacit__vault_row **bucket_of(tacit__vault_group *g, tacit__vault_table t, int64_t learner,
                                    const uint8_t *name)
{
    uint64_t hash; /* names are hashes */
    memcpy(&hash, name, sizeof hash);
    hash ^=
        ((uint64_t)learner * TACIT__TABLE_END + (uint64_t)t) * 0x9e3779b97f4a7c15u; /* 2^64/phi */
    return &g->buckets[(hash ^ hash >> 32) % BUCKETS];
}

static tacit__vault_row *find(tacit__vault_group *g, tacit__vault_table t, int64_t learner,
                              const uint8_t *name)
{
    tacit__vault_row *row = *bucket_of(g, t, learner, name);
    while (row != NULL && (row->table != t || row->learner != learner ||
                           memcmp(row->name, name, sizeof row->name) != 0))
        row = row->next_in_bucket;
    return row;
}

static tacit_status set_data(tacit__vault_row *row, const void *data, size_t size, tacit_error *err)
{
    uint8_t *copy = NULL;
    if (data != NULL) {
        copy = tacit__alloc_brief(size + 1, 1);
        if (copy == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        memcpy(copy, data, size);
    }
    tacit__free(row->data);
    row->data = copy;
    row->size = data != NULL ? size : 0;
    return TACIT_OK;
}

/* Adds a row to the end of its list. */
static tacit_status append(tacit__vault *vault, tacit__vault_table t, int64_t learner,
                           tacit__vault_row **out, tacit_error *err)
{
    TRY(need_group(vault, err));
    tacit__vault_row *row = tacit__alloc_brief(1, sizeof *row);
    if (row == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    list *l = &vault->group->lists[t];
    row->table = t;
    row->learner = learner;
    if (l->last != NULL)
        l->last->next = row;
    else
        l->first = row;
    l->last = row;
    *out = row;
    return TACIT_OK;
}

static tacit_status find_or_append(tacit__vault *vault, tacit__vault_table t, int64_t learner,
                                   const uint8_t name[TACIT__VAULT_KEY], tacit__vault_row **out,
                                   tacit_error *err)
{
    TRY(need_group(vault, err));
    *out = find(vault->group, t, learner, name);
    if (*out != NULL)
        return TACIT_OK;
    TRY(append(vault, t, learner, out, err));
    tacit__vault_row **bucket = bucket_of(vault->group, t, learner, name);
    memcpy((*out)->name, name, TACIT__VAULT_KEY);
    (*out)->next_in_bucket = *bucket;
    *bucket = *out;
    return TACIT_OK;
}

tacit_status tacit__row_set(tacit__vault_row *row, const void *data, size_t size, tacit_error *err)
{
    const bool same = row->stored && !row->differs && row->size == size &&
                      (row->data == NULL) == (data == NULL) &&
                      (size == 0 || (row->data != NULL && memcmp(row->data, data, size) == 0));
    if (!same) {
        TRY(set_data(row, data, size, err));
        row->differs = row->stored;
    }
    row->wanted = true;
    return TACIT_OK;
}

void tacit__row_unset(tacit__vault_row *row)
{
    row->wanted = false;
}

tacit_status tacit__row_append(tacit__vault *vault, tacit__vault_table t, int64_t learner,
                               int64_t number, const void *data, size_t size, tacit_error *err)
{
    tacit__vault_row *row = NULL;
    TRY(append(vault, t, learner, &row, err));
    row->loaded = true;
    row->numbers[0] = number;
    return tacit__row_set(row, data, size, err);
}

/* --- Loading ------------------------------------------------------------------------------------ */

static tacit_status find_named(void *context, tacit__cursor *result, tacit__vault_row **row,
                               tacit_error *err)
{
    list *l = context;
    size_t size;
    const uint8_t *name = tacit__cursor_bytes(result, 1, &size);
    *row = NULL;
    if (size == TACIT__VAULT_KEY)
        *row = find(l->group, (tacit__vault_table)(l - l->group->lists),
                    tacit__cursor_int(result, 0), name);
    return *row != NULL ? TACIT_OK
                        : tacit__fail(err, TACIT_CORRUPT, "the store answers what was not asked");
}

static tacit_status receive_claimed(void *context, tacit__cursor *result, tacit_error *err)
{
    tacit__vault_row *row;
    TRY(find_named(context, result, &row, err));
    row->stored = row->loaded = true; /* and not wanted yet */
    return TACIT_OK;
}

static tacit_status receive_read(void *context, tacit__cursor *result, tacit_error *err)
{
    tacit__vault_row *row;
    TRY(find_named(context, result, &row, err));
    row->stored = row->wanted = row->loaded = true;
    row->n_numbers = 0;
    TRY(set_data(row, NULL, 0, err)); /* what a claim had offered */
    for (int i = 2; i < tacit__cursor_columns(result); i++) {
        size_t size;
        const tacit__column_type type = tacit__cursor_type(result, i);
        if (type == TACIT__COLUMN_INTEGER && row->n_numbers == TACIT__ROW_NUMBERS)
            return tacit__fail(err, TACIT_CORRUPT, "a row of the store has too many numbers");
        if (type == TACIT__COLUMN_INTEGER)
            row->numbers[row->n_numbers++] = tacit__cursor_int(result, i);
        const void *data = tacit__cursor_bytes(result, i, &size);
        if (type == TACIT__COLUMN_BYTES)
            TRY(set_data(row, data != NULL ? data : "", size, err));
    }
    return TACIT_OK;
}

/* Executes a statement for the row. Its values are the learner, the name, and the numbers and data that its
 * format asks for. */
static tacit_status execute(tacit__vault *vault, const tacit__row_statement *st, bool nameless,
                            const tacit__vault_row *row, tacit__result_fn *each, tacit_error *err)
{
    tacit__cell values[TACIT__ROW_VALUES] = {
        {.type = TACIT__COLUMN_INTEGER, .integer = row->learner},
        {.type = TACIT__COLUMN_BYTES, .bytes = row->name, .size = sizeof row->name}};
    const int64_t *number = row->numbers;
    for (size_t i = nameless ? 1 : 2; i < strlen(st->format); i++)
        values[i] =
            st->format[i] == 'i'
                ? (tacit__cell){.type = TACIT__COLUMN_INTEGER, .integer = *number++}
                : (tacit__cell){.type = TACIT__COLUMN_BYTES, .bytes = row->data, .size = row->size};
    return tacit__connection_add_row(vault->db, st, values, each, &vault->group->lists[row->table],
                                     err);
}

tacit_status tacit__row_expect(tacit__vault *vault, tacit__vault_table t, int64_t learner,
                               const uint8_t name[TACIT__VAULT_KEY], tacit_error *err)
{
    tacit__vault_row *row;
    return find_or_append(vault, t, learner, name, &row, err);
}

tacit_status tacit__row_claim(tacit__vault *vault, tacit__vault_table t, int64_t learner,
                              const uint8_t name[TACIT__VAULT_KEY], const void *data, size_t size,
                              tacit_error *err)
{
    tacit__vault_row *row;
    TRY(find_or_append(vault, t, learner, name, &row, err));
    if (row->loaded || row->claims)
        return TACIT_OK;
    TRY(set_data(row, data, size, err));
    row->claims = true;
    return TACIT_OK;
}

tacit_status tacit__rows_load(tacit__vault *vault, tacit_error *err)
{
    bool again = false;
    if (vault->group == NULL)
        return TACIT_OK;
    for (size_t t = 0; t < TACIT__TABLE_END; t++) {
        tacit__vault_row *first = vault->group->lists[t].first;
        for (tacit__vault_row *row = first; row != NULL; row = row->next)
            if (!row->loaded && !row->claims)
                TRY(execute(vault, &tables[t].read, false, row, receive_read, err));
        for (tacit__vault_row *row = first; row != NULL; row = row->next)
            if (!row->loaded && row->claims)
                TRY(execute(vault, &tables[t].claim, false, row, receive_claimed, err));
    }
    TRY(tacit__connection_await(vault->db, err));
    for (size_t t = 0; t < TACIT__TABLE_END; t++)
        for (tacit__vault_row *row = vault->group->lists[t].first; row != NULL; row = row->next) {
            if (row->claims && !row->loaded) { /* there was one: what is in it? */
                TRY(execute(vault, &tables[t].read, false, row, receive_read, err));
                again = true;
            }
            row->loaded = true;
        }
    return again ? tacit__connection_await(vault->db, err) : TACIT_OK;
}

tacit_status tacit__row_get(tacit__vault *vault, tacit__vault_table t, int64_t learner,
                            const uint8_t name[TACIT__VAULT_KEY], tacit__vault_row **out,
                            tacit_error *err)
{
    TRY(find_or_append(vault, t, learner, name, out, err));
    if ((*out)->loaded)
        return TACIT_OK;
    TRY(execute(vault, &tables[t].read, false, *out, receive_read, err));
    TRY(tacit__connection_await(vault->db, err));
    (*out)->loaded = true;
    return TACIT_OK;
}

/* --- Writing ------------------------------------------------------------------------------------ */

static bool must_go(const tacit__vault_row *row)
{
    return row->stored && (!row->wanted || (row->differs && !tables[row->table].replaces));
}

static bool must_be_written(const tacit__vault_row *row)
{
    return row->wanted && (!row->stored || row->differs);
}

tacit_status tacit__rows_write(tacit__vault *vault, tacit_error *err)
{
    for (size_t t = 0; t < TACIT__TABLE_END && vault->group != NULL; t++) {
        tacit__vault_row *first = vault->group->lists[t].first;
        for (tacit__vault_row *row = first; row != NULL; row = row->next)
            if (must_go(row))
                TRY(execute(vault, &tables[t].remove, false, row, NULL, err));
        for (tacit__vault_row *row = first; row != NULL; row = row->next)
            if (must_be_written(row))
                TRY(execute(vault, &tables[t].write, tables[t].nameless, row, NULL, err));
    }
    tacit__rows_clear(vault);
    return TACIT_OK;
}

void tacit__rows_clear(tacit__vault *vault)
{
    tacit__vault_group *g = vault->group;
    bool any = false;
    for (size_t t = 0; t < TACIT__TABLE_END && g != NULL; t++) {
        for (tacit__vault_row *row = g->lists[t].first, *next; row != NULL; row = next) {
            next = row->next;
            tacit__free(row->data);
            tacit__free(row);
            any = true;
        }
        g->lists[t].first = g->lists[t].last = NULL;
    }
    if (any)
        memset(g->buckets, 0, sizeof g->buckets);
}

tacit_status tacit__rows_settle(tacit__vault *vault, tacit_status status, tacit_error *err)
{
    if (vault->writing)
        return status;
    if (status == TACIT_OK)
        status = tacit__rows_write(vault, err);
    tacit__rows_clear(vault);
    return status == TACIT_OK && !tacit__connection_in_transaction(vault->db)
               ? tacit__connection_await(vault->db, err)
               : status;
}
