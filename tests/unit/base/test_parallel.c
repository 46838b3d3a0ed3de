/* Jobs on threads. */
#include "support/check.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"

enum { JOBS = 1000 };

typedef struct work {
    atomic_int done[JOBS];
    size_t fails_at;
    size_t stop_after;
} work;

static tacit_status job(void *context, size_t i, tacit_error *err)
{
    work *w = context;
    if (i >= w->fails_at)
        return tacit__fail(err, TACIT_OUT_OF_BOUND, "job %zu", i);
    atomic_fetch_add(&w->done[i], 1);
    return TACIT_OK;
}

static bool tick(void *context, size_t done, double seconds)
{
    const work *w = context;
    (void)seconds;
    return done < w->stop_after;
}

TEST(every_job_is_done_once)
{
    for (unsigned threads = 0; threads < 9; threads += 4) {
        work w = {.fails_at = SIZE_MAX, .stop_after = SIZE_MAX};
        bool stopped = true;
        tacit_error err = {0};
        assert_ok(
            tacit__parallel(JOBS, threads, job, threads == 4 ? tick : NULL, &w, &stopped, &err));
        assert_false(stopped);
        for (size_t i = 0; i < JOBS; i++)
            assert_int_equal(atomic_load(&w.done[i]), 1);
    }
}

TEST(the_first_failure_is_told)
{
    work w = {.fails_at = 700, .stop_after = SIZE_MAX};
    bool stopped;
    tacit_error err = {0};
    assert_int_equal(tacit__parallel(JOBS, 3, job, NULL, &w, &stopped, &err), TACIT_OUT_OF_BOUND);
    assert_string_equal(err.message,
                        "job 700"); /* jobs begin in order, and all before it succeed */
}

static tacit_status endless(void *context, size_t i, tacit_error *err)
{
    work *w = context;
    (void)err;
    while (i == 0 && atomic_load(&w->done[1]) == 0)
        continue;
    return TACIT_OK;
}

static bool stop_at_once(void *context, size_t done, double seconds)
{
    work *w = context;
    (void)done;
    (void)seconds;
    atomic_store(&w->done[1], 1);
    return false;
}

TEST(a_tick_can_stop)
{
    work w = {.fails_at = SIZE_MAX};
    bool stopped = false;
    tacit_error err = {0};
    /* one thread, held in job 0 until the first tick: not all of so many jobs can be done */
    assert_ok(tacit__parallel((size_t)1 << 40, 1, endless, stop_at_once, &w, &stopped, &err));
    assert_true(stopped);
}

TEST(no_jobs_and_no_memory)
{
    work w = {.fails_at = SIZE_MAX};
    bool stopped;
    tacit_error err = {0};
    assert_ok(tacit__parallel(0, 2, job, NULL, &w, &stopped, &err));
    tacit__alloc_fail_at(1);
    assert_int_equal(tacit__parallel(JOBS, 2, job, NULL, &w, &stopped, &err), TACIT_NO_MEMORY);
    tacit__alloc_fail_at(0);
}
