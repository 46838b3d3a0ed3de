/* The client without structs: what the npm package calls in WebAssembly. Every argument and every result is
 * a number or an address; texts and arrays are in memory that the caller has asked for. The functions do
 * nothing of their own: each is one of tacit/client.h with its structs taken apart.
 *
 * A failure is 0 or -1, and the reason is in tacit_flat_status and tacit_flat_message until the next call.
 *
 * A state is kept by the caller: tacit_flat_report leaves it in tacit_flat_state, and the package writes it
 * to the page's storage before it lets the report out of its hands (web/client/client.js). In C, `save`
 * returns when the state is safe; here it returns at once, because storage in a browser answers later, and
 * the promise is kept one level above. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>

#include "base/host.h"
#include "base/memory.h"

#define EXPORT(name) __attribute__((export_name(#name), used)) name

static tacit_error problem;
static double probability_of_last;
static char key_of_last[TACIT_CLIENT_KEY_SIZE];
static uint8_t *state_of_last;
static size_t state_size_of_last;

void *EXPORT(tacit_flat_alloc)(size_t bytes)
{
    return tacit__alloc_raw(bytes, 1);
}

/* Wiped: texts and episodes are a person's. */
void EXPORT(tacit_flat_free)(void *p, size_t bytes)
{
    tacit__free_secret(p, bytes);
}

const char *EXPORT(tacit_flat_version)(void)
{
    return tacit_version();
}

const char *EXPORT(tacit_flat_status)(void)
{
    return tacit_status_name(problem.status);
}

const char *EXPORT(tacit_flat_message)(void)
{
    return problem.message[0] != '\0' ? problem.message : tacit_status_message(problem.status);
}

/* Why the last call did not return; NULL: it did. */
const char *EXPORT(tacit_flat_impossible)(void)
{
    return tacit__last_words;
}

static tacit_status save_state(void *context, const void *state, size_t size)
{
    (void)context;
    uint8_t *copy = tacit__alloc_raw(size, 1);
    if (copy == NULL)
        return TACIT_NO_MEMORY;
    memcpy(copy, state, size);
    tacit__free(state_of_last);
    state_of_last = copy;
    state_size_of_last = size;
    return TACIT_OK;
}

/* state NULL: nothing was reported yet. memory 0: the default. */
tacit_client *EXPORT(tacit_flat_open)(const char *billboard, size_t size, double epsilon,
                                      double delta, size_t memory, const void *state,
                                      size_t state_size)
{
    const tacit_client_terms terms = {.epsilon = epsilon,
                                      .delta = delta,
                                      .memory = memory,
                                      .save = save_state,
                                      .state = state,
                                      .state_size = state_size};
    tacit_client *client = NULL;
    problem = (tacit_error){0};
    problem.status = tacit_client_create(billboard, size, &terms, &client, &problem);
    return client;
}

void EXPORT(tacit_flat_close)(tacit_client *client)
{
    tacit_client_destroy(client);
}

const char *EXPORT(tacit_flat_learner)(const tacit_client *client)
{
    return tacit_client_describe(client)->learner;
}

/* The order is that of web/client/core.js. */
enum { N_FACTS = 14 };
void EXPORT(tacit_flat_facts)(const tacit_client *client, double out[N_FACTS])
{
    const tacit_client_facts *f = tacit_client_describe(client);
    const bool monitored = f->monitor.model != TACIT_MODEL_NONE;
    const double facts[N_FACTS] = {f->guarantee.epsilon,
                                   f->guarantee.delta,
                                   monitored ? f->monitor.epsilon : 0,
                                   monitored ? f->monitor.delta : 0,
                                   (double)f->n_states,
                                   (double)f->n_actions,
                                   (double)f->horizon,
                                   (double)f->per_situation,
                                   f->bound,
                                   (double)f->version,
                                   (double)f->visits,
                                   (double)f->apart,
                                   (double)f->made,
                                   monitored};
    memcpy(out, facts, sizeof facts);
}

/* The action, or -1. */
int32_t EXPORT(tacit_flat_act)(tacit_client *client, size_t step, uint32_t state,
                               const double *features)
{
    const tacit_situation here = {.step = step, .state = state, .features = features};
    uint32_t action;
    problem = (tacit_error){0};
    problem.status = tacit_client_act(client, &here, &action, &probability_of_last, &problem);
    return problem.status == TACIT_OK ? (int32_t)action : -1;
}

double EXPORT(tacit_flat_probability)(void)
{
    return probability_of_last;
}

int32_t EXPORT(tacit_flat_was_cut)(const tacit_client *client)
{
    return tacit_client_was_cut(client);
}

/* The report's body, to be freed, or NULL. length 0: the episode has `horizon` steps. */
char *EXPORT(tacit_flat_report)(tacit_client *client, const uint32_t *states,
                                const uint32_t *actions, const double *rewards,
                                const double *features, size_t length)
{
    const tacit_trajectory episode = {.states = states,
                                      .actions = actions,
                                      .rewards = rewards,
                                      .features = features,
                                      .length = length};
    char *body = NULL;
    problem = (tacit_error){0};
    problem.status = tacit_client_report(client, &episode, &body, key_of_last, &problem);
    return body;
}

const char *EXPORT(tacit_flat_key)(void)
{
    return key_of_last;
}

/* After a report: what to keep before it leaves. */
const uint8_t *EXPORT(tacit_flat_state)(void)
{
    return state_of_last;
}

size_t EXPORT(tacit_flat_state_size)(void)
{
    return state_size_of_last;
}
