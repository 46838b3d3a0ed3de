/* tacit simulate-users: thousands of users against a running service, in either model. Who they are is in cli/simulated_people.c; here
 * is what they say. */
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/client.h>
#include <tacit/world.h>

#include "cli/cli.h"
#include "cli/simulated_people.h"
#include "cli/turnout.h"
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
    "  --world KIND       where the users live (default: riverswim; `tacit worlds` lists them);\n"
    "                     must fit the learner's space: its states, or its features\n"
    "  --set KEY=VALUE    a parameter of the world; may be repeated\n"
    "  --users N          how many come (default: 1000)\n"
    "  --clients C        how many at a time (default: 4)\n"
    "  --seed S           of the users' chance (default: 1)\n"
    "  --json             print the result as JSON\n"
    "\n"
    "Where a log tells what came of one action only, users for whom the service chose another\n"
    "one tell nothing. Ctrl-C lets those who are there finish, tells what came of it, and exits\n"
    "with 130.\n"
    "\n"
    "examples:\n"
    "  tacit simulate-users http://127.0.0.1:8470 --token-file web.token --learner river \\\n"
    "      --set states=6 --set horizon=20 --users 5000\n"
    "  tacit simulate-users http://127.0.0.1:8470 --token-file web.token --learner ads \\\n"
    "      --world linear-bandit --set d=5 --set actions=10\n";

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

enum { MAX_SETTINGS = 16, MAX_CLIENTS = 256, MAX_PATH_TEXT = 512 };

typedef struct wish {
    const char *url, *token_file, *learner, *world;
    tacit_setting settings[MAX_SETTINGS];
    size_t n_settings;
    uint64_t users, clients, seed;
    bool json, help;
} wish;

/* Ctrl-C: nobody comes any more, those who are there finish, and what came of it is told. */
static atomic_int caught; /* the signal; 0: none */

static void on_signal(int number)
{
    atomic_store(&caught, number);
}

static void hear_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* What all clients share. */
typedef struct play {
    const wish *w;
    char token[CLI_TOKEN_TEXT];
    tacit_world *world;
    cli_space space; /* the learner's */
    bool local;
    atomic_uint_fast64_t next, done, requests, failures, full, late;
    pthread_mutex_t lock;
    char complaint[300]; /* why the last user failed; of the lock */
} play;

/* One client; user after user. */
typedef struct player {
    play *play;
    cli_wire wire;
    cli_people *people;
    uint64_t user;
    double slowest_ms, sum_ms;
} player;

/* --- Asking ------------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void complain(play *all, int status, const char *why)
{
    (void)pthread_mutex_lock(&all->lock);
    (void)snprintf(all->complaint, sizeof all->complaint, "%d, %.250s", status, why);
    (void)pthread_mutex_unlock(&all->lock);
}

/* The answer as JSON, or NULL if its status is not the expected one. Takes `body`. */
static json_t *ask(player *p, const char *path, const char *key, char *body, int expected)
{
    const char *text = NULL;
    size_t size = 0;
    double start = now_ms();
    int status = body != NULL ? cli_wire_ask(&p->wire, "POST", path, key, body, &text, &size) : 0;
    double took = now_ms() - start;
    free(body);
    p->slowest_ms = fmax(p->slowest_ms, took);
    p->sum_ms += took;
    atomic_fetch_add(&p->play->requests, 1);
    json_t *answer = status != 0 ? json_loadb(text, size, 0, NULL) : NULL;
    if (status == expected && answer != NULL)
        return answer;
    const char *why =
        json_string_value(json_object_get(json_object_get(answer, "error"), "message"));
    complain(p->play, status,
             why != NULL                          ? why
             : status == 0 && p->wire.why != NULL ? p->wire.why
                                                  : "no answer of a decision service");
    json_decref(answer);
    return NULL;
}

/* The object as text, to be freed. Takes `object`. */
static char *write_json(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(object);
    return text;
}

static json_t *begin_body(const player *p)
{
    const wish *w = p->play->w;
    json_t *body = json_object();
    if (w->learner != NULL)
        (void)json_object_set_new(body, "learner", json_string(w->learner));
    if (p->play->space.user_required)
        (void)json_object_set_new(body, "user",
                                  json_sprintf("simulated-%llu-%llu", (unsigned long long)w->seed,
                                               (unsigned long long)p->user));
    return body;
}

/* Where the user stands, as "state" or "context" (with a prefix). */
static void put_place(json_t *body, const play *all, const tacit_situation *here, bool next)
{
    size_t width = cli_space_width(&all->space);
    if (width == 0) {
        (void)json_object_set_new(body, next ? "next_state" : "state", json_integer(here->state));
        return;
    }
    json_t *context = json_array();
    for (size_t i = 0; i < width; i++)
        (void)json_array_append_new(context, json_real(here->features[i]));
    (void)json_object_set_new(body, next ? "next_context" : "context", context);
}

/* Whether the service has taken what it was told. */
static bool was_taken(player *p, json_t *answer)
{
    const char *status = json_string_value(json_object_get(answer, "status"));
    bool taken = status != NULL;
    if (taken && strcmp(status, "full") == 0)
        atomic_fetch_add(&p->play->full, 1);
    if (taken && strcmp(status, "late") == 0)
        atomic_fetch_add(&p->play->late, 1);
    json_decref(answer);
    return taken;
}

/* --- Joint: the service decides ----------------------------------------------------------------- */

/* One step: decide, act, observe. *go_on is false if nobody knows what came of it. */
static bool step_joint(player *p, const char *episode, size_t h, tacit_situation *here, bool *go_on)
{
    const play *all = p->play;
    const bool several = all->space.horizon > 1;
    char path[MAX_PATH_TEXT];
    json_t *body = several ? json_object() : begin_body(p);
    (void)snprintf(path, sizeof path, several ? "/v1/episodes/%s/decide" : "/v1/decide", episode);
    put_place(body, all, here, false);
    if (several)
        (void)json_object_set_new(body, "step", json_integer((json_int_t)h));
    json_t *decided = ask(p, path, NULL, write_json(body), 200);
    const char *decision = json_string_value(json_object_get(decided, "decision"));
    uint32_t action = 0;
    cli_outcome came;
    bool good = decision != NULL &&
                cli_space_action(&all->space, json_object_get(decided, "action"), &action) &&
                cli_people_act(p->people, action, &came) == TACIT_OK;
    *go_on = good && came.known;
    if (*go_on) { /* of what is not known nothing is told: such an episode costs nothing */
        body = json_object();
        (void)json_object_set_new(body, "decision", json_string(decision));
        (void)json_object_set_new(body, "reward", json_real(came.reward));
        if (several)
            put_place(body, all, &came.next, true);
        good = was_taken(p, ask(p, "/v1/observe", NULL, write_json(body), 200));
        *here = came.next;
    }
    json_decref(decided);
    return good;
}

static bool play_joint(player *p, tacit_situation *here)
{
    const size_t horizon = p->play->space.horizon;
    char episode[256] = "";
    bool good = true, go_on = true;
    if (horizon > 1) {
        json_t *opened = ask(p, "/v1/episodes", NULL, write_json(begin_body(p)), 201);
        const char *id = json_string_value(json_object_get(opened, "episode"));
        good = id != NULL && strlen(id) < sizeof episode;
        if (good)
            memcpy(episode, id, strlen(id) + 1);
        json_decref(opened);
    }
    for (size_t h = 0; h < horizon && good && go_on; h++)
        good = step_joint(p, episode, h, here, &go_on);
    return good;
}

/* --- Local: the user decides -------------------------------------------------------------------- */

static void put_billboard_path(const wish *w, char path[MAX_PATH_TEXT])
{
    (void)snprintf(path, MAX_PATH_TEXT,
                   w->learner != NULL ? "/v1/billboard?learner=%s" : "/v1/billboard", w->learner);
}

static bool play_local(player *p, tacit_situation *here)
{
    char path[MAX_PATH_TEXT], key[TACIT_CLIENT_KEY_SIZE], *body = NULL;
    const char *text;
    size_t size;
    tacit_client *client = NULL;
    const tacit_client_terms any = {.epsilon = HUGE_VAL, .delta = 1}; /* nobody is behind it */
    tacit_error err = {0};
    put_billboard_path(p->play->w, path);
    atomic_fetch_add(&p->play->requests, 1);
    int status = cli_wire_ask(&p->wire, "GET", path, NULL, NULL, &text, &size);
    bool good = status == 200 && tacit_client_create(text, size, &any, &client, &err) == TACIT_OK;
    bool go_on = good;
    for (size_t h = 0; h < p->play->space.horizon && good && go_on; h++) {
        uint32_t action;
        double probability;
        cli_outcome came;
        good = tacit_client_act(client, here, &action, &probability, &err) == TACIT_OK &&
               cli_people_act(p->people, action, &came) == TACIT_OK;
        go_on = good && came.known;
        if (go_on)
            *here = came.next;
    }
    if (go_on) {
        const tacit_trajectory episode = cli_people_trajectory(p->people);
        go_on = tacit_client_report(client, &episode, &body, key, &err) == TACIT_OK;
        good = go_on && was_taken(p, ask(p, "/v1/reports", key, body, 202));
    }
    if (!good && !go_on)
        complain(p->play, status, err.message[0] != '\0' ? err.message : "no billboard");
    tacit_client_destroy(client);
    return good;
}

static void *run(void *context)
{
    player *p = context;
    play *all = p->play;
    for (;;) {
        uint64_t user = atomic_fetch_add(&all->next, 1);
        if (user >= all->w->users || atomic_load(&all->failures) > 20 || atomic_load(&caught) != 0)
            return NULL;
        tacit_situation here;
        p->user = user;
        bool good = cli_people_come(p->people, user, &here) == TACIT_OK &&
                    (all->local ? play_local(p, &here) : play_joint(p, &here));
        atomic_fetch_add(good ? &all->done : &all->failures, 1);
    }
}

/* --- The command -------------------------------------------------------------------------------- */

static tacit_status open_player(player *p, play *all, tacit_error *err)
{
    p->play = all;
    if (!cli_wire_open(&p->wire, all->w->url, all->token))
        return TACIT_BAD_ARGUMENT;
    return cli_people_open(all->world, &all->space, all->w->seed, &p->people, err);
}

static void close_player(player *p)
{
    cli_wire_close(&p->wire);
    cli_people_close(p->people);
}

/* The learner's model and space, from its billboard; and whether the world is one for it. */
static int look(play *all)
{
    const wish *w = all->w;
    const tacit_world_facts *f = tacit_world_describe(all->world);
    cli_wire wire;
    char path[MAX_PATH_TEXT];
    const char *text = NULL;
    size_t size = 0;
    if (!cli_wire_open(&wire, w->url, all->token))
        return strncmp(w->url, "https:", 6) == 0
                   ? cli_wrong("'%s': simulated users do not speak TLS; let them play against the "
                               "service without `tls`, for example http://127.0.0.1:8470",
                               w->url)
                   : cli_wrong("'%s' is no URL, expected for example http://127.0.0.1:8470",
                               w->url);
    put_billboard_path(w, path);
    int status = cli_wire_ask(&wire, "GET", path, NULL, NULL, &text, &size);
    json_t *board = status == 200 ? json_loadb(text, size, 0, NULL) : NULL;
    const char *model = json_string_value(json_object_get(board, "model"));
    int result = CLI_DONE;
    if (status == 0) {
        (void)cli_wrong("%s does not answer: %s; is tacit serve running there?", w->url,
                        wire.why != NULL ? wire.why : "no memory");
        result = CLI_SYSTEM;
    } else if (status == 404 && w->learner != NULL) {
        result =
            cli_wrong("%s has no learner '%s'; its service file has the names", w->url, w->learner);
    } else if (status == 404) {
        result = cli_wrong("%s has more than one learner: say which, --learner NAME", w->url);
    } else if (model == NULL || !cli_space_read(json_object_get(board, "space"), &all->space)) {
        result = cli_wrong("%s answers, but not as a decision service does (status %d); expected "
                           "the URL that tacit serve prints",
                           w->url, status);
    } else if (f->people > 0 && w->users > f->people) {
        result = cli_wrong("the world %s has %llu people, but --users is %llu", f->kind->name,
                           (unsigned long long)f->people, (unsigned long long)w->users);
    } else {
        result = cli_space_fits(&all->space, f);
        all->local = strcmp(model, "local") == 0;
    }
    json_decref(board);
    cli_wire_close(&wire);
    return result;
}

/* What to do about a refusal. */
static const char *remedy(const char *complaint)
{
    if (strncmp(complaint, "401,", 4) == 0)
        return "; a service learns of new tokens by SIGHUP, and revoked ones open nothing";
    if (strncmp(complaint, "403,", 4) == 0)
        return "; users of a joint learner need the scopes decide and observe, devices report";
    return "";
}

static int tell(play *all, const player *players, size_t n, double seconds)
{
    cli_turnout t = {.done = atomic_load(&all->done),
                     .failures = atomic_load(&all->failures),
                     .full = atomic_load(&all->full),
                     .late = atomic_load(&all->late),
                     .requests = atomic_load(&all->requests),
                     .seconds = seconds};
    for (size_t i = 0; i < n; i++) {
        const cli_score own = cli_people_score(players[i].people);
        cli_score_add(&t.score, &own);
        t.sum_ms += players[i].sum_ms;
        t.slowest_ms = fmax(t.slowest_ms, players[i].slowest_ms);
    }
    cli_turnout_print(&t, all->world, all->w->json);
    if (t.failures > 0)
        (void)cli_wrong("%llu users failed; the last to fail was told: %s%s",
                        (unsigned long long)t.failures, all->complaint, remedy(all->complaint));
    if (atomic_load(&caught) != 0)
        (void)cli_wrong("interrupted: %llu of %llu users came, and what they told is kept",
                        (unsigned long long)t.done, (unsigned long long)all->w->users);
    return t.failures > 0              ? CLI_SYSTEM
           : atomic_load(&caught) != 0 ? 128 + atomic_load(&caught)
                                       : CLI_DONE;
}

static int play_all(play *all)
{
    size_t n = (size_t)all->w->clients, started = 0;
    player *players = calloc(n, sizeof *players);
    pthread_t *threads = calloc(n, sizeof *threads);
    tacit_error err = {0};
    tacit_status status = players != NULL && threads != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    double start = now_ms();
    for (; started < n && status == TACIT_OK; started++) {
        status = open_player(&players[started], all, &err);
        if (status == TACIT_OK &&
            pthread_create(&threads[started], NULL, run, &players[started]) != 0)
            status = TACIT_SYSTEM;
    }
    if (status != TACIT_OK)
        atomic_store(&all->next, all->w->users); /* those that have begun end */
    for (size_t i = 0; i < started - (status != TACIT_OK && started > 0); i++)
        (void)pthread_join(threads[i], NULL);
    int result = status == TACIT_OK ? tell(all, players, n, 1e-3 * (now_ms() - start))
                                    : cli_failed(status, &err);
    for (size_t i = 0; i < started; i++)
        close_player(&players[i]);
    free(players);
    free(threads);
    return result;
}

static int simulate(const wish *w)
{
    play all = {.w = w, .lock = PTHREAD_MUTEX_INITIALIZER};
    tacit_error err = {0};
    const tacit_world_request request = {
        .kind = w->world, .settings = w->settings, .n_settings = w->n_settings};
    if (w->token_file == NULL)
        return cli_wrong("--token-file is missing; see tacit simulate-users --help");
    int result = cli_wire_token(w->token_file, all.token);
    if (result != CLI_DONE)
        return result;
    tacit_status status = tacit_world_create(&request, &all.world, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    hear_signals();
    result = look(&all);
    if (result == CLI_DONE)
        result = play_all(&all);
    cli_space_close(&all.space);
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

static int read_option(void *wishes, int code)
{
    wish *w = wishes;
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
    int status = cli_take_options(argc, argv, ":h", options, read_option, &w);
    if (status != CLI_DONE)
        return status;
    if (w.help) {
        (void)fputs(help, stdout);
        return CLI_DONE;
    }
    if (argc - optind != 1)
        return cli_wrong("expected one URL; see tacit simulate-users --help");
    w.url = argv[optind];
    return simulate(&w);
}
