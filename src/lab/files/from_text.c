/* Worlds and agents from the text of their entries: see include/tacit/lab.h. The readers are those of
 * experiments (read.c, entry.c) and of the `space` of a service's learner (config_space.c). */

#include <string.h>

#include "agents/agent_inside.h"
#include "base/error.h"
#include "base/memory.h"
#include "lab/baseline.h"
#include "lab/experiment.h"
#include "lab/files/config_space.h"
#include "lab/files/space_names.h"

tacit_status tacit_world_create_text(const char *text, size_t size, const char *name,
                                     tacit_world **out, tacit_error *err)
{
    if (text == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit__yaml *yaml = NULL;
    tacit_world_entry entry;
    TRY(tacit__yaml_parse(text, size, name != NULL ? name : "world", &yaml, err));
    tacit_status status = tacit__world_entry_read(tacit__yaml_root(yaml), &entry, err);
    if (status == TACIT_OK) {
        const tacit_world_request request = {.kind = entry.kind,
                                             .settings = entry.settings,
                                             .n_settings = entry.n_settings,
                                             .file = tacit__yaml_name(yaml),
                                             .line = entry.line};
        status = tacit_world_create(&request, out, err);
    }
    tacit__yaml_destroy(yaml);
    return status;
}

/* The request of an agent points to these, and the agent keeps them. */
typedef struct declared {
    tacit__yaml *yaml;
    uint64_t episodes;
    bool baseline;
    tacit__learner_config learner;
} declared;

static void destroy_declared(void *self)
{
    declared *d = self;
    tacit__world_tables_destroy(&d->learner.known);
    tacit__action_names_free(&d->learner);
    tacit__yaml_destroy(d->yaml);
    tacit__free(d);
}

static const tacit__field fields[] = {
    {"agent", TACIT__FIELD_OTHER,
     .example = "agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}"},
    {"episodes", TACIT__FIELD_COUNT, offsetof(declared, episodes), 1, TACIT_MAX_EPISODES,
     .example = "episodes: 50000"},
    {"space", TACIT__FIELD_OTHER, .parse = NULL},
    {.name = NULL}};

static const char the_text[] = "the text";

/* The space: that of the world or, without one, that of the text. */
static tacit_status read_space(declared *d, const tacit_world *place, tacit_error *err)
{
    const tacit__node *root = tacit__yaml_root(d->yaml), *space = tacit__node_get(root, "space");
    tacit_agent_request *request = &d->learner.request;
    if (place != NULL && space != NULL)
        return tacit__node_fail(space, err, "the space is that of the world; remove 'space'");
    if (place != NULL) {
        *request = tacit__world_request(place, d->episodes, tacit__yaml_name(d->yaml));
        return TACIT_OK;
    }
    if (space == NULL)
        return tacit__map_missing(root, the_text, "space",
                                  "space: {states: 6, actions: 2, horizon: 20}", err);
    TRY(tacit__space_read(space, &d->learner, err));
    request->episodes = d->episodes;
    return TACIT_OK;
}

static tacit_status read_declared(declared *d, const tacit_world *place, tacit_error *err)
{
    const tacit__node *root = tacit__yaml_root(d->yaml);
    tacit_agent_request *request = &d->learner.request;
    tacit_entry entry;
    TRY(tacit__map_read(root, the_text, fields, d, err));
    TRY(read_space(d, place, err));
    const tacit__node *node = tacit__node_get(root, "agent");
    TRY(tacit__entry_read_one(node, d->episodes, &entry, err));
    if (entry.delta_too_large)
        return tacit__entry_fail_delta(tacit__node_get(node, "privacy"), "privacy",
                                       entry.guarantee.delta, d->episodes, err);
    tacit__entry_set_request(&entry, request);
    d->learner.kind = entry.kind;
    d->baseline = entry.baseline;
    return place != NULL ? TACIT_OK : tacit__space_open(&d->learner, err);
}

/* `uniform` needs no world; `constant` is the best single action of one. */
static tacit_status create_baseline(const declared *d, const tacit_world *place, tacit_noise *noise,
                                    tacit_agent **out, tacit_error *err)
{
    const tacit_agent_request *r = &d->learner.request;
    uint32_t action = (uint32_t)r->n_actions;
    const bool constant = strcmp(r->kind, "constant") == 0;
    if (!constant && strcmp(r->kind, "uniform") != 0)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
                              "%s does not learn; `tacit agents` lists those that do", r->kind);
    if (constant && place == NULL)
        return tacit__fail_at(err, TACIT_UNSUPPORTED, r->file, (size_t)r->line,
                              "constant is the best single action of a world, and a space does not "
                              "say which action that is; give a world, or use uniform");
    if (constant)
        TRY(tacit__baseline_constant(place, d->episodes, noise, &action, err));
    return tacit__baseline_agent_create(r, action, out, err);
}

tacit_status tacit_agent_create_text(const char *text, size_t size, const char *name,
                                     const tacit_world *place, tacit_noise *noise,
                                     tacit_agent **out, tacit_error *err)
{
    if (text == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    declared *d = tacit__alloc(1, sizeof *d);
    if (d == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit_agent *agent = NULL;
    tacit_status status =
        tacit__yaml_parse(text, size, name != NULL ? name : "agent", &d->yaml, err);
    if (status == TACIT_OK)
        status = read_declared(d, place, err);
    if (status == TACIT_OK)
        status = d->baseline ? create_baseline(d, place, noise, &agent, err)
                             : tacit_agent_create(&d->learner.request, noise, &agent, err);
    if (status != TACIT_OK) {
        destroy_declared(d);
        return status;
    }
    tacit__agent_attach(agent, d, destroy_declared);
    *out = agent;
    return TACIT_OK;
}
