/* Clocks that jump, while the service runs and before it starts: nothing is deleted by them. What is deleted
 * is old by the time that the service has run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve/clock.h"
#include "service/wall.h"
#include "store/vault/vault.h"
#include "store/vault/vault_maintenance.h"

/* Episodes live for a month at most, by jumps of which nobody is to notice; long enough for a slow machine,
 * too. */
static const char yaml[] =
    "listen: 127.0.0.1:0\n"
    "store: service.db\n"
    "expire: 86400\n"
    "learners:\n"
    "  - {name: walk, space: {states: 5, actions: 2, horizon: 3}, users: 100, agent: " JOINT "}\n";

enum { MONTH = 30 * WALL_DAY };
static const char key[] = "Idempotency-Key: 0123456789abcdef\r\n";

/* An episode with one step of three, and a decision that was made under a key. */
typedef struct begun {
    char episode[512], first[1024], second[1024];
} begun;

static void decide_under_key(const server *s, const begun *b, char decision[1024])
{
    assert_int_equal(server_ask(s, s->token, "POST", fmt("/v1/episodes/%s/decide", b->episode), key,
                                "{\"state\":1,\"step\":1}", answer),
                     200);
    assert_true(json_field(answer, "decision", decision, 1024));
}

static void begin_episode(const server *s, begun *b)
{
    open_episode(s, "{}", b->episode);
    decide(s, fmt("/v1/episodes/%s/decide", b->episode), "{\"state\":0,\"step\":0}", b->first);
    assert_observed(s, b->first, ",\"reward\":0.5,\"next_state\":1", "open");
    decide_under_key(s, b, b->second);
}

/* Nothing of it was lost: the key still has its answer, and two more steps finish it. */
static void finish_episode(const server *s, const begun *b)
{
    char again[1024], last[1024];
    assert_true(figure(s, "tacit_episodes_expired_total") == 0);
    assert_true(figure(s, "tacit_episodes_open") == 1);
    decide_under_key(s, b, again);
    assert_string_equal(again, b->second);
    assert_observed(s, b->second, ",\"reward\":0.5,\"next_state\":2", "open");
    decide(s, fmt("/v1/episodes/%s/decide", b->episode), "{\"state\":2,\"step\":2}", last);
    assert_observed(s, last, ",\"reward\":0.5,\"next_state\":3", "finished");
}

static void open_with_wall(server *s, wall *w)
{
    server_open(s, TACIT_COMMAND, yaml);
    server_token(s, "all", "admin", s->token);
    wall_arm(w, s);
}

TEST(a_clock_that_jumps_deletes_nothing)
{
    static const long jumps[] = {MONTH, -50L * 365 * WALL_DAY};
    if (!may_preload)
        skip();
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        SCOPED_BY(end) server s;
        wall w;
        begun b;
        open_with_wall(&s, &w);
        assert_true(server_start(&s, NULL));
        begin_episode(&s, &b);
        wall_move(&w, jumps[i]);
        await_sweep(&s);
        finish_episode(&s, &b);
    }
}

TEST(a_start_with_a_wrong_clock_deletes_nothing)
{
    static const long jumps[] = {MONTH, -50L * 365 * WALL_DAY, 0};
    if (!may_preload)
        skip();
    SCOPED_BY(end) server s;
    wall w;
    begun b;
    open_with_wall(&s, &w);
    assert_true(server_start(&s, NULL));
    begin_episode(&s, &b);
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        int how = i % 2 == 0 ? SIGTERM : SIGKILL;
        assert_int_equal(server_stop(&s, how), how == SIGTERM ? 0 : -SIGKILL);
        wall_move(&w, jumps[i]);
        assert_true(server_start(&s, NULL));
        await_sweep(&s);
    }
    finish_episode(&s, &b);
}

TEST(what_expires_is_told_in_time_on_the_wall)
{
    if (!may_preload)
        skip();
    SCOPED_BY(end) server s;
    wall w;
    open_with_wall(&s, &w);
    wall_move(&w, 0);
    assert_true(server_start(&s, NULL));
    for (long jump = 0; jump <= MONTH; jump += MONTH) {
        wall_move(&w, jump);
        time_t before = time(NULL) + jump;
        assert_int_equal(server_post(&s, "/v1/episodes", "{}", answer), 201);
        double expires = json_number(answer, "expires") - WALL_DAY;
        /* two clocks that are rounded down, and an estimate that is not moved for less than two seconds */
        assert_true(expires >= (double)before - 3 && expires <= (double)(time(NULL) + jump) + 3);
    }
}

TEST(the_kept_clock_never_goes_back)
{
    char directory[] = "/tmp/tacit-clock-XXXXXX";
    const uint8_t secret[TACIT__KEY_BYTES] = {1};
    tacit__vault *vault = NULL;
    tacit_error err = {0};
    int64_t now = 0;
    assert_non_null(mkdtemp(directory));
    assert_ok(
        tacit__vault_open(fmt("%s/store.db", directory), TACIT__VAULT_SERVE, secret, &vault, &err));
    assert_ok(tacit__vault_get_clock(vault, 1000, &now, &err));
    assert_true(now == 1000); /* nothing was opened: the time on the wall */
    assert_ok(tacit__vault_save_clock(vault, 1000, &err));
    assert_ok(tacit__vault_save_clock(vault, 900, &err));
    assert_ok(tacit__vault_get_clock(vault, 5000, &now, &err));
    assert_true(now == 1000);
    assert_ok(tacit__vault_save_clock(vault, 1060, &err));
    assert_ok(tacit__vault_get_clock(vault, 0, &now, &err));
    assert_true(now == 1060);
    tacit__vault_close(vault);
    assert_shell("rm -r '%s'", directory);
}

TEST(a_clock_goes_on_from_where_it_was_started)
{
    tacit__clock clock;
    tacit__clock_start(&clock, 5000);
    const int64_t first = tacit__clock_now(&clock), wall_time = tacit__clock_to_wall(&clock, 5000);
    assert_true(first >= 5000);
    assert_true(wall_time - (int64_t)time(NULL) >= -3 && wall_time - (int64_t)time(NULL) <= 3);
    await(tacit__clock_now(&clock) > first);
    assert_true(tacit__clock_to_wall(&clock, 5000) == wall_time); /* the same is told again */
}
