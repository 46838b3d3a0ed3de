/* tacit simulate-users against a real server: worlds of every family, in both models. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/check.h"
#include "support/server.h"

static char answer[SERVER_ANSWER], said[4096], complaint[1024];

#define BEGIN "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"

static void begin(server *s, const char *yaml)
{
    server_open(s, TACIT_COMMAND, yaml);
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
    server_write(s, "token", fmt("%s\n", s->token));
}

static void end(server *s)
{
    assert_int_equal(server_stop(s, SIGTERM), 0);
    server_close(s);
}

/* Plays; the exit status, with what was printed in `said` and `complaint`. */
static int simulate(server *s, const char *learner, const char *more)
{
    int code = server_tool(
        s,
        fmt("simulate-users %s --token-file token --learner %s --json %s", s->url, learner, more),
        said, sizeof said);
    server_read(s, "tool.err", complaint, sizeof complaint);
    return code;
}

/* All of so many users have come and were learned from; their mean regret. */
static double play(server *s, const char *learner, unsigned long before, unsigned long users,
                   const char *more)
{
    if (simulate(s, learner, more) != 0)
        fail_msg("%s: %s%s", learner, said, complaint);
    assert_true(json_number(said, "users") == (double)users);
    assert_true(json_number(said, "known") == (double)users);
    assert_true(json_number(said, "failures") == 0);
    server_wait_users(s, learner, before + users);
    assert_int_equal(server_get(s, fmt("/v1/ledger?learner=%s", learner), answer), 200);
    assert_true(json_number(answer, "refused") == 0);
    assert_true(json_number(answer, "users") == (double)(before + users));
    return json_number(said, "mean_regret");
}

/* --- Both models, every family ------------------------------------------------------------------- */

TEST(users_bring_features_in_the_joint_model)
{
    static const char yaml[] = BEGIN
        "  - {name: free, space: {features: 3, actions: 4}, users: 4000, agent: {kind: lin-ucb, "
        "privacy: {model: none}}}\n"
        "  - {name: few, space: {features: 3, actions: 4}, users: 4000, agent: {kind: lin-ucb,\n"
        "     privacy: {model: joint, epsilon: 1}}}\n"
        "  - {name: own, space: {features: 3, actions: 4, shared: no}, users: 4000,\n"
        "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
        "  - {name: steps, space: {features: 3, actions: 2, horizon: 3}, users: 400,\n"
        "     agent: {kind: lsvi-ucb, privacy: {model: joint, epsilon: 1}}}\n"
        "  - {name: numbers, space: {states: 8, actions: 4, horizon: 2}, users: 400,\n"
        "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";
    SCOPED_BY(end) server s;
    begin(&s, yaml);
    /* users of their own, or one of twenty whose features everybody knows */
    const char *fresh = "--world linear-bandit --set d=3 --set actions=4 --set contexts=0";
    const char *known = "--world linear-bandit --set d=3 --set actions=4 --set contexts=20";
    double first = play(&s, "free", 0, 50, fmt("%s --users 50 --clients 1", fresh));
    (void)play(&s, "free", 50, 1000, fmt("%s --users 1000", fresh));
    double later = play(&s, "free", 1050, 1000, fmt("%s --users 1000 --seed 2", fresh));
    /* by then it knows theta well: features have arrived where they belong */
    assert_true(later >= 0 && later < first / 2 && later < 0.05);
    assert_non_null(strstr(said, "\"best_return\":null")); /* nobody can tell what is possible */
    assert_true(play(&s, "few", 0, 60, fmt("%s --users 60", known)) >= 0);
    assert_within(json_number(said, "best_return"), 0.5, 1);
    (void)play(&s, "own", 0, 60,
               "--world linear-bandit --set d=3 --set actions=4 --set arms=disjoint --users 60");
    (void)play(&s, "steps", 0, 30,
               "--world random-linear --set d=3 --set states=7 --set actions=2 --set horizon=3 "
               "--users 30");
    assert_within(json_number(said, "mean_return"), 0, json_number(said, "best_return") + 1);
    (void)play(&s, "numbers", 0, 30, "--world random-mixture --set horizon=2 --users 30");
}

TEST(users_bring_features_in_the_local_model)
{
    static const char yaml[] = BEGIN
        "  - {name: few, space: {features: 3, actions: 4}, users: 4000, agent: {kind: lin-ucb,\n"
        "     privacy: {model: local, epsilon: 1}}}\n"
        "  - {name: own, space: {features: 3, actions: 4, shared: no}, users: 4000,\n"
        "     agent: {kind: lin-ucb, privacy: {model: local, epsilon: 1}}}\n"
        "  - {name: kernel, space: {states: 6, actions: 5, horizon: 1}, users: 400,\n"
        "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1}}}\n"
        "  - {name: mixed, space: {states: 5, actions: 3, horizon: 2}, users: 400,\n"
        "     agent: {kind: linopt-vi, privacy: {model: local, epsilon: 1}}}\n"
        "  - {name: watched, space: {states: 5, actions: 3, horizon: 2}, users: 400,\n"
        "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1}},\n"
        "     monitor: {epsilon: 100, delta: 0}}\n";
    SCOPED_BY(end) server s;
    begin(&s, yaml);
    (void)play(&s, "few", 0, 60,
               "--world linear-bandit --set d=3 --set actions=4 --set contexts=0 --users 60");
    assert_within(json_number(said, "requests"), 120, 120); /* one billboard, one report */
    (void)play(&s, "own", 0, 60,
               "--world linear-bandit --set d=3 --set actions=4 --set arms=disjoint --users 60");
    /* in the world's own units, which go below 0 here */
    (void)play(&s, "kernel", 0, 40,
               "--world kernel-bandit --set contexts=6 --set actions=5 --users 40");
    assert_true(json_number(said, "mean_regret") >= 0);
    assert_true(json_number(said, "best_return") > json_number(said, "mean_return") - 0.5);
    (void)play(&s, "mixed", 0, 40,
               "--world random-mixture --set states=5 --set actions=3 --set horizon=2 --users 40");
    /* with a monitor, what devices earn is seen, privatized on each: sqrt(2) / 100 / sqrt(40) = 0.0022 off */
    assert_null(strstr(answer, "\"name\":\"reward\""));
    (void)play(&s, "watched", 0, 40,
               "--world random-tabular --set states=5 --set actions=3 --set horizon=2 --users 40");
    double mean = json_number(said, "mean_return") / 2;
    assert_within(json_number(answer, "reward_error"), 0.0022, 0.0023);
    assert_within(json_number(answer, "reward"), mean - 0.0135, mean + 0.0135); /* 6 deviations */
    assert_non_null(strstr(answer, "\"name\":\"reward\""));
    const char *together = strstr(answer, "\"together\":"); /* 1 and 100 */
    assert_within(json_number(together, "epsilon"), 99, 101);
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    assert_true(server_start(&s, NULL));
    double before = json_number(answer, "reward");
    assert_int_equal(server_get(&s, "/v1/ledger?learner=watched", answer), 200);
    assert_true(json_number(answer, "reward") == before);
}

/* --- People of files ----------------------------------------------------------------------------- */

static void write_people(const server *s, const char *name, bool log)
{
    FILE *file = fopen(fmt("%s/%s", s->directory, name), "w");
    assert_non_null(file);
    (void)fputs(log ? "age,did,how_likely,outcome\n" : "age,right\n", file);
    for (int i = 0; i < 80; i++)
        if (log) /* done at random, one in four times a */
            (void)fprintf(file, "%d,%s,%s,%s\n", 20 + i % 50, i % 4 == 0 ? "a" : "b",
                          i % 4 == 0 ? "0.25" : "0.75", i % 3 == 0 ? "1" : "0.5");
        else
            (void)fprintf(file, "%d,%s\n", 20 + i % 50, i % 50 < 25 ? "a" : "b");
    assert_int_equal(fclose(file), 0);
}

TEST(people_of_files_come_once)
{
    static const char yaml[] =
        BEGIN "  - {name: right, space: {features: 2, actions: 2, shared: no}, users: 4000,\n"
              "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
              "  - {name: logged, space: {features: 2, actions: 2, shared: no}, users: 4000,\n"
              "     agent: {kind: lin-ucb, privacy: {model: joint, epsilon: 1}}}\n"
              "  - {name: device, space: {features: 2, actions: 2, shared: no}, users: 4000,\n"
              "     agent: {kind: lin-ucb, privacy: {model: local, epsilon: 1}}}\n";
    SCOPED_BY(end) server s;
    begin(&s, yaml);
    write_people(&s, "people.csv", false);
    write_people(&s, "log.csv", true);
    const char *right = "--world logged-bandit --set file=people.csv --set 'answer=right {a | b}' "
                        "--set 'context=age 20..70'";
    const char *log = "--world logged-bandit --set file=log.csv --set 'action=did {a | b}' "
                      "--set propensity=how_likely --set 'reward=outcome 0..1' "
                      "--set 'context=age 20..70' --users 80";
    double regret = play(&s, "right", 0, 80, fmt("%s --users 80", right));
    /* one right answer each: what is not earned is regret */
    assert_within(json_number(said, "mean_return") + regret, 1 - 1e-9, 1 + 1e-9);
    assert_int_equal(simulate(&s, "right", fmt("%s --users 81", right)), 2);
    assert_string_equal(complaint,
                        "tacit: the world logged-bandit has 80 people, but --users is 81\n");
    /* of a log, only those for whom the service did what was done tell anything */
    static const char *const names[] = {"logged", "device"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(simulate(&s, names[i], log), 0);
        assert_true(json_number(said, "users") == 80);
        double known = json_number(said, "known");
        assert_true(known >= 1 && known < 80);
        server_wait_users(&s, names[i], (unsigned long)known);
        assert_int_equal(server_get(&s, fmt("/v1/ledger?learner=%s", names[i]), answer), 200);
        assert_true(json_number(answer, "accepted") == known);
    }
}

/* Real people, if somebody has put them there: the directory TACIT_DATA, or data/ as in the examples. */
TEST(real_people_are_played_where_their_file_is)
{
    const char *directory = getenv("TACIT_DATA");
    const char *file = fmt("%s/warfarin.csv", directory != NULL ? directory : TACIT_SOURCE "/data");
    if (access(file, R_OK) != 0) {
        print_message("skipped: no warfarin.csv in TACIT_DATA or data/\n");
        skip();
    }
    static const char yaml[] =
        BEGIN "  - {name: dose, space: {features: 18, actions: 3, shared: no}, users: 5528,\n"
              "     agent: {kind: lin-ucb, privacy: {model: none}}}\n"
              "  - {name: device, space: {features: 18, actions: 3, shared: no}, users: 5528,\n"
              "     agent: {kind: lin-ucb, privacy: {model: local, epsilon: 10}}}\n";
    SCOPED_BY(end) server s;
    begin(&s, yaml);
    const char *text = fmt(
        "--world logged-bandit --set 'file=%s' --set 'answer=dose_bucket {low | medium | high}' "
        "--set 'context=age_decade 1..9 ?, height_cm 120..205 ?, weight_kg 30..240 ?, "
        "race {Asian | Black or African American | White | ...}, amiodarone {1 | ...}, "
        "enzyme_inducer {1 | ...}, cyp2c9 {*1/*1 | *1/*2 | *1/*3 | ...}, "
        "vkorc1 {A/A | A/G | G/G | ...}' --users 600",
        file);
    double regret = play(&s, "dose", 0, 600, text);
    assert_true(regret < 0.5); /* of three doses, and by far not by chance, which has 2/3 */
    (void)play(&s, "device", 0, 600, text);
}

/* --- Their curve ---------------------------------------------------------------------------------- */

/* The learner's history has a point for every user up to the 50th, then one every 2 %, and the last; all of them have a reward. */
static void check_curve(const server *s, const char *learner, unsigned long users,
                        unsigned long limit)
{
    assert_int_equal(server_get(s, fmt("/v1/history?learner=%s", learner), answer), 200);
    unsigned long expected = 1;
    double version = 0;
    for (const char *p = strstr(answer, "{\"users\":"); p != NULL;
         p = strstr(p + 1, "{\"users\":")) {
        if (expected > limit)
            expected = limit;
        assert_true(json_number(p, "users") == (double)expected);
        assert_true(json_number(p, "version") >= version);
        assert_true(isfinite(json_number(p, "reward")));
        version = json_number(p, "version");
        expected += expected / 50 + 1;
    }
    assert_true(expected > users);
}

TEST(their_curve_does_not_depend_on_how_they_gather)
{
    static const char yaml[] =
        BEGIN "  - {name: joint, space: {states: 2, actions: 2, horizon: 2}, users: 300,\n"
              "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}},\n"
              "     monitor: {epsilon: 1}}\n"
              "  - {name: local, space: {states: 2, actions: 2, horizon: 2}, users: 300,\n"
              "     agent: {kind: dp-ucbvi, privacy: {model: local, epsilon: 1, delta: 0}},\n"
              "     monitor: {epsilon: 1, delta: 0}}\n";
    static const char *const learners[] = {"joint", "local"};
    static const char world[] = "--set states=2 --set horizon=2 --clients 16";
    SCOPED_BY(end) server s;
    begin(&s, yaml);
    for (size_t i = 0; i < 2; i++) {
        (void)play(&s, learners[i], 0, 160, fmt("%s --users 160", world));
        check_curve(&s, learners[i], 160, 300);
    }
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    assert_true(server_start(&s, NULL));
    for (size_t i = 0; i < 2; i++) {
        check_curve(&s, learners[i], 160, 300);
        (void)play(&s, learners[i], 160, 140, fmt("%s --users 140 --seed 2", world));
        check_curve(&s, learners[i], 300, 300);
    }
}

/* --- What does not fit --------------------------------------------------------------------------- */

TEST(what_does_not_fit_is_said_of_both)
{
    static const char yaml[] =
        BEGIN "  - {name: numbers, space: {states: 6, actions: 2, horizon: 20}, users: 40,\n"
              "     agent: {kind: dp-ucbvi, privacy: {model: none}}}\n"
              "  - {name: features, space: {features: 3, actions: 4, bound: 0.5}, users: 40,\n"
              "     agent: {kind: lin-ucb, privacy: {model: none}}}\n";
    static const struct {
        const char *learner, *more, *complaint;
    } cases[] = {
        {"numbers", "--set states=5 --set horizon=20",
         "tacit: the world riverswim has 5 states, 2 actions and horizon 20; the learner has 6 "
         "states, 2 actions and horizon 20\n"},
        {"numbers", "--world linear-bandit --set contexts=0 --set d=2 --set actions=2",
         "tacit: the world linear-bandit has 2 features of each action of norm at most 1, 2 "
         "actions and horizon 1; the learner has 6 states, 2 actions and horizon 20\n"},
        {"features", "--set states=6",
         "tacit: the world riverswim has 6 states, 2 actions and horizon 20; the learner has 3 "
         "features of each action of norm at most 0.5, 4 actions and horizon 1\n"},
        {"features", "--world linear-bandit --set contexts=0 --set d=3 --set actions=4",
         "tacit: the world linear-bandit has 3 features of each action of norm at most 1, 4 "
         "actions and horizon 1; the learner has 3 features of each action of norm at most 0.5, 4 "
         "actions and horizon 1\n"},
        {"features",
         "--world linear-bandit --set contexts=0 --set d=3 --set actions=4 --set arms=disjoint",
         "tacit: the world linear-bandit has 3 features of each user of norm at most 1, 4 actions "
         "and horizon 1; the learner has 3 features of each action of norm at most 0.5, 4 actions "
         "and horizon 1\n"},
    };
    SCOPED_BY(end) server s;
    begin(&s, yaml);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(simulate(&s, cases[i].learner, cases[i].more), 2);
        assert_string_equal(complaint, cases[i].complaint);
    }
    assert_int_equal(simulate(&s, "nobody", ""), 2);
    assert_non_null(strstr(complaint, "has no learner 'nobody'; its service file has the names"));
}

static bool read_line(const char *path, char *out, int size)
{
    FILE *file = fopen(path, "r");
    bool there = file != NULL && fgets(out, size, file) != NULL;
    if (file != NULL)
        (void)fclose(file);
    return there;
}

/* Ctrl-C in the middle: those who are there finish, and what came of it is told. */
TEST(an_interrupted_play_is_told)
{
    static const char yaml[] =
        BEGIN "  - {name: arms, space: {states: 6, actions: 2, horizon: 2}, users: 4000000,\n"
              "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";
    SCOPED_BY(end) server s;
    char path[300], last[4] = "";
    begin(&s, yaml);
    assert_shell("cd '%s' && { '%s' simulate-users %s --token-file token --set horizon=2 --users "
                 "4000000 --json >sim.out 2>sim.err & echo $! >sim.pid; wait $!; echo $? "
                 ">sim.rc; } >/dev/null 2>&1 &",
                 s.directory, TACIT_COMMAND, s.url);
    server_wait_users(&s, "arms", 20);
    assert_shell("cd '%s' && until [ -s sim.pid ]; do sleep 0.02; done; kill -INT $(cat sim.pid)",
                 s.directory);
    (void)snprintf(path, sizeof path, "%s/sim.rc", s.directory);
    wait_until(read_line(path, last, sizeof last));
    assert_string_equal(last, "130");
    assert_int_equal(
        server_tool(&s, "--version >/dev/null; cat sim.out sim.err", said, sizeof said), 0);
    double users = json_number(said, "users");
    assert_true(users >= 20 && json_number(said, "failures") == 0);
    assert_non_null(strstr(
        said,
        fmt("tacit: interrupted: %.0f of 4000000 users came, and their observations are kept\n",
            users)));
    server_wait_users(&s, "arms", (unsigned long)users); /* all of them */
}
