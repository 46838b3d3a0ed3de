/* Draws a second on one core, beside two floors: one 64-bit ChaCha20 word for each draw, in blocks of 4096,
 * by the same machine's libsodium, and by eight blocks at once with AVX2 (noise/chacha.c; key set-up and
 * nonce included). All are measured in turns in the same run. A draw should cost at most 1.5 times the
 * second. `words` are those that draws are made of, with all that the CPU has. */
#include <sodium.h>
#include <stdint.h>

#include "base/cpu.h"
#include "harness.h"
#include "noise/draw_loop.h"
#include "noise/sampler.h"

enum { BLOCK = 4096, BLOCKS = 1500, ROUNDS = 7 };

static uint64_t words[BLOCK];
static int64_t draws[BLOCK];
static volatile int64_t sink;
static int n_blocks;

static double time_floor(void)
{
    static const unsigned char key[crypto_stream_chacha20_KEYBYTES] = {1};
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {0};
    double start = bench_now();
    for (int i = 0; i < n_blocks; i++) {
        nonce[0] = (unsigned char)i;
        nonce[1] = (unsigned char)(i >> 8);
        crypto_stream_chacha20((unsigned char *)words, sizeof words, nonce, key);
        sink += (int64_t)words[i % BLOCK];
    }
    return bench_now() - start;
}

static double time_words(const tacit__site *site)
{
    double start = bench_now();
    for (int i = 0; i < n_blocks; i++) {
        tacit__site_words(site, (uint64_t)i, 0, BLOCK, words);
        sink += (int64_t)words[i % BLOCK];
    }
    return bench_now() - start;
}

static double time_draws(const tacit__site *site, tacit__noise_law law, double scale)
{
    double start = bench_now();
    for (int i = 0; i < n_blocks; i++) {
        tacit__noise_draw(site, (uint64_t)i, 0, law, scale, BLOCK, draws);
        sink += draws[i % BLOCK];
    }
    return bench_now() - start;
}

/* The sampler without its words, on one path. */
static double time_kernel(bool base, tacit__noise_law law, double scale)
{
    tacit__cpu_pretend_base(base);
    tacit__draw_loop_fn *kernel = tacit__draw_loop();
    tacit__cpu_pretend_base(false);
    double start = bench_now();
    for (int i = 0; i < n_blocks; i++) {
        memcpy(draws, words, sizeof draws); /* the kernel works in place */
        sink += kernel(tacit__tables[law], scale, BLOCK, draws);
        sink += draws[i % BLOCK];
    }
    return bench_now() - start;
}

static void least(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        tacit__noise_law law;
        double scale;
    } cases[] = {
        {"gaussian", TACIT__GAUSSIAN, 0x1p0},  {"gaussian", TACIT__GAUSSIAN, 0x1p10},
        {"gaussian", TACIT__GAUSSIAN, 0x1p20}, {"gaussian", TACIT__GAUSSIAN, 0x1p32},
        {"laplace", TACIT__LAPLACE, 0x1p10},   {"laplace", TACIT__LAPLACE, 0x1p20},
    };
    bench_begin(&argc, argv);
    n_blocks = (int)bench_times(BLOCKS);
    enum { CASES = sizeof cases / sizeof *cases };
    tacit_noise *root;
    tacit__site site;
    bench_check(tacit_noise_create_simulated(1, &root), NULL);
    tacit__site_open(&site, root, "bench");

    double floor = 0, wide_floor = 0, own_words = 0, seconds[CASES] = {0}, kernels[2] = {0};
    for (int round = 0; round < (int)bench_times(ROUNDS);
         round++) { /* in turns: a slow moment hits all alike */
        least(&floor, time_floor());
        least(&own_words, time_words(&site));
        tacit__cpu_pretend_avx2(true);
        least(&wide_floor, time_words(&site));
        tacit__cpu_pretend_avx2(false);
        for (int i = 0; i < CASES; i++)
            least(&seconds[i], time_draws(&site, cases[i].law, cases[i].scale));
        for (int base = 0; base < 2; base++)
            least(&kernels[base], time_kernel(base != 0, TACIT__GAUSSIAN, 0x1p20));
    }
    const double n = (double)BLOCK * n_blocks;
    printf("{\"floor\": \"libsodium chacha20, one word a draw\", \"per_second\": %.4g, \"ns\": "
           "%.3f}\n",
           n / floor, 1e9 * floor / n);
    printf(
        "{\"floor\": \"chacha20, eight blocks at once with AVX2\", \"per_second\": %.4g, \"ns\": "
        "%.3f}\n",
        n / wide_floor, 1e9 * wide_floor / n);
    printf("{\"words\": \"chacha20, as draws use it\", \"per_second\": %.4g, \"ns\": %.3f}\n",
           n / own_words, 1e9 * own_words / n);
    for (int i = 0; i < CASES; i++)
        printf("{\"draw\": \"%s\", \"scale\": %g, \"per_second\": %.4g, \"ns\": %.3f, "
               "\"times_libsodium\": %.3f, \"times_avx2\": %.3f}\n",
               cases[i].name, cases[i].scale, n / seconds[i], 1e9 * seconds[i] / n,
               seconds[i] / floor, seconds[i] / wide_floor);
    for (int base = 0; base < 2; base++)
        printf("{\"kernel\": \"%s\", \"scale\": %g, \"ns\": %.3f}\n",
               base || !tacit__cpu_has_avx2() ? "base"
               : tacit__cpu_has_avx512()      ? "avx512"
                                              : "avx2",
               0x1p20, 1e9 * kernels[base] / n);
    tacit_noise_destroy(root);
    return 0;
}
