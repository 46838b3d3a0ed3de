/* Experiments: creating and destroying them, and creating their worlds and agents. read.c reads them. */
#include "lab/experiment.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/workspace.h"
#include "lab/runs/seed.h"
#include "text/settings.h"

/* Owns the tree from here on, in success and in failure. */
static tacit_status create(tacit__yaml *yaml, const tacit_experiment_changes *changes, bool lenient,
                           tacit_experiment **out, tacit_error *err)
{
    tacit_experiment *e = tacit__alloc(1, sizeof *e);
    if (e == NULL) {
        tacit__yaml_destroy(yaml);
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    }
    e->self = e;
    atomic_init(&e->owners, 1);
    e->yaml = yaml;
    e->lenient = lenient;
    if (changes != NULL)
        e->changes = *changes;
    tacit_status status = tacit__experiment_fill(e, err);
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
    TRY(tacit__yaml_read(path, "an experiment file, such as examples/riverswim.yaml", &yaml, err));
    return create(yaml, changes, false, out, err);
}

static tacit_status parse(const char *text, size_t size, const char *name,
                          const tacit_experiment_changes *changes, bool lenient,
                          tacit_experiment **out, tacit_error *err)
{
    tacit__yaml *yaml;
    if (out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    TRY(tacit__yaml_parse(text, size, name, &yaml, err));
    return create(yaml, changes, lenient, out, err);
}

tacit_status tacit_experiment_parse(const char *text, size_t size, const char *name,
                                    const tacit_experiment_changes *changes, tacit_experiment **out,
                                    tacit_error *err)
{
    return parse(text, size, name, changes, false, out, err);
}

tacit_status tacit__experiment_reopen(const char *text, size_t size, const char *name,
                                      const tacit_experiment_changes *changes,
                                      tacit_experiment **out, tacit_error *err)
{
    return parse(text, size, name, changes, true, out, err);
}

tacit_experiment *tacit__experiment_share(const tacit_experiment *experiment)
{
    (void)atomic_fetch_add(&experiment->self->owners, 1);
    return experiment->self;
}

void tacit_experiment_destroy(tacit_experiment *experiment)
{
    if (experiment == NULL || atomic_fetch_sub(&experiment->owners, 1) > 1)
        return;
    tacit__yaml_destroy(experiment->yaml);
    tacit__workspace_destroy(experiment->worlds);
    tacit__workspace_destroy(experiment->agents);
    tacit__free(experiment->pairs);
    tacit__free(experiment);
}

const tacit_experiment_facts *tacit_experiment_describe(const tacit_experiment *experiment)
{
    return &experiment->facts;
}

bool tacit_experiment_plays(const tacit_experiment *experiment, size_t world, size_t agent)
{
    const tacit_experiment_facts *facts = &experiment->facts;
    return world < facts->n_worlds && agent < facts->n_agents &&
           experiment->pair_of[world * facts->n_agents + agent] != TACIT__NO_PAIR;
}

tacit_status tacit_experiment_world(const tacit_experiment *experiment, size_t world,
                                    tacit_world **out, tacit_error *err)
{
    if (experiment == NULL || out == NULL || world >= experiment->facts.n_worlds)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_world_entry *entry = &experiment->worlds[world];
    const tacit_world_request request = {.kind = entry->kind,
                                         .settings = entry->settings,
                                         .n_settings = entry->n_settings,
                                         .file = experiment->facts.file,
                                         .line = entry->line};
    return tacit_world_create(&request, out, err);
}

tacit_agent_request tacit__world_request(const tacit_world *place, uint64_t episodes,
                                         const char *file)
{
    const tacit_world_facts *space = tacit_world_describe(place);
    return (tacit_agent_request){.n_states = space->n_states,
                                 .n_actions = space->n_actions,
                                 .horizon = space->horizon,
                                 .stationary = space->stationary,
                                 .episodes = episodes,
                                 .mixture = space->mixture,
                                 .linear = space->linear,
                                 .bandit = space->bandit,
                                 .rewards = space->rewards,
                                 .file = file};
}

tacit_status tacit_experiment_request(const tacit_experiment *experiment, const tacit_world *place,
                                      size_t agent, tacit_agent_request *out, tacit_error *err)
{
    if (experiment == NULL || place == NULL || out == NULL || agent >= experiment->facts.n_agents)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit_entry *entry = &experiment->agents[agent];
    if (entry->baseline)
        return tacit__fail(err, TACIT_UNSUPPORTED, "'%s' is a baseline, which is not an agent",
                           entry->kind);
    *out = tacit__world_request(place, experiment->facts.episodes, experiment->facts.file);
    tacit__entry_set_request(entry, out);
    return tacit_agent_choose(out, &out->kind, err);
}

tacit_status tacit_experiment_agent(const tacit_experiment *experiment, size_t world,
                                    const tacit_world *place, size_t agent, uint64_t run,
                                    tacit_agent **out, tacit_error *err)
{
    if (experiment == NULL || out == NULL || world >= experiment->facts.n_worlds)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    tacit_agent_request request;
    TRY(tacit_experiment_request(experiment, place, agent, &request, err));
    tacit_noise *noise = NULL;
    tacit_status status =
        tacit__seed_agent(experiment->facts.seed, run, experiment->names[world].key,
                          experiment->agents[agent].label, &noise);
    if (status != TACIT_OK)
        return tacit__fail_plain(err, status);
    status = tacit_agent_create(&request, noise, out, err);
    tacit_noise_destroy(noise);
    return status;
}
