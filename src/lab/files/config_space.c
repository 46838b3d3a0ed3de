/* See lab/files/config_space.h. */
#include "lab/files/config_space.h"

#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "lab/files/public_tables.h"
#include "lab/files/space_names.h"
#include "lab/files/yaml_fields.h"
#include "text/settings.h"

/* The fields that the table reads by itself. */
typedef struct declared {
    uint64_t states, horizon;
    bool stationary, shared, simplex, complementary, user, intercept, unit;
    double bound, parameter_norm, reward_low, reward_high;
    const char *kernel, *files[TACIT__N_TABLES];
} declared;

static const char *const users[] = {"optional", "required", NULL};
static const tacit__range lengths = {
    .high = 1e6, .open = true, .expected = "a number > 0 and up to 1000000"};

/* Stated choice: so far from the ends of the doubles that differences and halves are exact enough. */
static const tacit__range rewards = {
    .low = -1e12, .high = 1e12, .expected = "a number from -1e12 to below 1e12"};

#define AT(member) .offset = offsetof(declared, member)
#define TABLE(name, table)                                                                         \
    {                                                                                              \
        name, TACIT__FIELD_TEXT, AT(files[table]), .high = 1024                                    \
    }
const tacit__field tacit__space_fields[] = {
    {"states", TACIT__FIELD_COUNT, AT(states), .low = 1, .high = 1000000},
    {"actions", TACIT__FIELD_OTHER, .example = "actions: 2"}, /* a number, or names */
    {"horizon", TACIT__FIELD_COUNT, AT(horizon), .low = 1, .high = 10000},
    {"stationary", TACIT__FIELD_FLAG, AT(stationary), .fallback = "no"},
    {"features", TACIT__FIELD_OTHER, .parse = NULL}, /* a number, or a file */
    {"bound", TACIT__FIELD_REAL, AT(bound), .range = &lengths},
    {"shared", TACIT__FIELD_FLAG, AT(shared), .fallback = "yes"},
    TABLE("rewards", TACIT__TABLE_REWARDS),
    {"reward_low", TACIT__FIELD_REAL, AT(reward_low), .range = &rewards, .fallback = "0"},
    {"reward_high", TACIT__FIELD_REAL, AT(reward_high), .range = &rewards, .fallback = "1"},
    TABLE("mixture", TACIT__TABLE_MIXTURE),
    {"kernel", TACIT__FIELD_TEXT, AT(kernel), .high = 128},
    {"context", TACIT__FIELD_OTHER, .parse = NULL}, /* a number, or named columns */
    TABLE("weights", TACIT__TABLE_WEIGHTS),
    {"simplex", TACIT__FIELD_FLAG, AT(simplex), .fallback = "no"},
    {"complementary", TACIT__FIELD_FLAG, AT(complementary), .fallback = "no"},
    {"parameter_norm", TACIT__FIELD_REAL, AT(parameter_norm), .range = &lengths},
    {"user", TACIT__FIELD_FLAG, AT(user), .words = users, .fallback = "optional"},
    {"intercept", TACIT__FIELD_FLAG, AT(intercept), .fallback = "yes"}, /* of named columns */
    {"unit", TACIT__FIELD_FLAG, AT(unit), .fallback = "yes"},
    {.name = NULL}};

static const tacit__field a_file = {"features", TACIT__FIELD_TEXT, .high = 1024},
                          a_count = {"features", TACIT__FIELD_COUNT, 0, 1,
                                     .high = TACIT__MAX_FEATURES},
                          a_context = {"context", TACIT__FIELD_COUNT, 0, 1,
                                       .high = TACIT__MAX_FEATURES};

/* `features: 20`, which users bring, or `features: FILE`, of numbered states. */
static tacit_status read_features(const tacit__node *node, tacit__learner_config *l,
                                  tacit_error *err)
{
    uint64_t n = 0;
    int64_t number;
    if (node->kind == TACIT__SCALAR &&
        !tacit__read_integer(node->text, strlen(node->text), &number))
        return tacit__node_read(node, &a_file, &l->files[TACIT__TABLE_FEATURES].name, err);
    TRY(tacit__node_read(node, &a_count, &n, err));
    l->known.features = n;
    return TACIT_OK;
}

/* Checks that what is declared about rewards and features fits the space. The checks of agents
 * (agents/agent.c), with the line. */
static tacit_status check_declared(const tacit__node *map, const tacit__learner_config *l,
                                   tacit_error *err)
{
    const tacit__world_tables *k = &l->known;
    const tacit__node *simplex = tacit__node_get(map, "simplex"),
                      *bound = tacit__node_get(map, "bound"),
                      *complementary = tacit__node_get(map, "complementary"),
                      *norm = tacit__node_get(map, "parameter_norm");
    const bool table = l->files[TACIT__TABLE_FEATURES].name != NULL;
    const double low = l->request.reward_low,
                 high = low == 0 && l->request.reward_high == 0 ? 1 : l->request.reward_high;
    if (!(low < high)) {
        const tacit__node *node = tacit__node_get(map, "reward_low");
        return tacit__node_fail(node != NULL ? node : tacit__node_get(map, "reward_high"), err,
                                "rewards lie from %g to %g, expected the smaller number first; "
                                "unless given, reward_low is 0 and reward_high is 1",
                                low, high);
    }
    if (simplex != NULL && table)
        return tacit__node_fail(simplex, err,
                                "simplex is for features that users bring, features: N; whether "
                                "those of a file sum to 1 is looked up there: leave it out");
    if (simplex != NULL && !(k->features > 0 && l->request.horizon > 1))
        return tacit__node_fail(simplex, err,
                                "simplex is for features that users bring, features: N, and a "
                                "horizon from 2%s: leave it out",
                                k->features > 0 ? "; horizon is 1" : "");
    if (k->simplex && bound != NULL && k->bound != 1)
        return tacit__node_fail(bound, err,
                                "bound is %g, but features that sum to 1 (simplex: yes) are up to "
                                "1 long: leave bound out",
                                k->bound);
    if (k->complementary && !(k->disjoint && l->request.n_actions == 2))
        return tacit__node_fail(complementary, err,
                                "complementary: yes (two rewards that sum to 1) needs actions: 2 "
                                "and shared: no; actions is %zu, shared is %s",
                                l->request.n_actions, k->disjoint ? "no" : "yes");
    if (norm != NULL && !((k->features > 0 || table) && l->request.horizon == 1))
        return tacit__node_fail(norm, err,
                                "parameter_norm is for features and horizon 1: leave it out");
    return TACIT_OK;
}

/* Keys that must be there, and keys that exclude each other. */
static tacit_status check_keys(const tacit__node *map, const tacit__learner_config *l,
                               tacit_error *err)
{
    const bool brought = l->known.features > 0, table = l->files[TACIT__TABLE_FEATURES].name;
    if (!brought && tacit__node_get(map, "states") == NULL)
        return tacit__map_missing(map, "space", "states", "states: 6, or features: 20", err);
    if (!brought && tacit__node_get(map, "horizon") == NULL)
        return tacit__map_missing(map, "space", "horizon", "horizon: 20", err);
    if (brought && tacit__node_get(map, "states") != NULL)
        return tacit__node_fail(map, err,
                                "a number of features is for users who bring them; features of "
                                "numbered states are in a file, features: FILE");
    for (size_t i = 0; i < TACIT__TABLE_FEATURES; i++)
        if (brought && l->files[i].name != NULL)
            return tacit__node_fail(tacit__node_get(map, tacit__table_names[i]), err,
                                    "%s is for numbered states", tacit__table_names[i]);
    if (l->context.columns != NULL && l->request.horizon > 1)
        return tacit__node_fail(map, err, "a context of named columns is for horizon 1, not %zu",
                                l->request.horizon);
    static const char *const of_tables[] = {"kernel", "context", "weights"};
    for (size_t i = 0; i < sizeof of_tables / sizeof *of_tables; i++) {
        const tacit__node *node = tacit__node_get(map, of_tables[i]);
        if (node != NULL && l->context.columns == NULL && !(table && l->request.horizon == 1))
            return tacit__node_fail(node, err, "%s is for horizon 1 and features in a file",
                                    of_tables[i]);
    }
    if (l->known.disjoint && !((brought || table) && l->request.horizon == 1))
        return tacit__node_fail(map, err, "shared: no is for features and horizon 1");
    return check_declared(map, l, err);
}

/* Takes over what the table has read; it is known whether users bring features, and whether columns
 * have names. */
static void keep(const declared *d, const tacit__node *map, tacit__learner_config *l)
{
    const bool named = l->context.columns != NULL, brought = l->known.features > 0;
    l->request.n_states = d->states;
    l->request.horizon = d->horizon > 0 ? d->horizon : brought;
    l->request.stationary = d->stationary || l->request.horizon == 1;
    if (d->reward_low != 0 || d->reward_high != 1) {
        l->request.reward_low = d->reward_low;
        l->request.reward_high = d->reward_high;
    }
    l->known.disjoint = named || !d->shared; /* the user's alone; every action learns its own */
    l->known.bound = d->bound > 0 ? d->bound : brought;
    l->known.parameter_norm = d->parameter_norm;
    l->known.simplex = d->simplex;
    l->known.complementary = d->complementary;
    l->known.kernel = d->kernel;
    l->user_required = d->user;
    for (size_t i = 0; i < TACIT__N_TABLES; i++) {
        const tacit__node *node = tacit__node_get(map, tacit__table_names[i]);
        l->files[i].line = node != NULL ? node->line : 0;
        if (d->files[i] != NULL)
            l->files[i].name = d->files[i];
    }
}

tacit_status tacit__space_read(const tacit__node *map, tacit__learner_config *l, tacit_error *err)
{
    declared d = {0};
    uint64_t n = 0;
    TRY(tacit__map_read(map, "space", tacit__space_fields, &d, err));
    const tacit__node *features = tacit__node_get(map, "features"),
                      *context = tacit__node_get(map, "context");
    if (features != NULL)
        TRY(read_features(features, l, err));
    l->context.intercept = d.intercept;
    l->context.unit = d.unit;
    TRY(tacit__action_names_read_context(map, l, err));
    if (l->context.columns == NULL) {
        l->context.intercept = l->context.unit = false;
        if (context != NULL)
            TRY(tacit__node_read(context, &a_context, &n, err));
    }
    l->known.context = n;
    TRY(tacit__action_names_read_actions(map, l, err));
    keep(&d, map, l);
    TRY(check_keys(map, l, err));
    l->request.file = tacit__yaml_name(map->yaml);
    l->per_user = tacit__world_tables_per_user(&l->known, &l->request);
    return TACIT_OK;
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
    tacit__world_tables_set_request(&l->known, &l->request);
    l->request.kind = l->kind;
    TRY(tacit_agent_choose(&l->request, &l->request.kind, err));
    l->chosen_only =
        l->per_user > 0 && l->request.bandit != NULL && tacit__agent_chosen_only(l->request.kind);
    return TACIT_OK;
}
