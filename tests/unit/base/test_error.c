/* Messages, whatever they quote, are text. */
#include "base/error.h"
#include "support/check.h"

TEST(what_a_message_quotes_is_made_printable)
{
    static const struct {
        const char *quoted, *shown;
    } cases[] = {{"plain", "plain"},
                 {"caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac"}, /* UTF-8 stays */
                 {"a\x1b[2Jb\x07\x7f", "a?[2Jb??"},
                 {"\xa5\xa5\xff", "???"},
                 {"cut \xe2\x82", "cut ??"},
                 {"two\nlines\tand a tab", "two\nlines\tand a tab"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_error err = {0};
        assert_int_equal(tacit__fail(&err, TACIT_CORRUPT, "%s", cases[i].quoted), TACIT_CORRUPT);
        assert_string_equal(err.message, cases[i].shown);
    }
}
