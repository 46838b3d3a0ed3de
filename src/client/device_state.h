/* A device keeps this between visits: how many reports it has made under which terms, and the last
 * report, in case its answer is lost. */
#ifndef TACIT_CLIENT_DEVICE_STATE_H
#define TACIT_CLIENT_DEVICE_STATE_H

#include "client/client_inside.h"

/* The state of the terms into a client whose agent is there: how many reports were made, and the last
 * one. CORRUPT: it is no state, or was cut short; WRONG_PLAN: it belongs to another learner, or to this
 * one under other terms. Without a state nothing was made. */
TACIT_MUST_USE tacit_status tacit__client_load_state(tacit_client *client,
                                                     const tacit_client_terms *terms,
                                                     tacit_error *err);

/* Gives the state with one more report, which is this one, to terms->save, and keeps it. On failure the
 * client is as it was. */
TACIT_MUST_USE tacit_status tacit__client_save_report(tacit_client *client, const char *body,
                                                      const char key[TACIT_CLIENT_KEY_SIZE],
                                                      tacit_error *err);

#endif
