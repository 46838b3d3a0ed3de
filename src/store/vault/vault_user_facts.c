/* What front ends keep in memory, so that decisions need no query: people who have taken part, and episodes.
 * Front ends read it from the store when they start, and then tell each other what changes. See
 * store/vault/vault.h. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/vault/vault_inside.h"

/* --- News ----------------------------------------------------------------------------------------- */

void tacit__vault_announce(tacit__vault *vault, const uint8_t news[TACIT__NEWS_BYTES])
{
    if (vault->backend->shared)
        tacit__text_add(&vault->announcements, (const char *)news, TACIT__NEWS_BYTES);
}

void tacit__vault_clear_announcements(tacit__vault *vault)
{
    vault->announcements.length = 0;
    /* Without memory the other processes get no announcements, and read the store later. */
    vault->announcements.failed = false;
}

/* --- What there is -------------------------------------------------------------------------------- */

static const struct {
    tacit__user_fact_kind kind;
    const char *sql;
} tables[] = {
    {TACIT__FACT_PERSON,
     "SELECT p.learner, p.hash, p.key, (SELECT o.opened FROM open AS o WHERE o.learner=p.learner"
     " AND o.key=p.key) FROM person AS p JOIN learner AS l ON l.id=p.learner WHERE"
     " (p.learner, p.hash) > (?1, ?2) AND (p.key IS NOT NULL OR p.visits>=l.visits)"
     " ORDER BY p.learner, p.hash LIMIT ?3"},
    {TACIT__FACT_OPEN, "SELECT learner, key, opened, data FROM open WHERE (learner, key) >"
                       " (?1, ?2) ORDER BY learner, key LIMIT ?3"},
    {TACIT__FACT_OVER, "SELECT learner, key, opened FROM verdict WHERE (learner, key) > (?1, ?2)"
                       " ORDER BY learner, key LIMIT ?3"},
    /* of an episode that can still be asked about a digest is there, after its time */
    {TACIT__FACT_OVER, "SELECT learner, key, content FROM seen WHERE (learner, key) > (?1, ?2) AND"
                       " content IS NOT NULL ORDER BY learner, key LIMIT ?3"}};

typedef struct giving {
    const tacit__user_scan *scan;
    tacit__user_fact_fn *each;
    void *context;
} giving;

static tacit_status give_open(tacit__vault *vault, tacit__cursor *row, const giving *g,
                              tacit__user_fact *k, tacit_error *err)
{
    size_t size, sealed_size;
    uint8_t *data = NULL;
    const void *sealed = tacit__cursor_bytes(row, 3, &sealed_size);
    TRY(tacit__vault_open_sealed(vault, vault->key_input, sealed, sealed_size, &data, &size, err));
    k->data = data;
    k->size = size;
    g->each(g->context, k);
    tacit__free_secret(data, size);
    return TACIT_OK;
}

static int64_t opened_at(tacit__cursor *row)
{
    size_t size;
    uint64_t time = 0;
    if (tacit__cursor_type(row, 2) != TACIT__COLUMN_BYTES)
        return tacit__cursor_int(row, 2);
    const uint8_t *content = tacit__cursor_bytes(row, 2, &size);
    for (size_t i = 0; i < sizeof time && size > TACIT__VAULT_KEY; i++)
        time = time << 8 | content[i];
    return (int64_t)time; /* of a report: 0, which nobody asks about */
}

static tacit_status give(tacit__vault *vault, tacit__cursor *row, void *context, tacit_error *err)
{
    const giving *g = context;
    size_t size;
    tacit__user_fact k = {.kind = tables[g->scan->table].kind,
                          .learner = tacit__cursor_int(row, 0)};
    k.name = tacit__cursor_bytes(row, 1, &size);
    if (size != TACIT__VAULT_KEY)
        return tacit__fail(err, TACIT_CORRUPT, "%.200s: a name has another size", vault->path);
    if (k.kind == TACIT__FACT_PERSON) {
        k.episode = tacit__cursor_bytes(row, 2, &size);
        k.episode = size == TACIT__VAULT_KEY ? k.episode : NULL;
        k.is_open = tacit__cursor_type(row, 3) == TACIT__COLUMN_INTEGER;
        k.opened = tacit__cursor_int(row, 3);
    } else {
        k.opened = opened_at(row);
    }
    if (k.kind == TACIT__FACT_OPEN)
        return give_open(vault, row, g, &k, err);
    g->each(g->context, &k);
    return TACIT_OK;
}

tacit_status tacit__vault_scan_users(tacit__vault *vault, tacit__user_scan *w,
                                     tacit__user_fact_fn *each, void *context, bool *more,
                                     tacit_error *err)
{
    enum { PAGE_ROWS = 4096 }; /* rows: some milliseconds */
    int n = 0;
    giving g = {w, each, context};
    TACIT__REQUIRE(vault->keyed && w->table < sizeof tables / sizeof *tables);
    if (w->scan.sql == NULL)
        w->scan = (tacit__paged_scan){.sql = tables[w->table].sql, .number = INT64_MIN};
    TRY(tacit__vault_scan_page(vault, &w->scan, give, &g, PAGE_ROWS, &n, err));
    if (n < PAGE_ROWS) {
        w->table++;
        w->scan.sql = NULL;
    }
    *more = w->table < (w->people_only ? 1 : sizeof tables / sizeof *tables);
    return TACIT_OK;
}
