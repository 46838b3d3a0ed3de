/* Public tables of a service file: what is read, and how what is wrong with them is told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/service.h>

#include "base/memory.h"
#include "serve/config.h"
#include "support/arena.h"
#include "support/check.h"
#include "support/server.h"

#define N_OF(array) (sizeof(array) / sizeof *(array))

static char directory[200];

static void write_file(const char *name, const char *text)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static tacit_status read_service(const char *space, tacit__service_config *out, tacit_error *err)
{
    char path[300], text[600];
    (void)snprintf(text, sizeof text,
                   "store: a.db\nlearners:\n  - name: a\n    users: 9\n    space: %s\n    agent: "
                   "{kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n",
                   space);
    write_file("s.yaml", text);
    (void)snprintf(path, sizeof path, "%s/s.yaml", directory);
    tacit_status status = tacit__service_config_read(path, out, err);
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
    tacit__service_config c;
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
    tacit__service_config_free(&c);
}

TEST(the_example_has_agents_for_all_its_learners)
{
    tacit__service_config c;
    tacit_error err = {0};
    assert_ok(tacit__service_config_read(TACIT_SOURCE "/examples/service/service.yaml", &c, &err));
    assert_ok(tacit__service_config_open(&c, &err));
    for (size_t i = 0; i < c.n_learners; i++) {
        tacit_agent_destroy(agent_of(&c.learners[i].request, 1));
    }
    tacit__service_config_free(&c);
}

/* --- What is refused ------------------------------------------------------------------------------ */

TEST(what_is_wrong_is_told_with_file_and_line)
{
    static const struct {
        const char *space, *table, *message; /* the table is t.csv */
    } cases[] = {
        {"{" WALK ", rewards: none.csv}", "",
         "s.yaml:5: cannot open 'none.csv': No such file or directory; looked beside this file and "
         "in the current directory"},
        {"{" WALK ", rewards: t.csv}", "",
         "t.csv: the file is empty, expected the header "
         "state,action,reward"},
        {"{" WALK ", rewards: t.csv}", "state,action\n",
         "t.csv:1: the header is 'state,action', expected state,action,reward"},
        {"{" WALK ", stationary: yes, rewards: t.csv}", "step,state,action,reward\n0,0,0,1\n",
         "t.csv:1: the header is 'step,state,action,reward', expected state,action,reward"},
        {"{" WALK ", rewards: t.csv}", "state,action,reward\n",
         "t.csv: no line follows the header"},
        {"{" WALK ", rewards: t.csv}", "state,action,reward\n0,0,1\n0,1,1\n1,1,1\n",
         "t.csv: state 1, action 0 has no line"},
        {"{" WALK ", rewards: t.csv}", "state,action,reward\n0,0,1\n0,1,1\n0,1,0\n",
         "t.csv:4: state 0, action 1 comes twice; keep one"},
        {"{" WALK ", rewards: t.csv}", "state,action,reward\n0,0,1\n0,1,1\n2,0,0\n",
         "t.csv:4: state is '2', expected a whole number from 0 to 1"},
        {"{" WALK ", rewards: t.csv}", "step,state,action,reward\n3,0,0,1\n",
         "t.csv:2: step is '3', expected a whole number from 0 to 2"},
        {"{" WALK ", rewards: t.csv}", "state,action,reward\n0,0,1\n0,1,1.5\n",
         "t.csv:3: reward is 1.5, expected a number from 0 to 1"},
        {"{" WALK ", rewards: t.csv}", "state,action,reward\n0,0,much\n",
         "t.csv:2: reward is 'much', expected a decimal number"},
        {"{" WALK ", mixture: t.csv}",
         "state,action,part,next_state,probability\n0,0,0,0,1\n0,1,0,0,0.5\n0,1,0,1,0.4\n"
         "1,0,0,0,1\n1,1,0,0,1\n",
         "t.csv:3: the probabilities of state 0, action 1, part 0 sum to 0.9, expected 1"},
        {"{" WALK ", mixture: t.csv}", "state,action,part,next_state,probability\n0,0,1,0,1\n",
         "t.csv: state 0, action 0, part 0 has no line"},
        {"{" WALK ", mixture: t.csv}", "state,action,part,next_state,probability\n0,0,0,0,-1\n",
         "t.csv:2: probability is -1, expected a number from 0 to 1"},
        {"{" WALK ", mixture: t.csv}", "state,action,part,next_state,probability\n0,0,4096,0,1\n",
         "t.csv:2: part is '4096', expected a whole number from 0 to 4095"},
        {"{" WALK ", features: t.csv, bound: 1}",
         "state,action,feature,value\n0,0,0,1\n0,1,0,1\n0,1,1,1\n1,0,0,1\n1,1,0,1\n",
         "t.csv:3: the features of state 0, action 1 are 1.41421 long, outside the declared bound "
         "1; raise the bound, or divide all features by a number"},
        {"{" ARMS ", features: t.csv, shared: no}", "state,action,feature,value\n0,0,0,1\n",
         "t.csv:1: the header is 'state,action,feature,value', expected state,feature,value"},
        {"{" ARMS ", features: t.csv, context: 2}",
         "state,action,feature,value\n0,0,0,1\n0,1,0,1\n1,0,0,1\n1,1,0,1\n",
         "s.yaml:5: context is 2, but there are 1 features"},
        {"{states: 1000000, actions: 100000, horizon: 1, features: t.csv}",
         "state,action,feature,value\n0,0,0,1\n",
         "s.yaml:5: the table of features would have more than 134 million numbers"},
        {"{states: 2, features: 3, actions: 2}", "",
         "s.yaml:5: a number of features is for users who bring them; features of numbered states "
         "are in a file, features: FILE"},
        {"{features: 3, actions: 2, rewards: t.csv}", "",
         "s.yaml:5: rewards is for numbered states"},
        {"{features: t.csv, actions: 2, horizon: 1}", "",
         "s.yaml:5: 'states' is missing, expected for example states: 6, or features: 20"},
        {"{" WALK ", features: t.csv, kernel: linear}", "",
         "s.yaml:5: kernel is for horizon 1 and features in a file"},
        {"{" ARMS ", context: 1}", "", "s.yaml:5: context is for horizon 1 and features in a file"},
        {"{" WALK ", features: t.csv, shared: no}", "",
         "s.yaml:5: shared: no is for features and horizon 1"},
        {"{" WALK ", rewards: []}", "", "s.yaml:5: rewards is a list, expected a text"},
        {"{" ARMS ", features: f.csv, weights: t.csv}", "state,probability\n1,0.5\n0,0.4\n",
         "t.csv:2: the probabilities sum to 0.9, expected 1"},
        {"{" ARMS ", features: f.csv, weights: t.csv}", "state,probability\n0,0.5\n0,0.5\n",
         "t.csv:3: state 0 comes twice; keep one"},
        {"{" ARMS ", features: f.csv, weights: t.csv}", "state,probability\n0,1.5\n1,-0.5\n",
         "t.csv:2: probability is 1.5, expected a number from 0 to 1"},
        {"{" ARMS ", features: f.csv, weights: t.csv}", "state,probability\n2,1\n",
         "t.csv:2: state is '2', expected a whole number from 0 to 1"},
        {"{" WALK ", features: f.csv, weights: t.csv}", "",
         "s.yaml:5: weights is for horizon 1 and features in a file"},
        {"{features: 3, actions: 2, weights: t.csv}", "",
         "s.yaml:5: weights is for horizon 1 and features in a file"},
        {"{features: 3, actions: 2, parameter_norm: 0}", "",
         "s.yaml:5: parameter_norm is '0', expected a number > 0 and up to 1000000"},
        {"{features: 3, actions: 2, parameter_norm: nan}", "",
         "s.yaml:5: parameter_norm is 'nan', expected a number > 0 and up to 1000000"},
        {"{" ARMS ", parameter_norm: 1}", "",
         "s.yaml:5: parameter_norm is for features and horizon 1: leave it out"},
        {"{features: 3, actions: 2, horizon: 2, parameter_norm: 1}", "",
         "s.yaml:5: parameter_norm is for features and horizon 1: leave it out"},
        {"{features: 3, actions: 3, shared: no, complementary: yes}", "",
         "s.yaml:5: complementary: yes (two rewards that sum to 1) needs actions: 2 and shared: "
         "no; actions is 3, shared is no"},
        {"{features: 3, actions: 2, complementary: yes}", "",
         "s.yaml:5: complementary: yes (two rewards that sum to 1) needs actions: 2 and shared: "
         "no; actions is 2, shared is yes"},
        {"{features: 3, actions: 2, shared: no, complementary: 1}", "",
         "s.yaml:5: complementary is '1', expected no or yes"},
        {"{features: 3, actions: 2, simplex: yes}", "",
         "s.yaml:5: simplex is for features that users bring, features: N, and a horizon from 2; "
         "horizon is 1: leave it out"},
        {"{" WALK ", simplex: yes}", "",
         "s.yaml:5: simplex is for features that users bring, features: N, and a horizon from 2: "
         "leave it out"},
        {"{" WALK ", features: f.csv, simplex: yes}", "",
         "s.yaml:5: simplex is for features that users bring, features: N; whether those of a file "
         "sum to 1 is looked up there: leave it out"},
        {"{features: 3, actions: 2, horizon: 2, simplex: yes, bound: 0.5}", "",
         "s.yaml:5: bound is 0.5, but features that sum to 1 (simplex: yes) are up to 1 long: "
         "leave bound out"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        tacit__service_config c;
        tacit_error err = {0};
        write_file("t.csv", cases[i].table);
        assert_true(read_service(cases[i].space, &c, &err) != TACIT_OK);
        const char *shown = strrchr(err.message, '/'); /* without the directory */
        while (shown != NULL && shown > err.message && strncmp(shown, "/t.csv", 6) != 0 &&
               strncmp(shown, "/s.yaml", 7) != 0)
            shown--;
        assert_non_null(shown);
        assert_string_equal(shown + 1, cases[i].message);
    }
}

TEST(tables_survive_every_failing_allocation)
{
    tacit__service_config c;
    for (uint64_t n = 1;; n++) {
        tacit__alloc_fail_at(n);
        tacit_status status =
            read_service("{" WALK ", rewards: r.csv, mixture: m.csv, features: f.csv}", &c, NULL);
        bool failed = tacit__alloc_has_failed();
        tacit__alloc_fail_at(0);
        assert_true(status == (failed ? TACIT_NO_MEMORY : TACIT_OK));
        if (!failed)
            break;
    }
    tacit__service_config_free(&c);
}

TEST(a_file_tells_its_promises_or_that_there_is_no_memory)
{
    static const char path[] = TACIT_TESTS_DIR "/../examples/service/service.yaml";
    tacit_service_file *file = NULL;
    tacit_plan *plan = NULL;
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
    assert_true(l->monitor.epsilon == 0.1 &&
                l->together.epsilon == l->request->guarantee.epsilon + 0.1);
    assert_int_equal(tacit_plan_size(plan), 1);
    tacit_plan_destroy(plan);
    tacit_service_file_destroy(file);
}

/* --- Kinds that need what is not declared --------------------------------------------------------- */

TEST(a_kind_says_which_key_it_needs)
{
    static const struct {
        const char *kind, *space, *message;
    } cases[] = {
        {"ucrl-vtr", "{" WALK "}",
         "ucrl-vtr needs to know the rewards; linopt-vi learns them, and a service may declare "
         "them, "
         "space: {rewards: FILE}"},
        {"capri", "{" ARMS "}",
         "capri needs numbered contexts and features for each of their actions, as in "
         "kernel-bandit, or linear-bandit with shared arms and contexts > 0; in a service, space: "
         "{states: 20, horizon: 1, features: FILE}"},
        {"gp-ucb", "{features: 3, actions: 2}",
         "gp-ucb needs numbered contexts and features for each of their actions, as in "
         "kernel-bandit, or linear-bandit with shared arms and contexts > 0; in a service, space: "
         "{states: 20, horizon: 1, features: FILE}"},
        {"lin-ucb", "{" WALK "}",
         "lin-ucb is for bandit worlds: linear-bandit, kernel-bandit, logged-bandit; in a service, "
         "space: {features: 20}"},
        {"ucbvi", "{features: 3, actions: 2}",
         "ucbvi counts states, so they must be numbered; in a service, space: {states: 6}"},
        {"linopt-vi", "{features: 3, actions: 2, horizon: 2}",
         "linopt-vi needs numbered states; in a service, space: {states: 6}"},
        {"lsvi-ucb", "{features: 3, actions: 2}",
         "lsvi-ucb needs numbered states, or features at two steps or more; lin-ucb learns from "
         "features at one"},
    };
    char yaml[600], text[4000], path[300];
    for (size_t i = 0; i < N_OF(cases); i++) {
        server s;
        int code = 0;
        (void)snprintf(yaml, sizeof yaml,
                       "listen: 127.0.0.1:0\nstore: service.db\nlearners:\n  - {name: a, users: "
                       "9, space: %s, agent: {kind: %s, privacy: {model: none}}}\n",
                       cases[i].space, cases[i].kind);
        server_open(&s, TACIT_COMMAND, yaml);
        assert_false(server_start(&s, &code));
        assert_int_equal(code, 2);
        (void)snprintf(path, sizeof path, "%s/err", s.directory);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        (void)fclose(file);
        (void)snprintf(yaml, sizeof yaml, "tacit: service.yaml:4: %s\n", cases[i].message);
        assert_string_equal(text, yaml);
        server_close(&s);
    }
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
    char text[256];
    (void)snprintf(text, sizeof text, "rm -rf '%s'", directory);
    return system(text);
}

int main(void)
{
    return test_run(open_directory, remove_directory);
}
