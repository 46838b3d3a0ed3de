/* Learners in epochs between machines: the two halves of `learn`, the model that devices follow, and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "agents/agent_inside.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "support/arena.h"
#include "support/random.h"

enum { CONTEXTS = 4, ACTIONS = 5, PAIRS = CONTEXTS * ACTIONS, USERS = 300, ROOM = 1 << 15 };
enum { HEAD = 24, MARK = 16 }; /* of every report and model; of the model in a report */

static const tacit_guarantee local = {TACIT_MODEL_LOCAL, 5, 1e-5};
/* Presets of capri, and what posterior-kernel knows of contexts. */
enum { OF_CAPRI = 2 };
static const char *const presets[] = {"recommended", "faithful", "known", "learned"};

static tacit_world *make_world(void)
{
    static const tacit_setting settings[] = {SET("contexts", "4"), SET("actions", "5"),
                                             SET("kernel", "matern-1.5(0.4)")};
    return world_of("kernel-bandit", settings, 3);
}

/* `chance`: public_seed; NULL: the default. */
static tacit_agent *hire_with(const tacit_world *world, const char *preset, const char *chance,
                              tacit_guarantee guarantee, uint64_t seed)
{
    const bool own = strcmp(preset, "known") == 0 || strcmp(preset, "learned") == 0;
    const tacit_setting settings[] = {SET(own ? "contexts" : "preset", preset),
                                      SET("public_seed", chance)};
    tacit_agent_request request =
        request_in(world, own ? "posterior-kernel" : "capri", guarantee, USERS);
    request.settings = settings;
    request.n_settings = chance != NULL ? 2 : 1;
    return agent_of(&request, seed);
}

static tacit_agent *hire(const tacit_world *world, const char *preset, tacit_guarantee guarantee,
                         uint64_t seed)
{
    return hire_with(world, preset, NULL, guarantee, seed);
}

typedef struct user {
    uint32_t state, action;
    double reward;
} user;

static tacit_trajectory told(const user *u)
{
    return (tacit_trajectory){STEPS_OF(&u->state, &u->action, &u->reward)};
}

/* User k does something that the billboard allows. */
static user play(tacit_agent *agent, uint64_t k)
{
    uint64_t seed = 31 * k + 7;
    user u = {.state = (uint32_t)random_below(&seed, CONTEXTS)};
    double probability;
    tacit_billboard board;
    assert_ok(tacit_agent_plan(agent, &board, NULL));
    assert_ok(tacit_agent_act(agent, &(tacit_situation){.state = u.state}, random_unit(&seed),
                              &u.action, &probability, NULL));
    u.reward = random_unit(&seed) < (u.action == u.state ? 0.9 : 0.2);
    return u;
}

static size_t publish(const tacit_agent *server, uint8_t model[ROOM])
{
    size_t size = ROOM;
    assert_ok(tacit_agent_publish(server, model, &size, NULL));
    return size;
}

static size_t report(tacit_agent *device, const user *u, uint8_t bytes[ROOM])
{
    size_t size = ROOM, foretold = 0;
    tacit_trajectory t = told(u);
    assert_ok(tacit_agent_report(device, NULL, NULL, &foretold, NULL));
    assert_ok(tacit_agent_report(device, &t, bytes, &size, NULL));
    assert_true(size <= foretold);
    return size;
}

static bool same_state(const tacit_agent *a, const tacit_agent *b)
{
    static uint8_t x[1 << 17], y[1 << 17];
    size_t m = sizeof x, n = sizeof y;
    assert_ok(tacit_agent_save(a, x, &m, NULL));
    assert_ok(tacit_agent_save(b, y, &n, NULL));
    return m == n && memcmp(x, y, m) == 0;
}

/* --- The two halves ------------------------------------------------------------------------------- */

TEST(a_learner_through_bytes_is_the_direct_one)
{
    static uint8_t model[ROOM], bytes[ROOM];
    SCOPED(tacit_world) *world = make_world();
    for (size_t i = 0; i < N_OF(presets); i++) {
        SCOPED(tacit_agent) *direct = hire(world, presets[i], local, 8);
        SCOPED(tacit_agent) *server = hire(world, presets[i], local, 8);
        SCOPED(tacit_agent) *devices = hire(world, presets[i], local, 8);
        uint64_t version = 0, epochs = 0;
        for (uint64_t k = 0; k < USERS; k++) {
            tacit_billboard x, y;
            user u = play(direct, k);
            assert_ok(tacit_agent_plan(direct, &x, NULL));
            assert_ok(tacit_agent_plan(server, &y, NULL));
            assert_true(x.version == y.version);
            assert_memory_equal(x.mixed, y.mixed, PAIRS * sizeof *x.mixed);
            epochs += x.version != version;
            version = x.version;
            assert_ok(tacit_agent_follow(devices, model, publish(server, model), NULL));
            assert_ok(tacit_agent_billboard(devices, &y, NULL));
            assert_true(x.version == y.version);
            assert_memory_equal(x.mixed, y.mixed, PAIRS * sizeof *x.mixed);
            tacit_trajectory t = told(&u);
            assert_ok(tacit_agent_learn(direct, &t, NULL));
            size_t size = report(devices, &u, bytes);
            assert_ok(tacit_agent_check_report(server, bytes, size, NULL));
            assert_ok(tacit_agent_absorb(server, bytes, size, NULL));
        }
        assert_true(epochs > 2);
        assert_true(tacit_ledger_passed(tacit__agent_ledger(devices), 0) > 0);
        assert_true(tacit_ledger_passed(tacit__agent_ledger(server), 0) == 0);
        uint8_t last[HEAD + MARK];
        user u = play(direct, USERS);
        assert_int_equal(report(devices, &u, bytes), sizeof last); /* nothing about anybody */
        assert_status(tacit_agent_absorb(server, bytes, sizeof last, NULL), TACIT_EXHAUSTED);
        assert_status(tacit_agent_check_report(server, bytes, sizeof last, NULL), TACIT_EXHAUSTED);
    }
}

/* Points come from the public seed alone. So devices, whose keys are their own, have the model of the first epoch before
 * they hear of it; later ones depend on what was released, and come from the server. */
TEST(a_device_with_a_key_of_its_own_reports_by_the_servers_model)
{
    static uint8_t model[ROOM], bytes[ROOM];
    SCOPED(tacit_world) *world = make_world();
    for (size_t i = 0; i < N_OF(presets); i++) {
        SCOPED(tacit_agent) *server = hire(world, presets[i], local, 8);
        tacit_billboard board;
        for (uint64_t k = 0; k < 60; k++) {
            SCOPED(tacit_agent) *device = hire(world, presets[i], local, 100 + k);
            user u = play(server, k), early = play(device, k);
            assert_ok(tacit_agent_plan(server, &board, NULL));
            size_t size = report(device, &early, bytes);
            assert_status(tacit_agent_check_report(server, bytes, size, NULL),
                          board.version == 1 ? TACIT_OK : TACIT_LATE);
            tacit_trajectory t = told(&u);
            assert_ok(tacit_agent_follow(device, model, publish(server, model), NULL));
            assert_status(tacit_agent_learn(device, &t, NULL), TACIT_BAD_ARGUMENT);
            size = report(device, &u, bytes);
            assert_status(tacit_agent_absorb(device, bytes, size, NULL), TACIT_BAD_ARGUMENT);
            assert_ok(tacit_agent_absorb(server, bytes, size, NULL));
        }
        assert_true(board.version > 1);
        assert_status(tacit_agent_follow(server, model, publish(server, model), NULL),
                      TACIT_BAD_ARGUMENT);
    }
}

/* The model of the first epoch holds all that is drawn, and nothing of users. It must not depend on the noise's key, nor a
 * published seed on that. */
TEST(what_is_drawn_in_public_comes_from_the_public_seed_alone)
{
    static uint8_t one[ROOM], other[ROOM];
    static const tacit_guarantee guarantees[] = {{TACIT_MODEL_JOINT, 5, 1e-5},
                                                 {TACIT_MODEL_LOCAL, 5, 1e-5}};
    SCOPED(tacit_world) *world = make_world();
    for (size_t i = 0; i < OF_CAPRI; i++)
        for (size_t g = 0; g < N_OF(guarantees); g++) {
            tacit_agent *here = hire(world, presets[i], guarantees[g], 8),
                        *there = hire(world, presets[i], guarantees[g], 9),
                        *same = hire_with(world, presets[i], "1", guarantees[g], 10),
                        *apart = hire_with(world, presets[i], "2", guarantees[g], 8);
            tacit_agent *all[] = {here, there, same, apart};
            tacit_billboard board;
            for (size_t k = 0; k < N_OF(all); k++)
                assert_ok(tacit_agent_plan(all[k], &board, NULL));
            size_t size = publish(here, one);
            assert_true(publish(there, other) == size && memcmp(one, other, size) == 0);
            assert_true(publish(same, other) == size &&
                        memcmp(one + HEAD, other + HEAD, size - HEAD) == 0);
            assert_true(publish(apart, other) != size ||
                        memcmp(one + HEAD, other + HEAD, size - HEAD) != 0);
            for (size_t k = 0; k < N_OF(all); k++)
                tacit_agent_destroy(all[k]);
        }
}

/* --- What is refused ------------------------------------------------------------------------------ */

static void put_number(uint8_t *bytes, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    tacit__write_le64(&(tacit__writer){.at = bytes}, bits);
}

TEST(reports_that_no_device_makes_change_nothing)
{
    static uint8_t model[ROOM], good[ROOM], bad[ROOM];
    const double wrong[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e30, 0.1 + 1e-13, 1e6};
    SCOPED(tacit_world) *world = make_world();
    SCOPED(tacit_agent) *server = hire(world, "recommended", local, 8);
    SCOPED(tacit_agent) *device = hire(world, "recommended", local, 9);
    user u = play(server, 0);
    assert_ok(tacit_agent_follow(device, model, publish(server, model), NULL));
    size_t size = report(device, &u, good);
    SCOPED(tacit_agent) *fresh = hire(world, "recommended", local, 8);
    (void)play(fresh, 0);
    for (size_t i = 0; i < N_OF(wrong); i++) {
        memcpy(bad, good, size);
        put_number(bad + HEAD + MARK + 8 * (i % 3), wrong[i]);
        assert_status(tacit_agent_check_report(server, bad, size, NULL), TACIT_OUT_OF_BOUND);
        assert_status(tacit_agent_absorb(server, bad, size, NULL), TACIT_OUT_OF_BOUND);
    }
    for (size_t n = 0; n < size; n += 7)
        assert_true(tacit_agent_absorb(server, good, n, NULL) != TACIT_OK);
    assert_true(tacit_agent_absorb(server, good, size + 8, NULL) != TACIT_OK);
    for (size_t at = HEAD; at < HEAD + MARK; at++) {
        memcpy(bad, good, size);
        bad[at] ^= 1;
        assert_status(tacit_agent_check_report(server, bad, size, NULL), TACIT_LATE);
    }
    assert_true(same_state(server, fresh));
    user elsewhere = {.state = CONTEXTS};
    tacit_trajectory t = told(&elsewhere);
    size_t room = ROOM;
    assert_status(tacit_agent_report(device, &t, bad, &room, NULL), TACIT_OUT_OF_BOUND);
    /* an epoch later it is of no use any more */
    for (uint64_t k = 0; tacit_agent_check_report(server, good, size, NULL) == TACIT_OK; k++) {
        assert_true(k < USERS);
        u = play(server, k);
        assert_ok(tacit_agent_absorb(server, bad, report(device, &u, bad), NULL));
    }
    assert_status(tacit_agent_check_report(server, good, size, NULL), TACIT_LATE);
}

/* A report that was in time when it was accepted takes its place: the epochs begin where they would have begun, and its numbers are
 * in none of them. */
TEST(a_late_report_counts_and_adds_nothing)
{
    static uint8_t model[ROOM], late[2][ROOM], bytes[ROOM];
    SCOPED(tacit_world) *world = make_world();
    tacit_agent *servers[2], *device = hire(world, "recommended", local, 9);
    SCOPED(tacit_agent) *early = hire(world, "recommended", local, 10);
    size_t size[2];
    for (size_t w = 0; w < 2; w++) {
        servers[w] = hire(world, "recommended", local, 8);
        user u = play(servers[w], w);
        assert_ok(tacit_agent_follow(early, model, publish(servers[w], model), NULL));
        size[w] = report(early, &u, late[w]);
    }
    assert_memory_not_equal(late[0], late[1], size[0]);
    for (uint64_t k = 0; k < USERS; k++) {
        bool is_late = tacit_agent_check_report(servers[0], late[0], size[0], NULL) == TACIT_LATE;
        user u = play(servers[0], k);
        (void)play(servers[1], k);
        assert_ok(tacit_agent_follow(device, model, publish(servers[0], model), NULL));
        size_t n = report(device, &u, bytes);
        for (size_t w = 0; w < 2; w++)
            assert_ok(k % 3 == 2 && is_late ? tacit_agent_absorb(servers[w], late[w], size[w], NULL)
                                            : tacit_agent_absorb(servers[w], bytes, n, NULL));
        assert_true(same_state(servers[0], servers[1]));
    }
    tacit_agent_destroy(servers[0]);
    tacit_agent_destroy(servers[1]);
    tacit_agent_destroy(device);
}

TEST(models_that_make_no_sense_are_refused)
{
    static uint8_t good[ROOM], bad[ROOM];
    const double wrong[] = {(double)NAN, -0.5, 1.5, 0.3};
    SCOPED(tacit_world) *world = make_world();
    SCOPED(tacit_agent) *server = hire(world, "recommended", local, 8);
    SCOPED(tacit_agent) *device = hire(world, "recommended", local, 9);
    SCOPED(tacit_agent) *fresh = hire(world, "recommended", local, 9);
    (void)play(server, 0);
    size_t size = publish(server, good);
    for (size_t n = 0; n < size; n += 8)
        assert_true(tacit_agent_follow(device, good, n, NULL) != TACIT_OK);
    assert_status(tacit_agent_follow(device, good, size + 8, NULL), TACIT_OUT_OF_BOUND);
    for (size_t i = 0; i < N_OF(wrong); i++) { /* a probability */
        memcpy(bad, good, size);
        put_number(bad + HEAD + 24, wrong[i]);
        assert_status(tacit_agent_follow(device, bad, size, NULL), TACIT_OUT_OF_BOUND);
    }
    memcpy(bad, good, size);
    put_number(bad + size - 8, HUGE_VAL); /* a vector */
    assert_status(tacit_agent_follow(device, bad, size, NULL), TACIT_OUT_OF_BOUND);
    for (size_t at = HEAD + 8; at < HEAD + 24; at += 8) { /* last epoch? how many numbers? */
        memcpy(bad, good, size);
        bad[at + 7] ^= 0x80;
        assert_status(tacit_agent_follow(device, bad, size, NULL), TACIT_OUT_OF_BOUND);
    }
    assert_true(same_state(device, fresh));
    /* vectors that are too long do not make a user more visible: they are shortened before the noise comes */
    memcpy(bad, good, size);
    for (size_t at = HEAD + 24 + 8 * PAIRS; at < size; at += 8)
        put_number(bad + at, 1e9);
    assert_ok(tacit_agent_follow(device, bad, size, NULL));
    user u = {.reward = 1};
    size = report(device, &u, good);
    double square = 0, limit = 1 + 12 * tacit_plan_scale(tacit_agent_release_plan(device), 0);
    tacit__reader r = {.at = good + HEAD + MARK, .left = size - HEAD - MARK};
    for (size_t i = 0; i < (size - HEAD - MARK) / 8; i++) {
        uint64_t bits = tacit__read_le64(&r);
        double x;
        memcpy(&x, &bits, sizeof x);
        square = fmax(square, x * x);
    }
    assert_true(square < limit * limit);
}

/* --- States --------------------------------------------------------------------------------------- */

TEST(a_saved_device_goes_on_with_its_model_and_new_noise)
{
    static uint8_t model[ROOM], saved[1 << 17], first[ROOM], second[ROOM], third[ROOM];
    SCOPED(tacit_world) *world = make_world();
    for (size_t i = 0; i < N_OF(presets); i++) {
        SCOPED(tacit_agent) *server = hire(world, presets[i], local, 8);
        SCOPED(tacit_agent) *device = hire(world, presets[i], local, 9);
        SCOPED(tacit_agent) *restored = hire(world, presets[i], local, 10);
        user u = play(server, 0);
        assert_ok(tacit_agent_follow(device, model, publish(server, model), NULL));
        size_t n = report(device, &u, first), size = sizeof saved;
        assert_ok(tacit_agent_save(device, saved, &size, NULL));
        for (uint64_t k = 1;; k++) { /* without memory nothing happens */
            tacit__alloc_fail_at(k);
            tacit_status status = tacit_agent_load(restored, saved, size, NULL);
            bool failed = tacit__alloc_has_failed();
            tacit__alloc_fail_at(0);
            assert_true(status == (failed ? TACIT_NO_MEMORY : TACIT_OK));
            if (!failed)
                break;
        }
        assert_true(same_state(device, restored));
        assert_int_equal(report(restored, &u, second), n);
        assert_int_equal(report(device, &u, third), n);
        assert_memory_not_equal(first, second, n);
        assert_memory_equal(second, third, n);
        assert_ok(tacit_agent_absorb(server, second, n, NULL));
    }
}

TEST(halves_belong_to_the_local_model)
{
    static uint8_t bytes[ROOM];
    size_t size = ROOM;
    SCOPED(tacit_world) *world = make_world();
    SCOPED(tacit_agent) *joint =
        hire(world, "recommended", (tacit_guarantee){TACIT_MODEL_JOINT, 1, 1e-5}, 1);
    user u = play(joint, 0);
    tacit_trajectory t = told(&u);
    assert_status(tacit_agent_report(joint, &t, bytes, &size, NULL), TACIT_UNSUPPORTED);
    assert_status(tacit_agent_absorb(joint, bytes, size, NULL), TACIT_UNSUPPORTED);
}
