/* Sums with fewer releases than people, and contributions that come as integers. That nobody moves such a sum
 * by more than is declared is shown in gates/test_replay_sums.c. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#include "account/door.h"
#include "sums/sum_steps.h"
#include "support/sums.h"

enum { DIMENSION = 21, PEOPLE = 40, RELEASES = 4 };

/* Releases come after 3, 10, 11 and 33 people. */
static const size_t due[RELEASES] = {3, 10, 11, 33};

static sum_rig open_rig(sum_kind kind, uint64_t releases, double scale)
{
    const tacit_sum_spec spec = sum_spec_of(kind, DIMENSION, PEOPLE);
    sum_rig rig = {0};
    assert_ok(tacit__sum_declare_released(&spec, &(tacit__batches){.n = releases}, "sum", &rig.line,
                                          NULL));
    assert_ok(tacit_plan_create(&rig.plan));
    assert_ok(tacit_plan_declare(rig.plan, &rig.line, NULL));
    if (kind.law == TACIT_LAW_NONE)
        assert_ok(
            tacit_plan_calibrate(rig.plan, (tacit_guarantee){.model = TACIT_MODEL_NONE}, NULL));
    else
        assert_ok(tacit_plan_set_scale(rig.plan, "sum", kind.law, scale, NULL));
    assert_ok(tacit_noise_create_simulated(7, &rig.noise));
    assert_ok(tacit_ledger_create(rig.plan, rig.noise, &rig.ledger, NULL));
    assert_ok(tacit__sum_create_released(&spec, &(tacit__batches){.n = releases}, rig.ledger, "sum",
                                         &rig.sum, NULL));
    return rig;
}

/* Person t, of L1 norm at most 1. */
static const double *person(size_t t)
{
    static double x[DIMENSION];
    for (size_t i = 0; i < DIMENSION; i++)
        x[i] = sin(1 + (double)(t * DIMENSION + i)) / DIMENSION;
    return x;
}

static void add_people(tacit_sum *sum, size_t first, size_t last)
{
    for (size_t t = first; t < last; t++)
        assert_ok(tacit_sum_add(sum, person(t), NULL));
}

/* Noise as it was drawn: what passed, less what went in. */
typedef struct drawn {
    size_t steps;
    int64_t noise[RELEASES][DIMENSION], exact[RELEASES][DIMENSION];
} drawn;

static void note(void *context, const tacit__passage *p)
{
    drawn *d = context;
    for (size_t i = 0; i < p->n; i++) {
        d->noise[p->step][p->offset + i] = p->released[i] - p->exact[i];
        d->exact[p->step][p->offset + i] = p->exact[i];
    }
    d->steps = (size_t)p->step + 1;
}

TEST(the_plan_has_as_many_steps_as_there_are_releases)
{
    for (size_t k = 0; k < N_NOISY_SUM_KINDS; k++) {
        if (sum_kinds[k].mechanism == TACIT_SUM_LOCAL)
            continue;
        SCOPED_BY(sum_rig_close) sum_rig rig = open_rig(sum_kinds[k], RELEASES, 5);
        const tacit_sum_spec few = sum_spec_of(sum_kinds[k], DIMENSION, RELEASES),
                             all = sum_spec_of(sum_kinds[k], DIMENSION, PEOPLE);
        tacit_release of_few, of_all;
        assert_ok(tacit_sum_declare(&few, "sum", &of_few, NULL));
        assert_ok(tacit_sum_declare(&all, "sum", &of_all, NULL));
        assert_true(rig.line.steps == RELEASES);
        assert_true(rig.line.l1 == of_all.l1 && rig.line.l2 == of_all.l2);
        assert_true(rig.line.column_l1 == of_few.column_l1);
        assert_true(fabs(rig.line.column_l2 - of_few.column_l2) <= 1e-3 * of_few.column_l2);
        assert_true(rig.line.column_l2 < of_all.column_l2);
        double stddev;
        assert_ok(tacit_sum_stddev(rig.sum, RELEASES, &stddev));
        assert_true(stddev <= tacit_sum_worst_stddev(rig.sum));
        assert_status(tacit_sum_stddev(rig.sum, RELEASES + 1, &stddev), TACIT_BAD_ARGUMENT);
    }
}

TEST(a_release_shows_everybody_who_came_before_it)
{
    for (size_t k = 0; k < N_SUM_KINDS; k++) {
        if (sum_kinds[k].mechanism == TACIT_SUM_LOCAL)
            continue;
        SCOPED_BY(sum_rig_close) sum_rig rig = open_rig(sum_kinds[k], RELEASES, 1e-6);
        double noisy[DIMENSION], exact[DIMENSION] = {0};
        for (size_t r = 0, t = 0; r < RELEASES; r++) {
            for (; t < due[r]; t++) {
                assert_ok(tacit_sum_add(rig.sum, person(t), NULL));
                for (size_t i = 0; i < DIMENSION; i++)
                    exact[i] += person(t)[i];
            }
            assert_true(tacit_sum_step(rig.sum) == r);
            assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
            assert_true(tacit_sum_step(rig.sum) == r + 1);
            for (size_t i = 0; i < DIMENSION; i++)
                assert_true(fabs(noisy[i] - exact[i]) < 1e-4);
        }
    }
}

/* A gate with the same key, opened with the people of each step as the test adds them up, draws what the
 * sum's gate drew: one draw a coordinate and release, which depends on everybody in the step. */
TEST(the_noise_of_a_step_is_that_of_everybody_in_it_together)
{
    static const sum_kind kinds[] = {{TACIT_SUM_TREE, TACIT_LAW_LAPLACE},
                                     {TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN}};
    for (size_t k = 0; k < 2; k++) {
        SCOPED_BY(sum_rig_close)
        sum_rig rig = open_rig(kinds[k], RELEASES, 5), shadow = open_rig(kinds[k], RELEASES, 5);
        const tacit__lattice lattice = *tacit__sum_lattice(rig.sum);
        const tacit__gate_spec spec = {
            .name = "sum", .lattice_bits = lattice.bits, .places = DIMENSION, .largest = 0x1p61};
        static const int64_t zeros[DIMENSION];
        tacit__gate *gate;
        drawn d = {0};
        double noisy[DIMENSION];
        tacit_sum_destroy(shadow.sum);
        shadow.sum = NULL;
        assert_ok(tacit__gate_open(shadow.ledger, &spec, &gate, NULL));
        tacit__ledger_set_recorder(rig.ledger, note, &d);
        for (size_t r = 0, t = 0; r < RELEASES; r++) {
            int64_t batch[DIMENSION] = {0}, x[DIMENSION], noise[DIMENSION];
            add_people(rig.sum, t, due[r]);
            assert_true(d.steps == r && tacit_ledger_passed(rig.ledger, 0) == r);
            for (; t < due[r]; t++) {
                assert_ok(tacit__lattice_quantize(&lattice, person(t), DIMENSION, x, NULL));
                for (size_t i = 0; i < DIMENSION; i++)
                    batch[i] += x[i];
            }
            assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
            assert_true(d.steps == r + 1 && tacit_ledger_passed(rig.ledger, 0) == r + 1);
            const tacit__input input = {.n = DIMENSION, .value = batch};
            assert_ok(tacit__gate_begin(gate, tacit__gate_digest(gate, &input), NULL));
            tacit__gate_pass(gate, 0, DIMENSION, zeros, noise);
            assert_memory_equal(d.noise[r], noise, sizeof noise);
            if (r == 0)
                assert_memory_equal(d.exact[r], batch, sizeof batch);
        }
        sum_rig_close(&shadow);
    }
}

TEST(people_and_releases_are_counted_apart)
{
    static const sum_kind kinds[] = {{TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN},
                                     {TACIT_SUM_EXACT, TACIT_LAW_NONE}};
    for (size_t k = 0; k < 2; k++) {
        SCOPED_BY(sum_rig_close) sum_rig rig = open_rig(kinds[k], 2, 5);
        double noisy[DIMENSION];
        assert_status(tacit_sum_release(rig.sum, noisy, NULL), TACIT_NOTHING_TO_RELEASE);
        add_people(rig.sum, 0, 30);
        assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
        assert_status(tacit_sum_release(rig.sum, noisy, NULL), TACIT_RELEASED_TWICE);
        add_people(rig.sum, 30, 31);
        assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
        add_people(rig.sum, 31, PEOPLE);
        assert_status(tacit_sum_release(rig.sum, noisy, NULL), TACIT_EXHAUSTED);
        assert_status(tacit_sum_add(rig.sum, person(0), NULL), TACIT_EXHAUSTED);
        assert_true(tacit_sum_step(rig.sum) == 2);
    }
}

TEST(numbers_of_releases_that_make_no_sense_are_refused)
{
    const sum_kind blt = {TACIT_SUM_BLT, TACIT_LAW_GAUSSIAN},
                   local = {TACIT_SUM_LOCAL, TACIT_LAW_GAUSSIAN};
    tacit_sum_spec spec = sum_spec_of(blt, DIMENSION, PEOPLE);
    tacit_release line;
    assert_status(tacit__sum_declare_released(&spec, &(tacit__batches){.n = 0}, "sum", &line, NULL),
                  TACIT_BAD_COUNT);
    assert_status(
        tacit__sum_declare_released(&spec, &(tacit__batches){.n = PEOPLE + 1}, "sum", &line, NULL),
        TACIT_BAD_COUNT);
    spec = sum_spec_of(local, DIMENSION, PEOPLE);
    assert_status(tacit__sum_declare_released(&spec, &(tacit__batches){.n = 4}, "sum", &line, NULL),
                  TACIT_UNSUPPORTED);
}

static tacit_status refuse(void *context, const tacit_release *release, uint64_t step)
{
    (void)release, (void)step;
    return *(const bool *)context ? TACIT_SYSTEM : TACIT_OK;
}

TEST(a_charge_that_is_refused_leaves_everybody_waiting)
{
    const sum_kind kind = {TACIT_SUM_TREE, TACIT_LAW_GAUSSIAN};
    SCOPED_BY(sum_rig_close) sum_rig rig = open_rig(kind, 2, 5), other = open_rig(kind, 2, 5);
    bool closed = true;
    double noisy[DIMENSION], same[DIMENSION];
    tacit_ledger_set_journal(rig.ledger, refuse, &closed);
    add_people(rig.sum, 0, 5);
    add_people(other.sum, 0, 5);
    assert_status(tacit_sum_release(rig.sum, noisy, NULL), TACIT_SYSTEM);
    assert_true(tacit_sum_step(rig.sum) == 0);
    closed = false;
    assert_ok(tacit_sum_release(rig.sum, noisy, NULL));
    assert_ok(tacit_sum_release(other.sum, same, NULL));
    assert_memory_equal(noisy, same, sizeof noisy);
}

static size_t save(const tacit_sum *sum, uint8_t **out)
{
    size_t size;
    assert_ok(tacit_sum_save(sum, NULL, &size, NULL));
    *out = malloc(size);
    assert_non_null(*out);
    assert_ok(tacit_sum_save(sum, *out, &size, NULL));
    return size;
}

TEST(people_who_wait_are_saved_with_the_sum)
{
    for (size_t k = 0; k < N_SUM_KINDS; k++) {
        if (sum_kinds[k].mechanism == TACIT_SUM_LOCAL)
            continue;
        SCOPED_BY(sum_rig_close)
        sum_rig rig = open_rig(sum_kinds[k], RELEASES, 5),
                copy = open_rig(sum_kinds[k], RELEASES, 5),
                others = open_rig(sum_kinds[k], RELEASES + 1, 5);
        double one[DIMENSION], other[DIMENSION];
        SCOPED_FREE uint8_t *bytes = NULL;
        add_people(rig.sum, 0, 7);
        assert_ok(tacit_sum_release(rig.sum, one, NULL));
        add_people(rig.sum, 7, 9);
        size_t size = save(rig.sum, &bytes);
        assert_status(tacit_sum_load(rig.sum, bytes, size, NULL), TACIT_BAD_ARGUMENT);
        assert_int_not_equal(tacit_sum_load(others.sum, bytes, size, NULL), TACIT_OK);
        assert_ok(tacit_sum_load(copy.sum, bytes, size, NULL));
        assert_true(tacit_sum_step(copy.sum) == 1);
        add_people(rig.sum, 9, 12);
        add_people(copy.sum, 9, 12);
        assert_ok(tacit_sum_release(rig.sum, one, NULL));
        assert_ok(tacit_sum_release(copy.sum, other, NULL));
        assert_memory_equal(one, other, sizeof one);
        sum_rig_close(&copy);
        sum_rig_close(&others);
    }
}

TEST(integers_on_the_lattice_are_added_like_the_numbers_that_they_were_made_of)
{
    for (size_t k = 0; k < N_SUM_KINDS; k++) {
        uint64_t releases = sum_kinds[k].mechanism == TACIT_SUM_LOCAL ? PEOPLE : RELEASES;
        SCOPED_BY(sum_rig_close)
        sum_rig here = open_rig(sum_kinds[k], releases, 5),
                there = open_rig(sum_kinds[k], releases, 5);
        const tacit__lattice lattice = *tacit__sum_lattice(here.sum);
        double one[DIMENSION], other[DIMENSION];
        static const size_t index[2] = {4, 19};
        for (size_t t = 0; t < 6; t++) {
            const double *x = person(t);
            const double two[2] = {x[4], x[19]};
            int64_t placed[DIMENSION];
            const bool sparse = t % 2 == 1;
            assert_ok(sparse ? tacit_sum_add_sparse(here.sum, 2, index, two, NULL)
                             : tacit_sum_add(here.sum, x, NULL));
            assert_ok(tacit__lattice_quantize(&lattice, sparse ? two : x, sparse ? 2 : DIMENSION,
                                              placed, NULL));
            const tacit__input input = {
                .n = sparse ? 2 : DIMENSION, .index = sparse ? index : NULL, .value = placed};
            assert_ok(tacit__sum_add_placed(there.sum, &input, NULL));
        }
        assert_ok(tacit_sum_release(here.sum, one, NULL));
        assert_ok(tacit_sum_release(there.sum, other, NULL));
        assert_memory_equal(one, other, sizeof one);
        sum_rig_close(&there);
    }
}
