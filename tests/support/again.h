/* Calls that run out of memory and are made again. */
#ifndef TACIT_TESTS_AGAIN_H
#define TACIT_TESTS_AGAIN_H

#include <string.h>

#include "base/memory.h"
#include "support/check.h"

/* Makes a call; if it ran out of memory, counts that in (l)->failures, checks what it said and makes it again. A call that does not
 * fail says nothing. */
#define TRY(l, call)                                                                               \
    do {                                                                                           \
        tacit_error err = {0};                                                                     \
        tacit_status status = (call);                                                              \
        if (status == TACIT_NO_MEMORY) {                                                           \
            (l)->failures++;                                                                       \
            assert_true(tacit__alloc_has_failed());                                                \
            assert_true(err.status == TACIT_NO_MEMORY || err.status == TACIT_OK);                  \
            assert_true(err.status == TACIT_OK || strlen(err.message) > 0);                        \
            assert_ok(call);                                                                       \
        } else {                                                                                   \
            assert_string_equal(err.message, "");                                                  \
            assert_ok(status);                                                                     \
        }                                                                                          \
    } while (0)

#endif
