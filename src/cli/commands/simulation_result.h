/* The result of simulated users: how many, how fast, what they earned; as a line of text or as JSON. */
#ifndef TACIT_CLI_SIMULATION_RESULT_H
#define TACIT_CLI_SIMULATION_RESULT_H

#include "cli/commands/simulated_people.h"

typedef struct cli_simulation {
    uint64_t done, failures, requests;
    uint64_t full,
        late; /* told, but not learned from: no budget is left, or the model had been replaced */
    double seconds, sum_ms, slowest_ms; /* of answers: together, and the slowest */
    cli_score score;
} cli_simulation;

/* Returns and regret are in the world's own units; what the world cannot tell is null, or left out. */
void cli_simulation_print(const cli_simulation *t, const tacit_world *world, bool json);

#endif
