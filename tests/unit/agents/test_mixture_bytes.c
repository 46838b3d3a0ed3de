/* Learners for linear mixtures as bytes: the whole learner through messages, and states that are saved and continued. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support/arena.h"
#include "support/random.h"

enum { EPISODES = 60 };

static const char *const kinds[] = {"ucrl-vtr", "ucrl-vtr-plus", "linopt-vi", "linopt-po"};
static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-5},
                             local = {TACIT_MODEL_LOCAL, 1, 1e-5},
                             local_pure = {TACIT_MODEL_LOCAL, 1, 0};

static tacit_agent *hire(const arena *a, const char *kind, tacit_guarantee g, const char *replan)
{
    tacit_setting setting = SET("replan", replan);
    tacit_agent_request request = request_in(a->world, kind, g, EPISODES);
    request.settings = &setting;
    request.n_settings = 1;
    return agent_of(&request, 9);
}

/* Server and device share nothing but bytes; a learner with both halves in one place makes the same plans. */
TEST(the_whole_learner_runs_through_bytes)
{
    static const char *const worlds[] = {"lock", "riverswim"};
    for (size_t w = 0; w < 2; w++)
        for (size_t i = 0; i < 4; i++)
            for (int pure = 0; pure < (i < 2 ? 2 : 1); pure++) {
                tacit_guarantee g = pure ? local_pure : local;
                SCOPED_BY(arena_close) arena a = arena_open(worlds[w], NULL, 0, 5);
                SCOPED(tacit_agent) *direct = hire(&a, kinds[i], g, "every");
                SCOPED(tacit_agent) *server = hire(&a, kinds[i], g, "every");
                SCOPED(tacit_agent) *device = hire(&a, kinds[i], g, "every");
                tacit_error err;
                size_t size;
                assert_ok(tacit_agent_report(device, NULL, NULL, &size, &err));
                SCOPED_FREE uint8_t *report = malloc(size);
                for (uint64_t k = 0; k < EPISODES; k++) {
                    tacit_billboard whole = agent_board(direct), central = agent_board(server);
                    agent_bytes down = agent_published(server);
                    assert_ok(tacit_agent_follow(device, down.data, down.size, &err));
                    tacit_billboard own = agent_board(device);
                    arena_assert_same_board(&a, &whole, &central);
                    arena_assert_same_board(&a, &whole, &own);
                    tacit_trajectory user = arena_play(&a, k, &own);
                    if (k + 1 < EPISODES) { /* the last user's data are not needed */
                        size_t written = size;
                        assert_ok(tacit_agent_report(device, &user, report, &written, &err));
                        assert_true(written == size);
                        assert_ok(tacit_agent_absorb(server, report, written, &err));
                    }
                    assert_ok(tacit_agent_learn(direct, &user, &err));
                    free(down.data);
                }
                /* the last user's report is taken and not used, and then it is over */
                assert_ok(tacit_agent_check_report(server, report, size, &err));
                assert_ok(tacit_agent_absorb(server, report, size, &err));
                assert_status(tacit_agent_check_report(server, report, size, &err),
                              TACIT_EXHAUSTED);
                assert_status(tacit_agent_absorb(server, report, size, &err), TACIT_EXHAUSTED);
            }
}

TEST(saved_in_the_middle_and_continued_is_as_if_never_stopped)
{
    static const char *const schedules[] = {"every", "doubling", "7"};
    const tacit_guarantee guarantees[] = {none, joint, local};
    for (size_t i = 0; i < 4 * 3 * 3; i++)
        for (uint64_t stop = 0; stop < EPISODES; stop += 13)
            for (int planned = 0; planned < 2; planned++) {
                SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
                const tacit_setting setting = SET("replan", schedules[i % 3]);
                tacit_agent_request q =
                    request_in(a.world, kinds[i / 9], guarantees[i / 3 % 3], EPISODES);
                q.settings = &setting;
                q.n_settings = 1;
                arena_assert_continued(&a, &q, stop, planned != 0);
            }
}

TEST(models_that_do_not_fit_are_refused)
{
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
    SCOPED(tacit_agent) *server = hire(&a, "linopt-po", local, "every");
    SCOPED(tacit_agent) *device = hire(&a, "linopt-po", local, "every");
    SCOPED(tacit_agent) *other = hire(&a, "linopt-po", local, "5"),
                        *plain = hire(&a, "ucrl-vtr", none, "1");
    tacit_error err;
    size_t size;
    assert_status(tacit_agent_publish(server, NULL, &size, &err), TACIT_NOTHING_TO_RELEASE);
    (void)agent_board(server);
    agent_bytes b = agent_published(server);
    assert_status(tacit_agent_follow(device, b.data, b.size - 1, &err), TACIT_OUT_OF_BOUND);
    assert_status(tacit_agent_follow(device, b.data, 5, &err), TACIT_SYNTAX);
    assert_status(tacit_agent_follow(other, b.data, b.size, &err), TACIT_WRONG_PLAN);
    assert_status(tacit_agent_report(device, &(tacit_trajectory){0}, b.data, &b.size, &err),
                  TACIT_BAD_ARGUMENT); /* there is no plan to act by yet */
    free(b.data);
    b = agent_published(server);
    uint8_t nan[8] = {0, 0, 0, 0, 0, 0, 0xf8, 0x7f};
    memcpy(b.data + b.size - 8, nan, 8);
    assert_status(tacit_agent_follow(device, b.data, b.size, &err), TACIT_OUT_OF_BOUND);
    free(b.data);
    size = 10;
    uint8_t small[10];
    assert_status(tacit_agent_publish(server, small, &size, &err), TACIT_BAD_ARGUMENT);
    assert_status(tacit_agent_report(plain, NULL, NULL, &size, &err), TACIT_UNSUPPORTED);
}

/* A server that lies about its model does not crash a device, and the device's plan is a plan. */
TEST(forged_models_do_no_harm)
{
    uint64_t r = 4;
    for (size_t i = 0; i < 4; i++) {
        SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
        SCOPED(tacit_agent) *server = hire(&a, kinds[i], local, "every");
        SCOPED(tacit_agent) *device = hire(&a, kinds[i], local, "every");
        tacit_error err;
        (void)agent_board(server);
        size_t size, cells = a.facts->horizon * a.facts->n_states;
        assert_ok(tacit_agent_report(device, NULL, NULL, &size, &err));
        SCOPED_FREE uint8_t *report = malloc(size);
        for (int trial = 0; trial < 300; trial++) {
            agent_bytes b = agent_published(server);
            for (int flips = 0; flips < 1 + trial % 20; flips++)
                b.data[24 + random_below(&r, b.size - 24)] ^= (uint8_t)(1 << random_below(&r, 8));
            tacit_status status = tacit_agent_follow(device, b.data, b.size, &err);
            free(b.data);
            assert_true(status == TACIT_OK || status == TACIT_OUT_OF_BOUND);
            if (status != TACIT_OK)
                continue;
            tacit_billboard board = agent_board(device);
            for (size_t j = 0; j < cells && board.policy != NULL; j++)
                assert_true(board.policy[j] < a.facts->n_actions);
            if (trial < 50) { /* the declared noise is for so many reports */
                tacit_trajectory user = arena_play(&a, 0, &board);
                size_t written = size;
                assert_ok(tacit_agent_report(device, &user, report, &written, &err));
            }
        }
    }
}

TEST(bad_reports_are_refused_and_change_nothing)
{
    SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
    SCOPED(tacit_agent) *agent = hire(&a, "linopt-vi", local, "every");
    SCOPED(tacit_agent) *twin = hire(&a, "linopt-vi", local, "every");
    tacit_error err;
    size_t size;
    tacit_billboard board = agent_board(agent);
    assert_ok(tacit_agent_report(agent, NULL, NULL, &size, &err));
    uint8_t *report = malloc(size), *bad = malloc(size);
    tacit_trajectory user = arena_play(&a, 0, &board);
    assert_ok(tacit_agent_report(agent, &user, report, &size, &err));
    assert_status(tacit_agent_check_report(agent, report, size - 8, &err), TACIT_OUT_OF_BOUND);
    assert_status(tacit_agent_absorb(agent, report, size - 8, &err), TACIT_OUT_OF_BOUND);
    memcpy(bad, report, size);
    bad[size - 1] = 0x7f; /* a number that no noise explains, in the last stream */
    assert_status(tacit_agent_check_report(agent, bad, size, &err), TACIT_OUT_OF_BOUND);
    assert_status(tacit_agent_absorb(agent, bad, size, &err), TACIT_OUT_OF_BOUND);
    assert_ok(tacit_agent_check_report(agent, report, size, &err));
    assert_ok(tacit_agent_absorb(agent, report, size, &err));
    (void)agent_board(twin);
    assert_ok(tacit_agent_absorb(twin, report, size, &err));
    tacit_billboard x = agent_board(agent), y = agent_board(twin);
    arena_assert_same_board(&a, &x, &y);
    free(report);
    free(bad);
}

TEST(loading_survives_every_failing_allocation)
{
    for (size_t i = 0; i < 4; i++) {
        SCOPED_BY(arena_close) arena a = arena_open("lock", NULL, 0, 5);
        SCOPED(tacit_agent) *agent = hire(&a, kinds[i], joint, "every");
        tacit_error err;
        for (uint64_t k = 0; k < 5; k++) {
            tacit_billboard board = agent_board(agent);
            tacit_trajectory user = arena_play(&a, k, &board);
            assert_ok(tacit_agent_learn(agent, &user, &err));
        }
        size_t size;
        assert_ok(tacit_agent_save(agent, NULL, &size, &err));
        SCOPED_FREE uint8_t *saved = malloc(size);
        assert_ok(tacit_agent_save(agent, saved, &size, &err));
        tacit_billboard wanted = agent_board(agent);
        SCOPED(tacit_agent) *fresh = hire(&a, kinds[i], joint, "every");
        assert_survives_no_memory(tacit_agent_load(fresh, saved, size, &err), (void)0);
        tacit_billboard got = agent_board(fresh);
        arena_assert_same_board(&a, &wanted, &got);
    }
}
