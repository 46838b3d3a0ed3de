/* Experiment files: the top level, and how worlds and agents are made from it. The format is in
 * docs/reference/experiment.md. */
#include "lab/experiment.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "lab/seed.h"

enum { MAX_TITLE = 200 }; /* bytes */

static const char *const keys[] = {"title", "world", "episodes", "runs", "seed", "agents"};
enum { TITLE, WORLD, EPISODES, RUNS, SEED, AGENTS, N_KEYS };

/* Settings there can be at most: as many as there are scalars in maps. */
static size_t count_scalars(const tacit__node *node)
{
    size_t n = node->kind == TACIT__SCALAR;
    for (const tacit__node *child = node->first; child != NULL; child = child->next)
        n += count_scalars(child);
    return n;
}

static tacit_status need(const tacit_experiment *e, size_t key, const char *example,
                         const tacit__node **out, tacit_error *err)
{
    *out = tacit__node_get(tacit__yaml_root(e->yaml), keys[key]);
    if (*out != NULL)
        return TACIT_OK;
    return tacit__yaml_fail(e->yaml, tacit__yaml_root(e->yaml)->line, err, TACIT_SYNTAX,
                            "'%s' is missing, expected for example %s", keys[key], example);
}

static tacit_status read_title(tacit_experiment *e, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(tacit__yaml_root(e->yaml), keys[TITLE]);
    if (node != NULL)
        return tacit__take_text(e->yaml, node, keys[TITLE], MAX_TITLE, &e->facts.title, err);
    const char *slash = strrchr(e->facts.file, '/');
    e->facts.title = slash != NULL ? slash + 1 : e->facts.file;
    return TACIT_OK;
}

static tacit_status read_world(tacit_experiment *e, tacit_error *err)
{
    static const char *const skip[] = {"kind", NULL};
    const tacit__node *node;
    tacit_status status = need(e, WORLD, "world: {kind: riverswim}", &node, err);
    if (status != TACIT_OK)
        return status;
    if (node->kind == TACIT__SCALAR && !tacit__node_is_null(node))
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "world is '%.40s', expected a map: world: {kind: %.40s}",
                                node->text, node->text);
    const tacit__node *kind = node->kind == TACIT__MAP ? tacit__node_get(node, "kind") : NULL;
    if (kind == NULL)
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "the world has no 'kind', expected for example world: {kind: "
                                "riverswim}");
    e->facts.world_line = kind->line;
    status = tacit__take_text(e->yaml, kind, "the world's kind", 64, &e->facts.world, err);
    if (status == TACIT_OK)
        status = tacit__settings_take(e, node, skip, &e->facts.world_settings,
                                      &e->facts.n_world_settings, err);
    return status;
}

/* A count from the file, unless something else was asked for; both are checked. */
static tacit_status read_count(tacit_experiment *e, size_t key, uint64_t low, uint64_t high,
                               uint64_t instead, uint64_t *out, tacit_error *err)
{
    const tacit__node *node = tacit__node_get(tacit__yaml_root(e->yaml), keys[key]);
    if (node != NULL) {
        tacit_status status = tacit__take_count(e->yaml, node, keys[key], low, high, out, err);
        if (status != TACIT_OK)
            return status;
    }
    if (instead > high)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%s is %llu, expected at most %llu", keys[key],
                           (unsigned long long)instead, (unsigned long long)high);
    if (instead > 0)
        *out = instead;
    return TACIT_OK;
}

static tacit_status read_numbers(tacit_experiment *e, const tacit_experiment_changes *changes,
                                 tacit_error *err)
{
    const tacit__node *node;
    uint64_t episodes = changes != NULL ? changes->episodes : 0;
    e->facts.runs = 1;
    e->facts.seed = 1;
    tacit_status status =
        episodes > 0 ? TACIT_OK : need(e, EPISODES, "episodes: 50000", &node, err);
    if (status == TACIT_OK)
        status = read_count(e, EPISODES, 1, TACIT_MAX_EPISODES, episodes, &e->facts.episodes, err);
    if (status == TACIT_OK)
        status = read_count(e, RUNS, 1, TACIT_MAX_RUNS, changes != NULL ? changes->runs : 0,
                            &e->facts.runs, err);
    if (status == TACIT_OK)
        status = read_count(e, SEED, 0, INT64_MAX, 0, &e->facts.seed, err);
    return status;
}

/* Results are told apart by their labels. */
static tacit_status check_label(const tacit_experiment *e, size_t i, tacit_error *err)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(e->agents[j].label, e->agents[i].label) == 0)
            return tacit__yaml_fail(e->yaml, e->agents[i].line, err, TACIT_SYNTAX,
                                    "two agents are called '%.40s', the other in line %d; give "
                                    "each a label of its own",
                                    e->agents[i].label, e->agents[j].line);
    return TACIT_OK;
}

static tacit_status read_agents(tacit_experiment *e, tacit_error *err)
{
    const tacit__node *node;
    tacit_status status = need(e, AGENTS, "agents: [{kind: ucbvi}]", &node, err);
    if (status != TACIT_OK)
        return status;
    if (node->kind != TACIT__LIST || node->n_children == 0)
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "agents is %s, expected a list with at least one entry, for "
                                "example - {kind: ucbvi}",
                                node->kind == TACIT__LIST  ? "an empty list"
                                : node->kind == TACIT__MAP ? "a map"
                                                           : "not a list");
    e->agents = tacit__alloc(node->n_children, sizeof *e->agents);
    if (e->agents == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    e->facts.agents = e->agents;
    for (const tacit__node *child = node->first; child != NULL; child = child->next) {
        size_t i = e->facts.n_agents;
        status = tacit__entry_read(e, child, &e->agents[i], err);
        if (status == TACIT_OK)
            status = check_label(e, i, err);
        if (status != TACIT_OK)
            return status;
        e->facts.n_agents++;
    }
    if (e->facts.n_agents * e->facts.runs > TACIT_MAX_JOBS)
        return tacit__yaml_fail(e->yaml, node->line, err, TACIT_SYNTAX,
                                "%zu agents times %llu runs are more than %llu jobs; split the "
                                "experiment",
                                e->facts.n_agents, (unsigned long long)e->facts.runs,
                                (unsigned long long)TACIT_MAX_JOBS);
    return TACIT_OK;
}

static tacit_status read_all(tacit_experiment *e, const tacit_experiment_changes *changes,
                             tacit_error *err)
{
    const tacit__node *root = tacit__yaml_root(e->yaml);
    e->facts.file = tacit__yaml_name(e->yaml);
    if (root->kind != TACIT__MAP)
        return tacit__yaml_fail(e->yaml, root->line, err, TACIT_SYNTAX,
                                "the file is not a map, expected lines such as 'episodes: 50000'");
    tacit_status status = tacit__node_check_keys(e->yaml, root, "an experiment", keys, N_KEYS, err);
    if (status != TACIT_OK)
        return status;
    e->settings = tacit__alloc(count_scalars(root), sizeof *e->settings);
    if (e->settings == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    status = read_title(e, err);
    if (status == TACIT_OK)
        status = read_numbers(e, changes, err);
    if (status == TACIT_OK)
        status = read_world(e, err);
    if (status == TACIT_OK)
        status = read_agents(e, err);
    return status;
}

/* Takes the tree over, in success and in failure. */
static tacit_status create(tacit__yaml *yaml, const tacit_experiment_changes *changes,
                           tacit_experiment **out, tacit_error *err)
{
    tacit_experiment *e = tacit__alloc(1, sizeof *e);
    if (e == NULL) {
        tacit__yaml_destroy(yaml);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    e->yaml = yaml;
    tacit_status status = read_all(e, changes, err);
    if (status == TACIT_OK)
        *out = e;
    else
        tacit_experiment_destroy(e);
    return status;
}

tacit_status tacit_experiment_read(const char *path, const tacit_experiment_changes *changes,
                                   tacit_experiment **out, tacit_error *err)
{
    tacit__yaml *yaml;
    if (path == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = tacit__yaml_read(path, &yaml, err);
    return status == TACIT_OK ? create(yaml, changes, out, err) : status;
}

tacit_status tacit_experiment_parse(const char *text, size_t size, const char *name,
                                    const tacit_experiment_changes *changes, tacit_experiment **out,
                                    tacit_error *err)
{
    tacit__yaml *yaml;
    if (out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_status status = tacit__yaml_parse(text, size, name, &yaml, err);
    return status == TACIT_OK ? create(yaml, changes, out, err) : status;
}

void tacit_experiment_destroy(tacit_experiment *experiment)
{
    if (experiment == NULL)
        return;
    tacit__yaml_destroy(experiment->yaml);
    tacit__free(experiment->agents);
    tacit__free(experiment->settings);
    tacit__free(experiment);
}

const tacit_experiment_facts *tacit_experiment_describe(const tacit_experiment *experiment)
{
    return &experiment->facts;
}

tacit_status tacit_experiment_world(const tacit_experiment *experiment, tacit_world **out,
                                    tacit_error *err)
{
    if (experiment == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_experiment_facts *facts = &experiment->facts;
    const tacit_world_request request = {.kind = facts->world,
                                         .settings = facts->world_settings,
                                         .n_settings = facts->n_world_settings,
                                         .file = facts->file,
                                         .line = facts->world_line};
    return tacit_world_create(&request, out, err);
}

tacit_status tacit_experiment_agent(const tacit_experiment *experiment, const tacit_world *world,
                                    size_t i, uint64_t run, tacit_agent **out, tacit_error *err)
{
    if (experiment == NULL || world == NULL || out == NULL || i >= experiment->facts.n_agents)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_entry *entry = &experiment->agents[i];
    const tacit_world_facts *space = tacit_world_describe(world);
    if (entry->yardstick)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "'%s' is a yardstick: it is played by the lab and is no agent",
                           entry->kind);
    const tacit_agent_request request = {.kind = entry->kind,
                                         .settings = entry->settings,
                                         .n_settings = entry->n_settings,
                                         .guarantee = entry->guarantee,
                                         .calibration = entry->calibration,
                                         .sums = entry->sums,
                                         .n_states = space->n_states,
                                         .n_actions = space->n_actions,
                                         .horizon = space->horizon,
                                         .stationary = space->stationary,
                                         .episodes = experiment->facts.episodes,
                                         .mixture = space->mixture,
                                         .linear = space->linear,
                                         .rewards = space->rewards,
                                         .file = experiment->facts.file,
                                         .line = entry->line};
    tacit_noise *noise = NULL;
    tacit_status status =
        tacit__seed_noise(experiment->facts.seed, run, "agent", entry->label, &noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit_agent_create(&request, noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}
