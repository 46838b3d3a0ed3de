/* See serve/learner/orphaned_learners.h. A learner that was removed from the file, or renamed, leaves
 * acknowledged users behind; the operator must notice this. Their number is public, as it is in the
 * ledger. */
#include "serve/learner/orphaned_learners.h"
#include "store/vault/vault_maintenance.h"

#include <stdio.h>
#include <string.h>

typedef struct listener {
    const tacit__service_config *config;
    tacit_log_fn *log; /* or NULL */
    void *context;
} listener;

static void log_one(void *context, const char *name, uint64_t accepted, uint64_t waiting)
{
    (void)accepted;
    const listener *to = context;
    char line[300];
    for (size_t i = 0; i < to->config->n_learners; i++)
        if (strcmp(to->config->learners[i].name, name) == 0)
            return;
    (void)snprintf(line, sizeof line,
                   "the store has a learner %.80s that is not in the service file: it is not "
                   "served, and %llu of its users wait in the store, sealed, until it is",
                   name, (unsigned long long)waiting);
    if (to->log != NULL)
        to->log(to->context, line);
}

tacit_status tacit__orphaned_learners_log(const tacit__service_config *config, tacit__vault *vault,
                                          tacit_log_fn *log, void *log_context, tacit_error *err)
{
    listener to = {config, log, log_context};
    return tacit__vault_list_learners(vault, log_one, &to, err);
}
