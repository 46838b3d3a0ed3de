/* PostgreSQL behind store/driver.h, by libpq in pipeline mode.
 *
 * Writes are sent and not waited for, and so are questions whose rows go to a function
 * (tacit__connection_ask). A read through a cursor waits for all that was sent before it, in one round trip.
 * Rows of one statement are collected and sent as arrays (postgres_rows.c).
 *
 * Nothing waits for ever: a server that does not answer for patience_ms is taken for gone, and so is the
 * connection. A connection that is gone is made anew when a transaction, or a search outside of one,
 * begins. A commit whose answer did not come may have happened: it is reported as a failure, and what the
 * vault does is safe to do again. */
#ifndef TACIT_STORE_POSTGRES_POSTGRES_H
#define TACIT_STORE_POSTGRES_POSTGRES_H

#include <libpq-fe.h>

#include "store/driver.h"
#include "text/text.h"

enum {
    TACIT__PG_PARAMETERS = 20,
    /* How long to wait for the server: when serving, and when reading all people of a store, during which the
     * server sends nothing until it has seen them all. */
    TACIT__PG_PATIENCE_MS = 5000,
    TACIT__PG_LONG_PATIENCE_MS = 600000
};

typedef struct tacit__pg_connection tacit__pg_connection;
typedef struct tacit__pg_cursor tacit__pg_cursor;

struct tacit__pg_cursor {
    tacit__cursor head;
    tacit__pg_connection *connection;
    int number;
    bool once, prepared;
    char *sql; /* the statement with $1 for parameters */
    int n_parameters;
    Oid types[TACIT__PG_PARAMETERS];
    const char *values[TACIT__PG_PARAMETERS];
    int sizes[TACIT__PG_PARAMETERS];
    /* integers and doubles in the format in which they are sent */
    uint8_t numbers[TACIT__PG_PARAMETERS][8];
    PGresult *result;
    bool asked; /* the query was sent, and its rows are there */
    int row;    /* the current row; -1: before the first */
    tacit__cell cell;
    char text[64];
};

/* A statement that was sent, and what is done with its rows: a cursor takes them, or `each`, or nothing. */
typedef struct tacit__pg_sent {
    tacit__pg_cursor *cursor;
    tacit__result_fn *each;
    void *context;
    bool write, commit;
} tacit__pg_sent;

/* Rows of one statement that are not sent yet. */
typedef struct tacit__pg_rows {
    const tacit__row_statement *statement;
    /* one for each parameter, in the format in which it is sent */
    tacit__text arrays[TACIT__ROW_VALUES];
    int n;
    size_t bytes;
    tacit__result_fn *each;
    void *context;
} tacit__pg_rows;

struct tacit__pg_connection {
    tacit__connection head;
    PGconn *link; /* NULL: the connection is lost */
    char *target; /* connection parameters for libpq; may contain a password */
    char name[200];
    const char *setup; /* statements for every new session */
    bool in_transaction;
    bool refused;      /* a statement failed, so the statements after it are not prepared */
    int patience_ms;   /* ms without an answer, after which the server counts as gone */
    double failed_at;  /* ms: when the last attempt to connect failed */
    size_t n_failed;   /* failed attempts, by which the hosts take turns */
    uint64_t sessions; /* the number of sessions so far */
    char cluster[48];  /* cluster and database of this connection; empty: not asked yet */
    tacit__pg_sent *sent;
    size_t n_sent, capacity, first_sent;
    uint64_t changes;
    tacit_error failure; /* the first failure among what was sent */
    tacit__pg_cursor cursors[TACIT__DB_STATEMENTS];
    tacit__pg_rows rows;
};

/* Creates the connection; the server is contacted when it is needed. `target` is a URI, or connection
 * parameters of libpq. */
TACIT_MUST_USE tacit_status tacit__pg_create(const char *target, const char *setup,
                                             tacit__connection **out, tacit_error *err);
/* Returns NULL if the connection is to another kind of database. */
tacit__pg_connection *tacit__pg_of(tacit__connection *c);
/* Describes the target without a password, for messages. */
void tacit__pg_describe(const char *target, char *out, size_t size);

/* Ensures that there is a session. SYSTEM: there is none now. */
TACIT_MUST_USE tacit_status tacit__pg_connect(tacit__pg_connection *c, tacit_error *err);
/* Gives the connection up. */
void tacit__pg_drop(tacit__pg_connection *c);
TACIT_MUST_USE tacit_status tacit__pg_fail(tacit__pg_connection *c, const char *doing,
                                           const char *why, tacit_error *err);
/* Sends the rows that wait, then the statement of the cursor. `drain` reports the outcome. */
TACIT_MUST_USE tacit_status tacit__pg_send(tacit__pg_cursor *s, tacit__pg_sent what,
                                           tacit_error *err);
/* Sends the statement, whatever waits. */
TACIT_MUST_USE tacit_status tacit__pg_send_now(tacit__pg_cursor *s, tacit__pg_sent what,
                                               tacit_error *err);
/* Waits for the results of everything that was sent. */
TACIT_MUST_USE tacit_status tacit__pg_drain(tacit__pg_connection *c, tacit_error *err);
/* Waits until there is something to read, at most so many milliseconds. Returns false if nothing came. */
bool tacit__pg_wait(tacit__pg_connection *c, int ms);

/* Passes the rows of a result on. */
TACIT_MUST_USE tacit_status tacit__pg_pass_on(tacit__pg_connection *c, const tacit__pg_sent *what,
                                              PGresult *result, tacit_error *err);
/* Ensures that no row of what was sent is passed on. */
void tacit__pg_cancel(tacit__pg_connection *c);

/* --- Rows (postgres_rows.c) ------------------------------------------------------------------------ */

TACIT_MUST_USE tacit_status tacit__pg_add_row(tacit__connection *c,
                                              const tacit__row_statement *statement,
                                              const tacit__cell *values, tacit__result_fn *each,
                                              void *context, tacit_error *err);
/* Sends the rows that wait. */
TACIT_MUST_USE tacit_status tacit__pg_send_rows(tacit__pg_connection *c, tacit_error *err);
/* Forgets the rows that wait. */
void tacit__pg_drop_rows(tacit__pg_connection *c);

#endif
