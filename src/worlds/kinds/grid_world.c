/* Grid worlds in the manner of FrozenLake: find the goal before the ice breaks.
 *
 * A map of S (start), F (floor), H (hole), G (goal), one state for each cell, row by row from the top left.
 * Actions 0 .. 3 are left, down, right, up. With probability `slip` the agent goes to one of the two sides
 * instead, half each; against the edge it stays. Entering a goal pays 1, everything else 0; holes and goals
 * keep a user who enters. With several S one of them is drawn. Gym's slippery lake is slip = 2/3. */
#include "worlds/kinds/grid_world.h"

#include <string.h>

#include "base/error.h"
#include "base/workspace.h"
#include "worlds/kind.h"

enum { MAX_CELLS = 1000000 };

typedef struct grid {
    const tacit__grid_source *source;
    char *cells; /* [rows][columns] */
    size_t rows, columns, n_starts;
    tacit_outcome *starts;
    tacit_error *err;
} grid;

static bool is_blank(tacit__span text)
{
    size_t n = 0;
    while (n < text.size && text.text[n] != '\0' && strchr(" \t\r\n", text.text[n]) != NULL)
        n++;
    return n == text.size;
}

/* The next row of the map; blank lines at the end of a file are none. */
static bool next_row(const tacit__grid_source *source, tacit__span *rest, tacit__span *row)
{
    if (source->separator == '\n') {
        if (is_blank(*rest) || !tacit__line_next(rest, row))
            return false;
        *row = tacit__span_trim(*row);
        return true;
    }
    if (rest->text == NULL)
        return false;
    const char *end = memchr(rest->text, source->separator, rest->size);
    size_t n = end != NULL ? (size_t)(end - rest->text) : rest->size;
    *row = tacit__span_trim((tacit__span){rest->text, n});
    *rest = end != NULL ? (tacit__span){end + 1, rest->size - n - 1} : (tacit__span){NULL, 0};
    return true;
}

static size_t message_line(const grid *g, size_t row)
{
    return g->source->separator == '\n' ? row : (size_t)g->source->line;
}

static tacit_status read_row(grid *g, tacit__span row)
{
    const char *file = g->source->file;
    size_t number = ++g->rows, line = message_line(g, number);
    if (number == 1)
        g->columns = row.size;
    if (row.size == 0)
        return tacit__fail_at(g->err, TACIT_SYNTAX, file, line,
                              "row %zu of the map is empty; expected at least one cell", number);
    if (row.size != g->columns)
        return tacit__fail_at(
            g->err, TACIT_SYNTAX, file, line,
            "row %zu of the map has %zu cells, expected %zu, as many as the first", number,
            row.size, g->columns);
    for (size_t i = 0; i < row.size; i++) {
        char shown[TACIT__SHOWN];
        if (row.text[i] == '\0' || strchr("SFHG", row.text[i]) == NULL)
            return tacit__fail_at(g->err, TACIT_SYNTAX, file, line,
                                  "row %zu, column %zu of the map is '%s', expected S (start), "
                                  "F (floor), H (hole) or G (goal)",
                                  number, i + 1,
                                  tacit__span_format((tacit__span){row.text + i, 1}, shown));
    }
    memcpy(g->cells + (number - 1) * g->columns, row.text, row.size);
    return TACIT_OK;
}

static tacit_status read_map(grid *g)
{
    tacit__span rest = g->source->map, row;
    if (rest.size > MAX_CELLS)
        return tacit__fail_at(g->err, TACIT_TOO_LARGE, g->source->file, message_line(g, 0),
                              "the map is larger than %d cells", MAX_CELLS);
    if (TACIT__PIECES(TACIT__PIECE(g->cells, rest.size), TACIT__PIECE(g->starts, rest.size)) ==
        NULL)
        return tacit__fail_plain(g->err, TACIT_NO_MEMORY);
    while (next_row(g->source, &rest, &row))
        TRY(read_row(g, row));
    size_t n = g->rows * g->columns;
    for (uint32_t s = 0; s < n; s++)
        if (g->cells[s] == 'S')
            g->starts[g->n_starts++].next = s;
    for (size_t i = 0; i < g->n_starts; i++)
        g->starts[i].prob = 1 / (double)g->n_starts;
    if (g->n_starts == 0 || memchr(g->cells, 'G', n) == NULL)
        return tacit__fail_at(g->err, TACIT_SYNTAX, g->source->file, message_line(g, 0),
                              "the map has no %s", g->n_starts == 0 ? "S (start)" : "G (goal)");
    return TACIT_OK;
}

static uint32_t neighbor(const grid *g, uint32_t s, uint32_t direction)
{
    TACIT__REQUIRE(s < g->rows * g->columns);
    size_t row = s / g->columns, column = s % g->columns;
    switch (direction) {
    case 0:
        return column > 0 ? s - 1 : s;
    case 1:
        return row + 1 < g->rows ? s + (uint32_t)g->columns : s;
    case 2:
        return column + 1 < g->columns ? s + 1 : s;
    default:
        return row > 0 ? s - (uint32_t)g->columns : s;
    }
}

static size_t row(void *context, size_t layer, uint32_t s, uint32_t action, tacit_outcome *out)
{
    const grid *g = context;
    (void)layer;
    if (g->cells[s] == 'H' || g->cells[s] == 'G') {
        out[0] = (tacit_outcome){s, 1, 0};
        return 1;
    }
    double slip = g->source->slip;
    const uint32_t direction[3] = {action, (action + 1) % 4, (action + 3) % 4};
    const double prob[3] = {1 - slip, slip / 2, slip / 2};
    for (size_t i = 0; i < 3; i++) {
        uint32_t next = neighbor(g, s, direction[i]);
        out[i] = (tacit_outcome){next, prob[i], g->cells[next] == 'G' ? 1 : 0};
    }
    return 3;
}

tacit_status tacit__grid_create(const tacit__grid_source *source, tacit__mdp **out,
                                tacit_error *err)
{
    TACIT__REQUIRE(source->slip >= 0 && source->slip <= 1);
    grid g = {.source = source, .err = err};
    tacit_status status = read_map(&g);
    if (status == TACIT_OK) {
        const tacit__mdp_spec spec = {.n_states = g.rows * g.columns,
                                      .n_actions = 4,
                                      .horizon = source->horizon,
                                      .stationary = true,
                                      .reward_high = 1,
                                      .row_max = 3,
                                      .row = row,
                                      .context = &g,
                                      .initial = g.starts,
                                      .n_initial = g.n_starts};
        status = tacit__mdp_create(&spec, out, err);
    }
    tacit__workspace_destroy(g.cells);
    return status;
}

/* --- The kind ---------------------------------------------------------------------------------- */

static const tacit_parameter parameters[] = {
    {"map", TACIT_PARAMETER_TEXT, "4x4", 0, 0,
     "4x4, 8x8, or rows of S (start), F (floor), H (hole), G (goal) separated by '/'"},
    {"map_file", TACIT_PARAMETER_FILE, "", 0, 0,
     "a text file with the map, one row a line; instead of map"},
    {"slip", TACIT_PARAMETER_REAL, "0.2", 0, 1,
     "probability of going to a side instead, half each"},
    TACIT__HORIZON_PARAMETER("20"),
};

static const char lake4[] = "SFFF/FHFH/FFFH/HFFG";
static const char lake8[] =
    "SFFFFFFF/FFFFFFFF/FFFHFFFF/FFFFFHFF/FFFHFFFF/FHHFFFHF/FHFFHFHF/FFFHFFFG";

static tacit_status create(const tacit__values *values, tacit__model *out, tacit_error *err)
{
    if (tacit__value_of(values, "map")->given && tacit__value_of(values, "map_file")->given)
        return tacit__value_fail(values, "map_file", err, TACIT_BAD_ARGUMENT,
                                 "map and map_file are both given; keep one");
    const char *map = tacit__value_of(values, "map")->text;
    map = strcmp(map, "4x4") == 0 ? lake4 : strcmp(map, "8x8") == 0 ? lake8 : map;
    tacit__grid_source source = {.map = {map, strlen(map)},
                                 .separator = '/',
                                 .file = values->origin.file,
                                 .line = tacit__value_of(values, "map")->line,
                                 .horizon = (size_t)tacit__value_of(values, "horizon")->integer,
                                 .slip = tacit__value_real(values, "slip")};
    tacit__text_file file = {.text = NULL};
    tacit_status status = TACIT_OK;
    if (tacit__value_of(values, "map_file")->given) {
        status =
            tacit__text_file_read(tacit__value_of(values, "map_file"), &values->origin, &file, err);
        source.map = (tacit__span){file.text, file.size};
        source.separator = '\n';
        source.file = file.path;
    }
    if (status == TACIT_OK)
        status = tacit__grid_create(&source, &out->mdp, err);
    tacit__text_file_close(&file);
    return status;
}

const tacit__kind tacit__kind_grid = {
    .face = {"grid", "a map with holes and a goal, on slippery ground (FrozenLake)",
             "Gymnasium's FrozenLake", parameters, TACIT__COUNT(parameters)},
    .family = TACIT_WORLD_TABULAR,
    .create = create,
};
