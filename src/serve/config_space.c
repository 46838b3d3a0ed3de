/* See serve/config_space.h. */
#include "serve/config_space.h"

#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/settings.h"
#include "serve/fields.h"
#include "serve/names.h"
#include "serve/public_tables.h"

static const char *const space_keys[] = {
    "states",  "actions",       "horizon",        "stationary", "features",  "bound",
    "shared",  "rewards",       "mixture",        "kernel",     "context",   "weights",
    "simplex", "complementary", "parameter_norm", "user",       "intercept", "unit"};

/* The name of a file, if the key is there. */
static tacit_status read_file_name(const tacit__yaml *yaml, const tacit__node *map,
                                   tacit__table_name table, tacit__learner_config *l,
                                   tacit_error *err)
{
    const char *key = tacit__table_names[table];
    const tacit__node *node = tacit__node_get(map, key);
    if (node == NULL)
        return TACIT_OK;
    l->files[table].line = node->line;
    return tacit__take_text(yaml, node, key, 1024, &l->files[table].name, err);
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
    tacit_status status =
        tacit__take_count(yaml, node, "features", 1, TACIT__MAX_FEATURES, &n, err);
    l->known.features = n;
    return status;
}

/* What is declared about rewards and features fits the space. The checks of agents (agents/agent.c), with the line. */
static tacit_status check_declared(const tacit__yaml *yaml, const tacit__node *map,
                                   const tacit__learner_config *l, tacit_error *err)
{
    const tacit__known *k = &l->known;
    const tacit__node *simplex = tacit__node_get(map, "simplex"),
                      *bound = tacit__node_get(map, "bound"),
                      *complementary = tacit__node_get(map, "complementary"),
                      *norm = tacit__node_get(map, "parameter_norm");
    const bool table = l->files[TACIT__TABLE_FEATURES].name != NULL;
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
        return tacit__field_missing(yaml, map, "states", "states: 6, or features: 20", err);
    if (tacit__node_get(map, "actions") == NULL)
        return tacit__field_missing(yaml, map, "actions", "actions: 2", err);
    if (!brought && tacit__node_get(map, "horizon") == NULL)
        return tacit__field_missing(yaml, map, "horizon", "horizon: 20", err);
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
    for (size_t i = 0; i < TACIT__COUNT(of_tables); i++) {
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

static tacit_status read_sizes(const tacit__yaml *yaml, const tacit__node *map,
                               tacit__learner_config *l, tacit_error *err)
{
    const bool named = l->context.columns != NULL;
    uint64_t states = 0, horizon = l->known.features > 0, context = 0;
    bool stationary = false, shared = !named;
    tacit_status status = tacit__field_count(yaml, map, "states", 1, 1000000, &states, err);
    if (status == TACIT_OK)
        status = tacit__field_count(yaml, map, "horizon", 1, 10000, &horizon, err);
    if (status == TACIT_OK && !named)
        status = tacit__field_count(yaml, map, "context", 1, TACIT__MAX_FEATURES, &context, err);
    if (status == TACIT_OK)
        status = tacit__field_flag(yaml, map, "stationary", &stationary, err);
    if (status == TACIT_OK)
        status = tacit__field_flag(yaml, map, "shared", &shared, err);
    l->request.n_states = states;
    l->request.horizon = horizon;
    l->request.stationary = stationary || horizon == 1;
    l->known.context = context;
    l->known.disjoint =
        !shared; /* the features are the user's alone; every action learns its own */
    return status;
}

/* How long features and parameters can be, and what else is declared of them. */
static tacit_status read_bounds(const tacit__yaml *yaml, const tacit__node *map,
                                tacit__learner_config *l, tacit_error *err)
{
    static const tacit__range bounds = {
        .high = 1e6, .open = true, .expected = "a number > 0 and up to 1000000"};
    if (l->known.features > 0)
        l->known.bound = 1;
    const struct {
        const char *key;
        double *out;
    } numbers[] = {{"bound", &l->known.bound}, {"parameter_norm", &l->known.parameter_norm}};
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < TACIT__COUNT(numbers) && status == TACIT_OK; i++) {
        const tacit__node *node = tacit__node_get(map, numbers[i].key);
        if (node != NULL)
            status = tacit__take_real(yaml, node, numbers[i].key, &bounds, numbers[i].out, err);
    }
    if (status == TACIT_OK)
        status = tacit__field_flag(yaml, map, "simplex", &l->known.simplex, err);
    if (status == TACIT_OK)
        status = tacit__field_flag(yaml, map, "complementary", &l->known.complementary, err);
    return status;
}

/* Whether users must say who they are, so that nobody comes twice. */
static tacit_status read_user(const tacit__yaml *yaml, const tacit__node *map,
                              tacit__learner_config *l, tacit_error *err)
{
    static const char *const words[] = {"optional", "required", NULL};
    const tacit__node *node = tacit__node_get(map, "user");
    size_t word = 0;
    tacit_status status =
        node != NULL ? tacit__take_word(yaml, node, "user", words, &word, err) : TACIT_OK;
    l->user_required = word == 1;
    return status;
}

tacit_status tacit__space_read(tacit__yaml *yaml, const tacit__node *learner,
                               tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *map = tacit__node_get(learner, "space"), *node;
    if (map == NULL)
        return tacit__field_missing(yaml, learner, "space",
                                    "space: {states: 6, actions: 2, horizon: 20}", err);
    tacit_status status =
        tacit__field_map(yaml, map, "space", space_keys, TACIT__COUNT(space_keys), err);
    if (status == TACIT_OK)
        status = read_features(yaml, map, l, err);
    if (status == TACIT_OK)
        status = tacit__names_read_context(yaml, map, l, err);
    if (status == TACIT_OK)
        status = tacit__names_read_actions(yaml, map, l, err);
    if (status == TACIT_OK)
        status = read_user(yaml, map, l, err);
    if (status == TACIT_OK)
        status = read_file_name(yaml, map, TACIT__TABLE_REWARDS, l, err);
    if (status == TACIT_OK)
        status = read_file_name(yaml, map, TACIT__TABLE_MIXTURE, l, err);
    if (status == TACIT_OK)
        status = read_file_name(yaml, map, TACIT__TABLE_WEIGHTS, l, err);
    if (status == TACIT_OK && (node = tacit__node_get(map, "kernel")) != NULL)
        status = tacit__take_text(yaml, node, "kernel", 128, &l->known.kernel, err);
    if (status == TACIT_OK)
        status = read_sizes(yaml, map, l, err);
    if (status == TACIT_OK)
        status = read_bounds(yaml, map, l, err);
    if (status == TACIT_OK)
        status = check_keys(yaml, map, l, err);
    l->request.file = tacit__yaml_name(yaml);
    l->per_user = tacit__known_per_user(&l->known, &l->request);
    return status;
}

tacit_status tacit__space_open(tacit__learner_config *l, tacit_error *err)
{
    for (size_t i = 0; i < TACIT__N_TABLES; i++) {
        if (l->files[i].name == NULL)
            continue;
        tacit_status status = tacit__table_load(l, (tacit__table_name)i, err);
        if (status != TACIT_OK)
            return status;
    }
    if (l->known.context > l->known.features)
        return tacit__fail_at(
            err, TACIT_SYNTAX, l->request.file, (size_t)l->files[TACIT__TABLE_FEATURES].line,
            "context is %zu, but there are %zu features", l->known.context, l->known.features);
    tacit__known_tell(&l->known, &l->request);
    l->chosen_only =
        l->per_user > 0 && l->request.bandit != NULL && tacit__agent_chosen_only(l->request.kind);
    return TACIT_OK;
}
