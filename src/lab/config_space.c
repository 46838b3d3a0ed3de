/* See lab/config_space.h. */
#include "lab/config_space.h"

#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/settings.h"
#include "lab/public_tables.h"
#include "lab/space_names.h"
#include "lab/yaml_fields.h"

/* What is read by the table alone. */
typedef struct declared {
    uint64_t states, horizon;
    bool stationary, shared, simplex, complementary;
    double bound, parameter_norm, reward_low, reward_high;
    const char *kernel;
    size_t user;
} declared;

static const char *const users[] = {"optional", "required", NULL};
static const tacit__range lengths = {
    .high = 1e6, .open = true, .expected = "a number > 0 and up to 1000000"};

/* Stated choice: so far from the ends of the doubles that differences and halves are exact enough. */
static const tacit__range rewards = {
    .low = -1e12, .high = 1e12, .expected = "a number from -1e12 to below 1e12"};

#define AT(member) .offset = offsetof(declared, member)
static const tacit__field fields[] = {
    {"states", TACIT__FIELD_COUNT, AT(states), .low = 1, .high = 1000000},
    {"actions", TACIT__FIELD_OTHER, .parse = NULL}, /* a number, or names */
    {"horizon", TACIT__FIELD_COUNT, AT(horizon), .low = 1, .high = 10000},
    {"stationary", TACIT__FIELD_FLAG, AT(stationary)},
    {"features", TACIT__FIELD_OTHER, .parse = NULL}, /* a number, or a file */
    {"bound", TACIT__FIELD_REAL, AT(bound), .range = &lengths},
    {"shared", TACIT__FIELD_FLAG, AT(shared)},
    {"rewards", TACIT__FIELD_OTHER, .parse = NULL}, /* files */
    {"reward_low", TACIT__FIELD_REAL, AT(reward_low), .range = &rewards},
    {"reward_high", TACIT__FIELD_REAL, AT(reward_high), .range = &rewards},
    {"mixture", TACIT__FIELD_OTHER, .parse = NULL},
    {"kernel", TACIT__FIELD_TEXT, AT(kernel), .high = 128},
    {"context", TACIT__FIELD_OTHER, .parse = NULL}, /* a number, or named columns */
    {"weights", TACIT__FIELD_OTHER, .parse = NULL},
    {"simplex", TACIT__FIELD_FLAG, AT(simplex)},
    {"complementary", TACIT__FIELD_FLAG, AT(complementary)},
    {"parameter_norm", TACIT__FIELD_REAL, AT(parameter_norm), .range = &lengths},
    {"user", TACIT__FIELD_WORD, AT(user), .words = users}, /* whether they must say who they are */
    {"intercept", TACIT__FIELD_OTHER, .parse = NULL},      /* of named columns */
    {"unit", TACIT__FIELD_OTHER, .parse = NULL},
    {.name = NULL}};

/* The name of a file, if the key is there. */
static tacit_status read_file_name(const tacit__yaml *yaml, const tacit__node *map,
                                   tacit__table_name table, tacit__learner_config *l,
                                   tacit_error *err)
{
    const char *key = tacit__table_names[table];
    const tacit__node *node = tacit__node_get(map, key);
    if (node == NULL)
        return TACIT_OK;
    const tacit__field name = {key, TACIT__FIELD_TEXT, .high = 1024};
    l->files[table].line = node->line;
    return tacit__node_read(yaml, node, &name, &l->files[table].name, err);
}

/* `features: 20`, which users bring, or `features: FILE`, of numbered states. */
static tacit_status read_features(const tacit__yaml *yaml, const tacit__node *map,
                                  tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(map, "features");
    uint64_t n = 0;
    int64_t number;
    if (node == NULL)
        return TACIT_OK;
    bool counted =
        node->kind != TACIT__SCALAR || tacit__read_integer(node->text, strlen(node->text), &number);
    if (!counted)
        return read_file_name(yaml, map, TACIT__TABLE_FEATURES, l, err);
    static const tacit__field number_field = {"features", TACIT__FIELD_COUNT, .low = 1,
                                              .high = TACIT__MAX_FEATURES};
    tacit_status status = tacit__node_read(yaml, node, &number_field, &n, err);
    l->known.features = n;
    return status;
}

/* What is declared about rewards and features fits the space. The checks of agents (agents/agent.c), with
 * the line. */
static tacit_status check_declared(const tacit__yaml *yaml, const tacit__node *map,
                                   const tacit__learner_config *l, tacit_error *err)
{
    const tacit__known *k = &l->known;
    const tacit__node *simplex = tacit__node_get(map, "simplex"),
                      *bound = tacit__node_get(map, "bound"),
                      *complementary = tacit__node_get(map, "complementary"),
                      *norm = tacit__node_get(map, "parameter_norm");
    const bool table = l->files[TACIT__TABLE_FEATURES].name != NULL;
    const double low = l->request.reward_low,
                 high = low == 0 && l->request.reward_high == 0 ? 1 : l->request.reward_high;
    if (!(low < high)) {
        const tacit__node *node = tacit__node_get(map, "reward_low");
        return tacit__yaml_fail(yaml,
                                (node != NULL ? node : tacit__node_get(map, "reward_high"))->line,
                                err, TACIT_SYNTAX,
                                "rewards lie from %g to %g, expected the smaller number first; "
                                "unless given, reward_low is 0 and reward_high is 1",
                                low, high);
    }
    if (simplex != NULL && table)
        return tacit__yaml_fail(yaml, simplex->line, err, TACIT_SYNTAX,
                                "simplex is for features that users bring, features: N; whether "
                                "those of a file sum to 1 is looked up there: leave it out");
    if (simplex != NULL && !(k->features > 0 && l->request.horizon > 1))
        return tacit__yaml_fail(yaml, simplex->line, err, TACIT_SYNTAX,
                                "simplex is for features that users bring, features: N, and a "
                                "horizon from 2%s: leave it out",
                                k->features > 0 ? "; horizon is 1" : "");
    if (k->simplex && bound != NULL && k->bound != 1)
        return tacit__yaml_fail(yaml, bound->line, err, TACIT_SYNTAX,
                                "bound is %g, but features that sum to 1 (simplex: yes) are up to "
                                "1 long: leave bound out",
                                k->bound);
    if (k->complementary && !(k->disjoint && l->request.n_actions == 2))
        return tacit__yaml_fail(yaml, complementary->line, err, TACIT_SYNTAX,
                                "complementary: yes (two rewards that sum to 1) needs actions: 2 "
                                "and shared: no; actions is %zu, shared is %s",
                                l->request.n_actions, k->disjoint ? "no" : "yes");
    if (norm != NULL && !((k->features > 0 || table) && l->request.horizon == 1))
        return tacit__yaml_fail(yaml, norm->line, err, TACIT_SYNTAX,
                                "parameter_norm is for features and horizon 1: leave it out");
    return TACIT_OK;
}

/* Keys that must be there, and keys that exclude each other. */
static tacit_status check_keys(const tacit__yaml *yaml, const tacit__node *map,
                               const tacit__learner_config *l, tacit_error *err)
{
    const bool brought = l->known.features > 0, table = l->files[TACIT__TABLE_FEATURES].name;
    if (!brought && tacit__node_get(map, "states") == NULL)
        return tacit__map_missing(yaml, map, "states", "states: 6, or features: 20", err);
    if (tacit__node_get(map, "actions") == NULL)
        return tacit__map_missing(yaml, map, "actions", "actions: 2", err);
    if (!brought && tacit__node_get(map, "horizon") == NULL)
        return tacit__map_missing(yaml, map, "horizon", "horizon: 20", err);
    if (brought && tacit__node_get(map, "states") != NULL)
        return tacit__yaml_fail(yaml, map->line, err, TACIT_SYNTAX,
                                "a number of features is for users who bring them; features of "
                                "numbered states are in a file, features: FILE");
    for (size_t i = 0; i < TACIT__TABLE_FEATURES; i++)
        if (brought && l->files[i].name != NULL)
            return tacit__yaml_fail(yaml, l->files[i].line, err, TACIT_SYNTAX,
                                    "%s is for numbered states", tacit__table_names[i]);
    if (l->context.columns != NULL && l->request.horizon > 1)
        return tacit__yaml_fail(yaml, map->line, err, TACIT_SYNTAX,
                                "a context of named columns is for horizon 1, not %zu",
                                l->request.horizon);
    static const char *const of_tables[] = {"kernel", "context", "weights"};
    for (size_t i = 0; i < sizeof of_tables / sizeof *of_tables; i++) {
        const tacit__node *node = tacit__node_get(map, of_tables[i]);
        if (node != NULL && l->context.columns == NULL && !(table && l->request.horizon == 1))
            return tacit__yaml_fail(yaml, node->line, err, TACIT_SYNTAX,
                                    "%s is for horizon 1 and features in a file", of_tables[i]);
    }
    if (l->known.disjoint && !((brought || table) && l->request.horizon == 1))
        return tacit__yaml_fail(yaml, map->line, err, TACIT_SYNTAX,
                                "shared: no is for features and horizon 1");
    return check_declared(yaml, map, l, err);
}

/* What the table reads, and the number that `context` is unless it names columns. */
static tacit_status read_declared(const tacit__yaml *yaml, const tacit__node *map,
                                  tacit__learner_config *l, tacit_error *err)
{
    static const tacit__field of_context[] = {
        {"context", TACIT__FIELD_COUNT, 0, .low = 1, .high = TACIT__MAX_FEATURES}, {.name = NULL}};
    const bool named = l->context.columns != NULL, brought = l->known.features > 0;
    declared d = {.horizon = brought,
                  .shared = !named,
                  .bound = brought ? 1 : l->known.bound,
                  .reward_high = 1};
    uint64_t context = 0;
    tacit_status status = tacit__map_read(yaml, map, fields, &d, err);
    if (status == TACIT_OK && !named)
        status = tacit__map_read(yaml, map, of_context, &context, err);
    l->request.n_states = d.states;
    l->request.horizon = d.horizon;
    l->request.stationary = d.stationary || d.horizon == 1;
    if (d.reward_low != 0 || d.reward_high != 1) {
        l->request.reward_low = d.reward_low;
        l->request.reward_high = d.reward_high;
    }
    l->known.context = context;
    l->known.disjoint = !d.shared; /* features are the user's alone; every action learns its own */
    l->known.bound = d.bound;
    l->known.parameter_norm = d.parameter_norm;
    l->known.simplex = d.simplex;
    l->known.complementary = d.complementary;
    l->known.kernel = d.kernel;
    l->user_required = d.user == 1;
    return status;
}

tacit_status tacit__space_read(tacit__yaml *yaml, const tacit__node *map, tacit__learner_config *l,
                               tacit_error *err)
{
    static const tacit__table_name tables[] = {TACIT__TABLE_REWARDS, TACIT__TABLE_MIXTURE,
                                               TACIT__TABLE_WEIGHTS};
    tacit_status status = tacit__map_check(yaml, map, "space", fields, err);
    if (status == TACIT_OK)
        status = read_features(yaml, map, l, err);
    if (status == TACIT_OK)
        status = tacit__action_names_read_context(yaml, map, l, err);
    if (status == TACIT_OK)
        status = tacit__action_names_read_actions(yaml, map, l, err);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == TACIT_OK; i++)
        status = read_file_name(yaml, map, tables[i], l, err);
    if (status == TACIT_OK)
        status = read_declared(yaml, map, l, err);
    if (status == TACIT_OK)
        status = check_keys(yaml, map, l, err);
    l->request.file = tacit__yaml_name(yaml);
    l->per_user = tacit__known_per_user(&l->known, &l->request);
    return status;
}

tacit_status tacit__space_open(tacit__learner_config *l, tacit_error *err)
{
    TACIT__REQUIRE(l->request.n_actions > 0);
    for (size_t i = 0; i < TACIT__N_TABLES; i++) {
        if (l->files[i].name == NULL)
            continue;
        TRY(tacit__table_load(l, (tacit__table_name)i, err));
    }
    if (l->known.context > l->known.features)
        return tacit__fail_at(
            err, TACIT_SYNTAX, l->request.file, (size_t)l->files[TACIT__TABLE_FEATURES].line,
            "context is %zu, but there are %zu features", l->known.context, l->known.features);
    tacit__known_set_request(&l->known, &l->request);
    l->request.kind = l->kind;
    TRY(tacit_agent_choose(&l->request, &l->request.kind, err));
    l->chosen_only =
        l->per_user > 0 && l->request.bandit != NULL && tacit__agent_chosen_only(l->request.kind);
    return TACIT_OK;
}
