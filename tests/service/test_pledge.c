/* The promise to one person over the life of a store: what /v1/guarantee says first, which changes of the file are refused because
 * people have come, and what learners that are no longer served still cost. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/account.h>

#include "service/plain.h"

enum { USERS = 3 };

#define HEAD "listen: 127.0.0.1:0\nstore: service.db\n"
#define LEARNER(name, model)                                                                       \
    "  - {name: " name ", space: {states: 1, actions: 2, horizon: 1}, users: 200, agent: {kind: "  \
    "dp-ucbvi, privacy: {" model "}}}\n"
#define ONE LEARNER("arms", "model: joint, epsilon: 1, delta: 1e-4")
#define TWO LEARNER("legs", "model: joint, epsilon: 1, delta: 1e-4")
#define EXACT LEARNER("exact", "model: none")
#define LISTED "learners:\n"

static void write_yaml(const server *s, const char *head, const char *learners)
{
    FILE *file = fopen(fmt("%s/service.yaml", s->directory), "w");
    assert_non_null(file);
    assert_true(fprintf(file, HEAD "%s" LISTED "%s", head, learners) > 0);
    assert_int_equal(fclose(file), 0);
}

static void bring(const server *s, const char *learner)
{
    char decision[1024];
    for (int i = 0; i < USERS; i++) {
        decide(s, "/v1/decide", fmt("{\"learner\":\"%s\",\"state\":0}", learner), decision);
        assert_observed(s, decision, ",\"reward\":1", "finished");
    }
    server_wait_users(s, learner, USERS);
}

static void open_service(server *s, const char *head, const char *learners)
{
    server_open(s, TACIT_COMMAND, HEAD LISTED ONE);
    write_yaml(s, head, learners);
    server_token(s, "all", "admin", s->token);
    assert_true(server_start(s, NULL));
}

static void restart(server *s, const char *head, const char *learners)
{
    if (s->pid > 0)
        assert_int_equal(server_stop(s, SIGTERM), 0);
    write_yaml(s, head, learners);
    assert_true(server_start(s, NULL));
}

static void assert_refused(server *s, const char *head, const char *learners, const char *why)
{
    char said[4096];
    if (s->pid > 0)
        assert_int_equal(server_stop(s, SIGTERM), 0);
    write_yaml(s, head, learners);
    assert_no_start(s, 2);
    server_read(s, "err", said, sizeof said);
    if (strstr(said, why) == NULL)
        fail_msg("'%s' does not say '%s'", said, why);
}

/* What the first words of /v1/guarantee are. */
static double epsilon_of_person(const server *s, const char *learner)
{
    assert_int_equal(server_get(s, fmt("/v1/guarantee?learner=%s", learner), answer), 200);
    assert_non_null(strstr(answer, "\r\n\r\n{\"person\":{\"guarantee\":"));
    return json_number(answer, "epsilon");
}

/* By the closed form: n learners with Gaussian noise at (1, 1e-4), at this delta. */
static double expected(int n, double delta)
{
    double mu, epsilon;
    assert_ok(tacit_gdp_mu(1, 1e-4, &mu));
    assert_ok(tacit_gdp_epsilon(mu * sqrt(n), delta, &epsilon));
    return epsilon;
}

TEST(the_guarantee_begins_with_one_person)
{
    SCOPED_BY(server_close) server s;
    open_service(&s, "", ONE TWO);
    for (int i = 0; i < 2; i++) {
        assert_within(epsilon_of_person(&s, i == 0 ? "arms" : "legs"), expected(2, 2e-4) - 1e-9,
                      expected(2, 2e-4) + 1e-9);
        assert_non_null(strstr(answer, "\"delta\":0.0002},\"composed\":"));
        assert_non_null(
            strstr(answer, "\"people\":\"shared\",\"learners\":2,\"exact\":0,\"past\":0"));
        assert_non_null(strstr(answer, "\"sentences\":[\"for one person: epsilon 1.3"));
    }
    restart(&s, "", ONE EXACT);
    assert_int_equal(server_get(&s, "/v1/guarantee?learner=arms", answer), 200);
    assert_non_null(strstr(answer, "{\"person\":{\"guarantee\":null,\"composed\":{\"epsilon\":"));
    assert_non_null(strstr(answer, "[\"for one person: no guarantee, because 1 of 2 learners works "
                                   "on exact data (model none)\","));
}

/* While nobody has come, nothing was promised to anybody. */
TEST(a_promise_can_change_until_somebody_comes)
{
    SCOPED_BY(server_close) server s;
    open_service(&s, "budget: {epsilon: 2, delta: 1e-4}\n", ONE TWO);
    restart(&s, "people: separate\nbudget: {epsilon: 9, delta: 1e-3}\n", ONE TWO);
    restart(&s, "", ONE TWO);
    restart(&s, "budget: {epsilon: 2, delta: 1e-4}\n", ONE TWO);
}

TEST(a_budget_does_not_grow_once_somebody_has_come)
{
    SCOPED_BY(server_close) server s;
    open_service(&s, "budget: {epsilon: 2, delta: 1e-4}\n", ONE);
    bring(&s, "arms");
    assert_refused(&s, "budget: {epsilon: 2.5, delta: 1e-4}\n", ONE,
                   "service.yaml:3: the budget is larger, but people who have come were promised "
                   "budget: {epsilon: 2, delta: ");
    assert_refused(&s, "budget: {epsilon: 1.5, delta: 2e-4}\n", ONE, "the budget is larger");
    assert_refused(
        &s, "", ONE,
        "there is no budget, but people who have come were promised budget: {epsilon: 2, ");
    assert_refused(&s, "budget: {epsilon: 2, delta: 1e-4}\npeople: separate\n", ONE,
                   "service.yaml:4: people is separate, but ");
    restart(&s, "budget: {epsilon: 1.8, delta: 1e-4}\n",
            ONE); /* less is a better promise, and then the promise */
    assert_refused(&s, "budget: {epsilon: 2, delta: 1e-4}\n", ONE,
                   "promised budget: {epsilon: 1.8");
    restart(&s, "budget: {epsilon: 1.8, delta: 1e-4}\n", ONE TWO);
}

TEST(people_who_were_separate_may_be_shared_and_not_the_other_way)
{
    SCOPED_BY(server_close) server s;
    open_service(&s, "people: separate\n", ONE TWO);
    bring(&s, "arms");
    assert_within(epsilon_of_person(&s, "arms"), 1 - 1e-9, 1);
    assert_non_null(strstr(answer, "\"people\":\"separate\""));
    restart(&s, "", ONE TWO);
    assert_true(epsilon_of_person(&s, "arms") > 1.3);
    assert_refused(&s, "people: separate\n", ONE TWO,
                   "people is separate, but people who have come were promised a sum");
}

/* A learner that was renamed has had its users, and they may come again. */
TEST(learners_that_are_no_longer_served_are_paid_for)
{
    SCOPED_BY(server_close) server s;
    char out[4096];
    open_service(&s, "", ONE EXACT);
    bring(&s, "arms");
    restart(&s, "", TWO);
    assert_within(epsilon_of_person(&s, "legs"), expected(2, 2e-4) - 1e-9,
                  expected(2, 2e-4) + 1e-9);
    assert_non_null(
        strstr(answer, "\"learners\":2,\"exact\":0,\"past\":1")); /* nobody came to the exact one */
    assert_non_null(strstr(answer, "Among the learners is 1 that this service had before"));
    assert_int_equal(server_tool(&s, "store events service.yaml", out, sizeof out), 0);
    assert_non_null(strstr(out, "one person in everything now pays epsilon 1.3"));
    /* it fits alone, and not with the one of before */
    assert_refused(&s, "budget: {epsilon: 1.2, delta: 2e-4}\n", TWO,
                   "but with 1 learner that this store has had before one person pays epsilon 1.3");
    restart(&s, "budget: {epsilon: 1.5, delta: 2e-4}\n", TWO);
    restart(&s, "budget: {epsilon: 1.5, delta: 2e-4}\n", ONE); /* back again: counted once */
    assert_true(epsilon_of_person(&s, "arms") < 1);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
}

/* What the store keeps is covered by its proof. */
TEST(a_promise_that_was_changed_in_the_store_is_noticed)
{
    SCOPED_BY(server_close) server s;
    char out[4096];
    open_service(&s, "budget: {epsilon: 2, delta: 1e-4}\n", ONE);
    bring(&s, "arms");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 0);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fmt("%s/service.db", s.directory), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DELETE FROM meta WHERE name='promise'", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(server_tool(&s, "store check service.yaml", out, sizeof out), 1);
}
