/* From the plain data of a report to a page. */
#ifndef TACIT_REPORT_RENDER_H
#define TACIT_REPORT_RENDER_H

#include "base/text.h"
#include "report/model.h"

/* The whole page. `plots`: with the interactive plots; `scripts`: with any script at all. */
void tacit__page(tacit__text *to, const tacit__report *report, bool scripts, bool plots);

/* Its parts. */
void tacit__story(tacit__text *to, const tacit__report *report, size_t world);
void tacit__promises(tacit__text *to, const tacit__report *report);
void tacit__data(tacit__text *to, const tacit__report *report);
void tacit__settings(tacit__text *to, const tacit__report *report);
/* tacit run FILE --episodes K --runs N, quoted for a shell. */
void tacit__command(tacit__text *to, const tacit__report *report);
/* "joint, ε = 1, δ = 2×10⁻⁶"; "none". */
void tacit__guarantee(tacit__text *to, const tacit_entry *entry);

#endif
