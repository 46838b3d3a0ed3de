/* One learner of a service file. See serve/config.h and docs/reference/service.md. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/settings.h"
#include "lab/config_space.h"
#include "lab/experiment.h"
#include "serve/config_learner.h"

static const tacit__field learner_fields[] = {
    {"name", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, name), .high = TACIT__MAX_NAME,
     .example = "name: river"},
    {"space", TACIT__FIELD_OTHER, .example = "space: {states: 6, actions: 2, horizon: 20}"},
    {"users", TACIT__FIELD_COUNT, offsetof(tacit__learner_config, request.episodes), .low = 1,
     .high = TACIT_MAX_EPISODES, .example = "users: 100000"},
    {"agent", TACIT__FIELD_OTHER,
     .example = "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"},
    {"plan_every", TACIT__FIELD_COUNT, offsetof(tacit__learner_config, plan_every), .low = 1,
     .high = 1000000},
    {"monitor", TACIT__FIELD_OTHER, .parse = NULL},
    {"log_decisions", TACIT__FIELD_FLAG, .offset = offsetof(tacit__learner_config, log_decisions)},
    {"warm_start", TACIT__FIELD_OTHER, .parse = NULL},
    {.name = NULL}};

static const tacit__field warm_fields[] = {
    {"file", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, warm.file), .low = 1, .high = 1024,
     .example = "file: log.csv"},
    {"state", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, warm.state), .low = 1,
     .high = 256},
    {"action", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, warm.action), .low = 1,
     .high = 256},
    {"reward", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, warm.reward), .low = 1,
     .high = 256},
    {"propensity", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, warm.propensity), .low = 1,
     .high = 256},
    {"user", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, warm.user), .low = 1, .high = 256},
    {"missing", TACIT__FIELD_TEXT, offsetof(tacit__learner_config, warm.missing), .high = 256},
    {.name = NULL}};

typedef struct monitor {
    double epsilon, delta;
    bool large_delta; /* a delta above 1/users is meant */
} monitor;
static const tacit__range epsilons = {.high = HUGE_VAL, .expected = "a number >= 0"},
                          deltas = {.high = 1, .expected = "a number from 0 to below 1"};
static const tacit__field monitor_fields[] = {
    {"epsilon", TACIT__FIELD_REAL, offsetof(monitor, epsilon), .range = &epsilons,
     .example = "monitor: {epsilon: 0.1}"},
    {"delta", TACIT__FIELD_REAL, offsetof(monitor, delta), .range = &deltas},
    {"delta_above_one_over_users", TACIT__FIELD_FLAG, .offset = offsetof(monitor, large_delta)},
    {.name = NULL}};

typedef tacit__service_config config;

static tacit_status check_name(const config *c, const tacit__node *learner,
                               const tacit__learner_config *l, tacit_error *err)
{
    const int line = tacit__node_get(learner, "name")->line;
    if (!tacit__is_name(l->name))
        return tacit__yaml_fail(c->yaml, line, err, TACIT_SYNTAX,
                                "name is '%.64s', expected lowercase letters, digits, - and _",
                                l->name);
    for (const tacit__learner_config *other = c->learners; other < l; other++)
        if (strcmp(other->name, l->name) == 0)
            return tacit__yaml_fail(c->yaml, line, err, TACIT_SYNTAX,
                                    "two learners are called '%s'", l->name);
    return TACIT_OK;
}

/* A promise that the file does not state must not look like one. */
static tacit_status fail_unwritten(const config *c, const tacit__node *agent,
                                   const tacit_entry *entry, tacit_error *err)
{
    const tacit_agent_kind *kind = tacit_agent_kind_find(entry->kind);
    const unsigned models = (kind != NULL ? kind : tacit_agent_alias_find(entry->kind))->models;
    const char *model = models & (TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT)   ? "joint"
                        : models & (TACIT_AGENT_LOCAL_PURE | TACIT_AGENT_LOCAL) ? "local"
                                                                                : NULL;
    if (model == NULL)
        return tacit__yaml_fail(c->yaml, agent->line, err, TACIT_SYNTAX,
                                "the agent has no 'privacy', and %s cannot be private: write "
                                "privacy: {model: none} if that is intended",
                                entry->kind);
    return tacit__yaml_fail(
        c->yaml, agent->line, err, TACIT_SYNTAX,
        "the agent has no 'privacy': write privacy: {model: %s, epsilon: 1}%s", model,
        models & TACIT_AGENT_NONE ? ", or privacy: {model: none} if you want no guarantee" : "");
}

static tacit_status read_agent(const config *c, const tacit__node *learner,
                               tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(learner, "agent");
    tacit_experiment part = {.yaml = c->yaml, .facts = {.episodes = l->request.episodes}};
    tacit_entry entry;
    TRY(tacit__entry_read_one(&part, node, &entry, err));
    if (entry.yardstick)
        return tacit__yaml_fail(c->yaml, node->line, err, TACIT_UNSUPPORTED,
                                "%s does not learn; `tacit agents` lists those that do",
                                entry.kind);
    if (!entry.privacy_written)
        return fail_unwritten(c, node, &entry, err);
    if (entry.delta_too_large)
        return tacit__entry_fail_delta(c->yaml, tacit__node_get(node, "privacy"), "privacy",
                                       entry.guarantee.delta, l->request.episodes, err);
    if (entry.calibration != TACIT_CALIBRATION_TIGHT)
        return tacit__yaml_fail(c->yaml, node->line, err, TACIT_UNSUPPORTED,
                                "published constants are for simulations; a service with real "
                                "users needs calibration: tight");
    tacit__entry_set_request(&entry, &l->request);
    l->kind = entry.kind;
    l->request.apart = entry.visits > 1 && entry.apart == 0 ? 1 : entry.apart;
    l->request.file = tacit__yaml_name(c->yaml);
    return TACIT_OK;
}

static tacit_status read_monitor(const config *c, const tacit__node *learner,
                                 tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(learner, "monitor");
    const double users = (double)l->request.episodes;
    if (node == NULL)
        return TACIT_OK;
    monitor m = {.delta = 1 / (10 * users)};
    TRY(tacit__map_check(c->yaml, node, "monitor", monitor_fields, err));
    TRY(tacit__map_read(c->yaml, node, monitor_fields, &m, err));
    const bool local = l->request.guarantee.model == TACIT_MODEL_LOCAL;
    l->monitor =
        (tacit_guarantee){local ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT, m.epsilon, m.delta};
    if (m.epsilon == 0 && (tacit__node_get(node, "delta") == NULL || m.delta == 0))
        return tacit__yaml_fail(
            c->yaml, node->line, err, TACIT_SYNTAX,
            "epsilon is 0, which needs a delta > 0; give one, or an epsilon > 0");
    if (!m.large_delta && m.delta > 1 / users)
        return tacit__entry_fail_delta(c->yaml, node, "monitor", m.delta, l->request.episodes, err);
    return TACIT_OK;
}

/* warm_start: log.csv, or a map that names its columns. */
static tacit_status read_warm(const config *c, const tacit__node *learner, tacit__learner_config *l,
                              tacit_error *err)
{
    const tacit__node *node = tacit__node_get(learner, "warm_start");
    if (node == NULL)
        return TACIT_OK;
    l->warm.line = node->line;
    l->warm.missing = "";
    if (node->kind != TACIT__MAP)
        return tacit__node_read(c->yaml, node, &warm_fields[0], l, err);
    TRY(tacit__map_check(c->yaml, node, "warm_start", warm_fields, err));
    return tacit__map_read(c->yaml, node, warm_fields, l, err);
}

/* What the server can only do where it sees what users tell. */
static tacit_status check_local(const config *c, const tacit__node *learner,
                                const tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *space = tacit__node_get(learner, "space");
    if (l->request.guarantee.model != TACIT_MODEL_LOCAL)
        return TACIT_OK;
    if (l->context.columns != NULL)
        return tacit__yaml_fail(
            c->yaml, tacit__node_get(space, "context")->line, err, TACIT_UNSUPPORTED,
            "named columns are for models joint and none, where the service encodes them; the "
            "devices of a local learner make their own features: write features: %zu, shared: no",
            l->known.features);
    if (l->log_decisions)
        return tacit__yaml_fail(c->yaml, tacit__node_get(learner, "log_decisions")->line, err,
                                TACIT_UNSUPPORTED,
                                "log_decisions is for models joint and none; the service sees "
                                "neither the decisions of a local learner nor their outcomes");
    if (l->warm.file != NULL)
        return tacit__yaml_fail(
            c->yaml, l->warm.line, err, TACIT_UNSUPPORTED,
            "warm_start is for models joint and none: a log has unprotected data of users, which "
            "the operator of a local learner must not see");
    if (l->user_required)
        return tacit__yaml_fail(c->yaml, tacit__node_get(space, "user")->line, err,
                                TACIT_UNSUPPORTED,
                                "user: required is for models joint and none; the devices of a "
                                "local learner do not identify their users");
    return TACIT_OK;
}

/* Visits are counted by the user's id, so everybody must have one. */
static tacit_status check_returning(const config *c, const tacit__node *learner,
                                    tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *user = tacit__node_get(tacit__node_get(learner, "space"), "user");
    if (l->request.visits <= 1 || l->request.guarantee.model == TACIT_MODEL_LOCAL)
        return TACIT_OK;
    if (user != NULL && !l->user_required)
        return tacit__yaml_fail(c->yaml, user->line, err, TACIT_SYNTAX,
                                "user is optional, but with visits: %llu the service counts how "
                                "often each person comes; write user: required, or leave it out",
                                (unsigned long long)l->request.visits);
    l->user_required = true;
    return TACIT_OK;
}

tacit_status tacit__learner_config_read(const tacit__service_config *c, const tacit__node *node,
                                        tacit__learner_config *l, tacit_error *err)
{
    TACIT__REQUIRE(c->yaml != NULL && node != NULL);
    l->most_body = c->limits.body;
    l->plan_every = 1;
    TRY(tacit__map_check(c->yaml, node, "a learner", learner_fields, err));
    TRY(tacit__map_read(c->yaml, node, learner_fields, l, err));
    TRY(check_name(c, node, l, err));
    TRY(tacit__space_read(c->yaml, tacit__node_get(node, "space"), l, err));
    TRY(read_agent(c, node, l, err));
    TRY(read_warm(c, node, l, err));
    TRY(check_local(c, node, l, err));
    TRY(check_returning(c, node, l, err));
    return read_monitor(c, node, l, err);
}
