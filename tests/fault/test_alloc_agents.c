/* Memory that runs out: every allocation in the making of a bandit world, of its rounds and of every learner that takes it fails
 * once. The call says NO_MEMORY and gives nothing; made again, it succeeds, and what follows is as if nothing had happened. */
#include "support/again.h"
#include "support/check.h"

#include <tacit/agent.h>
#include <tacit/world.h>

#include "base/memory.h"
#include "support/small_agents.h"
#include "support/world.h"

enum { USERS = 30 };

typedef struct life {
    tacit_world *world;
    tacit_rounds *rounds;
    tacit_agent *agent;
    tacit_noise *noise;
    unsigned failures;
    double rewards[USERS];
} life;

typedef struct setup {
    const char *world;
    tacit_setting settings[3];
    size_t n_settings;
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

static tacit_agent_request request_of(const tacit_world_facts *f, const kind_in_model *k)
{
    return (tacit_agent_request){SPACE_OF(f->n_states, f->n_actions, 1), .kind = k->kind->name,
                                 .guarantee = guarantee_in(k->model, 1, 1e-6), .episodes = USERS,
                                 .bandit = f->bandit};
}

/* Whether the learner is one for bandits, which takes no space without one, and takes this world. */
static bool takes(const setup *s, const kind_in_model *k)
{
    const tacit_world_facts small = {.n_states = 2, .n_actions = 2};
    const tacit_agent_request no_bandit = request_of(&small, k);
    SCOPED(tacit_agent) *agent = NULL;
    if (hire(&no_bandit, &agent, NULL) == TACIT_OK)
        return false;
    SCOPED(tacit_world) *world = world_of(s->world, s->settings, s->n_settings);
    const tacit_agent_request request = request_of(tacit_world_describe(world), k);
    return hire(&request, &agent, NULL) == TACIT_OK;
}

static void run(life *l, const setup *s, const kind_in_model *k)
{
    const tacit_world_request world = {.kind = s->world, SETTINGS_OF(s->settings, s->n_settings)};
    TRY(l, tacit_world_create(&world, &l->world, &err));
    TRY(l, tacit_noise_create_simulated(1, &l->noise));
    TRY(l, tacit_rounds_create(l->world, l->noise, &l->rounds, &err));
    const tacit_world_facts *f = tacit_world_describe(l->world);
    const tacit_agent_request request = request_of(f, k);
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

static void fail_everywhere(const setup *s, const kind_in_model *k)
{
    life calm = {0};
    run(&calm, s, k);
    assert_true(calm.failures == 0);
    uint64_t n = 1;
    for (bool failed = true; failed; n++) {
        life troubled = {0};
        tacit__alloc_fail_at(n);
        run(&troubled, s, k);
        failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        assert_true(troubled.failures == failed);
        assert_memory_equal(calm.rewards, troubled.rewards, sizeof calm.rewards);
        end(&troubled);
    }
    assert_true(n > 8);
    end(&calm);
}

TEST(every_allocation_in_the_life_of_a_bandit_may_fail)
{
    static const setup setups[] = {
        {"linear-bandit", {SET("d", "3"), SET("contexts", "9")}, 2},
        {"linear-bandit", {SET("d", "3"), SET("arms", "disjoint")}, 2},
        {"kernel-bandit", {SET("contexts", "3"), SET("actions", "4")}, 2},
        /* the law of contexts is another one in each phase */
        {"linear-bandit", {SET("d", "3"), SET("contexts", "9"), SET("phases", "2")}, 3},
        {"logged-bandit",
         {SET("file", TACIT_TESTS_DIR "/cli/data/people.csv"), SET("context", "age, city, sex"),
          SET("answer", "income")},
         3}};
    for (size_t i = 0; i < N_OF(setups); i++) {
        kind_in_model k;
        size_t learners = 0;
        for (size_t j = 0; kind_in_model_at(NULL, j, &k); j++)
            if (takes(&setups[i], &k)) {
                fail_everywhere(&setups[i], &k);
                learners++;
            }
        assert_true(learners >= 3);
    }
}

TEST(every_allocation_in_the_making_of_a_learner_may_fail)
{
    static small_agent agents[SMALL_MOST];
    const size_t n = small_agents_fill(NULL, 0, agents);
    for (size_t i = 0; i < n; i++) {
        SCOPED(tacit_agent) *agent = NULL;
        assert_survives_no_memory(small_agent_create(&agents[i], SMALL_STEPS, 8, &agent, NULL),
                                  assert_null(agent));
    }
}
