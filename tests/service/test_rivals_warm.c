/* Two front ends on one PostgreSQL that warm up with a log, killed in turn while users come: one of them feeds
 * at a time, and everybody is counted once. */
#include "service/rivals.h"

enum { ROWS = 8000, KILLS = 8 };

#define LEARNER                                                                                    \
    "learners:\n"                                                                                  \
    "  - {name: arms, space: {states: 12, actions: 4, horizon: 1}, users: 1000000,\n"              \
    "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}, plan_every: 100"
static const char with_log[] = LEARNER ",\n     warm_start: log.csv}\n",
                  without_log[] = LEARNER "}\n";

static char reply[SERVER_ANSWER];

static void write_log(const server *s)
{
    char *log = malloc(64 + 32 * ROWS), *at = log;
    at += sprintf(at, "user,state,action,reward\n");
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "logged %d,%d,%d,%d\n", i, i % 12, i / 12 % 4, i % 5 == 0);
    server_write(s, "log.csv", log);
    free(log);
}

static double taken(const server *s)
{
    const char *part = server_get(s, "/v1/ledger?learner=arms", reply) == 200
                           ? strstr(reply, "\"warm_start\":")
                           : NULL;
    return part != NULL ? json_number(part, "taken") : 0;
}

/* A front end may have been started while the other was being killed. */
static void start_again(server *s)
{
    int code = 0;
    while (!server_start(s, &code))
        server_nap(100);
}

typedef struct place {
    cluster db;
    server ends[FRONT_ENDS];
} place;

static bool learns(const server *s)
{
    return server_get(s, "/v1/learners", reply) == 200 &&
           strstr(reply, "\"learns_here\":true") != NULL;
}

/* `first` is the end of the first one's file. If that has no log, it learns before the other one starts. */
static void open_all(place *p, const char *first)
{
    char uri[300];
    if (!cluster_is_there())
        exit(CLUSTER_SKIP);
    cluster_open(&p->db, NULL);
    cluster_database(&p->db, "tacit");
    cluster_uri(&p->db, "tacit", uri, sizeof uri);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        open_front_end(&p->ends[i], uri, i > 0 ? with_log : first, i > 0 ? &p->ends[0] : NULL);
        write_log(&p->ends[i]);
    }
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        assert_true(server_start(&p->ends[i], NULL));
        if (i == 0 && first == without_log)
            await(learns(&p->ends[i]));
    }
}

static void close_all(place *p)
{
    for (size_t i = 0; i < FRONT_ENDS; i++)
        server_close(&p->ends[i]);
    cluster_close(&p->db);
}

/* Both serve while the log is fed: the one that feeds knows whom it has taken, and the other is told. */
TEST(people_of_a_log_are_known_to_all_front_ends)
{
    static const char last[] = "{\"state\":1,\"user\":\"logged 7999\"}";
    place p;
    open_all(&p, with_log);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        wait_until(server_get(&p.ends[i], "/readyz", reply) == 200);
        wait_until(server_post(&p.ends[i], "/v1/decide", last, reply) == 200 &&
                   strstr(reply, "\"taken_part\"") != NULL);
        assert_non_null(strstr(reply, "\"taken_part\""));
    }
    close_all(&p);
}

/* Whether a log is read does not depend on which front end learns. */
TEST(a_log_is_fed_though_the_front_end_that_learns_has_none)
{
    place p;
    open_all(&p, without_log);
    await(server_get(&p.ends[1], "/readyz", reply) == 200);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        server_wait_users(&p.ends[i], "arms", ROWS);
        assert_true(taken(&p.ends[i]) == ROWS);
        assert_true(json_number(reply, "accepted") == ROWS);
    }
    close_all(&p);
}

TEST(a_log_is_fed_once_by_whoever_leads)
{
    place p;
    server *const ends = p.ends;
    unsigned random = 5;
    open_all(&p, with_log);
    crowd *c = calloc(1, sizeof *c);
    c->learner = "arms";
    c->n_states = 12;
    for (size_t i = 0; i < FRONT_ENDS; i++)
        c->ends[i] = &ends[i];
    crowd_start(c);
    for (size_t i = 0; i < KILLS; i++) {
        server *s = &ends[i % FRONT_ENDS];
        server_nap(next_random(&random) % 400);
        assert_int_equal(server_stop(s, SIGKILL), -SIGKILL);
        start_again(s);
    }
    wait_until(taken(&ends[0]) == ROWS);
    crowd_stop(c);
    const double all = ROWS + (double)atomic_load(&c->acknowledged);
    for (size_t i = 0; i < FRONT_ENDS; i++) {
        server_wait_users(&ends[i], "arms", (unsigned long)all);
        assert_true(taken(&ends[i]) == ROWS);
        assert_true(json_number(reply, "accepted") == all);
        assert_true(json_number(strstr(reply, "\"warm_start\":"), "users") == ROWS);
        wait_until(server_get(&ends[i], "/readyz", reply) == 200);
    }
    char out[512], people[32];
    assert_int_equal(server_tool(&ends[0], "store check service.yaml", out, sizeof out), 0);
    assert_true(
        cluster_sql(&p.db, "tacit", "SELECT count(*) FROM tacit.person", people, sizeof people));
    assert_true(atof(people) == all);
    crowd_free(c);
    close_all(&p);
}
