/* The calls of store/driver.h, through the table of the database. */
#include "store/driver.h"

#include <stdarg.h>
#include <string.h>

#include "base/error.h"

enum { MOST_VALUES = 20 };

tacit_status tacit__connection_run(tacit__connection *c, const char *sql, const char *doing,
                                   tacit_error *err)
{
    return c->driver->run(c, sql, doing, err);
}

tacit_status tacit__connection_prepare(tacit__connection *c, int number, const char *sql,
                                       tacit__cursor **out, tacit_error *err)
{
    TACIT__REQUIRE(number == TACIT__ONCE || (number >= 0 && number < TACIT__DB_STATEMENTS));
    return c->driver->prepare(c, number, sql, out, err);
}

/* Reads the values that a format describes. */
static void read_values(const char *format, va_list args, tacit__cell *out)
{
    for (; *format != '\0'; format++, out++) {
        if (*format == 'i') {
            *out = (tacit__cell){.type = TACIT__COLUMN_INTEGER, .integer = va_arg(args, int64_t)};
        } else if (*format == 'r') {
            *out = (tacit__cell){.type = TACIT__COLUMN_REAL, .real = va_arg(args, double)};
        } else if (*format == 't') {
            const char *text = va_arg(args, const char *);
            *out = (tacit__cell){
                .type = TACIT__COLUMN_TEXT, .bytes = text, .size = text != NULL ? strlen(text) : 0};
        } else {
            *out = (tacit__cell){.type = TACIT__COLUMN_BYTES, .bytes = va_arg(args, const void *)};
            out->size = va_arg(args, size_t);
        }
    }
}

static void bind_all(tacit__cursor *s, const char *format, const tacit__cell *values)
{
    for (int i = 0; format[i] != '\0'; i++)
        s->driver->bind(s, i + 1, &values[i]);
}

tacit_status tacit__connection_write(tacit__connection *c, int number, const char *sql,
                                     tacit_error *err, const char *format, ...)
{
    TACIT__REQUIRE(format != NULL);
    tacit__cursor *s = NULL;
    TRY(tacit__connection_prepare(c, number, sql, &s, err));
    tacit__cell values[MOST_VALUES];
    TACIT__REQUIRE(strlen(format) <= MOST_VALUES);
    va_list args;
    va_start(args, format);
    read_values(format, args, values);
    va_end(args);
    bind_all(s, format, values);
    tacit_status status = s->driver->write(s, err);
    tacit__cursor_reset(s);
    return status;
}

/* Executes the statement of a cursor, and passes on its rows. */
static tacit_status execute(tacit__cursor *s, tacit__result_fn *each, void *context,
                            tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (each == NULL)
        status = s->driver->write(s, err);
    for (bool more = each != NULL; more && status == TACIT_OK;) {
        status = tacit__cursor_next(s, &more, err);
        if (status == TACIT_OK && more)
            status = each(context, s, err);
    }
    tacit__cursor_reset(s);
    return status;
}

tacit_status tacit__connection_ask(tacit__connection *c, int number, const char *sql,
                                   tacit__result_fn *each, void *context, tacit_error *err,
                                   const char *format, ...)
{
    TACIT__REQUIRE(number != TACIT__ONCE && each != NULL && strlen(format) <= MOST_VALUES);
    tacit__cursor *s = NULL;
    tacit__cell values[MOST_VALUES];
    va_list args;
    va_start(args, format);
    read_values(format, args, values);
    va_end(args);
    TRY(tacit__connection_prepare(c, number, sql, &s, err));
    bind_all(s, format, values);
    return c->driver->ask != NULL ? c->driver->ask(s, each, context, err)
                                  : execute(s, each, context, err);
}

tacit_status tacit__connection_add_row(tacit__connection *c, const tacit__row_statement *statement,
                                       const tacit__cell *values, tacit__result_fn *each,
                                       void *context, tacit_error *err)
{
    TACIT__REQUIRE(strlen(statement->format) <= TACIT__ROW_VALUES);
    tacit__cursor *s = NULL;
    if (c->driver->add_row != NULL)
        return c->driver->add_row(c, statement, values, each, context, err);
    TRY(tacit__connection_prepare(c, statement->number, statement->one, &s, err));
    bind_all(s, statement->format, values);
    return execute(s, each, context, err);
}

tacit_status tacit__connection_await(tacit__connection *c, tacit_error *err)
{
    return c->driver->await != NULL ? c->driver->await(c, err) : TACIT_OK;
}

tacit_status tacit__connection_changes(tacit__connection *c, uint64_t *n, tacit_error *err)
{
    return c->driver->changes(c, n, err);
}

bool tacit__connection_in_transaction(const tacit__connection *c)
{
    return c->driver->in_transaction(c);
}

void tacit__connection_reset_all(tacit__connection *c)
{
    c->driver->reset_all(c);
}

void tacit__connection_destroy(tacit__connection *c)
{
    if (c != NULL)
        c->driver->destroy(c);
}

/* --- Cursors ------------------------------------------------------------------------------------ */

void tacit__cursor_bind_int(tacit__cursor *s, int i, int64_t value)
{
    s->driver->bind(s, i, &(tacit__cell){.type = TACIT__COLUMN_INTEGER, .integer = value});
}

void tacit__cursor_bind_text(tacit__cursor *s, int i, const char *text)
{
    s->driver->bind(s, i,
                    &(tacit__cell){.type = TACIT__COLUMN_TEXT,
                                   .bytes = text,
                                   .size = text != NULL ? strlen(text) : 0});
}

void tacit__cursor_bind_bytes(tacit__cursor *s, int i, const void *bytes, size_t size)
{
    s->driver->bind(s, i,
                    &(tacit__cell){.type = TACIT__COLUMN_BYTES, .bytes = bytes, .size = size});
}

tacit_status tacit__cursor_run_once(tacit__cursor *s, tacit_error *err)
{
    tacit_status status = s->driver->write(s, err);
    tacit__cursor_close(s);
    return status;
}

tacit_status tacit__cursor_next(tacit__cursor *s, bool *more, tacit_error *err)
{
    TACIT__REQUIRE(s != NULL);
    *more = false;
    return s->driver->next(s, more, err);
}

void tacit__cursor_reset(tacit__cursor *s)
{
    s->driver->reset(s);
}

void tacit__cursor_close(tacit__cursor *s)
{
    if (s != NULL)
        s->driver->close(s);
}

int tacit__cursor_columns(const tacit__cursor *s)
{
    return s->driver->columns(s);
}

tacit__column_type tacit__cursor_type(tacit__cursor *s, int column)
{
    return s->driver->get(s, column).type;
}

int64_t tacit__cursor_int(tacit__cursor *s, int column)
{
    return s->driver->get(s, column).integer;
}

double tacit__cursor_real(tacit__cursor *s, int column)
{
    return s->driver->get(s, column).real;
}

const char *tacit__cursor_text(tacit__cursor *s, int column)
{
    return s->driver->get(s, column).bytes;
}

const void *tacit__cursor_bytes(tacit__cursor *s, int column, size_t *size)
{
    const tacit__cell v = s->driver->get(s, column);
    *size = v.size;
    return v.bytes;
}
