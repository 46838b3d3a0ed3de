#include "support/check.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TESTS = 100 };
static struct CMUnitTest tests[MOST_TESTS];
static size_t n_tests;

void test_add(const struct CMUnitTest *test)
{
    if (n_tests == MOST_TESTS)
        abort();
    tests[n_tests++] = *test;
}

int test_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    (void)signal(SIGPIPE, SIG_IGN); /* a peer that closes ends a write, not the program */
    return _cmocka_run_group_tests(program_invocation_short_name, tests, n_tests, setup, teardown);
}

/* All that fmt has made, of all threads: nothing of it is lost, and a checker of leaks has nothing to say. */
typedef struct made_text {
    struct made_text *before;
    char text[];
} made_text;
static _Atomic(made_text *) last_text;

__attribute__((format(printf, 1, 0))) static const char *make_text(const char *format,
                                                                   va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    made_text *made = n < 0 ? NULL : malloc(sizeof *made + (size_t)n + 1);
    if (made == NULL)
        abort();
    (void)vsnprintf(made->text, (size_t)n + 1, format, arguments);
    made->before = atomic_load(&last_text);
    while (!atomic_compare_exchange_weak(&last_text, &made->before, made))
        ;
    return made->text;
}

const char *fmt(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *text = make_text(format, arguments);
    va_end(arguments);
    return text;
}

int shell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const char *command = make_text(format, arguments);
    va_end(arguments);
    return system(command); // NOLINT(cert-env33-c): the test's own command
}

tacit_noise *simulated_noise(uint64_t seed)
{
    tacit_noise *noise = NULL;
    assert_ok(tacit_noise_create_simulated(seed, &noise));
    return noise;
}

void check_status(tacit_status got, tacit_status wanted, const char *call, const char *file,
                  int line)
{
    if (got == wanted)
        return;
    print_error("%s\n    returned %s, expected %s\n", call, tacit_status_name(got),
                tacit_status_name(wanted));
    _fail(file, line);
}

void check_within(double value, double low, double high, const char *what, const char *file,
                  int line)
{
    if (value >= low && value <= high)
        return;
    print_error("%s = %.17g is outside [%.17g, %.17g]\n", what, value, low, high);
    _fail(file, line);
}

void check_close(double value, double wanted, double tol, const char *what, const char *file,
                 int line)
{
    if (fabs(value - wanted) <= tol * fabs(wanted))
        return;
    print_error("%s = %.17g, expected %.17g to a relative %g\n", what, value, wanted, tol);
    _fail(file, line);
}

static pid_t child;

bool check_in_child(void)
{
    (void)fflush(NULL);
    child = fork();
    if (child < 0)
        fail_msg("fork failed");
    if (child > 0)
        return false;
    (void)signal(SIGABRT, SIG_DFL); /* cmocka catches it */
    (void)close(STDERR_FILENO);     /* the last words of a program that is meant to stop */
    return true;
}

void check_child_survived(void)
{
    _exit(0);
}

void check_child_aborted(const char *what, const char *file, int line)
{
    int status = 0;
    if (waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
        return;
    print_error("%s\n    did not stop the program\n", what);
    _fail(file, line);
}
