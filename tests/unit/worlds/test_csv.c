/* The reader of comma-separated files: quotes, blanks, and what it refuses. */
#include "worlds/csv.h"

#include <stdio.h>
#include <string.h>

#include "support/check.h"

static tacit_status open_text(tacit__csv *csv, const char *header, const char *text,
                              tacit_error *err)
{
    return tacit__csv_open(csv, "f", header, (tacit__span){text, strlen(text)}, err);
}

/* The fields of the current line, each in brackets. */
static void show(const tacit__csv *csv, char out[200])
{
    size_t used = 0;
    for (size_t i = 0; i < csv->n_fields; i++)
        used += (size_t)snprintf(out + used, 200 - used, "[%.*s]", (int)csv->field[i].size,
                                 csv->field[i].text);
}

TEST(fields_are_trimmed_and_may_be_quoted_below_names)
{
    static const struct {
        const char *text, *fields;
    } cases[] = {
        {"a,b", "[a][b]"},           {"\xef\xbb\xbf a ,\tb c \r\n", "[a][b c]"},
        {"\n \t\n,", "[][]"},        {"\"a,b\",c", "[a,b][c]"},
        {" \"a\" , \"\" ", "[a][]"}, {"\"a \"\"b\"\"\",", "[a \"\"b\"\"][]"},
        {"\"\"\"\"", "[\"\"]"},      {"a\"b\",c", "[a\"b\"][c]"},
        {"\"a\", ", "[a][]"},
    };
    tacit__csv csv;
    char shown[200];
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_ok(open_text(&csv, NULL, cases[i].text, NULL));
        show(&csv, shown);
        assert_string_equal(shown, cases[i].fields);
    }
}

TEST(quotes_mean_nothing_in_a_table)
{
    tacit__csv csv;
    bool more;
    char shown[200];
    assert_ok(open_text(&csv, "x,y", "x, y\n\n\"1,2\"\n", NULL));
    assert_ok(tacit__csv_next(&csv, &more, NULL));
    assert_true(more);
    assert_int_equal(csv.line, 3);
    show(&csv, shown);
    assert_string_equal(shown, "[\"1][2\"]");
    assert_ok(tacit__csv_next(&csv, &more, NULL));
    assert_false(more);
}

TEST(wrong_lines_are_refused)
{
    static const struct {
        const char *header, *text, *message;
    } cases[] = {
        {NULL, " \n", "f: the file is empty, expected a header with names of columns"},
        {NULL, "a,\"b", "f:1: field 2: a quote is not closed, or text follows it"},
        {NULL, "a\n\n\"b\" c", "f:3: field 1: a quote is not closed, or text follows it"},
        {NULL, "a,b\nc", "f:2: 1 field, expected 2 as in the header"},
        {"x,y", "", "f: the file is empty, expected the header x,y"},
        {"x,y", "x", "f:1: the header is 'x', expected x,y"},
        {"x,y", "x,y,", "f:1: the header is 'x,y,', expected x,y"},
        {"x,y", "x,y\n1,2,3", "f:2: 3 fields, expected 2: x,y"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        tacit__csv csv;
        tacit_error err = TACIT_ERROR_INIT;
        bool more = true;
        tacit_status status = open_text(&csv, cases[i].header, cases[i].text, &err);
        while (status == TACIT_OK && more)
            status = tacit__csv_next(&csv, &more, &err);
        assert_int_equal(status, TACIT_SYNTAX);
        assert_string_equal(err.message, cases[i].message);
    }
}

TEST(a_line_has_at_most_1024_fields)
{
    char text[1025];
    tacit__csv csv;
    memset(text, ',', sizeof text);
    text[1023] = '\0';
    assert_ok(open_text(&csv, NULL, text, NULL));
    assert_int_equal(csv.n_fields, 1024);
    text[1023] = ',';
    text[1024] = '\0';
    assert_status(open_text(&csv, NULL, text, NULL), TACIT_TOO_LARGE);
}
