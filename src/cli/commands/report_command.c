/* tacit report: rebuilds the page of an experiment from the results of a run, or writes one of its figures,
 * or its table, as a file for a paper. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/report.h>

#include "base/error.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/plugins.h"
#include "text/nearest.h"

typedef struct report_options {
    const char *directory, *file, *agents, *world, *font, *title;
    size_t figure, table, scale, interval, facets; /* places in the lists of words */
    double width, height, font_size, density;
    bool still;
    cli_plugins plugins;
} report_options;

static const char *const figures[] = {"regret", "price", "reward", NULL};
static const char *const tables[] = {"tex", "csv", "md", NULL};
static const char *const scales[] = {"usual", "linear", "log", NULL};
static const char *const intervals[] = {"usual", "range", "stderr", "ci", "none", NULL};
static const char *const facets[] = {"usual", "no", "yes", NULL};

/* "84mm", "8.4cm", "3.3in", "240pt": millimeters. */
static bool parse_length(const char *text, void *out)
{
    static const struct {
        const char *unit;
        double mm;
    } units[] = {{"mm", 1}, {"cm", 10}, {"in", 25.4}, {"pt", 25.4 / 72}, {"px", 25.4 / 96}};
    char *end = NULL;
    double value = isdigit((unsigned char)text[0]) ? strtod(text, &end) : -1;
    for (size_t i = 0; end != NULL && value > 0 && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            *(double *)out = value * units[i].mm;
            return true;
        }
    return false;
}

/* "8pt", or 8. */
static bool parse_points(const char *text, void *out)
{
    char *end = NULL;
    double value = isdigit((unsigned char)text[0]) ? strtod(text, &end) : -1;
    if (end == NULL || !(value > 0) || (*end != '\0' && strcmp(end, "pt") != 0))
        return false;
    *(double *)out = value;
    return true;
}

enum {
    OUTPUT,
    STATIC,
    FIGURE,
    TABLE,
    LOAD,
    WORLD,
    AGENTS,
    WIDTH,
    HEIGHT,
    FONT,
    FONT_SIZE,
    TITLE,
    SCALE,
    INTERVAL,
    FACETS,
    DPI
};
static const tacit__field option_fields[] = {
    [OUTPUT] = {"output", TACIT__FIELD_TEXT, offsetof(report_options, file), .low = 1,
                .expected = "a file", .letter = 'o', .value = "FILE",
                .help = "where to write (default: DIR/report.html, DIR/regret.svg, DIR/price.svg;\n"
                        "a table is printed). The ending decides: .svg, .pdf or .png"},
    [STATIC] = {"static", TACIT__FIELD_FLAG, offsetof(report_options, still),
                .help = "a page without scripts"},
    [FIGURE] = {"figure", TACIT__FIELD_WORD, offsetof(report_options, figure), .words = figures,
                .value = "NAME",
                .help = "one figure alone: regret (against users), price (of privacy),\nor reward "
                        "(estimated, where the world is a log)"},
    [TABLE] = {"table", TACIT__FIELD_WORD, offsetof(report_options, table), .words = tables,
               .value = "FORMAT", .help = "the table alone: tex, csv or md"},
    [LOAD] = CLI_LOAD_OPTION(offsetof(report_options, plugins)),
    [WORLD] = {"world", TACIT__FIELD_TEXT, offsetof(report_options, world), .low = 1,
               .expected = "the label of a world", .value = "LABEL",
               .help = "show only this world (a figure shows one; default: the first)"},
    [AGENTS] = {"agents", TACIT__FIELD_TEXT, offsetof(report_options, agents), .low = 1,
                .expected = "labels, separated by commas", .value = "LIST",
                .help = "these agents or families only, in this order, separated by commas"},
    [WIDTH] = {"width", TACIT__FIELD_OTHER, offsetof(report_options, width), .parse = parse_length,
               .expected = "a length like 84mm, 8.4cm, 3.3in or 240pt", .value = "LENGTH",
               .help = "of the figure (default: 174mm)"},
    [HEIGHT] = {"height", TACIT__FIELD_OTHER, offsetof(report_options, height),
                .parse = parse_length, .expected = "a length like 60mm, 6cm, 2.4in or 170pt",
                .value = "LENGTH", .help = "of the figure (default: what its contents need)"},
    [FONT] = {"font", TACIT__FIELD_TEXT, offsetof(report_options, font), .low = 1,
              .expected = "the name of a font", .value = "NAME",
              .help = "for example \"Latin Modern Roman\" (default: Helvetica or similar)"},
    [FONT_SIZE] = {"font-size", TACIT__FIELD_OTHER, offsetof(report_options, font_size),
                   .parse = parse_points, .expected = "a size in points, like 8pt", .value = "SIZE",
                   .help = "of letters (default: 8pt)"},
    [TITLE] = {"title", TACIT__FIELD_TEXT, offsetof(report_options, title), .expected = "a text",
               .value = "TEXT", .help = "of the figure; '' for none"},
    [SCALE] = {"scale", TACIT__FIELD_WORD, offsetof(report_options, scale), .words = scales,
               .value = "NAME", .help = "of regret against users: linear or log"},
    [INTERVAL] = {"interval", TACIT__FIELD_WORD, offsetof(report_options, interval),
                  .words = intervals, .value = "NAME",
                  .help =
                      "what bands and bars show: range (of the runs), stderr, ci (95 %) or none"},
    [FACETS] = {"facets", TACIT__FIELD_WORD, offsetof(report_options, facets), .words = facets,
                .value = "NAME", .help = "a panel for each family: yes or no"},
    [DPI] = {"dpi", TACIT__FIELD_REAL, offsetof(report_options, density), .range = &cli_positive,
             .value = "N", .help = "dots per inch of a PNG (default: 300)"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit report DIR [-o FILE] [--static]\n"
    "       tacit report DIR --figure regret|price|reward [-o FILE.svg|.pdf|.png] [--width 84mm] "
    "...\n"
    "       tacit report DIR --table tex|csv|md [-o FILE] [--agents LIST] [--world LABEL]\n"
    "\n"
    "Builds DIR/report.html again from DIR/results.db, which tacit run wrote: one self-contained\n"
    "page with regret over time, the price of privacy, and the guarantee of each agent. If the "
    "run\n"
    "was stopped, the page says so. With --figure or --table it writes one figure, or the table,\n"
    "as a file for a paper.\n"
    "\n",
    "\n"
    "examples:\n"
    "  tacit report /tmp/river\n"
    "  tacit report /tmp/river --figure price -o price.pdf --width 84mm --title ''\n"
    "  tacit report /tmp/river --table tex -o results.tex\n",
    option_fields};

char *cli_report_path(const char *directory, const char *name)
{
    TACIT__REQUIRE(directory != NULL && name != NULL);
    size_t n = strlen(directory), size = n + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL)
        (void)snprintf(path, size, "%s%s%s", directory, n > 0 && directory[n - 1] == '/' ? "" : "/",
                       name);
    return path;
}

/* --- Which options go together ------------------------------------------------------------------- */

static const char *ending_of(const char *file)
{
    const char *dot = file != NULL ? strrchr(file, '.') : NULL;
    return dot != NULL && strchr(dot, '/') == NULL ? dot + 1 : "";
}

/* A figure's format by the file's ending. */
static int read_format(const char *file, tacit_format *out)
{
    static const char *const endings[] = {"svg", "pdf", "png"};
    for (size_t i = 0; i < 3; i++)
        if (file == NULL || strcmp(ending_of(file), endings[i]) == 0) {
            *out = (tacit_format)i;
            return CLI_DONE;
        }
    return cli_wrong("-o is '%s', expected a file that ends in .svg, .pdf or .png", file);
}

static int check_options(const report_options *o, uint64_t given)
{
    const bool figure = given >> FIGURE & 1, table = given >> TABLE & 1;
    if (figure && table)
        return cli_wrong("--figure and --table are two files; ask for one at a time");
    if (figure && o->still)
        return cli_wrong("--static is about the page; a figure has no scripts");
    for (size_t i = WORLD; option_fields[i].name != NULL; i++) {
        const bool of_both = i == WORLD || i == AGENTS;
        if ((given >> i & 1) && !figure && !(table && of_both))
            return cli_wrong("--%s is about %s; add --figure regret or --figure price%s",
                             option_fields[i].name, of_both ? "figures and tables" : "figures",
                             of_both ? ", or --table" : "");
    }
    const char *ending = ending_of(o->file);
    if (!figure && !table &&
        (strcmp(ending, "svg") == 0 || strcmp(ending, "pdf") == 0 || strcmp(ending, "png") == 0))
        return cli_wrong(
            "'%s' would be a page of HTML; add --figure regret or --figure price for a "
            "figure",
            o->file);
    return CLI_DONE;
}

/* --- Figures and tables -------------------------------------------------------------------------- */

static int find_world(const tacit_results *results, const char *label, size_t *out)
{
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    const char *names[64];
    size_t n = 0;
    for (size_t w = 0; w < facts->n_worlds; w++) {
        if (strcmp(facts->worlds[w].label, label) == 0) {
            *out = w;
            return CLI_DONE;
        }
        if (n < sizeof names / sizeof *names)
            names[n++] = facts->worlds[w].label;
    }
    char hint[TACIT__SUGGESTION];
    return cli_wrong("no world is called '%s'%s", label,
                     tacit__suggest(label, names, n, NULL, hint));
}

static int write_bytes(const char *path, const char *bytes, size_t size)
{
    tacit_error err = {0};
    tacit_status status = tacit__file_replace(path, bytes, size, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    (void)printf("written: %s\n", path);
    return CLI_DONE;
}

static int make_figure(const tacit_results *results, const report_options *o,
                       tacit_figure_options *wanted)
{
    char *bytes = NULL;
    size_t size = 0;
    tacit_error err = {0};
    int code = read_format(o->file, &wanted->format);
    if (code != CLI_DONE)
        return code;
    static const char *const standard_names[] = {"regret.svg", "price.svg", "reward.svg"};
    char *standard = cli_report_path(o->directory, standard_names[o->figure]);
    if (standard == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    tacit_status status = tacit_report_figure(results, wanted, &bytes, &size, &err);
    code = status == TACIT_OK ? write_bytes(o->file != NULL ? o->file : standard, bytes, size)
                              : cli_failed(status, &err);
    free(bytes);
    free(standard);
    return code;
}

static int make_table(const tacit_results *results, const report_options *o,
                      const tacit_table_options *wanted)
{
    char *bytes = NULL;
    size_t size = 0;
    tacit_error err = {0};
    tacit_status status = tacit_report_table(results, wanted, &bytes, &size, &err);
    int code = CLI_DONE;
    if (status != TACIT_OK)
        code = cli_failed(status, &err);
    else if (o->file != NULL)
        code = write_bytes(o->file, bytes, size);
    else
        (void)fwrite(bytes, 1, size, stdout);
    free(bytes);
    return code;
}

static int make_part(const tacit_results *results, const report_options *o, uint64_t given)
{
    tacit_figure_options figure = {.what = (tacit_figure)o->figure,
                                   .width = o->width,
                                   .height = o->height,
                                   .font = o->font,
                                   .font_size = o->font_size,
                                   .title = o->title,
                                   .interval = (tacit_spread)o->interval,
                                   .scale = (tacit_scale)o->scale,
                                   .facets = (tacit_facets)o->facets,
                                   .dots_per_inch = o->density};
    tacit_table_options table = {.format = (tacit_table)o->table, .world = SIZE_MAX};
    size_t *agents = NULL;
    tacit_error err = {0};
    int code = CLI_DONE;
    if (o->world != NULL) {
        code = find_world(results, o->world, &figure.world);
        table.world = figure.world;
    }
    if (code == CLI_DONE && o->agents != NULL) {
        agents = calloc(tacit_results_describe(results)->n_agents, sizeof *agents);
        tacit_status status = agents == NULL ? TACIT_NO_MEMORY
                                             : tacit_report_agents(results, o->agents, agents,
                                                                   &figure.n_agents, &err);
        if (status != TACIT_OK)
            code = cli_failed(status, agents == NULL ? NULL : &err);
        figure.agents = table.agents = agents;
        table.n_agents = figure.n_agents;
    }
    if (code == CLI_DONE)
        code =
            given >> FIGURE & 1 ? make_figure(results, o, &figure) : make_table(results, o, &table);
    free(agents);
    return code;
}

static int make_page(const tacit_results *results, const report_options *o)
{
    tacit_error err = {0};
    char *standard = cli_report_path(o->directory, "report.html");
    if (standard == NULL)
        return cli_failed(TACIT_NO_MEMORY, NULL);
    const char *path = o->file != NULL ? o->file : standard;
    const tacit_report_options wanted = {.still = o->still};
    tacit_status status = tacit_report_write(results, &wanted, path, &err);
    int code = CLI_DONE;
    if (status != TACIT_OK)
        code = cli_failed(status, &err);
    else
        (void)printf("written: %s\n", path);
    free(standard);
    return code;
}

int cli_report(int argc, char **argv)
{
    report_options o = {0};
    uint64_t given = 0;
    int code = cli_read_options(argc, argv, &form, &o, &given);
    if (code == CLI_DONE)
        code = cli_read_argument(
            argc, argv, "no results are given, expected the directory that tacit run wrote to",
            "directory (tacit compare compares several)", &o.directory);
    if (code == CLI_DONE)
        code = check_options(&o, given);
    if (code == CLI_DONE)
        code = cli_load_plugins(&o.plugins);
    if (code != CLI_DONE)
        return code;
    tacit_error err = {0};
    tacit_results *results = NULL;
    tacit_status status = tacit_results_open(o.directory, &results, &err);
    if (status != TACIT_OK)
        code = cli_failed(status, &err);
    else if (given >> FIGURE & 1 || given >> TABLE & 1)
        code = make_part(results, &o, given);
    else
        code = make_page(results, &o);
    tacit_results_destroy(results);
    return code;
}
