/* Reports: what an experiment found, as one page that needs nothing else.
 *
 *     tacit_lab_run(experiment, NULL, &results, &err);
 *     tacit_report_write(results, NULL, "report.html", &err);
 *
 * The page has the story in two sentences, regret over time, the price of privacy, a table, each agent's
 * promise with its release plan, the settings, and the command to have it again. It loads nothing from
 * anywhere. Plots are interactive where the browser runs scripts, and drawings (SVG) otherwise and on
 * paper. Results of a run that was stopped give a page that says so. The same results give the same bytes,
 * timings aside. */
#ifndef TACIT_REPORT_H
#define TACIT_REPORT_H

#include <stdbool.h>

#include <tacit/lab.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tacit_report_options {
    const char *command; /* how to have it again; NULL: made from the experiment */
    bool still;          /* drawings only, no scripts */
} tacit_report_options;

/* Writes the page; `options` NULL: all defaults. What was at `path` is replaced whole or not at all. A
 * file that cannot be written is SYSTEM. */
TACIT_API TACIT_MUST_USE tacit_status tacit_report_write(const tacit_results *results,
                                                         const tacit_report_options *options,
                                                         const char *path, tacit_error *err);

/* Whether the interactive plots were there when the library was built. Without them pages have drawings,
 * and say so. */
TACIT_API bool tacit_report_has_plots(void);

#ifdef __cplusplus
}
#endif

#endif
