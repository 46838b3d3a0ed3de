/* See print_forecast.h. */
#include "cli/print_forecast.h"

#include <stdio.h>

static void print_agent(const tacit_experiment *experiment, size_t world, const tacit_world *place,
                        size_t i)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
    const tacit_entry *entry = &facts->agents[i];
    tacit_agent *agent = NULL;
    tacit_forecast forecast;
    if (entry->yardstick || entry->guarantee.model == TACIT_MODEL_NONE ||
        entry->calibration == TACIT_CALIBRATION_FIGURE || /* its epsilon is a name only */
        !tacit_experiment_plays(experiment, world, i) ||
        tacit_experiment_agent(experiment, world, place, i, 0, &agent, NULL) != TACIT_OK)
        return;
    tacit_agent_forecast(agent, &forecast);
    if (forecast.outlook >= TACIT_OUTLOOK_BORDERLINE)
        (void)fprintf(stderr, "forecast: %s%s%s: %s\n", entry->label,
                      facts->n_worlds > 1 ? " in " : "",
                      facts->n_worlds > 1 ? facts->worlds[world].label : "", forecast.words);
    tacit_agent_destroy(agent);
}

void cli_forecast_print(const tacit_experiment *experiment)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
    for (size_t w = 0; w < facts->n_worlds; w++) {
        tacit_world *world = NULL;
        if (tacit_experiment_world(experiment, w, &world, NULL) != TACIT_OK)
            return;
        const tacit_world_facts *space = tacit_world_describe(world);
        if (space->family == TACIT_WORLD_BANDIT)
            for (size_t i = 0; i < facts->n_agents; i++)
                print_agent(experiment, w, world, i);
        tacit_world_destroy(world);
    }
}
