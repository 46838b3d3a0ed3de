/* Tables whose steps differ, and what a user knows about a world: features, kernels, and points of a kernel. */
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/world.h>

static char box[] = "/tmp/tacit-structure-XXXXXX";
static bool has_box;

/* box/name holds this text. */
static const char *put(const char *name, const char *text)
{
    static char paths[8][80];
    static int next;
    char *path = paths[next++ % 8];
    if (!has_box)
        assert_non_null(mkdtemp(box));
    has_box = true;
    (void)snprintf(path, sizeof paths[0], "%s/%s", box, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    return path;
}

static tacit_status make(const char *kind, const tacit_setting *settings, size_t n,
                         tacit_world **out, tacit_error *err)
{
    const tacit_world_request request = {SETTINGS_OF(settings, n), .kind = kind, .file = "f.yaml",
                                         .line = 1};
    return tacit_world_create(&request, out, err);
}

#define STEPS "step,state,action,next_state,probability,reward\n"
/* In step 0 action 0 pays, in step 1 action 1 does; action 1 leads to state 1, where nothing pays in step 1. */
#define TWO_STEPS                                                                                  \
    STEPS "0,0,0,0,1,0.5\n0,0,1,1,1,0\n0,1,0,1,1,0\n0,1,1,1,1,0\n"                                 \
          "1,0,0,0,1,0\n1,0,1,0,0.5,1\n1,0,1,1,0.5,0.2\n1,1,0,1,1,0\n1,1,1,1,1,0\n"

TEST(every_step_has_its_own_transitions)
{
    tacit_world *world = NULL;
    tacit_error err = {0};
    const tacit_setting settings[] = {{"transitions", put("steps.csv", TWO_STEPS), 1},
                                      {"horizon", "2", 1}};
    assert_ok(make("table", settings, 2, &world, &err));
    const tacit_world_facts *facts = tacit_world_describe(world);
    assert_false(facts->stationary);
    assert_int_equal(facts->n_states, 2);
    /* stay for 0.5, then the coin: 0.5 * 1 + 0.5 * 0.2 */
    assert_close(facts->optimal_value, 0.5 + 0.6, 1e-12);
    double *scratch = calloc(tacit_world_scratch(world), sizeof *scratch), value;
    assert_ok(tacit_world_evaluate(world, (const uint32_t[]){1, 0, 1, 0}, scratch, &value));
    assert_close(value, 0, 1e-12); /* to state 1 at once */
    assert_ok(tacit_world_evaluate(world, (const uint32_t[]){0, 0, 0, 0}, scratch, &value));
    assert_close(value, 0.5, 1e-12);
    free(scratch);
    tacit_world_destroy(world);
}

TEST(a_stepped_table_that_is_not_whole_is_refused)
{
    static const struct {
        const char *text, *horizon, *says;
    } cases[] = {
        {TWO_STEPS, "3",
         "step 2, state 0, action 0 has no line; each of the 2 states needs all 2 "
         "actions in every step (to stay for ever: 2,0,0,0,1,0)"},
        {TWO_STEPS, "1", "step is '1', expected a whole number from 0 to 0"},
        {STEPS "0,0,0,0,0.5,0\n", "1", "sum to 0.5"},
        {"step,state,action,next_state,probability\n0,0,0,0,1\n", "1", "step,state,action"},
        {STEPS, "1", "no line follows the header"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tacit_world *world = NULL;
        tacit_error err = {0};
        const tacit_setting settings[] = {{"transitions", put("bad.csv", cases[i].text), 1},
                                          {"horizon", cases[i].horizon, 1}};
        assert_true(make("table", settings, 2, &world, &err) != TACIT_OK);
        if (strstr(err.message, cases[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, cases[i].says);
    }
}

#define TABLE                                                                                      \
    "state,action,next_state,probability,reward\n0,0,0,1,0\n0,1,1,1,0.5\n1,0,0,0.5,1\n1,0,1,0.5,"  \
    "1\n"                                                                                          \
    "1,1,1,1,0\n"

static tacit_status with(const char *key, const char *text, tacit_world **out, tacit_error *err)
{
    const tacit_setting settings[] = {{"transitions", put("table.csv", TABLE), 1},
                                      {"horizon", "3", 1},
                                      {key, put("structure.csv", text), 4}};
    return make("table", settings, 3, out, err);
}

TEST(features_are_those_of_the_file)
{
    tacit_world *world = NULL;
    tacit_error err = {0};
    assert_ok(with("features", "state,action,a,b\n1,1,0.1,0.9\n0,0,1,0\n0,1,0,1\n1,0,0.5,0.5\n",
                   &world, &err));
    const tacit_linear *linear = tacit_world_describe(world)->linear;
    double row[2];
    assert_int_equal(linear->dimension, 2);
    assert_true(linear->simplex && linear->bound == 1);
    linear->row(linear->context, 1, 1, row);
    assert_true(row[0] == 0.1 && row[1] == 0.9);
    tacit_world_destroy(world);
    static const char *const bad[][2] = {
        {"state,action,a\n0,0,1\n1,0,1\n1,1,1\n", "state 0, action 1 has no line"},
        {"state,action,a\n0,0,1\n0,0,1\n", "structure.csv:3: state 0, action 0 comes twice"},
        {"state,action,a\n0,0,1.5\n", "length 1.5, expected at most 1"},
        {"state,action\n0,0\n", "a column for each feature"},
        {"state,action,a\n0,0,x\n", "feature is 'x'"},
        {"state,action,a\n0,2,1\n", "action is '2'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(with("features", bad[i][0], &world, &err) != TACIT_OK);
        if (strstr(err.message, bad[i][1]) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, bad[i][1]);
    }
}

/* The end of an episode is a state that no file lists: features 0, and every kernel stays there. */
TEST(the_end_of_an_episode_needs_no_lines)
{
    tacit_world *world = NULL;
    tacit_error err = {0};
    const char *table =
        put("table.csv", STEPS "0,0,0,0,1,0\n0,0,1,terminal,1,1\n1,0,0,0,1,0\n1,0,1,"
                               "terminal,1,0.5\n");
    const char *features = put("structure.csv", "state,action,a\n0,0,0\n0,1,1\n");
    const tacit_setting linear[] = {
        {"transitions", table, 1}, {"horizon", "2", 1}, {"features", features, 1}};
    assert_ok(make("table", linear, 3, &world, &err));
    double row[2] = {7, 7};
    const tacit_world_facts *facts = tacit_world_describe(world);
    assert_int_equal(facts->n_states, 2);
    assert_close(facts->optimal_value, 1, 1e-12);
    facts->linear->row(facts->linear->context, 1, 0, row);
    assert_true(row[0] == 0 && !facts->linear->simplex);
    tacit_world_destroy(world);
    const char *kernels =
        put("structure.csv", "kernel,state,action,next_state,probability\n0,0,0,0,1\n0,0,1,1,1\n");
    const tacit_setting mixture[] = {
        {"transitions", table, 1}, {"horizon", "2", 1}, {"kernels", kernels, 1}};
    assert_ok(make("table", mixture, 3, &world, &err));
    facts = tacit_world_describe(world);
    facts->mixture->row(facts->mixture->context, 1, 0, row);
    assert_true(row[0] == 0 && row[1] == 1);
    tacit_world_destroy(world);
}

TEST(kernels_are_those_of_the_file)
{
    tacit_world *world = NULL;
    tacit_error err = {0};
#define FIRST                                                                                      \
    "kernel,state,action,next_state,probability\n0,0,0,0,1\n0,0,1,1,1\n0,1,0,0,1\n0,1,1,1,1\n"
    assert_ok(with("kernels", FIRST "1,0,0,0,1\n1,0,1,1,1\n1,1,0,1,1\n1,1,1,1,1\n", &world, &err));
    const tacit_mixture *mixture = tacit_world_describe(world)->mixture;
    double rows[4];
    assert_int_equal(mixture->dimension, 2);
    assert_true(mixture->kernels && mixture->nonnegative);
    mixture->row(mixture->context, 1, 0, rows); /* [kernel][next] */
    const double one =
        1 / sqrt(2); /* divided by sqrt(d), so that predictions have length 1 at most */
    assert_true(rows[0] == one && rows[1] == 0 && rows[2] == 0 && rows[3] == one);
    tacit_world_destroy(world);
    static const char *const bad[][2] = {
        {FIRST "1,0,0,0,1\n1,1,1,1,1\n", "kernel 1, state 0, action 1 sum to 0, expected 1"},
        {FIRST "0,0,0,0,1\n", "kernel 0, state 0, action 0 sum to 2, expected 1"},
        {"kernel,state,action,next_state,probability\n", "no line follows the header"},
        {"kernel,state,action,next_state,probability\n0,0,0,0,-1\n", "probability is -1"},
        {"kernel,state,action,next_state,probability\n0,5,0,0,1\n", "state is '5'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(with("kernels", bad[i][0], &world, &err) != TACIT_OK);
        if (strstr(err.message, bad[i][1]) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, bad[i][1]);
    }
}

static tacit_status with_points(const char *text, tacit_world **out, tacit_error *err)
{
    const tacit_setting settings[] = {
        {"contexts", "2", 1},
        {"actions", "2", 1},
        {"context_d", "2", 1},
        {"context_points", put("points.csv", text), 5},
        {"file",
         put("means.csv", "context,action,mean\n0,0,0.2\n0,1,0.8\n1,0,"
                          "0.6\n1,1,0.1\n"),
         6}};
    return make("kernel-bandit", settings, 5, out, err);
}

TEST(points_of_a_kernel_are_those_of_the_file)
{
    tacit_world *world = NULL;
    tacit_error err = {0};
    assert_ok(with_points("context,age,place\n1,0.25,0.75\n0,0.5,1\n", &world, &err));
    const tacit_bandit *bandit = tacit_world_describe(world)->bandit;
    assert_int_equal(bandit->dimension, 3);
    assert_int_equal(bandit->context_dimension, 2);
    static const double points[2][2][3] = {{{0.5, 1, 0}, {0.5, 1, 1}},
                                           {{0.25, 0.75, 0}, {0.25, 0.75, 1}}};
    assert_memory_equal(bandit->points, points, sizeof points);
    tacit_world_destroy(world);
    static const char *const bad[][2] = {
        {"context,age\n0,1\n1,1\n",
         "the header has 2 columns, expected 'context' and 2 coordinates"},
        {"context,a,b\n0,1,1\n", "1 points, expected one for each of the 2 contexts"},
        {"context,a,b\n0,1,1\n0,1,1\n", "context 0 comes twice"},
        {"context,a,b\n2,1,1\n", "context is '2'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(with_points(bad[i][0], &world, &err) != TACIT_OK);
        if (strstr(err.message, bad[i][1]) == NULL)
            fail_msg("'%s' does not say '%s'", err.message, bad[i][1]);
    }
}

TEST(nothing_is_left_behind)
{
    static const char *const names[] = {"steps.csv",     "bad.csv",    "table.csv",
                                        "structure.csv", "points.csv", "means.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(unlink(fmt("%s/%s", box, names[i])), 0);
    }
    assert_int_equal(rmdir(box), 0);
}
