/* Billboards, as a device reads them: whoever serves one may be an enemy.
 *
 * The input is the text of a billboard; @M stands for the mark and fingerprint of a model that fits its request, so that what
 * comes after it in model_bytes reaches the family. Whatever stands there: the client is made or refused with a reason, what it promises
 * is within the terms, it acts within its spaces, and it makes one report, which an agent of the same request takes. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>

#include "fuzz/fuzz.h"
#include "noise/seal.h"
#include "support/scoped.h"
#include "text/json.h"

enum { MAX_HORIZON = 64, MAX_FEATURES = 4096 };

static tacit_status save(void *context, const void *state, size_t size)
{
    (void)context;
    require(state != NULL && size > 0);
    return TACIT_OK;
}

static const tacit_client_terms terms = {
    .epsilon = 10, .delta = 0.01, .memory = (size_t)1 << 24, .save = save};

/* Plays an episode in the last state (or all features alike) with the last action's reward. A device acts whatever its person
 * meets. */
static void play(tacit_client *client, const tacit_client_facts *f, uint32_t *states,
                 uint32_t *actions, double *rewards, const double *features)
{
    for (size_t h = 0; h < f->horizon; h++) {
        double probability;
        const tacit_situation here = {
            .step = h, .state = states[h], .features = f->per_situation > 0 ? features : NULL};
        require(tacit_client_act(client, &here, &actions[h], &probability, NULL) == TACIT_OK);
        require(actions[h] < f->n_actions && probability >= 0 && probability <= 1.001);
        rewards[h] = 0.5;
    }
}

static void use(tacit_client *client)
{
    const tacit_client_facts *f = tacit_client_describe(client);
    require(f->guarantee.epsilon >= 0 && f->guarantee.epsilon <= terms.epsilon);
    require(f->guarantee.delta >= 0 && f->guarantee.delta <= terms.delta);
    require(f->guarantee.epsilon > 0 || f->guarantee.delta > 0);
    require(f->n_actions > 0 && f->horizon > 0);
    require(f->visits > 0 && f->apart > 0 && f->made == 0);
    require((f->n_states > 0) != (f->per_situation > 0));
    if (f->horizon > MAX_HORIZON || f->per_situation > MAX_FEATURES / 2)
        return;
    uint32_t states[MAX_HORIZON + 1], actions[MAX_HORIZON];
    double rewards[MAX_HORIZON], features[MAX_FEATURES];
    for (size_t h = 0; h <= MAX_HORIZON; h++)
        states[h] = f->n_states > 0 ? (uint32_t)(f->n_states - 1) : 0;
    for (size_t i = 0; i < MAX_FEATURES; i++)
        features[i] = 1e-3;
    play(client, f, states, actions, rewards, features);
    const tacit_trajectory episode = {.states = f->per_situation > 0 ? NULL : states,
                                      .actions = actions,
                                      .rewards = rewards,
                                      .features = f->per_situation > 0 ? features : NULL};
    char *body = NULL, key[TACIT_CLIENT_KEY_SIZE];
    require(tacit_client_report(client, &episode, &body, key, NULL) == TACIT_OK);
    static tacit__json_node nodes[16];
    const char *why;
    require(tacit__json_parse(body, strlen(body), nodes, 16, &why) == 5);
    require(strlen(key) + 1 == TACIT_CLIENT_KEY_SIZE);
    char *again = NULL;
    require(tacit_client_report(client, &episode, &again, key, NULL) == TACIT_EXHAUSTED);
    free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    SCOPED(tacit_client) *client = NULL;
    tacit_error err = {0};
    if (size > 0)
        memcpy(text, data, size);
    tacit_status status = tacit_client_create(text, size, &terms, &client, &err);
    free(text); /* nothing of it is kept */
    require((status == TACIT_OK) == (client != NULL));
    if (client != NULL)
        use(client);
    else
        require(err.status == status && err.message[0] != '\0');
    return 0;
}
