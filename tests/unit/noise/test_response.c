/* Randomized response: how likely answers are follows from how many words give each, and is never more unequal than epsilon allows. */
#include <math.h>

#include "noise/response.h"
#include "support/check.h"
#include "support/random.h"

static const double epsilons[] = {0.01, 0.3, 1, 3, 5, 10, 20, 36, 40, 100};
static const uint64_t sizes[] = {2, 3, 144, 1000, 3200, UINT64_C(1) << 26};

/* 1 + T / share in exact integers, against e^epsilon in long double. */
TEST(the_true_answer_is_at_most_as_likely_as_declared)
{
    for (size_t i = 0; i < N_OF(epsilons); i++)
        for (size_t j = 0; j < N_OF(sizes); j++) {
            tacit__response r;
            assert_true(tacit__response_find(epsilons[i], sizes[j], &r));
            const long double truth = 0x1p64L - (long double)r.answers * (long double)r.share;
            const long double ratio = 1 + truth / (long double)r.share,
                              allowed = expl((long double)epsilons[i]);
            assert_true(truth > 0 && r.share > 0);
            assert_true(ratio <= allowed);
            if (epsilons[i] <= 20) /* margin and rounding of the share */
                assert_true(ratio - 1 >=
                            (allowed - 1) * (1 - 1e-3L) -
                                (long double)sizes[j] * (0x1p-39L + 1 / (long double)r.share));
            assert_close(tacit__response_gain(&r), (double)(truth / 0x1p64L), 1e-12);
            assert_close(tacit__response_other(&r), (double)((long double)r.share / 0x1p64L),
                         1e-12);
        }
}

TEST(each_answer_has_as_many_words_of_chance)
{
    tacit__response r;
    assert_true(tacit__response_find(1, 7, &r));
    for (uint64_t answer = 0; answer < 7; answer++)
        for (uint64_t truth = 0; truth < 7; truth++) {
            assert_int_equal(tacit__response_give(&r, answer * r.share, truth), answer);
            assert_int_equal(tacit__response_give(&r, (answer + 1) * r.share - 1, truth), answer);
        }
    for (uint64_t truth = 0; truth < 7; truth++) {
        assert_int_equal(tacit__response_give(&r, 7 * r.share, truth), truth);
        assert_int_equal(tacit__response_give(&r, UINT64_MAX, truth), truth);
    }
}

TEST(an_epsilon_that_64_bits_do_not_tell_from_0_is_refused)
{
    tacit__response r;
    assert_false(tacit__response_find(1e-12, UINT64_C(1) << 26, &r));
    assert_false(tacit__response_find(0, 3, &r));
    assert_false(tacit__response_find(-1, 3, &r));
    assert_aborts(assert_false(tacit__response_find(1, 1, &r)));
}
