/* At the door: every coordinate of every release gets noise of its own, of the declared scale, whatever the dimension
 * and however the vector is cut into pieces. (A library once left the last bit of a vector without noise although
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

#define SCALE 8.0 /* that is declared */

typedef struct passages {
    double noise[STEPS][MOST]; /* released - exact, in standard deviations of one draw */
    size_t seen[STEPS];
} passages;

static void record(void *context, const tacit__passage *p)
{
    passages *l = context;
    /* as the plan has it, not as the door says it is */
    double stddev = SCALE / p->lattice * (p->law == TACIT_LAW_LAPLACE ? M_SQRT2 : 1);
    assert_int_equal(p->offset, l->seen[p->step]); /* in order, nothing skipped */
    for (size_t i = 0; i < p->n; i++)
        l->noise[p->step][p->offset + i] = (double)(p->released[i] - p->exact[i]) / stddev;
    l->seen[p->step] += p->n;
}

static void play(tacit_sum_mechanism mechanism, tacit_law law, size_t dimension, uint64_t seed,
                 passages *l)
{
    static double x[MOST], noisy[MOST];
    tacit_sum_spec spec = {SUM_OF(mechanism, law, dimension, STEPS), .bound = {.l1 = 1, .l2 = 1}};
    tacit_release release;
    SCOPED(tacit_plan) *plan = NULL;
    SCOPED(tacit_ledger) *ledger = NULL;
    SCOPED(tacit_sum) *sum = NULL;
    assert_ok(tacit_sum_declare(&spec, "sum", &release, NULL));
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &release, NULL));
    assert_ok(tacit_plan_set_scale(plan, "sum", law, SCALE, NULL));
    SCOPED(tacit_noise) *noise = simulated_noise(seed);
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

TEST(every_coordinate_of_every_release_is_noised)
{
    static const size_t dimensions[] = {1,   2,   7,    8,    9,    252,  253, 511,
                                        512, 513, 2048, 2049, 4096, 4100, MOST};
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
    const tacit__gate_spec spec = {
        .name = "three", .lattice_bits = 30, .places = 3, .largest = 0x1p61};
    assert_ok(tacit__gate_open(l.ledger, &spec, &l.gate, NULL));
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
    const tacit__input input = {.n = 3, .value = exact};
    assert_ok(tacit__gate_begin(l->gate, tacit__gate_digest(l->gate, &input), NULL));
    tacit__gate_pass(l->gate, 0, 3, exact, out);
}

/* What a child does with a copy of this process's ledger, by a pipe. */
static void in_a_child(void (*act)(lone *l, void *out), lone *l, void *out, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act(l, out);
        _exit(write(ends[1], out, size) == (ssize_t)size ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], out, size), size);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void pass_it(lone *l, void *out)
{
    pass_one(l, out);
}

static void save_it(lone *l, void *out)
{
    tacit__gate_save(l->gate, out);
}

TEST(a_child_has_noise_of_its_own)
{
    int64_t mine[3], theirs[3] = {0};
    lone l = open_lone();
    in_a_child(pass_it, &l, theirs, sizeof theirs);
    pass_one(&l, mine);
    for (int i = 0; i < 3; i++)
        assert_true(mine[i] != theirs[i]);
    close_lone(&l);
}

TEST(a_child_saves_a_key_of_its_own)
{
    int64_t mine[3], theirs[3];
    tacit__gate_state saved = {0}, own;
    lone one = open_lone(), two = open_lone();
    tacit__gate_save(one.gate, &own);
    in_a_child(save_it, &one, &saved, sizeof saved);
    assert_memory_not_equal(saved.key, own.key, sizeof own.key);
    tacit__gate_restore(two.gate, &saved);
    pass_one(&one, mine);
    pass_one(&two, theirs);
    for (int i = 0; i < 3; i++)
        assert_true(mine[i] != theirs[i]);
    close_lone(&one);
    close_lone(&two);
}

TEST(a_restored_gate_goes_on_with_the_saved_noise)
{
    tacit__gate_state saved;
    int64_t first[3], second[3];
    lone one = open_lone(), two = open_lone();
    pass_one(&one, first);
    tacit__gate_save(one.gate, &saved);
    tacit__gate_restore(two.gate, &saved);
    pass_one(&one, first);
    pass_one(&two, second);
    assert_memory_equal(first, second, sizeof first);
    assert_status(tacit__gate_begin(two.gate, (tacit__tag){0}, NULL), TACIT_EXHAUSTED);
    saved.passed = 3; /* of two */
    assert_false(tacit__gate_check(two.gate, &saved));
    saved.passed = 2;
    saved.labels.high = UINT64_MAX;
    assert_false(tacit__gate_check(two.gate, &saved));
    close_lone(&one);
    close_lone(&two);
}
