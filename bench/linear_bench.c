/* Episodes a second of the learners for linear mixtures, exact regret included, beside what they cannot do without: the
 * products, factorizations and triangular solves of one plan, called alone on matrices of the same size, the exponentials of a
 * soft policy, and the noise draws
 * of one user, both measured in the same run. `of_floor` is the learner's time in units of that. Also: the same learner after
 * 1,000 and after 100,000 episodes (no growth), and memory. */
#include <math.h>
#include <string.h>

#include "episodes.h"
#include "linalg/symmetric.h"

typedef struct row {
    const char *title, *kind;
    tacit_guarantee guarantee;
    uint64_t declared, episodes;
} row;

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
    while (seconds < bench_seconds(0.2)) {
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

/* Transitions, and for linopt the rewards of all pairs. */
static size_t numbers_of_a_user(const tacit_world_facts *f, bool rewards)
{
    size_t width = f->mixture != NULL ? f->mixture->dimension : f->n_states;
    size_t blocks = f->mixture != NULL ? 1 : f->n_states * f->n_actions;
    return (f->horizon - 1) * blocks * (tacit__packed_size(width) + width) +
           (rewards ? 2 * f->horizon * f->n_states * f->n_actions : 0);
}

/* Chances of all actions from their logits. */
static double softmax_of_a_plan(const tacit_world_facts *f)
{
    const size_t n = f->horizon * f->n_states * f->n_actions;
    double sum = 0, seconds = 0;
    size_t rounds = 1;
    while (seconds < bench_seconds(0.05)) {
        rounds *= 2;
        double start = bench_now();
        for (size_t i = 0; i < rounds * n; i++)
            sum += exp(-1e-3 * (double)(i % 4096));
        seconds = bench_now() - start;
    }
    return sum > 0 ? seconds / (double)rounds : 0;
}

static void print(const tacit_world *world, const char *where, const row *r)
{
    const tacit_world_facts *f = tacit_world_describe(world);
    bool private = r->guarantee.model != TACIT_MODEL_NONE;
    const bool twice = strcmp(r->kind, "ucrl-vtr-plus") == 0; /* two regressions */
    double kernels = (twice ? 2 : 1) * kernels_of_a_plan(f);
    if (strcmp(r->kind, "linopt-po") == 0)
        kernels += softmax_of_a_plan(f);
    double draws = private
                       ? (twice ? 2 : 1) *
                             bench_draws(numbers_of_a_user(f, strncmp(r->kind, "linopt", 6) == 0),
                                         TACIT__GAUSSIAN)
                       : 0,
           floor = kernels + draws;
    /* as in the papers: a release and a plan for every user */
    static const tacit_setting every = {.key = "schedule", .value = "every"};
    tacit_agent_request request = bench_request(world, r->kind, r->guarantee, r->declared);
    request.settings = &every;
    request.n_settings = 1;
    bench_run d = bench_run_open(world, &request);
    uint64_t first = r->episodes > 100000 ? 1000 : r->episodes / 10;
    double early = bench_run_play(&d, first, 1), late = bench_run_play(&d, r->episodes - first, 1);
    printf("{\"bench\": \"%s\", \"world\": \"%s\", \"episodes_per_second\": %.0f, \"us\": %.2f, "
           "\"kernels_us\": %.2f, \"draws_us\": %.2f, \"of_floor\": %.2f, \"share_of_kernels\": "
           "%.2f, \"early_us\": %.2f, \"memory_mb\": %.0f}\n",
           r->title, where, 1 / late, 1e6 * late, 1e6 * kernels, 1e6 * draws, late / floor,
           kernels / late, 1e6 * early, bench_megabytes());
    fflush(stdout);
    bench_run_close(&d);
}

int main(int argc, char **argv)
{
    const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-5};
    const tacit_guarantee pure = {TACIT_MODEL_JOINT, 1, 0}, local = {TACIT_MODEL_LOCAL, 1, 1e-5};
    const uint64_t many = 1000000;
    bench_begin(&argc, argv);
    const row small[] = {{"ucrl-vtr", "ucrl-vtr", none, many, 4000},
                         {"ucrl-vtr joint", "ucrl-vtr", joint, many, 2000},
                         {"ucrl-vtr local", "ucrl-vtr", local, many, 2000},
                         {"ucrl-vtr joint pure", "ucrl-vtr", pure, many, 2000},
                         {"ucrl-vtr-plus joint", "ucrl-vtr-plus", joint, many, 1000},
                         {"linopt-vi joint", "linopt-vi", joint, many, 1000},
                         {"linopt-po joint", "linopt-po", joint, many, 1000}};
    tacit_world *river = bench_world("riverswim", NULL, 0);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        print(river, "riverswim, one-hot d = 72, H = 20", &small[i]);
    tacit_world_destroy(river);
    const tacit_setting five[] = {{.key = "actions", .value = "16"}};
    tacit_world *mixture = bench_world("random-mixture", five, 1);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        row r = small[i];
        r.episodes = i < 2 ? 100000 : 10000;
        print(mixture, "random-mixture d = 5, S = 8, A = 16, H = 6", &r);
    }
    tacit_world_destroy(mixture);
    const tacit_setting wide[] = {{.key = "d", .value = "64"},
                                  {.key = "states", .value = bench_is_moment() ? "8" : "200"},
                                  {.key = "actions", .value = "8"},
                                  {.key = "horizon", .value = "10"}};
    tacit_world *large = bench_world("random-mixture", wide, 4);
    const row rows[] = {{"ucrl-vtr", "ucrl-vtr", none, 1000, 20},
                        {"ucrl-vtr joint", "ucrl-vtr", joint, 1000, 20}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print(large, "random-mixture d = 64, S = 200, A = 8, H = 10", &rows[i]);
    tacit_world_destroy(large);
    return 0;
}
