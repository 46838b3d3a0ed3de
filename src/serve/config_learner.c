/* One learner of a service file. See serve/config.h and docs/reference/service.md. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "lab/experiment.h"
#include "lab/files/config_space.h"
#include "serve/config_learner.h"
#include "text/settings.h"

#define AT(member) offsetof(tacit__learner_config, member)
#define COLUMN(key, member)                                                                        \
    {                                                                                              \
        key, TACIT__FIELD_TEXT, AT(member), 1, .high = 256                                         \
    }
static const tacit__field warm_fields[] = {
    {"file", TACIT__FIELD_TEXT, AT(warm.file), 1, 1024, .example = "file: log.csv"},
    COLUMN("state", warm.state),
    COLUMN("action", warm.action),
    COLUMN("reward", warm.reward),
    COLUMN("propensity", warm.propensity),
    COLUMN("user", warm.user),
    {"missing", TACIT__FIELD_TEXT, AT(warm.missing), .high = 256, .fallback = ""},
    {.name = NULL}};

typedef struct monitor {
    double epsilon, delta;
    bool large_delta; /* a delta above 1/users is meant */
} monitor;
static const tacit__range epsilons = {.high = HUGE_VAL, .expected = "a number >= 0"},
                          deltas = {.high = 1, .expected = "a number from 0 to below 1"};
static const tacit__field monitor_fields[] = {
    {"epsilon", TACIT__FIELD_REAL, offsetof(monitor, epsilon), .range = &epsilons,
     .example = "epsilon: 0.1"},
    {"delta", TACIT__FIELD_REAL, offsetof(monitor, delta), .range = &deltas},
    {"delta_above_one_over_users", TACIT__FIELD_FLAG, offsetof(monitor, large_delta),
     .fallback = "no"},
    {.name = NULL}};

const tacit__field tacit__learner_fields[] = {
    {"name", TACIT__FIELD_TEXT, AT(name), .high = TACIT__MAX_NAME, .example = "name: river"},
    {"space", TACIT__FIELD_OTHER, .example = "space: {states: 6, actions: 2, horizon: 20}"},
    {"users", TACIT__FIELD_COUNT, AT(request.episodes), 1, TACIT_MAX_EPISODES,
     .example = "users: 100000"},
    {"agent", TACIT__FIELD_OTHER,
     .example = "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"},
    {"plan_every", TACIT__FIELD_COUNT, AT(plan_every), 1, 1000000, .fallback = "1"},
    {"monitor", TACIT__FIELD_OTHER, .parse = NULL},
    {"log_decisions", TACIT__FIELD_FLAG, AT(log_decisions), .fallback = "no"},
    {"warm_start", TACIT__FIELD_OTHER, .parse = NULL},
    {.name = NULL}};

typedef tacit__service_config config;

static tacit_status check_name(const config *c, const tacit__node *learner,
                               const tacit__learner_config *l, tacit_error *err)
{
    const tacit__node *name = tacit__node_get(learner, "name");
    if (!tacit__is_name(l->name))
        return tacit__node_fail(
            name, err, "name is '%.64s', expected lowercase letters, digits, - and _", l->name);
    for (const tacit__learner_config *other = c->learners; other < l; other++)
        if (strcmp(other->name, l->name) == 0)
            return tacit__node_fail(name, err, "two learners are called '%s'", l->name);
    return TACIT_OK;
}

/* A promise that the file does not state must not look like one. */
static tacit_status fail_unwritten(const tacit__node *agent, const tacit_entry *entry,
                                   tacit_error *err)
{
    const tacit_agent_kind *kind = tacit_agent_kind_find(entry->kind);
    const unsigned models = (kind != NULL ? kind : tacit_agent_alias_find(entry->kind))->models;
    const char *model = models & (TACIT_AGENT_JOINT_PURE | TACIT_AGENT_JOINT)   ? "joint"
                        : models & (TACIT_AGENT_LOCAL_PURE | TACIT_AGENT_LOCAL) ? "local"
                                                                                : NULL;
    if (model == NULL)
        return tacit__node_fail(agent, err,
                                "the agent has no 'privacy', and %s cannot be private: write "
                                "privacy: {model: none} if that is intended",
                                entry->kind);
    return tacit__node_fail(
        agent, err, "the agent has no 'privacy': write privacy: {model: %s, epsilon: 1}%s", model,
        models & TACIT_AGENT_NONE ? ", or privacy: {model: none} if you want no guarantee" : "");
}

/* What this service cannot do; the file may be good elsewhere. */
#define UNSUPPORTED(node, ...)                                                                     \
    tacit__yaml_fail((node)->yaml, (node)->line, err, TACIT_UNSUPPORTED, __VA_ARGS__)

static tacit_status read_agent(const tacit__node *node, tacit__learner_config *l, tacit_error *err)
{
    tacit_entry entry;
    TRY(tacit__entry_read_one(node, l->request.episodes, &entry, err));
    if (entry.baseline)
        return UNSUPPORTED(node, "%s does not learn; `tacit agents` lists those that do",
                           entry.kind);
    if (!entry.privacy_written)
        return fail_unwritten(node, &entry, err);
    if (entry.delta_too_large)
        return tacit__entry_fail_delta(tacit__node_get(node, "privacy"), "privacy",
                                       entry.guarantee.delta, l->request.episodes, err);
    if (entry.calibration != TACIT_CALIBRATION_TIGHT)
        return UNSUPPORTED(node, "published constants are for simulations; a service with real "
                                 "users needs calibration: tight");
    tacit__entry_set_request(&entry, &l->request);
    l->kind = entry.kind;
    l->request.apart = entry.visits > 1 && entry.apart == 0 ? 1 : entry.apart;
    return TACIT_OK;
}

static tacit_status read_monitor(const tacit__node *node, tacit__learner_config *l,
                                 tacit_error *err)
{
    const double users = (double)l->request.episodes;
    if (node == NULL)
        return TACIT_OK;
    monitor m = {.delta = 1 / (10 * users)};
    TRY(tacit__map_read(node, "monitor", monitor_fields, &m, err));
    const bool local = l->request.guarantee.model == TACIT_MODEL_LOCAL;
    l->monitor =
        (tacit_guarantee){local ? TACIT_MODEL_LOCAL : TACIT_MODEL_JOINT, m.epsilon, m.delta};
    if (m.epsilon == 0 && (tacit__node_get(node, "delta") == NULL || m.delta == 0))
        return tacit__node_fail(
            node, err, "epsilon is 0, which needs a delta > 0; give one, or an epsilon > 0");
    if (!m.large_delta && m.delta > 1 / users)
        return tacit__entry_fail_delta(node, "monitor", m.delta, l->request.episodes, err);
    return TACIT_OK;
}

/* warm_start: log.csv, or a map that names its columns. */
static tacit_status read_warm(const tacit__node *node, tacit__learner_config *l, tacit_error *err)
{
    if (node == NULL)
        return TACIT_OK;
    l->warm.line = node->line;
    l->warm.missing = "";
    if (node->kind != TACIT__MAP)
        return tacit__node_read(node, &warm_fields[0], l, err);
    return tacit__map_read(node, "warm_start", warm_fields, l, err);
}

/* What the server can only do where it sees what users tell. */
static tacit_status check_local(const tacit__node *learner, const tacit__learner_config *l,
                                tacit_error *err)
{
    const tacit__node *space = tacit__node_get(learner, "space");
    if (l->request.guarantee.model != TACIT_MODEL_LOCAL)
        return TACIT_OK;
    if (l->context.columns != NULL)
        return UNSUPPORTED(
            tacit__node_get(space, "context"),
            "named columns are for models joint and none, where the service encodes them; the "
            "devices of a local learner make their own features: write features: %zu, shared: no",
            l->known.features);
    if (l->log_decisions)
        return UNSUPPORTED(tacit__node_get(learner, "log_decisions"),
                           "log_decisions is for models joint and none; the service sees "
                           "neither the decisions of a local learner nor their outcomes");
    if (l->warm.file != NULL)
        return UNSUPPORTED(
            tacit__node_get(learner, "warm_start"),
            "warm_start is for models joint and none: a log has unprotected data of users, which "
            "the operator of a local learner must not see");
    if (l->user_required)
        return UNSUPPORTED(tacit__node_get(space, "user"),
                           "user: required is for models joint and none; the devices of a "
                           "local learner do not identify their users");
    return TACIT_OK;
}

/* Visits are counted by the user's id, so everybody must have one. */
static tacit_status check_returning(const tacit__node *learner, tacit__learner_config *l,
                                    tacit_error *err)
{
    const tacit__node *user = tacit__node_get(tacit__node_get(learner, "space"), "user");
    if (l->request.visits <= 1 || l->request.guarantee.model == TACIT_MODEL_LOCAL)
        return TACIT_OK;
    if (user != NULL && !l->user_required)
        return tacit__node_fail(user, err,
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
    TRY(tacit__map_read(node, "a learner", tacit__learner_fields, l, err));
    TRY(check_name(c, node, l, err));
    TRY(tacit__space_read(tacit__node_get(node, "space"), l, err));
    TRY(read_agent(tacit__node_get(node, "agent"), l, err));
    TRY(read_warm(tacit__node_get(node, "warm_start"), l, err));
    TRY(check_local(node, l, err));
    TRY(check_returning(node, l, err));
    return read_monitor(tacit__node_get(node, "monitor"), l, err);
}
