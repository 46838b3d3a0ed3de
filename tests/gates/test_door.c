/* At the door: every coordinate of every release gets noise of its own, of the declared scale, whatever the dimension
 * and however the vector is cut into pieces, drawn when it is wanted or ahead. (A library once left the last bit of a vector without noise although
 * its proof was right.)
 *
 * Seeds are fixed. Noise is drawn on a lattice of about 2^28 steps a standard deviation: that some coordinate of some
 * release happens to be exactly 0, or equal in two runs, has probability below 1e-3 for a fresh seed. */
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Noise is drawn ahead before every user that has a bit in `ahead`. */
static void play_ahead(tacit_sum_mechanism mechanism, tacit_law law, size_t dimension,
                       uint64_t seed, unsigned ahead, passages *l)
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
        if (ahead >> k & 1)
            tacit__ledger_draw_ahead(ledger, MOST);
        if (ahead >> k & 1 && k == 1)
            tacit__ledger_draw_ahead(ledger, MOST); /* once more is the same */
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

static void play(tacit_sum_mechanism mechanism, tacit_law law, size_t dimension, uint64_t seed,
                 passages *l)
{
    play_ahead(mechanism, law, dimension, seed, 0, l);
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

static void noise_that_was_drawn_ahead_is_the_same_noise(void **state)
{
    (void)state;
    static passages plain, ahead;
    static const size_t dimensions[] = {1, 7, 2048, MOST};
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++) {
        play(TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, dimensions[d], 5, &plain);
        for (unsigned when = 1; when < 1 << STEPS; when++) {
            play_ahead(TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN, dimensions[d], 5, when, &ahead);
            assert_memory_equal(&plain, &ahead, sizeof plain);
        }
    }
    play(TACIT_SUM_TREE, TACIT_LAW_LAPLACE, 100, 6, &plain);
    play_ahead(TACIT_SUM_TREE, TACIT_LAW_LAPLACE, 100, 6, 7, &ahead);
    assert_memory_equal(&plain, &ahead, sizeof plain);
}

/* A ledger with one release of three numbers and Gaussian noise from the system, open. */
typedef struct lone {
    tacit_plan *plan;
    tacit_noise *noise;
    tacit_ledger *ledger;
    tacit__gate *gate;
} lone;

static lone open_lone(void)
{
    lone l;
    tacit_release release = {.name = "three",
                             .reason = "a test",
                             .dimension = 3,
                             .steps = 2,
                             .l2 = 1,
                             .column_l1 = 1,
                             .column_l2 = 1,
                             .weight = 1};
    assert_ok(tacit_plan_create(&l.plan));
    assert_ok(tacit_plan_declare(l.plan, &release, NULL));
    assert_ok(tacit_plan_set_scale(l.plan, "three", TACIT_LAW_GAUSSIAN, 8, NULL));
    assert_ok(tacit_noise_create_from_os(&l.noise));
    assert_ok(tacit_ledger_create(l.plan, l.noise, &l.ledger, NULL));
    assert_ok(tacit__gate_open(l.ledger, "three", 30, &l.gate, NULL));
    return l;
}

static void close_lone(lone *l)
{
    tacit_ledger_destroy(l->ledger);
    tacit_noise_destroy(l->noise);
    tacit_plan_destroy(l->plan);
}

static void pass_one(lone *l, int64_t out[3])
{
    const int64_t exact[3] = {0};
    assert_ok(tacit__gate_begin(l->gate, NULL));
    tacit__gate_pass(l->gate, 0, 3, exact, out);
}

static void a_child_does_not_use_what_its_parent_drew_ahead(void **state)
{
    (void)state;
    int64_t mine[3], theirs[3] = {0};
    int ends[2];
    lone l = open_lone();
    assert_int_equal(pipe(ends), 0);
    tacit__ledger_draw_ahead(l.ledger, 3);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pass_one(&l, theirs);
        _exit(write(ends[1], theirs, sizeof theirs) == (ssize_t)sizeof theirs ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], theirs, sizeof theirs), sizeof theirs);
    pass_one(&l, mine);
    for (int i = 0; i < 3; i++)
        assert_true(mine[i] != theirs[i]);
    (void)close(ends[0]);
    (void)close(ends[1]);
    close_lone(&l);
}

static void a_restored_gate_forgets_what_was_drawn_ahead(void **state)
{
    (void)state;
    uint8_t key[TACIT__KEY_BYTES];
    bool simulated;
    int64_t first[3], second[3];
    lone one = open_lone(), two = open_lone();
    tacit__gate_save(one.gate, key, &simulated);
    tacit__ledger_draw_ahead(two.ledger, 3);
    tacit__gate_restore(two.gate, key, simulated, 0);
    pass_one(&one, first);
    pass_one(&two, second);
    assert_memory_equal(first, second, sizeof first);
    pass_one(&one, first); /* the last step; there is nothing to draw after it */
    tacit__ledger_draw_ahead(one.ledger, 3);
    close_lone(&one);
    close_lone(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_coordinate_of_every_release_is_noised),
        cmocka_unit_test(noise_that_was_drawn_ahead_is_the_same_noise),
        cmocka_unit_test(a_child_does_not_use_what_its_parent_drew_ahead),
        cmocka_unit_test(a_restored_gate_forgets_what_was_drawn_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
