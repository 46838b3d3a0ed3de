/* Gate 1 for tabular learners with rare releases: one user is replaced, with the releases frozen. Then everything that others meet
 * is the same, and the loss is at most what the plan declares, line by line; the worst pair of users is found by hill climbing.
 *
 * And once more from the noise that was drawn, not from what is declared of it: how far the worst pair moves what passes the door,
 * in units of the standard deviation of released minus exact, is no more than the guarantee's mu. */
#include <math.h>

#include "agents/agent_inside.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/neighbors.h"

enum { STATES = 3, ACTIONS = 2, USERS = 24 };

static const tacit_guarantee joint = {TACIT_MODEL_JOINT, 1, 1e-6};

static crowd crowd_of(const char *kind, const tacit_setting *settings, size_t n, size_t horizon)
{
    return (crowd){.request = {SPACE_OF(STATES, ACTIONS, horizon), SETTINGS_OF(settings, n),
                               .kind = kind, .guarantee = joint, .stationary = true,
                               .episodes = USERS}};
}

#define SET(name, text)                                                                            \
    {                                                                                              \
        .key = (name), .value = (text)                                                             \
    }

/* A visit spends at most half of what is left of the budget, so that four steps leave a sixteenth of it. With twenty steps, two users
 * who share no row have three rows each, and two visits of weight 1 fill three fifths of the budget. */
static void check(const char *kind, const tacit_setting *settings, size_t n)
{
    static const struct {
        size_t horizon;
        double least;
    } cases[] = {{1, 0.98}, {4, 0.87}, {11, 0.9}, {20, 0.59}};
    static crowd c;
    for (size_t i = 0; i < N_OF(cases); i++) {
        c = crowd_of(kind, settings, n, cases[i].horizon);
        crowd_fill(&c, 1);
        neighbors_wish wish = {.restarts = 4, .moves = 80, .least_whole = cases[i].least};
        for (size_t line = 0; line < TAPE_LINES; line++)
            wish.least[line] = cases[i].least;
        neighbors_assert(&c, &wish);
    }
}

TEST(posterior_tabular_moves_by_what_it_declares)
{
    const tacit_setting pooled[] = {SET("pooled", "yes"), SET("growth", "1.7")};
    const tacit_setting steps[] = {SET("pooled", "no"), SET("growth", "2.5")};
    check("posterior-tabular", pooled, 2);
    check("posterior-tabular", steps, 2);
    check("posterior-tabular", NULL, 0);
}

/* All visits of one person are replaced, from the first, a middle and the last user on. The worst pattern may be another one. */
TEST(people_who_come_back_move_batches_by_what_is_declared)
{
    static const struct {
        uint64_t visits, apart;
        const char *growth;
        double least;
    } cases[] = {{2, 12, "1.7", 0.5}, {4, 5, "1.3", 0.5}, {6, 1, "2.5", 0.4}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        const tacit_setting settings[] = {SET("pooled", "yes"), SET("growth", cases[i].growth)};
        static crowd c;
        c = crowd_of("posterior-tabular", settings, 2, 11);
        c.request.visits = cases[i].visits;
        c.request.apart = cases[i].apart;
        crowd_fill(&c, 1);
        neighbors_wish wish = {.restarts = 3, .moves = 60, .least_whole = cases[i].least};
        for (size_t line = 0; line < TAPE_LINES; line++)
            wish.least[line] = cases[i].least;
        neighbors_assert(&c, &wish);
    }
}

TEST(explore_commit_moves_by_what_it_declares)
{
    const tacit_setting settings[] = {SET("pooled", "yes"), SET("explore", "22")};
    check("explore-commit-tabular", settings, 2);
    check("explore-commit-tabular", NULL, 0);
}

/* With delta 0 every visit counts, so that any two users who share no move attain the sum. */
TEST(pure_privacy_moves_by_what_it_declares)
{
    static const char *const kinds[] = {"posterior-tabular", "explore-commit-tabular"};
    static const size_t horizons[] = {11, 1};
    for (size_t i = 0; i < N_OF(kinds) * N_OF(horizons); i++) {
        static crowd c;
        c = crowd_of(kinds[i % 2], NULL, 0, horizons[i / 2]);
        c.request.guarantee = (tacit_guarantee){TACIT_MODEL_JOINT, 1, 0};
        c.request.sums = "smooth"; /* else users would give answers */
        crowd_fill(&c, 1);
        neighbors_wish wish = {.restarts = 4, .moves = 80, .least_whole = 0.97};
        for (size_t line = 0; line < TAPE_LINES; line++)
            wish.least[line] = 0.97;
        neighbors_assert(&c, &wish);
    }
}

/* Local: an answer changes or it does not, so that two users who share no step attain what is declared; with several answers, and with
 * several visits too. Hashes sometimes let two steps stand for one answer. */
TEST(local_answers_change_by_what_is_declared)
{
    static const struct {
        tacit_guarantee guarantee;
        uint64_t visits;
        bool devices;
    } cases[] = {
        {{TACIT_MODEL_LOCAL, 1, 0}, 1, false},     {{TACIT_MODEL_LOCAL, 1, 1e-6}, 1, true},
        {{TACIT_MODEL_LOCAL, 10, 1e-6}, 1, false}, {{TACIT_MODEL_LOCAL, 10, 0}, 1, true},
        {{TACIT_MODEL_LOCAL, 60, 0}, 1, true},     {{TACIT_MODEL_LOCAL, 3, 1e-6}, 3, false},
        {{TACIT_MODEL_LOCAL, 30, 0}, 3, true},     {{TACIT_MODEL_JOINT, 1, 0}, 1, false},
        {{TACIT_MODEL_JOINT, 30, 0}, 1, false}};
    static const char *const kinds[] = {"posterior-tabular", "explore-commit-tabular"};
    static const size_t horizons[] = {11, 1};
    for (size_t i = 0; i < N_OF(cases) * N_OF(horizons); i++)
        for (size_t j = 0; j < N_OF(kinds); j++) {
            static crowd c;
            c = crowd_of(kinds[j], NULL, 0, horizons[i / N_OF(cases)]);
            c.request.guarantee = cases[i % N_OF(cases)].guarantee;
            if (cases[i % N_OF(cases)].guarantee.model == TACIT_MODEL_JOINT && j == 1)
                continue; /* the yardstick has sums */
            c.request.visits = cases[i % N_OF(cases)].visits;
            c.request.apart = 1;
            c.devices = cases[i % N_OF(cases)].devices;
            crowd_fill(&c, 1);
            const double least = 1 - 1e-9;
            neighbors_assert(
                &c, &(neighbors_wish){
                        .restarts = 1, .moves = 20, .least = {least}, .least_whole = least});
        }
}

/* --- From the noise that was drawn ------------------------------------------------------------------ */

enum { LINES = 4 };

/* Squares of released minus exact, and how many; in units of the data. */
typedef struct drawn {
    const tacit_plan *plan;
    double squares[LINES];
    uint64_t n[LINES];
} drawn;

static void note(void *context, const tacit__passage *p)
{
    drawn *d = context;
    const size_t line = tacit_plan_index(d->plan, p->release->name);
    for (size_t i = 0; i < p->n; i++) {
        const double noise = (double)(p->released[i] - p->exact[i]) * p->lattice;
        d->squares[line] += noise * noise;
    }
    d->n[line] += p->n;
}

static void serve(tacit_agent *agent, const person *p, size_t horizon)
{
    tacit_billboard board;
    uint32_t actions[PERSON_STEPS];
    assert_ok(tacit_agent_plan(agent, &board, NULL));
    for (size_t h = 0; h < horizon; h++)
        actions[h] = p->follows && board.policy != NULL ? board.policy[h * STATES + p->states[h]]
                                                        : p->actions[h];
    const tacit_trajectory t = {STEPS_OF(p->states, actions, p->rewards)};
    assert_ok(tacit_agent_learn(agent, &t, NULL));
}

static drawn draw_noise(const crowd *c, size_t agents)
{
    drawn d = {.plan = NULL};
    for (uint64_t seed = 1; seed <= agents; seed++) {
        SCOPED(tacit_agent) *agent = agent_of(&c->request, seed);
        d.plan = tacit_agent_release_plan(agent);
        tacit__ledger_set_recorder(tacit__agent_ledger(agent), note, &d);
        for (size_t k = 0; k < c->n; k++)
            serve(agent, &c->people[k], c->request.horizon);
    }
    d.plan = NULL;
    return d;
}

/* Every line has enough draws that its standard deviation is off by 1 % at four sigma. */
TEST(the_guarantee_holds_with_the_noise_that_was_drawn)
{
    static crowd c;
    const size_t horizon = 11;
    double mu;
    assert_ok(tacit_gdp_mu(joint.epsilon, joint.delta, &mu));
    c = crowd_of("posterior-tabular", NULL, 0, horizon);
    crowd_fill(&c, 2);
    const drawn d = draw_noise(&c, 1800);
    SCOPED(tacit_agent) *agent = agent_of(&c.request, 1);
    const tacit_plan *plan = tacit_agent_release_plan(agent);
    const double budget = sqrt((double)horizon); /* B, from the page: B^2 = min(H, 4 S A) */
    const double moves[LINES] = {M_SQRT2 * budget, M_SQRT2 * budget, budget / M_SQRT2, M_SQRT2};
    double square = 0;
    assert_int_equal(tacit_plan_size(plan), LINES);
    for (size_t i = 0; i < LINES; i++) {
        const tacit_release *line = tacit_plan_release(plan, i);
        const double stddev = sqrt(d.squares[i] / (double)d.n[i]);
        assert_true(d.n[i] > 75000); /* 4 / sqrt(2 n) < 0.0104 */
        assert_close(stddev, tacit_plan_scale(plan, i), 0.0105);
        assert_close(line->l2, moves[i], 1e-9);
        square += pow(line->l2 * line->column_l2 / stddev, 2);
    }
    assert_within(sqrt(square), 0.97 * mu, 1.005 * mu);
}
