/* See client/billboard_tables.h. */
#include "client/billboard_tables.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "noise/seal.h"

static tacit_status fail(tacit_error *err)
{
    return tacit__fail(err, TACIT_SYNTAX, "the billboard's tables are malformed");
}

/* base64url of n numbers, 64 bits each, low byte first. */
static tacit_status read_table(const tacit__json_node *node, size_t n, double **out,
                               tacit_error *err)
{
    size_t size = 0;
    if (node->kind != TACIT__JSON_STRING || n == 0 || node->length != (32 * n + 2) / 3)
        return fail(err);
    uint8_t *bytes = tacit__alloc(n, 8);
    double *table = tacit__alloc(n, sizeof *table);
    tacit_status status = bytes != NULL && table != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    tacit__seal_start();
    if (status != TACIT_OK)
        (void)tacit__fail_plain(err, status);
    else if (!tacit__base64_read(node->text, node->length, bytes, 8 * n, &size) || size != 8 * n)
        status = fail(err);
    tacit__reader r = {.at = bytes, .left = size};
    for (size_t i = 0; i < n && status == TACIT_OK; i++)
        table[i] = tacit__read_double(&r);
    tacit__free(bytes);
    if (status == TACIT_OK)
        *out = table;
    else
        tacit__free(table);
    return status;
}

tacit_status tacit__client_tables(const tacit__json_node *nodes, const tacit_agent_request *space,
                                  tacit__world_tables *known, tacit_error *err)
{
    TACIT__REQUIRE(space->n_actions > 0);
    const tacit__json_node *tables = tacit__json_get(nodes, nodes, "tables");
    if (tables != NULL && tables->kind != TACIT__JSON_OBJECT)
        return fail(err);
    for (size_t i = 0; i < TACIT__N_TABLES && tables != NULL; i++) {
        const tacit__json_node *node = tacit__json_get(tables, nodes, tacit__table_names[i]);
        if (node == NULL)
            continue;
        TRY(read_table(node, tacit__world_tables_size(known, space, (tacit__table_name)i),
                       &known->table[i], err));
    }
    /* features of numbered states are in a table, and so are parts and weights; nothing else is */
    const tacit__json_node *declared = tacit__json_get(nodes, nodes, "space");
    bool weighted = declared != NULL && tacit__json_get(declared, nodes, "weights") != NULL;
    bool whole = (known->table[TACIT__TABLE_FEATURES] != NULL) ==
                     (known->features > 0 && space->n_states > 0) &&
                 (known->table[TACIT__TABLE_MIXTURE] != NULL) == (known->parts > 0) &&
                 (known->table[TACIT__TABLE_WEIGHTS] != NULL) == weighted;
    return whole && tacit__world_tables_is_valid(known, space) ? TACIT_OK : fail(err);
}
