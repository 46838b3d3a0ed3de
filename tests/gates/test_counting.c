/* Whether a user counts does not depend on the user's data: every learner, every model that it has, spaces of every shape.
 *
 * People decide in one order and finish in another, so some rewards come after their billboard was replaced; some lie outside
 * the declared domain in every way that the types allow. All of them count: `learn` answers OK exactly as often as users were declared, and
 * EXHAUSTED afterwards, in both settings of `outside` that apply. Then one of them is replaced, by somebody who is in the domain
 * or far outside, early or late, with the releases frozen: the same passages are made with the same sizes and scales, everybody
 * else sees the same, and the loss is at most what the plan declares. A learner that passes somebody over because of what they
 * bring fails at once: the passages after that user are others. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/agent.h>
#include <tacit/world.h>

#include "agents/agent_inside.h"
#include "agents/outside.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/kinds.h"
#include "support/random.h"
#include "support/replay.h"
#include "support/spaces.h"

enum { USERS = 90, STEPS = 11, MOST_NUMBERS = 48, MOST_WAITING = 12 };
#define EPSILON 20.0 /* so large that capri drops actions */

/* NULL: the kind does not learn in this space. */
static tacit_agent *hire(const tacit_agent_request *request)
{
    tacit_agent *agent;
    tacit_status status = agent_try(request, 11, &agent, NULL);
    assert_true(status == TACIT_OK || status == TACIT_UNSUPPORTED || status == TACIT_BAD_ARGUMENT);
    return agent;
}

/* --- People ---------------------------------------------------------------------------------------- */

typedef struct person {
    uint32_t states[STEPS + 1], actions[STEPS];
    double rewards[STEPS], features[MOST_NUMBERS];
    double chance[STEPS];
    size_t length;     /* some episodes end early; a wild one claims more steps than there are */
    uint32_t deviates; /* from the billboard, by so many actions: somebody's program is wrong */
    bool good;         /* rewards tell the first action apart, so that others are dropped */
} person;

static uint32_t wild_index(uint64_t *seed, size_t n)
{
    const uint32_t values[] = {(uint32_t)n, (uint32_t)n + 7, UINT32_MAX, 0};
    return values[random_below(seed, N_OF(values))];
}

static double wild_number(uint64_t *seed)
{
    const double values[] = {(double)NAN, HUGE_VAL, -HUGE_VAL,   DBL_MAX, -DBL_MAX,  1e200,
                             -1e160,      3,        -2,          1,       0x1p-1074, 0,
                             1 + 1e-9,    -1e-9,    1 + 1.01e-9, 0.3};
    return values[random_below(seed, N_OF(values))];
}

/* Vectors of length `bound` in random directions, or on the simplex. */
static void tame_features(const tacit__domain *d, uint64_t *seed, double *x)
{
    double norm = 0;
    for (size_t i = 0; i < d->dimension; i++) {
        x[i] = d->simplex ? random_unit(seed) : random_normal(seed);
        norm += d->simplex ? x[i] : x[i] * x[i];
    }
    for (size_t i = 0; i < d->dimension; i++)
        x[i] *= d->simplex ? 1 / norm : d->bound / sqrt(norm);
}

static person person_of(const tacit_agent_request *q, uint64_t seed, bool wild)
{
    const tacit__domain d = tacit__domain_of(q);
    person p = {.good = !wild};
    for (size_t h = 0; h <= q->horizon; h++)
        p.states[h] = q->n_states == 0 ? 0
                      : wild && random_below(&seed, 3) == 0
                          ? wild_index(&seed, q->n_states)
                          : (uint32_t)random_below(&seed, q->n_states);
    for (size_t h = 0; h < q->horizon; h++) {
        p.rewards[h] = wild ? wild_number(&seed) : random_unit(&seed);
        p.chance[h] = random_unit(&seed);
    }
    for (size_t at = 0; at < d.situations * d.per_situation; at += d.dimension) {
        assert_true(at + d.dimension <= MOST_NUMBERS);
        tame_features(&d, &seed, p.features + at);
        if (wild && random_below(&seed, 2) == 0)
            for (size_t i = 0; i < d.dimension; i++)
                p.features[at + i] *= random_below(&seed, 2) == 0 ? wild_number(&seed) : 1 + 1e-9;
    }
    if (random_below(&seed, 2) == 0)
        p.length = 1 + random_below(&seed, q->horizon);
    if (wild && random_below(&seed, 8) == 0)
        p.length = q->horizon + 1 + random_below(&seed, 2) * 1000000;
    if (wild && random_below(&seed, 4) == 0)
        p.deviates = wild_index(&seed, q->n_actions);
    return p;
}

/* --- Playing ---------------------------------------------------------------------------------------- */

/* What everybody but `except` sees. */
typedef struct view {
    uint64_t version[USERS];
    uint32_t action[USERS][STEPS];
    uint64_t late; /* people who finished after the billboard had changed; how many users counted */
    uint64_t counted;
} view;

static bool carries(const tacit_agent_request *q)
{
    return q->n_states == 0;
}

static void decide(tacit_agent *agent, const tacit_agent_request *q, person *p)
{
    const tacit__domain d = tacit__domain_of(q);
    for (size_t h = 0; h < q->horizon; h++) {
        double probability;
        const tacit_situation here = {.step = h,
                                      .state = p->states[h],
                                      .features =
                                          carries(q) ? p->features + h * d.per_situation : NULL};
        assert_ok(tacit_agent_act(agent, &here, p->chance[h], &p->actions[h], &probability, NULL));
        assert_true(p->actions[h] < q->n_actions);
        if (p->good && p->states[h] < q->n_states)
            p->rewards[h] = p->actions[h] == 0 ? 0.95 : 0.05 * p->rewards[h];
        p->actions[h] += p->deviates;
    }
}

static tacit_trajectory told(const tacit_agent_request *q, const person *p)
{
    return (tacit_trajectory){STEPS_OF(carries(q) ? NULL : p->states, p->actions, p->rewards),
                              .features = carries(q) ? p->features : NULL, .length = p->length};
}

/* Everybody decides in line; up to MOST_WAITING have not finished yet, and chance says who is next to. */
static void play(tacit_agent *agent, const tacit_agent_request *q, const person people[USERS],
                 size_t except, view *out)
{
    static person waiting[MOST_WAITING];
    uint64_t versions[MOST_WAITING], seed = 5;
    size_t n = 0, next = 0;
    *out = (view){0};
    for (size_t k = 0; k < USERS; k++) {
        tacit_billboard board;
        assert_ok(tacit_agent_plan(agent, &board, NULL));
        while (next < USERS && n < MOST_WAITING) {
            person p = people[next];
            decide(agent, q, &p);
            if (next != except)
                memcpy(out->action[next], p.actions, sizeof p.actions);
            versions[n] = board.version;
            waiting[n++] = p;
            next++;
        }
        out->version[k] = board.version;
        size_t i = random_below(&seed, n);
        tacit_trajectory t = told(q, &waiting[i]);
        tacit_error err = {0};
        if (tacit_agent_learn(agent, &t, &err) != TACIT_OK)
            fail_msg("%s: user %zu: %s", q->kind, k, err.message);
        out->late += versions[i] != board.version;
        out->counted++;
        waiting[i] = waiting[--n];
        versions[i] = versions[n];
    }
    tacit_trajectory t = told(q, &people[0]);
    assert_status(tacit_agent_learn(agent, &t, NULL),
                  q->outside == TACIT_OUTSIDE_CLIP || people[0].good ? TACIT_EXHAUSTED
                                                                     : TACIT_OUT_OF_BOUND);
}

/* What the plan declares for one replaced user, as mu^2 or epsilon. */
static double declared(const tacit_plan *plan)
{
    double sum = 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *r = tacit_plan_release(plan, i);
        double scale = tacit_plan_scale(plan, i);
        sum += tacit_plan_law(plan) == TACIT_LAW_GAUSSIAN ? pow(r->l2 * r->column_l2 / scale, 2)
                                                          : r->l1 * r->column_l1 / scale;
    }
    return sum;
}

static uint64_t replace(const tacit_agent_request *q, const person people[USERS], size_t who,
                        const person *other)
{
    static view first, second;
    static person changed[USERS];
    tape *t = tape_create();
    SCOPED(tacit_agent) *a = hire(q), *b = hire(q);
    tape_record(t, tacit__agent_ledger(a));
    play(a, q, people, who, &first);
    memcpy(changed, people, sizeof changed);
    changed[who] = *other;
    tape_replay(t, tacit__agent_ledger(b));
    play(b, q, changed, who, &second);
    tape_verdict v = tape_compare(t);
    if (!v.same_calls)
        fail_msg("%s: passages depend on one user's data", q->kind);
    assert_memory_equal(&first, &second, sizeof first);
    const tacit_plan *plan = tacit_agent_release_plan(a);
    double loss = tacit_plan_law(plan) == TACIT_LAW_GAUSSIAN ? v.mu_square : v.epsilon;
    if (!(loss <= declared(plan) * (1 + 1e-9)))
        fail_msg("%s: user %zu moves %g of what is declared", q->kind, who, loss / declared(plan));
    tape_destroy(t);
    return first.late;
}

/* --- Every kind ------------------------------------------------------------------------------------- */

/* True if the kind learns in this space. */
static bool check(const space *s, const tacit_agent_kind *kind, unsigned model, uint64_t *late)
{
    static const size_t who[] = {0, 17, 45, USERS - 1};
    const tacit_setting setting = setting_in(kind, model);
    static person tame[USERS], all[USERS];
    SCOPED(tacit_world) *world = NULL;
    tacit_agent_request q = space_request(s, USERS, &world);
    q.kind = kind->name;
    q.guarantee = guarantee_in(model, EPSILON, 1e-3);
    q.settings = &setting;
    q.n_settings = setting.key != NULL;
    tacit_agent *agent = hire(&q);
    const bool learns = agent != NULL;
    for (uint64_t k = 0; k < USERS && learns; k++) {
        tame[k] = person_of(&q, 100 + k, false);
        all[k] = person_of(&q, 200 + k, k % 3 == 1);
    }
    if (learns) { /* who is late or out of turn counts, whatever `outside` says */
        static view seen;
        play(agent, &q, tame, SIZE_MAX, &seen);
        assert_int_equal(seen.counted, USERS);
        tacit_agent_destroy(agent);
        q.outside = TACIT_OUTSIDE_CLIP;
        agent = hire(&q);
        play(agent, &q, all, SIZE_MAX, &seen);
        assert_int_equal(seen.counted, USERS);
    }
    tacit_agent_destroy(agent);
    for (size_t i = 0; i < N_OF(who) && learns && model != TACIT_AGENT_NONE; i++) {
        person wild = person_of(&q, 300 + i, true), other = person_of(&q, 400 + i, false);
        q.outside = TACIT_OUTSIDE_REFUSE;
        *late += replace(&q, tame, who[i], &other);
        q.outside = TACIT_OUTSIDE_CLIP;
        *late += replace(&q, all, who[i], &wild);
    }
    return learns;
}

TEST(every_user_counts_whatever_they_bring_and_moves_no_more_than_declared)
{
    for (size_t i = 0; i < tacit_agent_kind_count(); i++) {
        const tacit_agent_kind *kind = tacit_agent_kind_at(i);
        for (unsigned model = TACIT_AGENT_NONE; model <= TACIT_AGENT_LOCAL; model *= 2) {
            size_t learned = 0;
            uint64_t late = 0;
            for (size_t j = 0; j < N_OF(spaces) && (kind->models & model) != 0; j++)
                learned += check(&spaces[j], kind, model, &late);
            if ((kind->models & model) != 0 && learned == 0)
                fail_msg("%s learns in none of the spaces", kind->name);
            if (model != TACIT_AGENT_NONE && learned > 0)
                assert_true(late > 0 || strcmp(kind->name, "lsvi-ucb") == 0);
        }
    }
}

/* --- capri: an action that is gone ------------------------------------------------------------------ */

/* Somebody who decided early finishes when their action is gone, and somebody else in the same place has one that is still
 * there: later epochs begin at the same users, and what the two differ by is within the plan. */
TEST(whose_action_is_gone_counts_like_everybody)
{
    enum { CONTEXTS = 4, ACTIONS = 5, MANY = 400 };
    SCOPED(tacit_world) *world = NULL;
    tacit_agent_request q = space_request(&spaces[3], USERS, &world);
    q.kind = "capri";
    q.episodes = MANY;
    for (int local = 0; local < 2; local++) {
        q.guarantee = guarantee_in(local ? TACIT_AGENT_LOCAL : TACIT_AGENT_JOINT, EPSILON, 1e-3);
        uint64_t gone = 0;
        for (size_t who = 100; who < MANY; who += 97) {
            tape *t = tape_create();
            uint64_t versions[2][MANY + 1] = {{0}};
            tacit_agent *agents[2];
            for (int w = 0; w < 2; w++) {
                agents[w] = hire(&q);
                (w == 0 ? tape_record : tape_replay)(t, tacit__agent_ledger(agents[w]));
                uint64_t seed = who;
                for (size_t k = 0; k < MANY; k++) {
                    tacit_billboard board;
                    uint32_t c = (uint32_t)random_below(&seed, CONTEXTS), a = 0;
                    double chance = random_unit(&seed), r = random_unit(&seed), p;
                    assert_ok(tacit_agent_plan(agents[w], &board, NULL));
                    versions[w][k] = board.version;
                    assert_ok(tacit_agent_act(agents[w], &(tacit_situation){.state = c}, chance, &a,
                                              &p, NULL));
                    r = a == 0 ? 0.95 : 0.05 * r;
                    if (k == who &&
                        w == 1) { /* an action of an earlier billboard, if one is gone */
                        for (uint32_t i = 0; i < ACTIONS; i++)
                            a = board.mixed[c * ACTIONS + i] == 0 ? i : a;
                        gone += board.mixed[c * ACTIONS + a] == 0;
                        r = 1;
                    }
                    const tacit_trajectory user = {STEPS_OF(&c, &a, &r)};
                    assert_ok(tacit_agent_learn(agents[w], &user, NULL));
                }
            }
            tape_verdict v = tape_compare(t);
            assert_true(v.same_calls);
            assert_memory_equal(versions[0], versions[1], sizeof versions[0]);
            /* one vector of length at most 1 against 0: at most a quarter of the declared mu^2 */
            assert_true(v.mu_square <=
                        declared(tacit_agent_release_plan(agents[0])) / 4 * (1 + 1e-9));
            tacit_agent_destroy(agents[0]);
            tacit_agent_destroy(agents[1]);
            tape_destroy(t);
        }
        assert_true(gone > 0);
    }
}
