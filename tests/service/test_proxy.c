/* Two front ends whose connections to PostgreSQL pass through proxies that reset, freeze and half close them, in the middle of commits
 * and otherwise, while users come and a learner learns: nobody who was acknowledged is lost or counted twice, there is one billboard for
 * each version, a frozen front end answers, another one takes over, and what thaws writes nothing. */
#include "service/rivals.h"
#include "support/proxy.h"

static const char learners[] =
    "learners:\n"
    "  - {name: arms, space: {states: 12, actions: 4, horizon: 1}, users: 1000000,\n"
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}}\n";

static char answer[SERVER_ANSWER];

typedef struct place {
    cluster db;
    proxy proxies[FRONT_ENDS];
    server ends[FRONT_ENDS];
    crowd *c;
} place;

static void open_all(place *p)
{
    char uri[300];
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    *p = (place){0};
    cluster_open(&p->db, NULL);
    cluster_database(&p->db, "tacit");
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        proxy_open(&p->proxies[i], &p->db);
        proxy_uri(&p->proxies[i], "tacit", uri, sizeof uri);
        open_front_end(&p->ends[i], uri, learners, i > 0 ? &p->ends[0] : NULL);
        assert_true(server_start(&p->ends[i], NULL));
    }
    p->c = calloc(1, sizeof *p->c);
    p->c->learner = "arms";
    p->c->n_states = 12;
    for (size_t i = 0; i < FRONT_ENDS; i++)
        p->c->ends[i] = &p->ends[i];
    crowd_start(p->c);
}

static void await_users(place *p, unsigned long more)
{
    const unsigned long wanted = atomic_load(&p->c->acknowledged) + more;
    wait_until(atomic_load(&p->c->acknowledged) >= wanted || p->c->wrong != NULL);
    assert_true(atomic_load(&p->c->acknowledged) >= wanted);
}

static void close_all(place *p)
{
    await_users(p, 20); /* by connections that are whole again */
    for (size_t i = 0; i < FRONT_ENDS; i++)
        wait_until(server_get(&p->ends[i], "/readyz", answer) == 200);
    crowd_stop(p->c);
    for (size_t i = 0; i < FRONT_ENDS; i++)
        assert_all_counted(&p->ends[i], p->c);
    assert_true(p->c->n_boards > 1);
    crowd_free(p->c);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        server_close(&p->ends[i]);
        proxy_close(&p->proxies[i]);
    }
    cluster_close(&p->db);
}

static bool learns(const server *s)
{
    return server_get(s, "/v1/learners", answer) == 200 &&
           strstr(answer, "\"learns_here\":true") != NULL;
}

/* The number of the front end that learns. */
static size_t await_leader(place *p)
{
    size_t i = 0;
    wait_until(learns(&p->ends[i = !i]));
    assert_true(learns(&p->ends[i]));
    return i;
}

/* Another front end than this one learns; how long that took is said, and not judged. */
static void await_takeover(place *p, size_t was, const char *why)
{
    const double start = server_seconds();
    wait_until(learns(&p->ends[!was]));
    assert_true(learns(&p->ends[!was]));
    (void)fprintf(stderr, "%s: taken over after %.1f s\n", why, server_seconds() - start);
}

/* A front end that is cut off says so, and does not keep its clients waiting for ever: it decides, and refuses observations. */
static void assert_answers_without_database(const server *s)
{
    char decision[1024], body[2048];
    assert_int_equal(server_post(s, "/v1/decide", "{\"learner\":\"arms\",\"state\":1}", answer),
                     200);
    assert_true(json_field(answer, "decision", decision, sizeof decision));
    (void)snprintf(body, sizeof body, "{\"decision\":\"%s\",\"reward\":1}", decision);
    assert_int_equal(server_post(s, "/v1/observe", body, answer), 503);
}

/* It follows, and shows what the other one has published. */
static void assert_follows(place *p, size_t was)
{
    int ready = 0; /* each of its connections notices for itself */
    wait_until((ready = server_get(&p->ends[was], "/readyz", answer)) == 200);
    assert_int_equal(ready, 200);
    bool both =
        true; /* it may take itself for the learner until it hears from the database; it cannot write */
    wait_until(!(both = learns(&p->ends[was]) && learns(&p->ends[!was])));
    assert_false(both);
    await_users(p, 20);
}

TEST(a_commit_that_is_cut_is_done_once_or_not_at_all)
{
    static const proxy_trap traps[] = {PROXY_CUT_BEFORE, PROXY_CUT_WITHIN, PROXY_CUT_AFTER};
    place p;
    open_all(&p);
    await_users(&p, 20);
    for (size_t i = 0; i < 12 && p.c->wrong == NULL; i++) {
        proxy *one = &p.proxies[i / 3 % FRONT_ENDS];
        const unsigned long before = atomic_load(&one->sprung);
        atomic_store(&one->trap, (int)traps[i % 3]);
        wait_until(atomic_load(&one->sprung) > before);
        assert_true(atomic_load(&one->sprung) > before);
        await_users(&p, 3);
        if (i % 4 == 3) {
            proxy_reset(&p.proxies[0], PROXY_EVERYBODY);
            proxy_reset(&p.proxies[1], PROXY_EVERYBODY);
        }
    }
    close_all(&p);
}

TEST(frozen_connections_are_noticed_and_late_bytes_change_nothing)
{
    place p;
    open_all(&p);
    await_users(&p, 20);
    /* everything of the leader's stands still, new connections as well */
    size_t leader = await_leader(&p);
    atomic_store(&p.proxies[leader].frozen, true);
    await_takeover(&p, leader, "frozen");
    assert_answers_without_database(&p.ends[leader]);
    atomic_store(&p.proxies[leader].frozen, false);
    assert_follows(&p, leader);
    /* a commit that is held back until another one leads, and then delivered */
    leader = await_leader(&p);
    const unsigned long before = atomic_load(&p.proxies[leader].sprung);
    atomic_store(&p.proxies[leader].trap, PROXY_LATE);
    wait_until(atomic_load(&p.proxies[leader].sprung) > before);
    await_takeover(&p, leader, "commit held back");
    atomic_store(&p.proxies[leader].frozen, false);
    assert_follows(&p, leader);
    close_all(&p);
}

TEST(half_open_connections_are_noticed)
{
    place p;
    open_all(&p);
    await_users(&p, 20);
    /* the server's side is gone, and nobody says so */
    size_t leader = await_leader(&p);
    proxy_leave_half_open(&p.proxies[leader], PROXY_EVERYBODY);
    await_takeover(&p, leader, "half open");
    assert_follows(&p, leader);
    /* the database did what it was told, and the answer never comes */
    leader = await_leader(&p);
    const unsigned long before = atomic_load(&p.proxies[leader].sprung);
    atomic_store(&p.proxies[leader].trap, PROXY_FREEZE_AFTER);
    wait_until(atomic_load(&p.proxies[leader].sprung) > before);
    assert_true(atomic_load(&p.proxies[leader].sprung) > before);
    await_users(&p, 20);
    /* connections that stand still as soon as they are made */
    leader = await_leader(&p);
    atomic_store(&p.proxies[leader].mute_after, true);
    await_takeover(&p, leader, "mute after login");
    assert_answers_without_database(&p.ends[leader]);
    atomic_store(&p.proxies[leader].mute_after, false);
    assert_follows(&p, leader);
    close_all(&p);
}

/* The session that has the lease is gone, and nobody says so. Until the deposed learner hears of it, it reads on;
 * its successor has removed the users whom it looks for. */
TEST(a_deposed_learner_does_not_take_the_store_for_damaged)
{
    place p;
    open_all(&p);
    await_users(&p, 20);
    for (size_t round = 0; round < 3; round++) {
        const size_t leader = await_leader(&p);
        proxy_leave_half_open(&p.proxies[leader], PROXY_READER);
        proxy_leave_half_open(&p.proxies[leader], PROXY_LISTENER);
        await_takeover(&p, leader, "listener half open");
        await_users(&p, 50);
        proxy_reset(&p.proxies[leader], PROXY_READER);
        await_users(&p, 50);
        assert_follows(&p, leader);
    }
    close_all(&p);
}
