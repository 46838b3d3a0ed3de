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
#include "lab/visitors.h"

enum { MAX_TITLE = 200 }; /* bytes */

enum { TITLE, WORLD, WORLDS, EPISODES, RUNS, SEED, VISITORS, AGENTS, END };
static const tacit__field fields[] = {
    [TITLE] = {"title", TACIT__FIELD_TEXT, offsetof(tacit_experiment_facts, title),
               .high = MAX_TITLE},
    [WORLD] = {"world", TACIT__FIELD_OTHER, .example = NULL},
    [WORLDS] = {"worlds", TACIT__FIELD_OTHER, .example = NULL},
    [EPISODES] = {"episodes", TACIT__FIELD_COUNT, offsetof(tacit_experiment_facts, episodes),
                  .low = 1, .high = TACIT_MAX_EPISODES},
    [RUNS] = {"runs", TACIT__FIELD_COUNT, offsetof(tacit_experiment_facts, runs), .low = 1,
              .high = TACIT_MAX_RUNS},
    [SEED] = {"seed", TACIT__FIELD_COUNT, offsetof(tacit_experiment_facts, seed),
              .high = INT64_MAX},
    [VISITORS] = {"visitors", TACIT__FIELD_OTHER, .example = NULL},
    [AGENTS] = {"agents", TACIT__FIELD_OTHER, .example = NULL},
    [END] = {.name = NULL}};

static const char *const world_keys[] = {"label", "kind", "visitors", NULL};

static const tacit__node *find(const tacit_experiment *e, size_t key)
{
    TACIT__REQUIRE(key < sizeof fields / sizeof *fields);
    return tacit__node_get(tacit__yaml_root(e->yaml), fields[key].name);
}

static tacit_status fail_missing(const tacit_experiment *e, size_t key, const char *example,
                                 tacit_error *err)
{
    TACIT__REQUIRE(key < sizeof fields / sizeof *fields);
    return tacit__map_missing(e->yaml, tacit__yaml_root(e->yaml), fields[key].name, example, err);
}

/* A count that was asked for instead of the file's; 0: the file's stays. */
static tacit_status change(size_t key, uint64_t instead, uint64_t *out, tacit_error *err)
{
    TACIT__REQUIRE(key < sizeof fields / sizeof *fields);
    if (instead > fields[key].high)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%s is %" PRIu64 ", expected at most %" PRIu64,
                           fields[key].name, instead, fields[key].high);
    if (instead > 0)
        *out = instead;
    return TACIT_OK;
}

static tacit_status read_facts(tacit_experiment *e, const tacit__node *root, tacit_error *err)
{
    const char *slash = strrchr(e->facts.file, '/');
    e->facts.title = slash != NULL ? slash + 1 : e->facts.file;
    e->facts.runs = 1;
    e->facts.seed = 1;
    tacit_status status = tacit__map_read(e->yaml, root, fields, &e->facts, err);
    if (status == TACIT_OK && e->changes.episodes == 0 && find(e, EPISODES) == NULL)
        status = fail_missing(e, EPISODES, "episodes: 50000", err);
    if (status == TACIT_OK)
        status = change(EPISODES, e->changes.episodes, &e->facts.episodes, err);
    if (status == TACIT_OK)
        status = change(RUNS, e->changes.runs, &e->facts.runs, err);
    return status == TACIT_OK ? change(SEED, e->changes.seed, &e->facts.seed, err) : status;
}

/* --- Worlds -------------------------------------------------------------------------------------- */

static tacit_status world_grid(const tacit_experiment *e, const tacit__node *node,
                               tacit__grid *grid, tacit_error *err)
{
    char shown[TACIT__NODE_TEXT];
    if (node->kind == TACIT__SCALAR && !tacit__node_is_null(node))
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "%s is '%.40s', expected a map: %s{kind: %.40s}",
                                node->key != NULL ? "world" : "a world", node->text,
                                node->key != NULL ? "world: " : "- ", node->text);
    if (node->kind == TACIT__LIST)
        return tacit__yaml_fail(
            e->yaml, node->line, err, TACIT_SYNTAX,
            node->key != NULL ? "world is %s, expected a map; list several worlds under 'worlds'"
                              : "a world is %s, expected a map, for example {kind: riverswim}",
            tacit__node_format(node, shown));
    return tacit__grid_open(e->yaml, node, NULL, world_keys, grid, err);
}

/* Those of the world itself, else those of all worlds. */
static tacit_status read_visitors(const tacit_experiment *e, const tacit__node *world,
                                  tacit_visitors *out, tacit_error *err)
{
    const tacit__node *own = tacit__node_get(world, "visitors"),
                      *node = own != NULL ? own : find(e, VISITORS);
    return node != NULL ? tacit__visitors_read(e->yaml, node, e->facts.episodes, out, err)
                        : TACIT_OK;
}

/* Kind and settings. */
static tacit_status read_kind(tacit_experiment *e, const tacit__node *node, const tacit__grid *grid,
                              tacit_world_entry *world, tacit_error *err)
{
    static const tacit__field a_kind = {"the world's kind", TACIT__FIELD_TEXT, .high = 64};
    const tacit__node *kind = tacit__node_get(node, "kind");
    if (kind == NULL)
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "the world has no 'kind', expected for example world: {kind: "
                                "riverswim}");
    world->line = kind->line;
    TRY(tacit__node_read(e->yaml, kind, &a_kind, &world->kind, err));
    return tacit__settings_collect(e, node, grid, world_keys, &world->settings, &world->n_settings,
                                   err);
}

tacit_status tacit__world_entry_read(tacit_experiment *e, const tacit__node *node,
                                     tacit_world_entry *out, tacit_error *err)
{
    tacit__grid grid;
    *out = (tacit_world_entry){0};
    TRY(world_grid(e, node, &grid, err));
    if (grid.n_axes > 0)
        return tacit__yaml_fail(e->yaml, grid.axis[0]->line, err, TACIT_SYNTAX,
                                "%.40s is a list of values, which stands for several worlds; give "
                                "one value",
                                grid.axis[0]->key);
    const tacit__node *visitors = tacit__node_get(node, "visitors");
    if (visitors != NULL)
        return tacit__yaml_fail(e->yaml, visitors->line, err, TACIT_SYNTAX,
                                "visitors belong to an experiment; remove them");
    return read_kind(e, node, &grid, out, err);
}

/* A single world, written without a label and without lists, has the empty key: it needs no name. All
 * others are known by their labels. */
static tacit_status read_world(tacit_experiment *e, const tacit__node *node,
                               const tacit__grid *grid, tacit_error *err)
{
    tacit_world_entry *world = &e->worlds[e->facts.n_worlds];
    tacit__world_name *name = &e->names[e->facts.n_worlds];
    static const tacit__field a_label = {"label", TACIT__FIELD_TEXT, .high = TACIT__MAX_LABEL};
    const tacit__node *label = tacit__node_get(node, "label");
    tacit_status status = read_kind(e, node, grid, world, err);
    name->base = world->kind;
    if (status == TACIT_OK && label != NULL)
        status = tacit__node_read(e->yaml, label, &a_label, &name->base, err);
    if (status == TACIT_OK)
        status = read_visitors(e, node, &world->visitors, err);
    if (status == TACIT_OK)
        status = tacit__grid_label(e->yaml, grid, name->base, &world->label, err);
    bool alone = node->key != NULL && label == NULL && grid->n_axes == 0;
    name->key = alone ? "" : world->label;
    e->facts.n_worlds += status == TACIT_OK;
    return status;
}

static tacit_status expand_worlds(tacit_experiment *e, const tacit__node *first, tacit_error *err)
{
    for (const tacit__node *node = first; node != NULL;
         node = node->key != NULL ? NULL : node->next) {
        tacit__grid grid;
        tacit_status status = world_grid(e, node, &grid, err);
        do
            status = status == TACIT_OK ? read_world(e, node, &grid, err) : status;
        while (status == TACIT_OK && tacit__grid_next(&grid));
        if (status != TACIT_OK)
            return status;
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

/* The first world, whose siblings (without keys) follow if there is a list of them. */
static tacit_status find_worlds(const tacit_experiment *e, const tacit__node **first,
                                tacit_error *err)
{
    const tacit__node *one = find(e, WORLD), *many = find(e, WORLDS);
    char shown[TACIT__NODE_TEXT];
    if (one == NULL && many == NULL)
        return fail_missing(e, WORLD, "world: {kind: riverswim}", err);
    if (one != NULL && many != NULL)
        return tacit__yaml_fail(e->yaml, many->line, err, TACIT_SYNTAX,
                                "both 'world' and 'worlds' are given, the other in line %d; move "
                                "the world into the list",
                                one->line);
    if (many != NULL && (many->kind != TACIT__LIST || many->n_children == 0))
        return tacit__yaml_fail(e->yaml, many->line, err, TACIT_SYNTAX,
                                "worlds is %s, expected a list with at least one entry, for "
                                "example - {kind: riverswim}",
                                many->kind == TACIT__LIST ? "an empty list"
                                                          : tacit__node_format(many, shown));
    *first = one != NULL ? one : many->first;
    return TACIT_OK;
}

static tacit_status read_worlds(tacit_experiment *e, tacit_error *err)
{
    const tacit__node *first = NULL;
    uint64_t n = 0;
    tacit_status status = find_worlds(e, &first, err);
    for (const tacit__node *node = first; status == TACIT_OK && node != NULL;
         node = node->key != NULL ? NULL : node->next) {
        tacit__grid grid = {.size = 0};
        status = world_grid(e, node, &grid, err);
        n = add(n, grid.size);
    }
    if (status != TACIT_OK)
        return status;
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
    char shown[TACIT__NODE_TEXT];
    if (list == NULL)
        return TACIT_OK;
    if (list->kind != TACIT__LIST || list->n_children == 0)
        return tacit__yaml_fail(e->yaml, list->line, err, TACIT_SYNTAX,
                                "worlds is %s, expected a list of labels of worlds",
                                list->kind == TACIT__LIST ? "an empty list"
                                                          : tacit__node_format(list, shown));
    for (const tacit__node *child = list->first; child != NULL; child = child->next) {
        const char *text;
        TRY(tacit__node_read(e->yaml, child, &a_label, &text, err));
        size_t world = 0;
        while (world < e->facts.n_worlds && !names_world(e, world, text))
            world++;
        if (world == e->facts.n_worlds)
            return tacit__yaml_fail(e->yaml, child->line, err, TACIT_SYNTAX,
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
        TRY(tacit__entry_grid(e, node, &grid, err));
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
        tacit_status status = tacit__entry_grid(e, node, &grid, err);
        do {
            if (status == TACIT_OK)
                status = tacit__entry_read(e, node, &grid, &e->agents[agent], err);
            for (size_t world = 0; world < e->facts.n_worlds; world++)
                e->pair_of[world * n_agents + agent] = plays(e, node, world) ? 0 : TACIT__NO_PAIR;
            agent++;
        } while (status == TACIT_OK && tacit__grid_next(&grid));
        if (status != TACIT_OK)
            return status;
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

/* What an agent promises must hold for the people whom it meets. */
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
    const tacit__node *node = find(e, AGENTS);
    uint64_t n_agents, n_jobs;
    if (node == NULL)
        return fail_missing(e, AGENTS, "agents: [{kind: ucbvi}]", err);
    if (node->kind != TACIT__LIST || node->n_children == 0)
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "agents is %s, expected a list with at least one entry, for "
                                "example - {kind: ucbvi}",
                                node->kind == TACIT__LIST  ? "an empty list"
                                : node->kind == TACIT__MAP ? "a map"
                                                           : "not a list");
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
    tacit_status status = expand_agents(e, node, err);
    if (status == TACIT_OK)
        status = number_pairs(e, err);
    for (size_t i = 0; i < e->n_pairs && status == TACIT_OK; i++)
        status = check_visits(e, &e->pairs[i], err);
    return status;
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
        return tacit__yaml_fail(e->yaml, root->line, err, TACIT_SYNTAX,
                                "the file is not a map, expected lines such as 'episodes: 50000'");
    const tacit__node *learners = tacit__node_get(root, "learners");
    if (learners != NULL && find(e, AGENTS) == NULL)
        return tacit__yaml_fail(
            e->yaml, learners->line, err, TACIT_SYNTAX,
            "this is a service file: it has 'learners'; expected an experiment. `tacit "
            "serve` runs a service, `tacit explain` explains both");
    tacit_status status = tacit__map_check(e->yaml, root, "an experiment", fields, err);
    if (status == TACIT_OK)
        status = read_facts(e, root, err);
    if (status == TACIT_OK)
        status = read_worlds(e, err);
    if (status == TACIT_OK)
        status = read_agents(e, err);
    if (status == TACIT_OK)
        status = check_all_labels(e, err);
    return status;
}
