/* Waiting by the monotonic clock. */
#include "base/wait.h"

#include <math.h>

#include "base/thread.h"
#include "support/check.h"

typedef struct bell {
    pthread_mutex_t lock;
    pthread_cond_t rung;
    bool wanted, answered;
} bell;

static void bell_create(bell *b)
{
    *b = (bell){.wanted = false};
    assert_int_equal(pthread_mutex_init(&b->lock, NULL), 0);
    tacit__condition_create(&b->rung);
}

static void bell_destroy(bell *b)
{
    assert_int_equal(pthread_cond_destroy(&b->rung), 0);
    assert_int_equal(pthread_mutex_destroy(&b->lock), 0);
}

TEST(time_goes_forward_in_both_units)
{
    double before = tacit__now_ms(), seconds = tacit__now_seconds(), after = tacit__now_ms();
    assert_true(before > 0 && before <= after);
    assert_true(1e3 * seconds >= before - 1e-3 && 1e3 * seconds <= after + 1e-3);
}

TEST(a_deadline_that_is_over_does_not_wait)
{
    bell b;
    bell_create(&b);
    (void)pthread_mutex_lock(&b.lock);
    assert_false(tacit__wait_until(&b.rung, &b.lock, tacit__now_ms() - 5000));
    assert_false(tacit__wait_ms(&b.rung, &b.lock, 0));
    (void)pthread_mutex_unlock(&b.lock);
    bell_destroy(&b);
}

/* Nobody signals: the time is over when it is over, and not before. 1003 ms carry from nanoseconds into seconds. */
TEST(a_wait_ends_at_its_deadline_and_not_before)
{
    static const double waits[] = {1, 30, 1003};
    bell b;
    bell_create(&b);
    (void)pthread_mutex_lock(&b.lock);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        double deadline = tacit__now_ms() + waits[i];
        while (tacit__wait_until(&b.rung, &b.lock, deadline))
            ;
        assert_true(tacit__now_ms() >= deadline - 1e-3); /* rounded to a nanosecond */
    }
    (void)pthread_mutex_unlock(&b.lock);
    bell_destroy(&b);
}

static void *answer(void *context)
{
    bell *b = context;
    (void)pthread_mutex_lock(&b->lock);
    while (!b->wanted)
        (void)tacit__wait_until(&b->rung, &b->lock, HUGE_VAL);
    b->answered = true;
    (void)pthread_cond_broadcast(&b->rung);
    (void)pthread_mutex_unlock(&b->lock);
    return NULL;
}

TEST(a_signal_ends_waits_with_and_without_a_deadline)
{
    bell b;
    pthread_t thread;
    bell_create(&b);
    assert_ok(tacit__thread_start(&thread, answer, &b, NULL));
    (void)pthread_mutex_lock(&b.lock);
    b.wanted = true;
    (void)pthread_cond_broadcast(&b.rung);
    while (!b.answered)
        assert_true(tacit__wait_ms(&b.rung, &b.lock, 1e8));
    (void)pthread_mutex_unlock(&b.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    bell_destroy(&b);
}
