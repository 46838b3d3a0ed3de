/* One entry of `agents`: label, kind, privacy, outside, and the kind's own parameters. */
#include <math.h>
#include <stdio.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/nearest.h"
#include "lab/experiment.h"

enum { MAX_KEYS = 64 }; /* own keys and a kind's parameters */

/* `worlds` restricts and is no list of values: read.c. */
static const char *const own_keys[] = {"label", "kind", "privacy", "worlds", "outside", NULL};
enum { N_OWN = 5 };

typedef struct own {
    const char *label;
    size_t outside;
} own;
static const char *const manners[] = {"refuse", "clip", NULL};
static const tacit__field own_fields[] = {
    {"label", TACIT__FIELD_TEXT, offsetof(own, label), .high = TACIT__MAX_LABEL},
    {"outside", TACIT__FIELD_WORD, offsetof(own, outside), .words = manners},
    {.name = NULL}};

/* An entry under one combination of its lists. */
typedef struct source {
    const tacit__yaml *yaml;
    const tacit__grid *grid;
    const tacit__node *privacy;
} source;

static tacit_status fail_kind(const tacit__yaml *yaml, const tacit__node *kind, tacit_error *err)
{
    const char *names[MAX_KEYS] = {NULL};
    char list[300] = "", near_text[64] = "";
    size_t n = 0, used = 0;
    for (size_t i = 0; i < tacit_agent_kind_count() && n < MAX_KEYS; i++)
        names[n++] = tacit_agent_kind_at(i)->name;
    for (size_t i = 0; i < tacit_agent_alias_count() && n < MAX_KEYS; i++)
        names[n++] = tacit_agent_alias_at(i)->name;
    for (size_t i = 0; i < tacit_yardstick_count() && n < MAX_KEYS; i++)
        names[n++] = tacit_yardstick_at(i)->name;
    for (size_t i = 0; i < n && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
    const char *near = tacit__nearest(kind->text, names, n);
    if (near != NULL)
        (void)snprintf(near_text, sizeof near_text, ", did you mean '%s'?", near);
    return tacit__yaml_fail(yaml, kind->line, err, TACIT_SYNTAX,
                            near != NULL ? "no agent is called '%.40s'%s"
                                         : "no agent is called '%.40s'%s; there are %s",
                            kind->text, near_text, list);
}

/* Unknown names; their values are the agent's business. What an alias stands for, and so which names
 * it knows, depends on the world: tacit_agent_choose. */
static tacit_status check_keys(const tacit__yaml *yaml, const tacit__node *node,
                               const tacit_agent_kind *kind, tacit_error *err)
{
    const char *names[MAX_KEYS];
    char what[80];
    size_t n = 0;
    for (; n < N_OWN; n++)
        names[n] = own_keys[n];
    for (size_t i = 0; i < kind->n_parameters && n < MAX_KEYS; i++)
        names[n++] = kind->parameters[i].name;
    (void)snprintf(what, sizeof what, "agent %s", kind->name);
    return tacit__node_check_keys(yaml, node, what, names, n, err);
}

/* --- Privacy ----------------------------------------------------------------------------------- */

static const char *const models[] = {"none", "joint", "local", NULL};
static const char *const calibrations[] = {"tight", "published", "figure", NULL};
static const char *const noises[] = {"tight", "published", "recalled", NULL};
static const char *const mechanisms[] = {"tree", "smooth", "blt", NULL};
static const tacit__range epsilons = {
    .high = (double)INFINITY, .infinite = true, .expected = "a number >= 0, or .inf"};
static const tacit__range deltas = {.high = 1, .expected = "a number from 0 to below 1"};

typedef struct promise {
    size_t model, calibration, noise, sums;
    double epsilon, delta;
    bool large_delta; /* a delta above 1/users is intended */
    uint64_t visits, apart;
} promise;

enum { MODEL, EPSILON, DELTA, CALIBRATION, NOISE, SUMS, LARGE_DELTA, VISITS, APART, N_PRIVACY };
static const tacit__field privacy_fields[] = {
    [MODEL] = {"model", TACIT__FIELD_WORD, offsetof(promise, model), .words = models,
               .expected =
                   "none, joint (a trusted curator sees the data; also called central) or local"},
    [EPSILON] = {"epsilon", TACIT__FIELD_REAL, offsetof(promise, epsilon), .range = &epsilons},
    [DELTA] = {"delta", TACIT__FIELD_REAL, offsetof(promise, delta), .range = &deltas},
    [CALIBRATION] = {"calibration", TACIT__FIELD_WORD, offsetof(promise, calibration),
                     .words = calibrations},
    [NOISE] = {"noise", TACIT__FIELD_WORD, offsetof(promise, noise), .words = noises},
    [SUMS] = {"sums", TACIT__FIELD_WORD, offsetof(promise, sums), .words = mechanisms},
    [LARGE_DELTA] = {"delta_above_one_over_users", TACIT__FIELD_FLAG,
                     .offset = offsetof(promise, large_delta)},
    [VISITS] = {"visits", TACIT__FIELD_COUNT, offsetof(promise, visits), .low = 1,
                .high = TACIT_MAX_EPISODES},
    [APART] = {"apart", TACIT__FIELD_COUNT, offsetof(promise, apart), .low = 1,
               .high = TACIT_MAX_EPISODES},
    [N_PRIVACY] = {.name = NULL}};

static const tacit__node *get(const source *s, size_t key)
{
    TACIT__REQUIRE(key < sizeof privacy_fields / sizeof *privacy_fields);
    return tacit__grid_get(s->grid, s->privacy, privacy_fields[key].name);
}

/* Reads a key of `privacy`, under the combination of lists, if it is there. */
static tacit_status read_key(const source *s, size_t key, promise *p, tacit_error *err)
{
    const tacit__node *node = get(s, key);
    return node != NULL ? tacit__node_read(s->yaml, node, &privacy_fields[key], p, err) : TACIT_OK;
}

/* A key that only means something together with a promise. */
static tacit_status check_no_promise(const source *s, tacit_error *err)
{
    for (size_t key = EPSILON; key < N_PRIVACY; key++) {
        const tacit__node *node = get(s, key);
        promise p = {0};
        if (node != NULL && key == EPSILON && /* an infinite epsilon says the same */
            read_key(s, key, &p, NULL) == TACIT_OK && isinf(p.epsilon))
            continue;
        if (node != NULL)
            return tacit__yaml_fail(s->yaml, node->line, err, TACIT_SYNTAX,
                                    "model none has no guarantee, so it has no %s; remove it, or "
                                    "ask for model joint or local",
                                    privacy_fields[key].name);
    }
    return TACIT_OK;
}

/* The whole algorithm of a paper is its calibration; its noise alone is `noise`. */
static tacit_status read_calibration(const source *s, const promise *p, tacit_entry *entry,
                                     tacit_error *err)
{
    static const tacit_calibration alone[] = {TACIT_CALIBRATION_TIGHT, TACIT_CALIBRATION_NOISE,
                                              TACIT_CALIBRATION_RECALLED};
    const tacit__node *noise = get(s, NOISE);
    if (noise != NULL && get(s, CALIBRATION) != NULL)
        return tacit__yaml_fail(s->yaml, noise->line, err, TACIT_SYNTAX,
                                "privacy has both 'calibration' and 'noise'; calibration: %s says "
                                "what the noise is, so remove one of them",
                                calibrations[p->calibration]);
    entry->calibration = noise != NULL ? alone[p->noise] : (tacit_calibration)p->calibration;
    return TACIT_OK;
}

static tacit_status read_promise(const source *s, uint64_t episodes, tacit_entry *entry,
                                 tacit_error *err)
{
    const tacit__node *epsilon = get(s, EPSILON);
    if (epsilon == NULL)
        return tacit__yaml_fail(s->yaml, s->privacy->line, err, TACIT_SYNTAX,
                                "privacy has no 'epsilon', expected a number > 0, or .inf for the "
                                "learner without privacy");
    /* One user in ten times as many as there are: the customary size of "negligible". */
    promise p = {.delta = 1 / (10 * (double)episodes)};
    tacit_status status = read_key(s, EPSILON, &p, err);
    if (status == TACIT_OK)
        status = read_key(s, DELTA, &p, err);
    if (status == TACIT_OK && p.epsilon == 0 && (get(s, DELTA) == NULL || p.delta == 0))
        status =
            tacit__yaml_fail(s->yaml, epsilon->line, err, TACIT_SYNTAX,
                             "epsilon is 0, which needs a delta > 0; give one, or an epsilon > 0");
    for (size_t key = CALIBRATION; key < N_PRIVACY && status == TACIT_OK; key++)
        status = read_key(s, key, &p, err);
    if (status != TACIT_OK)
        return status;
    if (get(s, APART) != NULL && get(s, VISITS) == NULL)
        return tacit__yaml_fail(s->yaml, get(s, APART)->line, err, TACIT_SYNTAX,
                                "apart says how far the visits of one person are apart, but there "
                                "is no 'visits'; add for example visits: 5");
    if (isinf(p.epsilon)) {
        entry->guarantee = (tacit_guarantee){TACIT_MODEL_NONE, (double)INFINITY, 0};
        return TACIT_OK;
    }
    TRY(read_calibration(s, &p, entry, err));
    /* papers without a delta have none to fill in */
    if (get(s, DELTA) == NULL && p.epsilon > 0 && entry->calibration != TACIT_CALIBRATION_TIGHT &&
        tacit__agent_prints_pure(entry->kind))
        p.delta = 0;
    entry->guarantee.epsilon = p.epsilon;
    entry->guarantee.delta = p.delta;
    entry->delta_chosen = get(s, DELTA) == NULL && p.delta > 0;
    entry->sums = get(s, SUMS) != NULL ? mechanisms[p.sums] : NULL;
    entry->visits = p.visits;
    entry->apart = p.apart;
    /* A delta above 1/users allows a mechanism that publishes all data of some user: it must be explicit. */
    entry->delta_too_large = !p.large_delta && p.delta > 1 / (double)episodes;
    return TACIT_OK;
}

static tacit_status read_privacy(const source *s, uint64_t episodes, tacit_entry *entry,
                                 tacit_error *err)
{
    const tacit__node *privacy = s->privacy;
    char shown[TACIT__NODE_TEXT];
    promise p = {0};
    if (privacy->kind != TACIT__MAP)
        return tacit__yaml_fail(s->yaml, privacy->line, err, TACIT_SYNTAX,
                                "privacy is %s, expected a map, for example {model: joint, "
                                "epsilon: 1}",
                                tacit__node_format(privacy, shown));
    tacit_status status = tacit__map_check(s->yaml, privacy, "privacy", privacy_fields, err);
    if (status == TACIT_OK && get(s, MODEL) == NULL)
        status = tacit__yaml_fail(s->yaml, privacy->line, err, TACIT_SYNTAX,
                                  "privacy has no 'model', expected joint, local or none");
    if (status == TACIT_OK)
        status = read_key(s, MODEL, &p, err);
    if (status != TACIT_OK)
        return status;
    entry->guarantee.model = (tacit_model)p.model;
    return p.model == TACIT_MODEL_NONE ? check_no_promise(s, err)
                                       : read_promise(s, episodes, entry, err);
}

/* --- The entry --------------------------------------------------------------------------------- */

static tacit_status read_kind(const tacit_experiment *e, const tacit__node *node,
                              tacit_entry *entry, const tacit_agent_kind **kind, tacit_error *err)
{
    const tacit__node *name = tacit__node_get(node, "kind");
    if (name == NULL)
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "the agent has no 'kind', expected for example {kind: ucbvi}");
    static const tacit__field a_kind = {"the agent's kind", TACIT__FIELD_TEXT, .high = 64};
    TRY(tacit__node_read(e->yaml, name, &a_kind, &entry->kind, err));
    *kind = tacit_yardstick_find(entry->kind);
    entry->yardstick = *kind != NULL;
    if (*kind == NULL)
        *kind = tacit_agent_kind_find(entry->kind);
    if (*kind == NULL)
        *kind = tacit_agent_alias_find(entry->kind);
    return *kind != NULL || e->lenient ? TACIT_OK : fail_kind(e->yaml, name, err);
}

/* A yardstick does not learn from users, so it takes no privacy and no parameters. */
static tacit_status check_yardstick(const tacit__yaml *yaml, const tacit__node *node,
                                    const tacit_entry *entry, tacit_error *err)
{
    static const char *const keys[] = {"privacy", "outside"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && entry->yardstick; i++) {
        const tacit__node *found = tacit__node_get(node, keys[i]);
        if (found != NULL)
            return tacit__yaml_fail(yaml, found->line, err, TACIT_SYNTAX,
                                    "%s does not learn from users and takes no '%s'; remove it",
                                    entry->kind, keys[i]);
    }
    return TACIT_OK;
}

tacit_status tacit__entry_grid(const tacit_experiment *experiment, const tacit__node *node,
                               tacit__grid *grid, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    if (node->kind != TACIT__MAP)
        return tacit__yaml_fail(experiment->yaml, node->line, err, TACIT_SYNTAX,
                                "an agent is %s, expected a map, for example {kind: ucbvi}",
                                tacit__node_format(node, shown));
    return tacit__grid_open(experiment->yaml, node, "privacy", own_keys, grid, err);
}

tacit_status tacit__entry_read(tacit_experiment *experiment, const tacit__node *node,
                               const tacit__grid *grid, tacit_entry *entry, tacit_error *err)
{
    TACIT__REQUIRE(node != NULL && entry != NULL);
    const tacit__yaml *yaml = experiment->yaml;
    const tacit_agent_kind *kind = NULL;
    *entry =
        (tacit_entry){.guarantee = {TACIT_MODEL_NONE, (double)INFINITY, 0}, .line = node->line};
    tacit_status status = read_kind(experiment, node, entry, &kind, err);
    if (status == TACIT_OK && kind != NULL && tacit_agent_alias_find(entry->kind) == NULL)
        status = check_keys(yaml, node, kind, err);
    if (status != TACIT_OK)
        return status;
    const source s = {yaml, grid, tacit__node_get(node, "privacy")};
    own o = {.label = entry->kind};
    entry->privacy_written = s.privacy != NULL;
    status = tacit__map_read(yaml, node, own_fields, &o, err);
    entry->label = o.label;
    entry->outside = o.outside == 1 ? TACIT_OUTSIDE_CLIP : TACIT_OUTSIDE_REFUSE;
    if (status == TACIT_OK)
        status = check_yardstick(yaml, node, entry, err);
    if (status == TACIT_OK && s.privacy != NULL)
        status = read_privacy(&s, experiment->facts.episodes, entry, err);
    if (status == TACIT_OK)
        status = tacit__settings_collect(experiment, node, grid, own_keys, &entry->settings,
                                         &entry->n_settings, err);
    if (status == TACIT_OK)
        status = tacit__grid_label(experiment->yaml, grid, entry->label, &entry->label, err);
    return status;
}

tacit_status tacit__entry_read_one(tacit_experiment *experiment, const tacit__node *node,
                                   tacit_entry *entry, tacit_error *err)
{
    tacit__grid grid;
    TRY(tacit__entry_grid(experiment, node, &grid, err));
    if (grid.n_axes > 0)
        return tacit__yaml_fail(experiment->yaml, node->line, err, TACIT_SYNTAX,
                                "a learner has one agent: no lists of values here");
    return tacit__entry_read(experiment, node, &grid, entry, err);
}

tacit_status tacit__entry_fail_delta(const tacit__yaml *yaml, const tacit__node *node,
                                     const char *what, double delta, uint64_t users,
                                     tacit_error *err)
{
    return tacit__yaml_fail(
        yaml, node->line, err, TACIT_SYNTAX,
        "delta is %g, above 1/users = %g: such a guarantee would allow publishing some users' "
        "data; lower it, or write delta_above_one_over_users: yes in %s if that is intended",
        delta, 1 / (double)users, what);
}

void tacit__entry_set_request(const tacit_entry *entry, tacit_agent_request *request)
{
    request->kind = entry->kind;
    request->settings = entry->settings;
    request->n_settings = entry->n_settings;
    request->guarantee = entry->guarantee;
    request->calibration = entry->calibration;
    request->sums = entry->sums;
    request->visits = entry->visits;
    request->apart = entry->apart;
    request->outside = entry->outside;
    request->line = entry->line;
}
