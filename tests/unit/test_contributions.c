/* A user's exact contribution apart from adding it, for every curator; LSVI is in test_lsvi_contributions.c. One curator learns from users; another
 * one, of the same key, gets integers that were made without it, from public knowledge alone. They show the
 * same, to the bit. */
#include "support/check.h"

#include <math.h>

#include "curate/epochs.h"
#include "curate/regression_inside.h"
#include "sums/sum_steps.h"
#include "support/walks.h"

SCOPED_TYPE(tacit__epochs, tacit__epochs_destroy)
SCOPED_TYPE(tacit__regression, tacit__regression_destroy)

static void random_vector(uint64_t *seed, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = random_between(seed, -0.8, 0.8);
}

/* --- Linear bandits -------------------------------------------------------------------------------- */

enum { D = 5, BLOCKS = 2, BLOCK = D * (D + 1) / 2 + D };

static tacit__regression *open_regression(tacit_guarantee g, double growth)
{
    const tacit__regression_options o = {.dimension = D,
                                         .blocks = BLOCKS,
                                         .users = 10 * USERS,
                                         .guarantee = g,
                                         .mechanism = tacit_sum_default_mechanism(g),
                                         .growth = growth,
                                         .response_weight = 0.8};
    SCOPED(tacit_noise) *noise = noise_of_test();
    tacit__regression *c;
    assert_ok(tacit__regression_create(&o, noise, &c, NULL));
    return c;
}

TEST(moments_of_users_are_those_of_their_contributions)
{
    for (size_t m = 0; m < 2; m++)
        for (int how = 0; how < 2; how++) {
            const double growth = how == 0 ? 1 : 1.2;
            SCOPED(tacit__regression) *learns = open_regression(models[m], growth),
                                      *adds = open_regression(models[m], growth);
            const tacit__regression_form form = tacit__regression_form_of(learns);
            uint64_t seed = 9;
            double x[D], unit[D];
            int64_t made[BLOCK];
            for (size_t k = 0; k < 10 * USERS; k++) {
                const size_t block = random_below(&seed, BLOCKS);
                const double y = random_between(&seed, -1, 1);
                random_vector(&seed, D, x);
                for (size_t i = 0; i < D; i++)
                    x[i] /= 2; /* at most 0.9 long */
                assert_ok(tacit__regression_contribute(&form, x, block, y, unit, made, NULL));
                assert_ok(tacit__regression_add(learns, x, block, y, NULL));
                assert_ok(tacit__regression_add_contribution(adds, block, made, NULL));
            }
            const tacit__moments a = tacit__regression_release(learns),
                                 b = tacit__regression_release(adds);
            assert_true(a.users == b.users && a.version == b.version && a.version > 1);
            assert_memory_equal(a.gram, b.gram, BLOCKS * (BLOCK - D) * sizeof *a.gram);
            assert_memory_equal(a.response, b.response, BLOCKS * D * sizeof *a.response);
            assert_memory_equal(learns->x, adds->x, BLOCKS * BLOCK * sizeof *learns->x);
        }
}

TEST(moments_longer_than_any_users_are_refused)
{
    SCOPED(tacit__regression) *c = open_regression(models[0], 1);
    const tacit__regression_form form = tacit__regression_form_of(c);
    const double x[D] = {1}, longer[D] = {1, 0.1};
    double unit[D];
    int64_t made[BLOCK];
    assert_status(tacit__regression_contribute(&form, longer, 0, 1, unit, made, NULL),
                  TACIT_OUT_OF_BOUND);
    assert_status(tacit__regression_contribute(&form, x, BLOCKS, 1, unit, made, NULL),
                  TACIT_OUT_OF_BOUND);
    assert_ok(tacit__regression_contribute(&form, x, 0, 1, unit, made, NULL));
    assert_status(tacit__regression_add_contribution(c, BLOCKS, made, NULL), TACIT_OUT_OF_BOUND);
    made[2] = made[0]; /* two long features in one user */
    assert_status(tacit__regression_add_contribution(c, 0, made, NULL), TACIT_OUT_OF_BOUND);
    assert_true(c->users == 0 && tacit_ledger_passed(c->ledger, 0) == 0);
    made[2] = 0;
    assert_ok(tacit__regression_add_contribution(c, 0, made, NULL));
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
