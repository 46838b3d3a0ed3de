/* A file declares this of one learner: the space of its users, what is publicly known about it, and its
 * agent. Service files have several of these (serve/config.h); tacit_agent_create_text reads one. */
#ifndef TACIT_LAB_LEARNER_CONFIG_H
#define TACIT_LAB_LEARNER_CONFIG_H

#include <tacit/agent.h>

#include "agents/world_tables.h"
#include "worlds/columns.h"

enum { TACIT__MAX_FEATURES = 4096 }; /* of an action: a stated choice */

typedef struct tacit__learner_config {
    const char *name;
    const char *kind; /* as it is written */
    /* points to what is known, and has the kind that `kind` stands for:
     tacit__space_open */
    tacit_agent_request request;
    tacit__world_tables known;
    struct {
        const char *name; /* NULL: none */
        int line;         /* of the file that names it */
    } files[TACIT__N_TABLES];
    const char *const *action_names; /* [n_actions]; NULL: actions have numbers */
    struct {
        const char *text;             /* as it was declared */
        tacit__columns_list *columns; /* owned; NULL: features have no names */
        bool intercept, unit;
    } context;
    struct {
        const char *file; /* a log to warm up with; NULL: none */
        int line;
        const char *state, *action, *reward, *propensity, *user; /* columns; NULL: by their names */
        const char *missing;
    } warm;
    bool user_required;       /* who gives no `user` is refused */
    bool log_decisions;       /* the operator keeps a record of them */
    size_t per_user;          /* features of one situation; 0: states are numbered */
    bool chosen_only;         /* of these features the learner needs those of the chosen action */
    uint64_t most_body;       /* limits.body; 0: any */
    uint64_t plan_every;      /* users */
    tacit_guarantee monitor;  /* of the released mean reward; model none: it is not released */
    tacit_guarantee together; /* of both, composed: tacit__service_config_open */
} tacit__learner_config;

#endif
