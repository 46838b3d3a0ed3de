/* Numbers of JSON against the system's strtod, which rounds correctly in the C locale. */
#include "text/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

static void assert_read(const char *text)
{
    const char *end = text + strlen(text);
    bool in_range = false;
    double got = (double)NAN, wanted = strtod(text, NULL);
    const char *after = tacit__decimal_read(text, end, &got, &in_range);
    if (after != end || !in_range || memcmp(&got, &wanted, sizeof got) != 0)
        fail_msg("%s: %a, expected %a", text, got, wanted);
}

TEST(every_shape_of_number_is_rounded_as_by_strtod)
{
    char text[400];
    uint64_t seed = 3;
    for (int i = 0; i < 400000; i++) {
        const double x = (2 * random_unit(&seed) - 1) * pow(10, (int)random_below(&seed, 60) - 45);
        (void)snprintf(text, sizeof text, "%.*g", 1 + (int)random_below(&seed, 20), x);
        assert_read(text);
        (void)snprintf(text, sizeof text, "%.*f", (int)random_below(&seed, 22), x);
        assert_read(text);
        (void)snprintf(text, sizeof text, "%.*e", (int)random_below(&seed, 20), x);
        assert_read(text);
        (void)snprintf(text, sizeof text, "%llue%d", (unsigned long long)random_word(&seed),
                       (int)random_below(&seed, 90) - 60);
        assert_read(text);
    }
}

TEST(runs_of_short_numbers_are_read_as_all_others)
{
    uint64_t seed = 5;
    size_t n_short = 0;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        const double x = (2 * random_unit(&seed) - 1) * pow(10, (int)random_below(&seed, 3) - 1);
        const int n =
            snprintf(text, sizeof text, "%.*f", (int)random_below(&seed, 12), x); /* digits */
        (void)snprintf(text + n, sizeof text - (size_t)n, "%s", i % 3 ? ",-1.0 ,2.0" : "e1,2.0 ,3");
        const char *end = text + strlen(text);
        bool in_range = false;
        double one = 0, other = 0;
        size_t n_read;
        const char *after = tacit__decimal_run(text, end, 2, &one, &n_read);
        if (n_read == 0) {
            assert_ptr_equal(after, text);
            continue;
        }
        n_short++;
        assert_int_equal(n_read, 1);
        assert_ptr_equal(tacit__decimal_read(text, end, &other, &in_range), after - 1);
        assert_true(in_range && memcmp(&one, &other, sizeof one) == 0);
    }
    assert_true(n_short > 20000);
}

/* Digits are read several bytes at a time: what follows a number is no part of it, whatever it is. */
TEST(a_number_ends_where_its_digits_end)
{
    static const char *const numbers[] = {"0",          "7",         "-3",        "0.5",
                                          "-0.221371",  "1.2345678", "1.1234567", "12.25",
                                          "0.12345678", "9.9e2",     "-1.5E-3",   "1234567.5"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int next = 0; next < 256; next++) {
            char text[40];
            const size_t n = strlen(numbers[i]);
            memset(text, '1', sizeof text); /* digits that would be taken along */
            memcpy(text, numbers[i], n);
            text[n] = (char)next;
            if ((next >= '0' && next <= '9') || next == '.' || (next | 0x20) == 'e')
                continue;
            bool in_range = false;
            double got = (double)NAN;
            for (size_t left = n + 1; left <= sizeof text; left++) {
                assert_ptr_equal(tacit__decimal_read(text, text + left, &got, &in_range), text + n);
                assert_true(in_range && got == strtod(numbers[i], NULL));
            }
        }
}

/* Halves between two doubles, exactly and with a digit more or less: where rounding is decided. */
TEST(ties_go_to_the_even_one)
{
    char text[400];
    uint64_t seed = 4;
    for (int i = 0; i < 100000; i++) {
        const uint64_t odd = (random_word(&seed) >> 11 | UINT64_C(1) << 52) * 2 + 1; /* 54 bits */
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)odd);
        assert_read(text);
        const int down = (int)random_below(&seed, 8);
        (void)snprintf(text, sizeof text, "%.*f", down, ldexp((double)(odd >> 1), -down));
        assert_read(text);
        (void)snprintf(text, sizeof text, "%llu.5", (unsigned long long)(odd >> 1));
        assert_read(text);
    }
    static const char *const known[] = {"9007199254740993",
                                        "9007199254740992.5",
                                        "9007199254740993.0",
                                        "18446744073709551615",
                                        "9999999999999999999",
                                        "10000000000000000000",
                                        "123456789012345678901",
                                        "0.1234567890123456789",
                                        "5e-324",
                                        "2.2250738585072011e-308",
                                        "1.7976931348623157e308",
                                        "0",
                                        "-0",
                                        "0.0",
                                        "-0.0e5",
                                        "0e400",
                                        "0.000000000000000000000000000001",
                                        "1e22",
                                        "1e23",
                                        "8.5e-40",
                                        "89255e-22",
                                        "104110013277974872254e-225"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_read(known[i]);
}

TEST(what_is_no_number_is_not_read)
{
    static const char *const wrong[] = {"",    "-",  ".5",  "1.", "01",  "-01",      "1.e5", "1e",
                                        "1e+", "+1", "NaN", "e5", "--1", "Infinity", "-.1",  "00"};
    double x;
    bool in_range;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(tacit__decimal_read(wrong[i], wrong[i] + strlen(wrong[i]), &x, &in_range));
    static const char *const beyond[] = {"1e309", "-1e309", "1e99999999999",
                                         "17976931348623159e292"};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_non_null(
            tacit__decimal_read(beyond[i], beyond[i] + strlen(beyond[i]), &x, &in_range));
        assert_false(in_range);
    }
    static const char follows[] = "12,3";
    assert_ptr_equal(tacit__decimal_read(follows, follows + 4, &x, &in_range), follows + 2);
    assert_true(x == 12 && in_range);
    assert_ptr_equal(tacit__decimal_read(follows, follows + 1, &x, &in_range), follows + 1);
    assert_true(x == 1); /* no further than the end */
}
