/* A device whose randomness has a seed: opens a billboard, lives an episode that the seed decides, and prints what it did,
 * its report included. The same program in JavaScript (suite.mjs) must print the same, and so must this one on another
 * processor: what leaves a device does not depend on what the device is made of.
 *
 *     seeded_report SEED <billboard.json
 *
 * The seed takes the place of the system's randomness inside libsodium, which nothing outside of tests does. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <sodium.h>

#include <tacit/client.h>

/* SplitMix64, low byte first; a piece that is no multiple of 8 bytes leaves the rest of its last word unused. */
static uint64_t state;

static uint64_t next_word(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void fill(void *const out, const size_t n)
{
    uint8_t *bytes = out;
    for (size_t i = 0; i < n; i += 8) {
        const uint64_t word = next_word();
        for (size_t k = 0; k < 8 && i + k < n; k++)
            bytes[i + k] = (uint8_t)(word >> (8 * k));
    }
}

static const char *name(void)
{
    return "seeded";
}

static uint32_t one(void)
{
    return (uint32_t)next_word();
}

static randombytes_implementation seeded = {
    .implementation_name = name, .random = one, .buf = fill};

/* What happens to the person: another sequence, in the same place of C and of JavaScript. */
static uint32_t life;

static double chance(void)
{
    life = life * UINT32_C(1664525) + UINT32_C(1013904223);
    return (double)(life >> 8) * 0x1p-24;
}

static tacit_status keep(void *context, const void *kept, size_t size)
{
    (void)context;
    printf("state ");
    for (size_t i = 0; i < size; i++)
        printf("%02x", ((const uint8_t *)kept)[i]);
    printf("\n");
    return TACIT_OK;
}

static int live(tacit_client *client, tacit_error *err)
{
    const tacit_client_facts *f = tacit_client_describe(client);
    const size_t H = f->horizon, d = f->per_situation;
    uint32_t *states = calloc(H + 1, sizeof *states), *actions = calloc(H, sizeof *actions);
    double *rewards = calloc(H, sizeof *rewards),
           *features = calloc((H + 1) * (d + 1), sizeof *features);
    char *body, key[TACIT_CLIENT_KEY_SIZE];
    for (size_t h = 0; h <= H; h++) {
        states[h] = f->n_states > 0 ? (uint32_t)(chance() * (double)f->n_states) : 0;
        for (size_t i = 0; i < d; i++)
            features[h * d + i] = f->bound * (chance() - 0.5) / sqrt((double)d);
    }
    tacit_status status = TACIT_OK;
    for (size_t h = 0; h < H && status == TACIT_OK; h++) {
        const tacit_situation here = {
            .step = h, .state = states[h], .features = d > 0 ? features + h * d : NULL};
        double probability;
        status = tacit_client_act(client, &here, &actions[h], &probability, err);
        rewards[h] = chance();
        if (status == TACIT_OK)
            printf("act %u\n", (unsigned)actions[h]);
    }
    if (status == TACIT_OK)
        status = tacit_client_report(client,
                                     &(tacit_trajectory){.states = d > 0 ? NULL : states,
                                                         .actions = actions,
                                                         .rewards = rewards,
                                                         .features = d > 0 ? features : NULL},
                                     &body, key, err);
    if (status == TACIT_OK) {
        printf("key %s\nbody %s\n", key, body);
        free(body);
    }
    free(states);
    free(actions);
    free(rewards);
    free(features);
    return status == TACIT_OK;
}

int main(int argc, char **argv)
{
    static char billboard[1 << 24];
    tacit_error err = {0};
    tacit_client *client = NULL;
    if (argc != 2 || sodium_init() < 0)
        return 2;
    const size_t size = fread(billboard, 1, sizeof billboard, stdin);
    (void)randombytes_set_implementation(&seeded);
    state = strtoull(argv[1], NULL, 10);
    life = (uint32_t)state;
    const tacit_client_terms terms = {.epsilon = (double)INFINITY, .delta = 1, .save = keep};
    const bool good = tacit_client_create(billboard, size, &terms, &client, &err) == TACIT_OK &&
                      live(client, &err);
    tacit_client_destroy(client);
    if (!good)
        printf("%s: %s\n", tacit_status_name(err.status), err.message);
    return good ? 0 : 1;
}
