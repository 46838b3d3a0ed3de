/* People who come back to lsvi-ucb: what visits move in responses that hold all data so far, against all patterns; releases that
 * are made in time. */
#include <math.h>
#include <stdio.h>

#include "release/archive/lsvi_scheme.h"
#include "support/lsvi.h"

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6};

static tacit_agent_request request_of(const tacit_setting *settings, size_t n, uint64_t users,
                                      uint64_t visits, uint64_t apart)
{
    return (tacit_agent_request){SPACE_OF(LSVI_S, LSVI_A, LSVI_H),
                                 SETTINGS_OF(settings, n),
                                 .kind = "lsvi-ucb",
                                 .guarantee = joint,
                                 VISITS_OF(visits, apart),
                                 .episodes = users,
                                 .linear = lsvi_linear(LSVI_SIMPLEX)};
}

static tacit_agent *start(const tacit_agent_request *request)
{
    tacit_agent *agent = NULL;
    tacit_error err = {.message = ""};
    SCOPED(tacit_noise) *noise = simulated_noise(1);
    tacit_status status = tacit_agent_create(request, noise, &agent, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return agent;
}

static tacit_release line_of(const tacit_agent *agent, const char *name)
{
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    return *tacit_plan_release(plan, tacit_plan_index(plan, name));
}

/* The largest sum over releases of (visits so far)^2, over all patterns of visits in so many places. */
static double worst_prefixes(const uint64_t *ends, size_t n, uint64_t places, uint64_t visits,
                             uint64_t apart)
{
    double worst = 0;
    for (uint64_t pattern = 0; pattern < UINT64_C(1) << places; pattern++) {
        uint64_t last = 0, count = 0;
        bool allowed = true;
        double sum = 0;
        for (uint64_t p = 0; p < places; p++) {
            if ((pattern >> p & 1) == 0)
                continue;
            allowed = allowed && (count == 0 || p - last >= apart);
            last = p;
            count++;
        }
        for (size_t i = 0; i < n && allowed && count <= visits; i++) {
            double before = 0;
            for (uint64_t p = 0; p < ends[i]; p++)
                before += (double)(pattern >> p & 1);
            sum += before * before;
        }
        worst = fmax(worst, sum);
    }
    return worst;
}

/* All patterns of 12 users, for every number of batches; each of H steps is asked once. */
TEST(responses_are_paid_for_as_the_worst_pattern_needs)
{
    enum { USERS = 12 };
    for (uint64_t visits = 2; visits <= 4; visits++)
        for (uint64_t apart = 1; apart * visits <= USERS; apart++)
            for (int batches = 2; batches <= 5; batches++) {
                char text[8];
                (void)snprintf(text, sizeof text, "%d", batches);
                const tacit_setting settings[] = {{"schedule", "batched", 0}, {"batches", text, 0}};
                const tacit_agent_request q = request_of(settings, 2, USERS, visits, apart);
                SCOPED(tacit_agent) *agent = start(&q);
                const tacit_release line = line_of(agent, "responses");
                uint64_t ends[USERS];
                const uint64_t leaf = (USERS + (uint64_t)batches - 1) / (uint64_t)batches;
                const size_t n = (size_t)line.steps / LSVI_H;
                for (size_t i = 0; i < n; i++)
                    ends[i] = (i + 1) * leaf;
                const double wanted = worst_prefixes(ends, n, USERS, visits, apart);
                assert_close(line.column_l2 * line.column_l2, LSVI_H * wanted, 1e-9);
                assert_int_equal(line.visits, visits);
                assert_int_equal(line.apart, apart);
            }
}

/* Nobody knows beforehand which of the tests are switches: those that hold most visits are paid for. */
TEST(switches_at_unknown_times_are_the_last)
{
    enum { USERS = 13 };
    const tacit__lsvi_scheme scheme = {.leaf = 20, .leaves = 10, .switches = 3};
    uint64_t ends[3];
    tacit__lsvi_switch_ends(&scheme, ends);
    assert_int_equal(ends[0], 160);
    assert_int_equal(ends[2], 200);
    const tacit_setting settings[] = {
        {"schedule", "doubling", 0}, {"switches", "4", 0}, {"test_every", "1", 0}};
    const tacit_agent_request q = request_of(settings, 3, USERS, 3, 4);
    SCOPED(tacit_agent) *agent = start(&q);
    const uint64_t last[] = {9, 10, 11, 12};
    assert_close(pow(line_of(agent, "responses").column_l2, 2),
                 LSVI_H * worst_prefixes(last, 4, USERS - 1, 3, 4), 1e-9);
}

/* Centered targets move a response by 1 at most, whatever the Gram matrix does. */
TEST(responses_are_declared_at_their_own_worst)
{
    const tacit_setting batched = {"schedule", "batched", 0};
    for (uint64_t visits = 1; visits <= 2; visits++) {
        const tacit_agent_request q = request_of(&batched, 1, 2000, visits, visits > 1 ? 900 : 0);
        SCOPED(tacit_agent) *agent = start(&q);
        const double l2 = line_of(agent, "responses").l2;
        assert_true(visits > 1 ? l2 > 0.99 && l2 < 1.01 : l2 < 0.99);
    }
}

/* The policy is the same whether or not anybody has asked for it at the end of each batch. */
TEST(releases_do_not_wait_for_somebody_who_asks)
{
    enum { USERS = 60 };
    static lsvi_user users[USERS];
    const tacit_setting settings[] = {{"schedule", "batched", 0}, {"batches", "5", 0}};
    const tacit_agent_request q = request_of(settings, 2, USERS, 3, 20);
    SCOPED(tacit_agent) *asked = start(&q), *silent = start(&q);
    uint32_t one[LSVI_H][LSVI_S], other[LSVI_H][LSVI_S];
    lsvi_fill(users, USERS, 4);
    for (size_t k = 0; k < USERS; k++) {
        (void)lsvi_look(asked, LSVI_SIMPLEX, one);
        assert_ok(lsvi_learn(asked, LSVI_SIMPLEX, &users[k], NULL));
        assert_ok(lsvi_learn(silent, LSVI_SIMPLEX, &users[k], NULL));
    }
    assert_int_equal(lsvi_look(asked, LSVI_SIMPLEX, one), lsvi_look(silent, LSVI_SIMPLEX, other));
    assert_memory_equal(one, other, sizeof one);
}
