/* Gate 1 for crowds out of order: people who look at the billboard, and finish when others have overtaken them and the billboard is
 * another; people who bring what the declared domain does not have. Every learner in every model, at its own door and from
 * devices. All of them count, the two worlds part in nothing but the released numbers, and the worst pair that a search finds
 * moves these by no more than is declared. */
#include <string.h>

#include <tacit/world.h>

#include "agents/mixture_agents.h"
#include "agents/tabular_agents.h"
#include "support/arena.h"
#include "support/kinds.h"
#include "support/lsvi.h"
#include "support/neighbors.h"
#include "support/world.h"

enum { USERS = 16, DROPPING_USERS = 120 };

/* One in three is in time, the others are up to nine users late and overtake each other. */
static void delay(crowd *c)
{
    for (size_t k = 0; k < c->n; k++)
        c->people[k].late = k % 3 == 0 ? 0 : (5 * k) % 10;
}

/* The first action is good and the others are not, so that a learner with little noise drops them. */
static void reward_first_action(crowd *c)
{
    for (size_t k = 0; k < c->n; k++) {
        c->people[k].follows = false;
        c->people[k].rewards[0] = c->people[k].actions[0] == 0;
    }
}

static void check(crowd *c)
{
    const bool drops = strcmp(c->request.kind, "capri") == 0;
    c->request.episodes = drops ? DROPPING_USERS : USERS;
    const unsigned models = tacit_agent_kind_find(c->request.kind)->models;
    for (unsigned model = TACIT_AGENT_JOINT_PURE; model <= TACIT_AGENT_LOCAL; model *= 2) {
        if ((models & model) == 0)
            continue;
        c->request.guarantee = guarantee_in(model, 20, 1e-3);
        for (int i = 0; i < 4; i++) {
            c->request.outside = i % 2 == 0 ? TACIT_OUTSIDE_REFUSE : TACIT_OUTSIDE_CLIP;
            c->devices = i / 2 == 1;
            if (c->devices && c->request.guarantee.model != TACIT_MODEL_LOCAL)
                continue;
            crowd_fill(c, 1);
            delay(c);
            if (drops)
                reward_first_action(c);
            /* what is reached is asserted where users are in order: here somebody's late report may weigh nothing */
            neighbors_assert(c, &(neighbors_wish){.note = "late", .restarts = 2, .moves = 25});
        }
    }
}

TEST(late_users_of_tables_count)
{
    static crowd c;
    for (size_t i = 0; i < tacit__tabular_rows.n; i++) {
        c = (crowd){.request = {SPACE_OF(3, 2, 4), .kind = tacit__tabular_rows.at[i].kind.name,
                                .stationary = true}};
        check(&c);
    }
}

/* Batches end while people are under way: those who finish later count with the next batch's weights. */
TEST(late_users_of_batches_count)
{
    static const char *const kinds[] = {"posterior-tabular", "explore-commit-tabular"};
    static crowd c;
    for (size_t i = 0; i < N_OF(kinds); i++) {
        c = (crowd){.request = {.kind = kinds[i], SPACE_OF(3, 2, 4), .stationary = true}};
        check(&c);
    }
}

/* Randomized response: one answer of a hash, one of all cells, several; from devices, and at the door of a curator; some episodes
 * end early, and people come back. What a user answers is one answer or another whoever looked at which billboard, so the worst
 * pair attains what is declared. */
TEST(late_users_who_answer_count)
{
    static const struct {
        tacit_guarantee guarantee;
        uint64_t visits;
        bool devices, ends;
    } cases[] = {{{TACIT_MODEL_LOCAL, 1, 0}, 1, true, false},
                 {{TACIT_MODEL_LOCAL, 1, 1e-6}, 1, false, true},
                 {{TACIT_MODEL_LOCAL, 10, 0}, 1, true, true},
                 {{TACIT_MODEL_LOCAL, 40, 0}, 1, true, true},
                 {{TACIT_MODEL_LOCAL, 40, 1e-6}, 2, true, false},
                 {{TACIT_MODEL_JOINT, 12, 0}, 1, false, true},
                 {{TACIT_MODEL_JOINT, 40, 0}, 1, false, false}};
    static crowd c;
    for (size_t i = 0; i < N_OF(cases); i++) {
        c = (crowd){.request = {.kind = "posterior-tabular",
                                .guarantee = cases[i].guarantee,
                                .n_states = 3,
                                .n_actions = 2,
                                .horizon = 4,
                                .stationary = true,
                                .episodes = USERS,
                                .visits = cases[i].visits,
                                .apart = 1},
                    .devices = cases[i].devices,
                    .ends = cases[i].ends};
        crowd_fill(&c, 1);
        delay(&c);
        SCOPED(tacit_agent) *agent = agent_of(&c.request, 1);
        assert_int_equal(tacit_plan_law(tacit_agent_release_plan(agent)), TACIT_LAW_RESPONSE);
        neighbors_assert(
            &c, &(neighbors_wish){
                    .note = "late answers", .restarts = 2, .moves = 25, .least_whole = 1 - 1e-9});
    }
}

TEST(late_users_of_mixtures_count)
{
    static const double rewards[] = {1, 1, 0.5, 0.5, 0, 0};
    static crowd c;
    for (size_t i = 0; i < tacit__mixture_rows.n; i++) {
        c = (crowd){.request = {SPACE_OF(3, 2, 4), .kind = tacit__mixture_rows.at[i].kind.name,
                                .stationary = true, .rewards = rewards}};
        check(&c);
    }
}

TEST(late_users_of_lsvi_count)
{
    static const tacit_setting batched[] = {{"schedule", "batched", 1}, {"batches", "5", 1}};
    static crowd c;
    for (int form = LSVI_ONE_HOT; form <= LSVI_CARRIED; form++) {
        c = (crowd){.request = {SPACE_OF(LSVI_S, LSVI_A, 4), SETTINGS_OF(batched, 2),
                                .kind = "lsvi-ucb", .linear = lsvi_linear((lsvi_form)form)},
                    .features = form == LSVI_CARRIED ? CROWD_SIMPLEX : CROWD_NUMBERED,
                    .rows = LSVI_A,
                    .dimension = LSVI_D,
                    .bound = 1};
        check(&c);
    }
}

static void check_bandit(const char *kind, const char *name, const tacit_setting *settings,
                         size_t n)
{
    static crowd c;
    SCOPED(tacit_world) *world = world_of(name, settings, n);
    const tacit_world_facts *f = tacit_world_describe(world);
    c = (crowd){.request = {SPACE_OF(f->n_states, f->n_actions, 1), .kind = kind,
                            .stationary = true, .bandit = f->bandit},
                .features = f->bandit->points != NULL ? CROWD_NUMBERED : CROWD_BALL,
                .rows = f->bandit->disjoint ? 1 : f->n_actions,
                .dimension = f->bandit->dimension,
                .bound = f->bandit->bound};
    check(&c);
}

TEST(late_users_of_bandits_count)
{
    static const tacit_setting
        shared[] = {{"d", "4", 1}, {"actions", "3", 1}, {"contexts", "0", 1}},
        disjoint[] = {{"d", "4", 1}, {"arms", "disjoint", 1}, {"contexts", "0", 1}},
        kernel[] = {{"contexts", "3", 1}, {"actions", "9", 1}, {"kernel", "matern-1.5(0.4)", 1}};
    check_bandit("lin-ucb", "linear-bandit", shared, N_OF(shared));
    check_bandit("lin-ucb", "linear-bandit", disjoint, N_OF(disjoint));
    check_bandit("explore-commit-features", "linear-bandit", shared, N_OF(shared));
    check_bandit("capri", "kernel-bandit", kernel, N_OF(kernel));
    check_bandit("posterior-kernel", "kernel-bandit", kernel, N_OF(kernel));
    check_bandit("explore-commit-kernel", "kernel-bandit", kernel, N_OF(kernel));
}

/* The harness itself: where users outside the domain are refused, a pair of which one is outside is no pair to be left out but a
 * violation. */
TEST(a_pair_of_which_one_world_refuses_somebody_is_a_violation)
{
    static crowd c;
    c = (crowd){.request = {SPACE_OF(3, 2, 4), .kind = "dp-ucbvi",
                            .guarantee = guarantee_in(TACIT_AGENT_JOINT, 20, 1e-3),
                            .stationary = true, .episodes = USERS}};
    crowd_fill(&c, 1);
    person other = c.people[0];
    assert_null(neighbors_compare(&c, 0, &other).violation);
    other.rewards[1] = 2;
    assert_non_null(neighbors_compare(&c, 0, &other).violation);
    c.request.outside = TACIT_OUTSIDE_CLIP;
    assert_null(neighbors_compare(&c, 0, &other).violation);
}
