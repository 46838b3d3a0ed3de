/* Streams: named words are reproducible, and no two names share any.
 *
 * Where words are required to differ, they would agree by accident with probability below 2^-40. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noise/stream.h"
#include "support/random.h"

enum { N = 64 };

static tacit__site simulated_site(uint64_t seed, const char *name)
{
    tacit__site site;
    SCOPED(tacit_noise) *root = simulated_noise(seed);
    tacit__site_open(&site, root, name);
    return site;
}

static tacit__site system_site(const char *name)
{
    SCOPED(tacit_noise) *root = NULL;
    tacit__site site;
    assert_ok(tacit_noise_create_from_os(&root));
    tacit__site_open(&site, root, name);
    return site;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void assert_all_different(uint64_t *words, size_t n)
{
    qsort(words, n, sizeof *words, compare_words);
    for (size_t i = 1; i < n; i++)
        assert_true(words[i - 1] != words[i]);
}

TEST(the_same_seed_site_and_step_give_the_same_words)
{
    uint64_t once[N], again[N];
    for (uint64_t step = 0; step < 5; step++) {
        tacit__site a = simulated_site(7, "counts"), b = simulated_site(7, "counts");
        tacit__site_words(&a, step, 0, N, once);
        tacit__site_words(&b, step, 0, N, again);
        assert_memory_equal(once, again, sizeof once);
        tacit__site_words(&a, step, 0, N, again); /* asking does not use them up */
        assert_memory_equal(once, again, sizeof once);
    }
}

TEST(other_seeds_sites_and_steps_give_other_words)
{
    static const uint64_t seeds[] = {0, 1, 256, (uint64_t)1 << 32, (uint64_t)1 << 63, UINT64_MAX};
    static const char *const names[] = {"", "a", "b", "aa", "a ", "gram[1]", "gram[11]"};
    static const uint64_t steps[] = {0, 1, 255, 256, (uint64_t)1 << 32, ((uint64_t)1 << 63) - 1};
    static uint64_t words[6 * 7 * 6 * N];
    size_t n = 0;
    for (size_t s = 0; s < 6; s++)
        for (size_t i = 0; i < 7; i++) {
            tacit__site site = simulated_site(seeds[s], names[i]);
            for (size_t t = 0; t < 6; t++, n += N)
                tacit__site_words(&site, steps[t], 0, N, words + n);
        }
    assert_all_different(words, n);
}

TEST(words_do_not_depend_on_how_they_are_fetched)
{
    enum { MANY = 3000 };
    tacit__site site = simulated_site(1, "pieces");
    uint64_t whole[MANY], pieces[MANY], random = 5;
    tacit__site_words(&site, 9, 0, MANY, whole);
    for (int round = 0; round < 50; round++) {
        memset(pieces, 0, sizeof pieces);
        for (size_t at = 0; at < MANY;) {
            size_t n = 8 * (1 + (size_t)random_below(&random, round < 25 ? 3 : 100));
            n = n < MANY - at ? n : MANY - at;
            tacit__site_words(&site, 9, at, n, pieces + at);
            at += n;
        }
        assert_memory_equal(whole, pieces, sizeof whole);
    }
    for (size_t n = 1; n < 40; n++) { /* an odd number of them is a prefix */
        memset(pieces, 0, sizeof pieces);
        tacit__site_words(&site, 9, 16, n, pieces);
        assert_memory_equal(whole + 16, pieces, n * sizeof *whole);
        assert_true(pieces[n] == 0);
    }
}

/* ChaCha20 as first published (64-bit counter and nonce), written from its definition. */
static uint32_t rotated(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d)
{
    *d = rotated(*d ^ (*a += *b), 16);
    *b = rotated(*b ^ (*c += *d), 12);
    *d = rotated(*d ^ (*a += *b), 8);
    *b = rotated(*b ^ (*c += *d), 7);
}

static void chacha20_block(const uint8_t key[32], uint64_t nonce, uint64_t counter, uint64_t out[8])
{
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    for (int i = 0; i < 8; i++)
        for (int k = 3; k >= 0; k--)
            in[4 + i] = in[4 + i] << 8 | key[4 * i + k];
    in[12] = (uint32_t)counter;
    in[13] = (uint32_t)(counter >> 32);
    in[14] = (uint32_t)nonce;
    in[15] = (uint32_t)(nonce >> 32);
    memcpy(x, in, sizeof x);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++)
            quarter_round(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
        for (int i = 0; i < 4; i++)
            quarter_round(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
    }
    for (int i = 0; i < 8; i++)
        out[i] = (uint64_t)(x[2 * i] + in[2 * i]) |
                 (uint64_t)(uint32_t)(x[2 * i + 1] + in[2 * i + 1]) << 32;
}

TEST(words_are_the_chacha20_blocks_that_the_layout_names)
{
    tacit__site site = simulated_site(3, "layout");
    uint64_t expected[8], words[8];
    for (uint64_t step = 0; step < 300; step += 97)
        for (uint64_t block = 0; block < 5; block++) {
            chacha20_block(site.key, step, block, expected);
            tacit__site_words(&site, step, 8 * block, 8, words);
            assert_memory_equal(words, expected, sizeof words);
            chacha20_block(site.key, step | (uint64_t)1 << 63, block, expected);
            tacit__site_extension(&site, step, block, words);
            assert_memory_equal(words, expected, sizeof words);
        }
}

TEST(extension_words_differ_from_all_ordinary_words_and_from_each_other)
{
    enum { STEPS = 4, WORDS = 512, INDICES = 64 };
    static uint64_t words[STEPS * (WORDS + 8 * INDICES)];
    tacit__site site = simulated_site(11, "extension");
    size_t n = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        tacit__site_words(&site, step, 0, WORDS, words + n);
        n += WORDS;
        for (uint64_t index = 0; index < INDICES; index++, n += 8)
            tacit__site_extension(&site, step, index, words + n);
    }
    assert_all_different(words, n);
}

TEST(roots_keyed_by_the_system_differ_from_each_other)
{
    uint64_t words[16 * N];
    for (size_t i = 0; i < 16; i++) {
        tacit__site site = system_site("same name");
        tacit__site_words(&site, 0, 0, N, words + i * N);
    }
    assert_all_different(words, 16 * N);
}

TEST(a_root_says_whether_it_is_simulated)
{
    tacit_noise *seeded, *system;
    tacit__site site;
    assert_ok(tacit_noise_create_simulated(1, &seeded));
    assert_ok(tacit_noise_create_from_os(&system));
    assert_true(tacit_noise_is_simulated(seeded));
    assert_false(tacit_noise_is_simulated(system));
    tacit__site_open(&site, seeded, "x");
    assert_true(site.simulated);
    tacit__site_open(&site, system, "x");
    assert_false(site.simulated);
    tacit_noise_destroy(seeded);
    tacit_noise_destroy(system);
    tacit_noise_destroy(NULL);
    assert_status(tacit_noise_create_simulated(1, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_noise_create_from_os(NULL), TACIT_BAD_ARGUMENT);
}

/* The words that a forked child draws after looking for forks; `root` NULL: from its copy of the site,
 * else from a site that it opens. */
static void words_in_child(tacit__site site, tacit_noise *root, uint64_t out[N])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (root != NULL)
            tacit__site_open(&site, root, "site");
        tacit__site_refresh(&site);
        tacit__site_words(&site, 0, 0, N, out);
        ssize_t written = write(ends[1], out, N * sizeof *out);
        _exit(written == (ssize_t)(N * sizeof *out) ? 0 : 1);
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], out, N * sizeof *out), N * sizeof *out);
    (void)close(ends[0]);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(a_forked_child_draws_other_words_than_its_parent_and_siblings)
{
    SCOPED(tacit_noise) *root = NULL;
    tacit__site site;
    uint64_t before[N], after[N], words[5 * N];
    assert_ok(tacit_noise_create_from_os(&root));
    tacit__site_open(&site, root, "site");
    tacit__site_words(&site, 0, 0, N, before);
    words_in_child(site, NULL, words);
    words_in_child(site, NULL, words + N);
    words_in_child(site, root, words + 2 * N);
    words_in_child(site, root, words + 3 * N);
    tacit__site_refresh(&site); /* nothing happens in the parent */
    tacit__site_words(&site, 0, 0, N, after);
    assert_memory_equal(before, after, sizeof before);
    memcpy(words + 4 * N, after, sizeof after);
    assert_all_different(words, 5 * N);
}

TEST(a_grandchild_draws_other_words_than_its_parent)
{
    tacit__site site = system_site("site");
    int status = 1;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        uint64_t words[2 * N];
        tacit__site_refresh(&site);
        tacit__site_words(&site, 0, 0, N, words);
        words_in_child(site, NULL, words + N);
        _exit(memcmp(words, words + N, N * sizeof *words) == 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(a_simulated_site_draws_the_same_words_in_a_forked_child)
{
    tacit__site site;
    uint64_t parent[N], child[N];
    SCOPED(tacit_noise) *root = simulated_noise(4);
    tacit__site_open(&site, root, "site");
    tacit__site_words(&site, 0, 0, N, parent);
    words_in_child(site, NULL, child);
    assert_memory_equal(parent, child, sizeof parent);
    words_in_child(site, root, child);
    assert_memory_equal(parent, child, sizeof parent);
}

TEST(a_restored_site_gives_the_same_words)
{
    tacit__site sites[] = {simulated_site(5, "s"), system_site("s")};
    for (size_t i = 0; i < 2; i++) {
        tacit__site restored;
        uint64_t words[N], again[N];
        tacit__site_restore(&restored, sites[i].key, sites[i].simulated);
        tacit__site_words(&sites[i], 12, 0, N, words);
        tacit__site_words(&restored, 12, 0, N, again);
        assert_memory_equal(words, again, sizeof words);
        assert_true(restored.simulated == sites[i].simulated);
        tacit__site_refresh(&restored); /* restored here, so not older than the last fork */
        tacit__site_words(&restored, 12, 0, N, again);
        assert_memory_equal(words, again, sizeof words);
    }
}

TEST(a_wiped_site_is_all_zeros)
{
    tacit__site site = system_site("secret");
    static const tacit__site zero;
    tacit__site_wipe(&site);
    assert_memory_equal(&site, &zero, sizeof site);
}

TEST(steps_and_indices_outside_the_layout_stop_the_program)
{
    tacit__site site = simulated_site(1, "s");
    uint64_t words[8];
    assert_aborts(tacit__site_words(&site, (uint64_t)1 << 63, 0, 8, words));
    assert_aborts(tacit__site_words(&site, 0, 4, 8, words));
    assert_aborts(tacit__site_extension(&site, (uint64_t)1 << 63, 0, words));
}

TEST(a_digest_is_of_all_the_bytes_in_order)
{
    uint8_t a[TACIT__KEY_BYTES], b[TACIT__KEY_BYTES];
    const tacit__bytes whole[] = {{"abcdef", 6}}, cut[] = {{"ab", 2}, {"", 0}, {"cdef", 4}};
    const tacit__bytes turned[] = {{"cdef", 4}, {"ab", 2}};
    tacit__digest(whole, 1, a);
    tacit__digest(cut, 3, b);
    assert_memory_equal(a, b, sizeof a);
    tacit__digest(turned, 2, b);
    assert_memory_not_equal(a, b, sizeof a);
}
