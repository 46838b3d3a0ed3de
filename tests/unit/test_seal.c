/* Seals, keyed hashes and names. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "noise/seal.h"
#include "support/check.h"

static const uint8_t key[TACIT__KEY_BYTES] = {1, 2, 3}, other[TACIT__KEY_BYTES] = {1, 2, 4};

TEST(what_is_sealed_opens_with_its_key_only)
{
    const char text[] = "what a person did";
    uint8_t sealed[sizeof text + TACIT__SEAL_BYTES], again[sizeof sealed];
    char back[sizeof text];
    tacit__seal_start();
    tacit__seal(key, text, sizeof text, sealed);
    assert_true(tacit__unseal(key, sealed, sizeof sealed, back));
    assert_string_equal(back, text);
    assert_false(tacit__unseal(other, sealed, sizeof sealed, back));
    for (size_t i = 0; i < sizeof sealed; i++) { /* any bit */
        sealed[i] ^= 1;
        assert_false(tacit__unseal(key, sealed, sizeof sealed, back));
        sealed[i] ^= 1;
    }
    assert_false(tacit__unseal(key, sealed, sizeof sealed - 1, back));
    assert_false(tacit__unseal(key, sealed, TACIT__SEAL_BYTES - 1, back));
    tacit__seal(key, text, sizeof text, again); /* never the same twice */
    assert_memory_not_equal(sealed, again, sizeof sealed);
    tacit__seal(key, text, 0, sealed);
    assert_true(tacit__unseal(key, sealed, TACIT__SEAL_BYTES, back));
}

TEST(keys_and_hashes_depend_on_everything)
{
    uint8_t a[32], b[32], c[16], d[16];
    tacit__key_derive(key, "one", a);
    tacit__key_derive(key, "two", b);
    assert_memory_not_equal(a, b, sizeof a);
    tacit__key_derive(other, "one", b);
    assert_memory_not_equal(a, b, sizeof a);
    tacit__keyed_hash(key, "ann", 3, c, sizeof c);
    tacit__keyed_hash(key, "bob", 3, d, sizeof d);
    assert_false(tacit__same_bytes(c, d, sizeof c));
    tacit__keyed_hash(key, "ann", 3, d, sizeof d);
    assert_true(tacit__same_bytes(c, d, sizeof c));
}

TEST(base64_goes_there_and_back)
{
    for (size_t n = 0; n < 50; n++) {
        uint8_t bytes[50], back[50];
        char text[TACIT__BASE64_SIZE(50)];
        size_t size = 99;
        tacit__random_bytes(bytes, sizeof bytes);
        tacit__base64_write(bytes, n, text);
        assert_true(
            strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
            strlen(text));
        assert_true(tacit__base64_read(text, strlen(text), back, sizeof back, &size));
        assert_true(size == n);
        assert_memory_equal(bytes, back, n);
        if (n > 1)
            assert_false(tacit__base64_read(text, strlen(text), back, n - 1, &size));
    }
    uint8_t back[50];
    size_t size;
    assert_false(tacit__base64_read("AA+A", 4, back, sizeof back, &size));
    assert_false(tacit__base64_read("AAAA=", 5, back, sizeof back, &size));
    assert_false(tacit__base64_read("A", 1, back, sizeof back, &size));
    assert_false(tacit__base64_read("AA A", 4, back, sizeof back, &size));
}

TEST(chance_is_in_its_interval)
{
    double least = 1, most = 0;
    for (int i = 0; i < 10000; i++) {
        double x = tacit__random_unit();
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    assert_within(least, 0, 0.01); /* fails once in 10^43 */
    assert_within(most, 0.99, 1 - 0x1p-53);
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* More than a filling of the bytes that are drawn ahead, and than the fillings after which the system is asked again. */
TEST(names_that_are_drawn_ahead_are_all_different)
{
    enum { N = 50000 };
    static uint8_t names[N][16];
    tacit__seal_start();
    for (size_t i = 0; i < N; i++)
        tacit__random_few(names[i], 16);
    qsort(names, N, sizeof *names, by_bytes);
    for (size_t i = 1; i < N; i++)
        assert_memory_not_equal(names[i - 1], names[i], 16);
    assert_aborts(tacit__random_few(names, 65));
}

TEST(a_child_draws_other_names_than_its_parent)
{
    uint8_t mine[16], theirs[16];
    int ends[2];
    tacit__seal_start();
    tacit__random_few(mine, sizeof mine); /* something is drawn ahead */
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    tacit__random_few(mine, sizeof mine);
    if (child == 0)
        _exit(write(ends[1], mine, sizeof mine) == sizeof mine ? 0 : 1);
    assert_int_equal(read(ends[0], theirs, sizeof theirs), sizeof theirs);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_memory_not_equal(mine, theirs, sizeof mine);
    (void)close(ends[0]);
    (void)close(ends[1]);
}
