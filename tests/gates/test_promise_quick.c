/* The promise of every learner in seconds: every row of the tables, every model that it has, spaces of every shape, a small
 * epsilon and a large one, people who come once and people who come back.
 *
 * One person is replaced, with the releases frozen (support/neighbors.h), by pairs of trajectories that are far apart. Then
 *
 *   - whatever leaves a device is the same: step, hash, question and length of a report are public, so with the answers or
 *     numbers frozen two trajectories give the same bytes;
 *   - everything that others meet is the same, and so are the calls at the door;
 *   - the loss of each line is at most what the line declares, over all visits of the person;
 *   - some pair comes so near to it that a bound which forgets one of the two users, or the visits, would be passed.
 *
 * And what passes the door has noise of the plan's law and scale, and answers with the plan's epsilon.
 *
 * test_replay.c climbs to the worst pair under every setting that changes what is released, and takes minutes. */
#include <math.h>
#include <string.h>

#include "agents/agent_inside.h"
#include "agents/mixture/mixture_agents.h"
#include "support/check.h"
#include "support/kinds.h"
#include "support/neighbors.h"
#include "support/spaces.h"

enum { USERS = 6, PAIRS = 6, REWARDS = 1, CHANCES = 16, VISITS = 3, APART = 2 };
enum { MOST_REPORT = 1 << 20 };

static const double epsilons[] = {1, 60}; /* with the second, users give several answers */
#define DELTA 1e-6
#define ROUNDING 1e-9

/* The guarantee and the people of a request. */
typedef struct promise {
    double epsilon;
    uint64_t users, visits;
} promise;

static tacit_agent_request ask(const space *s, const kind_in_model *k, promise p,
                               const tacit_setting *setting, tacit_world **world)
{
    tacit_agent_request q = space_request(s, p.users, world);
    q.kind = k->kind->name;
    q.guarantee = guarantee_in(k->model, p.epsilon, DELTA);
    q.settings = setting;
    q.n_settings = setting->key != NULL;
    q.visits = p.visits;
    q.apart = p.visits > 1 ? APART : 0;
    return q;
}

/* NULL: the kind does not learn in this space, or takes each person once. */
static tacit_agent *hire(const tacit_agent_request *q)
{
    tacit_agent *agent = NULL;
    tacit_status status = agent_try(q, 3, &agent, NULL);
    assert_true(status == TACIT_OK || status == TACIT_UNSUPPORTED || status == TACIT_BAD_ARGUMENT);
    return agent;
}

static crowd crowd_of(const tacit_agent_request *q)
{
    crowd c = crowd_in(q);
    c.devices = q->guarantee.model == TACIT_MODEL_LOCAL;
    crowd_fill(&c, 1);
    return c;
}

static tacit_trajectory told(const crowd *c, const person *p)
{
    const bool numbered = c->features == CROWD_NUMBERED;
    return (tacit_trajectory){STEPS_OF(numbered ? p->states : NULL, p->actions, p->rewards),
                              .features = numbered ? NULL : p->features};
}

/* --- Two trajectories ------------------------------------------------------------------------------- */

/* The largest shares of what each line declares, of the learner that is tested. */
typedef struct reached {
    size_t n, spaces;
    double line[TAPE_LINES];
} reached;

/* Every line of the plan knows how often one person comes. */
static void check_visits(const tacit_agent_request *q, const tacit_agent *agent)
{
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    for (size_t i = 0; i < tacit_plan_size(plan); i++) {
        const tacit_release *line = tacit_plan_release(plan, i);
        if (line->visits != q->visits || line->apart > (q->visits > 1 ? APART : 1))
            fail_msg(
                "%s, model %d, delta %g: line '%s' declares %llu visits of a person who comes %llu "
                "times",
                q->kind, (int)q->guarantee.model, q->guarantee.delta, line->name,
                (unsigned long long)line->visits, (unsigned long long)q->visits);
    }
}

/* All lines together cost what the guarantee allows, and hardly less. Answers with delta above 0 are composed in another way
 * (unit.kov). */
static void check_cost(const tacit_agent_request *q, const tacit_agent *agent)
{
    const tape_lines lines = tape_lines_of(tacit_agent_release_plan(agent));
    const tacit_law law = tacit_plan_law(lines.plan);
    double sum = 0, allowed = q->guarantee.epsilon;
    if (law == TACIT_LAW_RESPONSE && q->guarantee.delta > 0)
        return;
    for (size_t i = 0; i < lines.n; i++)
        sum += lines.declared[i];
    if (law == TACIT_LAW_GAUSSIAN) {
        assert_ok(tacit_gdp_mu(q->guarantee.epsilon, q->guarantee.delta, &allowed));
        allowed *= allowed;
    }
    if (!(sum >= 0.94 * allowed && sum <= allowed * (1 + ROUNDING)))
        fail_msg(
            "%s, model %d, epsilon %g, delta %g, %llu visits: the plan declares %g of what the "
            "guarantee allows",
            q->kind, (int)q->guarantee.model, q->guarantee.epsilon, q->guarantee.delta,
            (unsigned long long)q->visits, sum / allowed);
}

/* Number i of the pairs in the place of user `who`. */
static void replace(crowd *c, size_t who, size_t i, reached *best)
{
    const tacit_agent_request *q = &c->request;
    uint64_t seed = 7 + c->seed + i;
    person there;
    neighbors_corner(c, i, &seed, &c->people[who], &there);
    const neighbors found = neighbors_compare(c, who, &there);
    if (found.violation != NULL || found.refused > 0)
        fail_msg("%s, model %d, epsilon %g, delta %g, pair %zu: %s", q->kind,
                 (int)q->guarantee.model, q->guarantee.epsilon, q->guarantee.delta, i,
                 found.violation != NULL ? found.violation : "users were refused");
    best->n = found.n > best->n ? found.n : best->n;
    for (size_t line = 0; line < found.n; line++) {
        best->line[line] = fmax(best->line[line], found.line[line]);
        if (!(found.line[line] <= 1 + ROUNDING))
            fail_msg("%s, model %d, epsilon %g, delta %g, %llu visits, pair %zu: line %zu of the "
                     "plan moves by %g times the loss that it declares",
                     q->kind, (int)q->guarantee.model, q->guarantee.epsilon, q->guarantee.delta,
                     (unsigned long long)q->visits, i, line, found.line[line]);
    }
}

/* All pairs among several users. Then single reports, whose step, question and hash public chance chooses anew each time, of two
 * users who differ in their rewards alone, or in all. */
static void replace_all(const crowd *given, reached *best)
{
    static crowd c;
    const bool once = given->request.visits == 1;
    for (size_t i = 0; i < PAIRS; i++) {
        c = *given;
        replace(&c, once ? 1 : 0, i, best); /* the first of all is planned for by nobody's data */
    }
    for (uint64_t seed = 1; seed <= CHANCES && given->devices && once; seed++) {
        c = *given;
        c.n = 1;
        c.seed = seed;
        replace(&c, 0, seed % 2 == 0 ? REWARDS : PAIRS, best);
    }
}

/* The bytes of a report by a user on a device of their own. */
static size_t report_of(const tacit_agent_request *q, const tacit_trajectory *user,
                        uint8_t bytes[MOST_REPORT])
{
    size_t size = MOST_REPORT;
    SCOPED(tacit_agent) *device = hire(q);
    (void)agent_board(device);
    assert_ok(tacit_agent_report(device, user, bytes, &size, NULL));
    return size;
}

/* `tacit explain` says that a report is what frames it and stands before the numbers of the plan's lines, 64 bits each, and that the
 * frame is public: nothing is frozen here. */
static void check_frame(const crowd *c)
{
    static uint8_t here[MOST_REPORT], there[MOST_REPORT];
    const tacit_agent_request *q = &c->request;
    SCOPED(tacit_agent) *agent = hire(q);
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    size_t numbers = 0;
    for (size_t i = 0; i < tacit_plan_size(plan); i++)
        numbers += tacit_plan_release(plan, i)->dimension;
    const tacit_trajectory first = told(c, &c->people[0]), second = told(c, &c->people[1]);
    const size_t size = report_of(q, &first, here);
    assert_int_equal(report_of(q, &second, there), size);
    assert_true(size > 8 * numbers);
    if (memcmp(here, there, size - 8 * numbers) != 0)
        fail_msg("%s, epsilon %g, delta %g: the frame of a report depends on data", q->kind,
                 q->guarantee.epsilon, q->guarantee.delta);
}

/* A bound that forgets one of the two users is too small by a root of 2 at least, so the declared loss by a half; one that forgets
 * the visits declares a third of it, or less. How far users of a linear mixture are apart depends on the values that are planned
 * with, which begin at 0: test_replay.c plays until they are large. Of three reports that a device may make about epochs, a plan
 * this short shows one. */
static double least_of(const kind_in_model *k, uint64_t visits)
{
    return is_of_family(&tacit__mixture_rows, k->kind->name) ? 0.25 : visits > 1 ? 0.3 : 0.6;
}

static void check_row(const kind_in_model *k, uint64_t visits)
{
    const tacit_setting setting = setting_in(k->kind, k->model);
    reached best = {0};
    for (size_t i = 0; i < N_OF(spaces) * N_OF(epsilons); i++) {
        static crowd c;
        SCOPED(tacit_world) *world = NULL;
        const promise p = {epsilons[i / N_OF(spaces)], USERS, visits};
        const tacit_agent_request q = ask(&spaces[i % N_OF(spaces)], k, p, &setting, &world);
        SCOPED(tacit_agent) *agent = hire(&q);
        if (agent == NULL)
            continue;
        best.spaces++;
        check_visits(&q, agent);
        check_cost(&q, agent);
        c = crowd_of(&q);
        replace_all(&c, &best);
        if (c.devices)
            check_frame(&c);
    }
    if (best.spaces == 0)
        fail_msg("%s learns in none of the spaces", k->kind->name);
    for (size_t line = 0; line < best.n; line++)
        if (best.line[line] < least_of(k, visits))
            fail_msg(
                "%s, model %u, %llu visits: the pairs reach %g of what line %zu declares, and must "
                "reach %g",
                k->kind->name, k->model, (unsigned long long)visits, best.line[line], line,
                least_of(k, visits));
}

TEST(a_replaced_person_moves_what_is_declared_and_nothing_else)
{
    kind_in_model k;
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++)
        if (k.model != TACIT_AGENT_NONE)
            check_row(&k, 1);
}

TEST(a_person_who_comes_back_moves_what_is_declared_for_all_visits)
{
    kind_in_model k;
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++)
        if (k.model != TACIT_AGENT_NONE && tacit_agent_kind_returning(k.kind->name))
            check_row(&k, VISITS);
}

/* --- What is drawn ---------------------------------------------------------------------------------- */

/* How far all that was drawn by a law is from what the plans say, and the variance of that; and how far what one number was off,
 * times what it was off in the release before, which is 0 on average. */
typedef struct meter {
    size_t draws;
    double off, variance, products, spread;
} meter;

enum { MOST_LAST = 4096 };

typedef struct watch {
    const tacit_agent_request *request;
    const tacit_plan *plan;
    meter *laws;                        /* [TACIT_LAW_RESPONSE + 1] */
    double last[TAPE_LINES][MOST_LAST]; /* 0: nothing was released */
} watch;

/* The mean of z^2 is 1, and its variance 2, of normal noise; those of |z| are 1 of Laplace noise. An answer out of g is true with
 * probability e / (e + g - 1), e = e^epsilon. */
static void measure(void *context, const tacit__passage *p)
{
    watch *w = context;
    const size_t line = tacit_plan_index(w->plan, p->release->name);
    meter *m = &w->laws[p->law];
    if (p->law != tacit_plan_law(w->plan) ||
        p->scale * p->lattice != tacit_plan_scale(w->plan, line))
        fail_msg("%s: what passes '%s' has another law or scale than the plan says",
                 w->request->kind, p->release->name);
    const double e = exp(1 / p->scale), truth = e / (e + (double)p->release->answers - 1);
    for (size_t i = 0; i < p->n; i++) {
        const double z = (double)(p->released[i] - p->exact[i]) / p->scale;
        const bool gaussian = p->law == TACIT_LAW_GAUSSIAN, laplace = p->law == TACIT_LAW_LAPLACE;
        m->off += gaussian ? z * z - 1 : laplace ? fabs(z) - 1 : (double)(z == 0) - truth;
        m->variance += gaussian ? 2 : laplace ? 1 : truth * (1 - truth);
        if (p->law == TACIT_LAW_RESPONSE || p->offset + i >= MOST_LAST)
            continue;
        double *last = &w->last[line][p->offset + i];
        m->products += z * *last;
        m->spread += *last == 0 ? 0 : gaussian ? 1 : 4;
        *last = z;
    }
    m->draws += p->n;
}

static void draw_in(const space *s, const kind_in_model *k, uint64_t seed, meter *laws)
{
    static crowd c;
    const tacit_setting setting = setting_in(k->kind, k->model);
    SCOPED(tacit_world) *world = NULL;
    SCOPED(tacit_agent) *agent = NULL;
    const tacit_agent_request q =
        ask(s, k, (promise){epsilons[0], CROWD_USERS, 1}, &setting, &world);
    if (agent_try(&q, seed, &agent, NULL) != TACIT_OK)
        return;
    static watch w;
    w = (watch){.request = &q, .plan = tacit_agent_release_plan(agent), .laws = laws};
    tacit__ledger_set_recorder(tacit__agent_ledger(agent), measure, &w);
    c = crowd_of(&q);
    for (size_t i = 0; i < c.n; i++) {
        const tacit_trajectory user = told(&c, &c.people[i]);
        (void)agent_board(agent);
        assert_ok(tacit_agent_learn(agent, &user, NULL));
    }
}

/* Seeds are fixed; others would be 6 standard deviations off once in 10^8. So many draws see a scale, or an epsilon, that is wrong by
 * a quarter. */
TEST(noise_and_answers_are_drawn_as_the_plan_says)
{
    enum { LEAST = 2000 };
    static const tacit_law laws[] = {TACIT_LAW_GAUSSIAN, TACIT_LAW_LAPLACE, TACIT_LAW_RESPONSE};
    meter meters[TACIT_LAW_RESPONSE + 1] = {0};
    kind_in_model k;
    for (size_t i = 0; kind_in_model_at(NULL, i, &k); i++)
        for (size_t s = 0; s < N_OF(spaces) && k.model != TACIT_AGENT_NONE; s++)
            draw_in(&spaces[s], &k, 1 + i * N_OF(spaces) + s, meters);
    for (size_t i = 0; i < N_OF(laws); i++) {
        const meter *m = &meters[laws[i]];
        print_message("law %d: %zu draws, %.2f standard deviations off\n", (int)laws[i], m->draws,
                      m->off / sqrt(m->variance));
        assert_true(m->draws >= LEAST);
        assert_within(m->off / sqrt(m->variance), -6, 6);
        if (laws[i] != TACIT_LAW_RESPONSE)
            assert_within(m->products / sqrt(m->spread), -6, 6);
    }
}
