/* The learner lsvi-ucb as an agent: what it saves, what it forgets when it is closed, what it refuses, and failed allocations. */
#include <stdlib.h>

#include "agents/agent_inside.h"
#include "base/memory.h"
#include "release/archive/archive.h"
#include "support/lsvi.h"

static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0}, joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                             pure = {TACIT_MODEL_JOINT, 1, 0};

/* --- Saved states ----------------------------------------------------------------------------------------- */

TEST(a_saved_learner_goes_on_as_if_nothing_had_happened)
{
    enum { N = 60, HALF = 31 };
    static const tacit_setting schedules[][3] = {
        {{"schedule", "every", 1}},
        {{"schedule", "batched", 1}, {"batches", "9", 1}},
        {{"schedule", "batched", 1}, {"batches", "9", 1}, {"gram", "direct", 1}},
        {{"schedule", "growth", 1}, {"switches", "9", 1}},
        {{"schedule", "doubling", 1}, {"switches", "9", 1}, {"switch_factor", "1.05", 1}},
        {{"schedule", "rayleigh", 1}, {"switches", "9", 1}, {"switch_factor", "1.05", 1}}};
    static const size_t n_settings[] = {1, 2, 3, 2, 3, 3};
    static lsvi_user users[N];
    lsvi_fill(users, N, 8);
    for (int i = 0; i < 12; i++) /* from the sixth on all steps are alike */
        for (int form = LSVI_ONE_HOT; form <= LSVI_CARRIED; form++)
            for (int private = 0; private < 2; private ++) {
                const lsvi_setup s = {SETTINGS_OF(schedules[i % 6], n_settings[i % 6]),
                                      .form = (lsvi_form)form,
                                      .guarantee = private ? joint : none,
                                      .users = N,
                                      .seed = 6,
                                      .stationary = i >= 6};
                lsvi_setup other = s;
                other.users = N + 1;
                SCOPED(tacit_agent) *a = lsvi_start(&s), *b = lsvi_start(&s),
                                    *c = lsvi_start(&other);
                uint32_t p[LSVI_H][LSVI_S], q[LSVI_H][LSVI_S];
                for (size_t k = 0; k < HALF; k++) {
                    (void)lsvi_look(a, s.form, p);
                    assert_ok(lsvi_learn(a, s.form, &users[k], NULL));
                }
                size_t size;
                assert_ok(tacit_agent_save(a, NULL, &size, NULL));
                SCOPED_FREE uint8_t *bytes = malloc(size + 1);
                assert_ok(tacit_agent_save(a, bytes, &size, NULL));
                tacit_error err;
                assert_status(tacit_agent_load(c, bytes, size, &err), TACIT_WRONG_PLAN);
                for (size_t at = 0; at < size; at += 1 + size / 37) {
                    bytes[at] ^= 0x40;
                    assert_true(tacit_agent_load(b, bytes, size, &err) != TACIT_OK);
                    bytes[at] ^= 0x40;
                }
                assert_status(tacit_agent_load(b, bytes, size - 1, &err), TACIT_CORRUPT);
                assert_status(tacit_agent_load(b, bytes, 3, &err), TACIT_CORRUPT);
                assert_ok(tacit_agent_load(b, bytes, size, &err));
                for (size_t k = HALF; k < N; k++) {
                    assert_int_equal(lsvi_look(a, s.form, p), lsvi_look(b, s.form, q));
                    assert_memory_equal(p, q, sizeof p);
                    assert_ok(lsvi_learn(a, s.form, &users[k], NULL));
                    assert_ok(lsvi_learn(b, s.form, &users[k], NULL));
                }
            }
}

static bool holds(const uint8_t *bytes, size_t size, const void *marker, size_t length)
{
    for (size_t at = 0; at + length <= size; at++)
        if (memcmp(bytes + at, marker, length) == 0)
            return true;
    return false;
}

static uint8_t *save(const tacit_agent *agent, size_t *size)
{
    assert_ok(tacit_agent_save(agent, NULL, size, NULL));
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_ok(tacit_agent_save(agent, bytes, size, NULL));
    return bytes;
}

/* What the archive keeps of everybody: a feature, in lattice steps. What counts keep: how often the first step began in a state that
 * 21 users of 40 begin in. */
TEST(a_closed_learner_keeps_nothing_of_its_users)
{
    enum { N = 40, MARKED = 21, OPEN = 24 };
    static const tacit_setting settings[][2] = {{{"schedule", "every", 1}},
                                                {{"schedule", "batched", 1}, {"batches", "1", 1}},
                                                {{"schedule", "batched", 1}, {"batches", "4", 1}}};
    static lsvi_user users[N];
    lsvi_fill(users, N, 8);
    for (size_t k = 0; k < N; k++) {
        users[k].states[0] = k < MARKED ? 3 : 0;
        users[k].actions[0] = k < MARKED ? 1 : 0;
    }
    for (int i = 0; i < 3; i++)
        for (int form = LSVI_ONE_HOT; form <= LSVI_CARRIED; form++)
            for (int private = 0; private < 2; private ++) {
                const lsvi_setup s = {SETTINGS_OF(settings[i], i == 0 ? 1 : 2),
                                      .form = (lsvi_form)form, .guarantee = private ? joint : none,
                                      .users = N, .seed = 6};
                double row[LSVI_D], count = MARKED;
                lsvi_simplex_row(NULL, 3, 1, row);
                float feature = (float)trunc(ldexp(row[0], tacit__lsvi_feature_bits(N)));
                const void *marker = form == LSVI_CARRIED ? (const void *)&feature : &count;
                size_t length = form == LSVI_CARRIED ? sizeof feature : sizeof count, size;
                SCOPED(tacit_agent) *a = lsvi_start(&s), *b = lsvi_start(&s);
                uint32_t p[LSVI_H][LSVI_S], q[LSVI_H][LSVI_S];
                for (size_t k = 0; k < OPEN; k++)
                    assert_ok(lsvi_learn(a, s.form, &users[k], NULL));
                uint8_t *bytes = save(a, &size);
                assert_true(holds(bytes, size, marker, length)); /* the search can find it */
                free(bytes);
                for (size_t k = OPEN; k < N; k++)
                    assert_ok(lsvi_learn(a, s.form, &users[k], NULL));
                size_t open_size = size;
                (void)lsvi_look(a, s.form, p);
                bytes = save(a, &size);
                assert_false(holds(bytes, size, marker, length));
                assert_true(size < open_size);
                assert_ok(tacit_agent_load(b, bytes, size, NULL));
                assert_int_equal(lsvi_look(a, s.form, p), lsvi_look(b, s.form, q));
                assert_memory_equal(p, q, sizeof p);
                size_t again;
                SCOPED_FREE uint8_t *copy = save(b, &again);
                assert_int_equal(again, size);
                assert_memory_equal(copy, bytes, size);
                free(bytes);
            }
}

/* --- Charges that are refused --- */

/* So many more charges are taken. */
static tacit_status take_some(void *left, const tacit_release *release, uint64_t step)
{
    size_t *n = left;
    (void)release;
    (void)step;
    return (*n)-- > 0 ? TACIT_OK : TACIT_SYSTEM;
}

/* A journal that fails in the middle of a switch: users go on acting by the plan that they had, with its version, whichever steps the
 * new one was ready for; nobody is learned from, and nothing is saved. */
TEST(a_switch_that_is_refused_halfway_changes_no_plan)
{
    enum { N = 60 };
    static const tacit_setting settings[] = {{"schedule", "batched", 1}, {"batches", "20", 1}};
    static lsvi_user users[N];
    lsvi_fill(users, N, 8);
    for (int form = LSVI_ONE_HOT; form <= LSVI_CARRIED; form++)
        for (size_t left = 0; left <= LSVI_H; left++)
            for (uint64_t seed = 1; seed <= 6; seed++) {
                const lsvi_setup s = {SETTINGS_OF(settings, 2),
                                      .form = (lsvi_form)form,
                                      .guarantee = joint,
                                      .users = N,
                                      .seed = seed,
                                      .stationary = seed > 3};
                SCOPED(tacit_agent) *a = lsvi_start(&s);
                uint32_t before[LSVI_H][LSVI_S], after[LSVI_H][LSVI_S];
                uint64_t version = 0;
                tacit_status status = TACIT_OK;
                size_t more = left;
                tacit_billboard board;
                tacit_error err = {.message = ""};
                for (size_t k = 0; k < N && status == TACIT_OK; k++) {
                    if (k == (seed % 2 ? 30 : 2)) /* after some switches, or before the first */
                        tacit_ledger_set_journal(tacit__agent_ledger(a), take_some, &more);
                    version = lsvi_look(a, s.form, before);
                    status = lsvi_learn(a, s.form, &users[k], &err);
                    if (status == TACIT_OK)
                        status = tacit_agent_plan(a, &board, &err);
                }
                assert_int_equal(status, TACIT_SYSTEM);
                assert_int_equal(lsvi_look(a, s.form, after), version);
                assert_memory_equal(before, after, sizeof before);
                assert_int_equal(lsvi_learn(a, s.form, &users[0], &err), TACIT_SYSTEM);
                size_t size;
                assert_int_equal(tacit_agent_save(a, NULL, &size, &err), TACIT_SYSTEM);
            }
}

/* --- Refusals ------------------------------------------------------------------------------------------------ */

static void refuse(const lsvi_setup *s, tacit_status wanted, const char *part)
{
    tacit_agent *agent = NULL;
    tacit_error err = {.message = ""};
    assert_status(lsvi_try(s, &agent, &err), wanted);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, part);
    assert_null(agent);
}

TEST(what_does_not_exist_is_refused_with_a_reason)
{
    static const tacit_setting doubling[] = {{"schedule", "doubling", 1}},
                               center[] = {{"center", "yes", 1}},
                               factor[] = {{"switch_factor", "0.5", 1}},
                               word[] = {{"schedule", "often", 1}},
                               direct[] = {{"schedule", "doubling", 1}, {"gram", "direct", 1}},
                               growth[] = {{"schedule", "growth", 1}},
                               rayleigh[] = {{"schedule", "rayleigh", 1}},
                               pooled[] = {{"pooled", "yes", 1}}, span[] = {{"targets", "span", 1}},
                               batched[] = {{"schedule", "batched", 1}},
                               small[] = {{"archive_mb", "1", 1}};
    const tacit_guarantee local = {TACIT_MODEL_LOCAL, 1, 1e-6},
                          local_pure = {TACIT_MODEL_LOCAL, 1, 0};
    refuse(&(lsvi_setup){.guarantee = local, .users = 10}, TACIT_UNSUPPORTED,
           "leave local privacy");
    refuse(&(lsvi_setup){.guarantee = local_pure, .users = 10}, TACIT_UNSUPPORTED, "open");
    refuse(&(lsvi_setup){.guarantee = pure, .users = 10, SETTINGS_OF(doubling, 1)},
           TACIT_UNSUPPORTED, "delta > 0");
    refuse(
        &(lsvi_setup){.guarantee = none, .form = LSVI_SIGNED, .users = 10, SETTINGS_OF(center, 1)},
        TACIT_UNSUPPORTED, "sum to 1");
    refuse(&(lsvi_setup){SETTINGS_OF(center, 1), .guarantee = joint,
                         .calibration = TACIT_CALIBRATION_PUBLISHED, .users = 10},
           TACIT_UNSUPPORTED, "do not center");
    refuse(&(lsvi_setup){.guarantee = none, .users = 10, SETTINGS_OF(factor, 1)},
           TACIT_BAD_ARGUMENT, "more than 1");
    refuse(&(lsvi_setup){.guarantee = none, .users = 10, SETTINGS_OF(word, 1)}, TACIT_BAD_ARGUMENT,
           "every, batched, doubling");
    refuse(&(lsvi_setup){.guarantee = joint, .users = 10, SETTINGS_OF(direct, 2)},
           TACIT_UNSUPPORTED, "all the time");
    refuse(&(lsvi_setup){SETTINGS_OF(growth, 1), .guarantee = joint,
                         .calibration = TACIT_CALIBRATION_PUBLISHED, .users = 10},
           TACIT_UNSUPPORTED, "schedule growth needs calibration tight");
    refuse(&(lsvi_setup){.guarantee = pure, .users = 10, SETTINGS_OF(rayleigh, 1)},
           TACIT_UNSUPPORTED, "schedule rayleigh is for delta > 0");
    refuse(&(lsvi_setup){.guarantee = none, .users = 10, SETTINGS_OF(pooled, 1)}, TACIT_UNSUPPORTED,
           "steps are all alike");
    refuse(&(lsvi_setup){SETTINGS_OF(pooled, 1), .guarantee = none, .form = LSVI_CARRIED,
                         .users = 10, .stationary = true},
           TACIT_UNSUPPORTED, "numbered states");
    refuse(&(lsvi_setup){SETTINGS_OF(pooled, 1), .guarantee = joint, .users = 10,
                         .calibration = TACIT_CALIBRATION_NOISE, .stationary = true},
           TACIT_UNSUPPORTED, "a regression for each step");
    refuse(&(lsvi_setup){SETTINGS_OF(span, 1), .guarantee = joint,
                         .calibration = TACIT_CALIBRATION_PUBLISHED, .users = 10},
           TACIT_UNSUPPORTED, "use the whole range");
    refuse(
        &(lsvi_setup){.guarantee = none, .form = LSVI_CARRIED, .users = 10, SETTINGS_OF(span, 1)},
        TACIT_UNSUPPORTED, "numbered states");
    refuse(&(lsvi_setup){SETTINGS_OF(batched, 1), .guarantee = pure,
                         .calibration = TACIT_CALIBRATION_PUBLISHED, .users = 10},
           TACIT_UNSUPPORTED, "print no constants");
    refuse(&(lsvi_setup){.guarantee = joint, .calibration = TACIT_CALIBRATION_FIGURE, .users = 10},
           TACIT_UNSUPPORTED, "tight and published");
    refuse(&(lsvi_setup){SETTINGS_OF(small, 1), .guarantee = none, .form = LSVI_CARRIED,
                         .users = 100000},
           TACIT_TOO_LARGE, "archive_mb allows 1");
}

TEST(users_that_do_not_fit_are_refused_and_change_nothing)
{
    tacit_error err = {.message = ""};
    uint32_t states[LSVI_H + 1] = {0}, actions[LSVI_H] = {0};
    double rewards[LSVI_H] = {0}, features[LSVI_H + 1][LSVI_A][LSVI_D] = {{{0}}};
    lsvi_setup s = {.form = LSVI_SIMPLEX, .guarantee = joint, .users = 3, .seed = 1};
    SCOPED(tacit_agent) *agent = lsvi_start(&s);
    tacit_trajectory t = {STEPS_OF(states, actions, rewards)};
    states[LSVI_H] = LSVI_S;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    states[LSVI_H] = 0;
    actions[1] = LSVI_A;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    actions[1] = 0;
    rewards[2] = 1.1;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    rewards[2] = (double)NAN;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    rewards[2] = 1;
    t.states = NULL;
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_BAD_ARGUMENT);
    t.states = states;
    for (int k = 0; k < 3; k++)
        assert_ok(tacit_agent_learn(agent, &t, &err));
    assert_status(tacit_agent_learn(agent, &t, &err), TACIT_EXHAUSTED);
    /* numbered states stay numbered, whatever features come along */
    tacit_situation stray = {.step = 0, .state = LSVI_S, .features = &features[0][0][0]};
    tacit_billboard shown;
    uint32_t choice;
    double chosen;
    assert_ok(tacit_agent_plan(agent, &shown, &err));
    assert_status(tacit_agent_act(agent, &stray, 0.1, &choice, &chosen, &err), TACIT_OUT_OF_BOUND);
    tacit_agent_destroy(agent);
    s.form = LSVI_CARRIED;
    agent = lsvi_start(&s);
    t.features = &features[0][0][0];
    for (size_t i = 0; i < (size_t)LSVI_H * LSVI_A; i++)
        features[i / LSVI_A][i % LSVI_A][2] = 1;
    static const double wrong[][3] = {
        {0.9, 0.9, 0}, {1, (double)NAN, 0}, {0.7, 0.7, 0}, {0.6, 0.6, -0.2}, {0.5, 0, 0.4}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(features[1][1], wrong[i], sizeof wrong[i]);
        assert_status(tacit_agent_learn(agent, &t, &err), TACIT_OUT_OF_BOUND);
    }
    assert_non_null(strstr(err.message, "does not sum to 1"));
    memcpy(features[1][1], (const double[3]){0.5, 0.25, 0.25}, sizeof wrong[0]);
    assert_ok(tacit_agent_learn(agent, &t, &err));
    tacit_situation where = {.step = 0};
    uint32_t action;
    double probability;
    tacit_billboard board;
    assert_ok(tacit_agent_plan(agent, &board, &err));
    assert_true(board.policy == NULL && board.mixed == NULL);
    assert_true(tacit_agent_act(agent, &where, 0.1, &action, &probability, &err) != TACIT_OK);
}

/* --- Allocations ---------------------------------------------------------------------------------------------- */

TEST(every_failed_allocation_is_told_and_nothing_leaks)
{
    static const tacit_setting schedules[][3] = {
        {{"schedule", "batched", 1}, {"batches", "4", 1}},
        {{"schedule", "batched", 1}, {"batches", "4", 1}, {"gram", "direct", 1}},
        {{"switches", "3", 1}}};
    static const size_t n_settings[] = {2, 3, 1};
    static lsvi_user users[8];
    lsvi_fill(users, 8, 2);
    for (int i = 0; i < 3; i++)
        for (int form = LSVI_ONE_HOT; form <= LSVI_CARRIED; form++) {
            const lsvi_setup s = {SETTINGS_OF(schedules[i], n_settings[i]), .form = (lsvi_form)form,
                                  .guarantee = joint, .users = 8, .seed = 2};
            bool failed = true;
            for (uint64_t n = 2; failed; n++) { /* the first is the source of noise */
                SCOPED(tacit_agent) *agent = NULL;
                tacit_error err = {.message = ""};
                tacit__alloc_fail_at(n);
                tacit_status status = lsvi_try(&s, &agent, &err);
                for (size_t k = 0; k < 8 && status == TACIT_OK; k++) {
                    tacit_billboard board;
                    status = tacit_agent_plan(agent, &board, &err);
                    if (status == TACIT_OK)
                        status = lsvi_learn(agent, s.form, &users[k], &err);
                }
                failed = tacit__alloc_has_failed();
                assert_int_equal(status, failed ? TACIT_NO_MEMORY : TACIT_OK);
                tacit__alloc_fail_at(0);
            }
        }
}
