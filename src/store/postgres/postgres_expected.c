/* Reads that were sent before they are asked for. See store/postgres/postgres.h.
 *
 * A question is a statement and its parameters. It is found by its table and its name, a parameter of
 * TACIT__ROW_NAME bytes; it has one at most. A write of names voids the questions on its table that have
 * one of these names, or none; a write without names voids all questions on its table. That is enough
 * because every row of the tables that are asked in this way is written by statements that have the names
 * by which it is asked for among their parameters.
 *
 * An assumption is confirmed by an INSERT without ON CONFLICT whose first parameters are those of the
 * question. It is enough because the questions that are assumed about ask by the whole primary key of their
 * table, whose columns are its first. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/postgres/postgres.h"

static size_t bucket_of(const char *table, const void *name)
{
    uint64_t hash = 1469598103934665603u; /* FNV-1a; names are hashes already */
    for (const char *at = table; *at != '\0'; at++)
        hash = (hash ^ (uint8_t)*at) * 1099511628211u;
    for (size_t i = 0; name != NULL && i < TACIT__ROW_NAME; i++)
        hash = (hash ^ ((const uint8_t *)name)[i]) * 1099511628211u;
    return (size_t)(hash % TACIT__PG_BUCKETS);
}

static const char *name_of(const tacit__pg_cursor *s)
{
    for (int i = 0; i < s->n_parameters; i++)
        if (s->types[i] == 17 && s->sizes[i] == TACIT__ROW_NAME)
            return s->values[i];
    return NULL;
}

static bool is_same(const tacit__pg_expected *e, const tacit__pg_cursor *s)
{
    size_t at = 0;
    if (e->number != s->number || e->n_parameters != s->n_parameters)
        return false;
    for (int i = 0; i < s->n_parameters; i++) {
        const size_t size = (size_t)s->sizes[i];
        if (e->sizes[i] != s->sizes[i] || memcmp(e->bytes + at, s->values[i], size) != 0)
            return false;
        at += size;
    }
    return true;
}

tacit__pg_expected *tacit__pg_find_expected(const tacit__pg_cursor *s)
{
    if (s->once)
        return NULL;
    for (tacit__pg_expected *e = s->connection->expected[bucket_of(s->table, name_of(s))];
         e != NULL; e = e->next_in_bucket)
        if (e->valid && is_same(e, s))
            return e;
    return NULL;
}

tacit__pg_expected *tacit__pg_expect(tacit__pg_cursor *s)
{
    tacit__pg_connection *c = s->connection;
    size_t size = 0, at = 0;
    for (int i = 0; i < s->n_parameters; i++)
        size += (size_t)s->sizes[i];
    if (s->once || tacit__pg_find_expected(s) != NULL)
        return NULL;
    tacit__pg_expected *e = tacit__alloc(1, sizeof *e);
    uint8_t *bytes = tacit__alloc(size + 1, 1);
    if (e == NULL || bytes == NULL) {
        tacit__free(e);
        tacit__free(bytes);
        return NULL;
    }
    *e = (tacit__pg_expected){.number = s->number,
                              .n_parameters = s->n_parameters,
                              .bytes = bytes,
                              .bytes_size = size,
                              .valid = true,
                              .next = c->all_expected};
    memcpy(e->table, s->table, sizeof e->table);
    const char *name = name_of(s);
    if (name != NULL) {
        e->named = true;
        memcpy(e->name, name, sizeof e->name);
    }
    for (int i = 0; i < s->n_parameters; i++) {
        e->sizes[i] = s->sizes[i];
        if (s->values[i] != NULL)
            memcpy(bytes + at, s->values[i], (size_t)s->sizes[i]);
        at += (size_t)s->sizes[i];
    }
    tacit__pg_expected **bucket = &c->expected[bucket_of(s->table, name)];
    e->next_in_bucket = *bucket;
    *bucket = e;
    e->next_of_cursor = s->first_expected;
    s->first_expected = e;
    c->all_expected = e;
    return e;
}

void tacit__pg_use_assumption(tacit__pg_connection *c, tacit__pg_expected *e)
{
    TACIT__REQUIRE(e->assumed && e->valid);
    c->n_assumed += !e->used;
    c->n_unconfirmed += !e->used;
    e->used = true;
}

void tacit__pg_disable_assumptions(tacit__pg_connection *c)
{
    c->assumed_wrongly = true;
    c->cautious = TACIT__PG_CAUTIOUS;
}

/* Whether this write fails if there is a row that answers the read. */
static bool confirms(const tacit__pg_cursor *s, const tacit__pg_expected *e)
{
    size_t at = 0;
    if (strncmp(s->sql, "INSERT INTO ", 12) != 0 || strstr(s->sql, "ON CONFLICT") != NULL ||
        e->n_parameters > s->n_parameters)
        return false;
    for (int i = 0; i < e->n_parameters; i++) {
        const size_t size = (size_t)e->sizes[i];
        if (s->sizes[i] != e->sizes[i] || s->values[i] == NULL ||
            memcmp(e->bytes + at, s->values[i], size) != 0)
            return false;
        at += size;
    }
    return true;
}

static void invalidate_bucket(tacit__pg_cursor *s, const char *name)
{
    tacit__pg_connection *c = s->connection;
    for (tacit__pg_expected *e = c->expected[bucket_of(s->table, name)]; e != NULL;
         e = e->next_in_bucket) {
        if (!e->valid || strcmp(e->table, s->table) != 0 || e->named != (name != NULL) ||
            (name != NULL && memcmp(e->name, name, TACIT__ROW_NAME) != 0))
            continue;
        e->valid = false;
        c->n_unconfirmed -= e->used && confirms(s, e);
    }
}

/* There are few statements and many reads, so a write to a table that is not read must not visit all
 * reads. */
static void invalidate_table(tacit__pg_connection *c, const char *table)
{
    for (size_t i = 0; i < TACIT__DB_STATEMENTS; i++)
        if (c->cursors[i].first_expected != NULL && strcmp(c->cursors[i].table, table) == 0)
            for (tacit__pg_expected *e = c->cursors[i].first_expected; e != NULL;
                 e = e->next_of_cursor)
                e->valid = false;
}

void tacit__pg_invalidate_expected(tacit__pg_cursor *s)
{
    tacit__pg_connection *c = s->connection;
    bool named = false;
    if (c->all_expected == NULL)
        return;
    for (int i = 0; i < s->n_parameters; i++)
        if (s->types[i] == 17 && s->sizes[i] == TACIT__ROW_NAME && s->values[i] != NULL) {
            invalidate_bucket(s, s->values[i]);
            named = true;
        }
    invalidate_bucket(s, NULL);
    if (!named)
        invalidate_table(c, s->table);
}

void tacit__pg_forget_expected(tacit__pg_connection *c)
{
    for (size_t i = 0; i < TACIT__DB_STATEMENTS && c->all_expected != NULL; i++) {
        tacit__pg_cursor *s = &c->cursors[i];
        s->first_expected = NULL;
        s->result = s->borrowed ? NULL : s->result;
        s->asked = s->asked && !s->borrowed;
        s->borrowed = false;
    }
    for (tacit__pg_expected *e = c->all_expected, *next; e != NULL; e = next) {
        next = e->next;
        if (e->owns)
            PQclear(e->result);
        tacit__free(e->bytes);
        tacit__free(e);
    }
    if (c->all_expected != NULL)
        memset(c->expected, 0, sizeof c->expected);
    c->all_expected = NULL;
    c->n_assumed = c->n_unconfirmed = 0;
}
