/* base/fields: one table, for options and for files. */
#include <math.h>
#include <string.h>

#include "support/check.h"
#include "text/fields.h"
#include "text/settings.h"

typedef struct object {
    bool flag;
    uint64_t count;
    double real;
    size_t word;
    const char *text;
    int other;
} object;

static bool read_letter(const char *text, void *out)
{
    if (strlen(text) != 1)
        return false;
    *(int *)out = text[0];
    return true;
}

static const char *const words[] = {"tree", "smooth", "blt", NULL};
static const tacit__range range = {0, 2, .open = true, .infinite = true, .expected = "a number"};
enum { FLAG, COUNT, REAL, WORD, TEXT, OTHER };
static const tacit__field fields[] = {
    {"flag", TACIT__FIELD_FLAG, .offset = offsetof(object, flag)},
    {"count", TACIT__FIELD_COUNT, offsetof(object, count), .low = 3, .high = 64},
    {"real", TACIT__FIELD_REAL, offsetof(object, real), .range = &range},
    {"word", TACIT__FIELD_WORD, offsetof(object, word), .words = words},
    {"text", TACIT__FIELD_TEXT, offsetof(object, text), 1, 4, .expected = "a short text"},
    {"other", TACIT__FIELD_OTHER, offsetof(object, other), .parse = read_letter},
    {.name = NULL}};

TEST(values_go_where_the_table_says)
{
    object o = {0};
    assert_true(tacit__field_read(&fields[FLAG], "yes", &o) && o.flag);
    assert_true(tacit__field_read(&fields[FLAG], "no", &o) && !o.flag);
    assert_true(tacit__field_read(&fields[FLAG], "true", &o) && o.flag);
    assert_true(tacit__field_read(&fields[FLAG], "false", &o) && !o.flag);
    assert_true(tacit__field_read(&fields[COUNT], "64", &o) && o.count == 64);
    assert_true(tacit__field_read(&fields[REAL], "1e-3", &o) && o.real == 1e-3);
    assert_true(tacit__field_read(&fields[REAL], ".inf", &o) && isinf(o.real));
    assert_true(tacit__field_read(&fields[WORD], "blt", &o) && o.word == 2);
    assert_true(tacit__field_read(&fields[TEXT], "four", &o) && strcmp(o.text, "four") == 0);
    assert_true(tacit__field_read(&fields[OTHER], "x", &o) && o.other == 'x');
}

TEST(whole_numbers_may_be_written_as_people_write_them)
{
    static const struct {
        const char *text;
        int64_t value; /* -1: refused */
    } cases[] = {{"50_000", 50000}, {"5e4", 50000},  {"1E5", 100000}, {"2.5e3", 2500},
                 {"1e0", 1},        {"1e+2", 100},   {"1_0e1", 100},  {"9e18", 9000000000000000000},
                 {"9.3e18", -1},    {"1e19", -1},    {"2.55e1", -1},  {"1e-1", -1},
                 {"_1", -1},        {"1_", -1},      {"1__0", -1},    {"1.", -1},
                 {"1.5", -1},       {"e5", -1},      {"1e", -1},      {".5e1", -1},
                 {"50,000", -1},    {"50k", -1},     {"0x10", -1},    {"", -1},
                 {"1e5e5", -1},     {"1.2.3e5", -1}, {"1 000", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = -1;
        const bool good = tacit__read_whole(cases[i].text, strlen(cases[i].text), &value);
        if (good != (cases[i].value >= 0) || value != cases[i].value)
            fail_msg("'%s' is read as %lld", cases[i].text, (long long)value);
    }
}

TEST(what_nobody_can_mistake_is_proposed)
{
    char hint[TACIT__WHOLE_HINT];
    assert_string_equal(tacit__whole_hint("50,000", hint), "; write 50000");
    assert_string_equal(tacit__whole_hint("50 000", hint), "; write 50000");
    assert_string_equal(tacit__whole_hint("50k", hint), "; write 50000");
    assert_string_equal(tacit__whole_hint("2M", hint), "; write 2000000");
    assert_string_equal(tacit__whole_hint("many", hint), "");
    assert_string_equal(tacit__whole_hint("50000", hint), "");
    assert_string_equal(tacit__whole_hint("-5k", hint), "");
    assert_string_equal(tacit__whole_hint("", hint), "");
}

TEST(what_is_wrong_leaves_the_object_as_it_was)
{
    static const struct {
        size_t field;
        const char *text, *expected;
    } cases[] = {{FLAG, "maybe", "yes or no"},
                 {COUNT, "2", "a whole number from 3 to 64"},
                 {COUNT, "65", "a whole number from 3 to 64"},
                 {COUNT, "-3", "a whole number from 3 to 64"},
                 {COUNT, "3.0", "a whole number from 3 to 64"},
                 {COUNT, "", "a whole number from 3 to 64"},
                 {REAL, "0", "a number"},
                 {REAL, "2", "a number"},
                 {REAL, "nan", "a number"},
                 {WORD, "Tree", "tree, smooth or blt"},
                 {TEXT, "", "a short text"},
                 {TEXT, "five5", "a short text"},
                 {OTHER, "xy", "a text"}};
    const object before = {true, 7, 0.5, 1, "kept", 9};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tacit__field *f = &fields[cases[i].field];
        char expected[TACIT__EXPECTED];
        object o = before;
        assert_false(tacit__field_read(f, cases[i].text, &o));
        assert_true(o.flag && o.count == 7 && o.real == 0.5 && o.word == 1 && o.other == 9);
        assert_ptr_equal(o.text, before.text);
        assert_string_equal(tacit__field_expected(f, expected), cases[i].expected);
    }
}

TEST(names_are_found_and_slips_forgiven)
{
    assert_int_equal(tacit__field_find(fields, "word"), WORD);
    assert_int_equal(tacit__field_find(fields, "wor"), SIZE_MAX);
    assert_string_equal(tacit__field_nearest(fields, "cuont"), "count");
    assert_string_equal(tacit__field_nearest(fields, "wod"), "word");
    assert_string_equal(tacit__field_nearest(fields, "cou"), "count"); /* its beginning */
    assert_string_equal(tacit__field_nearest(fields, "txet"),
                        "text"); /* two letters changed places */
    assert_null(tacit__field_nearest(fields, "co"));
    assert_null(tacit__field_nearest(fields, "quantity"));
}
