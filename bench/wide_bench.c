/* Every kernel that is written by hand for AVX2 or AVX-512 beside its plain loop, which the compiler has for
 * itself (chacha: beside libsodium): the same calls in turns in one run. A version that does not earn about
 * 1.2 over the one before goes. */
#include <sodium.h>
#include <stdint.h>

#include "base/cpu.h"
#include "harness.h"
#include "noise/chacha.h"
#include "noise/draw_loop.h"
#include "noise/tag.h"
#include "plan/induct.h"
#include "plan/project.h"
#include "sums/blt_kernel.h"

enum { ROUNDS = 9, PATHS = 3, N = 4096 };

static uint64_t state = 1;

static uint64_t next_word(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 29;
}

static double next_real(void)
{
    return (double)(next_word() >> 11) * 0x1p-53;
}

/* --- Kernels: each does its work `calls` times --------------------------------------------------- */

static volatile int64_t sink;

static void draw(int calls)
{
    static uint64_t words[N];
    static int64_t draws[N];
    tacit__draw_loop_fn *kernel = tacit__draw_loop();
    if (words[0] == 0)
        for (size_t i = 0; i < N; i++)
            words[i] = next_word();
    for (int c = 0; c < calls; c++) {
        memcpy(draws, words, sizeof draws); /* it works in place */
        sink += kernel(tacit__tables[TACIT__GAUSSIAN], 0x1p20, N, draws);
    }
}

static void chacha(int calls)
{
    static const uint8_t key[TACIT__KEY_BYTES] = {3};
    static uint64_t words[N];
    for (int c = 0; c < calls; c++) {
        tacit__chacha(key, (uint64_t)c, 0, sizeof words, words);
        sink += (int64_t)words[c % N];
    }
}

static void tag(int calls, double largest)
{
    static const uint8_t key[TACIT__KEY_BYTES] = {3};
    static int64_t values[N];
    const tacit__input input = {.n = N, .value = values};
    const tacit__labels labels = {0};
    tacit__tagger *tagger;
    bench_check(tacit__tagger_create(key, N, largest, &tagger), NULL);
    tacit__tagger_prepare(tagger);
    for (size_t i = 0; i < N; i++)
        values[i] = (int64_t)((next_real() - 0.5) * largest);
    for (int c = 0; c < calls; c++)
        sink += (int64_t)tacit__tag_of(tagger, &labels, &input).nonce;
    tacit__tagger_destroy(tagger);
}

static void tag_narrow(int calls)
{
    tag(calls, 0x1p20);
}

static void tag_wide(int calls)
{
    tag(calls, 0x1p50);
}

static const tacit__blt_coefficients blt = {.buffers = 4,
                                            .decay = {1 << 20, 1 << 24, 1 << 27, 1 << 30},
                                            .output = {1 << 18, 1 << 21, 1 << 24, 1 << 28},
                                            .guard = 8,
                                            .fraction = 9};
static int64_t buffer[4 * (N + 1024)], blt_x[N], blt_y[N]; /* prefetching reads on */

static void encode(int calls)
{
    for (int c = 0; c < calls; c++)
        tacit__blt_encode(&blt, buffer, N, blt_x, blt_y);
    sink += blt_y[0];
}

static void absorb(int calls)
{
    static double shown[N + 1024];
    for (size_t i = 0; i < N; i++)
        blt_x[i] = (int64_t)(next_word() >> 40);
    for (int c = 0; c < calls; c++)
        tacit__blt_absorb(&blt, buffer, N, blt_x, blt_y, 0x1p-7, shown);
    sink += buffer[0];
}

/* The sizes of a tabular learner: 16 rows of 64 next states. */
static void project(int calls)
{
    enum { NEXT = 64, ALL = TACIT__PROJECT_ROWS * TACIT__PROJECT_BLOCKS };
    static double noisy[ALL][NEXT], sorted[NEXT], totals[ALL], visits[ALL];
    static double x[ALL * NEXT] __attribute__((aligned(64))); /* as in a workspace */
    const double *rows[ALL];
    for (size_t r = 0; r < ALL; r++) {
        rows[r] = noisy[r];
        visits[r] = 40 + 20 * next_real();
        for (size_t i = 0; i < NEXT; i++)
            noisy[r][i] = 4 * next_real() - 1;
    }
    for (int c = 0; c < calls; c++)
        tacit__project_rows(TACIT__PROJECT_BLOCKS, rows, NEXT, visits, 2, 0.01, sorted, totals, x);
    sink += (int64_t)x[0];
}

/* A step of an induction: 64 states, 8 actions. */
static void moments(int calls)
{
    const tacit__space space = {.n_states = 64, .n_actions = 8, .horizon = 4, .tables = 1};
    const tacit__planner_options options = {.failure = 0.1};
    void *planner;
    bench_check(tacit__induction_create(space, &options, NULL, &planner, NULL), NULL);
    tacit__induction *in = planner;
    for (size_t i = 0; i < in->blocks * space.n_states * TACIT__BLOCK; i++)
        in->transitions[i] = next_real() / 64;
    for (size_t i = 0; i < 2 * space.n_states; i++)
        in->values[i] = next_real();
    for (int c = 0; c < calls; c++)
        tacit__induction_step(in, 0, NULL, planner);
    sink += (int64_t)in->trial[0];
    tacit__workspace_destroy(planner);
}

static const struct {
    const char *name;
    void (*run)(int calls);
    int calls;
    bool avx512; /* it has a third version */
} kernels[] = {
    {"noise/chacha: 4096 words", chacha, 500, true},
    {"noise/draw_loop: 4096 draws", draw, 500, true},
    {"noise/tag: 4096 small values", tag_narrow, 2000, false},
    {"noise/tag: 4096 large values", tag_wide, 1000, false},
    {"sums/blt_kernel: encode 4096 coordinates", encode, 1000, false},
    {"sums/blt_kernel: absorb 4096 coordinates", absorb, 500, false},
    {"plan/project: 16 rows of 64", project, 5000, true},
    {"plan/induct: a step of 64 states and 8 actions", moments, 2000, false},
};

static double measure(size_t kernel, int path)
{
    tacit__cpu_pretend_base(path == 0);
    tacit__cpu_pretend_avx2(path == 1);
    state = 1; /* the same numbers on all paths */
    const int calls = (int)bench_times((uint64_t)kernels[kernel].calls);
    double start = bench_now();
    kernels[kernel].run(calls);
    return (bench_now() - start) / calls;
}

int main(int argc, char **argv)
{
    static const char *const names[PATHS] = {"plain", "avx2", "avx512"};
    if (sodium_init() < 0) /* it chooses its own instructions there */
        return 1;
    bench_begin(&argc, argv);
    const int paths = tacit__cpu_has_avx512() ? 3 : tacit__cpu_has_avx2() ? 2 : 1;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        const size_t rounds = bench_times(ROUNDS);
        double seconds[PATHS][ROUNDS];
        for (size_t round = 0; round < rounds; round++) /* in turns: a slow moment hits all alike */
            for (int path = 0; path < paths; path++)
                seconds[path][round] = measure(k, path);
        double plain = bench_quantile(seconds[0], rounds, 0.5);
        printf("{\"kernel\": \"%s\", \"plain_us\": %.3f", kernels[k].name, 1e6 * plain);
        for (int path = 1; path < paths && (path < 2 || kernels[k].avx512); path++) {
            double wide = bench_quantile(seconds[path], rounds, 0.5);
            printf(", \"%s_us\": %.3f, \"%s_earns\": %.2f", names[path], 1e6 * wide, names[path],
                   plain / wide);
        }
        printf("}\n");
    }
    return 0;
}
