/* The record of decisions of one user: bytes that are no record are refused, whatever they are. */
#include <string.h>

#include "serve/people/decision_log.h"
#include "support/check.h"

TEST(damaged_records_are_none)
{
    uint8_t bytes[3 * 8 + 7 * 8] = {1};
    SCOPED_BY(tacit__text_destroy) tacit__text out = {0};
    bytes[8] = 1;
    bytes[16] = 2;
    assert_true(tacit__decision_log_write(bytes, sizeof bytes, 1, "a", NULL, &out));
    for (size_t n = 0; n < sizeof bytes; n++)
        assert_false(tacit__decision_log_write(bytes, n, 1, "a", NULL, &out));
    for (size_t i = 0; i < 24; i++) {
        uint8_t other[sizeof bytes];
        memcpy(other, bytes, sizeof other);
        other[i] ^= 0x80;
        assert_false(tacit__decision_log_write(other, sizeof other, 1, "a", NULL, &out));
    }
}
