/* tacit simulate-users: plays thousands of users against a running service, in either model.
 * cli/commands/simulated_people.c simulates the people; this file makes their requests. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/client.h>
#include <tacit/world.h>

#include "base/parallel.h"
#include "base/wait.h"
#include "cli/cli.h"
#include "cli/commands/simulated_people.h"
#include "cli/commands/simulation_result.h"
#include "cli/commands/wire.h"
#include "cli/options.h"
#include "text/json_text.h"
#include "text/settings.h"

enum { MAX_CLIENTS = 256, MAX_PATH_TEXT = 512, MAX_TICKET = 2048 };

/* Of the world, in the order in which they were given. */
typedef struct settings {
    tacit_setting list[TACIT__MAX_PARAMETERS];
    char keys[TACIT__MAX_PARAMETERS][65]; /* as long as a parameter's name can be */
    size_t n;
} settings;

typedef struct simulate_options {
    const char *url, *token_file, *learner, *world;
    settings settings;
    uint64_t users, clients, seed;
    bool json;
} simulate_options;

static bool read_setting(const char *text, void *out)
{
    settings *s = out;
    const size_t length = strcspn(text, "=");
    if (text[length] == '\0' || length == 0 || length >= sizeof *s->keys ||
        s->n == TACIT__MAX_PARAMETERS)
        return false;
    memcpy(s->keys[s->n], text, length); /* the rest is zero */
    s->list[s->n] = (tacit_setting){.key = s->keys[s->n], .value = text + length + 1};
    s->n++;
    return true;
}

static bool read_name(const char *text, void *out)
{
    if (!tacit__is_name(text))
        return false;
    *(const char **)out = text;
    return true;
}

static const tacit__field option_fields[] = {
    {"token-file", TACIT__FIELD_TEXT, offsetof(simulate_options, token_file), .value = "FILE",
     .help = "a token with the scopes decide and observe, or report"},
    {"learner", TACIT__FIELD_OTHER, offsetof(simulate_options, learner), .parse = read_name,
     .expected = "lowercase letters, digits, - and _", .value = "NAME",
     .help = "which learner; optional if the service has one"},
    {"world", TACIT__FIELD_TEXT, offsetof(simulate_options, world), .value = "KIND",
     .help = "the world of the users (default: riverswim; `tacit worlds` lists them);\n"
             "it must fit the learner's space: its states, or its features"},
    {"set", TACIT__FIELD_OTHER, offsetof(simulate_options, settings), .parse = read_setting,
     .expected = "KEY=VALUE", .value = "KEY=VALUE",
     .help = "a parameter of the world; may be repeated"},
    {"users", TACIT__FIELD_COUNT, offsetof(simulate_options, users), 1, CLI_MAX_COUNT, .value = "N",
     .help = "number of users (default: 1000)"},
    {"clients", TACIT__FIELD_COUNT, offsetof(simulate_options, clients), 1, MAX_CLIENTS,
     .value = "C", .help = "users at the same time (default: 4)"},
    {"seed", TACIT__FIELD_COUNT, offsetof(simulate_options, seed), 1, CLI_MAX_COUNT, .value = "S",
     .help = "seed of the simulated users (default: 1)"},
    {"json", TACIT__FIELD_FLAG, offsetof(simulate_options, json),
     .help = "print the result as JSON"},
    {.name = NULL}};

static const cli_form form = {
    "usage: tacit simulate-users URL --token-file FILE [OPTIONS]\n"
    "\n"
    "Simulates users of a running service. They open episodes, ask for decisions and report the\n"
    "outcomes. For a local learner they read the billboard, choose their own actions, and send a\n"
    "privatized report.\n"
    "\n",
    "\n"
    "If the world is a log, it knows the outcome of one action per user; a user for whom the\n"
    "service chose another action reports nothing. On Ctrl-C the users in progress finish, the\n"
    "results are printed, and the exit status is 130.\n"
    "\n"
    "examples:\n"
    "  tacit simulate-users http://127.0.0.1:8470 --token-file web.token --learner river \\\n"
    "      --set states=6 --set horizon=20 --users 5000\n"
    "  tacit simulate-users http://127.0.0.1:8470 --token-file web.token --learner ads \\\n"
    "      --world linear-bandit --set d=5 --set actions=10\n",
    option_fields};

/* Ctrl-C: no new users start, those in progress finish, and the results are printed. */
static atomic_int caught; /* the signal; 0: none */

static void on_signal(int number)
{
    atomic_store(&caught, number);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

/* All clients share this. */
typedef struct play {
    const simulate_options *o;
    char token[CLI_TOKEN_TEXT];
    tacit_world *world;
    cli_space space; /* the learner's */
    bool local;
    atomic_uint_fast64_t next, done, requests, failures, full, late;
    pthread_mutex_t lock;
    int refusal;         /* the HTTP status that the last user who failed got; of the lock */
    char complaint[256]; /* and why; of the lock */
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

static void complain(play *all, int status, const char *why)
{
    (void)pthread_mutex_lock(&all->lock);
    all->refusal = status;
    (void)snprintf(all->complaint, sizeof all->complaint, "%.250s", why);
    (void)pthread_mutex_unlock(&all->lock);
}

/* The member of an answer as text; false: there is none, or it is too long. `answer` may be NULL. */
static bool get_text(const tacit__json_node *answer, const tacit__json_node *object,
                     const char *key, char *out, size_t capacity)
{
    const tacit__json_node *value = object != NULL ? tacit__json_get(object, answer, key) : NULL;
    return value != NULL && value->kind == TACIT__JSON_STRING &&
           tacit__json_string(value, out, capacity);
}

/* The answer, which lives until the next one, or NULL if its status is not the expected one. */
static const tacit__json_node *ask(player *p, const char *path, const char *key, const char *body,
                                   int expected)
{
    const char *text = NULL;
    char why[300];
    size_t size = 0;
    double start = tacit__now_ms();
    int status = body != NULL ? cli_wire_ask(&p->wire, "POST", path, key, body, &text, &size) : 0;
    double took = tacit__now_ms() - start;
    p->slowest_ms = fmax(p->slowest_ms, took);
    p->sum_ms += took;
    atomic_fetch_add(&p->play->requests, 1);
    const tacit__json_node *answer = status != 0 ? cli_wire_json(&p->wire, text, size) : NULL;
    if (status == expected && answer != NULL)
        return answer;
    const tacit__json_node *error =
        answer != NULL ? tacit__json_get(answer, answer, "error") : NULL;
    complain(p->play, status,
             get_text(answer, error, "message", why, sizeof why) ? why
             : status == 0 && p->wire.why != NULL                ? p->wire.why
                                                  : "no answer of a decision service");
    return NULL;
}

/* The same with a body that is given up. */
static const tacit__json_node *ask_with(player *p, const char *path, tacit__json_writer *body,
                                        int expected)
{
    tacit__json_end(body);
    const tacit__json_node *answer =
        ask(p, path, NULL, body->text.failed ? NULL : body->text.data, expected);
    tacit__text_destroy(&body->text);
    return answer;
}

static void begin_body(tacit__json_writer *body, const player *p)
{
    const simulate_options *o = p->play->o;
    tacit__json_begin_object(body, NULL);
    if (o->learner != NULL)
        tacit__json_put_string(body, "learner", o->learner);
    if (p->play->space.user_required) {
        char user[64];
        (void)snprintf(user, sizeof user, "simulated-%llu-%llu", (unsigned long long)o->seed,
                       (unsigned long long)p->user);
        tacit__json_put_string(body, "user", user);
    }
}

/* Writes where the user stands, as "state" or "context" (with a prefix). */
static void put_place(tacit__json_writer *body, const play *all, const tacit_situation *here,
                      bool next)
{
    size_t width = cli_space_width(&all->space);
    if (width == 0) {
        tacit__json_put_count(body, next ? "next_state" : "state", here->state);
        return;
    }
    tacit__json_begin_list(body, next ? "next_context" : "context");
    for (size_t i = 0; i < width; i++)
        tacit__json_put_real(body, NULL, here->features[i]);
    tacit__json_end(body);
}

/* Returns whether the service has taken what the client sent. */
static bool was_taken(player *p, const tacit__json_node *answer)
{
    char status[32];
    if (!get_text(answer, answer, "status", status, sizeof status))
        return false;
    if (strcmp(status, "full") == 0)
        atomic_fetch_add(&p->play->full, 1);
    if (strcmp(status, "late") == 0)
        atomic_fetch_add(&p->play->late, 1);
    return true;
}

/* --- Joint: the service decides ----------------------------------------------------------------- */

/* One step: decide, act, observe. *go_on is false if the outcome is not known. */
static bool step_joint(player *p, const char *episode, size_t h, tacit_situation *here, bool *go_on)
{
    const play *all = p->play;
    const bool several = all->space.horizon > 1;
    char path[MAX_PATH_TEXT], decision[MAX_TICKET];
    tacit__json_writer body = {0};
    if (several)
        tacit__json_begin_object(&body, NULL);
    else
        begin_body(&body, p);
    (void)snprintf(path, sizeof path, several ? "/v1/episodes/%s/decide" : "/v1/decide", episode);
    put_place(&body, all, here, false);
    if (several)
        tacit__json_put_count(&body, "step", h);
    const tacit__json_node *decided = ask_with(p, path, &body, 200);
    uint32_t action = 0;
    cli_outcome came;
    bool good =
        get_text(decided, decided, "decision", decision, sizeof decision) &&
        cli_space_action(&all->space, tacit__json_get(decided, decided, "action"), &action) &&
        cli_people_act(p->people, action, &came) == TACIT_OK;
    *go_on = good && came.known;
    if (*go_on) { /* of what is not known nothing is told: such an episode costs nothing */
        body = (tacit__json_writer){0};
        tacit__json_begin_object(&body, NULL);
        tacit__json_put_string(&body, "decision", decision);
        tacit__json_put_real(&body, "reward", came.reward);
        if (several)
            put_place(&body, all, &came.next, true);
        good = was_taken(p, ask_with(p, "/v1/observe", &body, 200));
        *here = came.next;
    }
    return good;
}

static bool play_joint(player *p, tacit_situation *here)
{
    const size_t horizon = p->play->space.horizon;
    char episode[256] = "";
    bool good = true, go_on = true;
    if (horizon > 1) {
        tacit__json_writer body = {0};
        begin_body(&body, p);
        const tacit__json_node *opened = ask_with(p, "/v1/episodes", &body, 201);
        good = get_text(opened, opened, "episode", episode, sizeof episode);
    }
    for (size_t h = 0; h < horizon && good && go_on; h++)
        good = step_joint(p, episode, h, here, &go_on);
    return good;
}

/* --- Local: the user decides -------------------------------------------------------------------- */

static void put_billboard_path(const simulate_options *o, char path[MAX_PATH_TEXT])
{
    (void)snprintf(path, MAX_PATH_TEXT,
                   o->learner != NULL ? "/v1/billboard?learner=%s" : "/v1/billboard", o->learner);
}

/* Every simulated user has a device that is thrown away after its one report. */
static tacit_status save_nothing(void *context, const void *state, size_t size)
{
    (void)context;
    (void)state;
    (void)size;
    return TACIT_OK;
}

static bool play_local(player *p, tacit_situation *here)
{
    char path[MAX_PATH_TEXT], key[TACIT_CLIENT_KEY_SIZE], *body = NULL;
    const char *text;
    size_t size;
    tacit_client *client = NULL;
    const tacit_client_terms any = {/* no person is behind it */
                                    .epsilon = HUGE_VAL,
                                    .delta = 1,
                                    .save = save_nothing};
    tacit_error err = {0};
    put_billboard_path(p->play->o, path);
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
        free(body);
    }
    if (!good && !go_on)
        complain(p->play, status, err.message[0] != '\0' ? err.message : "no billboard");
    tacit_client_destroy(client);
    return good;
}

/* Plays the client of this number. Users who fail are counted; that is no failure of the client. */
static tacit_status run_client(void *context, size_t client, tacit_error *err)
{
    player *p = (player *)context + client;
    play *all = p->play;
    (void)err;
    for (;;) {
        uint64_t user = atomic_fetch_add(&all->next, 1);
        if (user >= all->o->users || atomic_load(&all->failures) > 20 || atomic_load(&caught) != 0)
            return TACIT_OK;
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
    if (!cli_wire_open(&p->wire, all->o->url, all->token))
        return TACIT_BAD_ARGUMENT;
    return cli_people_open(all->world, &all->space, all->o->seed, &p->people, err);
}

static void close_player(player *p)
{
    cli_wire_close(&p->wire);
    cli_people_close(p->people);
}

/* The learner's model and space, from its billboard; and whether the world is one for it. */
static int read_billboard(play *all)
{
    const simulate_options *o = all->o;
    const tacit_world_facts *f = tacit_world_describe(all->world);
    cli_wire wire;
    char path[MAX_PATH_TEXT];
    const char *text = NULL;
    size_t size = 0;
    if (!cli_wire_open(&wire, o->url, all->token))
        return strncmp(o->url, "https:", 6) == 0
                   ? cli_wrong("'%s': simulate-users does not support TLS; use the service without "
                               "`tls`, for example http://127.0.0.1:8470",
                               o->url)
                   : cli_wrong("'%s' is not a URL, expected for example http://127.0.0.1:8470",
                               o->url);
    put_billboard_path(o, path);
    int status = cli_wire_ask(&wire, "GET", path, NULL, NULL, &text, &size);
    const tacit__json_node *board = status == 200 ? cli_wire_json(&wire, text, size) : NULL;
    char model[16];
    int result = CLI_DONE;
    if (status == 0) {
        (void)cli_wrong("%s does not answer: %s; is tacit serve running there?", o->url,
                        wire.why != NULL ? wire.why : "no memory");
        result = CLI_SYSTEM;
    } else if (status == 404 && o->learner != NULL) {
        result =
            cli_wrong("%s has no learner '%s'; its service file has the names", o->url, o->learner);
    } else if (status == 404) {
        result = cli_wrong("%s has more than one learner: name one, --learner NAME", o->url);
    } else if (!get_text(board, board, "model", model, sizeof model) ||
               !cli_space_read(board, &all->space)) {
        result = cli_wrong("%s answers, but not as a decision service does (status %d); expected "
                           "the URL that tacit serve prints",
                           o->url, status);
    } else if (f->people > 0 && o->users > f->people) {
        result = cli_wrong("the world %s has %llu people, but --users is %llu", f->kind->name,
                           (unsigned long long)f->people, (unsigned long long)o->users);
    } else {
        result = cli_space_fits(&all->space, f);
        all->local = strcmp(model, "local") == 0;
    }
    cli_wire_close(&wire);
    return result;
}

/* Says what to do about a refusal. */
static const char *remedy(int status)
{
    if (status == 401)
        return "; a service reads new tokens when it receives SIGHUP, and revoked tokens are not "
               "valid";
    if (status == 403)
        return "; users of a joint learner need the scopes decide and observe, devices report";
    return "";
}

static int print_result(play *all, const player *players, size_t n, double seconds)
{
    cli_simulation t = {.done = atomic_load(&all->done),
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
    cli_simulation_print(&t, all->world, all->o->json);
    if (t.failures > 0)
        (void)cli_wrong("%llu users failed; the last failure was: %d, %s%s",
                        (unsigned long long)t.failures, all->refusal, all->complaint,
                        remedy(all->refusal));
    if (atomic_load(&caught) != 0)
        (void)cli_wrong("interrupted: %llu of %llu users came, and their observations are kept",
                        (unsigned long long)t.done, (unsigned long long)all->o->users);
    return t.failures > 0              ? CLI_SYSTEM
           : atomic_load(&caught) != 0 ? 128 + atomic_load(&caught)
                                       : CLI_DONE;
}

static int play_all(play *all)
{
    const size_t n = (size_t)all->o->clients;
    player *players = calloc(n, sizeof *players);
    tacit_error err = TACIT_ERROR_INIT;
    tacit_status status = players != NULL ? TACIT_OK : TACIT_NO_MEMORY;
    size_t opened = 0;
    for (; opened < n && status == TACIT_OK; opened++)
        status = open_player(&players[opened], all, &err);
    const double start = tacit__now_ms();
    bool stopped;
    if (status == TACIT_OK)
        status = tacit__parallel(n, (unsigned)n, run_client, NULL, players, &stopped, &err);
    int result = status == TACIT_OK
                     ? print_result(all, players, n, 1e-3 * (tacit__now_ms() - start))
                     : cli_failed(status, &err);
    for (size_t i = 0; i < opened; i++)
        close_player(&players[i]);
    free(players);
    return result;
}

static int simulate(const simulate_options *o)
{
    play all = {.o = o, .lock = PTHREAD_MUTEX_INITIALIZER};
    tacit_error err = {0};
    const tacit_world_request request = {
        .kind = o->world, .settings = o->settings.list, .n_settings = o->settings.n};
    if (o->token_file == NULL)
        return cli_wrong("--token-file is missing; see tacit simulate-users --help");
    int result = cli_wire_token(o->token_file, all.token);
    if (result != CLI_DONE)
        return result;
    tacit_status status = tacit_world_create(&request, &all.world, &err);
    if (status != TACIT_OK)
        return cli_failed(status, &err);
    catch_signals();
    result = read_billboard(&all);
    if (result == CLI_DONE)
        result = play_all(&all);
    cli_space_close(&all.space);
    tacit_world_destroy(all.world);
    return result;
}

int cli_simulate_users(int argc, char **argv)
{
    simulate_options o = {.world = "riverswim", .users = 1000, .clients = 4, .seed = 1};
    int status = cli_read_options(argc, argv, &form, &o, NULL);
    if (status != CLI_DONE)
        return status;
    if (argc - optind != 1)
        return cli_wrong("expected one URL; see tacit simulate-users --help");
    o.url = argv[optind];
    return simulate(&o);
}
