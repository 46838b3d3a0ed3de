/* Experiment files: any bytes give an experiment whose numbers are within the documented ranges, or one line that begins
 * with the file's name. Worlds and agents are not created: they have targets of their own. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/lab.h>

#include "fuzz/fuzz.h"

enum {
    MAX_JOBS = 500
}; /* larger grids are refused, as they should be, and would take their time */

static void check_entry(const tacit_experiment_facts *facts, const tacit_entry *entry)
{
    const tacit_guarantee *g = &entry->guarantee;
    require(entry->label[0] != '\0' && strlen(entry->label) <= 160 &&
            strpbrk(entry->label, "\n\r\t") == NULL);
    require((tacit_agent_kind_find(entry->kind) != NULL ||
             tacit_agent_alias_find(entry->kind) != NULL) == !entry->baseline);
    require((tacit_baseline_find(entry->kind) != NULL) == entry->baseline);
    require(g->epsilon > 0 && isinf(g->epsilon) == (g->model == TACIT_MODEL_NONE));
    require(g->delta >= 0 && g->delta < 1);
    require(entry->line >= 1);
    for (size_t i = 0; i < entry->n_settings; i++)
        require(entry->settings[i].key != NULL && entry->settings[i].value != NULL);
    for (const tacit_entry *other = facts->agents; other < entry; other++)
        require(strcmp(other->label, entry->label) != 0);
}

static void check_world(const tacit_experiment_facts *facts, const tacit_world_entry *world)
{
    require(world->label[0] != '\0' && strlen(world->label) <= 160 &&
            strpbrk(world->label, "\n\r\t") == NULL);
    require(world->kind[0] != '\0' && world->line >= 1);
    for (const tacit_world_entry *other = facts->worlds; other < world; other++)
        require(strcmp(other->label, world->label) != 0);
}

static void check(const tacit_experiment *experiment)
{
    uint64_t n_jobs = 0;
    const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
    require(facts->title[0] != '\0' && facts->n_worlds >= 1);
    require(facts->episodes >= 1 && facts->episodes <= TACIT_MAX_EPISODES);
    require(facts->runs >= 1 && facts->runs <= TACIT_MAX_RUNS);
    require(facts->n_agents >= 1 && facts->n_jobs >= 1);
    for (size_t i = 0; i < facts->n_agents; i++)
        check_entry(facts, &facts->agents[i]);
    for (size_t w = 0; w < facts->n_worlds; w++) {
        check_world(facts, &facts->worlds[w]);
        for (size_t i = 0; i < facts->n_agents; i++)
            n_jobs += tacit_experiment_plays(experiment, w, i) ? facts->runs : 0;
    }
    require(n_jobs == facts->n_jobs && n_jobs <= MAX_JOBS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tacit_experiment *experiment = NULL;
    tacit_error err = {.message = ""};
    const tacit_experiment_changes changes = {.max_jobs = MAX_JOBS};
    tacit_status status =
        tacit_experiment_parse((const char *)data, size, "file", &changes, &experiment, &err);
    if (status == TACIT_OK) {
        require(err.message[0] == '\0');
        check(experiment);
        tacit_experiment_destroy(experiment);
    } else {
        require(experiment == NULL && status == err.status);
        require(strncmp(err.message, "file:", 5) == 0 || status == TACIT_NO_MEMORY);
        require(strpbrk(err.message, "\n\r") == NULL);
    }
    return 0;
}
