/* Seals, keyed hashes and names. */
#include <string.h>

#include "noise/seal.h"
#include "support/check.h"

static const uint8_t key[TACIT__KEY_BYTES] = {1, 2, 3}, other[TACIT__KEY_BYTES] = {1, 2, 4};

static void what_is_sealed_opens_with_its_key_only(void **state)
{
    (void)state;
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

static void keys_and_hashes_depend_on_everything(void **state)
{
    (void)state;
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

static void base64_goes_there_and_back(void **state)
{
    (void)state;
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

static void chance_is_in_its_interval(void **state)
{
    (void)state;
    double least = 1, most = 0;
    for (int i = 0; i < 10000; i++) {
        double x = tacit__random_unit();
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    assert_within(least, 0, 0.01); /* fails once in 10^43 */
    assert_within(most, 0.99, 1 - 0x1p-53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sealed_opens_with_its_key_only),
        cmocka_unit_test(keys_and_hashes_depend_on_everything),
        cmocka_unit_test(base64_goes_there_and_back),
        cmocka_unit_test(chance_is_in_its_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
