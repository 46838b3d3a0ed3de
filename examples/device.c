/* A user's device under local privacy: reads a billboard, lives one episode by it, and prints the report that it would send.
 *
 *     curl -s http://127.0.0.1:8470/v1/billboard?learner=river-local | device >report.json
 *     curl -H "Idempotency-Key: $(cat key)" -H "Authorization: Bearer $TOKEN" -d @report.json http://127.0.0.1:8470/v1/reports
 *
 *     device [BILLBOARD [KEYFILE [STATEFILE]]]      BILLBOARD is - or a file; the key goes to KEYFILE, or to standard error
 *
 * Where a person may come back (`visits` on the billboard), STATEFILE counts their reports: it is on disk before a report is printed, and
 * after the last one there are no more. Keep it out of backups: an older one that is put back forgets reports. Two processes would each
 * count one report where two are made, so whoever reads STATEFILE holds STATEFILE.lock until its report is counted.
 *
 * The program needs libtacit_client alone. A real device takes states, features and rewards from its user's life; this user lives in
 * a ring of states, and is pleased when the action is the state's number or, where situations have features, when the first
 * of them is large. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* fsync, access, dirname, lockf */
#endif

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/client.h>

typedef struct life {
    uint32_t *states, *actions; /* [horizon + 1], [horizon] */
    double *rewards, *features; /* [horizon], [horizon + 1][per_situation] or NULL */
} life;

/* All of a stream, to be freed; NULL: it cannot be read. */
static char *read_all(FILE *in, size_t *size)
{
    char *text = NULL;
    size_t room = 0;
    *size = 0;
    do {
        if (*size == room) {
            room = 2 * room + 4096;
            char *more = realloc(text, room);
            if (more == NULL)
                break;
            text = more;
        }
        *size += fread(text + *size, 1, room - *size, in);
    } while (!feof(in) && !ferror(in));
    if (text != NULL && feof(in))
        return text;
    free(text);
    return NULL;
}

static int life_create(const tacit_client_facts *facts, life *out)
{
    size_t steps = facts->horizon, numbers = facts->per_situation;
    out->states = calloc(steps + 1, sizeof *out->states);
    out->actions = calloc(steps, sizeof *out->actions);
    out->rewards = calloc(steps, sizeof *out->rewards);
    out->features = numbers > 0 ? calloc((steps + 1) * numbers, sizeof *out->features) : NULL;
    return out->states != NULL && out->actions != NULL && out->rewards != NULL &&
           (numbers == 0 || out->features != NULL);
}

static void life_destroy(life *l)
{
    free(l->states);
    free(l->actions);
    free(l->rewards);
    free(l->features);
}

/* Somewhere within the bound, whether it is meant for each action or for all numbers together. */
static void look_around(const tacit_client_facts *facts, size_t step, double *features)
{
    for (size_t i = 0; i < facts->per_situation; i++)
        features[i] = facts->bound * cos((double)(i * (step + 1))) /
                      (1.01 * sqrt((double)facts->per_situation));
}

static tacit_status live(tacit_client *client, life *l, tacit_error *err)
{
    const tacit_client_facts *facts = tacit_client_describe(client);
    tacit_status status = TACIT_OK;
    for (size_t h = 0; h < facts->horizon && status == TACIT_OK; h++) {
        tacit_situation here = {.step = h, .state = l->states[h]};
        double probability;
        if (l->features != NULL) {
            look_around(facts, h, l->features + h * facts->per_situation);
            here.features = l->features + h * facts->per_situation;
        }
        status = tacit_client_act(client, &here, &l->actions[h], &probability, err);
        if (status != TACIT_OK)
            return status;
        if (l->features != NULL) {
            l->rewards[h] = here.features[0] > 0 ? 1 : 0;
        } else {
            l->rewards[h] = l->actions[h] == l->states[h] % facts->n_actions ? 1 : 0;
            l->states[h + 1] = (uint32_t)((l->states[h] + l->actions[h]) % facts->n_states);
        }
        (void)fprintf(stderr, "step %zu: action %u, taken with probability %g\n", h,
                      (unsigned)l->actions[h], probability);
    }
    return status;
}

/* What has to survive: everything of a file or directory, by its descriptor. */
static int settle(int file)
{
    int good = file >= 0 && fsync(file) == 0;
    return file >= 0 && close(file) == 0 && good;
}

/* The state in its file, or the one before: written beside it, synced, and only then given its name. */
static tacit_status save(void *context, const void *state, size_t size)
{
    const char *path = context;
    char beside[PATH_MAX], directory[PATH_MAX];
    if (path == NULL)
        return TACIT_BAD_ARGUMENT;
    if (snprintf(beside, sizeof beside, "%s.new", path) >= (int)sizeof beside)
        return TACIT_TOO_LARGE;
    (void)snprintf(directory, sizeof directory, "%s", path);
    int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int good = file >= 0 && write(file, state, size) == (ssize_t)size;
    good = settle(file) && good && rename(beside, path) == 0 &&
           settle(open(dirname(directory), O_RDONLY | O_DIRECTORY));
    return good ? TACIT_OK : TACIT_SYSTEM;
}

/* Waits until no other process is between reading this state and saving the next; the end of the process lets others go on. */
static int lock(const char *path)
{
    char beside[PATH_MAX];
    if (path == NULL)
        return 1;
    if (snprintf(beside, sizeof beside, "%s.lock", path) >= (int)sizeof beside)
        return 0;
    int file = open(beside, O_RDWR | O_CREAT, 0600);
    return file >= 0 && lockf(file, F_LOCK, 0) == 0;
}

/* The state of this person, if there is one yet. False: it is there and cannot be read. */
static int load(const char *path, char **state, size_t *size)
{
    *state = NULL;
    *size = 0;
    if (path == NULL || access(path, F_OK) != 0)
        return 1;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    *state = read_all(file, size);
    (void)fclose(file);
    return *state != NULL;
}

static tacit_status run(const char *billboard, size_t size, const tacit_client_terms *terms,
                        char **body, char key[TACIT_CLIENT_KEY_SIZE], tacit_error *err)
{
    tacit_client *client = NULL;
    life l = {0};
    tacit_status status = tacit_client_create(billboard, size, terms, &client, err);
    if (status == TACIT_OK && !life_create(tacit_client_describe(client), &l))
        status = TACIT_NO_MEMORY;
    if (status == TACIT_OK)
        status = live(client, &l, err);
    const tacit_trajectory episode = {
        .states = l.states, .actions = l.actions, .rewards = l.rewards, .features = l.features};
    if (status == TACIT_OK) /* noise is added here, before anything leaves the device */
        status = tacit_client_report(client, &episode, body, key, err);
    life_destroy(&l);
    tacit_client_destroy(client);
    return status;
}

int main(int argc, char **argv)
{
    char *body = NULL, *state = NULL, key[TACIT_CLIENT_KEY_SIZE],
         *state_path = argc > 3 ? argv[3] : NULL;
    tacit_error err = {0};
    size_t size = 0, state_size = 0;
    FILE *in = argc > 1 && strcmp(argv[1], "-") != 0 ? fopen(argv[1], "r") : stdin;
    char *billboard = in != NULL ? read_all(in, &size) : NULL;
    if (billboard == NULL) {
        perror(argc > 1 ? argv[1] : "standard input");
        return 1;
    }
    if (!lock(state_path) || !load(state_path, &state, &state_size)) {
        perror(state_path); /* reports that were made cannot be counted, so there are no more */
        free(billboard);
        return 1;
    }
    /* the weakest guarantee that this user agrees to, whatever the billboard says */
    const tacit_client_terms terms = {.epsilon = 2,
                                      .delta = 1e-5,
                                      .save = state_path != NULL ? save : NULL,
                                      .save_context = state_path,
                                      .state = state,
                                      .state_size = state_size};
    tacit_status status = run(billboard, size, &terms, &body, key, &err);
    free(billboard);
    free(state);
    if (in != stdin)
        (void)fclose(in);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "%s: %s\n", tacit_status_name(status),
                      err.message[0] != '\0' ? err.message : tacit_status_message(status));
        return 1;
    }
    FILE *keys = argc > 2 ? fopen(argv[2], "w") : stderr;
    int good = keys != NULL && fprintf(keys, "%s\n", key) > 0 && printf("%s\n", body) > 0;
    free(body);
    if (keys != NULL && keys != stderr)
        good = fclose(keys) == 0 && good;
    return good ? 0 : 1;
}
