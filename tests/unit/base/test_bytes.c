/* Saved states: one list of fields that is counted, written, checked and applied; and their envelope. */
#include "base/bytes.h"

#include <math.h>
#include <string.h>

#include "noise/envelope.h"
#include "support/check.h"

enum { N = 3, ACTIONS = 4 };

typedef struct thing {
    uint64_t users;
    double sums[N];
    int64_t steps[N];
    uint32_t policy[N];
} thing;

static const thing full = {7, {1, -2, 0.5}, {-7, 0, 3}, {0, 3, 1}}, fresh = {0};

static void fields(thing *t, tacit__saved *s)
{
    uint64_t users = t->users;
    s->wrong = "the thing contradicts itself";
    tacit__saved_value(s, &users, sizeof users);
    tacit__saved_check(s, users <= 10);
    tacit__saved_reals(s, t->sums, N, 2);
    tacit__saved_integers(s, t->steps, N, (double)users);
    tacit__saved_indices(s, t->policy, N, ACTIONS);
    if (s->pass == TACIT__APPLY)
        t->users = users;
}

static size_t save(const thing *t, void *bytes, size_t room)
{
    thing copy = *t;
    size_t size = room;
    tacit__saved s = tacit__saved_save(bytes, &size, NULL);
    while (tacit__saved_next(&s))
        fields(&copy, &s);
    assert_ok(s.status);
    assert_memory_equal(&copy, t, sizeof copy);
    return size;
}

static tacit_status load(thing *t, const void *bytes, size_t size, tacit_error *err)
{
    tacit__saved s = tacit__saved_load(bytes, size, err);
    while (tacit__saved_next(&s))
        fields(t, &s);
    return s.status;
}

TEST(what_is_saved_is_what_is_loaded)
{
    uint8_t bytes[256];
    thing t = fresh;
    size_t size = save(&full, NULL, 0);
    assert_int_equal(size, 8 + N * (8 + 8 + 4));
    assert_int_equal(save(&full, bytes, sizeof bytes), size);
    assert_ok(load(&t, bytes, size, NULL));
    assert_memory_equal(&t, &full, sizeof t);
}

TEST(a_buffer_that_is_too_small_is_not_written)
{
    uint8_t bytes[256] = {42};
    thing t = full;
    size_t size = save(&full, NULL, 0) - 1, room = size;
    tacit_error err = {.message = ""};
    tacit__saved s = tacit__saved_save(bytes, &room, &err);
    while (tacit__saved_next(&s))
        fields(&t, &s);
    assert_status(s.status, TACIT_BAD_ARGUMENT);
    assert_true(bytes[0] == 42 && room == size && err.status == s.status);
}

/* Whatever comes last is looked at before the first field is changed. */
TEST(a_state_that_is_refused_changes_nothing)
{
    uint8_t bytes[256];
    size_t size = save(&full, bytes, sizeof bytes);
    static const struct {
        size_t at, size;
        double x;
        uint64_t word;
    } wrong[] = {{.at = 0, .size = 8, .word = 11},                /* users */
                 {.at = 8 + 16, .size = 8, .x = 2.5},             /* a sum */
                 {.at = 8 + 16, .size = 8, .x = (double)NAN},     /* no number */
                 {.at = 8 + 24, .size = 8, .word = 8},            /* more steps than users */
                 {.at = 8 + 48 + 8, .size = 4, .word = ACTIONS}}; /* no action */
    for (size_t i = 0; i < N_OF(wrong); i++) {
        uint8_t bad[256];
        thing t = fresh;
        tacit_error err = {.message = ""};
        memcpy(bad, bytes, size);
        if (wrong[i].x != 0)
            memcpy(bad + wrong[i].at, &wrong[i].x, wrong[i].size);
        else
            memcpy(bad + wrong[i].at, &wrong[i].word, wrong[i].size);
        assert_status(load(&t, bad, size, &err), TACIT_CORRUPT);
        assert_string_equal(err.message, "the thing contradicts itself");
        assert_memory_equal(&t, &fresh, sizeof t);
    }
    for (size_t n = 0; n < size; n++) {
        thing t = fresh;
        assert_status(load(&t, bytes, n, NULL), TACIT_CORRUPT);
        assert_memory_equal(&t, &fresh, sizeof t);
    }
    thing t = fresh;
    assert_status(load(&t, bytes, size + 1, NULL), TACIT_CORRUPT);
    assert_memory_equal(&t, &fresh, sizeof t);
}

/* A part must be used up: its size, and what is behind it, are those that were saved. */
TEST(parts_have_the_size_that_they_were_saved_with)
{
    uint8_t bytes[256];
    const size_t size = save(&full, bytes, sizeof bytes);
    for (size_t part = 0; part <= size + 1; part++) {
        thing t = fresh;
        uint8_t after = 0;
        bytes[size] = 9;
        tacit__saved s = tacit__saved_load(bytes, size + 1, NULL);
        while (tacit__saved_next(&s)) {
            size_t end = tacit__saved_enter(&s, part);
            fields(&t, &s);
            tacit__saved_leave(&s, end);
            tacit__saved_value(&s, &after, 1);
        }
        assert_status(s.status, part == size ? TACIT_OK : TACIT_CORRUPT);
        assert_memory_equal(&t, part == size ? &full : &fresh, sizeof t);
        assert_true(part != size || after == 9);
    }
}

/* --- The envelope ---------------------------------------------------------------------------------- */

typedef struct header {
    uint64_t magic;
    uint32_t version, own;
    uint64_t size;
    uint8_t fingerprint[TACIT__KEY_BYTES];
} header;

static const tacit__envelope envelope = {.magic = 0x1122334455667788U,
                                         .version = 3,
                                         .header = sizeof(header),
                                         .print_at = offsetof(header, fingerprint),
                                         .what = "thing",
                                         .foreign = "the saved thing is another one"};

static void wrapped(thing *t, uint8_t print, tacit__saved *s)
{
    header h = {.own = 5};
    uint8_t fingerprint[TACIT__KEY_BYTES] = {print};
    const size_t start = tacit__envelope_open(&envelope, fingerprint, 0, &h, s);
    tacit__saved_check(s, h.own == 5);
    fields(t, s);
    tacit__envelope_close(&envelope, start, s);
}

static tacit_status load_wrapped(thing *t, uint8_t print, const void *bytes, size_t size)
{
    tacit_error err = {.message = ""};
    tacit__saved s = tacit__saved_load(bytes, size, &err);
    while (tacit__saved_next(&s))
        wrapped(t, print, &s);
    assert_true(err.status == s.status && (s.status == TACIT_OK || err.message[0] != '\0'));
    return s.status;
}

TEST(an_envelope_keeps_out_what_is_damaged_foreign_or_of_another_version)
{
    uint8_t bytes[256];
    thing t = full;
    size_t size = sizeof bytes;
    tacit__saved s = tacit__saved_save(bytes, &size, NULL);
    while (tacit__saved_next(&s))
        wrapped(&t, 1, &s);
    assert_ok(s.status);
    assert_int_equal(size, sizeof(header) + save(&full, NULL, 0) + TACIT__KEY_BYTES);
    t = fresh;
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 1;
        const bool version = i >= 8 && i < 12;
        assert_status(load_wrapped(&t, 1, bytes, size),
                      version ? TACIT_WRONG_VERSION : TACIT_CORRUPT);
        bytes[i] ^= 1;
    }
    for (size_t n = 0; n < size; n++)
        assert_status(load_wrapped(&t, 1, bytes, n), TACIT_CORRUPT);
    assert_status(load_wrapped(&t, 2, bytes, size), TACIT_WRONG_PLAN);
    assert_memory_equal(&t, &fresh, sizeof t);
    assert_ok(load_wrapped(&t, 1, bytes, size));
    assert_memory_equal(&t, &full, sizeof t);
}
