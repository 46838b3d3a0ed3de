/* What is written into pages: text that cannot become markup, numbers for people and for programs; files that appear
 * whole or not at all. */
#include "support/check.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "report/write.h"

typedef void writer(tacit__text *to, const char *text);

static void assert_written(writer *write, const char *text, const char *wanted)
{
    SCOPED_BY(tacit__text_destroy) tacit__text t = {0};
    write(&t, text);
    assert_false(t.failed);
    assert_string_equal(t.data != NULL ? t.data : "", wanted);
}

TEST(markup_is_escaped_in_html)
{
    assert_written(tacit__write_html, "<script>\"a\" & 'b'</script>",
                   "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
    assert_written(tacit__write_html, "ε ≤ 1, 漢字, 🙂", "ε ≤ 1, 漢字, 🙂");
    assert_written(tacit__write_html, "", "");
}

TEST(bytes_that_are_no_text_are_replaced)
{
    assert_written(tacit__write_html, "a\x01z\x7f", "a\xef\xbf\xbdz\xef\xbf\xbd");
    assert_written(tacit__write_html, "a\xffz", "a\xef\xbf\xbdz");
    /* an overlong '<', a surrogate, a character that is cut off, a non-character */
    assert_written(tacit__write_html, "\xc0\xbc", "\xef\xbf\xbd\xef\xbf\xbd");
    assert_written(tacit__write_html, "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_written(tacit__write_html, "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
    assert_written(tacit__write_html, "\xef\xbf\xbe", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_written(tacit__write_json, "a\xffz", "\"a\xef\xbf\xbdz\"");
}

TEST(strings_in_scripts_cannot_end_them)
{
    assert_written(tacit__write_json, "</script><!-- & \"q\" \\ '",
                   "\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u0022q\\u0022 \\u005c \\u0027\"");
    assert_written(tacit__write_json, "a\nb\t\xe2\x80\xa8\xe2\x80\xa9",
                   "\"a\\u000ab\\u0009\\u2028\\u2029\"");
}

TEST(long_labels_lose_their_middle)
{
    SCOPED_BY(tacit__text_destroy) tacit__text t = {0};
    tacit__write_html_short(&t, "0123456789", 10);
    tacit__text_put(&t, "|");
    tacit__write_html_short(&t, "<<<<<<0123456789<<<", 10);
    assert_string_equal(t.data, "0123456789|&lt;&lt;&lt;&lt;&lt;…9&lt;&lt;&lt;");
}

TEST(sentences_get_mathematics)
{
    assert_written(tacit__write_prose, "mu = 1.1^2, epsilon 2e-06 at delta; multi|x|_2 <= <b>",
                   "<i>μ</i> = 1.1², <i>ε</i> 2×10⁻⁶ at <i>δ</i>; multi|x|<sub>2</sub> ≤ "
                   "&lt;b&gt;");
}

static void assert_number(double x, int digits, const char *wanted)
{
    char out[TACIT__NUMBER];
    assert_string_equal(tacit__number(out, x, digits), wanted);
}

TEST(numbers_read_well)
{
    char out[TACIT__NUMBER];
    assert_number(0, 4, "0");
    assert_number(11508.4, 4, "11,508");
    assert_number(-1234567, 3, "−1,234,567");
    assert_number(0.0096, 3, "0.0096");
    assert_number(2e-6, 3, "2×10⁻⁶");
    assert_number(1e-10, 3, "10⁻¹⁰");
    assert_number(1.25e12, 3, "1.25×10¹²");
    assert_number(HUGE_VAL, 3, "∞");
    assert_number((double)NAN, 3, "–");
    assert_string_equal(tacit__count(out, UINT64_C(1000000000000)), "1,000,000,000,000");
    assert_string_equal(tacit__mean(out, 11508.4, 95.2), "11,508 ± 95");
    assert_string_equal(tacit__mean(out, 33.123, 1.24), "33.1 ± 1.2");
    assert_string_equal(tacit__mean(out, 33.123, (double)NAN), "33.12");
    assert_string_equal(tacit__mean(out, 5, 0), "5 ± 0");
    assert_string_equal(tacit__percent(out, 0.0199), "2.0\xc2\xa0%");
    assert_string_equal(tacit__percent(out, 0.000424), "0.042\xc2\xa0%");
    assert_string_equal(tacit__seconds(out, 0.2), "0.20");
    assert_string_equal(tacit__seconds(out, 3456.7), "3,457");
}

/* Whichever of these the system has; with none of them the case says nothing, and cannot. */
TEST(numbers_do_not_follow_the_locale)
{
    static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "de_DE"};
    char out[TACIT__NUMBER];
    const char *found = NULL;
    for (size_t i = 0; i < 4 && found == NULL; i++)
        found = setlocale(LC_NUMERIC, comma[i]);
    tacit__text t = {0};
    tacit__write_json_number(&t, 1.5);
    tacit__write_json_number(&t, HUGE_VAL);
    assert_string_equal(t.data, "1.5null");
    assert_string_equal(tacit__coordinate(out, 3.25), "3.25");
    assert_number(0.5, 3, "0.5");
    tacit__text_destroy(&t);
    (void)setlocale(LC_NUMERIC, "C");
}

TEST(text_without_memory_says_so)
{
    SCOPED_BY(tacit__text_destroy) tacit__text t = {0};
    tacit__alloc_fail_at(1);
    tacit__text_put(&t, "a");
    tacit__alloc_fail_at(0);
    tacit__text_put(&t, "b");
    assert_true(t.failed);
    assert_int_equal(t.length, 0);
    tacit__text_destroy(&t);
    for (int i = 0; i < 20000; i++) /* across many growths */
        tacit__text_print(&t, "%d,", i % 10);
    assert_int_equal(t.length, 40000);
    assert_memory_equal(t.data + 39998, "9,", 3);
}

TEST(files_are_replaced_whole)
{
    char directory[] = "/tmp/tacit-write-XXXXXX", path[64], got[16] = "";
    tacit_error err = {0};
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/page", directory);
    assert_ok(tacit__file_replace(path, "first", 5, &err));
    assert_ok(tacit__file_replace(path, "second", 6, &err));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, sizeof got, file), 6);
    assert_string_equal(got, "second");
    (void)fclose(file);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* a directory stands in the way */
    assert_status(tacit__file_replace(path, "x", 1, &err), TACIT_SYSTEM);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(directory), 0); /* nothing was left behind */
    assert_status(tacit__file_replace(path, "x", 1, &err), TACIT_SYSTEM);
}
