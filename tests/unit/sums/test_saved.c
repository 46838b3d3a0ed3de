/* Saved sums: a restored one goes on bit for bit, and nothing but the very same sum is restored. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <tacit/sum.h>

#include "account/door.h"
#include "noise/stream.h"
#include "support/random.h"
#include "support/sums.h"

enum { N = 5, USERS = 12 };

/* Where things are in a saved state: magic, version, released, padding, size, step, fingerprint, the gate (key, key of
 * tags, labels, simulated, steps passed), the strategy's regions, checksum. */
enum {
    AT_VERSION = 8,
    AT_RELEASED = 12,
    AT_SIZE = 16,
    AT_STEP = 24,
    AT_LABELS = 128,
    AT_SIMULATED = 144,
    AT_PASSED = 152,
    HEADER = 160,
    CHECKSUM = 32
};

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static bytes save(const tacit_sum *sum)
{
    bytes b = {0};
    assert_ok(tacit_sum_save(sum, NULL, &b.size, NULL));
    b.data = malloc(b.size);
    assert_non_null(b.data);
    size_t written = b.size;
    assert_ok(tacit_sum_save(sum, b.data, &written, NULL));
    assert_true(written == b.size);
    return b;
}

/* Makes the checksum right again, so that what is behind it is reached. */
static void sign(bytes b)
{
    tacit__bytes body = {b.data, b.size - CHECKSUM};
    tacit__digest(&body, 1, b.data + b.size - CHECKSUM);
}

static void contribution(uint64_t k, double x[N])
{
    uint64_t random = k;
    for (size_t i = 0; i < N; i++)
        x[i] = 0.19 * (2 * random_unit(&random) - 1);
}

static void add(tacit_sum *sum)
{
    double x[N];
    contribution(tacit_sum_step(sum), x);
    assert_ok(tacit_sum_add(sum, x, NULL));
}

static void add_and_release(tacit_sum *sum, double noisy[N])
{
    add(sum);
    assert_ok(tacit_sum_release(sum, noisy, NULL));
}

/* Runs both to the end and requires the same releases. */
static void assert_same_future(tacit_sum *a, tacit_sum *b)
{
    double from_a[N], from_b[N];
    assert_true(tacit_sum_step(a) == tacit_sum_step(b));
    while (tacit_sum_step(a) < USERS) {
        add_and_release(a, from_a);
        add_and_release(b, from_b);
        assert_memory_equal(from_a, from_b, sizeof from_a);
    }
    double x[N] = {0};
    assert_status(tacit_sum_add(b, x, NULL), TACIT_EXHAUSTED);
}

TEST(a_sum_restored_at_any_step_goes_on_bit_for_bit)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++)
        for (uint64_t stop = 0; stop <= USERS; stop++)
            for (int released = 0; released < 2; released++) {
                tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS);
                SCOPED_BY(sum_rig_close) sum_rig first, second;
                double noisy[N], again[N];
                sum_rig_open_unit(&first, &spec, 1);
                sum_rig_open_unit(&second, &spec, 2); /* its own noise is forgotten */
                while (tacit_sum_step(first.sum) < stop)
                    add(first.sum);
                if (released && stop > 0)
                    assert_ok(tacit_sum_release(first.sum, noisy, NULL));
                bytes b = save(first.sum);
                assert_ok(tacit_sum_load(second.sum, b.data, b.size, NULL));
                if (m < N_NOISY_SUM_KINDS)
                    assert_true(tacit_ledger_passed(second.ledger, 0) == stop);
                tacit_status wanted = stop == 0  ? TACIT_NOTHING_TO_RELEASE
                                      : released ? TACIT_RELEASED_TWICE
                                                 : TACIT_OK;
                assert_status(tacit_sum_release(first.sum, noisy, NULL), wanted);
                assert_status(tacit_sum_release(second.sum, again, NULL), wanted);
                if (wanted == TACIT_OK)
                    assert_memory_equal(noisy, again, sizeof noisy);
                assert_same_future(first.sum, second.sum);
                free(b.data);
            }
}

TEST(saving_changes_nothing_and_says_the_same_twice)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS);
        SCOPED_BY(sum_rig_close) sum_rig saved, plain;
        double a[N], b[N];
        sum_rig_open_unit(&saved, &spec, 3);
        sum_rig_open_unit(&plain, &spec, 3);
        for (uint64_t k = 0; k < USERS; k++) {
            bytes once = save(saved.sum), twice = save(saved.sum);
            assert_true(once.size == twice.size);
            assert_memory_equal(once.data, twice.data, once.size);
            free(once.data);
            free(twice.data);
            add_and_release(saved.sum, a);
            add_and_release(plain.sum, b);
            assert_memory_equal(a, b, sizeof a);
        }
    }
}

TEST(a_saved_state_loads_and_saves_to_the_same_bytes)
{
    static const bool zeros[N] = {false, true, false, false, true};
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS);
        spec.structural_zero = zeros;
        SCOPED_BY(sum_rig_close) sum_rig first, second;
        double x[N] = {0.5, 0, -0.25, 0.1, 0};
        sum_rig_open_unit(&first, &spec, 4);
        sum_rig_open_unit(&second, &spec, 5);
        for (int k = 0; k < 7; k++)
            assert_ok(tacit_sum_add(first.sum, x, NULL));
        bytes b = save(first.sum);
        assert_ok(tacit_sum_load(second.sum, b.data, b.size, NULL));
        bytes c = save(second.sum);
        assert_true(b.size == c.size);
        assert_memory_equal(b.data, c.data, b.size);
        free(b.data);
        free(c.data);
    }
}

TEST(a_buffer_that_is_too_small_is_not_written)
{
    tacit_sum_spec spec = sum_spec_of(sum_kinds[0], N, USERS);
    SCOPED_BY(sum_rig_close) sum_rig rig;
    uint8_t one = 42;
    size_t size = 1;
    sum_rig_open_unit(&rig, &spec, 1);
    assert_status(tacit_sum_save(rig.sum, &one, &size, NULL), TACIT_BAD_ARGUMENT);
    assert_true(one == 42 && size == 1);
    assert_status(tacit_sum_save(NULL, &one, &size, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_sum_save(rig.sum, &one, NULL, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_sum_load(NULL, &one, 1, NULL), TACIT_BAD_ARGUMENT);
    assert_status(tacit_sum_load(rig.sum, NULL, 1, NULL), TACIT_BAD_ARGUMENT);
}

/* A state after some users, and a fresh sum that it belongs to. */
typedef struct scene {
    sum_rig fresh, untouched; /* two fresh ones alike */
    bytes saved;
} scene;

static scene set_scene(sum_kind kind, uint64_t users_so_far)
{
    tacit_sum_spec spec = sum_spec_of(kind, N, USERS);
    scene s;
    sum_rig rig;
    sum_rig_open_unit(&rig, &spec, 6);
    while (tacit_sum_step(rig.sum) < users_so_far)
        add(rig.sum);
    s.saved = save(rig.sum);
    sum_rig_close(&rig);
    sum_rig_open_unit(&s.fresh, &spec, 7);
    sum_rig_open_unit(&s.untouched, &spec, 7);
    return s;
}

static void refuse(scene *s, bytes b, tacit_status wanted)
{
    tacit_error err = {0};
    assert_status(tacit_sum_load(s->fresh.sum, b.data, b.size, &err), wanted);
    assert_int_equal(err.status, wanted);
    assert_true(strlen(err.message) > 0);
}

/* After all the refusals the sum is still the fresh one it was. */
static void end_scene(scene *s)
{
    assert_true(tacit_sum_step(s->fresh.sum) == 0);
    assert_true(tacit_ledger_passed(s->fresh.ledger, 0) == 0);
    assert_same_future(s->untouched.sum, s->fresh.sum);
    free(s->saved.data);
    sum_rig_close(&s->fresh);
    sum_rig_close(&s->untouched);
}

TEST(a_state_with_any_byte_damaged_is_refused)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        scene s = set_scene(sum_kinds[m], 6);
        for (size_t i = 0; i < s.saved.size; i++)
            for (int bit = 0; bit < 8; bit += 1 + (i >= HEADER) * 6) {
                s.saved.data[i] ^= (uint8_t)(1 << bit);
                bool version = i >= AT_VERSION && i < AT_VERSION + 4;
                refuse(&s, s.saved, version ? TACIT_WRONG_VERSION : TACIT_CORRUPT);
                s.saved.data[i] ^= (uint8_t)(1 << bit);
            }
        end_scene(&s);
    }
}

TEST(a_state_cut_short_or_grown_is_refused)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        scene s = set_scene(sum_kinds[m], 6);
        uint8_t *longer = calloc(1, s.saved.size + 64);
        assert_non_null(longer);
        memcpy(longer, s.saved.data, s.saved.size);
        for (size_t size = 0; size < s.saved.size + 64; size++)
            if (size != s.saved.size)
                refuse(&s, (bytes){longer, size}, TACIT_CORRUPT);
        for (size_t size = HEADER + CHECKSUM; size < s.saved.size + 64; size++) {
            /* with a size and a checksum that are right for it: another shape */
            uint64_t claimed = size;
            if (size == s.saved.size)
                continue;
            memcpy(longer, s.saved.data, size < s.saved.size ? size : s.saved.size);
            memcpy(longer + AT_SIZE, &claimed, sizeof claimed);
            sign((bytes){longer, size});
            refuse(&s, (bytes){longer, size}, TACIT_WRONG_PLAN);
        }
        free(longer);
        end_scene(&s);
    }
}

TEST(another_format_version_is_named_as_such)
{
    scene s = set_scene(sum_kinds[0], 6);
    static const uint32_t versions[] = {0, 4, 6, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        memcpy(s.saved.data + AT_VERSION, &versions[i], sizeof versions[i]);
        sign(s.saved);
        refuse(&s, s.saved, TACIT_WRONG_VERSION);
    }
    end_scene(&s);
}

TEST(a_state_that_contradicts_itself_is_refused_even_with_a_right_checksum)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        scene s = set_scene(sum_kinds[m], 6);
        static const uint64_t steps[] = {0, 5, 7, USERS, USERS + 1, UINT64_MAX};
        for (size_t i = 0; i < 6; i++) { /* the strategy has counted 6 */
            memcpy(s.saved.data + AT_STEP, &steps[i], sizeof steps[i]);
            sign(s.saved);
            refuse(&s, s.saved, TACIT_CORRUPT);
        }
        const uint64_t right = 6;
        memcpy(s.saved.data + AT_STEP, &right, sizeof right);
        /* truth values that are neither, and labels that no chain of them has */
        static const struct {
            size_t at;
            uint8_t flip;
        } wrong[] = {{AT_RELEASED, 2}, {AT_SIMULATED, 2}, {AT_LABELS + 15, 0x80}};
        for (size_t i = 0; i < 3; i++) {
            s.saved.data[wrong[i].at] ^= wrong[i].flip;
            sign(s.saved);
            refuse(&s, s.saved, TACIT_CORRUPT);
            s.saved.data[wrong[i].at] ^= wrong[i].flip;
        }
        /* noise drawn for more steps, or fewer, than there were users: only local sums can have that */
        static const uint64_t passed[] = {USERS + 1, UINT64_MAX, 5, 7};
        bool local = sum_kinds[m].mechanism == TACIT_SUM_LOCAL;
        for (size_t i = 0; i < (local ? 2 : 4); i++) {
            memcpy(s.saved.data + AT_PASSED, &passed[i], sizeof passed[i]);
            sign(s.saved);
            refuse(&s, s.saved, TACIT_CORRUPT);
        }
        end_scene(&s);
    }
}

/* Where a tree stands follows from the number of users. A position that no walk reaches would lead it out
 * of its arrays. */
TEST(a_position_that_no_walk_reaches_is_refused_even_with_a_right_checksum)
{
    enum { POSITION = 8 + 8 + 4 + 64 }; /* word, steps, number of live nodes, their bits */
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        if (sum_kinds[m].mechanism != TACIT_SUM_TREE && sum_kinds[m].mechanism != TACIT_SUM_SMOOTH)
            continue;
        scene s = set_scene(sum_kinds[m], 6);
        uint32_t alive;
        memcpy(&alive, s.saved.data + HEADER + 16, sizeof alive);
        for (size_t i = 0; i < POSITION; i++) {
            if (i >= 20 + alive) /* bits of nodes that are not there do not matter */
                break;
            s.saved.data[HEADER + i] ^= 1;
            sign(s.saved);
            refuse(&s, s.saved, TACIT_CORRUPT);
            s.saved.data[HEADER + i] ^= 1;
        }
        end_scene(&s);
    }
}

/* --- Other plans ------------------------------------------------------------------------------- */

/* The state of one sum is not taken by a fresh one of another. */
static void refuse_other(const tacit_sum_spec *of, double of_scale, const char *of_name,
                         const tacit_sum_spec *into, double into_scale, const char *into_name)
{
    SCOPED_BY(sum_rig_close) sum_rig first, second, untouched;
    double a[64] = {0}, b[64] = {0};
    static const double zero[64];
    sum_rig_open(&first, of, of_name, of_scale, 8);
    sum_rig_open(&second, into, into_name, into_scale, 8);
    sum_rig_open(&untouched, into, into_name, into_scale, 8);
    assert_ok(tacit_sum_add(first.sum, zero, NULL));
    bytes saved = save(first.sum);
    assert_status(tacit_sum_load(second.sum, saved.data, saved.size, NULL), TACIT_WRONG_PLAN);
    assert_true(tacit_sum_step(second.sum) == 0);
    assert_ok(tacit_sum_add(second.sum, zero, NULL));
    assert_ok(tacit_sum_add(untouched.sum, zero, NULL));
    assert_ok(tacit_sum_release(second.sum, a, NULL));
    assert_ok(tacit_sum_release(untouched.sum, b, NULL));
    assert_memory_equal(a, b, sizeof a);
    free(saved.data);
}

TEST(a_state_of_another_plan_is_refused)
{
    static const bool zeros[N] = {false, true, false, false, false};
    static const bool others[N] = {false, false, true, false, false};
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec spec = sum_spec_of(sum_kinds[m], N, USERS), other;
        if (m < N_NOISY_SUM_KINDS)
            refuse_other(&spec, 1, "sum", &spec, 1.0000001, "sum");
        refuse_other(&spec, 1, "sum", &spec, 1, "another");
        other = spec;
        other.users = USERS + 1;
        refuse_other(&spec, 1, "sum", &other, 1, "sum");
        other = spec;
        other.dimension = N + 1;
        refuse_other(&spec, 1, "sum", &other, 1, "sum");
        other = spec;
        other.bound.l1 *= 0.75;
        other.bound.l2 *= 0.75;
        refuse_other(&spec, 1, "sum", &other, 1, "sum");
        spec.structural_zero = zeros;
        other = spec;
        other.structural_zero = others; /* as many, elsewhere */
        refuse_other(&spec, 1, "sum", &other, 1, "sum");
        for (size_t k = 0; k < N_SUM_KINDS; k++)
            if (k != m) {
                spec = sum_spec_of(sum_kinds[m], N, USERS);
                other = sum_spec_of(sum_kinds[k], N, USERS);
                refuse_other(&spec, 1, "sum", &other, 1, "sum");
            }
    }
}

/* The bound decides the lattice and the integer coefficients. Here the sensitivity, and so the plan's line,
 * is the same for both. */
TEST(a_state_of_another_bound_is_refused)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        tacit_sum_spec small = sum_spec_of(sum_kinds[m], 1, 1000), large;
        small.reason = "said so";
        small.sensitivity_l1 = small.sensitivity_l2 = 0.5;
        small.bound = (tacit_bound){.l1 = 1.01, .l2 = 1.01};
        large = small;
        large.bound = (tacit_bound){.l1 = 1.9, .l2 = 1.9};
        refuse_other(&small, 1, "sum", &large, 1, "sum");
    }
}

/* The last word before the checksum is a sum in lattice steps, or what blt has shown: no user can be added to this one. */
TEST(sums_that_leave_no_room_are_refused_though_the_checksum_is_right)
{
    static const uint64_t words[] = {UINT64_C(0x7ff8000000000000), INT64_MAX};
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        scene s = set_scene(sum_kinds[m], 6);
        const size_t end = s.saved.size - CHECKSUM;
        for (size_t i = 0; i < 2; i++) {
            memcpy(s.saved.data + end - sizeof words[i], &words[i], sizeof words[i]);
            sign(s.saved);
            refuse(&s, s.saved, TACIT_CORRUPT);
        }
        end_scene(&s);
    }
}

TEST(a_sum_that_has_had_users_takes_no_state)
{
    for (size_t m = 0; m < N_SUM_KINDS; m++) {
        scene s = set_scene(sum_kinds[m], 6);
        double a[N], b[N];
        add_and_release(s.fresh.sum, a);
        add_and_release(s.untouched.sum, b);
        assert_status(tacit_sum_load(s.fresh.sum, s.saved.data, s.saved.size, NULL),
                      TACIT_BAD_ARGUMENT);
        assert_same_future(s.untouched.sum, s.fresh.sum);
        free(s.saved.data);
        sum_rig_close(&s.fresh);
        sum_rig_close(&s.untouched);
    }
}

TEST(a_restored_sum_knows_that_its_noise_is_simulated)
{
    tacit_sum_spec spec = sum_spec_of(sum_kinds[0], N, USERS);
    SCOPED_BY(sum_rig_close) sum_rig first, second;
    sum_rig_open_unit(&first, &spec, 9);
    add(first.sum);
    bytes saved = save(first.sum);
    /* a ledger keyed by the system takes over a simulated state: the stamp must not be lost */
    sum_rig_open_unit(&second, &spec, 9);
    tacit_sum_destroy(second.sum);
    tacit_ledger_destroy(second.ledger);
    tacit_noise_destroy(second.noise);
    assert_ok(tacit_noise_create_from_os(&second.noise));
    assert_ok(tacit_ledger_create(second.plan, second.noise, &second.ledger, NULL));
    assert_ok(tacit_sum_create(&spec, second.ledger, "sum", &second.sum, NULL));
    assert_false(tacit_ledger_is_simulated(second.ledger));
    if (tacit_sum_load(second.sum, saved.data, saved.size, NULL) == TACIT_OK)
        assert_true(tacit_ledger_is_simulated(second.ledger));
    free(saved.data);
}
