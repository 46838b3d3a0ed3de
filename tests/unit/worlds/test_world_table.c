/* Worlds from tables: what is read, what is refused and in which words, and a real one. */
#include "support/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/cases.h"
#include "worlds/kind.h"
#include "worlds/kinds/table.h"

SCOPED_TYPE(tacit__mdp, tacit__mdp_destroy)

#define HEADER "state,action,next_state,probability,reward\n"
/* State 0: stay and earn nothing, or a coin that leads to 1 and pays there; state 1 keeps. */
#define GOOD HEADER "0,0,0,1,0\n0,1,0,0.5,0\n0,1,1,0.5,1\n1,0,1,1,0\n1,1,1,1,0\n"

static tacit_status parse(const char *transitions, size_t size, const char *initial, double low,
                          double high, tacit__mdp **out, tacit_error *err)
{
    const tacit__table_source source = {
        .transitions = {transitions, size},
        .initial = {initial, initial != NULL ? strlen(initial) : 0},
        .transitions_name = "t.csv",
        .initial_name = "i.csv",
        .horizon = 3,
        .reward_low = low,
        .reward_high = high,
    };
    return tacit__table_create(&source, out, err);
}

static tacit__mdp *accept(const char *transitions, const char *initial)
{
    tacit__mdp *mdp = NULL;
    tacit_error err = {.message = ""};
    tacit_status status = parse(transitions, strlen(transitions), initial, 0, 1, &mdp, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return mdp;
}

TEST(a_table_is_read_line_by_line)
{
    static const char *const same[] = {
        GOOD,
        /* Windows, a byte order mark, blanks, blank lines, and no end of the last line. */
        "\xef\xbb\xbfstate, action "
        ",next_state,probability,reward\r\n0,0,0,1,0\r\n\r\n0,1,0,.5,0\r\n"
        "0,1,1,5e-1,1\r\n 1 ,\t0,1,1,0\r\n1,1,1,1,0\r\n\r\n \n",
        /* Any order, impossible outcomes, halves that are added up. */
        HEADER
        "1,1,1,1,0\n0,1,1,0.25,1\n0,1,0,0.5,0\n1,0,1,1,0\n1,0,0,0,1\n0,0,0,1,0\n0,1,1,0.25,1",
        /* Probabilities that were printed with seven digits. */
        HEADER
        "0,0,0,1.0000000,0\n0,1,0,0.5000001,0\n0,1,1,0.4999998,1\n1,0,1,0.9999999,0\n1,1,1,1,0\n",
    };
    double scratch[4];
    for (size_t k = 0; k < N_OF(same); k++) {
        SCOPED(tacit__mdp) *mdp = accept(same[k], NULL);
        assert_int_equal(mdp->n_states, 2);
        assert_int_equal(mdp->n_actions, 2);
        assert_int_equal(mdp->n_outcomes, 5);
        assert_within(tacit__mdp_solve(mdp, NULL, NULL, scratch), 0.875 - 1e-6, 0.875 + 1e-6);
    }
}

TEST(thirds_may_be_written_with_six_digits)
{
    SCOPED(tacit__mdp) *mdp = accept(HEADER "0,0,0,0.333333,0\n0,0,1,0.333333,0\n0,0,2,0.333333,0\n"
                                            "1,0,1,1,0\n2,0,2,1,0\n",
                                     NULL);
    assert_int_equal(mdp->n_states, 3);
}

TEST(lines_of_one_next_state_may_pay_differently)
{
    SCOPED(tacit__mdp) *mdp = accept(HEADER "0,0,0,0.5,0\n0,0,0,0.5,1\n", NULL);
    double scratch[2];
    assert_int_equal(mdp->n_outcomes, 2);
    assert_true(tacit__mdp_solve(mdp, NULL, NULL, scratch) == 1.5);
}

TEST(the_initial_distribution_is_read)
{
    double scratch[4];
    SCOPED(tacit__mdp) *mdp = accept(GOOD, "state,probability\n1,0.25\n0,0.75\n");
    assert_true(tacit__mdp_solve(mdp, NULL, NULL, scratch) == 0.75 * 0.875);
    assert_int_equal(mdp->n_unreachable, 0);
    tacit__mdp_destroy(mdp);
    mdp = accept(GOOD, "state,probability\n1,1\n");
    assert_int_equal(mdp->n_unreachable, 1);
    assert_int_equal(mdp->unreachable[0], 0);
}

/* The end is one state more, without lines: never left, and without rewards in the table's units. */
TEST(a_table_may_lead_to_the_end)
{
    static const char text[] = HEADER "0,0,0,0.5,-1\n0,0,terminal,0.5,1\n1,0, terminal ,1,0\n";
    tacit__mdp *mdp = NULL;
    double scratch[6], values[12];
    assert_ok(parse(text, sizeof text - 1, "state,probability\n0,1\n", -1, 1, &mdp, NULL));
    assert_int_equal(mdp->n_states, 3);
    assert_int_equal(mdp->n_outcomes, 4);
    /* mapped to [0, 1]: 0 becomes 1/2; from state 0 one step is worth 1/2 */
    (void)tacit__mdp_solve(mdp, NULL, values, scratch);
    assert_true(values[2] == 0.5 * (double)mdp->horizon);
    tacit__mdp_destroy(mdp);
    tacit_error err;
    assert_status(parse(text, sizeof text - 1, NULL, 0.5, 1, &mdp, &err), TACIT_OUT_OF_BOUND);
    static const char gain[] = HEADER "0,0,0,0.5,1\n0,0,terminal,0.5,2\n";
    assert_status(parse(gain, sizeof gain - 1, NULL, 1, 2, &mdp, &err), TACIT_OUT_OF_BOUND);
    assert_string_equal(err.message,
                        "t.csv:3: next_state is terminal, where rewards are 0, outside the "
                        "declared [1, 2]; set reward_low to 0");
}

static void refuse(char *text, char answer[CASE_TEXT])
{
    tacit__mdp *mdp = NULL;
    tacit_error err = {.message = ""};
    char *initial = strstr(text, "--- initial\n");
    size_t size = initial != NULL ? (size_t)(initial - text) : strlen(text);
    tacit_status status =
        parse(text, size, initial != NULL ? case_rest(initial) : NULL, 0, 1, &mdp, &err);
    assert_null(mdp);
    case_answer(answer, status, &err);
}

TEST(damaged_tables_are_explained)
{
    cases_run("unit/cases/world_table",
              (const case_word[]){{"$HEADER\n", HEADER}, {"$GOOD\n", GOOD}, {0}}, refuse);
}

TEST(bytes_that_cannot_be_shown_are_not_shown)
{
    static const char text[] = HEADER "0,0,\0\x1b[31m,1,0\n";
    tacit__mdp *mdp = NULL;
    tacit_error err;
    assert_status(parse(text, sizeof text - 1, NULL, 0, 1, &mdp, &err), TACIT_SYNTAX);
    assert_string_equal(err.message,
                        "t.csv:2: next_state is '??[31m', expected a whole number from 0 to "
                        "9999999, or terminal");
}

/* --- Files -------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

TEST(files_are_found_beside_the_experiment)
{
    char folder[] = "/tmp/tacit_table_XXXXXX", transitions[80], initial[80], experiment[80];
    assert_non_null(mkdtemp(folder));
    snprintf(transitions, sizeof transitions, "%s/t.csv", folder);
    snprintf(initial, sizeof initial, "%s/i.csv", folder);
    snprintf(experiment, sizeof experiment, "%s/none.yaml", folder);
    write_file(transitions, GOOD);
    write_file(initial, "state,probability\n0,1\n");
    tacit_setting settings[] = {{"transitions", "t.csv", 3},
                                {"initial", "i.csv", 4},
                                {"horizon", "3", 5},
                                {"reward_low", "-1", 6},
                                {"reward_high", "1", 7}};
    const tacit_world_request request = {SETTINGS_OF(settings, N_OF(settings)), .kind = "table",
                                         .file = experiment, .line = 2};
    tacit_error err = {.message = ""};
    tacit_world *world = NULL;
    assert_ok(tacit_world_create(&request, &world, &err));
    /* Rewards 0 and 1 of [-1, 1] are 1/2 and 1: three steps, one of which may pay. */
    const tacit_world_facts *facts = tacit_world_describe(world);
    assert_true(fabs(facts->optimal_value - (1.5 + 0.875 / 2)) < 1e-14);
    assert_true(fabs(tacit_world_original_value(world, facts->optimal_value) - 0.875) < 1e-14);
    tacit_world_destroy(world);
    world = NULL;

    assert_survives_no_memory(tacit_world_create(&request, &world, &err), assert_null(world));
    tacit_world_destroy(world);
    world = NULL;

    char message[200];
    write_file(transitions, HEADER "0,0,0,1,7\n");
    snprintf(message, sizeof message,
             "%s:2: reward is 7, outside the declared [-1, 1]; set reward_high to 7 or more",
             transitions);
    assert_status(tacit_world_create(&request, &world, &err), TACIT_OUT_OF_BOUND);
    assert_string_equal(err.message, message);

    settings[4].value = "-2";
    snprintf(message, sizeof message,
             "%s:6: reward_low is -1 and reward_high is -2, expected the first to be smaller",
             experiment);
    assert_status(tacit_world_create(&request, &world, &err), TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message, message);

    settings[4].value = "1";
    settings[1].value = "missing.csv";
    snprintf(
        message, sizeof message,
        "%s:4: cannot open 'missing.csv': No such file or directory; looked beside this file and "
        "in the current directory",
        experiment);
    assert_status(tacit_world_create(&request, &world, &err), TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message, message);
    settings[1].value = folder;
    snprintf(message, sizeof message, "%s: cannot read: Is a directory", folder);
    assert_status(tacit_world_create(&request, &world, &err), TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message, message);
    assert_null(world);
    assert_int_equal(remove(transitions), 0);
    assert_int_equal(remove(initial), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* --- The intensive-care process ------------------------------------------------------------------ */

/* In the folder that TACIT_DATA names, or in ../shared/data seen from the project. */
static bool find_sepsis(char *path, size_t size, const char *file)
{
    const char *folder = getenv("TACIT_DATA");
    if (folder != NULL)
        snprintf(path, size, "%s/sepsis/%s", folder, file);
    else
        snprintf(path, size, "%s/../../shared/data/sepsis/%s", TACIT_TESTS_DIR, file);
    return access(path, R_OK) == 0;
}

/* Values computed independently from the files, by plain sums over dictionaries:
 * optimal 0.44450738941575874, uniform play -0.761226803855544. */
TEST(the_sepsis_process_has_its_known_values)
{
    char transitions[600], initial[600];
    if (!find_sepsis(transitions, sizeof transitions, "transitions.csv") ||
        !find_sepsis(initial, sizeof initial, "initial.csv")) {
        print_message("skipped: data not there (%s); set TACIT_DATA\n", transitions);
        skip();
    }
    const tacit_setting settings[] = {{"transitions", transitions, 1},
                                      {"initial", initial, 1},
                                      {"horizon", "20", 1},
                                      {"reward_low", "-1", 1},
                                      {"reward_high", "1", 1}};
    SCOPED(tacit_world) *world = world_of("table", settings, N_OF(settings));
    const tacit_world_facts *facts = tacit_world_describe(world);
    assert_int_equal(facts->n_states, 1440);
    assert_int_equal(facts->n_actions, 8);
    assert_int_equal(tacit__world_mdp(world)->n_outcomes, 53635);
    assert_close(tacit_world_original_value(world, facts->optimal_value), 0.44450738941575874,
                 1e-12);

    size_t n = facts->horizon * facts->n_states * facts->n_actions;
    double *uniform = calloc(n, sizeof *uniform), value;
    SCOPED_FREE double *scratch = calloc(tacit_world_scratch(world), sizeof *scratch);
    assert_non_null(uniform);
    assert_non_null(scratch);
    for (size_t i = 0; i < n; i++)
        uniform[i] = 1.0 / 8;
    assert_ok(tacit_world_evaluate_mixed(world, uniform, scratch, &value));
    assert_close(tacit_world_original_value(world, value), -0.761226803855544, 1e-12);
    /* 193 states are led to by nothing within 20 steps. */
    const uint32_t *unreachable;
    size_t n_unreachable = tacit_world_unreachable(world, &unreachable);
    assert_int_equal(n_unreachable, 193);
    for (size_t i = 1; i < n_unreachable; i++)
        assert_true(unreachable[i] > unreachable[i - 1]);
    free(uniform);
}
