/* cmocka with the headers it needs, and assertions that say what they saw. */
#ifndef TACIT_TESTS_CHECK_H
#define TACIT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tacit/status.h>

/* The call returns this status; its expression and both names are printed when it does not. */
#define assert_status(call, wanted) check_status((call), (wanted), #call, __FILE__, __LINE__)
#define assert_ok(call) assert_status((call), TACIT_OK)

/* low <= value <= high; NaN fails. */
#define assert_within(value, low, high)                                                            \
    check_within((value), (low), (high), #value, __FILE__, __LINE__)

/* |value - wanted| <= tol * |wanted|; NaN fails. */
#define assert_close(value, wanted, tol)                                                           \
    check_close((value), (wanted), (tol), #value, __FILE__, __LINE__)

/* The statement stops the program by abort(), as impossible states must. It runs in a child. */
#define assert_aborts(statement)                                                                   \
    do {                                                                                           \
        if (check_in_child()) {                                                                    \
            statement;                                                                             \
            check_child_survived();                                                                \
        }                                                                                          \
        check_child_aborted(#statement, __FILE__, __LINE__);                                       \
    } while (0)

void check_status(tacit_status got, tacit_status wanted, const char *call, const char *file,
                  int line);
void check_within(double value, double low, double high, const char *what, const char *file,
                  int line);
void check_close(double value, double wanted, double tol, const char *what, const char *file,
                 int line);
bool check_in_child(void);
_Noreturn void check_child_survived(void);
void check_child_aborted(const char *what, const char *file, int line);

#endif
