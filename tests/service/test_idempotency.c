/* Requests that come again, with the same key: the same answer, also after kill -9, and nothing twice. A front end of a database keeps
 * what it decided in memory only: after a crash it decides anew, in the same episode, so that nothing counts twice there either. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/plain.h"
#include "support/cluster.h"

static const char keyed[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 100000, agent: "
    "{kind: ucbvi, privacy: {model: none}}}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 100, agent: " JOINT "}\n"
    "  - {name: lin, space: {features: 2, actions: 2}, users: 100, agent: {kind: lin-ucb, privacy: "
    "{model: none}}}\n"
    "  - {name: ours, space: {states: 3, actions: 2, horizon: 2, stationary: yes}, users: 50, "
    "agent: " LOCAL "}\n";

static void crash(server *s)
{
    kill_and_start(s);
}

/* The body of the answer, from `{` on; its status must be this one. */
static const char *post(const server *s, const char *path, const char *key, const char *body,
                        int wanted)
{
    const char *header = fmt("Idempotency-Key: %s\r\n", key != NULL ? key : "");
    int status = server_ask(s, s->token, "POST", path, key != NULL ? header : NULL, body, answer);
    if (status != wanted)
        fail_msg("status %d, expected %d: %s", status, wanted, answer);
    return strchr(answer, '{');
}

/* The same answer again; `crashed`: since the first there was a crash. Where that was forgotten, `first` becomes what is answered now. */
static void assert_same(const server *s, const char *path, const char *key, const char *body,
                        int wanted, bool crashed, char first[4096])
{
    const char *again = post(s, path, key, body, wanted);
    if (crashed && cluster_of_tests() != NULL)
        (void)snprintf(first, 4096, "%s", again);
    assert_string_equal(again, first);
}

static void assert_reused(const server *s, const char *path, const char *key, const char *body)
{
    char code[40] = "", field[40] = "";
    (void)post(s, path, key, body, 422);
    assert_true(json_field(answer, "code", code, sizeof code) &&
                json_field(answer, "field", field, sizeof field));
    assert_string_equal(code, "key_reused");
    assert_string_equal(field, "Idempotency-Key");
}

static void keep(const char *text, char out[4096])
{
    assert_true(strlen(text) < 4096);
    (void)snprintf(out, 4096, "%s", text);
}

static double figure(const server *s, const char *learner, const char *key)
{
    static char text[SERVER_ANSWER];
    assert_int_equal(server_get(s, fmt("/v1/ledger?learner=%s", learner), text), 200);
    return json_number(text, key);
}

static void observe_as(const server *s, const char *decision, const char *key, const char *rest)
{
    (void)post(s, "/v1/observe", key, fmt("{\"decision\":\"%s\"%s}", decision, rest), 200);
}

static const char k1[] = "key-0123456789-a", k2[] = "key-0123456789-b", k3[] = "key-0123456789-c";

/* --- Opening ------------------------------------------------------------------------------------ */

TEST(an_episode_is_opened_once)
{
    static const char ann[] = "{\"learner\":\"walk\",\"user\":\"ann\"}",
                      bob[] = "{\"learner\":\"walk\",\"user\":\"bob\"}";
    char first[4096], episode[512], decision[1024];
    SERVER(s, keyed);
    keep(post(&s, "/v1/episodes", k1, ann, 201), first);
    assert_string_equal(post(&s, "/v1/episodes", k1, ann, 201), first);
    server_nap(1100); /* not by the clock */
    assert_string_equal(post(&s, "/v1/episodes", k1, ann, 201), first);
    crash(&s);
    assert_same(&s, "/v1/episodes", k1, ann, 201, true, first);
    assert_reused(&s, "/v1/episodes", k1, bob);
    assert_true(strcmp(post(&s, "/v1/episodes", k2, ann, 201), first) != 0);
    assert_true(strcmp(post(&s, "/v1/episodes", NULL, ann, 201), first) != 0);
    /* she takes part in it; the same request is still answered the same, another is not */
    assert_true(json_field(first, "episode", episode, sizeof episode));
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    for (int h = 0; h < 3; h++) {
        (void)post(&s, path, NULL, "{\"state\":2}", 200);
        assert_true(json_field(answer, "decision", decision, sizeof decision));
        observe_as(&s, decision, NULL, ",\"reward\":0.5,\"next_state\":2");
    }
    server_wait_users(&s, "walk", 1);
    assert_string_equal(post(&s, "/v1/episodes", k1, ann, 201), first);
    (void)post(&s, "/v1/episodes", k2, bob, 422);
    char later[4096]; /* what is decided for her now is not learned, and that is kept, too */
    keep(post(&s, "/v1/episodes", k3, ann, 201), later);
    assert_non_null(strstr(later, "\"learned\":false"));
    assert_non_null(strstr(post(&s, "/v1/episodes", NULL, ann, 201), "\"learned\":false"));
    crash(&s);
    assert_same(&s, "/v1/episodes", k3, ann, 201, true, later);
    assert_non_null(strstr(later, "\"learned\":false"));
    assert_same(&s, "/v1/episodes", k1, ann, 201, true, first);
    assert_null(strstr(first, "\"learned\":false")); /* it is the episode in which she took part */
    /* keys that are none */
    char code[40], *many = malloc(200);
    memset(many, 'x', 199);
    many[129] = '\0';
    (void)post(&s, "/v1/episodes", "short", ann, 422);
    assert_true(json_field(answer, "code", code, sizeof code));
    assert_string_equal(code, "out_of_range");
    (void)post(&s, "/v1/episodes", many, ann, 422);
    many[128] = '\0';
    (void)post(&s, "/v1/episodes", many, bob, 201);
    free(many);
    assert_true(figure(&s, "walk", "accepted") == 1);
}

/* --- Deciding ----------------------------------------------------------------------------------- */

TEST(a_decision_is_made_once)
{
    char first[4096], second[4096], decision[1024], other[1024], episode[512];
    SERVER(s, keyed);
    static const char carl[] = "{\"learner\":\"arms\",\"state\":1,\"user\":\"carl\"}";
    keep(post(&s, "/v1/decide", k1, carl, 200), first);
    assert_true(json_field(first, "decision", decision, sizeof decision));
    double action = json_number(first, "action"), version = json_number(first, "version");
    /* others come until the billboard says something else */
    for (int i = 0; i < 200 && json_number(answer, "action") == action; i++) {
        (void)post(&s, "/v1/decide", NULL, "{\"learner\":\"arms\",\"state\":1}", 200);
        assert_true(json_field(answer, "decision", other, sizeof other));
        double now = json_number(answer, "action");
        observe_as(&s, other, NULL, now == action ? ",\"reward\":0" : ",\"reward\":1");
        server_wait_users(&s, "arms", (unsigned long)i + 1);
        (void)post(&s, "/v1/decide", NULL, "{\"learner\":\"arms\",\"state\":1}", 200);
    }
    assert_true(json_number(answer, "action") != action);
    assert_true(json_number(answer, "version") > version);
    assert_string_equal(post(&s, "/v1/decide", k1, carl, 200), first);
    crash(&s);
    assert_same(&s, "/v1/decide", k1, carl, 200, true, first);
    assert_true(json_field(first, "decision", decision, sizeof decision));
    assert_reused(&s, "/v1/decide", k1, "{\"learner\":\"arms\",\"state\":2,\"user\":\"carl\"}");
    double before = figure(&s, "arms", "accepted");
    observe_as(&s, decision, k1, ",\"reward\":1"); /* a key does no harm here */
    observe_as(&s, decision, k1, ",\"reward\":1");
    observe_as(&s, decision, k2, ",\"reward\":1");
    assert_true(figure(&s, "arms", "accepted") == before + 1);
    assert_string_equal(post(&s, "/v1/decide", k1, carl, 200), first);
    (void)post(&s, "/v1/decide", k2, carl, 200); /* with another key he comes a second time */
    assert_non_null(strstr(answer, "\"learned\":false"));
    /* features are told again, and are in the id */
    static const char x[] = "{\"learner\":\"lin\",\"context\":[0.5,0,0,0.5]}";
    keep(post(&s, "/v1/decide", k1, x, 200), second); /* of another learner: another key */
    crash(&s);
    assert_same(&s, "/v1/decide", k1, x, 200, true, second);
    assert_reused(&s, "/v1/decide", k1, "{\"learner\":\"lin\",\"context\":[0.5,0,0,0.25]}");
    /* in an episode: the step is remembered, too */
    (void)post(&s, "/v1/episodes", NULL, "{\"learner\":\"walk\"}", 201);
    assert_true(json_field(answer, "episode", episode, sizeof episode));
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    for (int h = 0; h < 3; h++) {
        const char *key = h == 0 ? k1 : h == 1 ? k2 : k3;
        keep(post(&s, path, key, "{\"state\":2}", 200), first);
        assert_true(json_number(first, "step") == h);
        assert_true(json_field(first, "decision", decision, sizeof decision));
        observe_as(&s, decision, NULL, ",\"reward\":0.5,\"next_state\":2");
        if (h == 1)
            crash(&s);
        if (h == 1 && cluster_of_tests() != NULL) {
            /* what was observed is known: it is another step's decision now */
            (void)post(&s, path, key, "{\"state\":2}", 200);
            assert_true(json_number(answer, "step") == h + 1);
        } else {
            assert_string_equal(post(&s, path, key, "{\"state\":2}", 200), first);
        }
        assert_reused(&s, path, key, "{\"state\":2,\"step\":0}");
    }
    (void)post(&s, path, NULL, "{\"state\":2}", 409); /* it is over */
}

typedef struct racer {
    const server *s;
    char heard[SERVER_ANSWER];
    int status;
} racer;

static void *race(void *context)
{
    racer *r = context;
    r->status = server_ask(r->s, r->s->token, "POST", "/v1/decide",
                           "Idempotency-Key: the-same-for-everybody\r\n",
                           "{\"learner\":\"arms\",\"state\":0}", r->heard);
    return NULL;
}

TEST(those_who_come_at_once_get_one_answer)
{
    enum { RACERS = 8 };
    pthread_t threads[RACERS];
    SCOPED_FREE racer *racers = calloc(RACERS, sizeof *racers);
    SERVER(s, keyed);
    for (int i = 0; i < RACERS; i++) {
        racers[i].s = &s;
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < RACERS; i++)
        (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < RACERS; i++) {
        assert_int_equal(racers[i].status, 200);
        assert_string_equal(strchr(racers[i].heard, '{'), strchr(racers[0].heard, '{'));
    }
}

/* --- Reports ------------------------------------------------------------------------------------ */

TEST(a_report_is_taken_once_and_another_under_its_key_is_refused)
{
    SERVER(s, keyed);
    char *one = make_report(&s), *two = make_report(&s);
    (void)post(&s, "/v1/reports", k1, one, 202);
    (void)post(&s, "/v1/reports", k1, one, 202);
    assert_reused(&s, "/v1/reports", k1, two);
    crash(&s);
    (void)post(&s, "/v1/reports", k1, one, 202);
    assert_reused(&s, "/v1/reports", k1, two);
    assert_true(figure(&s, "ours", "accepted") == 1);
    (void)post(&s, "/v1/reports", k2, two, 202);
    assert_true(figure(&s, "ours", "accepted") == 2);
    free(one);
    free(two);
}

/* --- What is kept ------------------------------------------------------------------------------- */

/* A front end of a database keeps nothing there: then it is as it should be. */
static bool keeps(server *s, int wanted)
{
    char out[512], *at;
    if (cluster_of_tests() != NULL)
        wanted = 0;
    assert_int_equal(server_tool(s, "store check service.yaml", out, sizeof out), 0);
    assert_non_null(at = strstr(out, " people, "));
    return atoi(at + 9) == wanted;
}

TEST(answers_end_with_their_episodes_and_the_oldest_are_forgotten_first)
{
    static const char ann[] = "{\"learner\":\"walk\",\"user\":\"ann\"}";
    char first[4096];
    SERVER(s, fmt("limits: {keys: 3}\n%s", keyed));
    keep(post(&s, "/v1/episodes", k1, ann, 201), first);
    for (int i = 0; i < 5; i++) {
        server_nap(i == 0 ? 1100 : 0); /* the first is the oldest */
        (void)post(&s, "/v1/decide", fmt("key-0123456789-%d", i),
                   "{\"learner\":\"arms\",\"state\":0}", 200);
        assert_true(keeps(&s, i + 2 < 3 ? i + 2 : 3));
    }
    /* forgotten: opened again, later, but it is the same episode, so that she takes part once */
    assert_true(strcmp(post(&s, "/v1/episodes", k1, ann, 201), first) != 0);
    char episode[2][512], decision[1024];
    assert_true(json_field(first, "episode", episode[0], 512) &&
                json_field(answer, "episode", episode[1], 512));
    for (int i = 0; i < 2; i++) {
        (void)post(&s, fmt("/v1/episodes/%s/decide", episode[i]), NULL, "{\"state\":2,\"step\":0}",
                   200);
        assert_true(json_field(answer, "decision", decision, sizeof decision));
        observe_as(&s, decision, NULL, ",\"reward\":0.5,\"next_state\":2");
    }
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_episodes_open 1\n"));
    end(&s);
    begin(&s, keyed); /* for a week; then for a second */
    keep(post(&s, "/v1/episodes", k1, ann, 201), first);
    (void)post(&s, "/v1/decide", k1, "{\"learner\":\"arms\",\"state\":0}", 200);
    assert_true(keeps(&s, 2));
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    server_rewrite(&s, fmt("expire: 1\n%s", keyed));
    assert_true(server_start(&s, NULL));
    await(keeps(&s, 0));
    await(strcmp(post(&s, "/v1/episodes", k1, ann, 201), first) != 0);
}
