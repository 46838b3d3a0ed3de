/* Experiment files: from the tree to the experiment. The format is in docs/reference/experiment.md.
 *
 * Jobs are counted before anything is expanded, so that a grid that is too large costs nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "lab/experiment.h"
#include "lab/runs/visitors.h"

enum { MAX_TITLE = 200 }; /* bytes */

#define AT(member) offsetof(tacit_experiment_facts, member)
const tacit__field tacit__experiment_fields[] = {
    {"title", TACIT__FIELD_TEXT, AT(title), .high = MAX_TITLE},
    {"world", TACIT__FIELD_OTHER, .parse = NULL},
    {"worlds", TACIT__FIELD_OTHER, .parse = NULL},
    {"episodes", TACIT__FIELD_COUNT, AT(episodes), 1, .high = TACIT_MAX_EPISODES},
    {"runs", TACIT__FIELD_COUNT, AT(runs), 1, TACIT_MAX_RUNS, .fallback = "1"},
    {"seed", TACIT__FIELD_COUNT, AT(seed), 0, INT64_MAX, .fallback = "1"},
    {"visitors", TACIT__FIELD_OTHER, .parse = NULL},
    {"agents", TACIT__FIELD_OTHER, .parse = NULL},
    {.name = NULL}};

typedef struct written {
    const char *label, *kind;
} written;

const tacit__field tacit__world_fields[] = {
    {"label", TACIT__FIELD_TEXT, offsetof(written, label), .high = TACIT__MAX_LABEL},
    {"kind", TACIT__FIELD_TEXT, offsetof(written, kind), .high = 64, .example = "kind: riverswim",
     .expected = "the name of a world"},
    {"visitors", TACIT__FIELD_OTHER, .parse = NULL},
    {.name = NULL}};

static const char an_experiment[] = "an experiment";

static const tacit__node *find(const tacit_experiment *e, const char *key)
{
    return tacit__node_get(tacit__yaml_root(e->yaml), key);
}

/* A count that was asked for instead of the file's; 0: the file's stays. */
static tacit_status change(const char *key, uint64_t instead, uint64_t *out, tacit_error *err)
{
    const size_t i = tacit__field_find(tacit__experiment_fields, key);
    TACIT__REQUIRE(i != SIZE_MAX);
    if (instead > tacit__experiment_fields[i].high)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%s is %" PRIu64 ", expected at most %" PRIu64,
                           key, instead, tacit__experiment_fields[i].high);
    if (instead > 0)
        *out = instead;
    return TACIT_OK;
}

static tacit_status read_facts(tacit_experiment *e, tacit_error *err)
{
    const char *slash = strrchr(e->facts.file, '/');
    const tacit__node *root = tacit__yaml_root(e->yaml);
    e->facts.title = slash != NULL ? slash + 1 : e->facts.file;
    TRY(tacit__map_read(root, an_experiment, tacit__experiment_fields, &e->facts, err));
    if (e->changes.episodes == 0 && find(e, "episodes") == NULL)
        return tacit__map_missing(root, an_experiment, "episodes", "episodes: 50000", err);
    TRY(change("episodes", e->changes.episodes, &e->facts.episodes, err));
    TRY(change("runs", e->changes.runs, &e->facts.runs, err));
    return change("seed", e->changes.seed, &e->facts.seed, err);
}

/* --- Worlds -------------------------------------------------------------------------------------- */

static tacit_status world_grid(const tacit__node *node, tacit__grid *grid, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    if (node->kind == TACIT__SCALAR && !tacit__node_is_null(node))
        return tacit__node_fail(node, err, "%s is '%.40s', expected a map: %s{kind: %.40s}",
                                node->key != NULL ? "world" : "a world", node->text,
                                node->key != NULL ? "world: " : "- ", node->text);
    if (node->kind == TACIT__LIST)
        return tacit__node_fail(
            node, err,
            node->key != NULL ? "world is %s, expected a map; list several worlds under 'worlds'"
                              : "a world is %s, expected a map, for example {kind: riverswim}",
            tacit__node_format(node, shown));
    return tacit__grid_open(node, tacit__world_fields, grid, err);
}

/* Kind and settings; the label as it is written, or the kind. */
static tacit_status read_kind(const tacit__node *node, const tacit__grid *grid,
                              tacit_world_entry *world, tacit_error *err)
{
    written w = {NULL, NULL};
    if (node->kind != TACIT__MAP) /* nothing */
        return tacit__map_missing(node, "the world", "kind", "kind: riverswim", err);
    TRY(tacit__map_read_some(node, grid, "the world", tacit__world_fields, &w, err));
    world->line = tacit__node_get(node, "kind")->line;
    world->kind = w.kind;
    world->label = w.label != NULL ? w.label : w.kind;
    return tacit__map_settings(node, grid, tacit__world_fields, &world->settings,
                               &world->n_settings, err);
}

tacit_status tacit__world_entry_read(const tacit__node *node, tacit_world_entry *out,
                                     tacit_error *err)
{
    tacit__grid grid;
    *out = (tacit_world_entry){0};
    TRY(world_grid(node, &grid, err));
    if (grid.n_axes > 0)
        return tacit__node_fail(grid.axis[0], err,
                                "%.40s is a list of values, which stands for several worlds; give "
                                "one value",
                                grid.axis[0]->key);
    const tacit__node *visitors = tacit__node_get(node, "visitors");
    if (visitors != NULL)
        return tacit__node_fail(visitors, err, "visitors belong to an experiment; remove them");
    return read_kind(node, &grid, out, err);
}

/* Its visitors are those of the world itself, else those of all worlds. A single world, written without a
 * label and without lists, has the empty key: it needs no name. All others are known by their labels. */
static tacit_status read_world(tacit_experiment *e, const tacit__node *node,
                               const tacit__grid *grid, tacit_error *err)
{
    tacit_world_entry *world = &e->worlds[e->facts.n_worlds];
    tacit__world_name *name = &e->names[e->facts.n_worlds];
    TRY(read_kind(node, grid, world, err));
    const tacit__node *own = tacit__node_get(node, "visitors"),
                      *visitors = own != NULL ? own : find(e, "visitors");
    if (visitors != NULL)
        TRY(tacit__visitors_read(visitors, e->facts.episodes, &world->visitors, err));
    name->base = world->label;
    TRY(tacit__grid_label(grid, name->base, &world->label, err));
    const bool alone =
        node->key != NULL && tacit__node_get(node, "label") == NULL && grid->n_axes == 0;
    name->key = alone ? "" : world->label;
    e->facts.n_worlds++;
    return TACIT_OK;
}

static tacit_status expand_worlds(tacit_experiment *e, const tacit__node *first, tacit_error *err)
{
    for (const tacit__node *node = first; node != NULL;
         node = node->key != NULL ? NULL : node->next) {
        tacit__grid grid;
        TRY(world_grid(node, &grid, err));
        do
            TRY(read_world(e, node, &grid, err));
        while (tacit__grid_next(&grid));
    }
    return TACIT_OK;
}

static tacit_status fail_jobs(const tacit_experiment *e, uint64_t jobs, uint64_t worlds,
                              uint64_t agents, tacit_error *err)
{
    char count[48];
    bool hard = jobs > TACIT_MAX_JOBS;
    if (jobs == UINT64_MAX)
        (void)snprintf(count, sizeof count, "more than 10^19");
    else
        (void)snprintf(count, sizeof count, "%" PRIu64, jobs);
    (void)tacit__yaml_fail(e->yaml, 0, err, hard ? TACIT_SYNTAX : TACIT_TOO_LARGE,
                           "%s jobs: %" PRIu64 " agent%s in %" PRIu64 " world%s, %" PRIu64
                           " run%s%s",
                           count, agents, agents == 1 ? "" : "s", worlds, worlds == 1 ? "" : "s",
                           e->facts.runs, e->facts.runs == 1 ? "" : "s",
                           hard ? "; at most 1000000 fit into one experiment, so split it" : "");
    return hard ? TACIT_SYNTAX : tacit__fail_hinted(err, TACIT_TOO_LARGE, TACIT_HINT_RAISE_JOBS);
}

static uint64_t most_jobs(const tacit_experiment *e)
{
    uint64_t most = e->changes.max_jobs;
    return most > 0 && most < TACIT_MAX_JOBS ? most : TACIT_MAX_JOBS;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return __builtin_mul_overflow(a, b, &a) ? UINT64_MAX : a;
}

/* Fails unless the node is a list with entries, of which `example` is one. */
static tacit_status check_list(const tacit__node *list, const char *what, const char *example,
                               tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    if (list->kind == TACIT__LIST && list->n_children > 0)
        return TACIT_OK;
    return tacit__node_fail(
        list, err, "%s is %s, expected a list %s", what,
        list->kind == TACIT__LIST ? "an empty list" : tacit__node_format(list, shown), example);
}

/* The first world, whose siblings (without keys) follow if there is a list of them. */
static tacit_status find_worlds(const tacit_experiment *e, const tacit__node **first,
                                tacit_error *err)
{
    const tacit__node *one = find(e, "world"), *many = find(e, "worlds");
    if (one == NULL && many == NULL)
        return tacit__map_missing(tacit__yaml_root(e->yaml), an_experiment, "world",
                                  "world: {kind: riverswim}", err);
    if (one != NULL && many != NULL)
        return tacit__node_fail(many, err,
                                "both 'world' and 'worlds' are given, the other in line %d; move "
                                "the world into the list",
                                one->line);
    if (many != NULL)
        TRY(check_list(many, "worlds", "with at least one entry, for example - {kind: riverswim}",
                       err));
    *first = one != NULL ? one : many->first;
    return TACIT_OK;
}

static tacit_status read_worlds(tacit_experiment *e, tacit_error *err)
{
    const tacit__node *first = NULL;
    uint64_t n = 0;
    TRY(find_worlds(e, &first, err));
    for (const tacit__node *node = first; node != NULL;
         node = node->key != NULL ? NULL : node->next) {
        tacit__grid grid;
        TRY(world_grid(node, &grid, err));
        n = add(n, grid.size);
    }
    if (times(n, e->facts.runs) > most_jobs(e)) /* at least one agent plays in each */
        return fail_jobs(e, times(n, e->facts.runs), n, 1, err);
    if (TACIT__PIECES(TACIT__PIECE(e->worlds, n), TACIT__PIECE(e->names, n)) == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    e->facts.worlds = e->worlds;
    return expand_worlds(e, first, err);
}

/* --- Agents -------------------------------------------------------------------------------------- */

static bool names_world(const tacit_experiment *e, size_t world, const char *text)
{
    return strcmp(text, e->names[world].base) == 0 || strcmp(text, e->worlds[world].label) == 0;
}

static bool plays(const tacit_experiment *e, const tacit__node *agent, size_t world)
{
    const tacit__node *list = tacit__node_get(agent, "worlds");
    if (list == NULL)
        return true;
    for (const tacit__node *child = list->first; child != NULL; child = child->next)
        if (names_world(e, world, child->text))
            return true;
    return false;
}

/* `worlds: [label, ...]` of an agent: every label must be one. */
static tacit_status check_restriction(const tacit_experiment *e, const tacit__node *agent,
                                      tacit_error *err)
{
    static const tacit__field a_label = {"the label of a world", TACIT__FIELD_TEXT,
                                         .high = TACIT__MAX_GRID_LABEL};
    const tacit__node *list = tacit__node_get(agent, "worlds");
    if (list == NULL)
        return TACIT_OK;
    TRY(check_list(list, "worlds", "of labels of worlds", err));
    for (const tacit__node *child = list->first; child != NULL; child = child->next) {
        const char *text;
        TRY(tacit__node_read(child, &a_label, &text, err));
        size_t world = 0;
        while (world < e->facts.n_worlds && !names_world(e, world, text))
            world++;
        if (world == e->facts.n_worlds)
            return tacit__node_fail(child, err,
                                    "no world is called '%.40s'; the first is called '%.80s'", text,
                                    e->worlds[0].label);
    }
    return TACIT_OK;
}

/* The number of agents, and of jobs, that the list expands to. */
static tacit_status count_agents(const tacit_experiment *e, const tacit__node *list,
                                 uint64_t *n_agents, uint64_t *n_jobs, tacit_error *err)
{
    *n_agents = *n_jobs = 0;
    for (const tacit__node *node = list->first; node != NULL; node = node->next) {
        tacit__grid grid;
        TRY(tacit__entry_grid(node, &grid, err));
        TRY(check_restriction(e, node, err));
        uint64_t worlds = 0;
        for (size_t world = 0; world < e->facts.n_worlds; world++)
            worlds += plays(e, node, world);
        *n_agents = add(*n_agents, grid.size);
        *n_jobs = add(*n_jobs, times(times(grid.size, worlds), e->facts.runs));
    }
    return TACIT_OK;
}

static tacit_status expand_agents(tacit_experiment *e, const tacit__node *list, tacit_error *err)
{
    const size_t n_agents = e->facts.n_agents;
    size_t agent = 0;
    for (const tacit__node *node = list->first; node != NULL; node = node->next) {
        tacit__grid grid;
        TRY(tacit__entry_grid(node, &grid, err));
        do {
            TRY(tacit__entry_read(node, &grid, e->facts.episodes, e->lenient, &e->agents[agent],
                                  err));
            for (size_t world = 0; world < e->facts.n_worlds; world++)
                e->pair_of[world * n_agents + agent] = plays(e, node, world) ? 0 : TACIT__NO_PAIR;
            agent++;
        } while (tacit__grid_next(&grid));
    }
    return TACIT_OK;
}

static tacit_status number_pairs(tacit_experiment *e, tacit_error *err)
{
    e->pairs = tacit__alloc((size_t)(e->facts.n_jobs / e->facts.runs), sizeof *e->pairs);
    if (e->pairs == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (uint32_t world = 0; world < e->facts.n_worlds; world++) {
        size_t before = e->n_pairs;
        for (uint32_t agent = 0; agent < e->facts.n_agents; agent++) {
            uint32_t *pair = &e->pair_of[world * e->facts.n_agents + agent];
            if (*pair == TACIT__NO_PAIR)
                continue;
            *pair = (uint32_t)e->n_pairs;
            e->pairs[e->n_pairs++] = (tacit__world_agent){world, agent};
        }
        if (e->n_pairs == before)
            return tacit__yaml_fail(
                e->yaml, e->worlds[world].line, err, TACIT_SYNTAX,
                "no agent plays in world '%.160s'; remove it, or name it in the "
                "'worlds' of an agent",
                e->worlds[world].label);
    }
    return TACIT_OK;
}

/* Checks that what an agent promises holds for the people whom it meets. */
static tacit_status check_visits(const tacit_experiment *e, const tacit__world_agent *pair,
                                 tacit_error *err)
{
    const tacit_world_entry *world = &e->worlds[pair->world];
    const tacit_entry *agent = &e->agents[pair->agent];
    if (world->visitors.people == 0 || agent->guarantee.model == TACIT_MODEL_NONE)
        return TACIT_OK;
    const tacit_visitors come = tacit__visitors_kept(&world->visitors, e->facts.episodes);
    const uint64_t visits = agent->visits > 0 ? agent->visits : 1,
                   apart = agent->apart > 0 ? agent->apart : 1;
    if (come.visits <= 1 || (come.visits <= visits && come.apart >= apart))
        return TACIT_OK;
    /* learners ask for room for a distance after the last visit, too */
    const uint64_t room = e->facts.episodes / come.visits,
                   kept = come.apart < room ? come.apart : room;
    return tacit__yaml_fail(
        e->yaml, agent->line, err, TACIT_SYNTAX,
        "agent '%.80s' has a guarantee for people who come %llu time%s, at least %llu "
        "users apart, but the visitors of world '%.80s' come %llu times, %llu apart; write "
        "visits: %llu, apart: %llu into its privacy, or change the visitors",
        agent->label, (unsigned long long)visits, visits == 1 ? "" : "s", (unsigned long long)apart,
        world->label, (unsigned long long)come.visits, (unsigned long long)come.apart,
        (unsigned long long)come.visits, (unsigned long long)kept);
}

static tacit_status read_agents(tacit_experiment *e, tacit_error *err)
{
    const tacit__node *node = find(e, "agents");
    uint64_t n_agents, n_jobs;
    if (node == NULL)
        return tacit__map_missing(tacit__yaml_root(e->yaml), an_experiment, "agents",
                                  "agents: [{kind: ucbvi}]", err);
    TRY(check_list(node, "agents", "with at least one entry, for example - {kind: ucbvi}", err));
    TRY(count_agents(e, node, &n_agents, &n_jobs, err));
    uint64_t places = times(n_agents, e->facts.n_worlds);
    if (places > 10 * TACIT_MAX_JOBS) /* most of them restricted to a few worlds; still too many */
        return fail_jobs(e, places, e->facts.n_worlds, n_agents, err);
    if (n_jobs > most_jobs(e))
        return fail_jobs(e, n_jobs, e->facts.n_worlds, n_agents, err);
    e->facts.n_agents = (size_t)n_agents;
    e->facts.n_jobs = n_jobs;
    if (TACIT__PIECES(TACIT__PIECE(e->agents, e->facts.n_agents),
                      TACIT__PIECE(e->pair_of, (size_t)places)) == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    e->facts.agents = e->agents;
    TRY(expand_agents(e, node, err));
    TRY(number_pairs(e, err));
    for (size_t i = 0; i < e->n_pairs; i++)
        TRY(check_visits(e, &e->pairs[i], err));
    return TACIT_OK;
}

/* --- Labels -------------------------------------------------------------------------------------- */

typedef struct label {
    const char *text;
    size_t index;
    int line;
} label;

static int compare_labels(const void *a, const void *b)
{
    const label *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* Labels distinguish results. Of several equal labels the first in the file is reported. */
static tacit_status check_labels(const tacit_experiment *e, const char *what, label *labels,
                                 size_t n, tacit_error *err)
{
    const label *first = NULL, *second = NULL;
    qsort(labels, n, sizeof *labels, compare_labels);
    for (size_t i = 1; i < n; i++)
        if (strcmp(labels[i - 1].text, labels[i].text) == 0 &&
            (second == NULL || labels[i].index < second->index)) {
            first = &labels[i - 1];
            second = &labels[i];
        }
    if (second == NULL)
        return TACIT_OK;
    return tacit__yaml_fail(
        e->yaml, second->line, err, TACIT_SYNTAX,
        "two %s are called '%.160s', the other in line %d; give each a label of "
        "its own",
        what, second->text, first->line);
}

static tacit_status check_all_labels(const tacit_experiment *e, tacit_error *err)
{
    size_t n = e->facts.n_agents > e->facts.n_worlds ? e->facts.n_agents : e->facts.n_worlds;
    label *labels = tacit__alloc(n, sizeof *labels);
    if (labels == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    for (size_t i = 0; i < e->facts.n_worlds; i++)
        labels[i] = (label){e->worlds[i].label, i, e->worlds[i].line};
    tacit_status status = check_labels(e, "worlds", labels, e->facts.n_worlds, err);
    for (size_t i = 0; i < e->facts.n_agents; i++)
        labels[i] = (label){e->agents[i].label, i, e->agents[i].line};
    if (status == TACIT_OK)
        status = check_labels(e, "agents", labels, e->facts.n_agents, err);
    tacit__free(labels);
    return status;
}

/* --- The file ------------------------------------------------------------------------------------ */

tacit_status tacit__experiment_fill(tacit_experiment *e, tacit_error *err)
{
    TACIT__REQUIRE(e->yaml != NULL);
    const tacit__node *root = tacit__yaml_root(e->yaml);
    e->facts.file = tacit__yaml_name(e->yaml);
    if (root->kind != TACIT__MAP)
        return tacit__node_fail(root, err,
                                "the file is not a map, expected lines such as 'episodes: 50000'");
    const tacit__node *learners = tacit__node_get(root, "learners");
    if (learners != NULL && find(e, "agents") == NULL)
        return tacit__node_fail(
            learners, err,
            "this is a service file: it has 'learners'; expected an experiment. `tacit "
            "serve` runs a service, `tacit explain` explains both");
    TRY(read_facts(e, err));
    TRY(read_worlds(e, err));
    TRY(read_agents(e, err));
    return check_all_labels(e, err);
}
