/* Statements and rows of PostgreSQL. See store/postgres/postgres.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/postgres/postgres.h"

/* The object ids of types, which never change. */
enum { BOOL = 16, BYTEA = 17, INT8 = 20, INT4 = 23, TEXT = 25, FLOAT8 = 701 };

static const tacit__driver driver;

tacit__pg_connection *tacit__pg_of(tacit__connection *c)
{
    return c != NULL && c->driver == &driver ? (tacit__pg_connection *)c : NULL;
}

/* --- Words --------------------------------------------------------------------------------------- */

/* Replaces ? and ?1 by $1; *n is the number of parameters. The caller frees the result. */
static char *translate(const char *sql, int *n)
{
    char *out = tacit__alloc(strlen(sql) * 3 + 1, 1);
    size_t length = 0;
    bool quoted = false;
    *n = 0;
    for (const char *at = sql; out != NULL && *at != '\0'; at++) {
        quoted = *at == '\'' ? !quoted : quoted;
        if (*at != '?' || quoted) {
            out[length++] = *at;
            continue;
        }
        int number = *n + 1;
        if (at[1] >= '1' && at[1] <= '9')
            number = *++at - '0';
        *n = number > *n ? number : *n;
        length += (size_t)snprintf(out + length, 4, "$%d", number);
    }
    return out;
}

/* Finds the first table that a statement names. */
static void find_table(const char *sql, char table[TACIT__PG_TABLE])
{
    static const char *const words[] = {"UPDATE ", "INTO ", "FROM "};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(sql, words[i]);
        if (at != NULL && (first == NULL || at < first))
            first = at + strlen(words[i]);
    }
    first = first != NULL ? first : "";
    (void)snprintf(table, TACIT__PG_TABLE, "%.*s", (int)strcspn(first, " (;"), first);
}

static tacit_status make(tacit__pg_connection *c, tacit__pg_cursor *s, int number, const char *sql,
                         tacit_error *err)
{
    *s = (tacit__pg_cursor){.head = {&driver},
                            .connection = c,
                            .number = number,
                            .once = number == TACIT__ONCE,
                            .row = -1};
    s->sql = translate(sql, &s->n_parameters);
    if (s->sql == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    TACIT__REQUIRE(s->n_parameters <= TACIT__PG_PARAMETERS);
    find_table(sql, s->table);
    return TACIT_OK;
}

/* --- Connections --------------------------------------------------------------------------------- */

static void clear(tacit__pg_cursor *s)
{
    if (!s->borrowed)
        PQclear(s->result);
    s->result = NULL;
    s->borrowed = s->asked = false;
    s->row = -1;
}

/* Runs several statements: those that begin and end transactions, and those that create tables. */
static tacit_status run(tacit__connection *base, const char *sql, const char *doing,
                        tacit_error *err)
{
    tacit__pg_connection *c = (tacit__pg_connection *)base;
    const bool begins = strncmp(sql, "BEGIN", 5) == 0,
               ends = strcmp(sql, "COMMIT") == 0 || strcmp(sql, "ROLLBACK") == 0;
    (void)doing;
    c->assumed_wrongly = c->assumed_wrongly && !begins;
    if (!c->in_transaction)
        TRY(tacit__pg_connect(c, err));
    if (strcmp(sql, "COMMIT") == 0 && c->n_unconfirmed > 0) {
        tacit__pg_disable_assumptions(c);
        return tacit__pg_fail(c, "write", "a row that was not asked for may be there", err);
    }
    if (strcmp(sql, "ROLLBACK") == 0)
        tacit__pg_drop_groups(c);
    tacit_status status = TACIT_OK;
    for (const char *at = sql, *end; *at != '\0' && status == TACIT_OK; at = end) {
        end = at + strcspn(at, ";");
        tacit__pg_cursor s;
        char text[1200];
        (void)snprintf(text, sizeof text, "%.*s", (int)(end - at), at);
        end += *end == ';';
        if (text[strspn(text, " ")] == '\0')
            continue;
        status = make(c, &s, TACIT__ONCE, text, err);
        if (status == TACIT_OK)
            status = tacit__pg_send(
                &s,
                (tacit__pg_sent){.write = !ends && !begins, .commit = strcmp(text, "COMMIT") == 0},
                err);
        tacit__free(s.sql);
    }
    if (begins && status == TACIT_OK) {
        c->in_transaction = true;
        c->cautious -= c->cautious > 0;
        return TACIT_OK; /* told by what comes next */
    }
    if (status == TACIT_OK)
        status = tacit__pg_drain(c, err);
    if (ends) {
        c->in_transaction = false;
        tacit__pg_forget_expected(c);
        /* a transaction that had failed is answered by ROLLBACK */
        if (status != TACIT_OK && c->link != NULL && PQtransactionStatus(c->link) != PQTRANS_IDLE)
            tacit__pg_drop(c);
    }
    return status;
}

static tacit_status prepare(tacit__connection *base, int number, const char *sql,
                            tacit__cursor **out, tacit_error *err)
{
    tacit__pg_connection *c = (tacit__pg_connection *)base;
    tacit__pg_cursor *s = number == TACIT__ONCE ? tacit__alloc(1, sizeof *s) : &c->cursors[number];
    if (s == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_status status = c->in_transaction ? TACIT_OK : tacit__pg_connect(c, err);
    if (status == TACIT_OK && s->sql == NULL)
        status = make(c, s, number, sql, err);
    if (status != TACIT_OK) {
        if (number == TACIT__ONCE)
            tacit__free(s);
        return status;
    }
    clear(s);
    *out = &s->head;
    return TACIT_OK;
}

static tacit_status changes(tacit__connection *base, uint64_t *n, tacit_error *err)
{
    tacit__pg_connection *c = (tacit__pg_connection *)base;
    TACIT__REQUIRE(!c->grouped); /* a statement of many rows has no count for one of them */
    tacit_status status = tacit__pg_drain(c, err);
    *n = status == TACIT_OK ? c->changes : 0;
    return status;
}

static bool in_transaction(const tacit__connection *c)
{
    return ((const tacit__pg_connection *)c)->in_transaction;
}

static bool assumed_wrongly(const tacit__connection *c)
{
    return ((const tacit__pg_connection *)c)->assumed_wrongly;
}

static void reset_all(tacit__connection *base)
{
    tacit__pg_connection *c = (tacit__pg_connection *)base;
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++)
        clear(&c->cursors[i]);
}

static void destroy(tacit__connection *base)
{
    tacit__pg_connection *c = (tacit__pg_connection *)base;
    reset_all(base);
    tacit__pg_drop(c);
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++) {
        tacit__free(c->cursors[i].sql);
        tacit__pg_free_group(c->cursors[i].group);
    }
    tacit__free(c->sent);
    tacit__free_secret(c->target, c->target != NULL ? strlen(c->target) : 0);
    tacit__free(c);
}

/* --- Cursors ------------------------------------------------------------------------------------- */

static void write_big_endian(uint64_t value, uint8_t out[8])
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (56 - 8 * i));
}

static uint64_t read_big_endian(const uint8_t *bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

static void bind(tacit__cursor *base, int i, const tacit__cell *v)
{
    tacit__pg_cursor *s = (tacit__pg_cursor *)base;
    const int at = i - 1;
    TACIT__REQUIRE(at >= 0 && at < s->n_parameters && v->size < INT32_MAX);
    uint64_t bits = (uint64_t)v->integer;
    if (v->type == TACIT__COLUMN_REAL)
        memcpy(&bits, &v->real, sizeof bits);
    s->values[at] = v->bytes;
    s->sizes[at] = (int)v->size;
    s->types[at] = v->type == TACIT__COLUMN_TEXT   ? TEXT
                   : v->type == TACIT__COLUMN_NULL ? 0 /* the column's own */
                                                   : BYTEA;
    if (v->type == TACIT__COLUMN_INTEGER || v->type == TACIT__COLUMN_REAL) {
        write_big_endian(bits, s->numbers[at]);
        s->types[at] = v->type == TACIT__COLUMN_REAL ? FLOAT8 : INT8;
        s->sizes[at] = 8;
        s->values[at] =
            v->type == TACIT__COLUMN_REAL && isnan(v->real) ? NULL : (char *)s->numbers[at];
    }
    if (s->values[at] == NULL)
        s->sizes[at] = 0;
}

static tacit_status write(tacit__cursor *base, tacit_error *err)
{
    tacit__pg_cursor *s = (tacit__pg_cursor *)base;
    tacit_status status;
    tacit__pg_invalidate_expected(s);
    s->connection->grouped = tacit__pg_wait_in_group(s, NULL, &status, err);
    if (s->connection->grouped)
        return status;
    TRY(tacit__pg_send(s, (tacit__pg_sent){.write = true}, err));
    return s->connection->in_transaction ? TACIT_OK : tacit__pg_drain(s->connection, err);
}

static void expect(tacit__cursor *base, bool assumed)
{
    tacit__pg_cursor *s = (tacit__pg_cursor *)base;
    if (!s->connection->in_transaction)
        return;
    tacit__pg_expected *e = tacit__pg_expect(s);
    tacit_status status;
    if (e != NULL)
        e->assumed = assumed && s->connection->terse && s->connection->cautious == 0;
    if (e == NULL || e->assumed || tacit__pg_wait_in_group(s, e, &status, NULL))
        return;
    if (tacit__pg_send(s, (tacit__pg_sent){.first = e}, NULL) != TACIT_OK)
        return; /* the connection is gone, which the next read finds */
}

static tacit_status ask(tacit__pg_cursor *s, tacit_error *err)
{
    tacit__pg_connection *c = s->connection;
    tacit__pg_expected *e = tacit__pg_find_expected(s);
    if (e != NULL && e->assumed) {
        tacit__pg_use_assumption(c, e);
        s->n_rows = 0;
        s->asked = true;
        return TACIT_OK;
    }
    if (e != NULL && e->result == NULL)
        TRY(tacit__pg_drain(c, err));
    if (e != NULL && e->result != NULL) {
        s->result = e->result;
        s->borrowed = true;
        s->first_row = e->first_row;
        s->n_rows = e->n_rows;
        s->shift = e->grouped;
    } else {
        TRY(tacit__pg_send(s, (tacit__pg_sent){.cursor = s}, err));
        TRY(tacit__pg_drain(c, err));
        s->first_row = s->shift = 0;
        s->n_rows = PQntuples(s->result);
    }
    s->asked = true;
    return s->result != NULL ? TACIT_OK : tacit__pg_fail(c, "read", "no rows came", err);
}

static tacit_status next(tacit__cursor *base, bool *more, tacit_error *err)
{
    tacit__pg_cursor *s = (tacit__pg_cursor *)base;
    *more = false;
    if (!s->asked)
        TRY(ask(s, err));
    *more = ++s->row < s->n_rows;
    if (!*more)
        clear(s);
    return TACIT_OK;
}

static void reset(tacit__cursor *s)
{
    clear((tacit__pg_cursor *)s);
}

static void close_cursor(tacit__cursor *base)
{
    tacit__pg_cursor *s = (tacit__pg_cursor *)base;
    TACIT__REQUIRE(s->once);
    clear(s);
    tacit__free(s->sql);
    tacit__free(s);
}

static int columns(const tacit__cursor *base)
{
    const tacit__pg_cursor *s = (const tacit__pg_cursor *)base;
    return PQnfields(s->result) - s->shift;
}

static int parameters(const tacit__cursor *base)
{
    return ((const tacit__pg_cursor *)base)->n_parameters;
}

static tacit__cell get(tacit__cursor *base, int column)
{
    const tacit__pg_cursor *s = (const tacit__pg_cursor *)base;
    const int row = s->first_row + s->row;
    column += s->shift;
    if (s->result == NULL || PQgetisnull(s->result, row, column))
        return (tacit__cell){.type = TACIT__COLUMN_NULL, .real = (double)NAN};
    const uint8_t *bytes = (const uint8_t *)PQgetvalue(s->result, row, column);
    const int size = PQgetlength(s->result, row, column);
    const uint64_t bits = size <= 8 ? read_big_endian(bytes, size) : 0;
    tacit__cell v = {.type = TACIT__COLUMN_INTEGER, .integer = (int64_t)bits};
    switch (PQftype(s->result, column)) {
    case BOOL:
    case INT8:
        break;
    case INT4:
        v.integer = (int32_t)(uint32_t)bits;
        break;
    case FLOAT8:
        v.type = TACIT__COLUMN_REAL;
        memcpy(&v.real, &bits, sizeof v.real);
        return v;
    case BYTEA:
        return (tacit__cell){
            .type = TACIT__COLUMN_BYTES, .bytes = size > 0 ? bytes : NULL, .size = (size_t)size};
    default:
        return (tacit__cell){.type = TACIT__COLUMN_TEXT, .bytes = bytes, .size = (size_t)size};
    }
    v.real = (double)v.integer;
    return v;
}

static const tacit__driver driver = {.run = run,
                                     .prepare = prepare,
                                     .changes = changes,
                                     .in_transaction = in_transaction,
                                     .reset_all = reset_all,
                                     .destroy = destroy,
                                     .bind = bind,
                                     .write = write,
                                     .expect = expect,
                                     .assumed_wrongly = assumed_wrongly,
                                     .next = next,
                                     .reset = reset,
                                     .close = close_cursor,
                                     .columns = columns,
                                     .parameters = parameters,
                                     .get = get};

tacit_status tacit__pg_create(const char *target, const char *setup, tacit__connection **out,
                              tacit_error *err)
{
    tacit__pg_connection *c = tacit__alloc(1, sizeof *c);
    char *copy = tacit__alloc(strlen(target) + 1, 1);
    if (c == NULL || copy == NULL) {
        tacit__free(c);
        tacit__free(copy);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    memcpy(copy, target, strlen(target) + 1);
    *c = (tacit__pg_connection){
        .head = {&driver}, .target = copy, .setup = setup, .patience_ms = TACIT__PG_PATIENCE_MS};
    tacit__pg_describe(target, c->name, sizeof c->name);
    *out = &c->head;
    return TACIT_OK;
}
