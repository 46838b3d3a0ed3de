/* The hot paths of tabular worlds beside their floors, measured in turns in the same run.
 *
 * Walks: transitions a second, and the share of the time that the random words alone take. Values: one exact
 * evaluation of a policy, and one solution, beside the flops that the outcomes ask for, 2 horizon n, at the rate
 * of one multiplication and one addition a cycle of a plain dense dot product measured here. */
#include <stdint.h>

#include "harness.h"
#include "noise/stream.h"
#include "worlds/kind.h"
#include "worlds/walk.h"

enum { ROUNDS = 7 };

/* Results go here, so that nothing measured can be left out. */
static volatile double sink;
static double flops_per_second; /* of a dense dot product that fits into the first-level cache */

static void measure_flops(void)
{
    enum { N = 512, REPEATS = 20000 };
    static double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = 1.0 / (i + 1);
        y[i] = i;
    }
    const int repeats = (int)bench_times(REPEATS);
    double best = 1e9;
    for (int round = 0; round < (int)bench_times(ROUNDS); round++) {
        double start = bench_now();
        for (int k = 0; k < repeats; k++) {
            double part[4] = {0, 0, 0, 0};
            x[0] = k;
            for (int i = 0; i < N; i += 4)
                for (int j = 0; j < 4; j++)
                    part[j] += x[i + j] * y[i + j];
            sink = (part[0] + part[1]) + (part[2] + part[3]);
        }
        double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    flops_per_second = 2.0 * N * repeats / best;
}

static void bench_walks(const char *label, const tacit_world *world, const uint32_t *policy)
{
    const tacit_world_facts *facts = tacit_world_describe(world);
    size_t H = facts->horizon;
    tacit_error err;
    tacit_noise *noise;
    tacit_walk *walk;
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_walk_create(world, noise, &walk, &err), &err);
    uint32_t *states = calloc(H + 1, sizeof *states), *actions = calloc(H, sizeof *actions);
    double *rewards = calloc(H, sizeof *rewards), walk_best = 1e9, word_best = 1e9;
    uint64_t *words = calloc(walk->n_words, sizeof *words);
    uint64_t episodes = bench_times(4000000 / H + 1), episode = 0;
    for (int round = 0; round < (int)bench_times(ROUNDS); round++) {
        double start = bench_now(), total = 0;
        for (uint64_t k = 0; k < episodes; k++) {
            bench_check(tacit_walk_play(walk, episode++, policy, states, actions, rewards), NULL);
            total += rewards[H - 1];
        }
        double seconds = bench_now() - start;
        walk_best = seconds < walk_best ? seconds : walk_best;
        sink = total;
        start = bench_now();
        for (uint64_t k = 0; k * walk->group < episodes; k++)
            tacit__site_words(&walk->world.site, k, 0, walk->n_words, words);
        seconds = bench_now() - start;
        word_best = seconds < word_best ? seconds : word_best;
    }
    double n = (double)episodes * (double)H;
    printf("{\"walk\": \"%s\", \"transitions_per_second\": %.3g, \"ns\": %.2f, \"words_ns\": %.2f, "
           "\"of_words\": %.2f}\n",
           label, n / walk_best, 1e9 * walk_best / n, 1e9 * word_best / n, walk_best / word_best);
    free(states);
    free(actions);
    free(rewards);
    free(words);
    tacit_walk_destroy(walk);
    tacit_noise_destroy(noise);
}

/* Outcomes of all rows that a policy uses, over the horizon. */
static double outcomes_of(const tacit__mdp *mdp, const uint32_t *policy)
{
    double n = 0;
    for (size_t h = 0; h < mdp->horizon; h++)
        for (size_t s = 0; s < mdp->n_states; s++) {
            size_t layer = mdp->n_layers == 1 ? 0 : h;
            size_t row =
                (layer * mdp->n_states + s) * mdp->n_actions + policy[h * mdp->n_states + s];
            n += mdp->start[row + 1] - mdp->start[row];
        }
    return n;
}

static void bench_values(const char *label, const tacit_world *world, uint32_t *policy)
{
    const tacit__mdp *mdp = tacit__world_mdp(world);
    double *scratch = calloc(tacit_world_scratch(world), sizeof *scratch);
    double evaluate_n = outcomes_of(mdp, policy);
    double solve_n = (double)mdp->n_outcomes * (double)(mdp->n_layers == 1 ? mdp->horizon : 1);
    const int evaluations = (int)bench_times((uint64_t)(4e7 / evaluate_n) + 1),
              solutions = (int)bench_times((uint64_t)(4e7 / solve_n) + 1);
    double evaluate_best = 1e9, solve_best = 1e9, value, err_value = 0;
    for (int round = 0; round < (int)bench_times(ROUNDS); round++) {
        double start = bench_now();
        for (int k = 0; k < evaluations; k++) {
            bench_check(tacit_world_evaluate(world, policy, scratch, &value), NULL);
            err_value += value;
        }
        double seconds = bench_now() - start;
        evaluate_best = seconds < evaluate_best ? seconds : evaluate_best;
        start = bench_now();
        for (int k = 0; k < solutions; k++)
            err_value += tacit__mdp_solve(mdp, policy, NULL, scratch);
        seconds = bench_now() - start;
        solve_best = seconds < solve_best ? seconds : solve_best;
    }
    sink = err_value;
    double evaluate_seconds = evaluate_best / evaluations, solve_seconds = solve_best / solutions;
    printf("{\"values\": \"%s\", \"evaluations_per_second\": %.4g, \"evaluate_us\": %.3f, "
           "\"of_flop_floor\": %.2f, \"solve_us\": %.3f, \"solve_of_flop_floor\": %.2f}\n",
           label, 1 / evaluate_seconds, 1e6 * evaluate_seconds,
           evaluate_seconds / (2 * evaluate_n / flops_per_second), 1e6 * solve_seconds,
           solve_seconds / (2 * solve_n / flops_per_second));
    free(scratch);
}

static void bench_world(const char *label, const char *kind, const tacit_setting *settings,
                        size_t n)
{
    tacit_error err;
    tacit_world *world;
    tacit_world_request request = {.kind = kind, .settings = settings, .n_settings = n};
    double start = bench_now();
    bench_check(tacit_world_create(&request, &world, &err), &err);
    double creation = bench_now() - start;
    const tacit_world_facts *facts = tacit_world_describe(world);
    size_t S = facts->n_states, H = facts->horizon;
    uint32_t *policy = calloc(H * S, sizeof *policy);
    double *values = calloc((H + 1) * S, sizeof *values);
    bench_check(tacit_world_solve(world, policy, values, &err), &err);
    printf("{\"world\": \"%s\", \"states\": %zu, \"actions\": %zu, \"horizon\": %zu, \"outcomes\": "
           "%zu, "
           "\"create_ms\": %.2f, \"optimal_value\": %.9g}\n",
           label, S, facts->n_actions, H, tacit__world_mdp(world)->n_outcomes, 1e3 * creation,
           facts->optimal_value);
    bench_walks(label, world, policy);
    bench_values(label, world, policy);
    free(policy);
    free(values);
    tacit_world_destroy(world);
}

int main(int argc, char **argv)
{
    static const tacit_setting sparse[] = {
        {"states", "1000", 0}, {"actions", "8", 0}, {"branching", "10", 0}, {"horizon", "20", 0}};
    static const tacit_setting dense[] = {{"states", "100", 0}, {"actions", "4", 0}};
    static const tacit_setting large[] = {{"map", "8x8", 0}, {"horizon", "50", 0}};
    bench_begin(&argc, argv);
    measure_flops();
    printf("{\"dense_dot_gflops\": %.2f}\n", 1e-9 * flops_per_second);
    bench_world("riverswim", "riverswim", NULL, 0);
    bench_world("grid 8x8", "grid", large, 2);
    bench_world("deep-sea", "deep-sea", NULL, 0);
    bench_world("random 100 dense", "random-tabular", dense, 2);
    bench_world("random 1000 sparse", "random-tabular", sparse, 4);
    return 0;
}
