/* Tags of inputs: a function of the vector and of nothing else, on every processor, and different for different vectors. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "noise/tag.h"
#include "support/random.h"

SCOPED_TYPE(tacit__tagger, tacit__tagger_destroy)

enum { MOST = 2000 };

static const uint8_t key[TACIT__KEY_BYTES] = {1, 2, 3};
static const tacit__labels unlabeled = {0};

static tacit__tagger *tagger_of(size_t size, double largest)
{
    tacit__tagger *t;
    assert_ok(tacit__tagger_create(key, size, largest, &t));
    tacit__tagger_prepare(t);
    return t;
}

static bool is_same(tacit__tag a, tacit__tag b)
{
    return a.nonce == b.nonce && a.high == b.high;
}

static tacit__tag dense(const tacit__tagger *t, size_t n, const int64_t *x)
{
    return tacit__tag_of(t, &unlabeled, &(tacit__input){.n = n, .value = x});
}

static void fill(int64_t *x, size_t n, double largest, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        x[i] =
            random_below(random, 3) == 0 ? 0 : (int64_t)random_between(random, -largest, largest);
}

static const struct {
    size_t size;
    double largest;
} shapes[] = {{1, 0x1p20},   {3, 0x1p26},    {31, 0x1p61},   {512, 0x1p26},
              {513, 0x1p61}, {1024, 0x1p61}, {MOST, 0x1p26}, {MOST, 0x1p61}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

TEST(zeros_may_be_left_out)
{
    static int64_t x[MOST], value[MOST];
    static size_t index[MOST];
    uint64_t random = 1;
    for (size_t s = 0; s < N_SHAPES; s++) {
        SCOPED(tacit__tagger) *t = tagger_of(shapes[s].size, shapes[s].largest);
        fill(x, shapes[s].size, shapes[s].largest, &random);
        size_t n = 0;
        for (size_t i = 0; i < shapes[s].size; i++)
            if (x[i] != 0) {
                index[n] = i;
                value[n++] = x[i];
            }
        tacit__tag sparse =
            tacit__tag_of(t, &unlabeled, &(tacit__input){.n = n, .index = index, .value = value});
        assert_true(is_same(dense(t, shapes[s].size, x), sparse));
    }
}

TEST(every_processor_makes_the_same_tags)
{
    static int64_t x[MOST];
    uint64_t random = 2;
    for (size_t s = 0; s < N_SHAPES; s++) {
        SCOPED(tacit__tagger) *t = tagger_of(shapes[s].size, shapes[s].largest);
        for (int round = 0; round < 20; round++) {
            fill(x, shapes[s].size, shapes[s].largest, &random);
            if (round == 0) /* the largest sums there are */
                for (size_t i = 0; i < shapes[s].size; i++)
                    x[i] = (int64_t)shapes[s].largest;
            if (round == 1)
                for (size_t i = 0; i < shapes[s].size; i++)
                    x[i] = -(int64_t)shapes[s].largest;
            tacit__tag fast = dense(t, shapes[s].size, x);
            tacit__cpu_pretend_base(true);
            tacit__tag plain = dense(t, shapes[s].size, x);
            tacit__cpu_pretend_base(false);
            assert_true(is_same(fast, plain));
        }
    }
}

/* The hash is linear: the tag of 0 is 0, and a change in one place must show, wherever it is and however small. */
TEST(a_change_of_any_place_shows)
{
    static int64_t x[MOST];
    uint64_t random = 3;
    for (size_t s = 0; s < N_SHAPES; s++) {
        SCOPED(tacit__tagger) *t = tagger_of(shapes[s].size, shapes[s].largest);
        memset(x, 0, sizeof x);
        assert_true(is_same(dense(t, shapes[s].size, x), (tacit__tag){0}));
        fill(x, shapes[s].size, shapes[s].largest / 2, &random);
        tacit__tag before = dense(t, shapes[s].size, x);
        assert_true(before.nonce >> 63 == 0 && before.high >> 31 == 0);
        for (size_t i = 0; i < shapes[s].size; i++) {
            const int64_t changes[] = {1, -1, (int64_t)(shapes[s].largest / 2)};
            for (int c = 0; c < 3; c++) {
                x[i] += changes[c];
                assert_false(is_same(dense(t, shapes[s].size, x), before));
                x[i] -= changes[c];
            }
            for (size_t d = 1; d <= 512; d += 511) { /* the order matters, of chunks as well */
                if (i < d || x[i] == x[i - d])
                    continue;
                int64_t kept = x[i];
                x[i] = x[i - d];
                x[i - d] = kept;
                assert_false(is_same(dense(t, shapes[s].size, x), before));
                x[i - d] = x[i];
                x[i] = kept;
            }
        }
        assert_true(is_same(dense(t, shapes[s].size, x), before));
    }
}

TEST(another_key_makes_other_tags)
{
    const int64_t x[3] = {1, 0, -5};
    const uint8_t other[TACIT__KEY_BYTES] = {1, 2, 4};
    SCOPED(tacit__tagger) *t = tagger_of(3, 0x1p26);
    tacit__tag before = dense(t, 3, x);
    tacit__tagger_rekey(t, other);
    tacit__tagger_prepare(t);
    assert_memory_equal(tacit__tagger_key(t), other, sizeof other);
    assert_false(is_same(dense(t, 3, x), before));
    tacit__tagger_rekey(t, key);
    tacit__tagger_prepare(t);
    assert_true(is_same(dense(t, 3, x), before));
}

TEST(labels_are_a_chain)
{
    const int64_t x[3] = {1, 0, -5};
    const uint8_t a[TACIT__LABEL_BYTES] = {1}, b[TACIT__LABEL_BYTES] = {2};
    tacit__tagger *t = tagger_of(3, 0x1p26);
    const tacit__input input = {.n = 3, .value = x};
    tacit__labels none = {0}, ab = {0}, ba = {0}, one = {0};
    tacit__labels_add(t, a, &one);
    tacit__labels_add(t, a, &ab);
    tacit__labels_add(t, b, &ab);
    tacit__labels_add(t, b, &ba);
    tacit__labels_add(t, a, &ba);
    const tacit__labels *all[] = {&none, &one, &ab, &ba};
    for (int i = 0; i < 4; i++) {
        assert_true(tacit__labels_are_sound(all[i]));
        for (int j = 0; j < i; j++)
            assert_false(
                is_same(tacit__tag_of(t, all[i], &input), tacit__tag_of(t, all[j], &input)));
    }
    assert_false(tacit__labels_are_sound(&(tacit__labels){UINT64_MAX, UINT64_MAX}));
    tacit__tagger_destroy(t);
    tacit__tagger_destroy(NULL);
}
