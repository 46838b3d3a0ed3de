/* Episodes a second of the tabular learners, exact regret included, beside what they cannot do without: the noise
 * draws of a release and its planning (that of the learner without privacy), both measured in the same run. The bar
 * for learners that release after every user is 2.5 times their sum. Also: the price of 1,000 against 100,000
 * episodes (none), memory, and whole runs of learners that release rarely, whose floor is that of their releases. */
#include <math.h>

#include "episodes.h"

typedef struct row {
    const char *title, *kind, *pooled,
        *schedule; /* schedule: NULL if the learner has none, or its default */
    tacit_guarantee guarantee;
    uint64_t users;
} row;

/* An agent of this row: its request points to the settings, which have room for two. */
static tacit_agent_request request_of(const tacit_world *world, const row *r,
                                      tacit_setting settings[2])
{
    tacit_agent_request request = bench_request(world, r->kind, r->guarantee, r->users);
    settings[0] = (tacit_setting){.key = "pooled", .value = r->pooled};
    settings[1] = (tacit_setting){.key = "schedule", .value = r->schedule};
    request.settings = settings;
    request.n_settings = r->schedule ? 2 : 1;
    return request;
}

/* Seconds for an episode. */
static double run(const tacit_world *world, const row *r, uint64_t episodes)
{
    tacit_setting settings[2];
    tacit_agent_request request = request_of(world, r, settings);
    return bench_episodes(world, &request, episodes, 1);
}

/* How many numbers a release has, and how many releases the learner of this row declares. */
static size_t cells_of(const tacit_world *world, const row *r)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    size_t tables = strcmp(r->pooled, "yes") == 0 ? 1 : f->horizon;
    size_t moves = (tables > 1 ? tables - 1 : 1) * f->n_states; /* no value follows the last step */
    return f->n_states * f->n_actions * (2 * tables + moves);
}

static uint64_t releases_of(const tacit_world *world, const row *r)
{
    tacit_setting settings[2];
    tacit_agent_request request = request_of(world, r, settings);
    bench_run made = bench_run_open(world, &request);
    uint64_t steps = tacit_plan_release(tacit_agent_release_plan(made.agent), 0)->steps;
    bench_run_close(&made);
    return steps;
}

static tacit__noise_law law_of(const row *r)
{
    return r->guarantee.delta > 0 ? TACIT__GAUSSIAN : TACIT__LAPLACE;
}

static void print_row(const tacit_world *world, const row *r, size_t draws, double floor,
                      double seconds)
{
    printf("{\"learner\": \"%s\", \"states\": %zu, \"pooled\": \"%s\", \"draws\": %zu, "
           "\"episodes_per_second\": %.0f, "
           "\"floor_us\": %.2f, \"us\": %.2f, \"of_floor\": %.2f, \"memory_mb\": %.0f}\n",
           r->title, tacit_world_describe(world)->n_states, r->pooled, draws, 1 / seconds,
           1e6 * floor, 1e6 * seconds, seconds / floor, bench_megabytes());
    fflush(stdout);
}

/* A learner that releases after every user beside its floor. Both in turns and the best of each: the machine may
 * be shared. */
static void print(const tacit_world *world, const row *r, uint64_t episodes, const row *plain,
                  uint64_t plain_episodes)
{
    size_t cells = cells_of(world, r);
    bool private = r->guarantee.model != TACIT_MODEL_NONE;
    double planning = HUGE_VAL, draws = private ? HUGE_VAL : 0, seconds = HUGE_VAL;
    for (int round = 0; round < (int)bench_times(5); round++) {
        planning = fmin(planning, run(world, plain, plain_episodes));
        if (private)
            draws = fmin(draws, bench_draws(cells, law_of(r)));
        seconds = fmin(seconds, run(world, r, episodes));
    }
    print_row(world, r, private ? cells : 0, planning + draws, seconds);
}

/* A whole run of a learner that releases rarely and makes so many plans of a release. Draws and floor are those of
 * all releases, divided by the episodes. */
static void print_whole(const tacit_world *world, const row *r, size_t plans, const row *plain)
{
    size_t cells = cells_of(world, r);
    double share = (double)releases_of(world, r) / (double)r->users;
    double planning = HUGE_VAL, draws = HUGE_VAL, seconds = HUGE_VAL;
    for (int round = 0; round < (int)bench_times(2); round++) {
        planning = fmin(planning, run(world, plain, 30));
        draws = fmin(draws, bench_draws(cells, law_of(r)));
        seconds = fmin(seconds, run(world, r, r->users));
    }
    print_row(world, r, (size_t)(share * (double)cells), share * ((double)plans * planning + draws),
              seconds);
}

static void print_river(const tacit_world *river, const char *pooled)
{
    const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 2e-6};
    const tacit_guarantee pure = {TACIT_MODEL_JOINT, 1, 0}, local = {TACIT_MODEL_LOCAL, 1, 2e-6};
    const uint64_t many = 1000000;
    const row ucbvi = {"ucbvi", "ucbvi", pooled, NULL, none, many};
    print(river, &ucbvi, 1000, &ucbvi, 10000);
    print(river, &ucbvi, 100000, &ucbvi, 10000);
    const row rows[] = {{"dp-ucbvi joint", "dp-ucbvi", pooled, "every", joint, many},
                        {"dp-ucbvi joint pure", "dp-ucbvi", pooled, "every", pure, many},
                        {"dp-ucbvi local", "dp-ucbvi", pooled, NULL, local, many},
                        {"private-ucb-vi joint", "private-ucb-vi", pooled, "every", joint, many},
                        {"private-ucb-po joint", "private-ucb-po", pooled, "every", joint, many},
                        {"pucb joint", "pucb", pooled, "every", joint, many}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print(river, &rows[i], strcmp(pooled, "yes") == 0 ? 10000 : 3000, &ucbvi, 10000);
}

static void print_large(const tacit_world *large)
{
    const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 2e-6};
    const row ucbvi = {"ucbvi", "ucbvi", "no", NULL, none, 1000};
    const row every = {"dp-ucbvi joint", "dp-ucbvi", "no", "every", joint, 1000};
    const row growth = {
        "dp-ucbvi joint, 20,000 users, growth(1.2)", "dp-ucbvi", "no", "growth(1.2)", joint, 20000};
    const row own = {
        "posterior-tabular joint, 20,000 users", "posterior-tabular", "no", NULL, joint, 20000};
    print(large, &every, 30, &ucbvi, 30);
    print_whole(large, &growth, 1, &ucbvi);
    print_whole(large, &own, 16, &ucbvi); /* 16 plans of each release, its default */
}

int main(int argc, char **argv)
{
    bench_begin(&argc, argv);
    tacit_world *river = bench_world("riverswim", NULL, 0);
    print_river(river, "no");
    print_river(river, "yes");
    tacit_world_destroy(river);
    const tacit_setting size[] = {{.key = "states", .value = "100"},
                                  {.key = "actions", .value = "4"},
                                  {.key = "horizon", .value = "20"}};
    tacit_world *large = bench_world("random-tabular", size, 3);
    print_large(large);
    tacit_world_destroy(large);
    return 0;
}
