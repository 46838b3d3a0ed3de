/* A world of one's own: a counter with a queue, registered with the library and used in an experiment like any other.
 *
 * Up to `room` people wait. In each step one more arrives with probability `arrivals`, and the clerk works slowly, which is
 * free and serves somebody with probability 0.4, or fast, which costs 0.3 and serves with probability 0.8. Every step pays
 * 1 minus half the share of the room that is full minus the cost, so a good clerk hurries when it matters.
 *
 * What a world needs is its parameters and a function that lists, for each state and action, what may happen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>
#include <tacit/plugin.h>

enum { ROOM, ARRIVALS, HORIZON, N_PARAMETERS };

static const tacit_parameter parameters[N_PARAMETERS] = {
    [ROOM] = {"room", TACIT_PARAMETER_INTEGER, "5", 1, 1000, "people who can wait"},
    [ARRIVALS] = {"arrivals", TACIT_PARAMETER_REAL, "0.5", 0, 1, "probability of one in a step"},
    [HORIZON] = {"horizon", TACIT_PARAMETER_INTEGER, "12", 1, 1000, "steps in an episode"},
};

static const tacit_world_kind queue_kind = {
    .name = "queue",
    .help = "a counter with a queue: hurry, at a price, or let people wait",
    .source = "examples/own_world.c",
    .parameters = parameters,
    .n_parameters = N_PARAMETERS,
};

typedef struct queue {
    uint32_t room;
    double arrivals;
} queue;

/* States are lengths of the queue; action 0 is slow, 1 is fast. */
static size_t row(void *context, size_t step, uint32_t waiting, uint32_t action, tacit_outcome *out)
{
    const queue *q = context;
    const double served = action == 1 ? 0.8 : 0.4, cost = action == 1 ? 0.3 : 0;
    const double reward = 1 - (double)waiting / (2 * (double)q->room) - cost;
    size_t n = 0;
    (void)step;
    for (int leaves = 0; leaves <= 1; leaves++)
        for (int comes = 0; comes <= 1; comes++) {
            uint32_t next = waiting - (leaves && waiting > 0);
            next = comes && next < q->room ? next + 1 : next;
            out[n++] = (tacit_outcome){.next = next,
                                       .prob = (leaves ? served : 1 - served) *
                                               (comes ? q->arrivals : 1 - q->arrivals),
                                       .reward = reward};
        }
    return n;
}

static tacit_status make_queue(const tacit_value *values, tacit_process *out, tacit_error *err)
{
    (void)err;
    queue *q = malloc(sizeof *q);
    if (q == NULL)
        return TACIT_NO_MEMORY;
    *q = (queue){(uint32_t)values[ROOM].integer, values[ARRIVALS].real};
    *out = (tacit_process){.n_states = q->room + 1,
                           .n_actions = 2,
                           .horizon = (size_t)values[HORIZON].integer,
                           .stationary = true,
                           .reward_high = 1,
                           .row_max = 4,
                           .row = row,
                           .context = q,
                           .release = free};
    return TACIT_OK;
}

/* From here on it is a world like any other. */
static const char experiment_text[] = "title: A queue\n"
                                      "worlds: [{kind: queue, room: [3, 6]}]\n"
                                      "episodes: 5000\n"
                                      "runs: 2\n"
                                      "agents:\n"
                                      "  - {kind: ucbvi}\n"
                                      "  - kind: dp-ucbvi\n"
                                      "    privacy: {model: joint, epsilon: 5}\n"
                                      "  - {kind: uniform}\n";

static int fail(const tacit_error *err)
{
    (void)fprintf(stderr, "own_world: %s\n", err->message);
    return 1;
}

/* As a plug-in: cc -shared -fPIC own_world.c -o own_world.so $(pkg-config --cflags tacit), then
 * tacit run experiment.yaml --load ./own_world.so */
static tacit_status load(tacit_error *err)
{
    return tacit_world_register(&queue_kind, make_queue, err);
}
TACIT_PLUGIN(load)

int main(void)
{
    tacit_error err = {0};
    tacit_experiment *experiment = NULL;
    tacit_results *results = NULL;
    if (load(&err) != TACIT_OK ||
        tacit_experiment_parse(experiment_text, strlen(experiment_text), "own_world", NULL,
                               &experiment, &err) != TACIT_OK ||
        tacit_lab_run(experiment, NULL, &results, &err) != TACIT_OK)
        return fail(&err);
    const tacit_experiment_facts *facts = tacit_results_describe(results);
    int status = 0;
    for (size_t w = 0; w < facts->n_worlds; w++) {
        (void)printf("%s: the best clerk is worth %.3f an episode\n", facts->worlds[w].label,
                     tacit_results_optimal_value(results, w));
        for (size_t a = 0; a < facts->n_agents; a++)
            (void)printf("  %-10s regret %8.1f\n", facts->agents[a].label,
                         tacit_results_summary(results, w, a).regret_mean);
        /* Whoever learns should do better than whoever does not. */
        if (tacit_results_summary(results, w, 0).regret_mean >
            tacit_results_summary(results, w, 2).regret_mean)
            status = 1;
    }
    tacit_results_destroy(results);
    tacit_experiment_destroy(experiment);
    return status;
}
