/* Whether a user counts does not depend on the user's data, and what is refused changes nothing: every learner, every model that
 * it has, spaces of every shape.
 *
 * People decide in one order and finish in another, so some rewards come after their billboard was replaced; some lie outside
 * the declared domain in every way that the types allow. All of them count: `learn` answers OK exactly as often as users were
 * declared, and EXHAUSTED afterwards, in both settings of `outside` that apply. test_replay.c replaces one of them, with the
 * releases frozen: a learner that passes somebody over because of what they bring fails there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "agents/agent_inside.h"
#include "support/check.h"
#include "support/kinds.h"
#include "support/neighbors.h"
#include "support/random.h"
#include "support/replay.h"
#include "support/spaces.h"

enum { USERS = 90, FEW = 12, MOST_REPORT = 1 << 20 };
#define EPSILON 20.0 /* so large that capri drops actions */

/* A learner in a space that it learns in; they are visited in turn. */
typedef struct place {
    tacit_agent_request request;
    tacit_setting setting;
    tacit_world *world;
    size_t learner, space;
} place;

/* NULL: the kind does not learn in this space. */
static tacit_agent *hire(const tacit_agent_request *request)
{
    tacit_agent *agent;
    const tacit_status status = agent_try(request, 11, &agent, NULL);
    assert_true(status == TACIT_OK || status == TACIT_UNSUPPORTED || status == TACIT_BAD_ARGUMENT);
    return agent;
}

/* The next place, for so many users; false: there is none. Begins at {0}. */
static bool next_place(place *p, uint64_t users)
{
    kind_in_model k;
    tacit_world_destroy(p->world);
    p->world = NULL;
    for (; kind_in_model_at(NULL, p->learner, &k); p->learner++, p->space = 0)
        while (p->space < N_OF(spaces)) {
            p->request = space_request(&spaces[p->space++], users, &p->world);
            p->setting = setting_in(k.kind, k.model);
            p->request.kind = k.kind->name;
            p->request.guarantee = guarantee_in(k.model, EPSILON, 1e-3);
            p->request.settings = &p->setting;
            p->request.n_settings = p->setting.key != NULL;
            SCOPED(tacit_agent) *agent = hire(&p->request);
            if (agent != NULL)
                return true;
            tacit_world_destroy(p->world);
            p->world = NULL;
        }
    return false;
}

static tacit_trajectory told(const crowd *c, const person *p)
{
    const bool numbered = c->features == CROWD_NUMBERED;
    return (tacit_trajectory){STEPS_OF(numbered ? p->states : NULL, p->actions, p->rewards),
                              .features = numbered ? NULL : p->features, .length = p->length};
}

static tacit_status learn(tacit_agent *agent, const crowd *c, const person *p)
{
    const tacit_trajectory user = told(c, p);
    return tacit_agent_learn(agent, &user, NULL);
}

/* --- Who counts ------------------------------------------------------------------------------------- */

/* Everybody counts, and nobody beyond them. */
static void check_all_count(const crowd *c)
{
    SCOPED(tacit_agent) *agent = hire(&c->request);
    const size_t counted = crowd_play(c, agent);
    if (counted != c->n)
        fail_msg("%s: %zu of %zu users count", c->request.kind, counted, c->n);
    assert_status(learn(agent, c, &c->people[0]), TACIT_EXHAUSTED);
}

TEST(every_user_counts_whatever_they_bring)
{
    static crowd c;
    place p = {.world = NULL};
    while (next_place(&p, USERS)) {
        c = crowd_in(&p.request);
        c.ends = true;
        crowd_fill(&c, 1);
        crowd_delay(&c);
        check_all_count(&c); /* who is late or out of turn counts, whatever `outside` says */
        c.request.outside = TACIT_OUTSIDE_CLIP;
        crowd_spoil(&c, 2);
        check_all_count(&c);
    }
}

static void assert_same_state(const tacit_agent *agent, const agent_bytes *before, const char *kind)
{
    const agent_bytes after = agent_saved(agent);
    if (after.size != before->size || memcmp(after.data, before->data, after.size) != 0)
        fail_msg("%s: what was refused has changed the learner", kind);
    free(after.data);
}

/* Somebody in each way outside, where nothing is clipped; the next one counts. */
TEST(users_outside_the_space_are_refused_and_change_nothing)
{
    static const double rewards[] = {-0.01, 1.01, (double)NAN};
    static crowd c;
    place p = {.world = NULL};
    while (next_place(&p, FEW)) {
        const tacit_agent_request *q = &p.request;
        c = crowd_in(q);
        crowd_fill(&c, 1);
        SCOPED(tacit_agent) *agent = hire(q);
        (void)agent_board(agent);
        const agent_bytes before = agent_saved(agent);
        for (size_t i = 0; i < 3 + N_OF(rewards); i++) {
            person outside = c.people[0];
            for (size_t row = 0; row < c.rows && i == 0; row++)
                outside.features[row * c.dimension] = (double)NAN;
            if (i == 0)
                outside.states[q->horizon - 1] = (uint32_t)q->n_states;
            else if (i == 1)
                outside.actions[0] = (uint32_t)q->n_actions;
            else if (i == 2)
                outside.length = q->horizon + 1;
            else
                outside.rewards[q->horizon - 1] = rewards[i - 3];
            const tacit_status status = learn(agent, &c, &outside);
            if (status != TACIT_OUT_OF_BOUND && !(i == 2 && status == TACIT_BAD_ARGUMENT))
                fail_msg("%s: a user outside, number %zu: %s", q->kind, i,
                         tacit_status_name(status));
            assert_same_state(agent, &before, q->kind);
        }
        assert_ok(learn(agent, &c, &c.people[0]));
        free(before.data);
    }
}

/* --- Charges and reports that are refused ----------------------------------------------------------- */

static tacit_status refuse(void *context, const tacit_release *release, uint64_t step)
{
    uint64_t *charges = context;
    (void)release, (void)step;
    return (*charges)-- == 0 ? TACIT_SYSTEM : TACIT_OK;
}

/* The learner plans for its users and learns from them until a charge is refused; false: it has not made so many. What was before
 * the call that failed is in *before. */
static bool learn_until_refused(tacit_agent *agent, const crowd *c, agent_bytes *before)
{
    tacit_billboard board;
    for (size_t k = 0; k < 2 * c->n; k++) {
        *before = agent_saved(agent);
        const tacit_status status =
            k % 2 == 0 ? tacit_agent_plan(agent, &board, NULL) : learn(agent, c, &c->people[k / 2]);
        if (status != TACIT_OK) {
            assert_status(status, TACIT_SYSTEM);
            return true;
        }
        free(before->data);
    }
    return false;
}

/* The first, second or third charge is refused, which may be in the middle of what a user's turn releases. Then there is no copy that
 * could forget it and release the rest: the learner is as it was before, or is not saved any more. */
TEST(after_a_charge_was_refused_no_copy_goes_on)
{
    static crowd c;
    place p = {.world = NULL};
    size_t kept = 0, lost = 0;
    while (next_place(&p, FEW)) {
        c = crowd_in(&p.request);
        crowd_fill(&c, 1);
        for (uint64_t first = 0; first < 3 && p.request.guarantee.model != TACIT_MODEL_NONE;
             first++) {
            SCOPED(tacit_agent) *agent = hire(&p.request);
            uint64_t charges = first;
            agent_bytes before;
            size_t size;
            tacit_ledger_set_journal(tacit__agent_ledger(agent), refuse, &charges);
            if (!learn_until_refused(agent, &c, &before))
                continue;
            const tacit_status status = tacit_agent_save(agent, NULL, &size, NULL);
            if (status == TACIT_OK)
                assert_same_state(agent, &before, p.request.kind);
            else
                assert_status(status, TACIT_SYSTEM);
            kept += status == TACIT_OK;
            lost += status != TACIT_OK;
            free(before.data);
        }
    }
    assert_true(kept > 0 && lost > 0);
}

/* Nobody plans between these users, so that a plan finds sums that are not shown yet. A learner that has lost a charge in the middle
 * of a user stays lost: a plan does not mend it. */
TEST(a_learner_that_is_broken_stays_broken)
{
    static crowd c;
    place p = {.world = NULL};
    size_t broken = 0;
    while (next_place(&p, FEW)) {
        c = crowd_in(&p.request);
        crowd_fill(&c, 1);
        for (uint64_t first = 0; first < 6 && p.request.guarantee.model != TACIT_MODEL_NONE;
             first++) {
            SCOPED(tacit_agent) *agent = hire(&p.request);
            uint64_t charges = first;
            tacit_billboard board;
            tacit_status status = TACIT_OK;
            size_t k = 0, size;
            tacit_ledger_set_journal(tacit__agent_ledger(agent), refuse, &charges);
            while (k < c.n && status == TACIT_OK)
                status = learn(agent, &c, &c.people[k++]);
            if (status != TACIT_SYSTEM || tacit_agent_save(agent, NULL, &size, NULL) == TACIT_OK)
                continue;
            status = tacit_agent_plan(agent, &board, NULL);
            assert_true(status == TACIT_OK || status == TACIT_SYSTEM);
            assert_status(learn(agent, &c, &c.people[k - 1]), TACIT_SYSTEM);
            assert_status(tacit_agent_save(agent, NULL, &size, NULL), TACIT_SYSTEM);
            broken++;
        }
    }
    assert_true(broken > 0);
}

static size_t report_of(const tacit_agent_request *q, const crowd *c, uint8_t bytes[MOST_REPORT])
{
    size_t size = MOST_REPORT;
    SCOPED(tacit_agent) *device = hire(q);
    const tacit_trajectory user = told(c, &c->people[0]);
    (void)agent_board(device);
    assert_ok(tacit_agent_report(device, &user, bytes, &size, NULL));
    return size;
}

/* A report that was made under another guarantee has other noise than is charged. */
TEST(reports_with_other_noise_are_refused_and_change_nothing)
{
    static uint8_t report[MOST_REPORT];
    static crowd c;
    place p = {.world = NULL};
    while (next_place(&p, FEW)) {
        if (p.request.guarantee.model != TACIT_MODEL_LOCAL)
            continue;
        c = crowd_in(&p.request);
        crowd_fill(&c, 1);
        tacit_agent_request other = p.request;
        other.guarantee.epsilon *= 2;
        SCOPED(tacit_agent) *server = hire(&p.request);
        (void)agent_board(server);
        const agent_bytes before = agent_saved(server);
        size_t size = report_of(&other, &c, report);
        assert_status(tacit_agent_absorb(server, report, size, NULL), TACIT_WRONG_PLAN);
        assert_same_state(server, &before, p.request.kind);
        size = report_of(&p.request, &c, report);
        assert_ok(tacit_agent_absorb(server, report, size, NULL));
        free(before.data);
    }
}

/* --- When something is released ---------------------------------------------------------------------- */

typedef struct moments {
    uint64_t user, at[FEW * 2];
    size_t n;
} moments;

static void note_moment(void *context, const tacit__passage *p)
{
    moments *m = context;
    if (p->offset == 0 && (m->n == 0 || m->at[m->n - 1] != m->user))
        m->at[m->n++] = m->user;
}

/* 2, then half of those so far, rounded up; the rest of the last one is never shown. Whoever comes, and whatever the noise. */
TEST(releases_come_when_public_numbers_say)
{
    enum { MORE = 2 * FEW };
    static const uint64_t wanted[] = {2, 3, 5, 8, 12, 18};
    static const tacit_setting settings[] = {SET("first", "2"), SET("growth", "1.5")};
    static crowd c;
    place p = {.world = NULL};
    size_t seen = 0;
    for (uint64_t seed = 1; next_place(&p, MORE); seed++) {
        tacit_agent_request q = p.request;
        q.settings = settings;
        q.n_settings = 2;
        SCOPED(tacit_agent) *agent = hire(&q);
        if (agent == NULL || q.guarantee.model != TACIT_MODEL_JOINT)
            continue;
        moments m = {.n = 0};
        tacit__ledger_set_recorder(tacit__agent_ledger(agent), note_moment, &m);
        c = crowd_in(&q);
        crowd_fill(&c, seed);
        for (m.user = 1; m.user <= MORE; m.user++) {
            (void)agent_board(agent);
            assert_ok(learn(agent, &c, &c.people[m.user - 1]));
        }
        assert_int_equal(m.n, N_OF(wanted));
        assert_memory_equal(m.at, wanted, sizeof wanted);
        seen++;
    }
    assert_true(seen > 0);
}

/* --- An action that is gone ------------------------------------------------------------------------- */

enum { MANY = 400, WHO = 97 };

/* A user in one of the contexts, who does as the billboard says; `late`: as an earlier one said, if one of its actions is gone. */
static bool visit(tacit_agent *agent, const tacit_agent_request *q, uint64_t *seed, bool late,
                  uint64_t *version)
{
    uint32_t context = (uint32_t)random_below(seed, q->n_states), action = 0;
    double chance = random_unit(seed), reward = random_unit(seed), probability;
    const tacit_billboard board = agent_board(agent);
    *version = board.version;
    assert_ok(tacit_agent_act(agent, &(tacit_situation){.state = context}, chance, &action,
                              &probability, NULL));
    reward = action == 0 ? 0.95 : 0.05 * reward;
    const double *mixed = board.mixed + context * q->n_actions;
    for (uint32_t a = 0; a < q->n_actions && late; a++)
        action = mixed[a] == 0 ? a : action;
    const bool gone = mixed[action] == 0;
    if (late)
        reward = 1;
    const tacit_trajectory user = {STEPS_OF(&context, &action, &reward)};
    assert_ok(tacit_agent_learn(agent, &user, NULL));
    return gone;
}

/* Somebody who decided early finishes when their action is gone, and somebody else in the same place has one that is still
 * there: later epochs begin at the same users, and what the two differ by is within the plan. True: an action was gone. */
static bool check_gone(const tacit_agent_request *q, size_t who)
{
    bool gone = false;
    tape *t = tape_create();
    uint64_t versions[2][MANY];
    tape_lines lines = {.n = 0};
    tacit_agent *worlds[] = {hire(q), hire(q)};
    for (size_t w = 0; w < 2; w++) {
        uint64_t seed = who;
        (w == 0 ? tape_record : tape_replay)(t, tacit__agent_ledger(worlds[w]));
        if (w == 1) {
            lines = tape_lines_of(tacit_agent_release_plan(worlds[w]));
            tape_watch(t, &lines);
        }
        for (size_t k = 0; k < MANY; k++)
            gone = visit(worlds[w], q, &seed, w == 1 && k == who, &versions[w][k]) || gone;
    }
    assert_true(tape_compare(t).same_calls);
    assert_memory_equal(versions[0], versions[1], sizeof versions[0]);
    /* one vector of length at most 1 against 0: at most a quarter of the declared mu^2 */
    assert_true(lines.measured[0] <= lines.declared[0] / 4 * (1 + 1e-9));
    tacit_agent_destroy(worlds[0]);
    tacit_agent_destroy(worlds[1]);
    tape_destroy(t);
    return gone;
}

/* Of the learners in epochs some drop actions. */
TEST(whose_action_is_gone_counts_like_everybody)
{
    kind_in_model k;
    size_t dropped = 0;
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++) {
        SCOPED(tacit_world) *world = NULL;
        tacit_agent_request q = space_request(space_find("points"), MANY, &world);
        q.kind = k.kind->name;
        q.guarantee = guarantee_in(k.model, EPSILON, 1e-3);
        SCOPED(tacit_agent) *agent = k.model == TACIT_AGENT_NONE ? NULL : hire(&q);
        if (agent == NULL ||
            strcmp(tacit_plan_release(tacit_agent_release_plan(agent), 0)->name, "epochs") != 0)
            continue;
        bool gone = false;
        for (size_t who = 100; who < MANY; who += WHO)
            gone = check_gone(&q, who) || gone;
        dropped += gone;
    }
    assert_true(dropped >= 2); /* joint and local */
}
