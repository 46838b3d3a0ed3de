/* The contents of a comparison, for the page that shows it. */
#ifndef TACIT_REPORT_COMPARE_H
#define TACIT_REPORT_COMPARE_H

#include <tacit/report.h>

#include "lab/experiment.h"
#include "lab/results.h"

/* Equal: nothing varied, and nothing differs. Open: the interval has both signs. */
typedef enum tacit__outcome {
    TACIT__OUTCOME_UNKNOWN,
    TACIT__OUTCOME_EQUAL,
    TACIT__OUTCOME_BETTER,
    TACIT__OUTCOME_OPEN,
    TACIT__OUTCOME_WORSE
} tacit__outcome;
tacit__outcome tacit__difference_outcome(const tacit_difference *difference);

size_t tacit__comparison_results(const tacit_comparison *comparison);

#endif
