/* Memory that runs out: every allocation in the making of a bandit world, of its rounds and of a learner fails once. The
 * call says NO_MEMORY and gives nothing; made again, it succeeds, and what follows is as if nothing had happened. */
#include "support/again.h"
#include "support/check.h"

#include <tacit/agent.h>
#include <tacit/world.h>

#include "base/memory.h"
#include "support/world.h"

enum { USERS = 60 };

typedef struct life {
    tacit_world *world;
    tacit_rounds *rounds;
    tacit_agent *agent;
    tacit_noise *noise;
    unsigned failures;
    double rewards[USERS];
} life;

typedef struct setup {
    const char *world, *agent;
    tacit_setting settings[3];
    size_t n_settings;
    tacit_guarantee guarantee;
} setup;

/* With a root of its own: a ledger that could not be finished has taken a stream of its root's. */
static tacit_status hire(const tacit_agent_request *request, tacit_agent **out, tacit_error *err)
{
    SCOPED(tacit_noise) *noise = NULL;
    tacit_status status = tacit_noise_create_simulated(2, &noise);
    if (status != TACIT_OK)
        return status;
    status = tacit_agent_create(request, noise, out, err);
    return status;
}

static void run(life *l, const setup *s)
{
    const tacit_world_request world = {.kind = s->world, SETTINGS_OF(s->settings, s->n_settings)};
    TRY(l, tacit_world_create(&world, &l->world, &err));
    TRY(l, tacit_noise_create_simulated(1, &l->noise));
    TRY(l, tacit_rounds_create(l->world, l->noise, &l->rounds, &err));
    const tacit_world_facts *f = tacit_world_describe(l->world);
    const tacit_agent_request request = {SPACE_OF(f->n_states, f->n_actions, 1), .kind = s->agent,
                                         .guarantee = s->guarantee, .episodes = USERS,
                                         .bandit = f->bandit};
    TRY(l, hire(&request, &l->agent, &err));
    for (uint64_t t = 0; t < USERS && (f->people == 0 || t < f->people); t++) {
        tacit_billboard board;
        tacit_visitor v;
        uint32_t action;
        double probability;
        TRY(l, tacit_agent_plan(l->agent, &board, &err));
        assert_ok(tacit_rounds_begin(l->rounds, t, &v));
        const tacit_situation where = {.state = v.state, .features = v.features};
        TRY(l, tacit_agent_act(l->agent, &where, tacit_rounds_chance(l->rounds), &action,
                               &probability, &err));
        assert_ok(tacit_rounds_reward(l->rounds, action, &l->rewards[t]));
        const tacit_trajectory user = {STEPS_OF(&v.state, &action, &l->rewards[t]),
                                       .features = v.features};
        TRY(l, tacit_agent_learn(l->agent, &user, &err));
    }
}

static void end(life *l)
{
    tacit_agent_destroy(l->agent);
    tacit_rounds_destroy(l->rounds);
    tacit_world_destroy(l->world);
    tacit_noise_destroy(l->noise);
}

TEST(every_allocation_in_the_life_of_a_bandit_may_fail)
{
    static const tacit_guarantee none = {TACIT_MODEL_NONE, 0, 0},
                                 joint = {TACIT_MODEL_JOINT, 1, 1e-6},
                                 local = {TACIT_MODEL_LOCAL, 1, 1e-6};
#define LINEAR {SET("d", "3"), SET("contexts", "9")}, 2
#define DISJOINT {SET("d", "3"), SET("arms", "disjoint")}, 2
#define KERNEL {SET("contexts", "3"), SET("actions", "4")}, 2
#define UNKNOWN /* the law of contexts, which is another one in each phase */                      \
    {SET("d", "3"), SET("contexts", "9"), SET("phases", "2")}, 3
#define SCANNED                                                                                    \
    {SET("file", TACIT_TESTS_DIR "/cli/data/people.csv"), SET("context", "age, city, sex"),        \
     SET("answer", "income")},                                                                     \
        3
    const setup setups[] = {{"linear-bandit", "lin-ucb", LINEAR, none},
                            {"linear-bandit", "lin-ucb", LINEAR, joint},
                            {"linear-bandit", "lin-ucb", DISJOINT, local},
                            {"logged-bandit", "lin-ucb", SCANNED, joint},
                            {"linear-bandit", "explore-commit-features", LINEAR, none},
                            {"linear-bandit", "explore-commit-features", LINEAR, joint},
                            {"kernel-bandit", "capri", KERNEL, none},
                            {"kernel-bandit", "capri", KERNEL, joint},
                            {"kernel-bandit", "capri", KERNEL, local},
                            {"kernel-bandit", "posterior-kernel", KERNEL, none},
                            {"kernel-bandit", "posterior-kernel", KERNEL, joint},
                            {"linear-bandit", "posterior-kernel", UNKNOWN, joint},
                            {"kernel-bandit", "posterior-kernel", KERNEL, local},
                            {"kernel-bandit", "gp-ucb", KERNEL, none},
                            {"kernel-bandit", "kernel-elimination", KERNEL, none}};
    for (size_t i = 0; i < N_OF(setups); i++) {
        life calm = {0};
        run(&calm, &setups[i]);
        assert_true(calm.failures == 0);
        uint64_t n = 1;
        for (bool failed = true; failed; n++) {
            life troubled = {0};
            tacit__alloc_fail_at(n);
            run(&troubled, &setups[i]);
            failed = tacit__alloc_has_failed();
            tacit__alloc_fail_at(0);
            assert_true(troubled.failures == failed);
            assert_memory_equal(calm.rewards, troubled.rewards, sizeof calm.rewards);
            end(&troubled);
        }
        assert_true(n > 8);
        end(&calm);
    }
}
