/* A connection to PostgreSQL: sessions, what is sent, and what comes back. See store/postgres/postgres.h;
 * statements and rows are in postgres_cursor.c. */
#include "store/postgres/postgres.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/wait.h"

enum {
    RETRY_MS = 300, /* after an attempt in vain, during which there is no other */
    MOST_UNREAD =
        256 /* statements sent, after which results are read: neither side's buffers fill */
};

tacit_status tacit__pg_fail(tacit__pg_connection *c, const char *doing, const char *why,
                            tacit_error *err)
{
    char line[300];
    const size_t length = strcspn(why, "\n");
    (void)snprintf(line, sizeof line, "%.*s",
                   (int)(length < sizeof line ? length : sizeof line - 1), why);
    return tacit__fail(err, TACIT_SYSTEM, "%.200s: cannot %s: %s", c->name, doing, line);
}

static void forget_prepared(tacit__pg_connection *c)
{
    c->refused = false;
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++) {
        c->cursors[i].prepared = false;
        if (c->cursors[i].group != NULL)
            c->cursors[i].group->prepared = false;
    }
}

void tacit__pg_drop(tacit__pg_connection *c)
{
    PQfinish(c->link);
    c->link = NULL;
    c->n_sent = c->first_sent = 0;
    c->cluster[0] = '\0';
    c->failure = (tacit_error){0};
    tacit__pg_drop_groups(c);
    tacit__pg_forget_expected(c);
    forget_prepared(c);
}

static tacit_status lose(tacit__pg_connection *c, const char *why, tacit_error *err)
{
    char line[300];
    (void)snprintf(line, sizeof line, "%s", why);
    tacit__pg_drop(c);
    return tacit__pg_fail(c, "reach the database", line, err);
}

bool tacit__pg_wait(tacit__pg_connection *c, int ms)
{
    struct pollfd p = {.fd = PQsocket(c->link), .events = POLLIN};
    return poll(&p, 1, ms) > 0;
}

/* Sends what is buffered, and reads meanwhile what arrives. */
static tacit_status flush(tacit__pg_connection *c, tacit_error *err)
{
    int left;
    while ((left = PQflush(c->link)) == 1) {
        struct pollfd p = {.fd = PQsocket(c->link), .events = POLLIN | POLLOUT};
        if (poll(&p, 1, c->patience_ms) <= 0)
            return lose(c, "the server takes nothing any more", err);
        if ((p.revents & POLLIN) != 0 && PQconsumeInput(c->link) != 1)
            return lose(c, PQerrorMessage(c->link), err);
    }
    return left == 0 ? TACIT_OK : lose(c, PQerrorMessage(c->link), err);
}

/* Receives the next result; *out is NULL after the last result of a statement. */
static tacit_status receive(tacit__pg_connection *c, PGresult **out, tacit_error *err)
{
    while (PQisBusy(c->link)) {
        if (!tacit__pg_wait(c, c->patience_ms))
            return lose(c, "the server does not answer", err);
        if (PQconsumeInput(c->link) != 1)
            return lose(c, PQerrorMessage(c->link), err);
    }
    *out = PQgetResult(c->link);
    return TACIT_OK;
}

/* --- Sessions ------------------------------------------------------------------------------------ */

void tacit__pg_describe(const char *target, char *out, size_t size)
{
    PQconninfoOption *all = PQconninfoParse(target, NULL);
    const char *host = "", *database = "", *service = "";
    for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++) {
        if (o->val == NULL)
            continue;
        host = strcmp(o->keyword, "host") == 0 ? o->val : host;
        database = strcmp(o->keyword, "dbname") == 0 ? o->val : database;
        service = strcmp(o->keyword, "service") == 0 ? o->val : service;
    }
    if (service[0] != '\0')
        (void)snprintf(out, size, "postgresql service %.100s", service);
    else
        (void)snprintf(out, size, "postgresql://%.100s/%.60s", host, database);
    PQconninfoFree(all);
}

static size_t count_parts(const char *list)
{
    size_t n = 1;
    for (const char *at = list; (at = strchr(at, ',')) != NULL; at++)
        n++;
    return n;
}

/* Moves the first `by` parts of a comma-separated list to its end; a list of one part stays. */
static char *rotate(const char *list, size_t by)
{
    const size_t n = count_parts(list), length = strlen(list);
    char *out = tacit__alloc(length + 2, 1);
    if (out == NULL)
        return NULL;
    const char *rest = list;
    for (size_t i = 0; i < by % n; i++)
        rest = strchr(rest, ',') + 1;
    (void)snprintf(out, length + 2, "%s%s%.*s", rest, rest > list ? "," : "",
                   rest > list ? (int)(rest - list) - 1 : 0, list);
    return out;
}

/* Rotates the parameters of a target that name hosts. libpq tries the next host if one cannot be reached, but
 * not if one accepts the connection and closes it, as a proxy does whose server is gone. */
enum { N_HOST_NAMES = 3 };
static const char *const host_names[N_HOST_NAMES] = {"host", "hostaddr", "port"};

static size_t rotate_hosts(const char *target, size_t by, char *out[N_HOST_NAMES])
{
    size_t n = 1;
    PQconninfoOption *all = PQconninfoParse(target, NULL);
    for (const PQconninfoOption *o = all; o != NULL && o->keyword != NULL; o++)
        for (size_t i = 0; i < N_HOST_NAMES; i++)
            if (o->val != NULL && strcmp(o->keyword, host_names[i]) == 0) {
                out[i] = rotate(o->val, by);
                n = count_parts(o->val) > n ? count_parts(o->val) : n;
            }
    PQconninfoFree(all);
    return n;
}

/* Parameters that the service file does not set: both sides notice a dead peer within seconds. Those after
 * the target take precedence over it. */
static PGconn *open_link(const char *target, size_t n_failed, size_t *n_hosts)
{
    enum { FIXED = 8 };
    const char *names[FIXED + N_HOST_NAMES + 1] = {
        "connect_timeout",  "keepalives_idle",           "keepalives_interval", "keepalives_count",
        "tcp_user_timeout", "fallback_application_name", "client_encoding",     "dbname"};
    const char *values[FIXED + N_HOST_NAMES + 1] = {"3",    "2",     "1",    "3",
                                                    "4000", "tacit", "UTF8", target};
    char *hosts[N_HOST_NAMES] = {NULL};
    size_t n = FIXED;
    *n_hosts = rotate_hosts(target, n_failed, hosts);
    for (size_t i = 0; i < N_HOST_NAMES; i++)
        if (hosts[i] != NULL) {
            names[n] = host_names[i];
            values[n++] = hosts[i];
        }
    PGconn *link = PQconnectdbParams(names, values, 1);
    for (size_t i = 0; i < N_HOST_NAMES; i++)
        tacit__free(hosts[i]);
    return link;
}

/* Tries each host first in turn, as long as the attempts fail at once. */
static void connect_to_some(tacit__pg_connection *c)
{
    const double until = tacit__now_ms() + RETRY_MS;
    size_t n_hosts = 1;
    for (size_t i = 0; i < n_hosts && (i == 0 || tacit__now_ms() < until); i++) {
        PQfinish(c->link);
        c->link = open_link(c->target, c->n_failed, &n_hosts);
        if (c->link != NULL && PQstatus(c->link) == CONNECTION_OK)
            return;
        c->n_failed++;
    }
}

/* Runs the setup statements of a session, before the pipeline begins. */
static tacit_status run_setup(tacit__pg_connection *c, tacit_error *err)
{
    static const char common[] =
        "SET search_path = tacit, pg_temp; SET lock_timeout = 4000;"
        "SET idle_in_transaction_session_timeout = 3000; SET tcp_keepalives_idle = 2;"
        "SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;"
        "SET tcp_user_timeout = 4000; SET client_min_messages = error;"
        "SET default_transaction_isolation = 'read committed'; SET bytea_output = 'hex';"
        "SELECT set_config('synchronous_commit', 'on', false) WHERE"
        " current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');"
        /* no parameters, and so no names of rows, beside an error in the server's log; from version 13 on */
        "SELECT set_config(name, '0', false) FROM pg_settings WHERE"
        " name='log_parameter_max_length_on_error';";
    const char *const all[] = {common, c->setup};
    if (PQsetnonblocking(c->link, 1) != 0)
        return lose(c, PQerrorMessage(c->link), err);
    for (size_t i = 0; i < 2 && all[i] != NULL; i++) {
        if (PQsendQuery(c->link, all[i]) != 1)
            return lose(c, PQerrorMessage(c->link), err);
        TRY(flush(c, err));
        for (PGresult *r = NULL;;) { /* not PQexec, which waits for ever */
            TRY(receive(c, &r, err));
            if (r == NULL)
                break;
            const ExecStatusType code = PQresultStatus(r);
            char why[300];
            (void)snprintf(why, sizeof why, "%s", PQresultErrorMessage(r));
            PQclear(r);
            if (code != PGRES_COMMAND_OK && code != PGRES_TUPLES_OK)
                return lose(c, why, err);
        }
    }
    return TACIT_OK;
}

/* After a statement failed, the server skips the following ones, and with them what was to be prepared. It is
 * not known which statements are prepared, so all are prepared again. */
static tacit_status begin_anew(tacit__pg_connection *c, tacit_error *err)
{
    char sql[] = "DEALLOCATE ALL";
    tacit__pg_cursor s = {.connection = c, .once = true, .sql = sql};
    forget_prepared(c);
    return tacit__pg_send_now(&s, (tacit__pg_sent){0}, err);
}

tacit_status tacit__pg_connect(tacit__pg_connection *c, tacit_error *err)
{
    if (c->link != NULL && PQstatus(c->link) == CONNECTION_OK)
        return c->refused ? begin_anew(c, err) : TACIT_OK;
    if (c->failed_at > 0 && tacit__now_ms() < c->failed_at + RETRY_MS)
        return tacit__pg_fail(c, "reach the database", "it could not be reached a moment ago", err);
    tacit__pg_drop(c);
    c->in_transaction = false;
    connect_to_some(c);
    tacit_status status = TACIT_OK;
    if (c->link == NULL || PQstatus(c->link) != CONNECTION_OK)
        status = lose(c, c->link != NULL ? PQerrorMessage(c->link) : "no memory", err);
    if (status == TACIT_OK)
        status = run_setup(c, err);
    if (status == TACIT_OK && PQenterPipelineMode(c->link) != 1)
        status = lose(c, PQerrorMessage(c->link), err);
    c->failed_at = status == TACIT_OK ? 0 : tacit__now_ms();
    c->sessions += status == TACIT_OK;
    return status;
}

/* --- Sending and receiving ------------------------------------------------------------------------ */

/* Stores what is wrong with a result, if it is the first failure. A fault of the server is SYSTEM, and so is
 * a statement that it rejects: a retry does no harm. */
static void note_failure(tacit__pg_connection *c, const PGresult *r)
{
    c->refused = true;
    if (c->failure.status != TACIT_OK || PQresultStatus(r) == PGRES_PIPELINE_ABORTED)
        return;
    const char *code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *what = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    if (c->n_assumed > 0 && code != NULL && strcmp(code, "23505") == 0) /* the row is there */
        tacit__pg_disable_assumptions(c);
    (void)tacit__fail(&c->failure, TACIT_SYSTEM, "%.200s: the database says %s: %.200s", c->name,
                      code != NULL ? code : "?", what != NULL ? what : PQresultErrorMessage(r));
}

static void store_result(tacit__pg_connection *c, const tacit__pg_sent *what, PGresult *r)
{
    const ExecStatusType code = PQresultStatus(r);
    if (code != PGRES_COMMAND_OK && code != PGRES_TUPLES_OK) {
        note_failure(c, r);
        PQclear(r);
        return;
    }
    if (what->commit && strcmp(PQcmdStatus(r), "COMMIT") != 0)
        (void)tacit__fail(&c->failure, TACIT_SYSTEM, "%.200s: the transaction was undone", c->name);
    if (what->write)
        c->changes = strtoull(PQcmdTuples(r), NULL, 10);
    if (what->cursor != NULL && what->cursor->result == NULL)
        what->cursor->result = r;
    else if (what->first != NULL)
        tacit__pg_share_result(what->first, what->grouped, r);
    else
        PQclear(r);
}

/* Receives all results of one statement. */
static tacit_status receive_one(tacit__pg_connection *c, const tacit__pg_sent *what,
                                tacit_error *err)
{
    for (PGresult *r = NULL;;) {
        TRY(receive(c, &r, err));
        if (r == NULL)
            return TACIT_OK;
        store_result(c, what, r);
    }
}

tacit_status tacit__pg_drain(tacit__pg_connection *c, tacit_error *err)
{
    if (c->link == NULL)
        return tacit__pg_fail(c, "reach the database", "the connection was lost", err);
    TRY(tacit__pg_send_groups(c, err));
    if (c->n_sent > 0) {
        if (PQpipelineSync(c->link) != 1)
            return lose(c, PQerrorMessage(c->link), err);
        TRY(flush(c, err));
        for (; c->first_sent < c->n_sent; c->first_sent++)
            TRY(receive_one(c, &c->sent[c->first_sent], err));
        PGresult *r = NULL;
        TRY(receive(c, &r, err));
        const bool synced = PQresultStatus(r) == PGRES_PIPELINE_SYNC;
        PQclear(r);
        c->n_sent = c->first_sent = 0;
        if (!synced)
            return lose(c, "an answer came out of turn", err);
    }
    if (c->failure.status == TACIT_OK)
        return TACIT_OK;
    const tacit_error failure = c->failure;
    c->failure = (tacit_error){0};
    return tacit__fail_again(err, &failure);
}

static tacit_status append(tacit__pg_connection *c, tacit__pg_sent what, tacit_error *err)
{
    if (c->n_sent == c->capacity) {
        const size_t capacity = c->capacity * 2 + 64;
        tacit__pg_sent *larger = tacit__alloc(capacity, sizeof *larger);
        if (larger == NULL)
            return tacit__fail_plain(err, TACIT_NO_MEMORY);
        if (c->n_sent > 0)
            memcpy(larger, c->sent, c->n_sent * sizeof *larger);
        tacit__free(c->sent);
        c->sent = larger;
        c->capacity = capacity;
    }
    c->sent[c->n_sent++] = what;
    return TACIT_OK;
}

tacit_status tacit__pg_send(tacit__pg_cursor *s, tacit__pg_sent what, tacit_error *err)
{
    TRY(tacit__pg_send_groups(s->connection, err));
    return tacit__pg_send_now(s, what, err);
}

tacit_status tacit__pg_send_now(tacit__pg_cursor *s, tacit__pg_sent what, tacit_error *err)
{
    tacit__pg_connection *c = s->connection;
    static const int binary[TACIT__PG_PARAMETERS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                     1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    char name[16];
    int good = 1;
    if (c->link == NULL)
        return tacit__pg_fail(c, "reach the database", "the connection was lost", err);
    (void)snprintf(name, sizeof name, "%c%d", s->grouped ? 'g' : 's', s->number);
    if (!s->once && !s->prepared) {
        TRY(append(c, (tacit__pg_sent){0}, err));
        good = PQsendPrepare(c->link, name, s->sql, s->n_parameters, s->types);
        s->prepared = good == 1;
    }
    if (good == 1) {
        TRY(append(c, what, err));
        good = s->once ? PQsendQueryParams(c->link, s->sql, s->n_parameters, s->types, s->values,
                                           s->sizes, binary, 1)
                       : PQsendQueryPrepared(c->link, name, s->n_parameters, s->values, s->sizes,
                                             binary, 1);
    }
    if (good != 1)
        return lose(c, PQerrorMessage(c->link), err);
    if (c->n_sent - c->first_sent < MOST_UNREAD)
        return TACIT_OK;
    /* the server answers in order, and buffers nothing on request; those that came are taken */
    if (PQsendFlushRequest(c->link) != 1)
        return lose(c, PQerrorMessage(c->link), err);
    TRY(flush(c, err));
    for (; c->first_sent < c->n_sent; c->first_sent++)
        TRY(receive_one(c, &c->sent[c->first_sent], err));
    c->n_sent = c->first_sent = 1; /* a synchronization is due */
    c->sent[0] = (tacit__pg_sent){0};
    return TACIT_OK;
}
