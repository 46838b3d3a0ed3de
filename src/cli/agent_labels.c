/* See cli/agent_labels.h. */
#include "cli/agent_labels.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "text/nearest.h"

/* The names that a message can be about; `at` is that of item i. */
typedef struct names {
    const void *from;
    size_t n;
    const char *(*at)(const void *from, size_t i);
} names;

static const char *label_at(const void *from, size_t i)
{
    return ((const tacit_experiment_facts *)from)->agents[i].label;
}

static const char *learner_at(const void *from, size_t i)
{
    return tacit_service_file_at(from, i)->name;
}

/* "'joint', 'local'", as many as fit, and how many more there are. */
static void list(const names *all, char *out, size_t size)
{
    size_t used = 0, i = 0;
    for (; i < all->n; i++) {
        const char *name = all->at(all->from, i);
        if (used + strlen(name) + 24 > size)
            break;
        used += (size_t)snprintf(out + used, size - used, "%s'%s'", i == 0 ? "" : ", ", name);
    }
    if (i < all->n)
        (void)snprintf(out + used, size - used, " and %zu more", all->n - i);
}

static tacit_status check(const names *all, const char *file, const char *noun, const char *wanted,
                          tacit_error *err)
{
    const char *near = NULL;
    char shown[300] = "";
    if (wanted == NULL)
        return TACIT_OK;
    for (size_t i = 0; i < all->n; i++) {
        const char *name = all->at(all->from, i), *pair[] = {near, name};
        if (strcmp(name, wanted) == 0)
            return TACIT_OK;
        near = tacit__nearest(wanted, pair, 2);
    }
    if (near != NULL)
        return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: no %s '%.60s', did you mean '%s'?",
                           file, noun, wanted, near);
    list(all, shown, sizeof shown);
    return tacit__fail(err, TACIT_BAD_ARGUMENT, "%.200s: no %s '%.60s'; there are %s", file, noun,
                       wanted, shown);
}

tacit_status cli_check_label(const tacit_experiment_facts *facts, const char *label,
                             tacit_error *err)
{
    TACIT__REQUIRE(facts != NULL);
    const names all = {facts, facts->n_agents, label_at};
    return check(&all, facts->file, "agent has the label", label, err);
}

tacit_status cli_check_learner(const char *path, const tacit_service_file *file, const char *name,
                               tacit_error *err)
{
    TACIT__REQUIRE(path != NULL && file != NULL);
    const names all = {file, tacit_service_file_size(file), learner_at};
    return check(&all, path, "learner has the name", name, err);
}
