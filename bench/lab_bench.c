/* What the laboratory costs: the same jobs played by a plain loop and by tacit_lab_run, without and with results on disk,
 * in turns, in processor time of the whole process. The bar is 2 % above the loop. Also the memory at the end, and with
 * ten times the episodes. */
#include <math.h>
#include <unistd.h>

#include <tacit/lab.h>

#include "harness.h"
#include "lab/experiment.h"
#include "lab/runs/seed.h"

enum { TURNS = 5 };

static const char text[] = "world: {kind: riverswim, states: 6, horizon: 20}\n"
                           "runs: 3\n"
                           "agents:\n"
                           "  - {kind: ucbvi}\n"
                           "  - {label: j, kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n"
                           "  - {label: l, kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}\n";

static tacit_experiment *parse(uint64_t episodes)
{
    tacit_experiment *e = NULL;
    tacit_error err = {0};
    const tacit_experiment_changes changes = {.episodes = episodes};
    bench_check(tacit_experiment_parse(text, strlen(text), "bench", &changes, &e, &err), &err);
    return e;
}

/* One job, as short as it can be said: look, act, tell, and add up what it cost. */
static double play(const tacit_experiment *e, const tacit_world *world, size_t agent, uint64_t run)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    tacit_error err = {0};
    tacit_agent *learner = NULL;
    tacit_walk *walk = NULL;
    tacit_noise *noise = NULL;
    bench_check(tacit_experiment_agent(e, 0, world, agent, run, &learner, &err), &err);
    bench_check(tacit__seed_world(e->facts.seed, run, e->names[0].key, &noise), NULL);
    bench_check(tacit_walk_create(world, noise, &walk, &err), &err);
    uint32_t *states = calloc(f->horizon + 1, sizeof *states),
             *actions = calloc(f->horizon, sizeof *actions);
    double *rewards = calloc(f->horizon, sizeof *rewards),
           *scratch = calloc(tacit_world_scratch(world), sizeof *scratch), value = 0, regret = 0;
    uint64_t version = 0;
    for (uint64_t k = 0; k < e->facts.episodes; k++) {
        tacit_billboard board;
        bench_check(tacit_agent_plan(learner, &board, &err), &err);
        if (k == 0 || board.version != version)
            bench_check(tacit_world_evaluate(world, board.policy, scratch, &value), NULL);
        version = board.version;
        bench_check(tacit_walk_play(walk, k, board.policy, states, actions, rewards), NULL);
        const tacit_trajectory user = {.states = states, .actions = actions, .rewards = rewards};
        bench_check(tacit_agent_learn(learner, &user, &err), &err);
        regret += f->optimal_value - value;
    }
    free(states);
    free(actions);
    free(rewards);
    free(scratch);
    tacit_walk_destroy(walk);
    tacit_noise_destroy(noise);
    tacit_agent_destroy(learner);
    return regret;
}

static double plain_loop(const tacit_experiment *e, double *regret)
{
    tacit_world *world = NULL;
    tacit_error err = {0};
    double start = bench_now();
    bench_check(tacit_experiment_world(e, 0, &world, &err), &err);
    *regret = 0;
    for (uint64_t run = 0; run < e->facts.runs; run++)
        for (size_t agent = 0; agent < e->facts.n_agents; agent++)
            *regret += play(e, world, agent, run);
    tacit_world_destroy(world);
    return bench_now() - start;
}

static double laboratory(const tacit_experiment *e, const char *directory, double *regret)
{
    tacit_results *results = NULL;
    tacit_error err = {0};
    const tacit_lab_options options = {
        .n_threads = 1, .directory = directory, .mode = TACIT_LAB_REPLACE};
    double start = bench_now();
    bench_check(tacit_lab_run(e, &options, &results, &err), &err);
    double seconds = bench_now() - start;
    *regret = 0;
    for (size_t agent = 0; agent < e->facts.n_agents; agent++)
        for (uint64_t run = 0; run < e->facts.runs; run++)
            *regret += tacit_results_job(results, 0, agent, run)->regret;
    tacit_results_destroy(results);
    return seconds;
}

static void measure(uint64_t episodes, const char *directory)
{
    tacit_experiment *e = parse(episodes);
    const size_t turns = bench_times(TURNS);
    double loop[TURNS], memory[TURNS], disk[TURNS], expected, found, worst = 0;
    for (size_t i = 0; i < turns; i++) {
        loop[i] = plain_loop(e, &expected);
        memory[i] = laboratory(e, NULL, &found) / loop[i];
        worst = fmax(worst, fabs(found / expected - 1));
        disk[i] = laboratory(e, directory, &found) / loop[i];
        worst = fmax(worst, fabs(found / expected - 1));
    }
    printf("{\"figure\": \"laboratory against a plain loop\", \"episodes\": %llu, \"jobs\": %llu, "
           "\"loop_seconds\": %.3f, \"in_memory\": %.4f, \"on_disk\": %.4f, \"bar\": 1.02, "
           "\"regrets_differ_by\": %.1e}\n",
           (unsigned long long)episodes, (unsigned long long)e->facts.n_jobs,
           bench_quantile(loop, turns, 0.5), bench_quantile(memory, turns, 0.5),
           bench_quantile(disk, turns, 0.5), worst);
    tacit_experiment_destroy(e);
}

int main(int argc, char **argv)
{
    char box[] = "/tmp/tacit-lab-bench-XXXXXX", path[64];
    bench_begin(&argc, argv);
    if (mkdtemp(box) == NULL)
        return 3;
    measure(bench_times(50000), box);
    double before = bench_megabytes(), ignored;
    tacit_experiment *e = parse(bench_times(500000));
    (void)laboratory(e, box, &ignored);
    printf("{\"figure\": \"memory\", \"megabytes\": %.1f, \"with_ten_times_the_episodes\": %.1f}\n",
           before, bench_megabytes());
    tacit_experiment_destroy(e);
    snprintf(path, sizeof path, "%s/results.db", box);
    unlink(path);
    return rmdir(box) == 0 ? 0 : 3;
}
