/* Reports: the results of an experiment as a page, a figure or a table.
 *
 *     tacit_lab_run(experiment, NULL, &results, &err);
 *     tacit_report_write(results, NULL, "report.html", &err);
 *
 *     const tacit_figure_options wanted = {.what = TACIT_FIGURE_PRICE, .width = 84};
 *     tacit_report_figure(results, &wanted, &bytes, &size, &err);
 *
 * The page has a summary in a few sentences, regret over time, the price of privacy, a table, each agent's
 * guarantee with its release plan, the settings, and the command that reproduces the results. It is one file
 * and loads nothing else. Its figures are those that tacit_report_figure makes; scripts show values under
 * the cursor. If the run was stopped, the page says so. The same results give the same bytes, except for
 * timings. */
#ifndef TACIT_REPORT_H
#define TACIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/lab.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_report_options {
    const char *command; /* that reproduces the results; NULL: made from the experiment */
    bool still;          /* without scripts */
} tacit_report_options;

/* Writes the page; `options` NULL: all defaults. A file at `path` is replaced as a whole or not at all.
 * SYSTEM: the file cannot be written. */
TACIT_API TACIT_MUST_USE tacit_status tacit_report_write(const tacit_results *results,
                                                         const tacit_report_options *options,
                                                         const char *path, tacit_error *err);

/* --- Figures ------------------------------------------------------------------------------------- */

typedef enum tacit_figure {
    TACIT_FIGURE_REGRET, /* regret against the number of users */
    TACIT_FIGURE_PRICE,  /* regret at the end against epsilon */
    TACIT_FIGURE_REWARD  /* estimated rewards; for worlds that are logs, and only for those */
} tacit_figure;

/* The library draws SVG itself. PDF (vectors, fonts embedded) and PNG need librsvg, which is opened when such
 * a figure is asked for. */
typedef enum tacit_format { TACIT_FORMAT_SVG, TACIT_FORMAT_PDF, TACIT_FORMAT_PNG } tacit_format;

/* What bands and bars show; the figure says which it is. */
typedef enum tacit_spread {
    TACIT_SPREAD_USUAL, /* CI, as in tables */
    TACIT_SPREAD_RANGE, /* from the lowest to the highest run; of ten or more, without the outer tenths */
    TACIT_SPREAD_STDERR, /* the mean plus and minus one standard error */
    TACIT_SPREAD_CI,     /* 95 % confidence interval of the mean, by Student's t */
    TACIT_SPREAD_NONE
} tacit_spread;

typedef enum tacit_scale { TACIT_SCALE_USUAL, TACIT_SCALE_LINEAR, TACIT_SCALE_LOG } tacit_scale;

/* A panel for each family of agents that differ in epsilon only. USUAL: yes if there are more than eight
 * curves and several families. */
typedef enum tacit_facets { TACIT_FACETS_USUAL, TACIT_FACETS_NO, TACIT_FACETS_YES } tacit_facets;

/* All zero: everything, 174 mm wide, with the figure's own title. */
typedef struct tacit_figure_options {
    tacit_figure what;
    tacit_format format;
    size_t world;
    const size_t *agents; /* in the order of the legend; NULL: all */
    size_t n_agents;
    double width, height; /* in millimeters; 0: 174, and the height that the contents need */
    const char *font;     /* a family, for all text; NULL: Helvetica or its substitute */
    double font_size;     /* in points; 0: 8 */
    const char *title;    /* NULL: the default; "": none */
    tacit_spread interval;
    tacit_scale scale; /* of regret against users; the price of privacy is always logarithmic */
    tacit_facets facets;
    double dots_per_inch; /* of PNG; 0: 300 */
} tacit_figure_options;

enum { TACIT_FIGURE_NARROWEST = 40, TACIT_FIGURE_WIDEST = 1000 }; /* millimeters */

/* Makes the figure: `size` bytes at *out, to be freed with free(). BAD_ARGUMENT: the options are wrong;
 * UNSUPPORTED: librsvg is missing, or there is nothing to draw (no run is finished; no agent has an
 * epsilon). */
TACIT_API TACIT_MUST_USE tacit_status tacit_report_figure(const tacit_results *results,
                                                          const tacit_figure_options *options,
                                                          char **out, size_t *size,
                                                          tacit_error *err);

/* Whether PDF and PNG can be made here. */
TACIT_API bool tacit_report_has_paper(void);

/* --- Tables -------------------------------------------------------------------------------------- */

typedef enum tacit_table { TACIT_TABLE_TEX, TACIT_TABLE_CSV, TACIT_TABLE_MD } tacit_table;

/* A table has one row for each agent of each world, or only for these agents. CSV has full precision and a
 * header; TeX needs booktabs. The result is `size` bytes at *out, to be freed with free(). */
typedef struct tacit_table_options {
    tacit_table format;
    size_t world; /* SIZE_MAX: all */
    const size_t *agents;
    size_t n_agents;
} tacit_table_options;

TACIT_API TACIT_MUST_USE tacit_status tacit_report_table(const tacit_results *results,
                                                         const tacit_table_options *options,
                                                         char **out, size_t *size,
                                                         tacit_error *err);

/* --- Comparisons --------------------------------------------------------------------------------- */

/* An agent and the one that it is compared with. Lower regret is better. */
typedef struct tacit_difference {
    const char *world, *agent;
    const char *reference;       /* the label that it is compared with */
    size_t which;                /* the index of its results, from 0 */
    uint64_t runs;               /* of the agent that were compared */
    double reference_mean, mean; /* regret */
    double difference, low,
        high;    /* mean minus reference_mean, and its 95 % confidence interval (Student's t);
                                     NaN with too few runs */
    bool paired; /* compared run by run, over the same people; else as two samples (Welch) */
    uint64_t runs_not_learned; /* of the agent, among all its finished runs: see tacit_bar */
} tacit_difference;

typedef struct tacit_comparison tacit_comparison;

/* Compares agents of the same label in equal worlds of the same label: each of results 1, 2, … with results
 * 0. With one set of results, it compares each agent with the one called `reference` (NULL: the first that
 * learns). Runs are paired if the seeds are the same. BAD_ARGUMENT: the results have nothing in common. The
 * results must outlive the comparison. */
TACIT_API TACIT_MUST_USE tacit_status tacit_comparison_create(const tacit_results *const *results,
                                                              size_t n, const char *reference,
                                                              tacit_comparison **out,
                                                              tacit_error *err);
TACIT_API void tacit_comparison_destroy(tacit_comparison *comparison);

TACIT_API size_t tacit_comparison_size(const tacit_comparison *comparison);
TACIT_API const tacit_difference *tacit_comparison_at(const tacit_comparison *comparison, size_t i);
/* What could not be compared, and why: sentence i, or NULL beyond the last. */
TACIT_API const char *tacit_comparison_note(const tacit_comparison *comparison, size_t i);

/* Writes the comparison as a page, as tacit_report_write does; `names` has a name for each of the results. */
TACIT_API TACIT_MUST_USE tacit_status tacit_comparison_write(const tacit_comparison *comparison,
                                                             const char *const *names,
                                                             const char *path, tacit_error *err);

/* The agents that a text names: labels or names of families, separated by commas (labels may contain commas).
 * `out` needs room for all agents of the experiment. BAD_ARGUMENT: a name is unknown; the message lists the
 * names. */
TACIT_API TACIT_MUST_USE tacit_status tacit_report_agents(const tacit_results *results,
                                                          const char *text, size_t *out, size_t *n,
                                                          tacit_error *err);

#ifdef __cplusplus
}
#endif

#endif
