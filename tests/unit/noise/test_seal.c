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

static int by_part(const void *a, const void *b)
{
    return memcmp(a, b, 8);
}

TEST(bytes_are_the_same_only_if_all_of_them_are)
{
    uint8_t a[40], b[40];
    tacit__random_bytes(a, sizeof a);
    memcpy(b, a, sizeof b);
    for (size_t n = 0; n <= sizeof a; n++) {
        assert_true(tacit__same_bytes(a, b, n));
        for (size_t i = 0; i < sizeof a; i++) {
            b[i] ^= 0x80;
            assert_true(tacit__same_bytes(a, b, n) == (i >= n));
            b[i] ^= 0x80;
        }
    }
}

/* Clients hold nonces. A counter or a prefix in them would tell what was sealed for other people in between: no eight bytes
 * come twice in one place, nor do they grow. By chance they would with a probability below 1e-12. */
TEST(nonces_tell_nothing_of_one_another)
{
    enum { N = 3000, NONCE = 24, PART = 8, SIZE = 88 };
    static uint8_t parts[NONCE / PART][N][PART];
    uint8_t text[SIZE] = {7}, sealed[SIZE + TACIT__SEAL_BYTES], back[SIZE];
    tacit__seal_start();
    for (size_t i = 0; i < N; i++) {
        tacit__seal(i % 3 == 0 ? other : key, text, sizeof text, sealed);
        assert_true(tacit__unseal(i % 3 == 0 ? other : key, sealed, sizeof sealed, back));
        assert_memory_equal(back, text, sizeof text);
        for (size_t part = 0; part < NONCE / PART; part++)
            memcpy(parts[part][i], sealed + part * PART, PART);
    }
    for (size_t part = 0; part < NONCE / PART; part++) {
        size_t growing = 0;
        for (size_t i = 1; i < N; i++)
            growing += by_part(parts[part][i - 1], parts[part][i]) < 0;
        assert_true(growing > N * 2 / 5 && growing < N * 3 / 5);
        qsort(parts[part], N, PART, by_part);
        for (size_t i = 1; i < N; i++)
            assert_memory_not_equal(parts[part][i - 1], parts[part][i], PART);
    }
}

TEST(every_length_is_sealed)
{
    enum { MOST = 700 };
    uint8_t text[MOST], sealed[MOST + TACIT__SEAL_BYTES], back[MOST];
    tacit__random_bytes(text, sizeof text);
    for (size_t n = 0; n <= MOST; n++) {
        tacit__seal(key, text, n, sealed);
        assert_true(tacit__unseal(key, sealed, n + TACIT__SEAL_BYTES, back));
        assert_memory_equal(back, text, n);
    }
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
    uint8_t mine[16], theirs[16], sealed[TACIT__SEAL_BYTES], other_sealed[TACIT__SEAL_BYTES];
    int ends[2];
    tacit__seal_start();
    tacit__random_few(mine, sizeof mine); /* something is drawn ahead */
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    tacit__random_few(mine, sizeof mine);
    tacit__seal(key, "", 0, sealed);
    if (child == 0)
        _exit(write(ends[1], mine, sizeof mine) == sizeof mine &&
                      write(ends[1], sealed, sizeof sealed) == sizeof sealed
                  ? 0
                  : 1);
    assert_int_equal(read(ends[0], theirs, sizeof theirs), sizeof theirs);
    assert_int_equal(read(ends[0], other_sealed, sizeof other_sealed), sizeof other_sealed);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_memory_not_equal(mine, theirs, sizeof mine);
    assert_memory_not_equal(sealed, other_sealed, 24); /* the nonce */
    (void)close(ends[0]);
    (void)close(ends[1]);
}
