/* Reports: what an experiment found, as a page, a figure or a table.
 *
 *     tacit_lab_run(experiment, NULL, &results, &err);
 *     tacit_report_write(results, NULL, "report.html", &err);
 *
 *     const tacit_figure_options wanted = {.what = TACIT_FIGURE_PRICE, .width = 84};
 *     tacit_report_figure(results, &wanted, &bytes, &size, &err);
 *
 * The page has the story in a few sentences, regret over time, the price of privacy, a table, each agent's
 * promise with its release plan, the settings, and the command to have it again. It is one file and loads
 * nothing from anywhere. Its figures are the drawings that tacit_report_figure makes; scripts add values
 * under the cursor. Results of a run that was stopped give a page that says so. The same results give the
 * same bytes, timings aside. */
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
    const char *command; /* how to have it again; NULL: made from the experiment */
    bool still;          /* no scripts */
} tacit_report_options;

/* Writes the page; `options` NULL: all defaults. What was at `path` is replaced whole or not at all. A
 * file that cannot be written is SYSTEM. */
TACIT_API TACIT_MUST_USE tacit_status tacit_report_write(const tacit_results *results,
                                                         const tacit_report_options *options,
                                                         const char *path, tacit_error *err);

/* --- Figures ------------------------------------------------------------------------------------- */

typedef enum tacit_figure {
    TACIT_FIGURE_REGRET, /* regret against the number of users */
    TACIT_FIGURE_PRICE,  /* regret at the end against epsilon */
    TACIT_FIGURE_REWARD /* estimated rewards, where the world is a log; the other two are where it is none */
} tacit_figure;

/* SVG is drawn by this library. PDF (vectors, fonts embedded) and PNG need librsvg, which is opened when it
 * is asked for. */
typedef enum tacit_format { TACIT_FORMAT_SVG, TACIT_FORMAT_PDF, TACIT_FORMAT_PNG } tacit_format;

/* What bands and bars show; the figure names it. */
typedef enum tacit_spread {
    TACIT_SPREAD_USUAL, /* RANGE for regret against users, CI for the price of privacy */
    TACIT_SPREAD_RANGE, /* from the lowest to the highest run; of ten or more, without the outer tenths */
    TACIT_SPREAD_STDERR, /* the mean plus and minus one standard error */
    TACIT_SPREAD_CI,     /* 95 % confidence interval of the mean, by Student's t */
    TACIT_SPREAD_NONE
} tacit_spread;

typedef enum tacit_scale { TACIT_SCALE_USUAL, TACIT_SCALE_LINEAR, TACIT_SCALE_LOG } tacit_scale;

/* A panel for each family of agents that differ in epsilon alone. USUAL: where there are more than eight
 * curves and several families. */
typedef enum tacit_facets { TACIT_FACETS_USUAL, TACIT_FACETS_NO, TACIT_FACETS_YES } tacit_facets;

/* All zero: everything, 174 mm wide, with the figure's own title. */
typedef struct tacit_figure_options {
    tacit_figure what;
    tacit_format format;
    size_t world;
    const size_t *agents; /* which, in the order of the legend; NULL: all */
    size_t n_agents;
    double width, height; /* in millimeters; 0: 174, and as high as the contents need */
    const char *font;     /* a family, for all text; NULL: Helvetica or its substitute */
    double font_size;     /* in points; 0: 8 */
    const char *title;    /* NULL: its own; "": none */
    tacit_spread interval;
    tacit_scale scale; /* of regret against users; the price of privacy is always logarithmic */
    tacit_facets facets;
    double dots_per_inch; /* of PNG; 0: 300 */
} tacit_figure_options;

enum { TACIT_FIGURE_NARROWEST = 40, TACIT_FIGURE_WIDEST = 1000 }; /* millimeters */

/* Makes the figure: `size` bytes at *out, to be freed with free(). Options that cannot be are BAD_ARGUMENT;
 * UNSUPPORTED: librsvg is not here, or there is nothing to draw (no run was finished; no agent has an
 * epsilon). */
TACIT_API TACIT_MUST_USE tacit_status tacit_report_figure(const tacit_results *results,
                                                          const tacit_figure_options *options,
                                                          char **out, size_t *size,
                                                          tacit_error *err);

/* Whether PDF and PNG can be made here. */
TACIT_API bool tacit_report_has_paper(void);

/* --- Tables -------------------------------------------------------------------------------------- */

typedef enum tacit_table { TACIT_TABLE_TEX, TACIT_TABLE_CSV, TACIT_TABLE_MD } tacit_table;

/* One row for each agent of each world, or of these agents. CSV has full precision and a head that names the
 * columns; TeX needs booktabs. `size` bytes at *out, to be freed with free(). */
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

/* An agent beside the one that it is compared with. Regret is lower where it is better. */
typedef struct tacit_difference {
    const char *world, *agent;
    const char *reference;       /* the label that it is compared with */
    size_t which;                /* of the results, from 0 */
    uint64_t runs;               /* of the agent that count */
    double reference_mean, mean; /* regret */
    double difference, low,
        high;    /* mean minus reference_mean, and its 95 % confidence interval (Student's t);
                                     NaN with too few runs */
    bool paired; /* run by run, over the same people; else as two samples (Welch) */
} tacit_difference;

typedef struct tacit_comparison tacit_comparison;

/* Agents of the same label, in worlds of the same label that are the same worlds: each of results 1, 2, …
 * against results 0. With one set of results: each of its agents against the one called `reference` (NULL:
 * the first that learns). Runs are paired where the seeds are the same. Results that have nothing in common
 * are BAD_ARGUMENT. The results must outlive the comparison. */
TACIT_API TACIT_MUST_USE tacit_status tacit_comparison_create(const tacit_results *const *results,
                                                              size_t n, const char *reference,
                                                              tacit_comparison **out,
                                                              tacit_error *err);
TACIT_API void tacit_comparison_destroy(tacit_comparison *comparison);

TACIT_API size_t tacit_comparison_size(const tacit_comparison *comparison);
TACIT_API const tacit_difference *tacit_comparison_at(const tacit_comparison *comparison, size_t i);
/* What could not be compared, and why: sentences; NULL beyond the last. */
TACIT_API const char *tacit_comparison_note(const tacit_comparison *comparison, size_t i);

/* A page of it, as from tacit_report_write; `names` are what the results are called, one for each. */
TACIT_API TACIT_MUST_USE tacit_status tacit_comparison_write(const tacit_comparison *comparison,
                                                             const char *const *names,
                                                             const char *path, tacit_error *err);

/* The agents that a text names: labels, or names of families, separated by commas (labels may contain them).
 * At most as many as the experiment has go to `out`. An unknown name is BAD_ARGUMENT and says which there
 * are. */
TACIT_API TACIT_MUST_USE tacit_status tacit_report_agents(const tacit_results *results,
                                                          const char *text, size_t *out, size_t *n,
                                                          tacit_error *err);

#ifdef __cplusplus
}
#endif

#endif
