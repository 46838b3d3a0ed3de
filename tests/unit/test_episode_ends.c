/* Episodes that end before the horizon: in every order of calls the same episode, and what it says of its length. */
#include "serve/people/episode.h"
#include "support/check.h"

TEST(an_end_may_be_told_in_any_order)
{
    const tacit__learner_config c = {.request = {SPACE_OF(5, 3, 4)}};
    for (int order = 0; order < 2; order++) {
        double bytes[32] = {0};
        const char *field;
        assert_true(tacit__episode_size(&c) <= sizeof bytes);
        tacit__episode e = tacit__episode_view(&c, bytes);
        for (size_t i = 0; i < 2; i++) {
            const size_t h = order == 0 ? i : 1 - i;
            assert_false(tacit__episode_is_finished(&e));
            const tacit__observation told = {.step = h,
                                             .state = (uint32_t)h,
                                             .action = 1,
                                             .has_reward = true,
                                             .reward = 1,
                                             .has_next = h == 1,
                                             .next_state = 4,
                                             .done = h == 1};
            assert_true(tacit__episode_add(&e, &told, &field));
            assert_true(tacit__episode_add(&e, &told, &field));
        }
        assert_true(tacit__episode_is_finished(&e));
        assert_int_equal(tacit__episode_end(&e), 2);
        assert_int_equal(tacit__episode_length(&e), 4); /* no further steps */
        const tacit_trajectory t = tacit__episode_trajectory(&e, NULL);
        assert_int_equal(t.length, 2);
        assert_int_equal(t.states[2], 4);
        assert_true(tacit__episode_mean(&e) == 0.5); /* two of four */
    }
}
