/* Rows of one statement, sent as arrays. See store/postgres/postgres.h.
 *
 * A statement costs the server some 15 us whatever it does; a row costs a few. So the rows of a statement
 * wait until another statement comes, results are awaited, or there are many. Nothing overtakes anything:
 * only one statement has rows that wait, and they are sent before whatever comes next. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/postgres/postgres.h"

enum {
    MOST_ROWS = 256, /* then they are sent: the server works on them while more come */
    MOST_BYTES = 1 << 20,
    ARRAY_HEAD = 20, /* dimensions, NULLs, type, length, first index */
    /* the object ids of types */
    BYTEA = 17,
    INT8 = 20,
    BYTEAS = 1001,
    INT8S = 1016
};

static void put_big_endian(tacit__text *out, uint64_t value, int n)
{
    char bytes[8];
    for (int i = 0; i < n; i++)
        bytes[i] = (char)(value >> (8 * (n - 1 - i)));
    tacit__text_add(out, bytes, (size_t)n);
}

static void put_value(tacit__text *array, const tacit__cell *v)
{
    if (v->type == TACIT__COLUMN_INTEGER) {
        put_big_endian(array, sizeof v->integer, 4);
        put_big_endian(array, (uint64_t)v->integer, 8);
    } else {
        put_big_endian(array, v->bytes != NULL ? v->size : UINT32_MAX, 4); /* the latter is NULL */
        tacit__text_add(array, v->bytes != NULL ? v->bytes : "", v->bytes != NULL ? v->size : 0);
    }
}

/* Writes the head of an array: dimensions, whether there are NULLs, the type, the length, the first index. */
static bool write_head(tacit__text *array, uint32_t type, int n)
{
    tacit__text head = {0};
    const uint32_t numbers[] = {1, 1, type, (uint32_t)n, 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_big_endian(&head, numbers[i], 4);
    const bool good = !head.failed && !array->failed && array->length < INT32_MAX;
    if (good)
        memcpy(array->data, head.data, ARRAY_HEAD);
    tacit__text_destroy(&head);
    return good;
}

void tacit__pg_drop_rows(tacit__pg_connection *c)
{
    for (size_t i = 0; i < TACIT__ROW_VALUES; i++) {
        c->rows.arrays[i].length = 0;
        c->rows.arrays[i].failed = false;
    }
    c->rows.n = 0;
    c->rows.bytes = 0;
}

static tacit_status send_rows(tacit__pg_connection *c, tacit_error *err)
{
    tacit__pg_rows *rows = &c->rows;
    const tacit__row_statement *st = rows->statement;
    tacit__cursor *cursor;
    TRY(tacit__connection_prepare(&c->head, st->number, st->many, &cursor, err));
    tacit__pg_cursor *s = (tacit__pg_cursor *)cursor;
    TACIT__REQUIRE((size_t)s->n_parameters == strlen(st->format));
    if (rows->n == 0) /* a new session was begun */
        return tacit__pg_fail(c, "reach the database", "the connection was lost", err);
    for (int i = 0; i < s->n_parameters; i++) {
        const bool number = st->format[i] == 'i';
        if (!write_head(&rows->arrays[i], number ? INT8 : BYTEA, rows->n))
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        s->types[i] = number ? INT8S : BYTEAS;
        s->values[i] = rows->arrays[i].data;
        s->sizes[i] = (int)rows->arrays[i].length;
    }
    return tacit__pg_send_now(
        s, (tacit__pg_sent){.each = rows->each, .context = rows->context, .write = true}, err);
}

tacit_status tacit__pg_send_rows(tacit__pg_connection *c, tacit_error *err)
{
    if (c->rows.n == 0)
        return TACIT_OK;
    const tacit_status status = send_rows(c, err);
    tacit__pg_drop_rows(c);
    if (status != TACIT_OK && c->link != NULL) /* rows were not sent: there must be no commit */
        tacit__pg_drop(c);
    return status;
}

tacit_status tacit__pg_add_row(tacit__connection *base, const tacit__row_statement *statement,
                               const tacit__cell *values, tacit__result_fn *each, void *context,
                               tacit_error *err)
{
    static const char head[ARRAY_HEAD];
    tacit__pg_connection *c = (tacit__pg_connection *)base;
    tacit__pg_rows *rows = &c->rows;
    if (rows->n >= MOST_ROWS || rows->bytes >= MOST_BYTES ||
        (rows->n > 0 && rows->statement != statement)) {
        TRY(tacit__pg_send_rows(c, err));
        (void)PQflush(c->link); /* what the system does not take now goes with the rest */
    }
    if (!c->in_transaction && rows->n == 0)
        TRY(tacit__pg_connect(c, err));
    TACIT__REQUIRE(rows->n == 0 || (rows->each == each && rows->context == context));
    rows->statement = statement;
    rows->each = each;
    rows->context = context;
    for (size_t i = 0; statement->format[i] != '\0'; i++) {
        if (rows->n == 0)
            tacit__text_add(&rows->arrays[i], head, sizeof head);
        put_value(&rows->arrays[i], &values[i]);
        rows->bytes += values[i].size;
    }
    rows->n++;
    return TACIT_OK;
}
