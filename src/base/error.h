/* Failures and their messages. */
#ifndef TACIT_BASE_ERROR_H
#define TACIT_BASE_ERROR_H

#include <tacit/status.h>

/* Writes status and message into err (may be NULL) and returns status, so that a function can say
 *     return tacit__fail(err, TACIT_BAD_EPSILON, "epsilon is %g, expected > 0", epsilon); */
__attribute__((format(printf, 3, 4))) tacit_status tacit__fail(tacit_error *err,
                                                               tacit_status status,
                                                               const char *format, ...);

/* The same with the list's general sentence. */
tacit_status tacit__fail_plain(tacit_error *err, tacit_status status);

#ifdef __clang_analyzer__ /* cannot see across files that a failure is never OK */
#define tacit__fail(err, status, ...) (tacit__fail(err, status, __VA_ARGS__), (status))
#define tacit__fail_plain(err, status) (tacit__fail_plain(err, status), (status))
#endif

/* Adds a hint, what the user can do, to the failure in `err`. Returns status. */
tacit_status tacit__fail_hinted(tacit_error *err, tacit_status status, tacit_hint hint);

/* Reports a failure that happened elsewhere, on another thread perhaps. */
tacit_status tacit__fail_again(tacit_error *err, const tacit_error *failure);

/* The next step of a sequence: returns its status from this function if it failed. Only where
 * nothing is left to clean up:
 *     TRY(read_head(file, err));
 *     TRY(read_rows(file, err)); */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const tacit_status try_status = (call);                                                    \
        if (try_status != TACIT_OK)                                                                \
            return try_status;                                                                     \
    } while (0)

/* An impossible state in privacy-critical code: stops the program, in release builds too. */
#define TACIT__REQUIRE(condition)                                                                  \
    ((condition) ? (void)0 : tacit__impossible(__FILE__, __LINE__, #condition))
_Noreturn void tacit__impossible(const char *file, int line, const char *what);

#endif
