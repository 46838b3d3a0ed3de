/* Episodes a second of the tabular learners, exact regret included, beside what they cannot do without: the noise
 * draws of an episode and the planning of the learner without privacy, both measured in the same run. The bar
 * for private learners is 2.5 times their sum. Also: the price of 1,000 against 100,000 episodes (none), and memory. */
#include <math.h>
#include <sys/resource.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "bench.h"
#include "noise/sampler.h"

typedef struct row {
    const char *title, *kind, *pooled;
    tacit_guarantee guarantee;
    uint64_t episodes;
} row;

static tacit_world *make_world(const char *kind, const tacit_setting *settings, size_t n)
{
    tacit_world *world;
    tacit_error err;
    bench_check(tacit_world_create(
                    &(tacit_world_request){.kind = kind, .settings = settings, .n_settings = n},
                    &world, &err),
                &err);
    return world;
}

/* Seconds for an episode. */
static double run(const tacit_world *world, const row *r, uint64_t episodes)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    tacit_error err;
    tacit_noise *noise;
    tacit_agent *agent;
    tacit_walk *walk;
    tacit_setting pooled = {.key = "pooled", .value = r->pooled};
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_agent_create(&(tacit_agent_request){.kind = r->kind,
                                                          .settings = &pooled,
                                                          .n_settings = 1,
                                                          .guarantee = r->guarantee,
                                                          .n_states = f->n_states,
                                                          .n_actions = f->n_actions,
                                                          .horizon = f->horizon,
                                                          .stationary = f->stationary,
                                                          .episodes = r->episodes},
                                   noise, &agent, &err),
                &err);
    bench_check(tacit_walk_create(world, noise, &walk, &err), &err);
    uint32_t *states = calloc(f->horizon + 1, sizeof *states),
             *actions = calloc(f->horizon, sizeof *actions);
    double *rewards = calloc(f->horizon, sizeof *rewards);
    double *scratch = calloc(tacit_world_scratch(world), sizeof *scratch), value = 0, regret = 0;
    uint64_t version = 0;
    double start = bench_now();
    for (uint64_t k = 0; k < episodes; k++) {
        tacit_billboard board;
        bench_check(tacit_agent_plan(agent, &board, &err), &err);
        if (board.version != version) {
            bench_check(board.policy != NULL
                            ? tacit_world_evaluate(world, board.policy, scratch, &value)
                            : tacit_world_evaluate_mixed(world, board.mixed, scratch, &value),
                        NULL);
            version = board.version;
        }
        regret += f->optimal_value - value;
        bench_check(board.policy != NULL
                        ? tacit_walk_play(walk, k, board.policy, states, actions, rewards)
                        : tacit_walk_play_mixed(walk, k, board.mixed, states, actions, rewards),
                    NULL);
        bench_check(tacit_agent_learn(agent,
                                      &(tacit_trajectory){
                                          .states = states, .actions = actions, .rewards = rewards},
                                      &err),
                    &err);
    }
    double seconds = (bench_now() - start) / (double)episodes;
    tacit_walk_destroy(walk);
    tacit_agent_destroy(agent);
    tacit_noise_destroy(noise);
    free(states);
    free(actions);
    free(rewards);
    free(scratch);
    return regret >= 0 ? seconds : 0;
}

static double draw_seconds(size_t n, tacit__law law)
{
    tacit_noise *noise;
    tacit__site site;
    int64_t *x = calloc(n, sizeof *x);
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    tacit__site_open(&site, noise, "floor");
    size_t rounds = 2000000 / n + 1;
    double start = bench_now();
    for (size_t i = 0; i < rounds; i++)
        tacit__noise_draw(&site, i, 0, law, 0x1p28, n, x);
    double seconds = (bench_now() - start) / (double)rounds;
    tacit_noise_destroy(noise);
    free(x);
    return seconds;
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
            draws = fmin(draws, draw_seconds(cells, r->guarantee.delta > 0 ? TACIT__GAUSSIAN
                                                                           : TACIT__LAPLACE));
        seconds = fmin(seconds, run(world, r, episodes));
    }
    double floor = planning + draws;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"learner\": \"%s\", \"states\": %zu, \"pooled\": \"%s\", \"draws\": %zu, "
           "\"episodes_per_second\": %.0f, "
           "\"floor_us\": %.2f, \"us\": %.2f, \"of_floor\": %.2f, \"memory_mb\": %ld}\n",
           r->title, f->n_states, r->pooled, private ? cells : 0, 1 / seconds, 1e6 * floor,
           1e6 * seconds, seconds / floor, usage.ru_maxrss / 1024);
    fflush(stdout);
}

int main(void)
{
    const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 2e-6};
    const tacit_guarantee pure = {TACIT_MODEL_JOINT, 1, 0}, local = {TACIT_MODEL_LOCAL, 1, 2e-6};
    const uint64_t many = 1000000;
    bench_header("tabular");
    tacit_world *river = make_world("riverswim", NULL, 0);
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
    tacit_world *large = make_world("random-tabular", size, 3);
    row ucbvi = {"ucbvi", "ucbvi", "no", none, 1000},
        dp = {"dp-ucbvi joint", "dp-ucbvi", "no", joint, 1000};
    print(large, &dp, 30, &ucbvi, 30);
    tacit_world_destroy(large);
    return 0;
}
