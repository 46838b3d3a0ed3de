/* lsvi-ucb beside what it cannot do without.
 *
 * Counts: one-hot RiverSwim (d = 12, H = 20), a switch for every user, at 400 and at 40,000 users: the price of an episode
 * must not depend on how many came before. The floor is the bare arithmetic of a backward pass over the counts. The bar
 * is 5,000 episodes a second.
 *
 * Archive: d = 32, A = 8, H = 10, 20,000 users, determinants doubling. The floor is the BLAS calls that the algorithm needs,
 * made with the same sizes on data in the cache: a rank-1 update for every step, a factorization of every Gram matrix
 * that is looked at, and at each switch a triangular solve for every stored feature and two products with vectors. The
 * bar is 1.3 times that. A second floor has a product with the inverse factor in place of the solve, which OpenBLAS does ten
 * times faster. */
#include <math.h>

#include <cblas.h>
#include <lapacke.h>

#include "episodes.h"

/* --- Counts ------------------------------------------------------------------------------------------ */

static double run_counts(const tacit_world *world, uint64_t episodes, tacit_guarantee guarantee,
                         const char *schedule)
{
    const tacit_setting setting = {.key = "schedule", .value = schedule};
    tacit_agent_request request = bench_request(world, "lsvi-ucb", guarantee, episodes);
    request.settings = &setting;
    request.n_settings = 1;
    return bench_episodes(world, &request, episodes, 16); /* exact regret is not the learner's */
}

/* One backward pass: counts times values, a quotient and a root for each pair, the largest of each state. */
static double pass_floor(size_t S, size_t A, size_t H)
{
    double *counts = calloc(H * S * A * S, sizeof *counts), *values = calloc(S, sizeof *values),
           *best = calloc(S, sizeof *best);
    for (size_t i = 0; i < H * S * A * S; i++)
        counts[i] = (double)(i % 7);
    const size_t rounds = bench_times(20000);
    double start = bench_now();
    for (size_t round = 0; round < rounds; round++)
        for (size_t h = H; h-- > 0;) {
            for (size_t s = 0; s < S; s++) {
                best[s] = 0;
                for (size_t a = 0; a < A; a++) {
                    const double *row = counts + ((h * S + s) * A + a) * S;
                    double sum = (double)round;
                    for (size_t next = 0; next < S; next++)
                        sum += row[next] * values[next];
                    best[s] = fmax(best[s], sum / 100 + 1 / sqrt(100 + sum));
                }
            }
            for (size_t s = 0; s < S; s++)
                values[s] = fmin(best[s], 10);
        }
    double seconds = (bench_now() - start) / (double)rounds;
    if (values[0] < 0)
        printf("\n"); /* used */
    free(counts);
    free(values);
    free(best);
    return seconds;
}

static void bench_counts(void)
{
    static const uint64_t sizes[] = {400, 40000};
    static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0},
                                 joint = {TACIT_MODEL_JOINT, 1, 2e-6};
    tacit_world *world = bench_world("riverswim", NULL, 0);
    double floor = pass_floor(6, 2, 20);
    for (int private = 0; private < 2; private ++)
        for (size_t i = 0; i < 2; i++) {
            double seconds = 1e9;
            for (int round = 0; round < (i == 0 ? (int)bench_times(20) : 1); round++)
                seconds =
                    fmin(seconds, run_counts(world, sizes[i], private ? joint : none, "every"));
            printf("{\"mode\": \"counts\", \"d\": 12, \"horizon\": 20, \"schedule\": \"every\", "
                   "\"model\": \"%s\", \"episodes\": %llu, \"episodes_per_second\": %.0f, "
                   "\"us\": %.2f, \"floor_us\": %.2f, \"of_floor\": %.2f}\n",
                   private ? "joint" : "none", (unsigned long long)sizes[i], 1 / seconds,
                   1e6 * seconds, 1e6 * floor, seconds / floor);
            fflush(stdout);
        }
    tacit_world_destroy(world);
}

/* --- Archive ----------------------------------------------------------------------------------------- */

enum { D = 32, A = 8, H = 10, K = 20000, POOL = 256, MOST_SWITCHES = 100000 };

static double next_unit(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*seed >> 11) + 0.5) * 0x1p-53;
}

/* Users' features on the simplex, near its corners; the pool is visited in a fixed, jumping order. */
static double *make_pool(void)
{
    uint64_t seed = 1;
    double *pool = calloc((size_t)POOL * (H + 1) * A * D, sizeof *pool);
    for (size_t i = 0; i < (size_t)POOL * (H + 1) * A; i++) {
        double sum = 0;
        for (size_t j = 0; j < D; j++)
            sum += pool[i * D + j] = pow(next_unit(&seed), 8);
        for (size_t j = 0; j < D; j++)
            pool[i * D + j] /= sum;
    }
    return pool;
}

typedef struct archive_run {
    double seconds;
    uint64_t switches[MOST_SWITCHES]; /* users at each switch */
    size_t n_switches;
} archive_run;

static void run_archive(const double *pool, tacit_guarantee guarantee, const char *storage,
                        archive_run *out)
{
    static const tacit_linear linear = {.dimension = D, .bound = 1, .simplex = true};
    const tacit_setting setting = {.key = "storage", .value = storage};
    tacit_error err;
    tacit_noise *noise;
    tacit_agent *agent;
    *out = (archive_run){0};
    bench_check(tacit_noise_create_simulated(1, &noise), NULL);
    bench_check(tacit_agent_create(&(tacit_agent_request){.kind = "lsvi-ucb",
                                                          .settings = &setting,
                                                          .n_settings = 1,
                                                          .guarantee = guarantee,
                                                          .n_actions = A,
                                                          .horizon = H,
                                                          .episodes = K,
                                                          .linear = &linear},
                                   noise, &agent, &err),
                &err);
    uint64_t version = 0, seed = 2;
    for (uint64_t k = 0; k < bench_times(K); k++) {
        const double *features = pool + (size_t)(next_unit(&seed) * POOL) * (H + 1) * A * D;
        tacit_billboard board;
        uint32_t actions[H];
        double rewards[H], probability;
        double start = bench_now();
        bench_check(tacit_agent_plan(agent, &board, &err), &err);
        out->seconds += bench_now() - start;
        if (k > 0 && board.version != version)
            out->switches[out->n_switches++] = k;
        version = board.version;
        for (size_t h = 0; h < H; h++) {
            bench_check(tacit_agent_act(
                            agent, &(tacit_situation){.step = h, .features = features + h * A * D},
                            next_unit(&seed), &actions[h], &probability, &err),
                        &err);
            rewards[h] = next_unit(&seed);
        }
        start = bench_now();
        bench_check(
            tacit_agent_learn(
                agent,
                &(tacit_trajectory){.actions = actions, .rewards = rewards, .features = features},
                &err),
            &err);
        out->seconds += bench_now() - start;
    }
    tacit_agent_destroy(agent);
    tacit_noise_destroy(noise);
}

/* The calls of the algorithm with the same sizes, in blocks that stay in the cache; features go through a triangular
 * solve, as the papers write it, or through a product with the inverse factor, which is faster here. */
static double blas_floor(const archive_run *r, uint64_t looks, bool solve)
{
    enum { BLOCK = 256 };
    openblas_set_num_threads(1);
    double *gram = calloc((size_t)D * D, sizeof *gram),
           *factor = calloc((size_t)D * D, sizeof *factor),
           *columns = calloc((size_t)BLOCK * D, sizeof *columns),
           *fresh = calloc((size_t)BLOCK * D, sizeof *fresh), *w = calloc(D, sizeof *w),
           *out = calloc(BLOCK, sizeof *out);
    for (size_t i = 0; i < (size_t)BLOCK * D; i++)
        fresh[i] = 1.0 / D;
    for (size_t j = 0; j < D; j++)
        gram[j * D + j] = 100;
    double start = bench_now();
    for (uint64_t i = 0; i < bench_times(K) * H; i++)
        cblas_dsyr(CblasColMajor, CblasLower, D, 1e-9, fresh, 1, gram, D);
    for (uint64_t i = 0; i < looks * H; i++) {
        memcpy(factor, gram, (size_t)D * D * sizeof *gram);
        (void)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', D, factor, D);
    }
    for (size_t i = 0; i < r->n_switches; i++)
        for (size_t h = 0; h < H; h++) {
            uint64_t n = h + 1 < H ? r->switches[i] * A : 0;
            for (uint64_t at = 0; at < n; at += BLOCK) {
                int m = (int)(n - at < BLOCK ? n - at : BLOCK);
                if (solve) {
                    memcpy(columns, fresh, (size_t)m * D * sizeof *columns); /* it works in place */
                    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, D,
                                m, 1, factor, D, columns, D);
                } else {
                    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, D, m, D, 1, factor, D,
                                fresh, D, 0, columns, D);
                }
                cblas_dgemv(CblasColMajor, CblasTrans, D, m, 1, columns, D, w, 1, 0, out, 1);
            }
            for (uint64_t at = 0; at < r->switches[i]; at += BLOCK) {
                int m = (int)(r->switches[i] - at < BLOCK ? r->switches[i] - at : BLOCK);
                cblas_dgemv(CblasColMajor, CblasNoTrans, D, m, 1, fresh, D, out, 1, 1, w, 1);
            }
        }
    double seconds = bench_now() - start;
    free(gram);
    free(factor);
    free(columns);
    free(fresh);
    free(w);
    free(out);
    return seconds;
}

static void bench_archive(void)
{
    static archive_run r;
    static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0};
    static const char *const storages[] = {"float32"};
    double *pool = make_pool();
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        run_archive(pool, none, storages[i], &r);
        const uint64_t looks = bench_times(K) - 1;
        const double floor = blas_floor(&r, looks, false), textbook = blas_floor(&r, looks, true);
        printf("{\"mode\": \"archive\", \"d\": %d, \"actions\": %d, \"horizon\": %d, \"schedule\": "
               "\"doubling\", \"model\": \"none\", \"episodes\": %d, \"storage\": \"%s\", "
               "\"switches\": %zu, \"seconds\": %.2f, \"floor_seconds\": %.2f, \"of_floor\": %.2f, "
               "\"floor_with_solves_seconds\": %.2f, \"of_floor_with_solves\": %.2f}\n",
               D, A, H, K, storages[i], r.n_switches, r.seconds, floor, r.seconds / floor, textbook,
               r.seconds / textbook);
        fflush(stdout);
    }
    free(pool);
}

int main(int argc, char **argv)
{
    bench_begin(&argc, argv);
    bench_counts();
    bench_archive();
    return 0;
}
