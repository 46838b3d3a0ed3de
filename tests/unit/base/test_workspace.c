/* One allocation for an object and its arrays. */
#include "base/workspace.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/check.h"

enum { LINE = 64, PATTERN = 0xa5 };

typedef struct thing {
    uint64_t kept;
    double *numbers;
    char *letters;
    uint32_t *none, *nothing;
} thing;

static bool on_a_line(const void *p)
{
    return (uintptr_t)p % LINE == 0;
}

static bool is_zero(const void *p, size_t bytes)
{
    const unsigned char *at = p;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0)
            return false;
    return true;
}

static thing *make(size_t n_numbers, size_t n_letters)
{
    thing w = {.kept = 7};
    return TACIT__WORKSPACE(w, TACIT__PIECE(w.numbers, n_numbers),
                            TACIT__PIECE(w.letters, n_letters), TACIT__PIECE(w.none, 0),
                            TACIT__PIECE_IF(false, w.nothing, 100));
}

TEST(every_piece_is_aligned_zeroed_and_apart)
{
    for (size_t n = 1; n < 40; n++) {
        thing *t = make(n, 3 * n);
        assert_non_null(t);
        assert_int_equal(t->kept, 7);
        assert_true(on_a_line(t) && on_a_line(t->numbers) && on_a_line(t->letters));
        assert_true(is_zero(t->numbers, n * sizeof *t->numbers) && is_zero(t->letters, 3 * n));
        assert_true((char *)t->numbers >= (char *)(t + 1));
        assert_true(t->letters >= (char *)(t->numbers + n));
        assert_true((char *)t->none >= t->letters + 3 * n);
        memset(t->numbers, PATTERN, n * sizeof *t->numbers);
        assert_true(is_zero(t->letters, 3 * n));
        tacit__workspace_destroy(t);
    }
}

TEST(no_elements_give_one_and_an_unwanted_piece_is_null)
{
    thing *t = make(0, 0);
    assert_non_null(t);
    t->numbers[0] = 1;
    t->letters[0] = 'x';
    assert_true(on_a_line(t->none) && *t->none == 0);
    *t->none = 1;
    assert_null(t->nothing);
    tacit__workspace_destroy(t);
    tacit__workspace_destroy(NULL);
}

TEST(pieces_without_an_object_are_destroyed_by_the_first)
{
    double *a = NULL;
    uint16_t *b = NULL;
    void *pieces = TACIT__PIECES(TACIT__PIECE(a, 5), TACIT__PIECE(b, 9));
    assert_non_null(pieces);
    assert_ptr_equal(pieces, a);
    assert_true(on_a_line(a) && on_a_line(b) && (char *)b >= (char *)(a + 5));
    a[4] = 1;
    b[8] = 1;
    tacit__workspace_destroy(a);
}

TEST(sizes_that_overflow_are_refused)
{
    static const size_t large[] = {SIZE_MAX, SIZE_MAX / sizeof(double), SIZE_MAX / 8 - 4};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_null(make(large[i], 1));
        assert_null(make(large[i], SIZE_MAX));
    }
    assert_null(make(1, SIZE_MAX));
    /* no single one overflows, but their sum does */
    char *parts[5] = {0};
    tacit__piece pieces[5];
    for (size_t i = 0; i < 5; i++)
        pieces[i] = TACIT__PIECE(parts[i], SIZE_MAX / 4);
    assert_null(tacit__workspace_create(NULL, 0, pieces, 5));
    for (size_t i = 0; i < 5; i++)
        assert_null(parts[i]);
}

/* An object with its pieces is one call of the door, which succeeds or fails as a whole. */
TEST(it_is_one_allocation)
{
    double *a = NULL;
    tacit__alloc_fail_at(1);
    assert_null(make(3, 3));
    tacit__alloc_fail_at(1);
    assert_null(TACIT__PIECES(TACIT__PIECE(a, 5)));
    assert_null(a);
    tacit__alloc_fail_at(2);
    thing *t = make(3, 3);
    assert_non_null(t);
    assert_false(tacit__alloc_has_failed());
    assert_null(make(3, 3));
    assert_true(tacit__alloc_has_failed());
    tacit__alloc_fail_at(0);
    tacit__workspace_destroy(t);
}

/* What a thread may still ask for, after a call. */
static size_t cost(size_t n_numbers, size_t n_letters, bool whole)
{
    const size_t much = (size_t)1 << 30;
    size_t before = tacit__alloc_allow(much);
    void *parts[4] = {NULL};
    if (whole) {
        thing *t = make(n_numbers, n_letters);
        assert_non_null(t);
        tacit__workspace_destroy(t);
    } else {
        parts[0] = tacit__alloc(1, sizeof(thing));
        parts[1] = tacit__alloc(n_numbers, sizeof(double));
        parts[2] = tacit__alloc(n_letters, 1);
        parts[3] = tacit__alloc(0, sizeof(uint32_t));
        for (size_t i = 0; i < 4; i++)
            tacit__free(parts[i]);
    }
    return much - tacit__alloc_allow(before);
}

TEST(it_costs_what_its_parts_would)
{
    for (size_t n = 0; n < 200; n += 7) {
        size_t apart = cost(n, n / 2, false), together = cost(n, n / 2, true);
        assert_true(together > apart);
        assert_true(together <= apart + 5 * LINE); /* with the lines that a sanitizer guards */
    }
    size_t before = tacit__alloc_allow(1000);
    assert_null(make(200, 1));
    (void)tacit__alloc_allow(before);
}

/* The memory is read through the system, because the program may not look at it any more. */
TEST(memory_is_wiped_before_it_is_given_back)
{
    enum { NUMBERS = 100, LETTERS = 500 };
    thing *t = make(NUMBERS, LETTERS);
    assert_non_null(t);
    memset(t->numbers, PATTERN, NUMBERS * sizeof *t->numbers);
    memset(t->letters, PATTERN, LETTERS);
    const off_t numbers = (off_t)(uintptr_t)t->numbers, letters = (off_t)(uintptr_t)t->letters;
    int memory = open("/proc/self/mem", O_RDONLY);
    if (memory < 0) {
        tacit__workspace_destroy(t);
        skip();
    }
    unsigned char seen[NUMBERS * sizeof(double)];
    assert_int_equal(pread(memory, seen, sizeof seen, numbers), sizeof seen);
    assert_int_equal(seen[50], PATTERN);
    tacit__workspace_destroy(t);
    assert_int_equal(pread(memory, seen, sizeof seen, numbers), sizeof seen);
    assert_null(memchr(seen, PATTERN, sizeof seen));
    assert_int_equal(pread(memory, seen, LETTERS, letters), LETTERS);
    assert_null(memchr(seen, PATTERN, LETTERS));
    (void)close(memory);
}
