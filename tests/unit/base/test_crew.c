/* A list of jobs that grows while it is worked on. (Jobs that are all known beforehand are in test_parallel.c.) */
#include "support/check.h"

#include "base/crew.h"

static tacit_status count(void *context, size_t member, size_t job, tacit_error *err)
{
    (void)member, (void)err;
    atomic_fetch_add((atomic_size_t *)context, job);
    return TACIT_OK;
}

/* More jobs may be sent by another process than there are. */
TEST(a_full_list_takes_no_more)
{
    enum { ROOM = 3 };
    uint32_t jobs[ROOM];
    pthread_t threads[2];
    atomic_size_t sum = 0;
    tacit__crew crew;
    tacit__crew_create(&crew, count, &sum, threads, 2, jobs, ROOM);
    assert_true(tacit__crew_add(&crew, 1));
    assert_ok(tacit__crew_start(&crew, NULL));
    assert_true(tacit__crew_add(&crew, 10));
    assert_true(tacit__crew_add(&crew, 100));
    assert_false(tacit__crew_add(&crew, 1000));
    tacit__crew_close(&crew);
    tacit__crew_join(&crew);
    tacit__crew_destroy(&crew);
    assert_int_equal(atomic_load(&sum), 111);
}
