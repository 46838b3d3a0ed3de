/* A log that warms a learner up: its users come by the door by which all others come, each once, whatever
 * happens in between; what is refused, and what is learned. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <tacit/agent.h>
#include <tacit/lab.h>
#include <tacit/service.h>

#include "agents/agent_inside.h"
#include "service/plain.h"
#include "support/cases.h"

#define HEAD "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n"
#define LIN "{kind: lin-ucb, privacy: {model: joint, epsilon: 1}}"
#define CLIP "{kind: lin-ucb, outside: clip, privacy: {model: joint, epsilon: 1}}"
#define CONTEXT "space: {context: 'age 18..78, country {DE | FR}', actions: [low, high]}"
#define EXACT "agent: {kind: ucbvi, privacy: {model: none}}"
#define ARMS "space: {states: 3, actions: 4, horizon: 1}"

/* A service with a log, before it is started. */
static void prepare(server *s, const char *learner, const char *log)
{
    server_open(s, TACIT_COMMAND, fmt(HEAD "  - {name: arms, %s}\n", learner));
    server_write(s, "log.csv", log);
    server_token(s, "all", "admin", s->token);
}

static bool is_ready(const server *s)
{
    return server_get(s, "/readyz", answer) == 200;
}

static void start_and_warm(server *s)
{
    assert_true(server_start(s, NULL));
    await(is_ready(s));
}

static void assert_sound(server *s)
{
    char out[512];
    if (server_tool(s, "store check service.yaml", out, sizeof out) != 0)
        fail_msg("%s", out);
}

static void assert_said(const server *s, const char *what)
{
    char text[4096];
    server_read(s, "err", text, sizeof text);
    if (strstr(text, what) == NULL)
        fail_msg("'%s' is not in: %s", what, text);
}

static double warm_figure(const server *s, const char *key)
{
    (void)ledger(s, "arms", "users");
    const char *part = strstr(answer, "\"warm_start\":");
    return part != NULL ? json_number(part, key) : -1;
}

/* A log of n rows with numbered states; `ids`: row i is a person of i % ids, or (0) nobody in particular. */
static char *make_log(size_t n, size_t ids)
{
    char *log = malloc(64 + 40 * n), *at = log;
    at += sprintf(at, "%s", ids > 0 ? "state,action,reward,user\n" : "state,action,reward\n");
    for (size_t i = 0; i < n; i++) {
        const unsigned state = (unsigned)(i * 7 / 5 % 3), action = (unsigned)(i * 11 / 3 % 4);
        at += sprintf(at, "%u,%u,%d", state, action, action == state + 1 ? i % 4 > 0 : i % 4 == 0);
        at += ids > 0 ? sprintf(at, ",person %zu\n", i % ids) : sprintf(at, "\n");
    }
    return log;
}

/* --- Refusals ------------------------------------------------------------------------------------- */

static char where[200];

static void refuse(char *learner, char said[CASE_TEXT])
{
    char path[300], *agent = case_rest(learner), *log = case_rest(agent);
    server s = {0};
    (void)snprintf(s.directory, sizeof s.directory, "%s", where);
    server_write(&s, "s.yaml", fmt(HEAD "  - {name: a, %s, agent: %s}\n", learner, agent));
    server_write(&s, "log.csv", log);
    (void)snprintf(path, sizeof path, "%s/s.yaml", where);
    tacit_service_file *file = NULL;
    tacit_service_log counts;
    tacit_error err = {0};
    tacit_status status = tacit_service_file_read(path, &file, &err);
    if (status == TACIT_OK)
        status = tacit_service_file_log(file, 0, &counts, &err);
    tacit_service_file_destroy(file);
    assert_true(status != TACIT_OK);
    /* the directory is another one each time */
    for (char *at; (at = strstr(err.message, where)) != NULL;) {
        memcpy(at, "dir", 3);
        memmove(at + 3, at + strlen(where), strlen(at + strlen(where)) + 1);
    }
    (void)snprintf(said, CASE_TEXT, "%s", err.message);
}

TEST(logs_and_learners_that_do_not_fit_are_refused_with_the_line)
{
    (void)snprintf(where, sizeof where, "/tmp/tacit-warm-XXXXXX");
    assert_non_null(mkdtemp(where));
    cases_run("service/cases/warm",
              (const case_word[]){{"$CONTEXT", CONTEXT},
                                  {"$LIN", LIN},
                                  {"$CLIP", CLIP},
                                  {"$JOINT", JOINT},
                                  {"$LOCAL", LOCAL},
                                  {0}},
              refuse);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(unlink(fmt("%s/%s", where, i == 0 ? "s.yaml" : "log.csv")), 0);
    }
    assert_int_equal(rmdir(where), 0);
}

/* A kind takes logs where it keeps account of who was where; every kind that can be served with one step is
 * named here. */
TEST(who_takes_their_own_plans_for_granted_takes_no_logs)
{
    static const char *const takes[] = {"ucbvi",    "dp-ucbvi",       "private-ucb-vi",
                                        "pucb",     "private-ucb-po", "posterior-tabular",
                                        "lin-ucb",  "gp-ucb",         "kernel-elimination",
                                        "ldp-obi",  "ucrl-vtr",       "ucrl-vtr-plus",
                                        "lsvi-ucb", "linopt-vi",      "linopt-po"};
    static const char *const refuses[] = {"explore-commit-tabular",
                                          "explore-commit-mixture",
                                          "explore-commit-linear",
                                          "explore-commit-features",
                                          "explore-commit-kernel",
                                          "posterior-mixture",
                                          "posterior-linear",
                                          "posterior-bandit",
                                          "posterior-kernel",
                                          "capri",
                                          "no such kind"};
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (!tacit__agent_takes_logs(takes[i]))
            fail_msg("%s", takes[i]);
    for (size_t i = 0; i < sizeof refuses / sizeof *refuses; i++)
        if (tacit__agent_takes_logs(refuses[i]))
            fail_msg("%s", refuses[i]);
    for (size_t i = 0; i < tacit_agent_kind_count(); i++) {
        const char *name = tacit_agent_kind_at(i)->name;
        bool known = false;
        for (size_t j = 0; j < sizeof takes / sizeof *takes; j++)
            known = known || strcmp(takes[j], name) == 0;
        for (size_t j = 0; j < sizeof refuses / sizeof *refuses; j++)
            known = known || strcmp(refuses[j], name) == 0;
        if (!known)
            fail_msg("is %s honest about users who acted by another policy?", name);
    }
}

TEST(a_log_that_does_not_fit_leaves_no_learner_behind)
{
    SCOPED_BY(end) server s;
    prepare(&s, ARMS ", users: 9, agent: " JOINT ", warm_start: log.csv",
            "state,action,reward\n0,0,1\n0,4,1\n");
    assert_no_start(&s, 2);
    assert_said(&s, "log.csv:3: action must be the number of an action, from 0 to 3");
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM learner"), 0);
    server_write(&s, "log.csv", "state,action,reward\n0,0,1\n0,3,1\n");
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "users") == 2);
}

/* --- Users ---------------------------------------------------------------------------------------- */

/* Row i of a log in which what is best depends on age and country, and is not easy to tell. */
typedef struct person {
    unsigned age;
    bool french;
    uint32_t action;
    double reward;
} person;

static person person_of(size_t i)
{
    unsigned random = (unsigned)i * 2654435761u;
    person p = {.age = 18 + random % 61, .french = random >> 8 & 1, .action = random >> 10 & 1};
    const double chance = p.action == 0 ? 0.9 - 0.01 * p.age : p.french ? 0.6 : 0.3;
    p.reward = (double)((random >> 12) % 1000) < 1000 * chance;
    return p;
}

static char *make_people(size_t n)
{
    char *log = malloc(64 + 40 * n), *at = log;
    at += sprintf(at, "reward,age,country,action\n");
    for (size_t i = 0; i < n; i++) {
        const person p = person_of(i);
        at += sprintf(at, "%g,%u,%s,%s\n", p.reward, p.age, p.french ? "FR" : "DE",
                      p.action == 0 ? "low" : "high");
    }
    return log;
}

static void encode(unsigned age, bool french, double x[4])
{
    const double years = 2 * (age - 18.0) / 60 - 1, length = sqrt(2 + years * years);
    x[0] = 1 / length;
    x[1] = years / length;
    x[2] = !french / length;
    x[3] = french / length;
}

/* What is decided for people of all ages and both countries: by an agent of this process that learns from
 * the same rows, and by a service. */
enum { AGES = 61, SURFACE = 2 * AGES + 1 };
#define FREE "{kind: lin-ucb, bonus_scale: 0, privacy: {model: none}}"

static void learn_here(size_t n, char out[SURFACE])
{
    static const char text[] = "{agent: " FREE ", episodes: 100000, " CONTEXT "}";
    tacit_agent *agent = NULL;
    tacit_billboard board;
    tacit_error err = {0};
    double x[4], probability;
    if (tacit_agent_create_text(text, strlen(text), NULL, NULL, NULL, &agent, &err) != TACIT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < n; i++) {
        person p = person_of(i);
        uint32_t states[2] = {0};
        encode(p.age, p.french, x);
        const tacit_trajectory t = {STEPS_OF(states, &p.action, &p.reward), .features = x};
        assert_ok(tacit_agent_learn(agent, &t, &err));
    }
    assert_ok(tacit_agent_plan(agent, &board, &err));
    for (unsigned i = 0; i < 2 * AGES; i++) {
        uint32_t action;
        encode(18 + i % AGES, i >= AGES, x);
        assert_ok(tacit_agent_act(agent, &(tacit_situation){.features = x}, 0, &action,
                                  &probability, &err));
        out[i] = action == 0 ? 'l' : 'h';
    }
    out[2 * AGES] = '\0';
    tacit_agent_destroy(agent);
}

static void ask_all(const server *s, char out[SURFACE])
{
    char action[16];
    for (unsigned i = 0; i < 2 * AGES; i++) {
        const char *body = fmt("{\"context\":{\"age\":%u,\"country\":\"%s\"}}", 18 + i % AGES,
                               i >= AGES ? "FR" : "DE");
        assert_int_equal(server_post(s, "/v1/decide", body, answer), 200);
        assert_true(json_field(answer, "action", action, sizeof action));
        out[i] = action[0];
    }
    out[2 * AGES] = '\0';
}

static void assert_learned(const server *s, size_t n)
{
    char here[SURFACE], there[SURFACE];
    learn_here(n, here);
    assert_true(strchr(here, 'l') != NULL && strchr(here, 'h') != NULL);
    ask_all(s, there);
    assert_string_equal(here, there);
}

TEST(users_of_a_log_are_learned_as_all_others_are)
{
    SCOPED_BY(end) server s;
    char *log = make_people(400), decision[1024];
    prepare(&s,
            CONTEXT ", users: 100000, agent: " FREE ", monitor: {epsilon: 1}, "
                    "warm_start: log.csv",
            log);
    free(log);
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "accepted") == 400 && ledger(&s, "arms", "users") == 400);
    assert_true(warm_figure(&s, "rows") == 400 && warm_figure(&s, "users") == 400);
    assert_learned(&s, 400);
    assert_said(&s, "learner arms is warmed up: 400 users of a log of 400 rows");
    assert_sound(&s);
    /* and those who come are learned after them */
    decide(&s, "/v1/decide", "{\"context\":{\"age\":20,\"country\":\"FR\"}}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    server_wait_users(&s, "arms", 401);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM seen"), 401);
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM event WHERE what LIKE '%warm%'"), 2);
}

TEST(people_of_a_log_have_taken_part)
{
    SCOPED_BY(end) server s;
    char *log = make_log(60, 40), reason[32] = "", decision[1024];
    prepare(&s, ARMS ", users: 50, agent: " JOINT ", warm_start: log.csv", log);
    free(log);
    char out[600];
    assert_int_equal(server_tool(&s, "serve --check service.yaml", out, sizeof out), 0);
    assert_non_null(strstr(out, "log.csv has 60 rows of 40 people, and the learner learns from 40 "
                                "of the rows; 10 users are left"));
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "users") == 40 && warm_figure(&s, "users") == 40);
    assert_true(warm_figure(&s, "taken") == 60);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"person 39\"}", decision);
    assert_true(json_field(answer, "reason", reason, sizeof reason));
    assert_string_equal(reason, "taken_part");
    assert_observed(&s, decision, ",\"reward\":1", "taken_part");
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"person 40\"}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "finished");
    assert_int_equal(number_in_store(&s, "SELECT count(*) FROM person"), 41);
    assert_sound(&s);
}

TEST(visits_of_a_log_are_counted_and_kept_apart)
{
    SCOPED_BY(end) server s;
    /* ann at 1, too soon, two others, again at 4; then she has had all */
    prepare(&s,
            ARMS ", users: 10, warm_start: {file: log.csv, user: who},\n"
                 "     agent: {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1, visits: 2, "
                 "apart: 3}}",
            "who,state,action,reward\nann,0,0,1\nann,0,1,1\nbob,0,2,1\ncarl,1,0,1\nann,1,1,1\n"
            "ann,2,0,0\ndora,0,0,0\n");
    char out[600], decision[1024];
    assert_int_equal(server_tool(&s, "serve service.yaml --check", out, sizeof out), 0);
    assert_non_null(strstr(out, "7 rows of 4 people, and the learner learns from 5 of the rows"));
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "users") == 5);
    assert_int_equal(number_in_store(&s, "SELECT sum(visits) FROM person"), 5);
    assert_int_equal(number_in_store(&s, "SELECT max(last_place) FROM person WHERE visits=2"), 4);
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"ann\"}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "visits_used");
    decide(&s, "/v1/decide", "{\"learner\":\"arms\",\"state\":0,\"user\":\"dora\"}", decision);
    assert_observed(&s, decision, ",\"reward\":1", "too_soon");
    assert_sound(&s);
}

TEST(the_record_has_users_of_a_log_with_the_chance_that_it_tells)
{
    SCOPED_BY(end) server s;
    static char text[1 << 14];
    prepare(&s,
            CONTEXT ", users: 10, log_decisions: yes, agent: " CLIP
                    ", warm_start: {file: log.csv, action: dose, reward: cured, propensity: p}",
            "p,age,country,dose,cured\n0.25,18,DE,low,1\n0.5,200,FR,high,7\n");
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "users") == 2);
    assert_int_equal(server_tool(&s, "store export service.yaml --decisions", text, sizeof text),
                     0);
    assert_non_null(strstr(text, "\"action\":\"low\",\"probability\":0.25,"));
    char *second = strchr(text, '\n') + 1;
    assert_non_null(strstr(second, "\"action\":\"high\",\"probability\":0.5,"));
    assert_non_null(strstr(second, "\"reward\":1}"));
    /* 1, age at its end, and the second country, of length 1 */
    assert_non_null(strstr(second, "\"context\":[0.57735026918962"));
}

/* --- Ends in the middle ----------------------------------------------------------------------------- */

TEST(kills_lose_nobody_and_count_nobody_twice)
{
    enum { ROWS = 6000 };
    SCOPED_BY(end) server s;
    char *log = make_people(ROWS);
    prepare(&s, CONTEXT ", users: 100000, agent: " FREE ", plan_every: 100, warm_start: log.csv",
            log);
    free(log);
    for (int life = 0; life < 12; life++) {
        assert_true(server_start(&s, NULL));
        server_nap(life * 9);
        assert_int_equal(server_stop(&s, life % 3 == 2 ? SIGTERM : SIGKILL),
                         life % 3 == 2 ? 0 : -SIGKILL);
    }
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "users") == ROWS && warm_figure(&s, "users") == ROWS);
    assert_learned(&s, ROWS);
    kill_and_start(&s);
    wait_until(is_ready(&s));
    assert_true(ledger(&s, "arms", "accepted") == ROWS);
    assert_sound(&s);
}

TEST(a_log_that_changed_in_the_middle_is_refused_and_afterwards_ignored)
{
    enum { ROWS = 20000 };
    SCOPED_BY(end) server s;
    char *log = make_log(ROWS, 0);
    prepare(&s, ARMS ", users: 100000, " EXACT ", warm_start: log.csv", log);
    double taken = 0;
    assert_true(server_start(&s, NULL));
    wait_until((taken = warm_figure(&s, "taken")) > 0);
    assert_int_equal(server_stop(&s, SIGKILL), -SIGKILL);
    assert_true(taken < ROWS);
    log[strlen(log) - 2] ^= 1; /* another reward */
    server_write(&s, "log.csv", log);
    assert_no_start(&s, 2);
    assert_said(&s, "log.csv is not the log with which learner 'arms' was being warmed up");
    log[strlen(log) - 2] ^= 1;
    server_write(&s, "log.csv", log);
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "users") == ROWS);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_write(&s, "log.csv", "state,action\n"); /* not even a log any more */
    start_and_warm(&s);
    assert_said(&s, "was warmed up with 20000 rows of a log that differs from log.csv");
    assert_true(ledger(&s, "arms", "users") == ROWS);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    server_shell(&s, "rm log.csv");
    start_and_warm(&s);
    assert_true(ledger(&s, "arms", "users") == ROWS);
    assert_sound(&s);
    free(log);
}

/* How far it has come is under the proof of the store. */
TEST(a_row_that_was_set_back_is_noticed)
{
    SCOPED_BY(end) server s;
    char *log = make_log(50, 0), word[32];
    prepare(&s, ARMS ", users: 1000, agent: " JOINT ", warm_start: log.csv", log);
    free(log);
    start_and_warm(&s);
    assert_int_equal(server_stop(&s, SIGTERM), 0);
    run_in_store(&s, "DELETE FROM meta WHERE name LIKE 'warm:%'");
    int code = 0;
    if (server_start(&s, &code)) {
        read_store_status(&s, word);
        assert_string_equal(word, "unsound");
        assert_true(ledger(&s, "arms", "accepted") == 50);
    }
}
