/* A user's exact contribution apart from adding it, for every curator; LSVI is in test_lsvi_contributions.c. One curator learns from users; another
 * one, of the same key, gets integers that were made without it, from public knowledge alone. They show the
 * same, to the bit. */
#include "support/check.h"

#include <math.h>

#include "curate/epochs.h"
#include "sums/sum_steps.h"
#include "support/walks.h"

SCOPED_TYPE(tacit__epochs, tacit__epochs_destroy)

static void random_vector(uint64_t *seed, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = random_between(seed, -0.8, 0.8);
}

/* --- Epochs ---------------------------------------------------------------------------------------- */

TEST(epochs_of_users_are_those_of_their_contributions)
{
    enum { DIMENSION = 6, SIZE = 4 };
    for (size_t m = 0; m < 2; m++) {
        const tacit__epochs_options o = {
            .dimension = DIMENSION, .n_epochs = 2, .users = USERS, .guarantee = models[m]};
        SCOPED(tacit_noise) *noise = noise_of_test(), *again = noise_of_test();
        SCOPED(tacit__epochs) *learns = NULL, *adds = NULL;
        assert_ok(tacit__epochs_create(&o, noise, &learns, NULL));
        assert_ok(tacit__epochs_create(&o, again, &adds, NULL));
        const tacit__lattice lattice = *tacit__epochs_lattice(learns);
        uint64_t seed = 21;
        double v[SIZE], x[DIMENSION], one[SIZE], other[SIZE];
        int64_t made[DIMENSION], total[DIMENSION] = {0};
        for (size_t k = 0; k < USERS; k++) {
            const double y = random_between(&seed, -1, 1), *vector = k % 5 == 0 ? NULL : v;
            random_vector(&seed, SIZE, v); /* some are longer than 1, and cut */
            assert_ok(
                tacit__epochs_contribute(&lattice, DIMENSION, SIZE, vector, y, x, made, NULL));
            assert_ok(tacit__epochs_add(learns, SIZE, vector, y, NULL));
            assert_ok(tacit__epochs_add_contribution(adds, SIZE, made, NULL));
            for (size_t i = 0; i < DIMENSION; i++)
                total[i] += made[i];
        }
        assert_true(total[0] != 0 && total[SIZE] == 0);
        assert_ok(tacit__epochs_release(learns, SIZE, one, NULL));
        assert_ok(tacit__epochs_release(adds, SIZE, other, NULL));
        assert_memory_equal(one, other, sizeof one);
        assert_status(tacit__epochs_add_contribution(adds, SIZE, made, NULL), TACIT_EXHAUSTED);
    }
}

TEST(a_vector_from_elsewhere_that_is_longer_than_1_is_refused)
{
    enum { DIMENSION = 3 };
    const tacit__epochs_options o = {
        .dimension = DIMENSION, .n_epochs = 1, .users = 2, .guarantee = models[0]};
    SCOPED(tacit_noise) *noise = noise_of_test();
    SCOPED(tacit__epochs) *c = NULL;
    assert_ok(tacit__epochs_create(&o, noise, &c, NULL));
    const int64_t unit = (int64_t)tacit__epochs_lattice(c)->per_unit;
    const int64_t longer[DIMENSION] = {unit, 1, 0}, outside[DIMENSION] = {0, 0, 1},
                  right[DIMENSION] = {-unit, 0, 0};
    assert_status(tacit__epochs_add_contribution(c, 2, longer, NULL), TACIT_OUT_OF_BOUND);
    assert_status(tacit__epochs_add_contribution(c, 2, outside, NULL), TACIT_OUT_OF_BOUND);
    assert_ok(tacit__epochs_add_contribution(c, 2, right, NULL));
}
