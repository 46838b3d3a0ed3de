/* The calls of store/driver.h, through the table of the database. */
#include "store/driver.h"

#include <stdarg.h>
#include <string.h>

#include "base/error.h"

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

static void bind_all(tacit__cursor *s, const char *format, va_list args)
{
    for (int i = 1; *format != '\0'; format++, i++) {
        tacit__cell v = {.type = TACIT__COLUMN_NULL};
        if (*format == 'i') {
            v = (tacit__cell){.type = TACIT__COLUMN_INTEGER, .integer = va_arg(args, int64_t)};
        } else if (*format == 'r') {
            v = (tacit__cell){.type = TACIT__COLUMN_REAL, .real = va_arg(args, double)};
        } else if (*format == 't') {
            const char *text = va_arg(args, const char *);
            v = (tacit__cell){
                .type = TACIT__COLUMN_TEXT, .bytes = text, .size = text != NULL ? strlen(text) : 0};
        } else {
            v = (tacit__cell){.type = TACIT__COLUMN_BYTES, .bytes = va_arg(args, const void *)};
            v.size = va_arg(args, size_t);
        }
        s->driver->bind(s, i, &v);
    }
}

tacit_status tacit__connection_write(tacit__connection *c, int number, const char *sql,
                                     tacit_error *err, const char *format, ...)
{
    TACIT__REQUIRE(format != NULL);
    tacit__cursor *s = NULL;
    TRY(tacit__connection_prepare(c, number, sql, &s, err));
    va_list args;
    va_start(args, format);
    bind_all(s, format, args);
    va_end(args);
    tacit_status status = s->driver->write(s, err);
    tacit__cursor_reset(s);
    return status;
}

static void expect(tacit__connection *c, int number, const char *sql, bool assumed,
                   const char *format, va_list args)
{
    tacit__cursor *s = NULL;
    TACIT__REQUIRE(number != TACIT__ONCE);
    if (c->driver->expect == NULL ||
        tacit__connection_prepare(c, number, sql, &s, NULL) != TACIT_OK)
        return;
    bind_all(s, format, args);
    c->driver->expect(s, assumed);
    tacit__cursor_reset(s);
}

void tacit__connection_expect(tacit__connection *c, int number, const char *sql, const char *format,
                              ...)
{
    va_list args;
    va_start(args, format);
    expect(c, number, sql, false, format, args);
    va_end(args);
}

void tacit__connection_assume(tacit__connection *c, int number, const char *sql, const char *format,
                              ...)
{
    va_list args;
    va_start(args, format);
    expect(c, number, sql, true, format, args);
    va_end(args);
}

bool tacit__connection_assumed_wrongly(const tacit__connection *c)
{
    return c->driver->assumed_wrongly != NULL && c->driver->assumed_wrongly(c);
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

int tacit__cursor_parameters(const tacit__cursor *s)
{
    return s->driver->parameters(s);
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
