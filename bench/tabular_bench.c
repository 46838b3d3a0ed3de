/* Episodes a second of the tabular learners, exact regret included, beside what they cannot do without: the noise
 * draws of an episode and the planning of the learner without privacy, both measured in the same run. The bar
 * for private learners is 2.5 times their sum. Also: the price of 1,000 against 100,000 episodes (none), and memory. */
#include <math.h>

#include "episodes.h"

typedef struct row {
    const char *title, *kind, *pooled;
    tacit_guarantee guarantee;
    uint64_t episodes;
} row;

/* Seconds for an episode. */
static double run(const tacit_world *world, const row *r, uint64_t episodes)
{
    const tacit_setting pooled = {.key = "pooled", .value = r->pooled};
    tacit_agent_request request = bench_request(world, r->kind, r->guarantee, r->episodes);
    request.settings = &pooled;
    request.n_settings = 1;
    return bench_episodes(world, &request, episodes, 1);
}

/* The row beside its floor. Both in turns and the best of each: the machine may be shared. */
static void print(const tacit_world *world, const row *r, uint64_t episodes, const row *plain,
                  uint64_t plain_episodes)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    size_t tables = strcmp(r->pooled, "yes") == 0 ? 1 : f->horizon;
    size_t moves = (tables > 1 ? tables - 1 : 1) * f->n_states; /* no value follows the last step */
    size_t cells = f->n_states * f->n_actions * (2 * tables + moves);
    bool private = r->guarantee.model != TACIT_MODEL_NONE;
    double planning = HUGE_VAL, draws = private ? HUGE_VAL : 0, seconds = HUGE_VAL;
    for (int round = 0; round < 5; round++) {
        planning = fmin(planning, run(world, plain, plain_episodes));
        if (private)
            draws = fmin(draws, bench_draws(cells, r->guarantee.delta > 0 ? TACIT__GAUSSIAN
                                                                          : TACIT__LAPLACE));
        seconds = fmin(seconds, run(world, r, episodes));
    }
    double floor = planning + draws;
    printf("{\"learner\": \"%s\", \"states\": %zu, \"pooled\": \"%s\", \"draws\": %zu, "
           "\"episodes_per_second\": %.0f, "
           "\"floor_us\": %.2f, \"us\": %.2f, \"of_floor\": %.2f, \"memory_mb\": %.0f}\n",
           r->title, f->n_states, r->pooled, private ? cells : 0, 1 / seconds, 1e6 * floor,
           1e6 * seconds, seconds / floor, bench_megabytes());
    fflush(stdout);
}

int main(void)
{
    const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 2e-6};
    const tacit_guarantee pure = {TACIT_MODEL_JOINT, 1, 0}, local = {TACIT_MODEL_LOCAL, 1, 2e-6};
    const uint64_t many = 1000000;
    bench_header("tabular");
    tacit_world *river = bench_world("riverswim", NULL, 0);
    for (int pooled = 0; pooled < 2; pooled++) {
        const char *text = pooled ? "yes" : "no";
        row ucbvi = {"ucbvi", "ucbvi", text, none, many};
        print(river, &ucbvi, 1000, &ucbvi, 10000);
        print(river, &ucbvi, 100000, &ucbvi, 10000);
        const row rows[] = {{"dp-ucbvi joint", "dp-ucbvi", text, joint, many},
                            {"dp-ucbvi joint pure", "dp-ucbvi", text, pure, many},
                            {"dp-ucbvi local", "dp-ucbvi", text, local, many},
                            {"private-ucb-vi joint", "private-ucb-vi", text, joint, many},
                            {"private-ucb-po joint", "private-ucb-po", text, joint, many},
                            {"pucb joint", "pucb", text, joint, many}};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            print(river, &rows[i], pooled ? 10000 : 3000, &ucbvi, 10000);
    }
    tacit_world_destroy(river);
    const tacit_setting size[] = {{.key = "states", .value = "100"},
                                  {.key = "actions", .value = "4"},
                                  {.key = "horizon", .value = "20"}};
    tacit_world *large = bench_world("random-tabular", size, 3);
    row ucbvi = {"ucbvi", "ucbvi", "no", none, 1000},
        dp = {"dp-ucbvi joint", "dp-ucbvi", "no", joint, 1000};
    print(large, &dp, 30, &ucbvi, 30);
    tacit_world_destroy(large);
    return 0;
}
