/* Who is decided for and not learned from: returning users, users after the last one, users of a store that must not learn; and what
 * was told in an episode that is over. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "service/plain.h"

#define ANN "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann\"}"

static bool is_learned(void)
{
    return strstr(answer, "\"learned\":false") == NULL;
}

TEST(a_returning_user_gets_an_action_and_teaches_nothing)
{
    char first[1024], again[1024];
    SERVER(s, plain);
    decide(&s, "/v1/decide", ANN, first);
    assert_true(is_learned());
    assert_observed(&s, first, ",\"reward\":1", "finished");
    assert_true(is_learned());
    for (int i = 0; i < 3; i++) {
        decide(&s, "/v1/decide", ANN, again);
        assert_true(json_number(answer, "action") < 4 && !is_learned());
        for (int twice = 0; twice < 2; twice++) {
            assert_observed(&s, again, ",\"reward\":0", "taken_part");
            assert_false(is_learned());
        }
        kill_and_start(&s);
    }
    assert_observed(&s, again, ",\"reward\":1", "taken_part"); /* nothing was kept to contradict */
    assert_observed(&s, first, ",\"reward\":1", "finished");
    assert_true(ledger(&s, "arms", "accepted") == 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM open"), 0);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM person"), 1);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM seen"), 1);
}

static bool log_is_empty(const server *s)
{
    struct stat entry;
    return stat(fmt("%s-wal", s->store), &entry) != 0 || entry.st_size == 0;
}

/* Neither the last lookup nor lookups that go on keep data in the log. */
TEST(the_log_is_cut_though_people_are_looked_up)
{
    char id[1024];
    SERVER(s, plain);
    for (int busy = 0; busy < 2; busy++) {
        const char *const who = busy ? "{\"learner\":\"arms\",\"state\":0,\"user\":\"bob\"}" : ANN;
        decide(&s, "/v1/decide", who, id);
        assert_observed(&s, id, ",\"reward\":1", "finished");
        server_wait_users(&s, "arms", (unsigned long)busy + 1);
        for (int i = 0; i < 8; i++) /* on connections of all threads */
            decide(&s, "/v1/decide", who, id);
        assert_false(is_learned());
        wait_until(log_is_empty(&s) || (busy && server_post(&s, "/v1/decide", who, answer) != 200));
        assert_true(log_is_empty(&s));
    }
}

TEST(of_two_open_episodes_the_first_that_is_told_counts)
{
    char one[1024], other[1024];
    SERVER(s, plain);
    decide(&s, "/v1/decide", ANN, one);
    decide(&s, "/v1/decide", ANN, other); /* both could be learned when they were asked for */
    assert_true(is_learned());
    assert_observed(&s, other, ",\"reward\":1", "finished");
    assert_observed(&s, one, ",\"reward\":1", "taken_part");
    assert_false(is_learned());
    kill_and_start(&s);
    assert_observed(&s, one, ",\"reward\":0", "taken_part");
    assert_observed(&s, other, ",\"reward\":1", "finished");
    assert_true(ledger(&s, "arms", "accepted") == 1);
}

/* Several steps: how far a returning user is has to be known, for who asks without a step; nothing else is. */
TEST(a_returning_user_walks_to_the_end)
{
    static const char body[] = "{\"learner\":\"walk\",\"user\":\"bob\"}";
    char episodes[3][512], path[3][700], decision[1024];
    SERVER(s, plain);
    for (int i = 0; i < 3; i++) {
        open_episode(&s, body, episodes[i]);
        assert_true(is_learned());
        (void)snprintf(path[i], sizeof path[i], "/v1/episodes/%.511s/decide", episodes[i]);
    }
    decide(&s, path[1], "{\"state\":1}", decision);
    assert_true(is_learned());
    assert_observed(&s, decision, ",\"reward\":0.5,\"next_state\":2", "open"); /* is his */
    for (int h = 0; h < 3; h++) { /* begun after that */
        decide(&s, path[0], "{\"state\":3}", decision);
        assert_true(json_number(answer, "step") == h && !is_learned());
        assert_observed(&s, decision, ",\"reward\":0.25,\"next_state\":3", "taken_part");
    }
    decide(&s, path[2], "{\"state\":4}", decision);
    assert_observed(&s, decision, ",\"reward\":0.5,\"next_state\":4", "taken_part");
    for (int h = 1; h < 3; h++) {
        decide(&s, path[1], "{\"state\":2}", decision);
        assert_true(json_number(answer, "step") == h && is_learned());
        assert_observed(&s, decision, ",\"reward\":0.5,\"next_state\":2",
                        h == 2 ? "finished" : "open");
    }
    open_episode(&s, body, episodes[0]);
    assert_false(is_learned());
    assert_true(ledger(&s, "walk", "accepted") == 1);
    assert_int_equal(server_get(&s, "/metrics", answer), 200);
    assert_non_null(strstr(answer, "tacit_episodes_open 1\n")); /* path[2] */
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM open"), 1);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM person"), 1);
}

/* An episode of which a step was told while its user took part elsewhere has a gap for good, also when the other one expires. */
TEST(an_episode_that_was_only_counted_is_never_learned)
{
    static const char body[] = "{\"learner\":\"walk\",\"user\":\"eve\"}";
    char one[512], other[512], path[700], decision[1024];
    SERVER(s, plain);
    open_episode(&s, body, one);
    open_episode(&s, body, other);
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", one);
    decide(&s, path, "{\"state\":1}", decision);
    assert_observed(&s, decision, ",\"reward\":0.5,\"next_state\":2", "open");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    run_in_store(&s, "UPDATE open SET opened=opened-60");
    assert_true(server_start(&s, NULL));
    (void)snprintf(path, sizeof path, "/v1/episodes/%s/decide", other);
    decide(&s, path, "{\"state\":3}", decision);
    assert_observed(&s, decision, ",\"reward\":0.25,\"next_state\":3", "taken_part");
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    /* as if the first one had expired */
    run_in_store(
        &s, "DELETE FROM person; DELETE FROM open WHERE opened=(SELECT min(opened) FROM open)");
    assert_true(server_start(&s, NULL));
    for (int h = 1; h < 3; h++) {
        decide(&s, path, "{\"state\":3}", decision);
        assert_true(json_number(answer, "step") == h);
        assert_observed(&s, decision, ",\"reward\":0.25,\"next_state\":3", "taken_part");
    }
    assert_true(ledger(&s, "walk", "accepted") == 0);
}

TEST(after_the_last_user_answers_say_so)
{
    char decision[1024];
    SERVER(s, plain);
    for (int i = 0; i < 6; i++) {
        decide(&s, "/v1/decide", "{\"learner\":\"few\",\"state\":0}", decision);
        assert_int_equal(is_learned(), i < 4);
        assert_observed(&s, decision, ",\"reward\":0.5", i < 4 ? "finished" : "full");
        assert_int_equal(is_learned(), i < 4);
    }
}

TEST(contradictions_are_noticed_after_the_end)
{
    char arm[1024], other[1024], steps[3][1024], episode[512];
    SERVER(s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", arm);
    assert_observed(&s, arm, ",\"reward\":0.5", "finished");
    open_episode(&s, "{\"learner\":\"walk\"}", episode);
    const char *path = fmt("/v1/episodes/%s/decide", episode);
    for (int h = 0; h < 3; h++) {
        char rest[64];
        decide(&s, path, fmt("{\"state\":%d}", h), steps[h]);
        (void)snprintf(rest, sizeof rest, ",\"reward\":0.%d,\"next_state\":%d", h + 1, h + 1);
        assert_observed(&s, steps[h], rest, h == 2 ? "finished" : "open");
    }
    decide(&s, path, "{\"state\":4,\"step\":1}", other); /* from elsewhere */
    for (int life = 0; life < 2; life++) {
        assert_observed(&s, arm, ",\"reward\":0.5", "finished");
        assert_error(observe(&s, arm, ",\"reward\":0.25"), 409, "contradiction", "reward");
        for (int h = 0; h < 3; h++) { /* any part of what was told is a repetition */
            char rest[64];
            (void)snprintf(rest, sizeof rest, ",\"reward\":0.%d", h + 1);
            assert_observed(&s, steps[h], rest, "finished");
            (void)snprintf(rest, sizeof rest, ",\"next_state\":%d", h + 1);
            assert_observed(&s, steps[h], rest, "finished");
            assert_error(observe(&s, steps[h], ",\"reward\":0.9"), 409, "contradiction", "reward");
            assert_error(observe(&s, steps[h], ",\"next_state\":0"), 409, "contradiction",
                         "next_state");
        }
        assert_error(observe(&s, other, ",\"reward\":0.2"), 409, "contradiction", "decision");
        server_wait_users(&s, "walk", 1); /* when it is learned as before */
        kill_and_start(&s);
    }
}

/* What was told is known for as long as somebody could tell it again, and then no more. */
TEST(what_was_told_is_forgotten_when_it_expires)
{
    char decision[1024];
    SERVER(s, plain);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0}", decision);
    assert_observed(&s, decision, ",\"reward\":0.5", "finished");
    server_wait_users(&s, "arms", 1);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM seen WHERE content IS NOT NULL"), 1);
    server_rewrite(&s, fmt("expire: 1\n%s", plain));
    assert_true(server_start(&s, NULL));
    wait_until(observe(&s, decision, ",\"reward\":0.5") == 410);
    assert_error(observe(&s, decision, ",\"reward\":0.5"), 410, "expired", "");
    wait_until(number_in_store(&s, "SELECT count(*) FROM seen WHERE content IS NOT NULL") == 0);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM seen WHERE content IS NOT NULL"), 0);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM seen"), 1); /* the name stays */
}
