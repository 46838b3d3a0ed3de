/* Experiment files: defaults, and every kind of mistake with its line and remedy. */
#include "support/cases.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/lab.h>

#include "base/memory.h"

static tacit_experiment *parse(const char *text, const tacit_experiment_changes *changes)
{
    tacit_experiment *e = NULL;
    tacit_error err = {.message = ""};
    tacit_status status =
        tacit_experiment_parse(text, strlen(text), "dir/f.yaml", changes, &e, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return e;
}

static void assert_refused(const char *text, const char *wanted)
{
    tacit_experiment *e = NULL;
    tacit_error err = {.message = ""};
    tacit_status status = tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err);
    if (strstr(err.message, wanted) != err.message)
        print_error("got '%s'\nexpected '%s...'\n", err.message, wanted);
    assert_ptr_equal(strstr(err.message, wanted), err.message);
    assert_status(status, TACIT_SYNTAX);
    assert_null(e);
}

/* A paper that prints noise for delta 0 only gets that delta where none is written. */
TEST(no_delta_is_filled_in_that_a_calibration_refuses)
{
    static const struct {
        const char *privacy;
        tacit_calibration calibration;
        double delta;
    } cases[] = {{"calibration: published", TACIT_CALIBRATION_PUBLISHED, 0},
                 {"noise: published", TACIT_CALIBRATION_NOISE, 0},
                 {"calibration: figure", TACIT_CALIBRATION_FIGURE, 0},
                 {"noise: published, delta: 1e-6", TACIT_CALIBRATION_NOISE, 1e-6},
                 {"noise: tight", TACIT_CALIBRATION_TIGHT, 1e-4},
                 {"sums: tree", TACIT_CALIBRATION_TIGHT, 1e-4}};
    for (size_t i = 0; i < N_OF(cases); i++) {
        char text[300];
        (void)snprintf(text, sizeof text,
                       "world: {kind: riverswim}\nepisodes: 1000\nagents:\n  - {kind: dp-ucbvi, "
                       "privacy: {model: joint, epsilon: 1, %s}}\n",
                       cases[i].privacy);
        SCOPED(tacit_experiment) *e = parse(text, NULL);
        const tacit_entry *a = &tacit_experiment_describe(e)->agents[0];
        assert_int_equal(a->calibration, cases[i].calibration);
        assert_close(a->guarantee.delta, cases[i].delta, 1e-15);
        assert_int_equal(a->delta_chosen, cases[i].delta == 1e-4);
    }
}

TEST(everything_that_is_written_is_read)
{
    SCOPED(tacit_experiment) *e =
        parse("title: T\n"
              "world: {kind: riverswim, states: 7}\n"
              "episodes: 1000\n"
              "runs: 3\n"
              "seed: 9\n"
              "agents:\n"
              "  - {label: A b, kind: ucbvi, bonus_scale: 0.5, outside: clip}\n"
              "  - kind: dp-ucbvi\n"
              "    privacy: {model: local, epsilon: 2, delta: 0,\n"
              "              calibration: published, sums: tree}\n"
              "  - {kind: optimal}\n",
              NULL);
    const tacit_experiment_facts *f = tacit_experiment_describe(e);
    assert_string_equal(f->title, "T");
    assert_int_equal(f->n_worlds, 1);
    assert_string_equal(f->worlds[0].kind, "riverswim");
    assert_string_equal(f->worlds[0].label, "riverswim");
    assert_int_equal(f->worlds[0].n_settings, 1);
    assert_string_equal(f->worlds[0].settings[0].key, "states");
    assert_string_equal(f->worlds[0].settings[0].value, "7");
    assert_int_equal(f->episodes, 1000);
    assert_int_equal(f->runs, 3);
    assert_int_equal(f->seed, 9);
    assert_int_equal(f->n_agents, 3);
    assert_string_equal(f->agents[0].label, "A b");
    assert_int_equal(f->agents[0].n_settings, 1);
    assert_int_equal(f->agents[0].outside, TACIT_OUTSIDE_CLIP);
    assert_int_equal(f->agents[0].settings[0].line, 7);
    assert_int_equal(f->agents[0].guarantee.model, TACIT_MODEL_NONE);
    const tacit_entry *b = &f->agents[1];
    assert_string_equal(b->label, "dp-ucbvi");
    assert_int_equal(b->n_settings, 0);
    assert_int_equal(b->guarantee.model, TACIT_MODEL_LOCAL);
    assert_true(b->guarantee.epsilon == 2 && b->guarantee.delta == 0);
    assert_int_equal(b->calibration, TACIT_CALIBRATION_PUBLISHED);
    assert_string_equal(b->sums, "tree");
    assert_int_equal(b->line, 8);
    assert_false(b->baseline);
    assert_int_equal(b->outside, TACIT_OUTSIDE_REFUSE);
    assert_true(f->agents[2].baseline);
}

TEST(what_is_left_out_has_its_default)
{
    SCOPED(tacit_experiment) *e =
        parse("world: {kind: riverswim}\nepisodes: 500\nagents:\n"
              "  - {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n"
              "  - {label: n, kind: dp-ucbvi, privacy: {model: joint, epsilon: "
              ".inf, calibration: figure, sums: blt}}\n"
              "  - {label: m, kind: dp-ucbvi, privacy: {model: none, epsilon: .Inf}}\n",
              NULL);
    const tacit_experiment_facts *f = tacit_experiment_describe(e);
    assert_string_equal(f->title, "f.yaml");
    assert_int_equal(f->runs, 1);
    assert_int_equal(f->seed, 1);
    assert_close(f->agents[0].guarantee.delta, 1.0 / 5000, 1e-15);
    assert_int_equal(f->agents[0].calibration, TACIT_CALIBRATION_TIGHT);
    assert_null(f->agents[0].sums);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(f->agents[i].guarantee.model, TACIT_MODEL_NONE);
        assert_int_equal(f->agents[i].calibration, TACIT_CALIBRATION_TIGHT);
        assert_null(f->agents[i].sums);
    }
}

TEST(what_is_asked_for_outside_the_file_wins)
{
    const tacit_experiment_changes changes = {.episodes = 20, .runs = 7};
    tacit_experiment *e = parse("world: {kind: riverswim}\nruns: 2\nagents:\n"
                                "  - {kind: dp-ucbvi, privacy: {model: joint, epsilon: 1}}\n",
                                &changes);
    const tacit_experiment_facts *f = tacit_experiment_describe(e);
    assert_int_equal(f->episodes, 20);
    assert_int_equal(f->runs, 7);
    assert_close(f->agents[0].guarantee.delta, 1.0 / 200, 1e-15);
    tacit_experiment_destroy(e);
    const tacit_experiment_changes wrong = {.runs = TACIT_MAX_RUNS + 1};
    static const char text[] = "world: {kind: riverswim}\nepisodes: 2\nagents: [{kind: uniform}]\n";
    tacit_error err;
    assert_status(tacit_experiment_parse(text, strlen(text), "f", &wrong, &e, &err),
                  TACIT_BAD_ARGUMENT);
}

#define HEAD "world: {kind: riverswim}\nepisodes: 10\nagents:\n  - "

static void refuse(char *text, char answer[CASE_TEXT])
{
    tacit_experiment *e = NULL;
    tacit_error err = {.message = ""};
    assert_status(tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err), TACIT_SYNTAX);
    assert_null(e);
    (void)snprintf(answer, CASE_TEXT, "%s", err.message);
}

TEST(mistakes_are_named_with_line_and_remedy)
{
    cases_run("unit/cases/experiment", (const case_word[]){{"$HEAD", HEAD}, {0}}, refuse);
}

/* The rule of labels: what stands in a list names itself, in the file's order, the last list changing fastest. */
TEST(lists_of_values_expand_to_their_product)
{
    SCOPED(tacit_experiment) *e =
        parse("worlds:\n  - {label: river, kind: riverswim, states: [4, 6], mirror: no}\n"
              "  - {kind: deep-sea}\n"
              "episodes: 10\nruns: 3\nagents:\n"
              "  - {label: j, kind: dp-ucbvi, bonus_scale: [1, 0.5],\n"
              "     privacy: {model: [joint, local], epsilon: [.inf, 2], delta: 0}}\n"
              "  - {kind: ucbvi, failure: [0.1], worlds: [river]}\n"
              "  - {kind: uniform, worlds: [river states 6, deep-sea]}\n",
              NULL);
    static const char *const worlds[] = {"river states 4", "river states 6", "deep-sea"};
    static const char *const agents[] = {"j bonus_scale 1 model joint epsilon .inf",
                                         "j bonus_scale 1 model joint epsilon 2",
                                         "j bonus_scale 1 model local epsilon .inf",
                                         "j bonus_scale 1 model local epsilon 2",
                                         "j bonus_scale 0.5 model joint epsilon .inf",
                                         "j bonus_scale 0.5 model joint epsilon 2",
                                         "j bonus_scale 0.5 model local epsilon .inf",
                                         "j bonus_scale 0.5 model local epsilon 2",
                                         "ucbvi failure 0.1",
                                         "uniform"};
    const tacit_experiment_facts *f = tacit_experiment_describe(e);
    assert_int_equal(f->n_worlds, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(f->worlds[i].label, worlds[i]);
    assert_string_equal(f->worlds[1].settings[0].value, "6");
    assert_string_equal(f->worlds[1].settings[1].value, "no");
    assert_int_equal(f->worlds[1].n_settings, 2);
    assert_int_equal(f->n_agents, 10);
    for (size_t i = 0; i < 10; i++)
        assert_string_equal(f->agents[i].label, agents[i]);
    assert_int_equal(f->agents[0].guarantee.model, TACIT_MODEL_NONE);
    assert_int_equal(f->agents[3].guarantee.model, TACIT_MODEL_LOCAL);
    assert_true(f->agents[3].guarantee.epsilon == 2);
    assert_string_equal(f->agents[5].settings[0].value, "0.5");
    assert_int_equal(f->n_jobs, 3 * (8 * 3 + 2 + 2));
    assert_true(tacit_experiment_plays(e, 2, 0) && tacit_experiment_plays(e, 1, 8));
    assert_false(tacit_experiment_plays(e, 2, 8) || tacit_experiment_plays(e, 0, 9));
    assert_true(tacit_experiment_plays(e, 1, 9));
    assert_false(tacit_experiment_plays(e, 3, 0) || tacit_experiment_plays(e, 0, 10));
}

/* Counted, not tried: ten lists of a hundred values. */
TEST(a_grid_that_is_too_large_is_counted_and_refused)
{
    char text[1 << 16];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   "world: {kind: riverswim}\nepisodes: 5\n"
                                   "agents:\n  - kind: ucbvi\n");
    static const char *const keys[] = {"bonus_scale", "failure", "a", "b", "c",
                                       "d",           "e",       "f", "g", "h"};
    for (size_t k = 0; k < 10; k++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "    %s: [", keys[k]);
        for (int i = 0; i < 100; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%d, ", i);
        used += (size_t)snprintf(text + used, sizeof text - used, "]\n");
        if (k == 1) {
            const tacit_experiment_changes few = {.max_jobs = 9999}, enough = {.max_jobs = 10000};
            SCOPED(tacit_experiment) *e = NULL;
            tacit_error err;
            assert_status(tacit_experiment_parse(text, used, "f", &few, &e, &err), TACIT_TOO_LARGE);
            assert_int_equal(err.hint, TACIT_HINT_RAISE_JOBS);
            assert_string_equal(err.message, "f: 10000 jobs: 10000 agents in 1 world, 1 run");
            assert_ok(tacit_experiment_parse(text, used, "f", &enough, &e, &err));
            assert_int_equal(tacit_experiment_describe(e)->n_agents, 10000);
        }
    }
    assert_refused(text, "f: more than 10^19 jobs: ");
}

TEST(worlds_and_agents_name_the_line_of_their_own_mistakes)
{
    SCOPED(tacit_world) *world = NULL;
    tacit_agent *agent = NULL;
    tacit_error err;
    SCOPED(tacit_experiment) *e = parse("episodes: 10\nworld:\n  kind: riverswim\n  states: 1\n"
                                        "agents: [{kind: uniform}]\n",
                                        NULL);
    assert_status(tacit_experiment_world(e, 0, &world, &err), TACIT_BAD_ARGUMENT);
    assert_ptr_equal(strstr(err.message, "dir/f.yaml:4: "), err.message);
    tacit_experiment_destroy(e);
    e = parse("episodes: 10\nworld: {kind: riverswim}\nagents:\n  - kind: ucbvi\n"
              "    bonus_scale: much\n  - {kind: uniform}\n"
              "  - {label: p, kind: ucbvi, privacy: {model: local, epsilon: 1}}\n",
              NULL);
    assert_ok(tacit_experiment_world(e, 0, &world, &err));
    assert_status(tacit_experiment_agent(e, 0, world, 0, 0, &agent, &err), TACIT_BAD_ARGUMENT);
    assert_ptr_equal(strstr(err.message, "dir/f.yaml:5: "), err.message);
    assert_status(tacit_experiment_agent(e, 0, world, 1, 0, &agent, &err), TACIT_UNSUPPORTED);
    assert_status(tacit_experiment_agent(e, 0, world, 2, 0, &agent, &err), TACIT_UNSUPPORTED);
    assert_ptr_equal(strstr(err.message, "dir/f.yaml:7: "), err.message);
    assert_status(tacit_experiment_agent(e, 0, world, 3, 0, &agent, &err), TACIT_BAD_ARGUMENT);
    assert_null(agent);
}

TEST(running_out_of_memory_is_told)
{
    static const char text[] = HEAD "{kind: ucbvi, bonus_scale: [1, 2]}\n";
    SCOPED(tacit_experiment) *e = NULL;
    tacit_error err;
    assert_survives_no_memory(tacit_experiment_parse(text, strlen(text), "f", NULL, &e, &err),
                              assert_null(e));
}

/* --- The examples ------------------------------------------------------------------------------------ */

/* What is forgotten in an example is copied. */
TEST(examples_have_their_privacy_written)
{
    glob_t found;
    assert_int_equal(glob(TACIT_TESTS_DIR "/../examples/*.yaml", 0, NULL, &found), 0);
    assert_int_equal(glob(TACIT_TESTS_DIR "/../examples/papers/*.yaml", GLOB_APPEND, NULL, &found),
                     0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        SCOPED(tacit_experiment) *e = NULL;
        tacit_error err = {0};
        if (tacit_experiment_read(found.gl_pathv[i], NULL, &e, &err) != TACIT_OK)
            fail_msg("%s", err.message);
        const tacit_experiment_facts *facts = tacit_experiment_describe(e);
        for (size_t j = 0; j < facts->n_agents; j++) {
            const tacit_entry *agent = &facts->agents[j];
            const tacit_agent_kind *kind = tacit_agent_kind_find(agent->kind);
            if (agent->delta_too_large ||
                (kind != NULL && kind->models != TACIT_AGENT_NONE && !agent->privacy_written))
                fail_msg("%s:%d: %s", facts->file, agent->line, agent->label);
        }
    }
    globfree(&found);
}

/* One example is attacked, not compared, and two draw the figure of a paper. */
static bool compares(const char *path)
{
    return strstr(path, "/audit.yaml") == NULL && strstr(path, "/figure.yaml") == NULL &&
           strstr(path, "/figure_honest.yaml") == NULL;
}

static bool has_kind(const tacit_experiment_facts *facts, const char *kind)
{
    for (size_t i = 0; i < facts->n_agents; i++)
        if (strncmp(facts->agents[i].kind, kind, strlen(kind)) == 0)
            return true;
    return false;
}

TEST(examples_have_what_a_learner_must_beat)
{
    glob_t found;
    assert_int_equal(glob(TACIT_TESTS_DIR "/../examples/*.yaml", 0, NULL, &found), 0);
    assert_int_equal(
        glob(TACIT_TESTS_DIR "/../examples/tutorial/*.yaml", GLOB_APPEND, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        SCOPED(tacit_experiment) *e = NULL;
        tacit_error err = {0};
        if (tacit_experiment_read(found.gl_pathv[i], NULL, &e, &err) != TACIT_OK)
            fail_msg("%s", err.message);
        const tacit_experiment_facts *facts = tacit_experiment_describe(e);
        static const char *const baselines[] = {"explore-commit", "constant", "uniform"};
        for (size_t j = 0; compares(facts->file) && j < 3; j++)
            if (!has_kind(facts, baselines[j]))
                fail_msg("%s has no %s", facts->file, baselines[j]);
    }
    globfree(&found);
}
