/* Which runs learned: one rule for the terminal, the page, tables and comparisons (tacit_bar in tacit/lab.h).
 *
 * The rule looks at the end of a run, not at its sum: learning has a price, and a learner may lose to a
 * constant action in total though it has found a better policy. It looks at every run by itself, since a mean
 * over ten runs hides the one that never learned. A tenth less is asked for because less may be chance (a
 * choice), and a tenth of random actions as in forecasts (docs/why/forecast.md). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "lab/experiment.h"
#include "lab/results.h"

#define SHARE_OF_BAR 0.9
#define SHARE_OF_RANDOM 0.1

/* The mean late regret of the baseline of this kind; NaN: it was not played. */
static double late_of(const tacit_results *results, size_t world, const char *kind)
{
    const tacit_experiment_facts *facts = &results->experiment->facts;
    double sum = 0, n = 0;
    for (size_t i = 0; i < facts->n_agents; i++) {
        if (!facts->agents[i].baseline || strcmp(facts->agents[i].kind, kind) != 0)
            continue;
        for (uint64_t run = 0; run < facts->runs; run++) {
            const tacit_job *job = tacit_results_job(results, world, i, run);
            if (job == NULL || !job->done)
                continue;
            sum += job->late_regret;
            n++;
        }
    }
    return n > 0 ? sum / n : (double)NAN;
}

tacit_bar tacit_results_bar(const tacit_results *results, size_t world)
{
    TACIT__REQUIRE(results != NULL);
    if (tacit_results_logged(results, world))
        return (tacit_bar){(double)NAN, "what the best constant action earns"};
    const double uniform = late_of(results, world, "uniform"),
                 constant = late_of(results, world, "constant"),
                 no_data = late_of(results, world, "no-data");
    tacit_bar bar = {(double)NAN, NULL};
    if (constant > 0)
        bar = (tacit_bar){constant, "what the best constant action loses"};
    if (!isnan(constant) && SHARE_OF_RANDOM * uniform > constant)
        bar = (tacit_bar){SHARE_OF_RANDOM * uniform, "a tenth of what random actions lose"};
    if (!isnan(no_data) && !(bar.late < no_data))
        bar = (tacit_bar){no_data, "what the plan without data loses"};
    if (bar.what == NULL && uniform > 0)
        bar = (tacit_bar){uniform, "what random actions lose"};
    return bar;
}

bool tacit_results_not_learned(const tacit_results *results, size_t world, size_t agent,
                               uint64_t run)
{
    const tacit_job *job = tacit_results_job(results, world, agent, run);
    if (job == NULL || !job->done || results->experiment->facts.agents[agent].baseline)
        return false;
    if (tacit_results_logged(results, world))
        return job->estimate.known && job->estimate.lift_constant < 0;
    const tacit_bar bar = tacit_results_bar(results, world);
    return bar.what != NULL && !(job->late_regret < SHARE_OF_BAR * bar.late);
}
