/* See cli/warn.h. A service refuses what this file warns about. A simulation harms no one, but people copy
 * the settings that they tried in one. */
#include "cli/warn.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Some kinds know only the model none, and baselines learn from no users. */
static bool could_be_private(const tacit_entry *entry)
{
    const tacit_agent_kind *kind = entry->baseline ? NULL : tacit_agent_kind_find(entry->kind);
    if (kind == NULL)
        kind = tacit_agent_alias_find(entry->kind);
    return kind != NULL && kind->models != TACIT_AGENT_NONE;
}

static void warn_of(const tacit_experiment_facts *facts, const tacit_entry *entry)
{
    if (!entry->privacy_written && could_be_private(entry))
        (void)fprintf(
            stderr,
            "tacit: warning: %s:%d: agent '%s' has no 'privacy' and works on exact data; "
            "write privacy: {model: joint, epsilon: 1}, or privacy: {model: none} if that "
            "is intended\n",
            facts->file, entry->line, entry->label);
    if (entry->delta_too_large)
        (void)fprintf(
            stderr,
            "tacit: warning: %s:%d: agent '%s' has delta %g, above 1/users = %g; lower it, "
            "or write delta_above_one_over_users: yes in privacy if that is intended\n",
            facts->file, entry->line, entry->label, entry->guarantee.delta,
            1 / (double)facts->episodes);
}

/* Agents of one list of values are one agent of the file: the first of them stands for all. */
static bool is_same(const tacit_entry *a, const tacit_entry *b)
{
    return a->line == b->line && strcmp(a->kind, b->kind) == 0 &&
           a->privacy_written == b->privacy_written && a->delta_too_large == b->delta_too_large;
}

void cli_warn(const tacit_experiment *experiment, const char *label)
{
    TACIT__REQUIRE(experiment != NULL);
    const tacit_experiment_facts *facts = tacit_experiment_describe(experiment);
    const tacit_entry *before = NULL;
    for (size_t i = 0; i < facts->n_agents; i++) {
        const tacit_entry *entry = &facts->agents[i];
        if (label != NULL && strcmp(label, entry->label) != 0)
            continue;
        if (before == NULL || !is_same(before, entry))
            warn_of(facts, entry);
        before = entry;
    }
}
