/* The inside of a client, shared by client.c, which acts and reports, and read_billboard.c, which reads
 * what a server says. */
#ifndef TACIT_CLIENT_CLIENT_INSIDE_H
#define TACIT_CLIENT_CLIENT_INSIDE_H

#include <tacit/client.h>

#include "agents/agent_inside.h"
#include "agents/world_tables.h"
#include "release/monitor.h"

enum { TACIT__CLIENT_SETTINGS = 64 };

struct tacit_client {
    tacit_client_facts facts;
    tacit_agent_request request;
    tacit__world_tables known;
    tacit_setting settings[TACIT__CLIENT_SETTINGS];
    char *texts; /* of strings; owned */
    size_t texts_used, texts_size;
    uint8_t *model; /* to make reports by; NULL: none */
    size_t model_size;
    tacit_agent *agent;
    tacit__monitor *monitor; /* or NULL */
    tacit_billboard board;
    void *table; /* to act by; NULL: the model tells */
    bool reported, was_cut;
    tacit_client_save_fn *save; /* or NULL */
    void *save_context;
    char *last; /* the last report, of this client or of the state it began with; NULL: none */
    char last_key[TACIT_CLIENT_KEY_SIZE];
};

/* Everything that the text says into a client that is empty but for its memory: facts, request, model and
 * table. What is not a billboard, asks for more than the terms, or has tables that are not what it
 * declares is refused. */
TACIT_MUST_USE tacit_status tacit__client_read(tacit_client *client, const char *billboard,
                                               size_t size, const tacit_client_terms *terms,
                                               tacit_error *err);

#endif
