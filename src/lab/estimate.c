/* See lab/estimate.h.
 *
 * A private learner draws noise for each coordinate of each step that its plan declares: DRAW seconds each.
 * The time for everything else is measured with the first users of one run, without the very first one, whose
 * plan may take long and is made once. All trials together have a budget of time; for agents beyond the
 * budget only the noise counts. */
#include "lab/estimate.h"

#include <math.h>

#include "base/error.h"
#include "base/wait.h"
#include "lab/experiment.h"

#define DRAW 8e-9   /* measured on two cores of 2.5 GHz; sums and samplers together */
#define BUDGET 0.25 /* seconds for all trials */

static double draws_of(const tacit_plan *plan)
{
    double n = 0;
    for (size_t i = 0; plan != NULL && i < tacit_plan_size(plan); i++) {
        const tacit_release *r = tacit_plan_release(plan, i);
        n += (double)r->steps * (double)r->dimension;
    }
    return n;
}

double tacit__lab_estimate(const tacit__lab_world *lab_worlds, const tacit_results *results,
                           size_t n_threads)
{
    TACIT__REQUIRE(lab_worlds != NULL && results != NULL && n_threads > 0);
    const tacit_experiment *e = results->experiment;
    const double start = tacit__now_seconds();
    double seconds = 0;
    for (size_t pair = 0; pair < e->n_pairs; pair++) {
        const tacit__world_agent *at = &e->pairs[pair];
        double jobs = 0, pace = 0;
        for (size_t job = pair; job < results->n_jobs; job += e->n_pairs)
            jobs += !results->jobs[job].done;
        if (jobs > 0 && !e->agents[at->agent].baseline && tacit__now_seconds() - start < BUDGET)
            pace = tacit__play_pace(&lab_worlds[at->world], at->agent, BUDGET / (double)e->n_pairs);
        seconds += jobs * fmax(DRAW * draws_of(results->parts[pair].plan),
                               pace * (double)e->facts.episodes);
    }
    return seconds / (double)n_threads;
}
