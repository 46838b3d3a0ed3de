/* cmocka with the headers it needs, cases that register themselves, and assertions that say what they saw. */
#ifndef TACIT_TESTS_CHECK_H
#define TACIT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <tacit/status.h>

#include "support/scoped.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

/* Fields that stand together in many requests: {.kind = "ucbvi", SPACE_OF(6, 2, 20), .episodes = 10}. */
#define SPACE_OF(states, actions, steps)                                                           \
    .n_states = (states), .n_actions = (actions), .horizon = (steps)
#define SETTINGS_OF(list, n) .settings = (list), .n_settings = (n)
#define VISITS_OF(most, between) .visits = (most), .apart = (between)
#define STEPS_OF(s, a, r) .states = (s), .actions = (a), .rewards = (r)
#define SUM_OF(m, l, d, n) .mechanism = (m), .law = (l), .dimension = (d), .users = (n)
/* A tacit_setting. */
#define SET(name, text)                                                                            \
    {                                                                                              \
        .key = (name), .value = (text)                                                             \
    }

/* A case, named as a sentence: TEST(name) { ... }. The cases of a program run in the order of the file; main() is in
 * support/main.c, unless the program has one of its own that calls test_run. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                           \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        test_add(&(struct CMUnitTest){#name, name, setup, teardown, NULL});                        \
    }                                                                                              \
    static void name(__attribute__((unused)) void **state)

void test_add(const struct CMUnitTest *test);
/* Runs all cases between the setup and the teardown of the group (NULL: none); the exit status. */
int test_run(CMFixtureFunction setup, CMFixtureFunction teardown);

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

/* The call, a status, is NO_MEMORY whichever of its allocations fails, after which `clean` is run; and OK when none does. Where
 * this is used, base/memory.h is included. */
#define assert_survives_no_memory(call, clean)                                                     \
    do {                                                                                           \
        bool failed_ = true;                                                                       \
        for (uint64_t n_ = 1; failed_; n_++) {                                                     \
            tacit__alloc_fail_at(n_);                                                              \
            tacit_status status_ = (call);                                                         \
            failed_ = tacit__alloc_has_failed();                                                   \
            tacit__alloc_fail_at(0);                                                               \
            check_status(status_, failed_ ? TACIT_NO_MEMORY : TACIT_OK, #call, __FILE__,           \
                         __LINE__);                                                                \
            if (failed_) {                                                                         \
                clean;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Text as of printf, which lives until the end of the program. */
__attribute__((format(printf, 1, 2))) const char *fmt(const char *format, ...);

/* Runs a shell command; what system() returns. */
__attribute__((format(printf, 1, 2))) int shell(const char *format, ...);
#define assert_shell(...) assert_int_equal(shell(__VA_ARGS__), 0)

/* A root of noise that is the same for every run. */
tacit_noise *simulated_noise(uint64_t seed);

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
