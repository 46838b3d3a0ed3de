/* One entry of `agents`: label, kind, privacy, outside, and the kind's own parameters. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "lab/experiment.h"

enum { MAX_KEYS = 64 }; /* own keys and a kind's parameters */

/* `worlds` restricts and is no list of values: read.c. */
static const char *const own_keys[] = {"label", "kind", "privacy", "worlds", "outside", NULL};
enum { N_OWN = 5 };

/* What is read: an entry under one combination of its lists. */
typedef struct source {
    const tacit__yaml *yaml;
    const tacit__grid *grid;
    const tacit__node *privacy;
} source;

static const tacit__node *get(const source *s, const char *key)
{
    return tacit__grid_get(s->grid, s->privacy, key);
}

static tacit_status fail_kind(const tacit__yaml *yaml, const tacit__node *kind, tacit_error *err)
{
    const char *names[MAX_KEYS] = {NULL};
    char list[300] = "", near_text[64] = "";
    size_t n = 0, used = 0;
    for (size_t i = 0; i < tacit_agent_kind_count() && n < MAX_KEYS; i++)
        names[n++] = tacit_agent_kind_at(i)->name;
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

/* Unknown names; their values are the agent's business. */
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

static const char *const privacy_keys[] = {"model",       "epsilon", "delta",
                                           "calibration", "sums",    "delta_above_one_over_users"};
static const char *const models[] = {"none", "joint", "local", NULL};
static const char *const calibrations[] = {"tight", "published", "figure", NULL};
static const char *const mechanisms[] = {"tree", "smooth", "blt", NULL};

static const tacit__range epsilons = {
    .high = (double)INFINITY, .infinite = true, .expected = "a number >= 0, or .inf"};
static const tacit__range deltas = {.high = 1, .expected = "a number from 0 to below 1"};

/* A key that only means something together with a promise. */
static tacit_status check_no_promise(const source *s, tacit_error *err)
{
    for (size_t i = 1; i < sizeof privacy_keys / sizeof *privacy_keys; i++) {
        const tacit__node *node = get(s, privacy_keys[i]);
        double epsilon = 0;
        if (node != NULL && i == 1 && /* an infinite epsilon says the same */
            tacit__take_real(s->yaml, node, "epsilon", &epsilons, &epsilon, NULL) == TACIT_OK &&
            isinf(epsilon))
            continue;
        if (node != NULL)
            return tacit__yaml_fail(s->yaml, node->line, err, TACIT_SYNTAX,
                                    "model none promises nothing, so it has no %s; remove it, or "
                                    "ask for model joint or local",
                                    privacy_keys[i]);
    }
    return TACIT_OK;
}

static tacit_status read_optional_words(const source *s, tacit_entry *entry, tacit_error *err)
{
    const tacit__node *node = get(s, "calibration");
    tacit_status status = TACIT_OK;
    size_t choice = 0;
    if (node != NULL)
        status = tacit__take_word(s->yaml, node, "calibration", calibrations, &choice, err);
    if (status != TACIT_OK)
        return status;
    entry->calibration = (tacit_calibration)choice;
    node = get(s, "sums");
    if (node == NULL)
        return TACIT_OK;
    status = tacit__take_word(s->yaml, node, "sums", mechanisms, &choice, err);
    if (status == TACIT_OK)
        entry->sums = mechanisms[choice];
    return status;
}

/* A delta above 1/users allows a mechanism that shows everything of somebody: it must be meant. */
static tacit_status read_large_delta(const source *s, uint64_t episodes, tacit_entry *entry,
                                     tacit_error *err)
{
    static const char *const words[] = {"no", "yes", NULL};
    const tacit__node *node = get(s, "delta_above_one_over_users");
    size_t meant = 0;
    tacit_status status = TACIT_OK;
    if (node != NULL)
        status = tacit__take_word(s->yaml, node, "delta_above_one_over_users", words, &meant, err);
    entry->delta_too_large = meant == 0 && entry->guarantee.delta > 1 / (double)episodes;
    return status;
}

static tacit_status read_promise(const source *s, uint64_t episodes, tacit_entry *entry,
                                 tacit_error *err)
{
    const tacit__node *epsilon = get(s, "epsilon"), *delta = get(s, "delta");
    if (epsilon == NULL)
        return tacit__yaml_fail(s->yaml, s->privacy->line, err, TACIT_SYNTAX,
                                "privacy has no 'epsilon', expected a number > 0, or .inf for the "
                                "learner without privacy");
    tacit_status status =
        tacit__take_real(s->yaml, epsilon, "epsilon", &epsilons, &entry->guarantee.epsilon, err);
    /* One user in ten times as many as there are: the customary size of "negligible". */
    entry->guarantee.delta = 1 / (10 * (double)episodes);
    if (status == TACIT_OK && delta != NULL)
        status = tacit__take_real(s->yaml, delta, "delta", &deltas, &entry->guarantee.delta, err);
    if (status == TACIT_OK && entry->guarantee.epsilon == 0 &&
        (delta == NULL || entry->guarantee.delta == 0))
        status = tacit__yaml_fail(s->yaml, epsilon->line, err, TACIT_SYNTAX,
                                  "epsilon is 0, which needs a delta > 0 that is given beside it; "
                                  "give one, or an epsilon > 0");
    if (status == TACIT_OK)
        status = read_optional_words(s, entry, err);
    if (status == TACIT_OK)
        status = read_large_delta(s, episodes, entry, err);
    if (status == TACIT_OK && isinf(entry->guarantee.epsilon)) {
        entry->delta_too_large = false;
        entry->guarantee = (tacit_guarantee){TACIT_MODEL_NONE, (double)INFINITY, 0};
        entry->calibration = TACIT_CALIBRATION_TIGHT;
        entry->sums = NULL;
    }
    return status;
}

static tacit_status read_privacy(const source *s, uint64_t episodes, tacit_entry *entry,
                                 tacit_error *err)
{
    const tacit__yaml *yaml = s->yaml;
    const tacit__node *privacy = s->privacy;
    char shown[TACIT__NODE_SHOWN];
    size_t model;
    if (privacy->kind != TACIT__MAP)
        return tacit__yaml_fail(yaml, privacy->line, err, TACIT_SYNTAX,
                                "privacy is %s, expected a map, for example {model: joint, "
                                "epsilon: 1}",
                                tacit__node_show(privacy, shown));
    tacit_status status = tacit__node_check_keys(yaml, privacy, "privacy", privacy_keys,
                                                 sizeof privacy_keys / sizeof *privacy_keys, err);
    if (status != TACIT_OK)
        return status;
    const tacit__node *node = get(s, "model");
    if (node == NULL)
        return tacit__yaml_fail(yaml, privacy->line, err, TACIT_SYNTAX,
                                "privacy has no 'model', expected joint, local or none");
    status = tacit__take_word(yaml, node, "model", models, &model, err);
    if (status != TACIT_OK)
        return status;
    entry->guarantee.model = (tacit_model)model;
    return model == TACIT_MODEL_NONE ? check_no_promise(s, err)
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
    tacit_status status =
        tacit__take_text(e->yaml, name, "the agent's kind", 64, &entry->kind, err);
    if (status != TACIT_OK)
        return status;
    *kind = tacit_yardstick_find(entry->kind);
    entry->yardstick = *kind != NULL;
    if (*kind == NULL)
        *kind = tacit_agent_kind_find(entry->kind);
    return *kind != NULL || e->lenient ? TACIT_OK : fail_kind(e->yaml, name, err);
}

/* What a yardstick does not have: it learns nothing from anybody. */
static tacit_status check_yardstick(const tacit__yaml *yaml, const tacit__node *node,
                                    const tacit_entry *entry, tacit_error *err)
{
    static const char *const keys[] = {"privacy", "outside"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && entry->yardstick; i++) {
        const tacit__node *found = tacit__node_get(node, keys[i]);
        if (found != NULL)
            return tacit__yaml_fail(yaml, found->line, err, TACIT_SYNTAX,
                                    "%s learns nothing from anybody and takes no '%s'; remove it",
                                    entry->kind, keys[i]);
    }
    return TACIT_OK;
}

static tacit_status read_outside(const tacit__yaml *yaml, const tacit__node *node,
                                 tacit_entry *entry, tacit_error *err)
{
    static const char *const words[] = {"refuse", "clip", NULL};
    const tacit__node *found = tacit__node_get(node, "outside");
    size_t word = 0;
    tacit_status status =
        found != NULL ? tacit__take_word(yaml, found, "outside", words, &word, err) : TACIT_OK;
    if (status == TACIT_OK)
        entry->outside = word == 1 ? TACIT_OUTSIDE_CLIP : TACIT_OUTSIDE_REFUSE;
    return status;
}

tacit_status tacit__entry_grid(const tacit_experiment *experiment, const tacit__node *node,
                               tacit__grid *grid, tacit_error *err)
{
    char shown[TACIT__NODE_SHOWN];
    if (node->kind != TACIT__MAP)
        return tacit__yaml_fail(experiment->yaml, node->line, err, TACIT_SYNTAX,
                                "an agent is %s, expected a map, for example {kind: ucbvi}",
                                tacit__node_show(node, shown));
    return tacit__grid_open(experiment->yaml, node, "privacy", own_keys, grid, err);
}

tacit_status tacit__entry_read(tacit_experiment *experiment, const tacit__node *node,
                               const tacit__grid *grid, tacit_entry *entry, tacit_error *err)
{
    const tacit__yaml *yaml = experiment->yaml;
    const tacit_agent_kind *kind = NULL;
    *entry =
        (tacit_entry){.guarantee = {TACIT_MODEL_NONE, (double)INFINITY, 0}, .line = node->line};
    tacit_status status = read_kind(experiment, node, entry, &kind, err);
    if (status == TACIT_OK && kind != NULL)
        status = check_keys(yaml, node, kind, err);
    if (status != TACIT_OK)
        return status;
    const tacit__node *label = tacit__node_get(node, "label");
    const source s = {yaml, grid, tacit__node_get(node, "privacy")};
    entry->label = entry->kind;
    entry->privacy_written = s.privacy != NULL;
    if (label != NULL)
        status = tacit__take_text(yaml, label, "label", TACIT__MAX_LABEL, &entry->label, err);
    if (status == TACIT_OK)
        status = check_yardstick(yaml, node, entry, err);
    if (status == TACIT_OK && s.privacy != NULL)
        status = read_privacy(&s, experiment->facts.episodes, entry, err);
    if (status == TACIT_OK)
        status = read_outside(yaml, node, entry, err);
    if (status == TACIT_OK)
        status = tacit__settings_take(experiment, node, grid, own_keys, &entry->settings,
                                      &entry->n_settings, err);
    if (status == TACIT_OK)
        status = tacit__grid_label(experiment->yaml, grid, entry->label, &entry->label, err);
    return status;
}
