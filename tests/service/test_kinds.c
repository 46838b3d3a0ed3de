/* Every agent of the library is served in every model that it has: the list is the library's own, so a kind that cannot be served
 * fails here. Each gets a space that it accepts, of those below in turn, and all of them one server; users come one after the
 * other to each, the server is killed in the middle, and goes on where it was. Every third user is outside the space in all that
 * they tell, and one decides first of all and tells last of all: everybody who was accepted counts, and is never refused. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/client.h>

#include "serve/config.h"
#include "support/check.h"
#include "support/random.h"
#include "support/server.h"

enum { USERS = 24, BEFORE = 11, MOST = 96, CLIENTS = 4, STEPS = 3 };

/* --- Spaces --------------------------------------------------------------------------------------- */

typedef struct space {
    const char *text;
    size_t states, actions, horizon, per_user; /* features of one situation, or 0 */
} space;

/* The richest first: devices, which need all of it, get them. */
static const space spaces[] = {
    {"{states: 4, actions: 2, horizon: 3, rewards: rewards.csv, mixture: mixture.csv, features: "
     "features.csv}",
     4, 2, 3, 0},
    {"{states: 4, actions: 3, horizon: 1, features: points.csv, context: 1, weights: "
     "weights.csv, parameter_norm: 0.4, kernel: se(0.4) * matern-1.5(0.5)}",
     4, 3, 1, 0},
    {"{features: 3, actions: 2, bound: 2}", 0, 2, 1, 6},
    {"{features: 3, actions: 2, horizon: 2}", 0, 2, 2, 6},
    {"{states: 4, actions: 3, horizon: 1, features: people.csv, shared: no}", 4, 3, 1, 0},
    {"{states: 4, actions: 2, horizon: 3, stationary: yes, rewards: alike.csv}", 4, 2, 3, 0},
    {"{states: 4, actions: 2, horizon: 3}", 4, 2, 3, 0},
    {"{states: 1, actions: 3, horizon: 1}", 1, 3, 1, 0},
};

static FILE *open_file(const char *directory, const char *name)
{
    FILE *file = fopen(fmt("%s/%s", directory, name), "w");
    assert_non_null(file);
    return file;
}

/* The tables that the spaces name. */
static void write_tables(const char *directory, double first_reward)
{
    FILE *rewards = open_file(directory, "rewards.csv"), *alike = open_file(directory, "alike.csv"),
         *mixture = open_file(directory, "mixture.csv"),
         *features = open_file(directory, "features.csv"),
         *points = open_file(directory, "points.csv"), *people = open_file(directory, "people.csv"),
         *weights = open_file(directory, "weights.csv");
    (void)fputs("step,state,action,reward\n", rewards);
    (void)fputs("state,action,reward\n", alike);
    (void)fputs("state,action,part,next_state,probability\n", mixture);
    (void)fputs("state,action,feature,value\n", features);
    (void)fputs("state,action,feature,value\n", points);
    (void)fputs("state,feature,value\n", people);
    (void)fputs("state,probability\n0,0.1\n1,0.2\n2,0.3\n3,0.4\n", weights);
    for (int s = 0; s < 4; s++) {
        (void)fprintf(people, "%d,0,0.6\n%d,1,%g\n", s, s, 0.2 * s);
        for (int a = 0; a < 3; a++)
            (void)fprintf(points, "%d,%d,0,%g\n%d,%d,1,%g\n", s, a, s / 3.0, s, a, a / 2.0);
        for (int a = 0; a < 2; a++) {
            for (int h = 0; h < 3; h++)
                (void)fprintf(rewards, "%d,%d,%d,%g\n", h, s, a,
                              h + s + a == 0 ? first_reward : 0.1 * s + 0.2 * a + 0.05 * h);
            (void)fprintf(alike, "%d,%d,%g\n", s, a, 0.2 * s + 0.1 * a);
            /* one part stays, the other moves on */
            (void)fprintf(mixture, "%d,%d,0,%d,1\n%d,%d,1,%d,0.75\n%d,%d,1,%d,0.25\n", s, a, s, s,
                          a, (s + 1 + a) % 4, s, a, s);
            (void)fprintf(features, "%d,%d,%d,0.7\n%d,%d,2,0.3\n", s, a, a, s, a);
        }
    }
    FILE *const files[] = {rewards, alike, mixture, features, points, people, weights};
    for (size_t i = 0; i < N_OF(files); i++)
        assert_int_equal(fclose(files[i]), 0);
}

/* --- Learners ------------------------------------------------------------------------------------- */

typedef struct visit visit;

typedef struct learner {
    char name[64], entry[600]; /* of the service file */
    const space *space;
    bool local;
    char board[SERVER_ANSWER];
    uint64_t version;
    visit *late;        /* of somebody who has decided, and will tell after everybody else; joint */
    char trouble[1200]; /* what went wrong; "": nothing */
} learner;

static learner learners[MOST];

static const char *privacy_of(unsigned model)
{
    switch (model) {
    case TACIT_AGENT_NONE:
        return ", privacy: {model: none}";
    case TACIT_AGENT_JOINT_PURE:
        return ", privacy: {model: joint, epsilon: 2, delta: 0}";
    case TACIT_AGENT_JOINT:
        return ", privacy: {model: joint, epsilon: 2}";
    case TACIT_AGENT_LOCAL_PURE:
        return ", privacy: {model: local, epsilon: 2, delta: 0}";
    default:
        return ", privacy: {model: local, epsilon: 2}";
    }
}

/* A kind may have settings without which a model makes no sense. */
static const char *settings_of(const tacit_agent_kind *kind, unsigned model)
{
    return strcmp(kind->name, "lsvi-ucb") == 0 && model == TACIT_AGENT_JOINT_PURE
               ? ", schedule: batched"
               : "";
}

static void write_entry(learner *l, const tacit_agent_kind *kind, unsigned model, const space *s)
{
    l->space = s;
    l->local = model >= TACIT_AGENT_LOCAL_PURE;
    (void)snprintf(l->name, sizeof l->name, "%s-%u", kind->name, model);
    (void)snprintf(
        l->entry, sizeof l->entry,
        "  - {name: %s, users: 40, space: %s,\n     agent: {kind: %s, outside: clip%s%s}}\n",
        l->name, s->text, kind->name, settings_of(kind, model), privacy_of(model));
}

static const char head[] = "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n";

/* Whether the library has an agent of this kind for the space; `why` if not. */
static bool accepts(const server *s, const learner *l, tacit_error *why)
{
    SCOPED_BY(tacit__service_config_free) tacit__service_config config;
    const char *path = fmt("%s/try.yaml", s->directory);
    FILE *file = open_file(s->directory, "try.yaml");
    (void)fprintf(file, "%s%s", head, l->entry);
    assert_int_equal(fclose(file), 0);
    if (tacit__service_config_read(path, &config, why) != TACIT_OK)
        fail_msg("%s: %s", l->entry, why->message); /* the file is right whatever the kind */
    return tacit__service_config_open(&config, why) == TACIT_OK;
}

/* One learner for each kind and model; the spaces that fit take turns. */
static size_t choose_learners(const server *s)
{
    size_t n = 0;
    for (size_t i = 0; i < tacit_agent_kind_count(); i++) {
        const tacit_agent_kind *kind = tacit_agent_kind_at(i);
        size_t turn = 0;
        for (unsigned model = TACIT_AGENT_LOCAL; model >= TACIT_AGENT_NONE; model /= 2) {
            const space *fit[N_OF(spaces)];
            size_t n_fit = 0;
            tacit_error why = {0};
            if ((kind->models & model) == 0)
                continue;
            assert_true(n < MOST);
            for (size_t j = 0; j < N_OF(spaces); j++) {
                write_entry(&learners[n], kind, model, &spaces[j]);
                if (accepts(s, &learners[n], &why))
                    fit[n_fit++] = &spaces[j];
            }
            if (n_fit == 0)
                fail_msg("no space for %s: %s", learners[n].name, why.message);
            write_entry(&learners[n++], kind, model, fit[turn++ % n_fit]);
        }
    }
    return n;
}

/* --- Users ---------------------------------------------------------------------------------------- */

/* One user at a time; the answer, and what chance has in store. */
struct visit {
    const server *server;
    learner *learner;
    uint64_t seed;
    bool wild; /* outside the space wherever that can be told */
    char episode[512], decision[2048];
    uint32_t states[STEPS + 1], actions[STEPS];
    double rewards[STEPS], features[(STEPS + 1) * 6];
    char answer[SERVER_ANSWER], body[SERVER_ANSWER];
};

/* cmocka ends tests in the main thread only: trouble is kept until then. */
static bool trouble(const visit *v, const char *what)
{
    (void)snprintf(v->learner->trouble, sizeof v->learner->trouble, "%s: %.300s; %.600s",
                   v->learner->name, what, v->answer);
    return false;
}

static double number_of(const visit *v, const char *key)
{
    char text[64];
    return json_field(v->answer, key, text, sizeof text) ? strtod(text, NULL) : (double)NAN;
}

static bool post(visit *v, const char *path, const char *extra, int wanted)
{
    int status = server_ask(v->server, v->server->token, "POST", path, extra, v->body, v->answer);
    return status == wanted || trouble(v, path);
}

/* Everybody is somewhere at every step. */
static void meet(visit *v)
{
    const space *s = v->learner->space;
    for (size_t h = 0; h <= s->horizon; h++) {
        v->states[h] = s->states > 0 ? (uint32_t)random_below(&v->seed, s->states) : 0;
        if (v->wild)
            v->states[h] += 1000;
        for (size_t i = 0; i < s->per_user; i++)
            v->features[h * s->per_user + i] =
                (random_unit(&v->seed) - 0.5) * (v->wild ? 1e200 : 1);
        if (h < s->horizon)
            v->rewards[h] = (double)random_below(&v->seed, 2) + (v->wild ? 1.5 : 0);
    }
}

/* "state":2 or "context":[...], of a step. */
static void put_place(const visit *v, size_t h, const char *prefix, char *out, size_t size)
{
    const space *s = v->learner->space;
    if (s->per_user == 0) {
        (void)snprintf(out, size, "\"%sstate\":%u", prefix, v->states[h]);
        return;
    }
    size_t used = (size_t)snprintf(out, size, "\"%scontext\":[", prefix);
    for (size_t i = 0; i < s->per_user; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%.17g", i > 0 ? "," : "",
                                 v->features[h * s->per_user + i]);
    (void)snprintf(out + used, size - used, "]");
}

static bool check_decision(const visit *v, uint32_t *action)
{
    double a = number_of(v, "action"), p = number_of(v, "probability"),
           version = number_of(v, "version");
    if (!(a >= 0 && a < (double)v->learner->space->actions && p > 0 && p <= 1 &&
          version >= (double)v->learner->version))
        return trouble(v, "this is no decision");
    *action = (uint32_t)a;
    v->learner->version = (uint64_t)version;
    return true;
}

/* The sender is told that they were cut, if they were. */
static bool check_told(const visit *v)
{
    char text[16] = "false";
    (void)json_field(v->answer, "outside", text, sizeof text);
    return (strcmp(text, "true") == 0) == v->wild || trouble(v, "the sender is told otherwise");
}

static bool open_episode(visit *v)
{
    (void)snprintf(v->body, sizeof v->body, "{\"learner\":\"%s\"}", v->learner->name);
    return v->learner->space->horizon == 1 ||
           (post(v, "/v1/episodes", NULL, 201) &&
            json_field(v->answer, "episode", v->episode, sizeof v->episode)) ||
           trouble(v, "no episode");
}

static bool decide(visit *v, size_t h)
{
    char place[600];
    bool once = v->learner->space->horizon == 1;
    put_place(v, h, "", place, sizeof place);
    (void)snprintf(v->body, sizeof v->body, "{%s%s%s%s}", once ? "\"learner\":\"" : "",
                   once ? v->learner->name : "", once ? "\"," : "", place);
    return (post(v, fmt(once ? "/v1/decide" : "/v1/episodes/%s/decide", v->episode), NULL, 200) &&
            check_decision(v, &v->actions[h]) && check_told(v) &&
            json_field(v->answer, "decision", v->decision, sizeof v->decision)) ||
           trouble(v, "no decision");
}

static bool observe(visit *v, size_t h)
{
    char place[600];
    bool once = v->learner->space->horizon == 1;
    put_place(v, h + 1, "next_", place, sizeof place);
    (void)snprintf(v->body, sizeof v->body, "{\"decision\":\"%s\",\"reward\":%g%s%s}", v->decision,
                   v->rewards[h], once ? "" : ",", once ? "" : place);
    return post(v, fmt(once ? "/v1/observe" : "/v1/episodes/%s/observe", v->episode), NULL, 200) &&
           check_told(v);
}

static bool visit_joint(visit *v)
{
    bool good = open_episode(v);
    for (size_t h = 0; h < v->learner->space->horizon && good; h++)
        good = decide(v, h) && observe(v, h);
    return good;
}

/* Somebody opens an episode and decides, and is not heard of until all others have finished. */
static bool begin_late(const server *s, learner *l)
{
    visit *v = l->late = malloc(sizeof *v);
    *v = (visit){.server = s, .learner = l, .seed = 99};
    meet(v);
    return open_episode(v) && decide(v, 0);
}

static bool end_late(learner *l)
{
    visit *v = l->late;
    bool good = observe(v, 0);
    l->version = 0; /* what was decided then may be older than what others have seen */
    for (size_t h = 1; h < l->space->horizon && good; h++)
        good = decide(v, h) && observe(v, h);
    return good;
}

/* The user's device reads the billboard, acts, and leaves its report in v->body, with the header that goes with it. */
static bool make_report(visit *v, char header[128])
{
    const space *s = v->learner->space;
    char key[TACIT_CLIENT_KEY_SIZE], *report = NULL;
    SCOPED(tacit_client) *client = NULL;
    tacit_error err = {0};
    const tacit_client_terms terms = {.epsilon = 2, .delta = 0.01};
    int status =
        server_ask(v->server, v->server->token, "GET",
                   fmt("/v1/billboard?learner=%s", v->learner->name), NULL, NULL, v->answer);
    const char *board = strstr(v->answer, "\r\n\r\n");
    if (status != 200 || board == NULL)
        return trouble(v, "no billboard");
    bool good =
        tacit_client_create(board + 4, strlen(board + 4), &terms, &client, &err) == TACIT_OK;
    for (size_t h = 0; h < s->horizon && good; h++) {
        double p = 0;
        const tacit_situation here = {.step = h,
                                      .state = v->states[h],
                                      .features =
                                          s->per_user > 0 ? v->features + h * s->per_user : NULL};
        good = tacit_client_act(client, &here, &v->actions[h], &p, &err) == TACIT_OK &&
               v->actions[h] < s->actions && p > 0 && p <= 1;
    }
    const tacit_trajectory t = {STEPS_OF(v->states, v->actions, v->rewards),
                                .features = s->per_user > 0 ? v->features : NULL};
    good = good && tacit_client_report(client, &t, &report, key, &err) == TACIT_OK;
    if (good) {
        (void)snprintf(header, 128, "Idempotency-Key: %s\r\n", key);
        (void)snprintf(v->body, sizeof v->body, "%s", report);
    } else {
        (void)snprintf(v->answer, sizeof v->answer, "%s", err.message);
        (void)trouble(v, "a device cannot take part");
    }
    free(report);
    return good;
}

static bool visit_local(visit *v)
{
    char header[128];
    return make_report(v, header) && post(v, "/v1/reports", header, 202);
}

/* Waits until so many were learned from. */
static bool wait_users(visit *v, unsigned long users)
{
    const char *path = fmt("/v1/ledger?learner=%s", v->learner->name);
    for (int i = 0; i < 20000; i++) {
        int status = server_ask(v->server, v->server->token, "GET", path, NULL, NULL, v->answer);
        if (status != 200 || number_of(v, "refused") != 0)
            return trouble(v, "a user was refused");
        if (number_of(v, "users") == (double)users)
            return true;
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return trouble(v, "it does not learn");
}

typedef struct crowd {
    const server *server;
    size_t n_learners;
    uint64_t from, to;
    atomic_size_t next;
} crowd;

static void *play(void *context)
{
    crowd *c = context;
    SCOPED_FREE visit *v = malloc(sizeof *v);
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n_learners;) {
        *v = (visit){.server = c->server, .learner = &learners[i]};
        bool good = learners[i].trouble[0] == '\0';
        if (c->from == 0 && !learners[i].local && good)
            good = begin_late(c->server, &learners[i]);
        for (uint64_t k = c->from; k < c->to && good; k++) {
            v->seed = 1000 * i + k;
            v->wild = k % 3 == 2;
            meet(v);
            good = (learners[i].local ? visit_local(v) : visit_joint(v)) && wait_users(v, k + 1);
        }
        if (c->to == USERS && learners[i].late != NULL && good)
            (void)(end_late(&learners[i]) && wait_users(v, USERS + 1));
    }
    return NULL;
}

/* Users `from` .. `to` - 1 of every learner. */
static void let_them_come(const server *s, size_t n, uint64_t from, uint64_t to)
{
    crowd c = {.server = s, .n_learners = n, .from = from, .to = to};
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, play, &c), 0);
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    size_t troubled = 0;
    for (size_t i = 0; i < n; i++)
        if (learners[i].trouble[0] != '\0') {
            print_error("%s\n", learners[i].trouble);
            troubled++;
        }
    assert_int_equal(troubled, 0);
}

/* What everybody can see of it, without the time of day. */
static void look(const server *s, const learner *l, char board[SERVER_ANSWER])
{
    assert_int_equal(server_get(s, fmt("/v1/billboard?learner=%s", l->name), board), 200);
    const char *body = strstr(board, "\r\n\r\n");
    assert_non_null(body);
    memmove(board, body, strlen(body) + 1);
}

TEST(every_kind_is_served_in_every_model_that_it_has)
{
    static char yaml[MOST * 600], board[SERVER_ANSWER];
    SCOPED_BY(server_close) server s;
    server_open(&s, TACIT_COMMAND, head);
    write_tables(s.directory, 0.5);
    size_t n = choose_learners(&s), used = (size_t)snprintf(yaml, sizeof yaml, "%s", head);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(yaml + used, sizeof yaml - used, "%s", learners[i].entry);
    server_rewrite(&s, yaml);
    server_token(&s, "all", "admin", s.token);
    assert_true(server_start(&s, NULL));
    let_them_come(&s, n, 0, BEFORE);
    for (size_t i = 0; i < n; i++)
        look(&s, &learners[i], learners[i].board);
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    assert_true(server_start(&s, NULL));
    for (size_t i = 0; i < n; i++) {
        look(&s, &learners[i], board);
        assert_string_equal(board, learners[i].board);
    }
    let_them_come(&s, n, BEFORE, USERS);
    for (size_t i = 0; i < n; i++)
        free(learners[i].late);
    assert_int_equal(server_get(&s, "/metrics", board), 200);
    for (const char *at = board; (at = strstr(at, "\ntacit_users_refused_total{")) != NULL; at++)
        assert_non_null(strstr(at, "\"} 0\n")); /* no number tells that somebody was passed over */
    assert_int_equal(server_stop(&s, SIGTERM), 0);
}

/* --- What is publicly known belongs to the promise ------------------------------------------------ */

TEST(a_changed_table_needs_another_name)
{
    static const char agent[] =
        "users: 40, space: {states: 4, actions: 2, horizon: 3, rewards: rewards.csv, mixture: "
        "mixture.csv}, agent: {kind: ucrl-vtr, privacy: {model: joint, epsilon: 1}}}\n";
    char text[2000];
    SCOPED_BY(server_close) server s;
    server_open(&s, TACIT_COMMAND, fmt("%s  - {name: a, %s", head, agent));
    write_tables(s.directory, 0.5);
    server_token(&s, "all", "admin", s.token);
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    write_tables(s.directory, 0.25);
    assert_no_start(&s, 2);
    server_read(&s, "err", text, sizeof text);
    assert_non_null(strstr(text, "the store has a learner 'a' with other settings"));
    server_rewrite(&s, fmt("%s  - {name: b, %s", head, agent));
    assert_true(server_start(&s, NULL));
    assert_int_equal(server_stop(&s, SIGTERM), 0);
}

/* --- Late ----------------------------------------------------------------------------------------- */

TEST(a_report_that_comes_after_its_epoch_is_late)
{
    static visit early, v;
    char header[128], word[32];
    SCOPED_BY(server_close) server s;
    learner *l = &learners[0];
    *l = (learner){0};
    write_entry(l, tacit_agent_kind_find("capri"), TACIT_AGENT_LOCAL, &spaces[1]);
    server_open(&s, TACIT_COMMAND, fmt("%s%s", head, l->entry));
    write_tables(s.directory, 0.5);
    server_token(&s, "all", "admin", s.token);
    assert_true(server_start(&s, NULL));
    early = v = (visit){.server = &s, .learner = l};
    meet(&early);
    assert_true(make_report(&early, header));
    for (unsigned long k = 0; k < 20; k++) { /* the first epoch of 40 users has 14 */
        v.seed = k;
        meet(&v);
        if (!visit_local(&v) || !wait_users(&v, k + 1))
            fail_msg("%s", l->trouble);
    }
    for (int i = 0; i < 2; i++) { /* asked again, the answer is the same */
        assert_true(post(&early, "/v1/reports", header, 202));
        assert_true(json_field(early.answer, "status", word, sizeof word));
        assert_string_equal(word, "late");
    }
    assert_true(wait_users(&v, 20)); /* and nobody was counted, or refused */
    assert_int_equal(server_stop(&s, SIGTERM), 0);
}
