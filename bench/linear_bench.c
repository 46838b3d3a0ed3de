/* Episodes a second of the learners for linear mixtures, exact regret included, beside what they cannot do without: the
 * products, factorizations and triangular solves of one plan, called alone on matrices of the same size, and the noise draws
 * of one user, both measured in the same run. `of_floor` is the learner's time in units of that. Also: the same learner after
 * 1,000 and after 100,000 episodes (no growth), and memory. */
#include <math.h>
#include <sys/resource.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "bench.h"
#include "linalg/symmetric.h"
#include "noise/sampler.h"

typedef struct row {
    const char *title, *kind;
    tacit_guarantee guarantee;
    uint64_t declared, episodes;
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

typedef struct desk {
    const tacit_world *world;
    const tacit_world_facts *facts;
    tacit_agent *agent;
    tacit_walk *walk;
    uint32_t *states, *actions;
    double *rewards, *scratch, value, regret;
    uint64_t version, episode;
} desk;

static desk open_desk(const tacit_world *world, const row *r)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    desk d = {.world = world, .facts = f};
    tacit_error err;
    tacit_noise *noise;
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_agent_create(&(tacit_agent_request){.kind = r->kind,
                                                          .guarantee = r->guarantee,
                                                          .n_states = f->n_states,
                                                          .n_actions = f->n_actions,
                                                          .horizon = f->horizon,
                                                          .stationary = f->stationary,
                                                          .mixture = f->mixture,
                                                          .linear = f->linear,
                                                          .rewards = f->rewards,
                                                          .episodes = r->declared},
                                   noise, &d.agent, &err),
                &err);
    bench_check(tacit_walk_create(world, noise, &d.walk, &err), &err);
    tacit_noise_destroy(noise);
    d.states = calloc(f->horizon + 1, sizeof *d.states);
    d.actions = calloc(f->horizon, sizeof *d.actions);
    d.rewards = calloc(f->horizon, sizeof *d.rewards);
    d.scratch = calloc(tacit_world_scratch(world), sizeof *d.scratch);
    return d;
}

static void close_desk(desk *d)
{
    tacit_walk_destroy(d->walk);
    tacit_agent_destroy(d->agent);
    free(d->states);
    free(d->actions);
    free(d->rewards);
    free(d->scratch);
}

/* Seconds for an episode. */
static double play(desk *d, uint64_t episodes)
{
    tacit_error err;
    tacit_trajectory user = {.states = d->states, .actions = d->actions, .rewards = d->rewards};
    double start = bench_now();
    for (uint64_t k = 0; k < episodes; k++) {
        tacit_billboard board;
        bench_check(tacit_agent_plan(d->agent, &board, &err), &err);
        bool mixed = board.mixed != NULL;
        if (board.version != d->version) {
            bench_check(
                mixed ? tacit_world_evaluate_mixed(d->world, board.mixed, d->scratch, &d->value)
                      : tacit_world_evaluate(d->world, board.policy, d->scratch, &d->value),
                NULL);
            d->version = board.version;
        }
        d->regret += d->facts->optimal_value - d->value;
        bench_check(mixed ? tacit_walk_play_mixed(d->walk, d->episode, board.mixed, d->states,
                                                  d->actions, d->rewards)
                          : tacit_walk_play(d->walk, d->episode, board.policy, d->states,
                                            d->actions, d->rewards),
                    NULL);
        d->episode++;
        bench_check(tacit_agent_learn(d->agent, &user, &err), &err);
    }
    return (bench_now() - start) / (double)episodes;
}

/* --- The floor ----------------------------------------------------------------------------------- */

/* Features of all pairs, one factorization, and one triangular solve, for every step of a plan. */
static double kernels_of_a_plan(const tacit_world_facts *f)
{
    size_t pairs = f->n_states * f->n_actions, steps = f->horizon - 1;
    bool dense = f->mixture != NULL;
    size_t width = dense ? f->mixture->dimension : f->n_states, blocks = dense ? 1 : pairs;
    size_t columns = dense ? pairs : 1;
    double *parts = calloc(dense ? f->n_states * width * pairs : 1, sizeof *parts);
    double *u = calloc(f->n_states, sizeof *u), *x = calloc(width * columns, sizeof *x);
    double *packed = calloc(tacit__packed_size(width), sizeof *packed);
    double *factor = calloc(width * width, sizeof *factor), *mean = calloc(columns, sizeof *mean);
    for (size_t i = 0; dense && i < f->n_states * width * pairs; i++)
        parts[i] = 1e-3 * (double)(i % 7);
    for (size_t s = 0; s < f->n_states; s++)
        u[s] = 0.5;
    size_t rounds = 1;
    double seconds = 0;
    while (seconds < 0.2) {
        rounds *= 2;
        double start = bench_now();
        for (size_t i = 0; i < rounds * steps; i++) {
            if (dense)
                tacit__combine_rows(f->n_states, width * pairs, parts, u, x);
            for (size_t b = 0; b < blocks; b++) {
                tacit__packed_expand(width, packed, 2, factor);
                if (!tacit__cholesky(width, factor))
                    exit(3);
                if (dense) {
                    tacit__combine_rows(width, pairs, x, factor, mean);
                    tacit__solve_lower_rows(width, pairs, factor, x);
                } else {
                    tacit__solve_lower(width, factor, x);
                }
            }
        }
        seconds = bench_now() - start;
    }
    double *arrays[] = {parts, u, x, packed, factor, mean};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    return seconds / (double)rounds;
}

static size_t numbers_of_a_user(const tacit_world_facts *f)
{
    size_t width = f->mixture != NULL ? f->mixture->dimension : f->n_states;
    size_t blocks = f->mixture != NULL ? 1 : f->n_states * f->n_actions;
    return (f->horizon - 1) * blocks * (tacit__packed_size(width) + width);
}

static double draws_of_a_user(size_t n)
{
    tacit_noise *noise;
    tacit__site site;
    int64_t *x = calloc(n, sizeof *x);
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    tacit__site_open(&site, noise, "floor");
    size_t rounds = 2000000 / n + 1;
    double start = bench_now();
    for (size_t i = 0; i < rounds; i++)
        tacit__noise_draw(&site, i, 0, TACIT__GAUSSIAN, 0x1p28, n, x);
    double seconds = (bench_now() - start) / (double)rounds;
    tacit_noise_destroy(noise);
    free(x);
    return seconds;
}

static void print(const tacit_world *world, const char *where, const row *r)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    bool private = r->guarantee.model != TACIT_MODEL_NONE;
    double kernels = kernels_of_a_plan(f);
    double draws = private ? draws_of_a_user(numbers_of_a_user(f)) : 0, floor = kernels + draws;
    desk d = open_desk(world, r);
    uint64_t first = r->episodes > 100000 ? 1000 : r->episodes / 10;
    double early = play(&d, first), late = play(&d, r->episodes - first);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"%s\", \"world\": \"%s\", \"episodes_per_second\": %.0f, \"us\": %.2f, "
           "\"kernels_us\": %.2f, \"draws_us\": %.2f, \"of_floor\": %.2f, \"share_of_kernels\": "
           "%.2f, \"early_us\": %.2f, \"memory_mb\": %ld}\n",
           r->title, where, 1 / late, 1e6 * late, 1e6 * kernels, 1e6 * draws, late / floor,
           kernels / late, 1e6 * early, usage.ru_maxrss / 1024);
    fflush(stdout);
    close_desk(&d);
}

int main(void)
{
    const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-5};
    const tacit_guarantee pure = {TACIT_MODEL_JOINT, 1, 0}, local = {TACIT_MODEL_LOCAL, 1, 1e-5};
    const uint64_t many = 1000000;
    bench_header("linear");
    const row small[] = {{"ucrl-vtr", "ucrl-vtr", none, many, 4000},
                         {"ucrl-vtr joint", "ucrl-vtr", joint, many, 2000},
                         {"ucrl-vtr local", "ucrl-vtr", local, many, 2000},
                         {"ucrl-vtr joint pure", "ucrl-vtr", pure, many, 2000},
                         {"ucrl-vtr-plus joint", "ucrl-vtr-plus", joint, many, 1000},
                         {"linopt-vi joint", "linopt-vi", joint, many, 1000},
                         {"linopt-po joint", "linopt-po", joint, many, 1000}};
    tacit_world *river = make_world("riverswim", NULL, 0);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        print(river, "riverswim, one-hot d = 72, H = 20", &small[i]);
    tacit_world_destroy(river);
    const tacit_setting five[] = {{.key = "actions", .value = "16"}};
    tacit_world *mixture = make_world("random-mixture", five, 1);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        row r = small[i];
        r.episodes = i < 2 ? 100000 : 10000;
        print(mixture, "random-mixture d = 5, S = 8, A = 16, H = 6", &r);
    }
    tacit_world_destroy(mixture);
    const tacit_setting wide[] = {{.key = "d", .value = "64"},
                                  {.key = "states", .value = "200"},
                                  {.key = "actions", .value = "8"},
                                  {.key = "horizon", .value = "10"}};
    tacit_world *large = make_world("random-mixture", wide, 4);
    const row rows[] = {{"ucrl-vtr", "ucrl-vtr", none, 1000, 20},
                        {"ucrl-vtr joint", "ucrl-vtr", joint, 1000, 20}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print(large, "random-mixture d = 64, S = 200, A = 8, H = 10", &rows[i]);
    tacit_world_destroy(large);
    return 0;
}
