/* The public tables of a billboard, which a device needs to create an agent from the learner's request. */
#ifndef TACIT_CLIENT_BILLBOARD_TABLES_H
#define TACIT_CLIENT_BILLBOARD_TABLES_H

#include "agents/world_tables.h"
#include "text/json.h"

/* Fills the tables of `known`, whose sizes are set, from the billboard's "tables". They are checked like
 * anything that comes from elsewhere: SYNTAX if they are not what the space declares. */
TACIT_MUST_USE tacit_status tacit__client_tables(const tacit__json_node *nodes,
                                                 const tacit_agent_request *space,
                                                 tacit__world_tables *known, tacit_error *err);

#endif
