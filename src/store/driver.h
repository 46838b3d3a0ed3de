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
    const void *bytes; /* for bytes and texts; valid until the cursor is reset */
    size_t size;
} tacit__cell;

typedef struct tacit__connection tacit__connection;
/* A statement and its current row. */
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
    /* Announces a read. With `assumed`, the row is taken to be missing until the database says otherwise.
     * NULL: reads are cheap. */
    void (*expect)(tacit__cursor *s, bool assumed);
    bool (*assumed_wrongly)(const tacit__connection *c); /* NULL: nothing is ever assumed */
    tacit_status (*next)(tacit__cursor *s, bool *more, tacit_error *err);
    void (*reset)(tacit__cursor *s);
    void (*close)(tacit__cursor *s);
    int (*columns)(const tacit__cursor *s);
    int (*parameters)(const tacit__cursor *s);
    tacit__cell (*get)(tacit__cursor *s, int column);
} tacit__driver;

/* The first member of every connection and every cursor. */
struct tacit__connection {
    const tacit__driver *driver;
};
struct tacit__cursor {
    const tacit__driver *driver;
};

/* Runs several statements without parameters and rows. The message of a failure is "NAME: cannot DOING: ...".
 */
TACIT_MUST_USE tacit_status tacit__connection_run(tacit__connection *c, const char *sql,
                                                  const char *doing, tacit_error *err);
/* Prepares statement `number`, compiled from `sql` the first time. With TACIT__ONCE the caller closes it. */
TACIT_MUST_USE tacit_status tacit__connection_prepare(tacit__connection *c, int number,
                                                      const char *sql, tacit__cursor **out,
                                                      tacit_error *err);
/* Binds the parameters and executes a statement without rows. `format` has a letter for each parameter: i
 * int64_t, r double, t const char * (or NULL), b const void * and size_t. */
TACIT_MUST_USE tacit_status tacit__connection_write(tacit__connection *c, int number,
                                                    const char *sql, tacit_error *err,
                                                    const char *format, ...);
/* Announces a read of this transaction with these parameters, so that a remote database can answer many of
 * them together. It has no other effect. */
void tacit__connection_expect(tacit__connection *c, int number, const char *sql, const char *format,
                              ...);
/* Announces a read of a row that is probably missing, which may be assumed without asking. An INSERT without
 * ON CONFLICT must follow; its first parameters are those of the read, and it fails if the row exists after
 * all. A transaction that used the assumption without this INSERT cannot be committed. */
void tacit__connection_assume(tacit__connection *c, int number, const char *sql, const char *format,
                              ...);
/* Whether the last transaction was undone because of such an assumption. The next transactions assume
 * nothing. */
bool tacit__connection_assumed_wrongly(const tacit__connection *c);
/* Gets how many rows the last write has changed. */
TACIT_MUST_USE tacit_status tacit__connection_changes(tacit__connection *c, uint64_t *n,
                                                      tacit_error *err);
/* Whether a transaction is open. */
bool tacit__connection_in_transaction(const tacit__connection *c);
void tacit__connection_reset_all(tacit__connection *c);
void tacit__connection_destroy(tacit__connection *c); /* accepts NULL */

/* Parameters are counted from 1, columns from 0. */
void tacit__cursor_bind_int(tacit__cursor *s, int i, int64_t value);
void tacit__cursor_bind_text(tacit__cursor *s, int i, const char *text); /* or NULL */
void tacit__cursor_bind_bytes(tacit__cursor *s, int i, const void *bytes, size_t size);
/* Executes a statement without rows and closes it. */
TACIT_MUST_USE tacit_status tacit__cursor_run_once(tacit__cursor *s, tacit_error *err);
/* Advances to the next row. After the last row *more is false, and the statement is reset. */
TACIT_MUST_USE tacit_status tacit__cursor_next(tacit__cursor *s, bool *more, tacit_error *err);
void tacit__cursor_reset(tacit__cursor *s);
void tacit__cursor_close(tacit__cursor *s); /* accepts NULL */

int tacit__cursor_columns(const tacit__cursor *s);
int tacit__cursor_parameters(const tacit__cursor *s);
tacit__column_type tacit__cursor_type(tacit__cursor *s, int column);
int64_t tacit__cursor_int(tacit__cursor *s, int column);
double tacit__cursor_real(tacit__cursor *s, int column);
const char *tacit__cursor_text(tacit__cursor *s, int column); /* or NULL */
/* NULL if it is empty. */
const void *tacit__cursor_bytes(tacit__cursor *s, int column, size_t *size);

#endif
