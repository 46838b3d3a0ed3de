/* Public tables of a service file: what is read, and how what is wrong with them is told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/service.h>

#include "base/memory.h"
#include "serve/config.h"
#include "support/arena.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/server.h"

static char directory[200];

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(fmt("%s/%s", directory, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static tacit_status read_service(const char *space, tacit__service_config *out, tacit_error *err)
{
    write_file("s.yaml",
               fmt("store: a.db\nlearners:\n  - name: a\n    users: 9\n    space: %s\n    agent: "
                   "{kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n",
                   space));
    tacit_status status = tacit__service_config_read(fmt("%s/s.yaml", directory), out, err);
    if (status != TACIT_OK)
        return status;
    status = tacit__service_config_open(out, err);
    if (status != TACIT_OK)
        tacit__service_config_free(out);
    return status;
}

#define WALK "states: 2, actions: 2, horizon: 3"
#define ARMS "states: 2, actions: 2, horizon: 1"

/* --- What is read --------------------------------------------------------------------------------- */

TEST(tables_are_read_in_any_order)
{
    SCOPED_BY(tacit__service_config_free) tacit__service_config c;
    tacit_error err = {0};
    write_file("r.csv", "state,action,reward\n1,1,0.4\n1,0,0.3\n0,1,0.2\r\n\n0,0,0.1\n");
    write_file("h.csv", "\xef\xbb\xbfstep,state,action,reward\n"
                        "2,0,0,1\n2,0,1,1\n2,1,0,1\n2,1,1,1\n1,0,0,0\n1,0,1,0\n1,1,0,0\n1,1,1,0\n"
                        "0,0,0,0.5\n0,0,1,0.5\n0,1,0,0.5\n0,1,1,0.25\n");
    write_file("m.csv", "state,action,part,next_state,probability\n"
                        "0,0,0,0,1\n0,1,0,1,1\n1,0,0,0,1\n1,1,0,1,1\n"
                        "0,0,1,0,0.333333\n0,0,1,1,0.666667\n0,1,1,0,1\n1,0,1,1,1\n1,1,1,0,1\n");
    write_file("f.csv", "state,action,feature,value\n0,0,0,1\n0,1,1,1\n1,0,2,0.5\n1,0,0,0.5\n"
                        "1,1,2,1\n");
    write_file("p.csv", "state,feature,value\n0,0,3\n1,1,-4\n");
    assert_ok(
        read_service("{" WALK ", rewards: r.csv, mixture: m.csv, features: f.csv}", &c, &err));
    const tacit_agent_request *q = &c.learners[0].request;
    for (size_t i = 0; i < 12; i++) /* the same at every step */
        assert_true(q->rewards[i] == 0.1 * (double)(i % 4 + 1) ||
                    fabs(q->rewards[i] - 0.1 * (double)(i % 4 + 1)) < 1e-15);
    double row[4];
    assert_true(q->mixture->dimension == 2 && q->mixture->kernels && q->mixture->nonnegative);
    q->mixture->row(q->mixture->context, 0, 0, row);
    assert_close(row[0], M_SQRT1_2, 1e-15);
    assert_true(row[1] == 0);
    assert_close(row[2] + row[3], M_SQRT1_2, 1e-15); /* six digits are made to sum to 1 */
    assert_true(q->linear->dimension == 3 && q->linear->simplex && q->linear->bound == 1);
    q->linear->row(q->linear->context, 1, 0, row);
    assert_true(row[0] == 0.5 && row[1] == 0 && row[2] == 0.5);
    assert_null(q->bandit);
    assert_true(c.learners[0].per_user == 0);
    tacit__service_config_free(&c);
    assert_ok(read_service("{" WALK ", rewards: h.csv}", &c, &err));
    q = &c.learners[0].request;
    assert_true(q->rewards[3] == 0.25 && q->rewards[4] == 0 && q->rewards[11] == 1);
    assert_true(q->mixture == NULL && q->linear == NULL);
    tacit__service_config_free(&c);
    assert_ok(read_service("{" ARMS ", features: f.csv, kernel: se(0.5), context: 2}", &c, &err));
    q = &c.learners[0].request;
    assert_true(q->linear == NULL && q->bandit->dimension == 3 &&
                q->bandit->context_dimension == 2);
    assert_string_equal(q->bandit->kernel, "se(0.5)");
    assert_true(q->bandit->points[2 * 3 + 2] == 0.5 && q->bandit->bound == 1);
    tacit__service_config_free(&c);
    assert_ok(read_service("{" ARMS ", features: p.csv, shared: no, bound: 5}", &c, &err));
    q = &c.learners[0].request;
    assert_true(q->bandit->disjoint && q->bandit->bound == 5 && q->bandit->points[3] == -4);
    tacit__service_config_free(&c);
    assert_ok(read_service("{" ARMS ", features: p.csv, shared: no}", &c, &err));
    assert_true(c.learners[0].request.bandit->bound == 4); /* the longest */
}

TEST(the_example_has_agents_for_all_its_learners)
{
    SCOPED_BY(tacit__service_config_free) tacit__service_config c;
    tacit_error err = {0};
    assert_ok(tacit__service_config_read(TACIT_SOURCE "/examples/service/service.yaml", &c, &err));
    assert_ok(tacit__service_config_open(&c, &err));
    for (size_t i = 0; i < c.n_learners; i++) {
        tacit_agent_destroy(agent_of(&c.learners[i].request, 1));
    }
}

/* --- What is refused ------------------------------------------------------------------------------ */

static void refuse(char *space, char answer[CASE_TEXT])
{
    tacit__service_config c;
    tacit_error err = {0};
    write_file("t.csv", case_rest(space));
    assert_true(read_service(space, &c, &err) != TACIT_OK);
    size_t n = strlen(directory);
    (void)snprintf(answer, CASE_TEXT, "%s",
                   strncmp(err.message, directory, n) == 0 ? err.message + n + 1 : err.message);
}

TEST(what_is_wrong_is_told_with_file_and_line)
{
    cases_run("service/cases/tables", (const case_word[]){{"$WALK", WALK}, {"$ARMS", ARMS}, {0}},
              refuse);
}

TEST(tables_survive_every_failing_allocation)
{
    SCOPED_BY(tacit__service_config_free) tacit__service_config c;
    assert_survives_no_memory(
        read_service("{" WALK ", rewards: r.csv, mixture: m.csv, features: f.csv}", &c, NULL),
        (void)0);
}

TEST(a_file_tells_its_promises_or_that_there_is_no_memory)
{
    const char *path = fmt("%s/two.yaml", directory);
    tacit_service_file *file = NULL;
    SCOPED(tacit_plan) *plan = NULL;
    write_file("two.yaml",
               "store: a.db\nbudget: {epsilon: 3, delta: 1e-3}\nlearners:\n"
               "  - {name: river, space: {" WALK "}, users: 100, agent: {kind: dp-ucbvi, "
               "privacy: {model: joint, epsilon: 1}}, monitor: {epsilon: 0.1}}\n"
               "  - {name: arms, space: {" ARMS "}, users: 100, agent: {kind: dp-ucbvi, "
               "privacy: {model: joint, epsilon: 1}}}\n");
    assert_true(tacit_service_is_file(path));
    assert_false(tacit_service_is_file(TACIT_TESTS_DIR "/../examples/riverswim.yaml"));
    assert_false(tacit_service_is_file(TACIT_TESTS_DIR "/../README.md"));
    assert_false(tacit_service_is_file("/nowhere"));
    for (uint64_t n = 1;; n++) {
        tacit__alloc_fail_at(n);
        tacit_status status = tacit_service_file_read(path, &file, NULL);
        if (status == TACIT_OK)
            status = tacit_service_file_monitor(file, 0, &plan, NULL);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        assert_true(status == (failed ? TACIT_NO_MEMORY : TACIT_OK));
        if (!failed)
            break;
        tacit_service_file_destroy(file);
        file = NULL;
    }
    const tacit_service_learner *l = tacit_service_file_at(file, 0);
    assert_string_equal(l->name, "river");
    assert_true(l->monitor.epsilon == 0.1 && l->together.delta == 2e-3);
    assert_true(l->together.epsilon < 1 && tacit_service_file_at(file, 1)->together.epsilon == 1);
    const tacit_service_person *p = tacit_service_file_person(file);
    assert_true(p->all.delta == 1e-3 && p->budget.epsilon == 3 && p->joint == 2 && !p->separate);
    assert_non_null(strstr(tacit_service_file_promise(file), "for one person: epsilon 1.5"));
    assert_int_equal(tacit_plan_size(plan), 1);
    tacit_service_file_destroy(file);
}

/* --- Kinds that need what is not declared --------------------------------------------------------- */

static void refuse_kind(char *kind, char answer[CASE_TEXT])
{
    static const char before[] = "tacit: service.yaml:4: ";
    char *space = case_rest(kind);
    server s;
    (void)case_rest(space);
    server_open(&s, TACIT_COMMAND,
                fmt("listen: 127.0.0.1:0\nstore: service.db\nlearners:\n  - {name: a, users: "
                    "9, space: %s, agent: {kind: %s, privacy: {model: none}}}\n",
                    space, kind));
    assert_no_start(&s, 2);
    server_read(&s, "err", answer, CASE_TEXT);
    server_close(&s);
    assert_memory_equal(answer, before, strlen(before));
    (void)case_rest(answer);
    memmove(answer, answer + strlen(before), strlen(answer + strlen(before)) + 1);
}

TEST(a_kind_says_which_key_it_needs)
{
    cases_run("service/cases/kinds", (const case_word[]){{"$WALK", WALK}, {"$ARMS", ARMS}, {0}},
              refuse_kind);
}

static int open_directory(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof directory, "%s/tacit-tables-XXXXXX", P_tmpdir);
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return shell("rm -rf '%s'", directory);
}

int main(void)
{
    return test_run(open_directory, remove_directory);
}
