/* What threads tell the system about themselves. */
#include "base/thread.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/check.h"

static int policy_of_this_thread(void)
{
    struct sched_param priority;
    int policy = -1;
    assert_int_equal(pthread_getschedparam(pthread_self(), &policy, &priority), 0);
    return policy;
}

static void *store_policy(void *out)
{
    *(int *)out = policy_of_this_thread();
    return NULL;
}

static int policy_of_a_new_thread(void)
{
    pthread_t thread;
    tacit_error err = {0};
    int policy = -1;
    assert_int_equal(tacit__thread_start(&thread, store_policy, &policy, &err), TACIT_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return policy;
}

TEST(a_patient_thread_starts_patient_threads_until_it_is_ordinary_again)
{
    if (policy_of_this_thread() != SCHED_OTHER)
        skip(); /* the tests were started with a policy, which stands */
    assert_false(tacit__thread_set_patient(false));
    assert_true(tacit__thread_set_patient(true));
    assert_false(tacit__thread_set_patient(true));
    assert_int_equal(policy_of_a_new_thread(), SCHED_BATCH);
    assert_true(tacit__thread_set_patient(false));
    assert_int_equal(policy_of_this_thread(), SCHED_OTHER);
    assert_int_equal(policy_of_a_new_thread(), SCHED_OTHER);
}

static void *step_back(void *out)
{
    int *nice_values = out;
    nice_values[0] = getpriority(PRIO_PROCESS, (id_t)gettid());
    tacit__thread_set_background();
    nice_values[1] = getpriority(PRIO_PROCESS, (id_t)gettid());
    return NULL;
}

TEST(a_thread_in_the_background_steps_back_alone)
{
    pthread_t thread;
    tacit_error err = {0};
    const int before = getpriority(PRIO_PROCESS, (id_t)gettid());
    int nice_values[2] = {0};
    assert_int_equal(tacit__thread_start(&thread, step_back, nice_values, &err), TACIT_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(nice_values[0], before);
    assert_int_equal(nice_values[1], before < 5 ? 5 : before);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)gettid()), before);
}
