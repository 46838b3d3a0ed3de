/* One entry of `agents`: label, kind, privacy, outside, and the kind's own parameters. */
#include <math.h>
#include <stdio.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "lab/experiment.h"
#include "text/nearest.h"

enum { MAX_KINDS = 64 };

/* --- The table --------------------------------------------------------------------------------- */

typedef struct promise {
    size_t model, calibration, noise, sums;
    double epsilon, delta;
    bool large_delta; /* a delta above 1/users is intended */
    uint64_t visits, apart;
} promise;

typedef struct written {
    const char *label, *kind;
    bool clips;
    promise privacy;
} written;

static const char *const manners[] = {"refuse", "clip", NULL};
static const char *const models[] = {"none", "joint", "local", NULL};
static const char *const calibrations[] = {"tight", "published", "figure", NULL};
static const char *const noises[] = {"tight", "published", "recalled", NULL};
static const char *const mechanisms[] = {"tree", "smooth", "blt", NULL};
static const tacit__range epsilons = {
    .high = (double)INFINITY, .infinite = true, .expected = "a number >= 0, or .inf"};
static const tacit__range deltas = {.high = 1, .expected = "a number from 0 to below 1"};

static const tacit__field privacy_fields[] = {
    {"model", TACIT__FIELD_WORD, offsetof(promise, model), .words = models,
     .example = "model: joint",
     .expected = "none, joint (a trusted curator sees the data; also called central) or local"},
    {"epsilon", TACIT__FIELD_REAL, offsetof(promise, epsilon), .range = &epsilons},
    {"delta", TACIT__FIELD_REAL, offsetof(promise, delta), .range = &deltas},
    {"calibration", TACIT__FIELD_WORD, offsetof(promise, calibration), .words = calibrations,
     .fallback = "tight"},
    {"noise", TACIT__FIELD_WORD, offsetof(promise, noise), .words = noises, .fallback = "tight"},
    {"sums", TACIT__FIELD_WORD, offsetof(promise, sums), .words = mechanisms},
    {"delta_above_one_over_users", TACIT__FIELD_FLAG, offsetof(promise, large_delta),
     .fallback = "no"},
    {"visits", TACIT__FIELD_COUNT, offsetof(promise, visits), 1, .high = TACIT_MAX_EPISODES},
    {"apart", TACIT__FIELD_COUNT, offsetof(promise, apart), 1, .high = TACIT_MAX_EPISODES},
    {.name = NULL}};

const tacit__field tacit__entry_fields[] = {
    {"label", TACIT__FIELD_TEXT, offsetof(written, label), .high = TACIT__MAX_LABEL},
    {"kind", TACIT__FIELD_TEXT, offsetof(written, kind), .high = 64, .example = "kind: ucbvi",
     .expected = "the name of an agent"},
    {"privacy", TACIT__FIELD_MAP, offsetof(written, privacy), .fields = privacy_fields,
     .expected = "a map, for example {model: joint, epsilon: 1}"},
    {"worlds", TACIT__FIELD_OTHER, .parse = NULL}, /* restricts, and is no list of values: read.c */
    {"outside", TACIT__FIELD_FLAG, offsetof(written, clips), .words = manners,
     .fallback = "refuse"},
    {.name = NULL}};

/* --- Privacy ----------------------------------------------------------------------------------- */

/* Keys that only mean something together with a promise; an infinite epsilon says the same. */
static tacit_status check_no_promise(const tacit__node *privacy, const promise *p, tacit_error *err)
{
    for (const tacit__field *f = privacy_fields + 1; f->name != NULL; f++) {
        const tacit__node *node = tacit__node_get(privacy, f->name);
        if (node != NULL && !(f == privacy_fields + 1 && isinf(p->epsilon)))
            return tacit__node_fail(node, err,
                                    "model none has no guarantee, so it has no %s; remove it, or "
                                    "ask for model joint or local",
                                    f->name);
    }
    return TACIT_OK;
}

/* The whole algorithm of a paper is its calibration; its noise alone is `noise`. */
static tacit_status read_calibration(const tacit__node *privacy, const promise *p,
                                     tacit_entry *entry, tacit_error *err)
{
    static const tacit_calibration alone[] = {TACIT_CALIBRATION_TIGHT, TACIT_CALIBRATION_NOISE,
                                              TACIT_CALIBRATION_RECALLED};
    const tacit__node *noise = tacit__node_get(privacy, "noise");
    if (noise != NULL && tacit__node_get(privacy, "calibration") != NULL)
        return tacit__node_fail(noise, err,
                                "privacy has both 'calibration' and 'noise'; calibration: %s says "
                                "what the noise is, so remove one of them",
                                calibrations[p->calibration]);
    entry->calibration = noise != NULL ? alone[p->noise] : (tacit_calibration)p->calibration;
    return TACIT_OK;
}

static tacit_status read_privacy(const tacit__node *privacy, const promise *p, uint64_t episodes,
                                 tacit_entry *entry, tacit_error *err)
{
    const tacit__node *epsilon = tacit__node_get(privacy, "epsilon"),
                      *apart = tacit__node_get(privacy, "apart");
    const bool chosen = tacit__node_get(privacy, "delta") == NULL;
    if (p->model == TACIT_MODEL_NONE)
        return check_no_promise(privacy, p, err);
    if (epsilon == NULL)
        return tacit__map_missing(privacy, "privacy", "epsilon",
                                  "epsilon: 1, or .inf for the learner without privacy", err);
    if (p->epsilon == 0 && (chosen || p->delta == 0))
        return tacit__node_fail(
            epsilon, err, "epsilon is 0, which needs a delta > 0; give one, or an epsilon > 0");
    if (apart != NULL && tacit__node_get(privacy, "visits") == NULL)
        return tacit__node_fail(apart, err,
                                "apart says how far the visits of one person are apart, but there "
                                "is no 'visits'; add for example visits: 5");
    if (isinf(p->epsilon))
        return TACIT_OK;
    TRY(read_calibration(privacy, p, entry, err));
    entry->guarantee = (tacit_guarantee){(tacit_model)p->model, p->epsilon, p->delta};
    /* papers without a delta have none to fill in */
    if (chosen && p->epsilon > 0 && entry->calibration != TACIT_CALIBRATION_TIGHT &&
        tacit__agent_prints_pure(entry->kind))
        entry->guarantee.delta = 0;
    entry->delta_chosen = chosen && entry->guarantee.delta > 0;
    entry->sums = tacit__node_get(privacy, "sums") != NULL ? mechanisms[p->sums] : NULL;
    entry->visits = p->visits;
    entry->apart = p->apart;
    /* A delta above 1/users allows a mechanism that publishes all data of some user: it must be explicit. */
    entry->delta_too_large = !p->large_delta && entry->guarantee.delta > 1 / (double)episodes;
    return TACIT_OK;
}

/* --- The entry --------------------------------------------------------------------------------- */

static tacit_status fail_kind(const tacit__node *kind, tacit_error *err)
{
    const char *names[MAX_KINDS];
    char hint[TACIT__SUGGESTION];
    size_t n = 0;
    for (size_t i = 0; i < tacit_agent_kind_count() && n < MAX_KINDS; i++)
        names[n++] = tacit_agent_kind_at(i)->name;
    for (size_t i = 0; i < tacit_agent_alias_count() && n < MAX_KINDS; i++)
        names[n++] = tacit_agent_alias_at(i)->name;
    for (size_t i = 0; i < tacit_baseline_count() && n < MAX_KINDS; i++)
        names[n++] = tacit_baseline_at(i)->name;
    return tacit__node_fail(kind, err, "no agent is called '%.40s'%s", kind->text,
                            tacit__suggest(kind->text, names, n, NULL, hint));
}

/* The kind, and that the map has no other keys than it takes; their values are the agent's business. What an
 * alias stands for, and so which names it knows, depends on the world: tacit_agent_choose. */
static tacit_status check_kind(const tacit__node *node, bool lenient, tacit_entry *entry,
                               tacit_error *err)
{
    const tacit_agent_kind *kind = tacit_baseline_find(entry->kind);
    char what[80];
    entry->baseline = kind != NULL;
    if (kind == NULL)
        kind = tacit_agent_kind_find(entry->kind);
    if (kind == NULL)
        return lenient || tacit_agent_alias_find(entry->kind) != NULL
                   ? TACIT_OK
                   : fail_kind(tacit__node_get(node, "kind"), err);
    (void)snprintf(what, sizeof what, "agent %s", kind->name);
    return tacit__map_check(node, what, tacit__entry_fields, kind->parameters, kind->n_parameters,
                            err);
}

/* A baseline does not learn from users, so it takes no privacy and no parameters. */
static tacit_status check_baseline(const tacit__node *node, const tacit_entry *entry,
                                   tacit_error *err)
{
    static const char *const keys[] = {"privacy", "outside"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && entry->baseline; i++) {
        const tacit__node *found = tacit__node_get(node, keys[i]);
        if (found != NULL)
            return tacit__node_fail(found, err,
                                    "%s does not learn from users and takes no '%s'; remove it",
                                    entry->kind, keys[i]);
    }
    return TACIT_OK;
}

tacit_status tacit__entry_grid(const tacit__node *node, tacit__grid *grid, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    if (node->kind != TACIT__MAP)
        return tacit__node_fail(node, err,
                                "an agent is %s, expected a map, for example {kind: ucbvi}",
                                tacit__node_format(node, shown));
    return tacit__grid_open(node, tacit__entry_fields, grid, err);
}

tacit_status tacit__entry_read(const tacit__node *node, const tacit__grid *grid, uint64_t episodes,
                               bool lenient, tacit_entry *entry, tacit_error *err)
{
    TACIT__REQUIRE(node != NULL && entry != NULL);
    const tacit__node *privacy = tacit__node_get(node, "privacy");
    /* One user in ten times as many as there are: the customary size of "negligible". */
    written w = {.privacy = {.delta = 1 / (10 * (double)episodes)}};
    TRY(tacit__map_read_some(node, grid, "the agent", tacit__entry_fields, &w, err));
    *entry = (tacit_entry){.guarantee = {TACIT_MODEL_NONE, (double)INFINITY, 0},
                           .line = node->line,
                           .kind = w.kind,
                           .privacy_written = privacy != NULL,
                           .outside = w.clips ? TACIT_OUTSIDE_CLIP : TACIT_OUTSIDE_REFUSE};
    TRY(check_kind(node, lenient, entry, err));
    TRY(check_baseline(node, entry, err));
    if (privacy != NULL)
        TRY(read_privacy(privacy, &w.privacy, episodes, entry, err));
    TRY(tacit__map_settings(node, grid, tacit__entry_fields, &entry->settings, &entry->n_settings,
                            err));
    return tacit__grid_label(grid, w.label != NULL ? w.label : w.kind, &entry->label, err);
}

tacit_status tacit__entry_read_one(const tacit__node *node, uint64_t episodes, tacit_entry *entry,
                                   tacit_error *err)
{
    tacit__grid grid;
    TRY(tacit__entry_grid(node, &grid, err));
    if (grid.n_axes > 0)
        return tacit__node_fail(node, err, "a learner has one agent: no lists of values here");
    return tacit__entry_read(node, &grid, episodes, false, entry, err);
}

tacit_status tacit__entry_fail_delta(const tacit__node *node, const char *what, double delta,
                                     uint64_t users, tacit_error *err)
{
    return tacit__node_fail(
        node, err,
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
