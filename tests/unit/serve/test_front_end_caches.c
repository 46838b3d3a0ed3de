/* The memory of a front end, beside plain lists that do the same. */
#include <string.h>

#include "serve/people/participant_cache.h"
#include "serve/people/reply_cache.h"
#include "support/check.h"
#include "support/random.h"

enum { NAMES = 600, CHANGES = 100000, MOST = 50 };

/* Names whose low bits are alike, so that they stand in each other's way. */
static uint64_t name_of(uint64_t i)
{
    return 1 + i % 7 + ((i / 7) << 40);
}

typedef struct plain {
    bool there[NAMES];
    tacit__participant_entry entry[NAMES];
} plain;

static void change_plain(plain *p, uint64_t i, tacit__participant_change how,
                         tacit__participant_entry e)
{
    tacit__participant_entry *at = &p->entry[i];
    if (how == TACIT__PARTICIPANT_REMOVE)
        p->there[i] =
            p->there[i] && (at->until == 0 || (e.mark != UINT32_MAX && e.mark != at->mark));
    else if (!p->there[i] || (how == TACIT__PARTICIPANT_RAISE ? e.mark >= at->mark
                                                              : at->until != 0 || e.until == 0)) {
        p->there[i] = true;
        *at = e;
    }
}

static void assert_alike(tacit__participant_cache *r, const plain *p, uint32_t now)
{
    uint64_t entries, bytes, wanted = 0;
    for (uint64_t i = 0; i < NAMES; i++) {
        uint32_t mark = 0;
        const bool holds = p->there[i] && (p->entry[i].until == 0 || p->entry[i].until >= now);
        assert_int_equal(tacit__participant_cache_find(r, name_of(i), now, &mark), holds);
        if (holds)
            assert_int_equal(mark, p->entry[i].mark);
        wanted += p->there[i];
    }
    tacit__participant_cache_size(r, &entries, &bytes);
    assert_int_equal(entries, wanted);
    assert_true(bytes >= entries * sizeof(tacit__participant_entry));
}

TEST(the_participant_cache_does_what_a_plain_list_does)
{
    tacit__participant_cache *r = NULL;
    static plain p;
    uint64_t random = 1;
    assert_ok(tacit__participant_cache_create(NAMES, &r, NULL));
    for (int n = 0; n < CHANGES; n++) {
        const uint64_t i = random_below(&random, NAMES);
        const tacit__participant_change how = (tacit__participant_change)random_below(&random, 3);
        const uint32_t mark = (uint32_t)random_below(&random, 5);
        const tacit__participant_entry e = {
            .name = name_of(i),
            .mark = mark == 4 ? UINT32_MAX : mark,
            .until = (uint32_t)(random_below(&random, 9) == 0 ? 0 : 1 + random_below(&random, 99))};
        assert_true(tacit__participant_cache_change(r, how, &e));
        change_plain(&p, i, how, e);
        if (n % 1000 != 0)
            continue;
        const uint32_t now = (uint32_t)random_below(&random, 100);
        assert_alike(r, &p, now);
        tacit__participant_cache_expire(r, now / 2);
        for (size_t k = 0; k < NAMES; k++)
            p.there[k] = p.there[k] && (p.entry[k].until == 0 || p.entry[k].until >= now / 2);
        assert_alike(r, &p, now);
    }
    tacit__participant_cache_destroy(r);
}

/* It stays within its bound, keeps whom it has, and says that it left somebody out. A million take 32 MiB. */
TEST(a_full_participant_cache_keeps_whom_it_has)
{
    tacit__participant_cache *r = NULL;
    uint64_t random = 2, entries, bytes;
    uint32_t mark;
    enum { MILLION = 1000000 };
    assert_ok(tacit__participant_cache_create(MILLION, &r, NULL));
    for (uint32_t i = 0; i < MILLION; i++)
        assert_true(tacit__participant_cache_change(
            r, TACIT__PARTICIPANT_PUT, &(tacit__participant_entry){random_word(&random), i, 0}));
    assert_false(tacit__participant_cache_change(r, TACIT__PARTICIPANT_PUT,
                                                 &(tacit__participant_entry){7, 7, 0}));
    assert_false(tacit__participant_cache_find(r, 7, 0, &mark));
    random = 2;
    for (uint32_t i = 0; i < MILLION; i++) {
        assert_true(tacit__participant_cache_find(r, random_word(&random), 0, &mark));
        assert_int_equal(mark, i);
    }
    tacit__participant_cache_size(r, &entries, &bytes);
    assert_int_equal(entries, MILLION);
    assert_int_equal(bytes, (size_t)32 << 20);
    tacit__participant_cache_destroy(r);
}

static void make_name(uint64_t i, uint8_t name[TACIT__VAULT_KEY])
{
    const uint64_t alike = i % 5; /* the part that chains go by */
    memcpy(name, &alike, 8);
    memcpy(name + 8, &i, 8);
}

/* The last MOST of them are known, and no others. */
TEST(the_reply_cache_keeps_the_newest_replies)
{
    tacit__reply_cache *r = NULL;
    uint8_t name[TACIT__VAULT_KEY], other[TACIT__VAULT_KEY] = "another content";
    assert_ok(tacit__reply_cache_create(MOST, sizeof(uint64_t), &r, NULL));
    for (uint64_t i = 0; i < 20 * MOST; i++) {
        uint64_t data = i, found = 0;
        make_name(i, name);
        assert_int_equal(tacit__reply_cache_add(r, name, name, 0, 1, &data), TACIT__VAULT_NEW);
        data = UINT64_MAX;
        assert_int_equal(tacit__reply_cache_add(r, name, name, 0, 1, &data), TACIT__VAULT_SAME);
        assert_int_equal(data, i); /* the first counts */
        assert_int_equal(tacit__reply_cache_find(r, name, other, 0, &found), TACIT__VAULT_OTHER);
        for (uint64_t back = 0; back < MOST + 5 && back <= i; back++) {
            make_name(i - back, name);
            const tacit__vault_answer_match match =
                tacit__reply_cache_find(r, name, name, 0, &found);
            assert_int_equal(match, back < MOST ? TACIT__VAULT_SAME : TACIT__VAULT_NEW);
            if (back < MOST)
                assert_int_equal(found, i - back);
        }
    }
    uint64_t again = 5, found = 0;
    make_name(20 * MOST - 1, name); /* too old: it is new, and the new one counts */
    assert_int_equal(tacit__reply_cache_find(r, name, name, 2, &found), TACIT__VAULT_NEW);
    assert_int_equal(tacit__reply_cache_add(r, name, name, 2, 3, &again), TACIT__VAULT_NEW);
    assert_int_equal(tacit__reply_cache_find(r, name, name, 2, &found), TACIT__VAULT_SAME);
    assert_int_equal(found, 5);
    tacit__reply_cache_destroy(r);
}
