/* JSON from strangers: what is taken, what is refused, and what it means; and text that is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/check.h"
#include "support/random.h"
#include "text/json.h"
#include "text/json_text.h"
#include "text/text.h"

enum { ROOM = 64 };
static tacit__json_node nodes[ROOM];

static size_t parse(const char *text)
{
    const char *why = NULL;
    size_t n = tacit__json_parse(text, strlen(text), nodes, ROOM, &why);
    assert_true((n == 0) == (why != NULL));
    return n;
}

TEST(what_the_grammar_allows_is_taken)
{
    static const struct {
        const char *text;
        size_t n;
    } cases[] = {{"null", 1},
                 {" true ", 1},
                 {"\t\r\nfalse\n", 1},
                 {"0", 1},
                 {"-0", 1},
                 {"-12.5e-3", 1},
                 {"1E+2", 1},
                 {"\"\"", 1},
                 {"\"a\\u00e9\\n\\\"\\\\\\/\\b\\f\\r\\t\"", 1},
                 {"\"\\ud83d\\ude00\"", 1},
                 {"\"\xc3\xa9\xf0\x9f\x98\x80\"", 1},
                 {"[]", 1},
                 {"{}", 1},
                 {"[1,[2,[]],{\"a\":null}]", 8},
                 {"{\"a\":1,\"b\":{\"a\":2}}", 7},
                 {"[[[[[[[[]]]]]]]]", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (parse(cases[i].text) != cases[i].n)
            fail_msg("%s", cases[i].text);
}

TEST(everything_else_is_refused)
{
    static const char *const cases[] = {"",
                                        " ",
                                        "nul",
                                        "truex",
                                        "TRUE",
                                        "01",
                                        "1.",
                                        ".5",
                                        "-",
                                        "+1",
                                        "1e",
                                        "1e+",
                                        "0x1",
                                        "NaN",
                                        "Infinity",
                                        "1e999",
                                        "\"",
                                        "\"\\x\"",
                                        "\"\\u12g4\"",
                                        "\"\\ud800\"",
                                        "\"\\udc00\"",
                                        "\"\\ud800\\u0041\"",
                                        "\"\n\"",
                                        "\"\x80\"",
                                        "\"\xc0\xaf\"",
                                        "\"\xed\xa0\x80\"",
                                        "\"\xf5\x80\x80\x80\"",
                                        "\"\xe2\x82\"",
                                        "[",
                                        "]",
                                        "[1",
                                        "[1,",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "{",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{\"a\":1,}",
                                        "{a:1}",
                                        "{'a':1}",
                                        "{1:1}",
                                        "{\"a\":1 \"b\":2}",
                                        "{\"a\":1,\"a\":2}",
                                        "1 2",
                                        "[] []",
                                        "//",
                                        "[[[[[[[[[]]]]]]]]]",
                                        "{\"a\":1}x"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (parse(cases[i]) != 0)
            fail_msg("%s", cases[i]);
    const char *why;
    assert_int_equal(tacit__json_parse("\"a\0b\"", 5, nodes, ROOM, &why), 0);
    char many[6 * ROOM] = "[null";
    for (int i = 1; i < ROOM; i++)
        (void)strcat(many, ",null");
    (void)strcat(many, "]");
    assert_int_equal(parse(many), 0);
    assert_int_equal(tacit__json_parse("[1]", 3, nodes, 1, &why), 0);
    assert_int_equal(tacit__json_parse("1", 1, nodes, 0, &why), 0);
}

/* Whatever is cut off anywhere is refused, never read past. */
/* Keys are compared with each other: many of them would take long. */
TEST(an_object_has_so_many_keys_and_no_more)
{
    static tacit__json_node many[4 * TACIT__JSON_KEYS];
    for (int n = TACIT__JSON_KEYS; n <= TACIT__JSON_KEYS + 1; n++) {
        char text[16 * (TACIT__JSON_KEYS + 2)] = "{";
        const char *why = NULL;
        for (int i = 0; i < n; i++)
            (void)sprintf(text + strlen(text), "%s\"%d\":[]", i > 0 ? "," : "", i);
        (void)strcat(text, "}");
        size_t got = tacit__json_parse(text, strlen(text), many, sizeof many / sizeof *many, &why);
        if (n > TACIT__JSON_KEYS) {
            assert_true(got == 0);
            assert_string_equal(why, "an object has too many keys");
        } else {
            assert_true(got == 2 * (size_t)n + 1);
        }
    }
}

TEST(a_text_that_is_cut_short_is_refused)
{
    static const char text[] = "{\"key\":[true,-1.5e3,\"\\ud83d\\ude00\xc3\xa9\",null],\"b\":{}}";
    for (size_t n = 0; n + 1 < sizeof text - 1; n++) {
        const char *why;
        char *copy = tacit__alloc(n + 1, 1); /* so that a sanitizer sees what is read */
        memcpy(copy, text, n);
        assert_int_equal(tacit__json_parse(copy, n, nodes, ROOM, &why), 0);
        tacit__free(copy);
    }
}

TEST(values_are_found_by_their_keys)
{
    char text[16];
    uint64_t n;
    assert_true(parse("{\"a\":[1,2],\"b\":\"x\\u00e9y\",\"c\":{\"b\":3},\"d\":5}") > 0);
    const tacit__json_node *a = tacit__json_get(nodes, nodes, "a");
    assert_true(a->kind == TACIT__JSON_NUMBERS && a->size == 2 && tacit__json_number_at(a, 1) == 2);
    const tacit__json_node *b = tacit__json_get(nodes, nodes, "b");
    assert_true(tacit__json_string(b, text, sizeof text));
    assert_string_equal(text, "x\xc3\xa9y");
    assert_false(tacit__json_string(b, text, 4)); /* no room for the end */
    const tacit__json_node *c = tacit__json_get(nodes, nodes, "c");
    assert_true(tacit__json_get(c, nodes, "b")->number == 3);
    assert_null(tacit__json_get(c, nodes, "a"));
    assert_null(tacit__json_get(a, nodes, "a"));
    const tacit__json_node *d = tacit__json_get(nodes, nodes, "d");
    assert_true(tacit__json_count(d, 5, &n) && n == 5);
    assert_false(tacit__json_count(d, 4, &n));
    assert_false(tacit__json_count(b, 100, &n));
    assert_true(parse("[-1,0.5,1e300,9007199254740993,\"a\\u0000b\"]") > 0);
    for (int i = 1; i < 4; i++)
        assert_false(tacit__json_count(&nodes[i], UINT64_MAX, &n));
    assert_false(tacit__json_string(&nodes[5], text, sizeof text)); /* a NUL inside */
}

/* The short way and the long way give the same bits. */
TEST(numbers_are_read_to_the_last_bit)
{
    uint64_t random = 4;
    for (int i = 0; i < 200000; i++) {
        char text[40];
        double size = pow(10, 12 * random_unit(&random) - 6);
        int n = snprintf(text, sizeof text, "%.*f", (int)(16 * random_unit(&random)),
                         (2 * random_unit(&random) - 1) * size);
        assert_true(parse(text) == 1);
        double wanted = strtod(text, NULL);
        assert_true(n > 0 && memcmp(&wanted, &nodes[0].number, sizeof wanted) == 0);
    }
    assert_true(parse("-0.0") == 1 && signbit(nodes[0].number));
}

TEST(arrays_of_numbers_are_one_node)
{
    static const char text[] =
        "{\"a\":[0.5,-1.25,3, 0.125 ,-0.0000001,0.12345678,2.5e3\n,0.0625],\"b\":[0.75]}";
    static const double wanted[] = {0.5, -1.25, 3, 0.125, -1e-7, 0.12345678, 2.5e3, 0.0625};
    assert_int_equal(parse(text), 8);
    const tacit__json_node *a = tacit__json_get(nodes, nodes, "a"),
                           *b = tacit__json_get(nodes, nodes, "b");
    assert_true(a == &nodes[2] && a->kind == TACIT__JSON_NUMBERS && a->size == 8 && a->next == 5);
    assert_true(a->length == strcspn(text, "]") - 4 && a->text == text + 5);
    for (uint32_t i = 0; i < 8; i++)
        assert_true(tacit__json_number_at(a, i) == wanted[i]);
    assert_true(b->kind == TACIT__JSON_NUMBERS && b->size == 1 && b->next == 8);
    assert_true(tacit__json_number_at(b, 0) == 0.75);
    /* as many as there is room for, and one more */
    const char *why;
    tacit__json_node few[2];
    assert_int_equal(tacit__json_parse("[1,2,3,4]", 9, few, 2, &why), 2);
    assert_int_equal(tacit__json_parse("[0.0,0.0,0.0,0.0,0.000000]", 26, few, 2, &why), 0);
    assert_string_equal(why, "it has too many parts");
}

TEST(other_arrays_have_a_node_for_each_number)
{
    static const char text[] = "[0.5,-1.25,3, 0.125 ,-0.0000001,0.12345678,2.5e3,[0.5,0.5],0.75]";
    static const double wanted[] = {0.5, -1.25, 3, 0.125, -1e-7, 0.12345678, 2.5e3};
    assert_int_equal(parse(text), 11);
    assert_true(nodes[0].kind == TACIT__JSON_ARRAY && nodes[0].size == 9 && nodes[0].next == 11);
    for (uint32_t i = 0; i < 7; i++) {
        const tacit__json_node *node = &nodes[1 + i];
        assert_true(node->kind == TACIT__JSON_NUMBER && node->number == wanted[i]);
        assert_int_equal(node->next, 2 + i);
        assert_true(strtod(node->text, NULL) == wanted[i] &&
                    strchr(", ", node->text[node->length]));
    }
    assert_true(nodes[8].kind == TACIT__JSON_NUMBERS && nodes[8].size == 2 && nodes[8].next == 10);
    assert_true(nodes[10].number == 0.75);
    static const char *const bad[] = {
        "[0.5000,]",          "[0.5000,,0.25000]", "[0.5000,00.5000000]", "[0.5000,-]",
        "[0.5000,.50000000]", "[0.5000,0.]",       "[0.500000,0.25,",     "[0.50000000,0.25"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(parse(bad[i]), 0);
    const char *why;
    tacit__json_node few[3];
    assert_int_equal(tacit__json_parse(text, sizeof text - 1, few, 3, &why), 0);
    assert_string_equal(why, "it has too many parts");
}

TEST(text_that_is_written_can_be_read_again)
{
    SCOPED_BY(tacit__text_destroy) tacit__text t = {0};
    static const char odd[] = "q\"b\\s\n\x01\x7f\xc3\xa9\xff";
    char back[64];
    tacit__text_json_string(&t, odd, sizeof odd - 1);
    assert_true(parse(t.data) == 1 && tacit__json_string(nodes, back, sizeof back));
    assert_string_equal(back, "q\"b\\s\n\x01\x7f\xc3\xa9\xef\xbf\xbd");
    tacit__text_destroy(&t);
    static const double numbers[] = {0,       -0.0,  1, 0.1, 1e-300, 1.7976931348623157e308,
                                     1.0 / 3, 5e-324};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        tacit__text_number(&t, numbers[i]);
        assert_true(parse(t.data) == 1 && nodes[0].number == numbers[i]);
        tacit__text_destroy(&t);
    }
    for (uint64_t i = 0, word = 1; i < 100000; i++, word = word * 6364136223846793005 + 1) {
        /* short decimals of all sizes, as printf has them */
        const double x = (double)(word >> 40) / pow(10, (double)(i % 13));
        char wanted[32];
        (void)snprintf(wanted, sizeof wanted, "%.15g", x);
        tacit__text_number(&t, x);
        assert_string_equal(t.data, wanted);
        t.length = 0;
    }
    tacit__text_destroy(&t);
    tacit__text_number(&t, (double)NAN);
    assert_string_equal(t.data, "null");
    tacit__text_destroy(&t);
    for (int i = 0; i < 1000; i++)
        tacit__text_print(&t, "%d,", i);
    assert_true(t.length == strlen(t.data) && !t.failed);
}

static void write_some(tacit__json_writer *w)
{
    tacit__json_begin_object(w, NULL);
    tacit__json_put_string(w, "a", "x\"y");
    tacit__json_begin_list(w, "list");
    tacit__json_put_count(w, NULL, UINT64_MAX);
    tacit__json_put_integer(w, NULL, INT64_MIN);
    tacit__json_begin_object(w, NULL);
    tacit__json_end(w);
    tacit__json_end(w);
    tacit__json_begin_list(w, "none");
    tacit__json_end(w);
    tacit__json_put_flag(w, "yes", true);
    tacit__json_put_real(w, "nan", (double)NAN);
    tacit__json_put_string(w, "null", NULL);
    tacit__json_put_null(w, "too");
    tacit__json_end(w);
}

TEST(documents_are_laid_out_for_people_or_in_one_line)
{
    tacit__json_writer wide = {.indent = 2}, narrow = {0};
    write_some(&wide);
    write_some(&narrow);
    assert_string_equal(wide.text.data, "{\n  \"a\": \"x\\\"y\",\n  \"list\": [\n"
                                        "    18446744073709551615,\n    -9223372036854775808,\n"
                                        "    {}\n  ],\n  \"none\": [],\n  \"yes\": true,\n"
                                        "  \"nan\": null,\n  \"null\": null,\n  \"too\": null\n}");
    assert_string_equal(narrow.text.data,
                        "{\"a\":\"x\\\"y\",\"list\":[18446744073709551615,"
                        "-9223372036854775808,{}],\"none\":[],\"yes\":true,\"nan\":null,"
                        "\"null\":null,\"too\":null}");
    assert_int_equal(parse(narrow.text.data), parse(wide.text.data));
    tacit__text_destroy(&wide.text);
    tacit__text_destroy(&narrow.text);
}

TEST(reals_with_so_many_digits_look_like_reals)
{
    tacit__json_writer w = {.digits = 17};
    static const double numbers[] = {0, -0.0, 1, 0.5, 0.1, 1e-5, -2.5e-310, 1e16, 1e17, 3e300};
    tacit__json_begin_list(&w, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tacit__json_put_real(&w, NULL, numbers[i]);
    tacit__json_end(&w);
    assert_string_equal(
        w.text.data, "[0.0,-0.0,1.0,0.5,0.10000000000000001,1.0000000000000001e-5,"
                     "-2.5000000000000171e-310,10000000000000000.0,1e17,3.0000000000000002e300]");
    tacit__text_destroy(&w.text);
}

TEST(text_without_memory_says_so)
{
    SCOPED_BY(tacit__text_destroy) tacit__text t = {0};
    tacit__text_put(&t, "kept");
    tacit__alloc_fail_at(1);
    for (int i = 0; i < 1000; i++)
        tacit__text_put(&t, "0123456789");
    tacit__alloc_fail_at(0);
    assert_true(t.failed && strncmp(t.data, "kept", 4) == 0);
    size_t size = t.length;
    tacit__text_put(&t, "more");
    assert_true(t.length == size);
}
