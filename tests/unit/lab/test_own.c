/* Worlds and agents of the program: known by name, checked like the library's, refused where they would not fit. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>

static const tacit_parameter parameters[] = {
    {"length", TACIT_PARAMETER_INTEGER, "3", 2, 9, "states in a row"},
    {"broken", TACIT_PARAMETER_FLAG, "no", 0, 0, "probabilities that do not sum to 1"},
};
static const tacit_world_kind corridor = {"corridor", "a row of states", "this test", parameters,
                                          2};

typedef struct corridor_world {
    uint32_t length;
    bool broken;
} corridor_world;

static int n_released;

static void release(void *context)
{
    n_released++;
    free(context);
}

/* Action 1 goes on, and pays at the end. */
static size_t row(void *context, size_t step, uint32_t state, uint32_t action, tacit_outcome *out)
{
    const corridor_world *c = context;
    bool last = state + 1 == c->length;
    assert_int_equal(step, 0);
    out[0] = (tacit_outcome){action == 1 && !last ? state + 1 : state, c->broken ? 0.5 : 1,
                             action == 1 && last ? 2 : -1};
    return 1;
}

static tacit_status make(const tacit_value *values, tacit_process *out, tacit_error *err)
{
    (void)err;
    if (values[0].integer == 9)
        return TACIT_UNSUPPORTED;
    corridor_world *c = malloc(sizeof *c);
    assert_non_null(c);
    *c = (corridor_world){(uint32_t)values[0].integer, values[1].flag};
    *out = (tacit_process){SPACE_OF(c->length, 2, 4),
                           .stationary = true,
                           .reward_low = -1,
                           .reward_high = 2,
                           .row_max = 1,
                           .row = row,
                           .context = c,
                           .release = release};
    return TACIT_OK;
}

static tacit_status create_world(const char *length, const char *broken, tacit_world **out,
                                 tacit_error *err)
{
    const tacit_setting settings[] = {{"length", length, 4}, {"broken", broken, 5}};
    const tacit_world_request request = {SETTINGS_OF(settings, 2), .kind = "corridor", .file = "f",
                                         .line = 3};
    return tacit_world_create(&request, out, err);
}

TEST(a_world_of_ones_own_is_a_world)
{
    tacit_error err;
    tacit_world *world = NULL;
    size_t before = tacit_world_kind_count();
    assert_ok(tacit_world_register(&corridor, make, &err));
    assert_int_equal(tacit_world_kind_count(), before + 1);
    assert_string_equal(tacit_world_kind_at(before)->name, "corridor");
    assert_null(tacit_world_kind_at(before + 1));
    assert_status(tacit_world_register(&corridor, make, &err), TACIT_EXISTS);
    assert_ok(create_world("3", "no", &world, &err));
    assert_int_equal(n_released, 1);
    /* -1 on each of two steps to the end, then 2 twice. */
    const tacit_world_facts *facts = tacit_world_describe(world);
    assert_close(tacit_world_original_value(world, facts->optimal_value), 2, 1e-12);
    assert_ptr_equal(facts->kind, tacit_world_kind_find("corridor"));
    tacit_world_destroy(world);
    world = NULL;
    assert_status(create_world("1", "no", &world, &err), TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message, "f:4: length is '1', expected a whole number from 2 to 9");
    assert_status(create_world("3", "yes", &world, &err), TACIT_BAD_ARGUMENT);
    assert_ptr_equal(strstr(err.message, "f:3: corridor: step 0, state 0, action 0: prob"),
                     err.message);
    assert_int_equal(n_released, 2);
    assert_status(create_world("9", "no", &world, &err), TACIT_UNSUPPORTED);
    assert_string_equal(err.message, "f:3: corridor: this combination does not exist");
    assert_null(world);
}

TEST(names_and_parts_of_worlds_are_checked)
{
    tacit_error err;
    const tacit_world_kind bad_names[] = {
        {"", "h", "s", NULL, 0},   {"Big", "h", "s", NULL, 0}, {"two words", "h", "s", NULL, 0},
        {NULL, "h", "s", NULL, 0}, {"x", NULL, "s", NULL, 0},  {"x", "h", "s", NULL, 3}};
    for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++)
        assert_status(tacit_world_register(&bad_names[i], make, &err), TACIT_BAD_ARGUMENT);
    const tacit_world_kind taken = {"riverswim", "h", "s", NULL, 0},
                           many = {"many", "h", "s", parameters, 25};
    assert_status(tacit_world_register(&taken, make, &err), TACIT_EXISTS);
    assert_status(tacit_world_register(&many, make, &err), TACIT_TOO_LARGE);
    assert_status(tacit_world_register(&corridor, NULL, &err), TACIT_BAD_ARGUMENT);
}

/* --- Agents -------------------------------------------------------------------------------------- */

/* Always the same action; what is wrong with it is a parameter. */
static const tacit_parameter stubborn_parameters[] = {
    {"action", TACIT_PARAMETER_INTEGER, "0", 0, 9, "the action"},
    {"mood", TACIT_PARAMETER_TEXT, "good", 0, 0, "what goes wrong"},
};
static const tacit_agent_kind stubborn = {.name = "stubborn",
                                          .help = "the same action",
                                          .source = "this test",
                                          .models = TACIT_AGENT_NONE | TACIT_AGENT_JOINT,
                                          .parameters = stubborn_parameters,
                                          .n_parameters = 2};

typedef struct stubborn_agent {
    uint32_t policy[64];
    const char *mood;
} stubborn_agent;

static tacit_status create(const tacit_agent_request *request, const tacit_value *values,
                           tacit_noise *noise, void **out, tacit_error *err)
{
    (void)noise;
    (void)err;
    stubborn_agent *agent = calloc(1, sizeof *agent);
    assert_non_null(agent);
    assert_true(request->horizon * request->n_states <= 64);
    for (size_t i = 0; i < 64; i++)
        agent->policy[i] = (uint32_t)values[0].integer;
    agent->mood = strcmp(values[1].text, "bad") == 0 ? "bad" : "good";
    *out = agent;
    return TACIT_OK;
}

static tacit_status plan(void *self, tacit_billboard *out, tacit_error *err)
{
    stubborn_agent *agent = self;
    (void)err;
    out->policy = strcmp(agent->mood, "bad") == 0 ? NULL : agent->policy;
    return TACIT_OK;
}

static tacit_status learn(void *self, const tacit_trajectory *user, tacit_error *err)
{
    (void)self;
    (void)user;
    (void)err;
    return TACIT_OK;
}

static tacit_ledger *no_ledger(const void *self)
{
    (void)self;
    return NULL;
}

static const tacit_agent_methods methods = {
    .create = create, .destroy = free, .plan = plan, .learn = learn, .ledger = no_ledger};

static tacit_status run(const char *agent, double *regret, tacit_error *err)
{
    char text[256] = "world: {kind: riverswim, states: 3, horizon: 4}\nepisodes: 10\nagents: [";
    SCOPED(tacit_experiment) *e = NULL;
    SCOPED(tacit_results) *r = NULL;
    (void)strncat(text, agent, sizeof text - strlen(text) - 3);
    (void)strcat(text, "]\n");
    tacit_status status = tacit_experiment_parse(text, strlen(text), "f", NULL, &e, err);
    if (status == TACIT_OK)
        status = tacit_lab_run(e, NULL, &r, err);
    if (status == TACIT_OK)
        *regret = tacit_results_summary(r, 0, 0).regret_mean;
    return status;
}

TEST(an_agent_of_ones_own_is_an_agent)
{
    tacit_error err;
    double left = 0, right = 0, constant = 0;
    assert_status(run("{kind: stubborn}", &left, &err), TACIT_SYNTAX);
    assert_ok(tacit_agent_register(&stubborn, &methods, &err));
    assert_status(tacit_agent_register(&stubborn, &methods, &err), TACIT_EXISTS);
    assert_ok(run("{kind: stubborn}", &left, &err));
    assert_ok(run("{kind: stubborn, action: 1}", &right, &err));
    assert_ok(run("{kind: constant}", &constant, &err));
    assert_true((left < right ? left : right) == constant);
    assert_status(run("{kind: stubborn, action: 7}", &left, &err), TACIT_BAD_ARGUMENT);
    assert_status(run("{kind: stubborn, acton: 1}", &left, &err), TACIT_SYNTAX);
    assert_status(run("{kind: stubborn, action: 12}", &left, &err), TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message, "f:3: action is '12', expected a whole number from 0 to 9");
    assert_status(run("{kind: stubborn, mood: bad}", &left, &err), TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "a billboard needs a policy or a mixed one"));
    /* A promise without a ledger is none. */
    assert_status(run("{kind: stubborn, privacy: {model: joint, epsilon: 1}}", &left, &err),
                  TACIT_BAD_PLAN);
    assert_status(run("{kind: stubborn, privacy: {model: local, epsilon: 1}}", &left, &err),
                  TACIT_UNSUPPORTED);
}

TEST(parts_of_agents_are_checked)
{
    tacit_error err;
    tacit_agent_methods part = methods;
    tacit_agent_kind kind = stubborn;
    kind.name = "other";
    part.ledger = NULL;
    assert_status(tacit_agent_register(&kind, &part, &err), TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, "needs a ledger"));
    part = methods;
    part.plan = NULL;
    assert_status(tacit_agent_register(&kind, &part, &err), TACIT_BAD_ARGUMENT);
    kind.name = "No Name";
    assert_status(tacit_agent_register(&kind, &methods, &err), TACIT_BAD_ARGUMENT);
    kind.name = "ucbvi";
    assert_status(tacit_agent_register(&kind, &methods, &err), TACIT_EXISTS);
    kind.name = "many";
    kind.n_parameters = 33;
    assert_status(tacit_agent_register(&kind, &methods, &err), TACIT_TOO_LARGE);
    assert_status(tacit_agent_register(NULL, &methods, &err), TACIT_BAD_ARGUMENT);
}
