/* Statements of one form for many rows, sent as one. See store/postgres/postgres.h.
 *
 * A user leaves one row in each of several tables, and is asked about in as many. A statement costs the
 * server some 15 us whatever it does; a row costs a few. So inside a transaction
 *
 *     INSERT INTO t VALUES($1,$2) ON CONFLICT DO NOTHING    (or without the last words)
 *     DELETE FROM t WHERE a=$1 AND b=$2
 *
 * and expected reads wait, and become one statement of arrays:
 *
 *     INSERT INTO t SELECT u.p1,u.p2 FROM unnest($1::int8[],$2::bytea[]) AS u(p1,p2) ON CONFLICT DO NOTHING
 *     DELETE FROM t WHERE ctid = ANY(ARRAY(SELECT q.at FROM unnest(...) AS u(p1,p2),
 *         LATERAL (SELECT ctid AS at FROM t WHERE a=u.p1 AND b=u.p2 OFFSET 0) AS q))
 *     SELECT u.n, q.* FROM unnest(...) WITH ORDINALITY AS u(p1,p2,n), LATERAL (the question OFFSET 0) AS q
 *         ORDER BY u.n
 *
 * OFFSET 0 keeps the question a question: the server answers it for each row, by the table's index. Without
 * it the question becomes a join, whose plan, made while the table is small, reads all of it ever after: it
 * is kept until somebody analyzes the table. (A session that serves has enable_seqscan off for the same
 * reason.) Rows stay where they are while a statement runs, because all that write take turns.
 *
 * They are sent before any other statement, before results are waited for, and before a second form writes
 * to the same table; so whatever is sent later sees them, and nothing that came before them does. Forms that
 * wait at the same time are about different tables, and there are no triggers: their order does not matter.
 * Rows of one form do not depend on each other: an insert that meets a row of its own group does what it
 * would have done one after the other. Updates do not wait, because two of one row in one statement do
 * something else. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/postgres/postgres.h"

enum {
    MOST_ROWS = 256, /* then they are sent: the server works on them while more come */
    MOST_BYTES = 1 << 20,
    ARRAY_HEAD = 20 /* dimensions, NULLs, type, length, first index */
};

static const struct {
    Oid one, many;
    const char *name;
} types[] = {{17, 1001, "bytea"}, {20, 1016, "int8"}, {25, 1009, "text"}, {701, 1022, "float8"}};

static size_t type_of(Oid one)
{
    size_t i = 0;
    while (i < sizeof types / sizeof *types && types[i].one != one)
        i++;
    return i;
}

/* --- Words --------------------------------------------------------------------------------------- */

/* Writes up to `n` bytes, with u.p1 for $1. */
static void put_words(tacit__text *out, const char *sql, size_t n)
{
    for (size_t i = 0; i < n && sql[i] != '\0'; i++)
        if (sql[i] == '$')
            tacit__text_put(out, "u.p");
        else
            tacit__text_add(out, sql + i, 1);
}

static void put_source(tacit__text *out, const tacit__pg_cursor *s, bool numbered)
{
    tacit__text_put(out, "unnest(");
    for (int i = 0; i < s->n_parameters; i++)
        tacit__text_print(out, "%s$%d::%s[]", i > 0 ? "," : "", i + 1,
                          types[type_of(s->types[i])].name);
    tacit__text_put(out, numbered ? ") WITH ORDINALITY AS u(" : ") AS u(");
    for (int i = 0; i < s->n_parameters; i++)
        tacit__text_print(out, "%sp%d", i > 0 ? "," : "", i + 1);
    tacit__text_put(out, numbered ? ",n)" : ")");
}

/* Writes the statement for many rows. Returns false if it has no such form. */
static bool write_words(const tacit__pg_cursor *s, bool read, tacit__text *out)
{
    static const char values[] = " VALUES(", where[] = " WHERE ",
                      nothing[] = "ON CONFLICT DO NOTHING";
    const char *sql = s->sql, *list = strstr(sql, values), *condition = strstr(sql, where);
    if (read) {
        tacit__text_put(out, "SELECT u.n, q.* FROM ");
        put_source(out, s, true);
        tacit__text_put(out, ", LATERAL (");
        put_words(out, sql, strlen(sql));
        tacit__text_put(out, " OFFSET 0) AS q ORDER BY u.n");
        return true;
    }
    if (strncmp(sql, "INSERT INTO ", 12) == 0 && list != NULL) {
        const char *first = list + sizeof values - 1, *end = strchr(first, ')');
        const char *rest = end != NULL ? end + 1 + strspn(end + 1, " ") : "?";
        if (*rest != '\0' && strcmp(rest, nothing) != 0)
            return false;
        tacit__text_add(out, sql, (size_t)(list - sql));
        tacit__text_put(out, " SELECT ");
        put_words(out, first, (size_t)(end - first));
        tacit__text_put(out, " FROM ");
        put_source(out, s, false);
        tacit__text_print(out, " %s", rest);
        return true;
    }
    if (strncmp(sql, "DELETE FROM ", 12) == 0 && condition != NULL && strchr(sql, '(') == NULL &&
        s->n_parameters > 1) {
        tacit__text_add(out, sql, (size_t)(condition - sql));
        tacit__text_print(out, " WHERE ctid = ANY(ARRAY(SELECT q.at FROM ");
        put_source(out, s, false);
        tacit__text_print(out, ", LATERAL (SELECT ctid AS at FROM %s", s->table);
        put_words(out, condition, strlen(condition));
        tacit__text_put(out, " OFFSET 0) AS q))");
        return true;
    }
    return false;
}

/* Finds the group of this statement, which is made when it is first needed; NULL if it has none. */
static tacit__pg_group *find_group(tacit__pg_cursor *s, bool read)
{
    tacit__pg_group *g = s->group;
    if (s->once || s->n_parameters == 0 || s->n_parameters > TACIT__PG_GROUPED)
        return NULL;
    for (int i = 0; i < s->n_parameters; i++)
        if (type_of(s->types[i]) == sizeof types / sizeof *types)
            return NULL;
    if (g == NULL) {
        tacit__text sql = {0};
        g = tacit__alloc(1, sizeof *g);
        if (g == NULL)
            return NULL;
        *g = (tacit__pg_group){.cursor = s};
        g->possible = write_words(s, read, &sql) && !sql.failed;
        g->sql = sql.data;
        memcpy(g->types, s->types, sizeof g->types);
        s->group = g;
    }
    const size_t size = (size_t)s->n_parameters * sizeof *g->types;
    return g->possible && memcmp(g->types, s->types, size) == 0 ? g : NULL;
}

/* --- Rows ---------------------------------------------------------------------------------------- */

static void put_number(tacit__text *out, uint32_t value)
{
    const char bytes[4] = {(char)(value >> 24), (char)(value >> 16), (char)(value >> 8),
                           (char)value};
    tacit__text_add(out, bytes, sizeof bytes);
}

static void empty(tacit__pg_group *g)
{
    for (size_t i = 0; i < TACIT__PG_GROUPED; i++)
        g->arrays[i].length = 0;
    g->n_rows = 0;
    g->bytes = 0;
    g->first = g->last = NULL;
}

static void add_row(tacit__pg_group *g, const tacit__pg_cursor *s)
{
    static const char head[ARRAY_HEAD];
    for (int i = 0; i < s->n_parameters; i++) {
        tacit__text *array = &g->arrays[i];
        if (g->n_rows == 0)
            tacit__text_add(array, head, sizeof head);
        put_number(array, s->values[i] != NULL ? (uint32_t)s->sizes[i] : UINT32_MAX);
        if (s->values[i] != NULL)
            tacit__text_add(array, s->values[i], (size_t)s->sizes[i]);
        g->bytes += (size_t)s->sizes[i];
    }
    g->n_rows++;
}

/* Writes the head of an array: dimensions, whether there are NULLs, the type, the length, the first index. */
static void write_head(tacit__pg_group *g, int i)
{
    tacit__text head = {0};
    const uint32_t numbers[] = {1, 1, g->types[i], (uint32_t)g->n_rows, 1};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        put_number(&head, numbers[k]);
    if (!head.failed && !g->arrays[i].failed)
        memcpy(g->arrays[i].data, head.data, ARRAY_HEAD);
    g->arrays[i].failed = g->arrays[i].failed || head.failed;
    tacit__text_destroy(&head);
}

/* Sends what waits in a group. */
static tacit_status send_group(tacit__pg_group *g, tacit_error *err)
{
    const tacit__pg_cursor *s = g->cursor;
    tacit__pg_cursor many = {.connection = s->connection,
                             .number = s->number,
                             .grouped = true,
                             .prepared = g->prepared,
                             .sql = g->sql,
                             .n_parameters = s->n_parameters};
    const tacit__pg_sent what = {
        .first = g->first, .grouped = g->first != NULL, .write = g->first == NULL};
    bool failed = false;
    for (int i = 0; i < s->n_parameters; i++) {
        write_head(g, i);
        failed = failed || g->arrays[i].failed || g->arrays[i].length >= INT32_MAX;
        many.types[i] = types[type_of(g->types[i])].many;
        many.values[i] = g->arrays[i].data;
        many.sizes[i] = (int)g->arrays[i].length;
    }
    tacit_status status =
        failed ? tacit__fail_plain(err, TACIT_NO_MEMORY) : tacit__pg_send_now(&many, what, err);
    g->prepared = many.prepared;
    empty(g);
    return status;
}

tacit_status tacit__pg_send_groups(tacit__pg_connection *c, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < c->n_waiting; i++) {
        if (status == TACIT_OK && c->link != NULL)
            status = send_group(c->waiting[i], err);
        else
            empty(c->waiting[i]);
    }
    c->n_waiting = 0;
    if (status != TACIT_OK && c->link != NULL) /* rows were not sent: there must be no commit */
        tacit__pg_drop(c);
    return status;
}

void tacit__pg_drop_groups(tacit__pg_connection *c)
{
    for (size_t i = 0; i < c->n_waiting; i++)
        empty(c->waiting[i]);
    c->n_waiting = 0;
}

void tacit__pg_free_group(tacit__pg_group *g)
{
    for (size_t i = 0; g != NULL && i < TACIT__PG_GROUPED; i++)
        tacit__text_destroy(&g->arrays[i]);
    if (g != NULL)
        tacit__free(g->sql);
    tacit__free(g);
}

/* Whether another group waits that writes to the table of this one. */
static bool has_rival(const tacit__pg_connection *c, const tacit__pg_group *g)
{
    for (size_t i = 0; i < c->n_waiting; i++) {
        const tacit__pg_group *other = c->waiting[i];
        if (other != g && strcmp(other->cursor->table, g->cursor->table) == 0 &&
            (other->first == NULL || g->first == NULL))
            return true;
    }
    return false;
}

bool tacit__pg_wait_in_group(tacit__pg_cursor *s, tacit__pg_expected *e, tacit_status *status,
                             tacit_error *err)
{
    tacit__pg_connection *c = s->connection;
    tacit__pg_group *g = c->in_transaction ? find_group(s, e != NULL) : NULL;
    *status = TACIT_OK;
    if (g == NULL)
        return false;
    const bool full = g->n_rows >= MOST_ROWS || g->bytes >= MOST_BYTES;
    if (full || has_rival(c, g) || c->n_waiting == TACIT__DB_STATEMENTS)
        *status = tacit__pg_send_groups(c, err);
    if (full && *status == TACIT_OK)
        (void)PQflush(c->link); /* what the system does not take now goes with the rest */
    if (*status != TACIT_OK)
        return true;
    if (g->n_rows == 0)
        c->waiting[c->n_waiting++] = g;
    add_row(g, s);
    if (e != NULL) {
        if (g->last != NULL)
            g->last->next_in_group = e;
        else
            g->first = e;
        g->last = e;
    }
    return true;
}

/* --- Results -------------------------------------------------------------------------------------- */

void tacit__pg_share_result(tacit__pg_expected *first, bool grouped, PGresult *r)
{
    int row = 0;
    const int n = PQntuples(r);
    int64_t number = 1;
    first->owns = true;
    if (!grouped) {
        first->result = r;
        first->n_rows = n;
        return;
    }
    for (tacit__pg_expected *e = first; e != NULL; e = e->next_in_group, number++) {
        e->result = r;
        e->grouped = true;
        e->first_row = row;
        while (row < n) {
            const uint8_t *bytes = (const uint8_t *)PQgetvalue(r, row, 0);
            int64_t at = 0;
            for (int i = 0; i < PQgetlength(r, row, 0); i++)
                at = at << 8 | bytes[i];
            if (at != number)
                break;
            row++;
        }
        e->n_rows = row - e->first_row;
    }
}
