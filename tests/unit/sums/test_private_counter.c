/* Counters: the sum that they are made of, in three calls. */
#include <math.h>

#include <tacit/sum.h>

#include "base/memory.h"
#include "support/check.h"

static const tacit_guarantee promises[] = {{TACIT_MODEL_NONE, 0, 0},
                                           {TACIT_MODEL_JOINT, 1, 1e-6},
                                           {TACIT_MODEL_JOINT, 1, 0},
                                           {TACIT_MODEL_LOCAL, 4, 1e-6},
                                           {TACIT_MODEL_LOCAL, 4, 0}};

/* The noise is real here: a count is off by more than eight of its standard deviations with a chance below 1e-5 (Laplace) in each
 * of 15 comparisons. */
TEST(people_are_counted_with_the_noise_of_the_promise)
{
    for (size_t i = 0; i < N_OF(promises); i++) {
        tacit_counter *c = NULL;
        double noisy[3], again[3], stddev = 0;
        tacit_error err = TACIT_ERROR_INIT;
        assert_ok(tacit_counter_create(3, 100, promises[i], &c, &err));
        assert_ok(tacit_counter_read(c, noisy, &err));
        assert_true(noisy[0] == 0 && noisy[1] == 0 && noisy[2] == 0); /* nobody has come */
        for (size_t k = 0; k < 100; k++)
            assert_ok(tacit_counter_add(c, k % 4 == 3 ? 2 : k % 4, &err));
        assert_ok(tacit_counter_read(c, noisy, &err));
        assert_ok(tacit_counter_read(c, again, &err)); /* costs nothing */
        assert_memory_equal(noisy, again, sizeof noisy);
        assert_ok(tacit_sum_stddev(tacit_counter_sum(c), 100, &stddev));
        assert_true((stddev > 0) == (promises[i].model != TACIT_MODEL_NONE));
        const double wanted[] = {25, 25, 50};
        for (size_t j = 0; j < 3; j++)
            assert_within(noisy[j], wanted[j] - 8 * stddev, wanted[j] + 8 * stddev);
        assert_status(tacit_counter_add(c, 0, &err), TACIT_EXHAUSTED);
        assert_ok(tacit_counter_read(c, again, &err));
        assert_memory_equal(noisy, again, sizeof noisy);
        tacit_counter_destroy(c);
    }
}

TEST(what_is_wrong_is_refused_and_changes_nothing)
{
    tacit_counter *c = NULL;
    tacit_error err = TACIT_ERROR_INIT;
    const tacit_guarantee promise = {TACIT_MODEL_NONE, 0, 0};
    double count[2];
    assert_status(tacit_counter_create(0, 10, promise, &c, &err), TACIT_BAD_COUNT);
    assert_status(tacit_counter_create(2, 0, promise, &c, &err), TACIT_BAD_COUNT);
    assert_status(tacit_counter_create(2, 10, (tacit_guarantee){TACIT_MODEL_JOINT, 0, 0}, &c, &err),
                  TACIT_BAD_EPSILON);
    assert_status(tacit_counter_create(2, 10, promise, NULL, &err), TACIT_BAD_ARGUMENT);
    assert_null(c);
    assert_ok(tacit_counter_create(2, 10, promise, &c, &err));
    assert_status(tacit_counter_add(c, 2, &err), TACIT_OUT_OF_BOUND);
    assert_ok(tacit_counter_add(c, 1, &err));
    assert_ok(tacit_counter_read(c, count, &err));
    assert_true(count[0] == 0 && count[1] == 1);
    tacit_counter_destroy(c);
    tacit_counter_destroy(NULL);
}

TEST(counters_survive_failing_allocations)
{
    tacit_counter *c = NULL;
    assert_survives_no_memory(tacit_counter_create(2, 10, promises[1], &c, NULL), assert_null(c));
    tacit_counter_destroy(c);
}
