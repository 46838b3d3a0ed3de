/* PostgreSQL behind store/driver.h, by libpq in pipeline mode.
 *
 * Writes are sent and not waited for; a read waits for all that was sent before it, in one round trip. A
 * read can be expected: it is sent at once, and a caller that asks for it later finds its rows there, so the
 * questions of many users take one round trip together. A write to a row makes an expected read of that
 * row void, and the question is then sent again; which rows a statement is about is told by its table and
 * by its parameters of TACIT__ROW_NAME bytes (postgres_expected.c).
 *
 * Most users are new, and a search for what is not there costs the server as much as the row that follows. So
 * a read can be assumed to find nothing. The INSERT protects: it fails if the row is there, and then the
 * transaction is undone, and done again with all questions asked, as are the next CAUTIOUS ones. Nothing
 * is committed that used an assumption and did not insert that row. But a server whose errors are not terse
 * would write the name of that row into its log, which may be kept longer than the store: there, nothing is
 * assumed.
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
    /* the most parameters of a statement that is sent for many rows at once */
    TACIT__PG_GROUPED = 6,
    TACIT__PG_TABLE = 24,
    TACIT__ROW_NAME = 16,
    TACIT__PG_BUCKETS = 4096,
    TACIT__PG_CAUTIOUS =
        64, /* transactions: repeats come in bursts, and each costs a transaction twice */
    /* How long to wait for the server: when serving, and when reading all people of a store, during which the
     * server sends nothing until it has seen them all. */
    TACIT__PG_PATIENCE_MS = 5000,
    TACIT__PG_LONG_PATIENCE_MS = 600000
};

typedef struct tacit__pg_connection tacit__pg_connection;
typedef struct tacit__pg_cursor tacit__pg_cursor;
typedef struct tacit__pg_expected tacit__pg_expected;
typedef struct tacit__pg_group tacit__pg_group;

struct tacit__pg_cursor {
    tacit__cursor head;
    tacit__pg_connection *connection;
    int number;
    bool once, prepared, grouped;
    tacit__pg_group *group; /* its form for many rows, or NULL */
    /* the expected reads of this statement, the last one first */
    tacit__pg_expected *first_expected;
    char *sql;                   /* the statement with $1 for parameters */
    char table[TACIT__PG_TABLE]; /* the first table that it names */
    int n_parameters;
    Oid types[TACIT__PG_PARAMETERS];
    const char *values[TACIT__PG_PARAMETERS];
    int sizes[TACIT__PG_PARAMETERS];
    /* integers and doubles in the format in which they are sent */
    uint8_t numbers[TACIT__PG_PARAMETERS][8];
    PGresult *result;
    bool borrowed;         /* the result belongs to an expected read */
    bool asked;            /* the query was sent, or its rows are there */
    int row;               /* the current row; -1: before the first */
    int first_row, n_rows; /* its own rows in the result, which may be shared */
    int shift;             /* number of columns before its own */
    tacit__cell cell;
    char text[64];
};

/* A statement that was sent, and the owner of its result: a cursor, expected reads (the first of a list), or
 * nothing. */
typedef struct tacit__pg_sent {
    tacit__pg_cursor *cursor;
    tacit__pg_expected *first;
    bool grouped; /* the result has rows of several reads, each with its number before it */
    bool write, commit;
} tacit__pg_sent;

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
    bool grouped;        /* the last write is, or was, part of a group */
    tacit_error failure; /* the first failure among what was sent */
    tacit__pg_cursor cursors[TACIT__DB_STATEMENTS];
    tacit__pg_group *waiting[TACIT__DB_STATEMENTS]; /* groups in the order in which they began */
    size_t n_waiting;
    tacit__pg_expected *expected[TACIT__PG_BUCKETS], *all_expected;
    size_t n_assumed;     /* assumptions of this transaction that were used */
    size_t n_unconfirmed; /* used assumptions whose row was not inserted */
    bool assumed_wrongly; /* an assumption of the last transaction was wrong */
    int cautious;         /* the number of transactions in which nothing will be assumed */
    bool terse; /* the server's errors name no row; until that is known, nothing is assumed */
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
/* Sends the waiting groups, then the statement of the cursor. `drain` reports the outcome. */
TACIT_MUST_USE tacit_status tacit__pg_send(tacit__pg_cursor *s, tacit__pg_sent what,
                                           tacit_error *err);
/* Sends the statement without the groups. */
TACIT_MUST_USE tacit_status tacit__pg_send_now(tacit__pg_cursor *s, tacit__pg_sent what,
                                               tacit_error *err);
/* Waits for the results of everything that was sent. */
TACIT_MUST_USE tacit_status tacit__pg_drain(tacit__pg_connection *c, tacit_error *err);
/* Waits until there is something to read, at most so many milliseconds. Returns false if nothing came. */
bool tacit__pg_wait(tacit__pg_connection *c, int ms);

/* --- Expected reads (postgres_expected.c) --------------------------------------------------------- */

struct tacit__pg_expected {
    int number;
    char table[TACIT__PG_TABLE];
    uint8_t name[TACIT__ROW_NAME];
    bool named;
    int n_parameters, sizes[TACIT__PG_PARAMETERS];
    uint8_t *bytes; /* the bytes of all parameters */
    size_t bytes_size;
    PGresult *result; /* NULL: not there yet */
    bool owns;        /* it owns the result, which others of its group share */
    bool grouped;     /* the result is that of a group: the first column is not its own */
    int first_row, n_rows;
    bool valid;
    bool assumed, used; /* it was not sent, and is taken to have no rows */
    tacit__pg_expected *next_in_bucket, *next, *next_in_group, *next_of_cursor;
};
/* Adds an expected read. Returns NULL if there is no memory, or there is one already. */
tacit__pg_expected *tacit__pg_expect(tacit__pg_cursor *s);
/* The valid expected read for this statement and its parameters, or NULL. */
tacit__pg_expected *tacit__pg_find_expected(const tacit__pg_cursor *s);
/* Answers a read that was assumed to have no rows. */
void tacit__pg_use_assumption(tacit__pg_connection *c, tacit__pg_expected *e);
/* Invalidates the expected reads that this write may change, and confirms the assumptions whose rows it
 * inserts. */
void tacit__pg_invalidate_expected(tacit__pg_cursor *s);
/* Disables assumptions for the next transactions, because those of this one are wrong, or not known to be
 * right. */
void tacit__pg_disable_assumptions(tacit__pg_connection *c);
void tacit__pg_forget_expected(tacit__pg_connection *c);

/* --- Statements for many rows (postgres_group.c) --------------------------------------------------- */

struct tacit__pg_group {
    tacit__pg_cursor *cursor;
    bool possible, prepared;
    char *sql;
    Oid types[TACIT__PG_PARAMETERS]; /* the types of one row */
    /* one array for each parameter, in the format in which it is sent */
    tacit__text arrays[TACIT__PG_GROUPED];
    int n_rows;
    size_t bytes;
    tacit__pg_expected *first, *last; /* the reads that its rows answer, if it is a read */
};
/* Adds the statement of the cursor to a group of statements of the same form, which are sent together; if it
 * is a read, for the answer to `e`. Returns false if it has no such form and must be sent at once. */
bool tacit__pg_wait_in_group(tacit__pg_cursor *s, tacit__pg_expected *e, tacit_status *status,
                             tacit_error *err);
TACIT_MUST_USE tacit_status tacit__pg_send_groups(tacit__pg_connection *c, tacit_error *err);
/* Drops the waiting groups. */
void tacit__pg_drop_groups(tacit__pg_connection *c);
/* Gives each expected read of a group, or the only one, its rows. */
void tacit__pg_share_result(tacit__pg_expected *first, bool grouped, PGresult *r);
void tacit__pg_free_group(tacit__pg_group *g); /* accepts NULL */

#endif
