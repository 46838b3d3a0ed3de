/* A step of each running sum against its floor: the fresh draws it needs, at the same scale, measured in
 * turns in the same run. The bar is two. Memory is what the sum holds. `max_noise` is the largest standard
 * deviation at mu = 1 (Gaussian) or epsilon = 1 (Laplace), sensitivity 1: see the tables in
 * docs/why/sums.md. */
#include <math.h>
#include <stdint.h>

#include <tacit/sum.h>
#include "harness.h"
#include "noise/sampler.h"

/* Short rounds of steps and draws in turns. The machine may be shared and its clock may change: times are of the best
 * round, the ratio is the median of the rounds' own. */
enum { ROUNDS = 25 };

typedef struct setting {
    tacit_sum_mechanism mechanism;
    tacit_law law;
    size_t dimension;
    uint64_t users;
    bool
        full; /* no coordinate of a user is 0; else all but one are, and the user is given as sparse */
} setting;

/* A sum whose whole release is 1-GDP or 1-DP for contributions that move it by 1. */
static tacit_sum *make_sum(const setting *s, tacit_ledger **ledger)
{
    tacit_error err;
    tacit_sum_spec spec = {.mechanism = s->mechanism,
                           .law = s->law,
                           .dimension = s->dimension,
                           .users = s->users,
                           .bound = {.l1 = s->law == TACIT_LAW_LAPLACE ? 0.5 : 0, .l2 = 0.5}};
    tacit_release release;
    tacit_plan *plan;
    tacit_noise *noise;
    tacit_sum *sum;
    bench_check(tacit_sum_declare(&spec, "sum", &release, &err), &err);
    bench_check(tacit_plan_create(&plan), NULL);
    bench_check(tacit_plan_declare(plan, &release, &err), &err);
    double scale = s->law == TACIT_LAW_LAPLACE ? release.l1 * release.column_l1
                                               : release.l2 * release.column_l2;
    bench_check(tacit_plan_set_scale(plan, "sum", s->law, scale, &err), &err);
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_ledger_create(plan, noise, ledger, &err), &err);
    bench_check(tacit_sum_create(&spec, *ledger, "sum", &sum, &err), &err);
    tacit_noise_destroy(noise);
    tacit_plan_destroy(plan);
    return sum;
}

static void run(const setting *s)
{
    tacit_ledger *ledger;
    double start = bench_now();
    tacit_sum *sum = make_sum(s, &ledger);
    double creation = bench_now() - start;
    tacit_error err;
    double *x = calloc(s->dimension, sizeof *x), *out = calloc(s->dimension, sizeof *out);
    int64_t *draws = calloc(s->dimension, sizeof *draws);
    double parts = s->law == TACIT_LAW_LAPLACE ? (double)s->dimension : sqrt((double)s->dimension);
    for (size_t i = 0; i < s->dimension; i++)
        x[i] = 0.499 / parts; /* within the bound after rounding, too */
    const size_t first = 0;
    tacit_noise *noise;
    tacit__site site;
    bench_check(tacit_noise_create_simulated(2, &noise), NULL);
    tacit__site_open(&site, noise, "floor");
    double scale = 0x1p28; /* lattice steps: what a sum at mu = 1 uses */

    int steps = (int)(1e6 / (double)s->dimension) + 3;
    const size_t rounds = bench_times(ROUNDS);
    steps = (uint64_t)steps * rounds > s->users ? (int)(s->users / rounds) : steps;
    double sum_seconds = 0, draw_seconds = 0, ratios[ROUNDS];
    for (size_t round = 0; round < rounds; round++) {
        start = bench_now();
        for (int i = 0; i < steps; i++)
            bench_check(s->full ? tacit_sum_add(sum, x, &err)
                                : tacit_sum_add_sparse(sum, 1, &first, &(double){0.5}, &err),
                        &err);
        double seconds = ratios[round] = bench_now() - start;
        sum_seconds = round == 0 || seconds < sum_seconds ? seconds : sum_seconds;
        start = bench_now();
        for (int i = 0; i < steps; i++)
            tacit__noise_draw(&site, (uint64_t)i, 0,
                              s->law == TACIT_LAW_LAPLACE ? TACIT__LAPLACE : TACIT__GAUSSIAN, scale,
                              s->dimension, draws);
        seconds = bench_now() - start;
        ratios[round] /= seconds;
        draw_seconds = round == 0 || seconds < draw_seconds ? seconds : draw_seconds;
    }
    bench_check(tacit_sum_release(sum, out, &err), &err);
    double largest = 0, stddev;
    for (uint64_t k = s->users; k > 0;
         k = s->mechanism == TACIT_SUM_BLT || s->mechanism == TACIT_SUM_LOCAL ? 0 : k - 1) {
        bench_check(tacit_sum_stddev(sum, k, &stddev), NULL);
        largest = fmax(largest, stddev);
    }
    double n = (double)steps * (double)s->dimension;
    printf("{\"sum\": \"%s\", \"law\": \"%s\", \"dimension\": %zu, \"users\": %llu, \"nonzeros\": "
           "\"%s\", \"ns\": %.2f, "
           "\"draw_ns\": %.2f, \"of_draws\": %.2f, \"bytes_per_coordinate\": %.0f, \"create_ms\": "
           "%.1f, "
           "\"max_noise\": %.3f}\n",
           tacit_sum_mechanism_name(s->mechanism),
           s->law == TACIT_LAW_LAPLACE ? "laplace" : "gaussian", s->dimension,
           (unsigned long long)s->users, s->full ? "all" : "one", 1e9 * sum_seconds / n,
           1e9 * draw_seconds / n, bench_quantile(ratios, rounds, 0.5),
           (double)tacit_sum_memory(sum) / (double)s->dimension, 1e3 * creation, largest);
    fflush(stdout);
    tacit_sum_destroy(sum);
    tacit_ledger_destroy(ledger);
    tacit_noise_destroy(noise);
    free(x);
    free(out);
    free(draws);
}

int main(int argc, char **argv)
{
    static const size_t dimensions[] = {1, 96, 1920, 100000};
    static const uint64_t users[] = {1000, 10000, 50000, 1000000};
    static const struct {
        tacit_sum_mechanism mechanism;
        tacit_law law;
    } kinds[] = {{TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN}, {TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN},
                 {TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN},  {TACIT_SUM_LOCAL, TACIT_LAW_GAUSSIAN},
                 {TACIT_SUM_TREE, TACIT_LAW_LAPLACE},  {TACIT_SUM_SMOOTH, TACIT_LAW_LAPLACE},
                 {TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE}};
    bench_begin(&argc, argv);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++)
            run(&(setting){kinds[k].mechanism, kinds[k].law, dimensions[d], bench_times(1000000),
                           true});
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t u = 0; u < sizeof users / sizeof *users; u++)
            run(&(setting){kinds[k].mechanism, kinds[k].law, 1920, bench_times(users[u]), true});
    for (size_t u = 0; u < sizeof users / sizeof *users; u++)
        for (int full = 0; full < 2; full++)
            run(&(setting){TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, 100000, bench_times(users[u]),
                           full == 1});
    return 0;
}
