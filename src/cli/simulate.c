/* tacit simulate-users: thousands of users against a running service, in either model. */
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/client.h>
#include <tacit/world.h>

#include "cli/cli.h"
#include "cli/wire.h"
#include "cli/words.h"

static const char help[] =
    "usage: tacit simulate-users URL --token-file FILE [OPTIONS]\n"
    "\n"
    "Plays users against a running service: they open episodes, ask for decisions and tell what\n"
    "came of them; for a local learner they read the billboard, act on their own, and send a\n"
    "privatised report.\n"
    "\n"
    "  --token-file FILE  a token with the scopes decide and observe, or report\n"
    "  --learner NAME     which one; may be left out if there is one\n"
    "  --world KIND       where the users live (default: riverswim); must fit the learner's space\n"
    "  --set KEY=VALUE    a parameter of the world; may be repeated\n"
    "  --users N          how many come (default: 1000)\n"
    "  --clients C        how many at a time (default: 4)\n"
    "  --seed S           of the users' chance (default: 1)\n"
    "  --json             print the result as JSON\n"
    "\n"
    "example:\n"
    "  tacit simulate-users http://127.0.0.1:8470 --token-file web.token --learner river \\\n"
    "      --set states=6 --set horizon=20 --users 5000\n";

enum { TOKEN = 1, LEARNER, WORLD, SET, USERS, CLIENTS, SEED, JSON, HELP };
static const struct option options[] = {{"token-file", required_argument, NULL, TOKEN},
                                        {"learner", required_argument, NULL, LEARNER},
                                        {"world", required_argument, NULL, WORLD},
                                        {"set", required_argument, NULL, SET},
                                        {"users", required_argument, NULL, USERS},
                                        {"clients", required_argument, NULL, CLIENTS},
                                        {"seed", required_argument, NULL, SEED},
                                        {"json", no_argument, NULL, JSON},
                                        {"help", no_argument, NULL, HELP},
                                        {NULL, 0, NULL, 0}};

enum { MAX_SETTINGS = 16, MAX_CLIENTS = 256, MAX_PATH_TEXT = 512, MAX_BODY = 8192 };

typedef struct wish {
    const char *url, *token_file, *learner, *world;
    tacit_setting settings[MAX_SETTINGS];
    size_t n_settings;
    uint64_t users, clients, seed;
    bool json, help;
} wish;

/* What all clients share. */
typedef struct play {
    const wish *w;
    char token[128];
    tacit_world *world;
    const tacit_world_facts *facts;
    bool local;
    atomic_uint_fast64_t next, done, requests, failures, full;
    atomic_int worst; /* a status that was not expected */
} play;

/* One client; user after user. */
typedef struct player {
    play *play;
    cli_wire wire;
    tacit_walk *walk;
    uint32_t *states, *actions;
    double *rewards, total;
    double slowest_ms, sum_ms;
} player;

/* --- Asking ------------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* The answer as JSON, or NULL if its status is not the expected one. */
static json_t *ask(player *p, const char *method, const char *path, const char *key,
                   const char *body, int expected)
{
    const char *text = NULL;
    size_t size = 0;
    double start = now_ms();
    int status = cli_wire_ask(&p->wire, method, path, key, body, &text, &size);
    double took = now_ms() - start;
    p->slowest_ms = fmax(p->slowest_ms, took);
    p->sum_ms += took;
    atomic_fetch_add(&p->play->requests, 1);
    if (status != expected) {
        atomic_store(&p->play->worst, status);
        return NULL;
    }
    return json_loadb(text, size, 0, NULL);
}

static void put_learner(const wish *w, char *out, size_t size)
{
    out[0] = '\0';
    if (w->learner != NULL)
        (void)snprintf(out, size, "\"learner\":\"%s\",", w->learner);
}

/* --- Joint: the service decides ----------------------------------------------------------------- */

/* Tells what came of a decision; true if the service has taken it. */
static bool observe(player *p, const char *path, const char *decision, double reward, uint32_t next)
{
    char body[MAX_BODY];
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":%.17g,\"next_state\":%lu}",
                   decision, reward, (unsigned long)next);
    json_t *answer = ask(p, "POST", path, NULL, body, 200);
    const char *status = json_string_value(json_object_get(answer, "status"));
    if (status != NULL && strcmp(status, "full") == 0)
        atomic_fetch_add(&p->play->full, 1);
    json_decref(answer);
    return status != NULL;
}

static bool play_joint(player *p, uint64_t user)
{
    const size_t horizon = p->play->facts->horizon;
    char learner[160], body[256], path[MAX_PATH_TEXT], episode[256] = "";
    put_learner(p->play->w, learner, sizeof learner);
    uint32_t state;
    if (tacit_walk_begin(p->walk, user, &state) != TACIT_OK)
        return false;
    if (horizon > 1) {
        (void)snprintf(body, sizeof body, "{%s\"user\":null}", learner);
        json_t *opened = ask(p, "POST", "/v1/episodes", NULL, body, 201);
        const char *id = json_string_value(json_object_get(opened, "episode"));
        if (id != NULL)
            (void)snprintf(episode, sizeof episode, "%s", id);
        json_decref(opened);
        if (id == NULL)
            return false;
    }
    for (size_t h = 0; h < horizon; h++) {
        (void)snprintf(path, sizeof path, horizon > 1 ? "/v1/episodes/%s/decide" : "/v1/decide",
                       episode);
        if (horizon > 1)
            (void)snprintf(body, sizeof body, "{\"state\":%lu,\"step\":%zu}", (unsigned long)state,
                           h);
        else
            (void)snprintf(body, sizeof body, "{%s\"state\":%lu}", learner, (unsigned long)state);
        json_t *decided = ask(p, "POST", path, NULL, body, 200);
        const char *decision = json_string_value(json_object_get(decided, "decision"));
        uint32_t action = (uint32_t)json_integer_value(json_object_get(decided, "action")), next;
        double reward;
        bool good = decision != NULL &&
                    tacit_walk_step(p->walk, action, &next, &reward) == TACIT_OK &&
                    observe(p, "/v1/observe", decision, reward, next);
        json_decref(decided);
        if (!good)
            return false;
        p->total += reward;
        state = next;
    }
    return true;
}

/* --- Local: the user decides -------------------------------------------------------------------- */

static bool play_local(player *p, uint64_t user)
{
    const wish *w = p->play->w;
    const tacit_world_facts *f = p->play->facts;
    char path[MAX_PATH_TEXT], key[TACIT_CLIENT_KEY_SIZE], *body = NULL;
    const char *text;
    size_t size;
    tacit_client *client = NULL;
    const tacit_client_terms any = {.epsilon = HUGE_VAL, .delta = 1}; /* nobody is behind it */
    (void)snprintf(path, sizeof path,
                   w->learner != NULL ? "/v1/billboard?learner=%s" : "/v1/billboard", w->learner);
    atomic_fetch_add(&p->play->requests, 1);
    if (cli_wire_ask(&p->wire, "GET", path, NULL, NULL, &text, &size) != 200 ||
        tacit_client_create(text, size, &any, &client, NULL) != TACIT_OK)
        return false;
    bool good = tacit_walk_begin(p->walk, user, &p->states[0]) == TACIT_OK;
    for (size_t h = 0; h < f->horizon && good; h++) {
        double probability;
        const tacit_situation here = {.step = h, .state = p->states[h]};
        good =
            tacit_client_act(client, &here, &p->actions[h], &probability, NULL) == TACIT_OK &&
            tacit_walk_step(p->walk, p->actions[h], &p->states[h + 1], &p->rewards[h]) == TACIT_OK;
        p->total += good ? p->rewards[h] : 0;
    }
    const tacit_trajectory episode = {
        .states = p->states, .actions = p->actions, .rewards = p->rewards};
    good = good && tacit_client_report(client, &episode, &body, key, NULL) == TACIT_OK;
    json_t *answer = good ? ask(p, "POST", "/v1/reports", key, body, 202) : NULL;
    const char *status = json_string_value(json_object_get(answer, "status"));
    if (status != NULL && strcmp(status, "full") == 0)
        atomic_fetch_add(&p->play->full, 1);
    good = good && status != NULL;
    json_decref(answer);
    free(body);
    tacit_client_destroy(client);
    return good;
}

static void *run(void *context)
{
    player *p = context;
    play *all = p->play;
    for (;;) {
        uint64_t user = atomic_fetch_add(&all->next, 1);
        if (user >= all->w->users || atomic_load(&all->failures) > 20)
            return NULL;
        bool good = all->local ? play_local(p, user) : play_joint(p, user);
        atomic_fetch_add(good ? &all->done : &all->failures, 1);
    }
}

/* --- The command -------------------------------------------------------------------------------- */

static bool open_player(player *p, play *all)
{
    const tacit_world_facts *f = all->facts;
    tacit_noise *root = NULL;
    p->play = all;
    p->states = calloc(f->horizon + 1, sizeof *p->states);
    p->actions = calloc(f->horizon, sizeof *p->actions);
    p->rewards = calloc(f->horizon, sizeof *p->rewards);
    bool good = p->states != NULL && p->actions != NULL && p->rewards != NULL &&
                cli_wire_open(&p->wire, all->w->url, all->token) &&
                tacit_noise_create_simulated(all->w->seed, &root) == TACIT_OK &&
                tacit_walk_create(all->world, root, &p->walk, NULL) == TACIT_OK;
    tacit_noise_destroy(root);
    return good;
}

static void close_player(player *p)
{
    cli_wire_close(&p->wire);
    tacit_walk_destroy(p->walk);
    free(p->states);
    free(p->actions);
    free(p->rewards);
}

/* The learner's model and space, from its billboard. */
static int look(play *all)
{
    const wish *w = all->w;
    const tacit_world_facts *f = all->facts;
    cli_wire wire;
    char path[MAX_PATH_TEXT];
    const char *text = NULL;
    size_t size = 0;
    if (!cli_wire_open(&wire, w->url, all->token))
        return cli_wrong("'%s' is no URL, expected for example http://127.0.0.1:8470", w->url);
    (void)snprintf(path, sizeof path,
                   w->learner != NULL ? "/v1/billboard?learner=%s" : "/v1/billboard", w->learner);
    int status = cli_wire_ask(&wire, "GET", path, NULL, NULL, &text, &size);
    json_t *board = status == 200 ? json_loadb(text, size, 0, NULL) : NULL;
    json_t *space = json_object_get(board, "space");
    const char *model = json_string_value(json_object_get(board, "model"));
    int result = CLI_DONE;
    if (status == 0) {
        (void)cli_wrong("%s does not answer", w->url);
        result = CLI_SYSTEM;
    } else if (model == NULL || space == NULL) {
        result = cli_wrong("%s has no such learner (status %d)", w->url, status);
    } else if (json_integer_value(json_object_get(space, "states")) != (json_int_t)f->n_states ||
               json_integer_value(json_object_get(space, "actions")) != (json_int_t)f->n_actions ||
               json_integer_value(json_object_get(space, "horizon")) != (json_int_t)f->horizon) {
        result = cli_wrong("the world has %zu states, %zu actions and horizon %zu; the learner has "
                           "%lld, %lld and %lld",
                           f->n_states, f->n_actions, f->horizon,
                           (long long)json_integer_value(json_object_get(space, "states")),
                           (long long)json_integer_value(json_object_get(space, "actions")),
                           (long long)json_integer_value(json_object_get(space, "horizon")));
    } else {
        all->local = strcmp(model, "local") == 0;
    }
    json_decref(board);
    cli_wire_close(&wire);
    return result;
}

static int tell(play *all, const player *players, size_t n, double seconds)
{
    double total = 0, slowest = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        total += players[i].total;
        sum += players[i].sum_ms;
        slowest = fmax(slowest, players[i].slowest_ms);
    }
    uint64_t done = atomic_load(&all->done), requests = atomic_load(&all->requests);
    double mean = done > 0 ? total / (double)done : 0;
    if (all->w->json)
        (void)printf(
            "{\"users\":%llu,\"failures\":%llu,\"full\":%llu,\"requests\":%llu,"
            "\"seconds\":%.3f,\"mean_return\":%.6g,\"mean_ms\":%.3f,\"slowest_ms\":%.3f}\n",
            (unsigned long long)done, (unsigned long long)atomic_load(&all->failures),
            (unsigned long long)atomic_load(&all->full), (unsigned long long)requests, seconds,
            mean, requests > 0 ? sum / (double)requests : 0, slowest);
    else
        (void)printf(
            "%llu users in %.2f s, %.0f requests/s, slowest answer %.1f ms; mean return %.4g"
            " (best possible %.4g)%s\n",
            (unsigned long long)done, seconds, (double)requests / seconds, slowest, mean,
            all->facts->optimal_value,
            atomic_load(&all->full) > 0 ? "; the learner's budget is spent" : "");
    if (atomic_load(&all->failures) > 0) {
        (void)cli_wrong("%llu users failed; the last unexpected status was %d",
                        (unsigned long long)atomic_load(&all->failures), atomic_load(&all->worst));
        return CLI_SYSTEM;
    }
    return CLI_DONE;
}

static int play_all(play *all)
{
    size_t n = (size_t)all->w->clients, started = 0;
    player *players = calloc(n, sizeof *players);
    pthread_t *threads = calloc(n, sizeof *threads);
    bool good = players != NULL && threads != NULL;
    double start = now_ms();
    for (; started < n && good; started++)
        good = open_player(&players[started], all) &&
               pthread_create(&threads[started], NULL, run, &players[started]) == 0;
    for (size_t i = 0; i < started - !good; i++)
        (void)pthread_join(threads[i], NULL);
    int result =
        good ? tell(all, players, n, 1e-3 * (now_ms() - start)) : cli_failed(TACIT_NO_MEMORY, NULL);
    for (size_t i = 0; i < started; i++)
        close_player(&players[i]);
    free(players);
    free(threads);
    return result;
}

static bool read_token(const char *path, char out[128])
{
    FILE *file = fopen(path, "r");
    bool good = file != NULL && fgets(out, 128, file) != NULL;
    if (file != NULL)
        (void)fclose(file);
    if (good)
        out[strcspn(out, "\r\n")] = '\0';
    return good && out[0] != '\0';
}

static int simulate(const wish *w)
{
    play all = {.w = w};
    tacit_error err = {0};
    const tacit_world_request request = {
        .kind = w->world, .settings = w->settings, .n_settings = w->n_settings};
    if (w->token_file == NULL)
        return cli_wrong("--token-file is missing; see tacit simulate-users --help");
    if (!read_token(w->token_file, all.token))
        return cli_wrong("%s: no token could be read", w->token_file);
    tacit_status status = tacit_world_create(&request, &all.world, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    all.facts = tacit_world_describe(all.world);
    int result = look(&all);
    if (result == CLI_DONE)
        result = play_all(&all);
    tacit_world_destroy(all.world);
    return result;
}

static int read_setting(char *text, wish *w)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return cli_wrong("--set is '%s', expected KEY=VALUE", text);
    if (w->n_settings == MAX_SETTINGS)
        return cli_wrong("--set is given too often");
    *equals = '\0';
    w->settings[w->n_settings++] = (tacit_setting){.key = text, .value = equals + 1};
    return CLI_DONE;
}

static int read_option(int code, wish *w)
{
    switch (code) {
    case TOKEN:
        w->token_file = optarg;
        return CLI_DONE;
    case LEARNER:
        w->learner = optarg;
        return strlen(optarg) <= 64 &&
                       strspn(optarg, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(optarg)
                   ? CLI_DONE
                   : cli_wrong("--learner is '%s', expected small letters, digits, - and _",
                               optarg);
    case WORLD:
        w->world = optarg;
        return CLI_DONE;
    case SET:
        return read_setting(optarg, w);
    case USERS:
        return cli_read_count("--users", optarg, CLI_MAX_COUNT, &w->users);
    case CLIENTS:
        return cli_read_count("--clients", optarg, MAX_CLIENTS, &w->clients);
    case SEED:
        return cli_read_count("--seed", optarg, CLI_MAX_COUNT, &w->seed);
    case JSON:
        w->json = true;
        return CLI_DONE;
    default:
        w->help = true;
        return CLI_DONE;
    }
}

int cli_simulate_users(int argc, char **argv)
{
    wish w = {.world = "riverswim", .users = 1000, .clients = 4, .seed = 1};
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (code == '?' || code == ':')
            return cli_bad_option(argv, code, options);
        int status = read_option(code, &w);
        if (status != CLI_DONE)
            return status;
    }
    if (w.help) {
        (void)fputs(help, stdout);
        return CLI_DONE;
    }
    if (argc - optind != 1)
        return cli_wrong("expected one URL; see tacit simulate-users --help");
    w.url = argv[optind];
    return simulate(&w);
}
