/* The ledger: what it refuses, when the journal is asked, what a recorder sees. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include <tacit/sum.h>

#include "account/door.h"
#include "noise/sampler.h"
#include "support/sums.h"

enum { DIMENSION = 20, STEPS = 5 };

static tacit_plan *plan_of_two(tacit_law law, double scale)
{
    tacit_plan *plan;
    tacit_release r = {.name = "a",
                       .dimension = DIMENSION,
                       .steps = STEPS,
                       .l1 = 2,
                       .l2 = 1,
                       .column_l1 = 1,
                       .column_l2 = 1};
    assert_ok(tacit_plan_create(&plan));
    assert_ok(tacit_plan_declare(plan, &r, NULL));
    r.name = "b";
    assert_ok(tacit_plan_declare(plan, &r, NULL));
    if (law == TACIT_LAW_NONE) {
        assert_ok(tacit_plan_calibrate(plan, (tacit_guarantee){.model = TACIT_MODEL_NONE}, NULL));
    } else {
        assert_ok(tacit_plan_set_scale(plan, "a", law, scale, NULL));
        assert_ok(tacit_plan_set_scale(plan, "b", law, scale, NULL));
    }
    return plan;
}

static tacit_ledger *open_ledger(tacit_law law, double scale)
{
    SCOPED(tacit_plan) *plan = plan_of_two(law, scale);
    tacit_noise *noise;
    tacit_ledger *ledger;
    assert_ok(tacit_noise_create_simulated(1, &noise));
    assert_ok(tacit_ledger_create(plan, noise, &ledger, NULL));
    tacit_noise_destroy(noise); /* both are used during creation only */
    return ledger;
}

static const tacit__tag nothing = {0}; /* the digest of an input that is 0 */

static tacit_status open_gate(tacit_ledger *ledger, const char *name, int bits, tacit__gate **gate,
                              tacit_error *err)
{
    const tacit__gate_spec spec = {
        .name = name, .lattice_bits = bits, .places = DIMENSION, .largest = 0x1p61};
    return tacit__gate_open(ledger, &spec, gate, err);
}

TEST(a_plan_that_is_not_calibrated_gets_no_ledger)
{
    SCOPED(tacit_plan) *plan = NULL;
    tacit_ledger *ledger = NULL;
    tacit_release r = {.name = "a", .dimension = 1, .steps = 1, .l2 = 1, .column_l2 = 1};
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    assert_ok(tacit_plan_create(&plan));
    assert_status(tacit_ledger_create(plan, noise, &ledger, NULL), TACIT_BAD_PLAN);
    assert_ok(tacit_plan_declare(plan, &r, NULL));
    assert_status(tacit_ledger_create(plan, noise, &ledger, NULL), TACIT_BAD_PLAN);
    r.name = "b";
    assert_ok(tacit_plan_declare(plan, &r, NULL));
    assert_ok(tacit_plan_set_scale(plan, "a", TACIT_LAW_GAUSSIAN, 1, NULL)); /* one of two */
    assert_status(tacit_ledger_create(plan, noise, &ledger, NULL), TACIT_BAD_PLAN);
    assert_ok(tacit_plan_set_scale(plan, "b", TACIT_LAW_GAUSSIAN, 1, NULL));
    assert_status(tacit_ledger_create(plan, NULL, &ledger, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_ledger_create(NULL, noise, &ledger, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_ledger_create(plan, noise, NULL, NULL), TACIT_BAD_ARGUMENT);
    assert_null(ledger);
    assert_ok(tacit_ledger_create(plan, noise, &ledger, NULL));
    tacit_ledger_destroy(ledger);
    tacit_ledger_destroy(NULL);
}

TEST(a_ledger_says_whether_its_noise_is_simulated)
{
    SCOPED(tacit_plan) *plan = plan_of_two(TACIT_LAW_GAUSSIAN, 1),
                       *silent = plan_of_two(TACIT_LAW_NONE, 0);
    tacit_noise *noise;
    SCOPED(tacit_ledger) *ledger = NULL;
    assert_ok(tacit_noise_create_simulated(1, &noise));
    assert_ok(tacit_ledger_create(plan, noise, &ledger, NULL));
    assert_true(tacit_ledger_is_simulated(ledger));
    tacit_ledger_destroy(ledger);
    tacit_noise_destroy(noise);
    assert_ok(tacit_noise_create_from_os(&noise));
    assert_ok(tacit_ledger_create(plan, noise, &ledger, NULL));
    assert_false(tacit_ledger_is_simulated(ledger));
    tacit_ledger_destroy(ledger);
    tacit_noise_destroy(noise);
    assert_ok(tacit_ledger_create(silent, NULL, &ledger, NULL));
    assert_false(tacit_ledger_is_simulated(ledger));
}

TEST(names_that_were_not_declared_have_no_gate)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_GAUSSIAN, 1);
    tacit__gate *gate = NULL;
    tacit_error err = {0};
    assert_status(open_gate(ledger, "c", 10, &gate, &err), TACIT_UNDECLARED);
    assert_int_equal(err.status, TACIT_UNDECLARED);
    assert_non_null(strstr(err.message, "'c'"));
    assert_status(open_gate(ledger, "", 10, &gate, NULL), TACIT_UNDECLARED);
    assert_null(gate);
}

TEST(a_release_has_one_gate)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_GAUSSIAN, 1);
    tacit__gate *a, *b, *second = NULL;
    assert_ok(open_gate(ledger, "a", 10, &a, NULL));
    assert_status(open_gate(ledger, "a", 10, &second, NULL), TACIT_RELEASED_TWICE);
    assert_ok(open_gate(ledger, "b", 10, &b, NULL));
    assert_true(a != b);
    tacit__gate_close(a); /* given back unused */
    assert_ok(open_gate(ledger, "a", 12, &a, NULL));
    assert_ok(tacit__gate_begin(a, nothing, NULL));
    tacit__gate_close(a); /* a gate that was used stays taken */
    assert_status(open_gate(ledger, "a", 10, &second, NULL), TACIT_RELEASED_TWICE);
    assert_null(second);
}

TEST(steps_beyond_the_declared_number_are_refused)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_LAPLACE, 1);
    tacit__gate *gate;
    assert_ok(open_gate(ledger, "b", 10, &gate, NULL));
    for (uint64_t step = 0; step < STEPS; step++) {
        assert_true(tacit_ledger_passed(ledger, 1) == step);
        assert_ok(tacit__gate_begin(gate, nothing, NULL));
    }
    for (int again = 0; again < 3; again++) {
        assert_status(tacit__gate_begin(gate, nothing, NULL), TACIT_EXHAUSTED);
        assert_true(tacit_ledger_passed(ledger, 1) == STEPS);
        assert_true(tacit__gate_steps_passed(gate) == STEPS);
    }
    assert_true(tacit_ledger_passed(ledger, 0) == 0);
}

TEST(a_scale_outside_the_lattice_is_refused)
{
    tacit__gate *gate = NULL;
    SCOPED(tacit_ledger) *large = open_ledger(TACIT_LAW_GAUSSIAN, 0x1p20);
    assert_status(open_gate(large, "a", 27, &gate, NULL), TACIT_BAD_SCALE);
    assert_status(open_gate(large, "a", 2000, &gate, NULL), TACIT_BAD_SCALE);  /* infinite */
    assert_status(open_gate(large, "a", -2000, &gate, NULL), TACIT_BAD_SCALE); /* zero */
    assert_null(gate);
    assert_ok(open_gate(large, "a", 26, &gate, NULL)); /* 2^46: the largest */
}

TEST(coordinates_pass_in_order_and_within_the_declared_dimension)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_GAUSSIAN, 1);
    tacit__gate *gate;
    static const int64_t exact[DIMENSION + 8];
    int64_t released[DIMENSION + 8];
    assert_ok(open_gate(ledger, "a", 10, &gate, NULL));
    assert_aborts(tacit__gate_pass(gate, 0, DIMENSION, exact, released)); /* not begun */
    assert_ok(tacit__gate_begin(gate, nothing, NULL));
    assert_aborts(tacit__gate_pass(gate, 0, DIMENSION + 1, exact, released)); /* too many */
    assert_aborts(tacit__gate_pass(gate, 8, 8, exact, released));             /* skipped some */
    tacit__gate_pass(gate, 0, 8, exact, released);
    assert_aborts(tacit__gate_pass(gate, 0, 8, exact, released)); /* once more */
    tacit__gate_pass(gate, 8, DIMENSION - 8, exact, released);
    assert_aborts(tacit__gate_pass(gate, 16, 8, exact, released));
}

TEST(a_sum_that_would_wrap_around_stops_the_program)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_GAUSSIAN, 0x1p20);
    tacit__gate *gate;
    int64_t exact[DIMENSION], released[DIMENSION];
    for (size_t i = 0; i < DIMENSION; i++)
        exact[i] = INT64_MAX; /* half of the draws are positive: 2^-20 that none is */
    assert_ok(open_gate(ledger, "a", 20, &gate, NULL));
    assert_ok(tacit__gate_begin(gate, nothing, NULL));
    assert_aborts(tacit__gate_pass(gate, 0, DIMENSION, exact, released));
}

/* What a journal was asked. */
typedef struct diary {
    tacit_status answer;
    size_t asked;
    uint64_t step;
    char name[8];
    size_t passages_before; /* recorded when the journal was last asked */
    const struct film *film;
} diary;

/* What a recorder saw. */
typedef struct film {
    size_t passages, coordinates;
    uint64_t step[64];
    size_t offset[64], n[64];
    int64_t exact[512], released[512];
    tacit__passage last;
    char name[8];
} film;

static tacit_status write_diary(void *context, const tacit_release *release, uint64_t step)
{
    diary *d = context;
    d->asked++;
    d->step = step;
    (void)strncpy(d->name, release->name, sizeof d->name - 1);
    d->passages_before = d->film != NULL ? d->film->passages : 0;
    return d->answer;
}

static void shoot(void *context, const tacit__passage *p)
{
    film *f = context;
    assert_true(f->passages < 64 && f->coordinates + p->n <= 512);
    f->step[f->passages] = p->step;
    f->offset[f->passages] = p->offset;
    f->n[f->passages++] = p->n;
    memcpy(f->exact + f->coordinates, p->exact, p->n * sizeof *p->exact);
    memcpy(f->released + f->coordinates, p->released, p->n * sizeof *p->released);
    f->coordinates += p->n;
    f->last = *p;
    (void)strncpy(f->name, p->release->name, sizeof f->name - 1);
}

TEST(the_journal_is_asked_before_any_noise_is_drawn)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_GAUSSIAN, 1);
    film f = {0};
    diary d = {.answer = TACIT_OK, .film = &f};
    tacit__gate *gate;
    static const int64_t exact[DIMENSION];
    int64_t released[DIMENSION];
    tacit_ledger_set_journal(ledger, write_diary, &d);
    tacit__ledger_set_recorder(ledger, shoot, &f);
    assert_ok(open_gate(ledger, "b", 10, &gate, NULL));
    for (uint64_t step = 0; step < STEPS; step++) {
        assert_ok(tacit__gate_begin(gate, nothing, NULL));
        assert_true(d.asked == step + 1 && d.step == step && d.passages_before == step);
        assert_string_equal(d.name, "b");
        tacit__gate_pass(gate, 0, DIMENSION, exact, released);
    }
    assert_status(tacit__gate_begin(gate, nothing, NULL), TACIT_EXHAUSTED);
    assert_true(d.asked == STEPS); /* a step that does not exist is not journalled */
    tacit_ledger_set_journal(ledger, NULL, NULL);
}

/* Runs a sum of four users; the journal refuses user `refused` (0: nobody) twice before it gives in. */
static void run_with_refusals(sum_kind kind, uint64_t refused, double out[4][DIMENSION])
{
    tacit_sum_spec spec = sum_spec_of(kind, DIMENSION, 4);
    SCOPED_BY(sum_rig_close) sum_rig rig;
    diary d = {.answer = TACIT_OK};
    double x[DIMENSION] = {0.25, -0.5}, unused[DIMENSION];
    tacit_error err;
    sum_rig_open_unit(&rig, &spec, 3);
    tacit_ledger_set_journal(rig.ledger, write_diary, &d);
    for (uint64_t k = 1; k <= 4; k++) {
        if (k == refused) {
            d.answer = TACIT_SYSTEM;
            for (int i = 0; i < 2; i++) {
                uint64_t passed = tacit_ledger_passed(rig.ledger, 0);
                assert_status(tacit_sum_add(rig.sum, x, &err), TACIT_SYSTEM);
                assert_int_equal(err.status, TACIT_SYSTEM);
                assert_true(tacit_sum_step(rig.sum) == k - 1);
                assert_true(tacit_ledger_passed(rig.ledger, 0) == passed);
                assert_status(tacit_sum_release(rig.sum, unused, NULL),
                              k == 1 ? TACIT_NOTHING_TO_RELEASE : TACIT_RELEASED_TWICE);
            }
            d.answer = TACIT_OK;
        }
        assert_ok(tacit_sum_add(rig.sum, x, NULL));
        assert_ok(tacit_sum_release(rig.sum, out[k - 1], NULL));
    }
}

TEST(after_a_refusal_of_the_journal_it_is_as_if_nothing_had_happened)
{
    for (size_t i = 0; i < N_NOISY_SUM_KINDS; i++) {
        double plain[4][DIMENSION], refused[4][DIMENSION];
        run_with_refusals(sum_kinds[i], 0, plain);
        for (uint64_t k = 1; k <= 4; k++) {
            run_with_refusals(sum_kinds[i], k, refused);
            assert_memory_equal(plain, refused, sizeof plain);
        }
    }
}

TEST(a_recorder_sees_every_passage)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_LAPLACE, 3);
    film f = {0};
    tacit__gate *gate;
    int64_t exact[DIMENSION], released[STEPS][DIMENSION];
    tacit__ledger_set_recorder(ledger, shoot, &f);
    assert_ok(open_gate(ledger, "a", 10, &gate, NULL));
    for (uint64_t step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < DIMENSION; i++)
            exact[i] = (int64_t)(100 * step + i);
        assert_ok(tacit__gate_begin(gate, nothing, NULL));
        tacit__gate_pass(gate, 0, 16, exact, released[step]);
        tacit__gate_pass(gate, 16, DIMENSION - 16, exact + 16, released[step] + 16);
    }
    assert_true(f.passages == 2 * STEPS && f.coordinates == STEPS * DIMENSION);
    for (size_t p = 0; p < f.passages; p++) {
        assert_true(f.step[p] == p / 2);
        assert_true(f.offset[p] == (p % 2 == 0 ? 0 : 16) && f.n[p] == (p % 2 == 0 ? 16 : 4));
    }
    for (size_t i = 0; i < f.coordinates; i++)
        assert_true(f.exact[i] == (int64_t)(100 * (i / DIMENSION) + i % DIMENSION));
    assert_memory_equal(f.released, released, sizeof released);
    assert_string_equal(f.name, "a");
    assert_true(f.last.law == TACIT_LAW_LAPLACE);
    assert_true(f.last.scale == 3 * 1024.0 && f.last.lattice == 0x1p-10);
}

TEST(what_passes_is_the_exact_number_plus_the_draw_of_its_chain)
{
    SCOPED(tacit_ledger) *ledger = open_ledger(TACIT_LAW_GAUSSIAN, 5);
    tacit__site site;
    tacit__link link;
    tacit__gate *gate;
    int64_t exact[DIMENSION], released[DIMENSION], draw[DIMENSION];
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    tacit__site_open_scoped(&site, noise, 0, "b"); /* the first ledger of its root */
    assert_ok(open_gate(ledger, "b", 10, &gate, NULL));
    for (uint64_t step = 0; step < STEPS; step++) {
        for (size_t i = 0; i < DIMENSION; i++)
            exact[i] = (int64_t)(1000 * i) - 7;
        assert_ok(tacit__gate_begin(gate, nothing, NULL));
        tacit__gate_pass(gate, 0, DIMENSION, exact, released);
        tacit__site_advance(&site, (tacit__tag){0}, DIMENSION, &link);
        tacit__link_draw(&link, 0, TACIT__GAUSSIAN, 5 * 1024.0, DIMENSION, draw);
        for (size_t i = 0; i < DIMENSION; i++)
            assert_true(released[i] == exact[i] + draw[i]);
    }
}

/* Two ledgers with the same key. The gate of one sees the inputs; that of the other gets their digests only. */
TEST(a_gate_that_sees_no_inputs_draws_the_same_noise_for_the_same_digests)
{
    const tacit__gate_spec blind = {.name = "a", .lattice_bits = 10};
    tacit_ledger *ledgers[2] = {open_ledger(TACIT_LAW_GAUSSIAN, 5),
                                open_ledger(TACIT_LAW_GAUSSIAN, 5)};
    tacit__gate *sees, *told;
    static const uint8_t label[TACIT__LABEL_BYTES] = {7};
    int64_t exact[DIMENSION] = {0}, one[DIMENSION], other[DIMENSION];
    assert_ok(open_gate(ledgers[0], "a", 10, &sees, NULL));
    assert_ok(tacit__gate_open(ledgers[1], &blind, &told, NULL));
    for (uint64_t step = 0; step < STEPS; step++) {
        exact[step] = 1000;
        tacit__ledger_label(ledgers[0], label);
        tacit__ledger_label(ledgers[1], label); /* in the digest already */
        const tacit__input input = {.n = DIMENSION, .value = exact};
        tacit__tag digest = tacit__gate_digest(sees, &input);
        const tacit__tag again = tacit__gate_digest(sees, &input);
        assert_true(digest.nonce == again.nonce && digest.high == again.high);
        assert_ok(tacit__gate_begin(sees, digest, NULL));
        digest.nonce ^= step + 1 == STEPS; /* one bit of the last digest */
        assert_ok(tacit__gate_begin(told, digest, NULL));
        tacit__gate_pass(sees, 0, DIMENSION, exact, one);
        tacit__gate_pass(told, 0, DIMENSION, exact, other);
        if (step + 1 < STEPS)
            assert_memory_equal(one, other, sizeof one);
        for (size_t i = 0; i < DIMENSION && step + 1 == STEPS; i++)
            assert_true(one[i] != other[i]);
    }
    assert_aborts((void)tacit__gate_digest(told, &(tacit__input){0}));
    tacit__gate_state saved;
    tacit__gate_save(told, &saved);
    assert_true(tacit__gate_check(told, &saved));
    tacit_ledger_destroy(ledgers[0]);
    tacit_ledger_destroy(ledgers[1]);
}

TEST(the_exact_sums_of_a_plan_without_noise_pass_no_gate)
{
    tacit_sum_spec spec = sum_spec_of(sum_kinds[N_SUM_KINDS - 1], 2, 3);
    SCOPED_BY(sum_rig_close) sum_rig rig;
    diary d = {.answer = TACIT_SYSTEM};
    film f = {0};
    static const double x[2] = {0.5, 0.25};
    sum_rig_open(&rig, &spec, "sum", 0, 1);
    tacit_ledger_set_journal(rig.ledger, write_diary, &d);
    tacit__ledger_set_recorder(rig.ledger, shoot, &f);
    assert_ok(tacit_sum_add(rig.sum, x, NULL)); /* nothing is charged: there is no promise */
    assert_true(d.asked == 0 && f.passages == 0);
}

/* Two ledgers of one root, with the same plan: if they drew the same noise, the difference of their releases would be
 * exact. Nor does a release share the noise of another release, or of a site that happens to have its name. */
TEST(ledgers_of_one_root_never_share_noise)
{
    SCOPED(tacit_plan) *plan = plan_of_two(TACIT_LAW_GAUSSIAN, 1000);
    tacit_ledger *ledgers[2];
    tacit__site site;
    static const int64_t exact[DIMENSION] = {0};
    int64_t released[5][DIMENSION];
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    for (int i = 0; i < 2; i++) {
        assert_ok(tacit_ledger_create(plan, noise, &ledgers[i], NULL));
        for (int j = 0; j < 2; j++) {
            tacit__gate *gate;
            assert_ok(open_gate(ledgers[i], j == 0 ? "a" : "b", 0, &gate, NULL));
            assert_ok(tacit__gate_begin(gate, nothing, NULL));
            tacit__gate_pass(gate, 0, DIMENSION, exact, released[2 * i + j]);
        }
    }
    tacit__site_open(&site, noise, "a");
    tacit__noise_draw(&site, 0, 0, TACIT__GAUSSIAN, 1000, DIMENSION, released[4]);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(released[i], released[j], sizeof released[i]);
    tacit_ledger_destroy(ledgers[0]);
    tacit_ledger_destroy(ledgers[1]);
}
