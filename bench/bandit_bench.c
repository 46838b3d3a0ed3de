/* Bandit learners: rounds per second, and what a run of CAPRI costs. One JSON line for each figure, with the floor that
 * it must keep ("least" for rates, "most" for seconds and megabytes).
 *
 *     bandit_bench          everything but the large run
 *     bandit_bench large    CAPRI with a million users on 100 x 100 pairs, rank cap 1000, as well */
#include <math.h>

#include "episodes.h"

typedef struct result {
    double seconds, regret;
} result;

/* Plays `rounds` of `users` declared ones. Seconds of the learner alone: plan, act, learn. */
static result play(const tacit_world *world, const char *kind, tacit_guarantee g, uint64_t users,
                   uint64_t rounds, const tacit_setting *settings, size_t n)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    tacit_agent_request request = bench_request(world, kind, g, users);
    request.settings = settings;
    request.n_settings = n;
    enum { GROUP = 1024 }; /* contexts are drawn outside of the clock */
    static uint32_t states[GROUP];
    static double chances[GROUP];
    tacit_noise *noise;
    tacit_agent *agent;
    tacit_rounds *crowd;
    tacit_error err = {0};
    result r = {0};
    rounds = bench_times(rounds);
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_rounds_create(world, noise, &crowd, &err), &err);
    double start = bench_now();
    bench_check(tacit_agent_create(&request, noise, &agent, &err), &err);
    r.seconds += bench_now() - start;
    tacit_noise_destroy(noise);
    for (uint64_t first = 0; first < rounds; first += GROUP) {
        uint64_t m = rounds - first < GROUP ? rounds - first : GROUP;
        tacit_visitor v;
        for (uint64_t i = 0; i < m; i++) {
            bench_check(tacit_rounds_begin(crowd, first + i, &v), NULL);
            states[i] = v.state;
            chances[i] = tacit_rounds_chance(crowd);
        }
        start = bench_now();
        for (uint64_t i = 0; i < m; i++) {
            tacit_billboard board;
            uint32_t action;
            double probability, mean, best = 0;
            bench_check(tacit_agent_plan(agent, &board, &err), &err);
            const tacit_situation where = {.state = states[i]};
            bench_check(tacit_agent_act(agent, &where, chances[i], &action, &probability, &err),
                        &err);
            /* the mean as the reward: cheap, and enough to learn from */
            bench_check(tacit_rounds_begin(crowd, first + i, &v), NULL);
            mean = v.means[action];
            for (size_t a = 0; a < f->n_actions; a++)
                best = fmax(best, v.means[a]);
            r.regret += best - mean;
            const tacit_trajectory user = {
                .states = &states[i], .actions = &action, .rewards = &mean};
            bench_check(tacit_agent_learn(agent, &user, &err), &err);
        }
        r.seconds += bench_now() - start;
    }
    tacit_agent_destroy(agent);
    tacit_rounds_destroy(crowd);
    return r;
}

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-7},
                             local = {TACIT_MODEL_LOCAL, 5, 1e-7};

static void bench_lin_ucb(void)
{
    static const struct {
        const char *title, *arms, *growth;
        const tacit_guarantee *g;
        uint64_t rounds;
        double least;
    } rows[] = {{"none", "shared", NULL, &none, 300000, 300000},
                {"joint", "shared", NULL, &joint, 300000, 100000},
                {"joint, news after every user", "shared", "1", &joint, 50000, 0},
                {"local", "shared", NULL, &local, 100000, 100000},
                {"none", "disjoint", NULL, &none, 100000, 0},
                {"joint", "disjoint", NULL, &joint, 100000, 0},
                {"local", "disjoint", NULL, &local, 10000, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tacit_setting settings[] = {{.key = "d", .value = "20"},
                                          {.key = "actions", .value = "20"},
                                          {.key = "arms", .value = rows[i].arms},
                                          {.key = "contexts", .value = "500"}};
        const tacit_setting growth = {.key = "growth", .value = rows[i].growth};
        tacit_world *world = bench_world("linear-bandit", settings, 4);
        result r = play(world, "lin-ucb", *rows[i].g, 1000000, rows[i].rounds, &growth,
                        rows[i].growth != NULL);
        printf("{\"learner\": \"lin-ucb\", \"d\": 20, \"actions\": 20, \"arms\": \"%s\", "
               "\"model\": \"%s\", \"rounds_per_second\": %.0f, \"least\": %.0f, "
               "\"regret\": %.1f}\n",
               rows[i].arms, rows[i].title, (double)rows[i].rounds / r.seconds, rows[i].least,
               r.regret);
        fflush(stdout);
        tacit_world_destroy(world);
    }
}

static void bench_capri(void)
{
    static const char *const kernels[] = {"se(0.2)", "matern-2.5(0.2)"};
    static const struct {
        const char *title;
        const tacit_guarantee *g;
    } rows[] = {{"none", &none}, {"joint", &joint}, {"local", &local}};
    for (size_t k = 0; k < 2; k++) {
        const tacit_setting settings[] = {{.key = "kernel", .value = kernels[k]}};
        tacit_world *world = bench_world("kernel-bandit", settings, 1);
        for (size_t i = 0; i < 3; i++) {
            result r = play(world, "capri", *rows[i].g, 20000, 20000, NULL, 0);
            printf(
                "{\"learner\": \"capri\", \"pairs\": 900, \"kernel\": \"%s\", \"model\": \"%s\", "
                "\"users\": 20000, \"seconds\": %.2f, \"most\": 3, \"regret\": %.1f}\n",
                kernels[k], rows[i].title, r.seconds, r.regret);
            fflush(stdout);
        }
        tacit_world_destroy(world);
    }
}

static void bench_gp(void)
{
    static const char *const sizes[] = {"10", "20", "30", "40", "50"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const tacit_setting settings[] = {{.key = "contexts", .value = sizes[i]},
                                          {.key = "actions", .value = sizes[i]}};
        tacit_world *world = bench_world("kernel-bandit", settings, 2);
        size_t n = tacit_world_describe(world)->n_states * tacit_world_describe(world)->n_actions;
        result r = play(world, "gp-ucb", none, 2000, 1000, NULL, 0);
        printf("{\"learner\": \"gp-ucb\", \"pairs\": %zu, \"us_per_round\": %.1f, "
               "\"ns_per_round_and_pair_squared\": %.3f}\n",
               n, 1e3 * r.seconds, 1e6 * r.seconds / (double)n / (double)n);
        fflush(stdout);
        tacit_world_destroy(world);
    }
}

static void bench_large(void)
{
    static const tacit_setting settings[] = {{.key = "contexts", .value = "100"},
                                             {.key = "actions", .value = "100"},
                                             {.key = "kernel", .value = "matern-2.5(0.1)"}},
                               rank = {.key = "rank", .value = "1000"};
    tacit_world *world = bench_world("kernel-bandit", settings, 3);
    result r = play(world, "capri", joint, 1000000, 1000000, &rank, 1);
    printf("{\"learner\": \"capri\", \"pairs\": 10000, \"kernel\": \"matern-2.5(0.1)\", \"model\": "
           "\"joint\", \"rank\": 1000, \"users\": 1000000, \"seconds\": %.1f, \"most\": 120, "
           "\"memory_mb\": %.0f, \"most_mb\": 2048, \"regret\": %.1f}\n",
           r.seconds, bench_megabytes(), r.regret);
    tacit_world_destroy(world);
}

int main(int argc, char **argv)
{
    bench_begin(&argc, argv);
    bench_lin_ucb();
    bench_capri();
    bench_gp();
    if (argc > 1 && strcmp(argv[1], "large") == 0)
        bench_large();
    return 0;
}
