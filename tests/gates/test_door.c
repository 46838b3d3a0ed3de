/* At the door: every coordinate of every release gets noise of its own, of the declared scale, whatever the dimension
 * and however the vector is cut into pieces. (A library once left the last bit of a vector without noise although
 * its proof was right.)
 *
 * Seeds are fixed. Noise is drawn on a lattice of about 2^28 steps a standard deviation: that some coordinate of some
 * release happens to be exactly 0, or equal in two runs, has probability below 1e-3 for a fresh seed. */
#include <math.h>
#include <stdlib.h>

#include <tacit/sum.h>

#include "account/door.h"
#include "support/check.h"

enum { MOST = 5003, STEPS = 3 };

typedef struct passages {
    double noise[STEPS][MOST]; /* released - exact, in standard deviations of one draw */
    size_t seen[STEPS];
} passages;

static void record(void *context, const tacit__passage *p)
{
    passages *l = context;
    double stddev = p->scale * (p->law == TACIT_LAW_LAPLACE ? M_SQRT2 : 1);
    assert_int_equal(p->offset, l->seen[p->step]); /* in order, nothing skipped */
    for (size_t i = 0; i < p->n; i++)
        l->noise[p->step][p->offset + i] = (double)(p->released[i] - p->exact[i]) / stddev;
    l->seen[p->step] += p->n;
}

static void play(tacit_sum_mechanism mechanism, tacit_law law, size_t dimension, uint64_t seed,
                 passages *l)
{
    static double x[MOST], noisy[MOST];
    tacit_sum_spec spec = {.mechanism = mechanism,
                           .law = law,
                           .dimension = dimension,
                           .users = STEPS,
                           .bound = {.l1 = 1, .l2 = 1}};
    tacit_release release;
    tacit_plan *plan;
    tacit_noise *noise;
    tacit_ledger *ledger;
    tacit_sum *sum;
    assert_ok(tacit_sum_declare(&spec, "sum", &release, NULL));
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &release, NULL));
    assert_ok(tacit_plan_set_scale(plan, "sum", law, 8, NULL));
    assert_ok(tacit_noise_create_simulated(seed, &noise));
    assert_ok(tacit_ledger_create(plan, noise, &ledger, NULL));
    assert_ok(tacit_sum_create(&spec, ledger, "sum", &sum, NULL));
    *l = (passages){0};
    tacit__ledger_set_recorder(ledger, record, l);
    for (size_t k = 0; k < STEPS; k++) {
        assert_ok(tacit_sum_add(sum, x, NULL));
        assert_ok(tacit_sum_release(sum, noisy, NULL));
        assert_int_equal(l->seen[k], dimension);
        for (size_t i = 0; i < dimension; i++)
            assert_true(noisy[i] != 0); /* what is shown, too: the exact sum is 0 */
    }
    tacit_sum_destroy(sum);
    tacit_ledger_destroy(ledger);
    tacit_noise_destroy(noise);
    tacit_plan_destroy(plan);
}

static void check(tacit_sum_mechanism mechanism, tacit_law law, size_t dimension)
{
    static passages one, two;
    play(mechanism, law, dimension, 1, &one);
    play(mechanism, law, dimension, 2, &two);
    double square = 0;
    for (size_t k = 0; k < STEPS; k++)
        for (size_t i = 0; i < dimension; i++) {
            assert_true(one.noise[k][i] != 0);
            assert_true(one.noise[k][i] != two.noise[k][i]);
            if (i > 0)
                assert_true(one.noise[k][i] != one.noise[k][i - 1]);
            if (k > 0)
                assert_true(one.noise[k][i] != one.noise[k - 1][i]);
            square += one.noise[k][i] * one.noise[k][i];
        }
    /* and of the right size: the mean square is 1, with a spread of sqrt((kurtosis - 1) / n) */
    double n = (double)(STEPS * dimension), spread = sqrt((law == TACIT_LAW_LAPLACE ? 5 : 2) / n);
    assert_within(square / n, fmax(0, 1 - 6 * spread), 1 + 6 * spread);
}

static void every_coordinate_of_every_release_is_noised(void **state)
{
    (void)state;
    static const size_t dimensions[] = {1, 2, 7, 8, 9, 511, 512, 513, 2048, 2049, 4096, 4100, MOST};
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        check(TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN, dimensions[i]);
        check(TACIT_SUM_SMOOTH, TACIT_LAW_GAUSSIAN, dimensions[i]);
        check(TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, dimensions[i]);
        check(TACIT_SUM_LOCAL, TACIT_LAW_GAUSSIAN, dimensions[i]);
        check(TACIT_SUM_TREE, TACIT_LAW_LAPLACE, dimensions[i]);
        check(TACIT_SUM_SMOOTH, TACIT_LAW_LAPLACE, dimensions[i]);
        check(TACIT_SUM_LOCAL, TACIT_LAW_LAPLACE, dimensions[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_coordinate_of_every_release_is_noised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
