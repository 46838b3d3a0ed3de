/* From the plain data of a report to a page. */
#ifndef TACIT_REPORT_RENDER_H
#define TACIT_REPORT_RENDER_H

#include "report/model.h"
#include "text/text.h"

/* The whole page. `scripts`: figures tell values under the cursor, hide curves, and can be saved. */
void tacit__page(tacit__text *to, const tacit__report *report, bool scripts);

/* Its parts. */
void tacit__story(tacit__text *to, const tacit__report *report, size_t world);
/* The same, and figure and table, of a world that is a log; returns the number of the next figure. */
void tacit__rewards_story(tacit__text *to, const tacit__report *report, size_t world);
size_t tacit__rewards(tacit__text *to, const tacit__report *report, size_t world, size_t number);
void tacit__promises(tacit__text *to, const tacit__report *report);
void tacit__data(tacit__text *to, const tacit__report *report);
void tacit__settings(tacit__text *to, const tacit__report *report);
/* The first cell of an agent's row: its color, its label, and how many of its runs did not learn. */
void tacit__row_head(tacit__text *to, const tacit__report *r, const tacit__report_world *s,
                     size_t agent);
/* tacit run FILE --episodes K --runs N --seed N, quoted for a shell. */
void tacit__command(tacit__text *to, const tacit__report *report);
/* "joint, ε = 1, δ = 2×10⁻⁶"; "none". */
void tacit__guarantee(tacit__text *to, const tacit_entry *entry);

#endif
