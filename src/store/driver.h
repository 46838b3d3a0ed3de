/* What the vault needs of a database: statements, rows and transactions, by a table of functions.
 *
 * All SQL of the vault is written once, in a form that SQLite and PostgreSQL both understand, with ? or ?1
 * for parameters. A database provides
 *
 *     - transactions that are on disk when COMMIT has succeeded, and leave nothing when they were undone;
 *     - unique keys that hold whatever happens, and reads that see the writes before them;
 *     - whole numbers of 64 bits, doubles, texts in the order of their bytes, and bytes; an empty one is
 *       not NULL;
 *     - the rows of a query in the order that it asks for.
 *
 * A write need not have been executed when `write` returns: a later call of the same transaction may report
 * its failure, at the latest COMMIT, which then fails. */
#ifndef TACIT_STORE_DRIVER_H
#define TACIT_STORE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

enum { TACIT__DB_PATH = 4096, TACIT__DB_STATEMENTS = 88, TACIT__ONCE = -1 };

/* Their numbers are a part of what is proved (vault_proof.c). */
typedef enum tacit__column_type {
    TACIT__COLUMN_INTEGER = 1,
    TACIT__COLUMN_REAL = 2,
    TACIT__COLUMN_TEXT = 3,
    TACIT__COLUMN_BYTES = 4,
    TACIT__COLUMN_NULL = 5
} tacit__column_type;

typedef struct tacit__cell {
    tacit__column_type type;
    int64_t integer;
    double real;       /* NaN is NULL */
    const void *bytes; /* of bytes, and of a text; they stay until the cursor is reset */
    size_t size;
} tacit__cell;

typedef struct tacit__connection tacit__connection;
/* A statement, and the row at which it stands. */
typedef struct tacit__cursor tacit__cursor;

typedef struct tacit__driver {
    tacit_status (*run)(tacit__connection *c, const char *sql, const char *doing, tacit_error *err);
    tacit_status (*prepare)(tacit__connection *c, int number, const char *sql, tacit__cursor **out,
                            tacit_error *err);
    tacit_status (*changes)(tacit__connection *c, uint64_t *n, tacit_error *err);
    bool (*in_transaction)(const tacit__connection *c);
    void (*reset_all)(tacit__connection *c);
    void (*destroy)(tacit__connection *c);
    void (*bind)(tacit__cursor *s, int i, const tacit__cell *value);
    tacit_status (*write)(tacit__cursor *s, tacit_error *err);
    /* `assumed`: until the store says otherwise there is no such row. NULL: reads are cheap. */
    void (*expect)(tacit__cursor *s, bool assumed);
    bool (*assumed_wrongly)(const tacit__connection *c); /* NULL: nothing is ever assumed */
    tacit_status (*next)(tacit__cursor *s, bool *more, tacit_error *err);
    void (*reset)(tacit__cursor *s);
    void (*close)(tacit__cursor *s);
    int (*columns)(const tacit__cursor *s);
    int (*parameters)(const tacit__cursor *s);
    tacit__cell (*get)(tacit__cursor *s, int column);
} tacit__driver;

/* What every connection and every cursor begins with. */
struct tacit__connection {
    const tacit__driver *driver;
};
struct tacit__cursor {
    const tacit__driver *driver;
};

/* Several statements, without parameters and rows. A failure is "NAME: cannot DOING: ...". */
TACIT_MUST_USE tacit_status tacit__connection_run(tacit__connection *c, const char *sql,
                                                  const char *doing, tacit_error *err);
/* Statement `number`, ready to be bound; compiled from `sql` the first time. TACIT__ONCE: one that is
 * closed by its user. */
TACIT_MUST_USE tacit_status tacit__connection_prepare(tacit__connection *c, int number,
                                                      const char *sql, tacit__cursor **out,
                                                      tacit_error *err);
/* One parameter of a statement; `format` below has a letter for each: i int64_t, r double, t const char *
 * (or NULL), b const void * and size_t. Executes it; rows are not expected. */
TACIT_MUST_USE tacit_status tacit__connection_write(tacit__connection *c, int number,
                                                    const char *sql, tacit_error *err,
                                                    const char *format, ...);
/* A read that will be asked for in this transaction, with these parameters: a database that is far away can
 * answer many of them together. Nothing else comes of it. */
void tacit__connection_expect(tacit__connection *c, int number, const char *sql, const char *format,
                              ...);
/* The same, of a row that is probably not there: this may be assumed without a question. Then an INSERT
 * without ON CONFLICT must follow, whose first parameters are those of the question, and which fails if the
 * row is there after all. A transaction that used such an assumption without this INSERT cannot be
 * committed. */
void tacit__connection_assume(tacit__connection *c, int number, const char *sql, const char *format,
                              ...);
/* The last transaction was undone because of such an assumption; in the next ones nothing is assumed. */
bool tacit__connection_assumed_wrongly(const tacit__connection *c);
/* How many rows the last write has changed. */
TACIT_MUST_USE tacit_status tacit__connection_changes(tacit__connection *c, uint64_t *n,
                                                      tacit_error *err);
/* A transaction is under way. */
bool tacit__connection_in_transaction(const tacit__connection *c);
void tacit__connection_reset_all(tacit__connection *c);
void tacit__connection_destroy(tacit__connection *c); /* accepts NULL */

/* Parameters are counted from 1, columns from 0. */
void tacit__cursor_bind_int(tacit__cursor *s, int i, int64_t value);
void tacit__cursor_bind_text(tacit__cursor *s, int i, const char *text); /* or NULL */
void tacit__cursor_bind_bytes(tacit__cursor *s, int i, const void *bytes, size_t size);
/* Executes a statement that has no rows, and closes it. */
TACIT_MUST_USE tacit_status tacit__cursor_run_once(tacit__cursor *s, tacit_error *err);
/* The next row: *more is false after the last, when the statement is reset. */
TACIT_MUST_USE tacit_status tacit__cursor_next(tacit__cursor *s, bool *more, tacit_error *err);
void tacit__cursor_reset(tacit__cursor *s);
void tacit__cursor_close(tacit__cursor *s); /* accepts NULL */

int tacit__cursor_columns(const tacit__cursor *s);
int tacit__cursor_parameters(const tacit__cursor *s);
tacit__column_type tacit__cursor_type(tacit__cursor *s, int column);
int64_t tacit__cursor_int(tacit__cursor *s, int column);
double tacit__cursor_real(tacit__cursor *s, int column);
const char *tacit__cursor_text(tacit__cursor *s, int column); /* or NULL */
/* NULL when it is empty. */
const void *tacit__cursor_bytes(tacit__cursor *s, int column, size_t *size);

#endif
