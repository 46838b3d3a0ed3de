/* Who is accepted counts, and only the sender is told that something was cut. */
#include <string.h>

#include "service/plain.h"

#define CLIPPED                                                                                    \
    "{kind: dp-ucbvi, outside: clip, privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: "    \
    "1}}\n"

static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "learners:\n"
    "  - {name: arms, space: {states: 3, actions: 4, horizon: 1}, users: 50, agent: " CLIPPED
    "  - {name: strict, space: {states: 3, actions: 4, horizon: 1}, users: 50, agent: " JOINT "}\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 2}, users: 50, agent: " CLIPPED
    "  - {name: lines, space: {features: 2, actions: 2, bound: 2}, users: 50, agent: {kind: "
    "lin-ucb, "
    "outside: clip, privacy: {model: joint, epsilon: 1}}}\n"
    "  - {name: shares, space: {features: 2, actions: 2, horizon: 2, simplex: yes}, users: 50, "
    "agent: {kind: lsvi-ucb, outside: clip, privacy: {model: joint, epsilon: 1}}}\n";

static bool is_told(void)
{
    char text[16] = "false";
    (void)json_field(answer, "outside", text, sizeof text);
    return strcmp(text, "true") == 0;
}

/* One user of one step; what is told to decide and to observe, and whether each was cut. */
static void play_once(const server *s, const char *learner, const char *place, bool place_cut,
                      const char *reward, bool reward_cut)
{
    char body[600], decision[1024];
    (void)snprintf(body, sizeof body, "{\"learner\":\"%s\",%s}", learner, place);
    decide(s, "/v1/decide", body, decision);
    assert_true(is_told() == place_cut);
    (void)snprintf(body, sizeof body, ",\"reward\":%s", reward);
    for (int i = 0; i < 2; i++) { /* told twice, it is the same */
        assert_observed(s, decision, body, "finished");
        assert_true(is_told() == reward_cut);
    }
}

TEST(who_is_outside_is_cut_counts_and_is_told)
{
    static const struct {
        const char *place;
        bool place_cut;
        const char *reward;
        bool reward_cut;
    } cases[] = {{"\"state\":2", false, "1", false},      {"\"state\":3", true, "0.5", false},
                 {"\"state\":1e300", true, "1.01", true}, {"\"state\":-1", true, "-7", true},
                 {"\"state\":1.5", true, "1e308", true},  {"\"state\":0", false, "-1e-300", true}};
    static const struct {
        const char *place;
        bool cut;
    } lines[] = {{"\"context\":[1,1,0,0]", false},
                 {"\"context\":[0,2,2,0]", false},
                 {"\"context\":[2,2,0,0]", true},
                 {"\"context\":[0,0,1e308,-1e308]", true}};
    SERVER(s, yaml);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        play_once(&s, "arms", cases[i].place, cases[i].place_cut, cases[i].reward,
                  cases[i].reward_cut);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        play_once(&s, "lines", lines[i].place, lines[i].cut, "0.5", false);
    server_wait_users(&s, "arms", 6);
    server_wait_users(&s, "lines", 4);
    assert_true(ledger(&s, "arms", "accepted") == 6 && ledger(&s, "arms", "refused") == 0);
    /* the reward that was released counts what was cut: it is a mean of numbers in [0, 1] */
    double reward = ledger(&s, "arms", "reward");
    assert_true(reward > -100 && reward < 100);
    /* what is no number is nobody's data */
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":\"3\"}", answer),
                 422, "out_of_range", "state");
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"strict\",\"state\":3}", answer), 422,
                 "out_of_range", "state");
}

TEST(episodes_of_several_steps_are_cut_at_every_step)
{
    static const char *const learners[] = {"walk", "shares"};
    static const char *const places[][3] = {
        {"\"state\":9", "state\":-4", "state\":77"},
        {"\"context\":[3,1,-1,-1]", "context\":[1,0,0.5,0.6]", "context\":[0,0,1e300,0]"}};
    SERVER(s, yaml);
    for (size_t i = 0; i < 2; i++) {
        char body[600], episode[512], decision[1024];
        (void)snprintf(body, sizeof body, "{\"learner\":\"%s\"}", learners[i]);
        open_episode(&s, body, episode);
        const char *path = fmt("/v1/episodes/%s/decide", episode);
        (void)snprintf(body, sizeof body, "{%s}", places[i][0]);
        for (size_t h = 0; h < 2; h++) {
            decide(&s, path, body, decision);
            assert_true(is_told());
            (void)snprintf(body, sizeof body, ",\"reward\":-1,\"next_%s", places[i][h + 1]);
            assert_observed(&s, decision, body, h == 0 ? "open" : "finished");
            assert_true(is_told());
            (void)snprintf(body, sizeof body, "{\"%s}", places[i][h + 1]);
        }
        server_wait_users(&s, learners[i], 1);
        assert_true(ledger(&s, learners[i], "refused") == 0);
    }
}

/* It says how users are taken, and nothing about what is promised: a learner goes on with the other word. */
TEST(the_setting_may_be_changed_later)
{
    static char changed[sizeof yaml];
    SERVER(s, yaml);
    play_once(&s, "arms", "\"state\":5", true, "1", false);
    server_wait_users(&s, "arms", 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    (void)memcpy(changed, yaml, sizeof yaml);
    char *word = strstr(changed, "outside: clip, "); /* of `arms` */
    memset(word, ' ', strlen("outside: clip, "));
    server_rewrite(&s, changed);
    assert_true(server_start(&s, NULL));
    assert_error(server_post(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":5}", answer), 422,
                 "out_of_range", "state");
    play_once(&s, "arms", "\"state\":2", false, "1", false);
    server_wait_users(&s, "arms", 2);
}

/* --- Late ------------------------------------------------------------------------------------------- */

static const char points[] =
    "state,action,feature,value\n0,0,0,0\n0,1,0,0.5\n0,2,0,1\n1,0,0,0.2\n1,1,0,0.6\n1,2,0,0.9\n";

enum { EARLY = 24, USERS = 160 };

static const char *place_of(int i)
{
    return i % 2 ? "{\"state\":1}" : "{\"state\":0}";
}

/* People of the beginning tell, in reverse; returns how many of their actions are gone. */
static int tell(const server *s, char decisions[EARLY][1024], const int actions[EARLY], int from,
                int to)
{
    double p[2][3];
    int gone = 0;
    assert_int_equal(server_get(s, "/v1/billboard?learner=epochs", answer), 200);
    const char *mixed = strstr(answer, "\"mixed\":[[[");
    assert_non_null(mixed);
    assert_int_equal(sscanf(mixed, "\"mixed\":[[[%lf,%lf,%lf],[%lf,%lf,%lf]]]", &p[0][0], &p[0][1],
                            &p[0][2], &p[1][0], &p[1][1], &p[1][2]),
                     6);
    for (int i = to; i-- > from;) {
        gone += p[i % 2][actions[i]] == 0;
        assert_observed(s, decisions[i], ",\"reward\":1", "finished");
    }
    return gone;
}

/* capri drops the actions that pay nothing; many have decided before that, and tell afterwards, some while epochs still learn, some
 * in the last one. */
TEST(whose_action_is_gone_counts_all_the_same)
{
    static const char capri[] =
        "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
        "  - {name: epochs, users: 160, space: {states: 2, actions: 3, horizon: 1, features: "
        "points.csv, kernel: se(0.1)}, agent: {kind: capri, privacy: {model: joint, epsilon: 200, "
        "delta: 0.001}}, monitor: {epsilon: 50}}\n";
    static char early[EARLY][1024], decision[1024];
    char text[64];
    SCOPED_BY(end) server s;
    server_open(&s, TACIT_COMMAND, capri);
    server_write(&s, "points.csv", points);
    server_token(&s, "all", "admin", s.token);
    assert_true(server_start(&s, NULL));
    int actions[EARLY], gone = 0;
    for (int i = 0; i < EARLY; i++) {
        decide(&s, "/v1/decide", place_of(i), early[i]);
        actions[i] = (int)json_number(answer, "action");
    }
    unsigned long users = 0;
    for (int k = 0; k < USERS - EARLY; k++) {
        decide(&s, "/v1/decide", place_of(k), decision);
        bool pays = json_number(answer, "action") == 0;
        assert_observed(&s, decision, pays ? ",\"reward\":1" : ",\"reward\":0", "finished");
        server_wait_users(&s, "epochs", ++users);
        if (k == 50) { /* two epochs, of 13 and 26 users, are over, and the last one is far */
            gone = tell(&s, early, actions, 0, EARLY / 2);
            assert_true(gone > 0); /* 12 people all chose the one that pays: once in 3^12 */
            server_wait_users(&s, "epochs", users += EARLY / 2);
        }
    }
    (void)tell(&s, early, actions, EARLY / 2, EARLY);
    server_wait_users(&s, "epochs", USERS);
    assert_true(ledger(&s, "epochs", "accepted") == USERS && ledger(&s, "epochs", "refused") == 0);
    assert_int_equal(server_get(&s, "/v1/learners", answer), 200);
    assert_true(json_field(answer, "refused", text, sizeof text));
    assert_string_equal(text, "0");
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "\ntacit_users_refused_total{learner=\"epochs\"} 0\n"));
}
